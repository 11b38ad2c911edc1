"""The labeling page: the server that it talks to, and its port."""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from refpair._files import is_full
from refpair.labeling.session import Session
from refpair.labeling.shown import IMAGE_TYPES, ShownRows, column_sentences
from refpair.tables.write import csv_text

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp

    from refpair.labeling.connections import Connection
    from refpair.labeling.guard import Guard, is_loopback
except ImportError as error:
    raise ImportError(
        f"the labeling page needs starlette and uvicorn ({error}): pip install 'refpair[label]'"
    ) from error

PORT = 8732
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MOST_POINTS = 200  # of the curve
_LOOK = 5.0  # seconds, after which to look whether another process has brought answers
_CLOSING = 3  # seconds that requests may still take when the server ends

_FULL = "The disk is full: nothing was saved. Free some space and do it again."
_REVIEW = "What was answered may be wrong: {}. Correct it, or save it as it is."
_NO_ROW = "The disk is full: there is no next row until some space is free. What was saved is safe."

Body = dict[str, Any]


class Worker(threading.Thread):
    """Lets a session learn whenever there are new answers, so that nobody who labels waits.

    `problem` is what went wrong in the last fit, if anything; labeling continues all the same.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(name="refpair-worker", daemon=True)
        self.session = session
        self.problem: str | None = None
        self._wake = threading.Event()
        self._is_ending = False

    def wake(self) -> None:
        """Say that there are new answers."""
        self._wake.set()

    def stop(self) -> None:
        """End after the fit that is under way."""
        self._is_ending = True
        self._wake.set()
        self.join()

    def run(self) -> None:
        """Learn until it is stopped."""
        while True:
            self._wake.clear()
            if self._is_ending:  # looked at after the event is cleared, so that it cannot be missed
                return
            try:
                self.session.learn()
                self.problem = None
            except Exception as error:  # whatever a model of the user's may raise, or a full disk
                problem = f"{type(error).__name__}: {error}"
                if isinstance(error, OSError):
                    problem = error.strerror or str(error)
                if problem != self.problem:  # not again every few seconds
                    traceback.print_exc(limit=0 if isinstance(error, OSError) else None, chain=False)
                self.problem = problem
            self._wake.wait(_LOOK)


def make_app(
    session: Session,
    worker: Worker,
    *,
    name: str,
    token: str,
    names: tuple[str, ...] = (),
    loopback: bool = True,
    for_spreadsheets: bool = False,
    label: str | None = None,
    entered: Callable[[], None] = lambda: None,
) -> ASGIApp:
    """Return the server as an ASGI application, behind a :class:`Guard`."""
    api = _Api(session, worker, name, for_spreadsheets, label)
    routes = [
        Route("/", _page),
        Route("/api/state", api.state_now),
        Route("/api/ask", _writing(api.ask, _NO_ROW), methods=["POST"]),
        Route("/api/answer", _writing(api.answer), methods=["POST"]),
        Route("/api/undo", _writing(api.undo), methods=["POST"]),
        Route("/api/labels", _writing(api.add_label), methods=["POST"]),
        Route("/api/table.csv", api.table),
        Route("/api/model", _writing(api.save_model), methods=["POST"]),
        Route("/image", api.image),
    ]
    app = Starlette(routes=routes)
    app.router.redirect_slashes = False  # there is nothing else than these addresses
    return Guard(app, token=token, names=names, loopback=loopback, entered=entered)


class _Api:
    """What the page asks for and says."""

    def __init__(
        self, session: Session, worker: Worker, name: str, for_spreadsheets: bool, label: str | None
    ) -> None:
        self.for_spreadsheets = for_spreadsheets
        self.label = label
        self.session = session
        self.worker = worker
        self.name = name
        self.shown = ShownRows(session.rows)

    def state(self, label: str | None = None) -> Body:
        """How far the session is, or one label of it."""
        session = self.session
        curve = [
            (one.n_labeled, one.expected_cost) for one in session.rounds if one.expected_cost is not None
        ]
        step = max(1, -(-len(curve) // _MOST_POINTS))
        return {
            "name": self.name,
            "labels": session.labels,
            "label": self.label,  # that a page begins with
            "cost": session.cost.name,
            "n_rows": len(session.ids),
            **session.progress(label)._asdict(),
            "curve": curve[::-1][::step][::-1],  # not more than can be seen, and the last one
            "stop": session.should_stop(),
            "used": [] if session.columns is None else column_sentences(session.columns),
            "problem": self.worker.problem,
        }

    def ask(self, body: Body) -> Body:
        """Return the next row, or none if all are done or with others; of one label, if it is named."""
        holder, _ = _person(body)
        label = _label(body)
        found = self.session.ask(1, label=label, holder=holder, wait=False)
        return {"row": self._row(found[0], label) if found else None, "state": self.state(label)}

    def answer(self, body: Body) -> Body:
        """Note an answer or a skip, of all labels or of those it is about. It is on the disk on return.

        An answer that breaks a rule is not noted unless the page says that it is sure.
        """
        holder, who = _person(body)
        row = body.get("id")
        if isinstance(row, bool) or not isinstance(row, str | int):
            raise ValueError("id must be that of a row")
        about = None if body.get("about") is None else _names(body, "about")
        if body.get("skip") is True:
            self.session.skip([row], labels=about, who=who, holder=holder)
        else:
            labels = _names(body, "labels")
            answer = labels if about is None else {name: name in labels for name in [*about, *labels]}
            if body.get("sure") is not True and (broken := self._broken(row, labels, about)):
                return {"saved": False, "breaks": broken}
            self.session.tell([row], [answer], who=who, holder=holder)
        self.worker.wake()
        return {"saved": True}

    def _broken(self, row: Any, labels: list[str], about: list[str] | None) -> list[str]:
        asked = self.session.labels if about is None else [*about, *labels]
        if not self.session.label_rules or not set(labels) <= set(self.session.labels):
            return []
        return self.session.broken_rules(row, {name: name in labels for name in asked})

    def undo(self, body: Body) -> Body:
        """Take back the last answer of this page, and return its row."""
        holder, who = _person(body)
        taken = self.session.undo(who=who, holder=holder)
        self.worker.wake()
        label = _label(body)
        if taken is None:
            return {"row": None, "state": self.state(label)}
        if taken.about != [label]:  # it was more, or another one: the page then shows all labels
            label = None
        row = {**self._row(taken.id, label), "answer": taken.labels, "about": taken.about, "label": label}
        return {"row": row, "state": self.state(label)}

    def add_label(self, body: Body) -> Body:
        """Add a label; it is unknown in rows answered so far."""
        name = body.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > 200:
            raise ValueError("name must be that of a label, of at most 200 characters")
        self.session.add_labels([name])
        self.worker.wake()
        return {"state": self.state(_label(body))}

    def save_model(self, body: Body) -> Body:
        """Write the model beside the session, and return the name of its file."""
        path = self.session.path.with_suffix(".refpair")
        try:
            with TemporaryDirectory(prefix=".refpair-", dir=path.parent) as folder:  # its owner's alone
                part = Path(folder, path.name)
                self.session.save_model(part)
                part.chmod(0o600)
                part.replace(path)
        except (OSError, ImportError) as error:
            if isinstance(error, OSError) and is_full(error):
                raise
            raise ValueError(f"the model cannot be saved: {error}") from None
        return {"file": path.name, "state": self.state(_label(body))}

    async def state_now(self, request: Request) -> Response:
        """Return how far the session is."""
        return JSONResponse(await run_in_threadpool(self.state))

    async def table(self, request: Request) -> Response:
        """Return the answered rows and their labels as CSV."""
        disposition = {"content-disposition": 'attachment; filename="labels.csv"'}
        text = await run_in_threadpool(
            lambda: csv_text(self.session.labeled(), for_spreadsheets=self.for_spreadsheets)
        )
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

    def _row(self, row: Any, label: str | None) -> Body:
        reason = self.session.why(row, label)
        review = self.session.to_review().get(row, [])
        return {
            **self.shown.show(row),
            "known": self.session.known(row),
            "review": review,
            "why": _REVIEW.format(", ".join(review)) if review else reason.text,
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


def _writing(work: Callable[[Body], Body], if_full: str = _FULL) -> Callable[[Request], Awaitable[Response]]:
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
        except OSError as error:
            what = if_full if is_full(error) else f"The disk has a problem: {error.strerror or error}."
            return JSONResponse({"error": what}, status_code=503)

    return endpoint


def _wrong(what: str) -> Response:
    return JSONResponse({"error": what}, status_code=400)


def _person(body: Body) -> tuple[str, str]:
    holder, who = body.get("holder"), body.get("who") or "me"
    if not isinstance(holder, str) or not 8 <= len(holder) <= 64:
        raise ValueError("holder must be a text of 8 to 64 characters, another one for each window")
    if not isinstance(who, str) or len(who) > 100:
        raise ValueError("who must be a name of at most 100 characters")
    return holder, who


def _label(body: Body) -> str | None:
    label = body.get("label")
    if label is not None and not isinstance(label, str):
        raise ValueError("label must be the name of a label")
    return label


def _names(body: Body, what: str) -> list[str]:
    names = body.get(what)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be a list of names")
    return names


def serve(
    session: Session,
    listening: socket.socket,
    *,
    name: str,
    token: str,
    names: tuple[str, ...] = (),
    for_spreadsheets: bool = False,
    label: str | None = None,
    ready: Callable[[], None],
    entered: Callable[[], None] = lambda: None,
) -> None:
    """Serve the page of a table until the process is interrupted.

    It begins with one label, if one is given. `ready` is called when there is a first row,
    and `entered` when somebody comes with the token.
    """
    session.learn()  # the first row should not be waited for in the page
    worker = Worker(session)
    host = listening.getsockname()[0]
    names = (*names, _public_name(host))
    app = make_app(
        session, worker, name=name, token=token, names=names, loopback=is_loopback(host),
        for_spreadsheets=for_spreadsheets, label=label, entered=entered,
    )  # fmt: skip
    config = uvicorn.Config(
        app, http=Connection, ws="none", log_level="warning", access_log=False,
        timeout_graceful_shutdown=_CLOSING,
    )  # fmt: skip
    worker.start()
    try:
        ready()
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass  # uvicorn has ended all requests, and then raises it
    finally:
        worker.stop()


def open_socket(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens; by default at the usual port or, if that is taken, any that is free."""
    if port is not None:
        return _bound(host, port)
    try:
        return _bound(host, PORT)
    except OSError:
        return _bound(host, 0)  # which also tells if it is not the port that is wrong


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        if isinstance(error, socket.gaierror | UnicodeError) or error.errno == errno.EADDRNOTAVAIL:
            raise ValueError(f"--host {host}: this machine has no such address") from None
        why = os.strerror(error.errno or 0)
        raise OSError(f"{host}:{port} cannot be listened at ({why}); choose another --port") from None


def page_address(listening: socket.socket, token: str) -> str:
    """Return the address of the page, with the token."""
    address, port = listening.getsockname()[:2]
    host = _public_name(address)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/?token={token}"


def _public_name(address: str) -> str:
    """Return what to call a server by, which listens at this address or at all of this machine's."""
    return socket.gethostname() if address in ("0.0.0.0", "::") else address
