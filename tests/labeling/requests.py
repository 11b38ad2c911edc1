"""The labeling server without a network: requests as they are, header by header."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from refpair.datasets.load import read_data
from refpair.labeling import Session
from refpair.labeling.server import Worker, make_app

TOKEN = "a-token-for-tests-only"
HOST = "127.0.0.1:8732"
COOKIE = f"refpair_8732={TOKEN}"
HOLDER = "a-window-of-tests"
SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


@dataclass
class Answer:
    """What came back; `n_read` is how many parts of the request were read."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    n_read: int

    def header(self, name):
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name} comes twice"
        return found[0] if found else None

    def json(self):
        return json.loads(self.body)


def call(app, method, target, headers=(), parts=(b"",)):
    """Send a request.

    Whatever it is, the answer must have all security headers, and be no 5xx but a 503 that says why.
    """
    sent: list[dict] = []
    waiting = [
        {"type": "http.request", "body": part, "more_body": place < len(parts) - 1}
        for place, part in enumerate(parts)
    ]
    n_parts = len(waiting)

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    address = urlsplit(target)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(address.path),
        "raw_path": address.path.encode(),
        "query_string": address.query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8732),
    }
    asyncio.run(app(scope, receive, send))
    start, *rest = sent
    assert start["type"] == "http.response.start"
    assert all(message["type"] == "http.response.body" for message in rest)
    answer = Answer(
        start["status"],
        [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in start["headers"]],
        b"".join(message.get("body", b"") for message in rest),
        n_parts - len(waiting),
    )
    check(answer)
    return answer


def check(answer):
    assert answer.status < 500 or (answer.status == 503 and answer.json()["error"]), answer.body
    assert {name: answer.header(name) for name in SECURITY} == SECURITY
    policy = answer.header("content-security-policy")
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert not [name for name, _ in answer.headers if name.startswith("access-control-")]
    assert TOKEN.encode() not in answer.body
    assert TOKEN not in str([pair for pair in answer.headers if pair[0] != "set-cookie"])


class App:
    """An app to be guarded: it notes what it gets."""

    def __init__(self):
        self.bodies = []

    async def __call__(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})


class LabelServer:
    """A server of a table, and its session; nothing is learned in the background."""

    def __init__(self, folder, table, labels, **how):
        if isinstance(table, str):
            path = folder / "pool.csv"
            path.write_text(table, encoding="utf-8", newline="")
            table = read_data(str(path)).X
        self.session = Session.open(folder / "answers.sqlite", table, labels, folder=folder, **how)
        self.worker = Worker(self.session)
        self.app = make_app(self.session, self.worker, name="pool.csv", token=TOKEN)

    def get(self, target, *more, token=True):
        return call(self.app, "GET", target, self._headers(more, token))

    def post(self, target, body, *more, token=True):
        """Send JSON, or bytes as they are."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return call(
            self.app,
            "POST",
            target,
            [*self._headers(more, token), ("Content-Type", "application/json")],
            [sent],
        )

    def ask(self, holder=HOLDER):
        answer = self.post("/api/ask", {"holder": holder})
        assert answer.status == 200, answer.body
        return answer.json()["row"]

    def ask_for(self, row):
        """Return a row as it is shown: answered in a window of its own, and taken back there."""
        holder = f"window-for-{abs(hash(row)):020d}"
        assert self.answer(row, [], holder=holder).status == 200
        return self.post("/api/undo", {"holder": holder}).json()["row"]

    def answer(self, row, labels, holder=HOLDER, **more):
        return self.post("/api/answer", {"holder": holder, "id": row, "labels": labels, **more})

    def n_events(self):
        return len(self.session.history)

    def _headers(self, more, token):
        return [("Host", HOST), *([("Cookie", COOKIE)] if token else []), *more]
