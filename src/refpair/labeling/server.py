"""The labelling page and what it talks to."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from refpair.active.stopping import Round
from refpair.labeling.guard import Guard
from refpair.labeling.session import Session
from refpair.labeling.shown import IMAGE_TYPES, ShownRows
from refpair.labeling.worker import Worker
from refpair.tables.write import csv_text

__all__ = ["make_app"]

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MOST_POINTS = 200  # of the curve

Body = dict[str, Any]


def make_app(
    session: Session,
    worker: Worker,
    *,
    name: str,
    token: str,
    names: tuple[str, ...] = (),
    loopback: bool = True,
) -> ASGIApp:
    """Return the server as an ASGI application.

    Parameters
    ----------
    session : Session
    worker : Worker
        Learns in the background; it is woken after each answer.
    name : str
        Of the table.
    token : str
        Whoever has it may label.
    names : tuple of str
        Host names that the server may be called by, besides localhost and addresses.
    loopback : bool
        Whether it can be reached from this machine only.
    """
    api = _Api(session, worker, name)
    routes = [
        Route("/", _page),
        Route("/api/state", _reading(api.state)),
        Route("/api/ask", _writing(api.ask), methods=["POST"]),
        Route("/api/answer", _writing(api.answer), methods=["POST"]),
        Route("/api/undo", _writing(api.undo), methods=["POST"]),
        Route("/api/labels", _writing(api.add_label), methods=["POST"]),
        Route("/api/table.csv", api.table),
        Route("/api/model", _writing(api.save_model), methods=["POST"]),
        Route("/image", api.image),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False  # there is nothing else than these addresses
    return Guard(app, token=token, names=names, loopback=loopback)


class _Api:
    """What the page asks for and says."""

    def __init__(self, session: Session, worker: Worker, name: str) -> None:
        self.session = session
        self.worker = worker
        self.name = name
        self.shown = ShownRows(session.rows)

    def state(self) -> Body:
        """How far the session is."""
        session = self.session
        rounds = [one for one in session.rounds if one.expected_cost is not None]
        return {
            "name": self.name,
            "labels": session.labels,
            "cost": session.cost.name,
            "n_rows": len(session.ids),
            "n_answered": session.n_answered,
            "n_skipped": session.n_skipped,
            "curve": _thinned(rounds),
            "stop": session.should_stop(),
            "used": self.session.used(),
            "problem": self.worker.problem,
        }

    def ask(self, body: Body) -> Body:
        """Return the next row, or none if all are done or with others."""
        holder, _ = _person(body)
        found = self.session.ask(1, holder=holder, wait=False)
        if not found:
            return {"row": None, "state": self.state()}
        return {"row": self._row(found[0]), "state": self.state()}

    def answer(self, body: Body) -> Body:
        """Note an answer or a skip. It is on the disk when this returns."""
        holder, who = _person(body)
        row = _row_id(body)
        if body.get("skip") is True:
            self.session.skip([row], who=who, holder=holder)
        else:
            labels = body.get("labels")
            if not isinstance(labels, list) or not all(isinstance(name, str) for name in labels):
                raise ValueError("labels must be a list of names, or skip must be true")
            self.session.tell([row], [labels], who=who, holder=holder)
        self.worker.wake()
        return {"saved": True}

    def undo(self, body: Body) -> Body:
        """Take back the last answer of this page, and return its row."""
        holder, who = _person(body)
        taken = self.session.undo(who=who, holder=holder)
        self.worker.wake()
        if taken is None:
            return {"row": None, "state": self.state()}
        row = self._row(taken.id)
        row["answer"] = taken.labels
        return {"row": row, "state": self.state()}

    def add_label(self, body: Body) -> Body:
        """Add a label; rows answered so far count as without it."""
        name = body.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > 200:
            raise ValueError("name must be that of a label, of at most 200 characters")
        self.session.add_labels([name])
        self.worker.wake()
        return {"state": self.state()}

    def save_model(self, body: Body) -> Body:
        """Write the model beside the session, and return the name of its file."""
        path = self.session.path.with_suffix(".refpair")
        try:
            self.session.save_model(path)
        except (OSError, ImportError) as error:
            raise ValueError(f"the model cannot be saved: {error}") from None
        return {"file": path.name, "state": self.state()}

    async def table(self, request: Request) -> Response:
        """Return the answered rows and their labels as CSV."""
        disposition = {"content-disposition": 'attachment; filename="labels.csv"'}
        text = await run_in_threadpool(lambda: csv_text(self.session.labelled()))
        return Response(text, media_type="text/csv", headers=disposition)

    async def image(self, request: Request) -> Response:
        """Return an image that a cell names."""
        try:
            row = json.loads(request.query_params.get("row", ""))
            path = self.shown.image(row, request.query_params.get("column", ""))
            content = b"" if path is None else await run_in_threadpool(path.read_bytes)
        except (KeyError, ValueError, RecursionError, OSError):
            path = None
        if path is None:
            return JSONResponse({"error": "There is no such image."}, status_code=404)
        return Response(content, media_type=IMAGE_TYPES[path.suffix.lower()])

    def _row(self, row: Any) -> Body:
        reason = self.session.why(row)
        return {
            **self.shown.show(row),
            "why": reason.text,
            "guess": reason.guess,
            "probabilities": reason.probabilities,
            "in_doubt": reason.in_doubt,
        }


async def _page(request: Request) -> Response:
    nonce = secrets.token_urlsafe(16)
    text = files("refpair.labeling").joinpath("page.html").read_text(encoding="utf-8")
    return Response(
        text.replace("{{nonce}}", nonce),
        media_type="text/html",
        headers={"content-security-policy": _POLICY.format(nonce=nonce)},
    )


def _reading(work: Callable[[], Body]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(work))

    return endpoint


def _writing(work: Callable[[Body], Body]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            body = json.loads(await request.body())
            if not isinstance(body, dict):
                raise ValueError("send a JSON object")
            json.dumps(body, ensure_ascii=False).encode()  # fails if there are halves of characters
            return JSONResponse(await run_in_threadpool(work, body))
        except RecursionError:
            return _wrong("the JSON is nested too deeply")
        except UnicodeError:  # no UTF-8, or such halves, which JSON can say and no file can hold
            return _wrong("the request holds characters that there are not")
        except json.JSONDecodeError as error:
            return _wrong(f"the request is no JSON: {error}")
        except ValueError as error:
            return _wrong(str(error))

    return endpoint


def _wrong(what: str) -> Response:
    return JSONResponse({"error": what}, status_code=400)


def _person(body: Body) -> tuple[str, str]:
    """Return which page and which person it is."""
    holder, who = body.get("holder"), body.get("who") or "me"
    if not isinstance(holder, str) or not 8 <= len(holder) <= 64:
        raise ValueError("holder must be a text of 8 to 64 characters, another one for each window")
    if not isinstance(who, str) or len(who) > 100:
        raise ValueError("who must be a name of at most 100 characters")
    return holder, who


def _row_id(body: Body) -> Any:
    row = body.get("id")
    if isinstance(row, bool) or not isinstance(row, str | int):
        raise ValueError("id must be that of a row")
    return row


def _thinned(rounds: list[Round]) -> list[tuple[int, float]]:
    """Return points of the curve, not more than can be seen; the last one is among them."""
    step = max(1, -(-len(rounds) // _MOST_POINTS))
    return [(one.n_labelled, float(one.expected_cost or 0.0)) for one in rounds[::-1][::step][::-1]]
