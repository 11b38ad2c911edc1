"""Who may talk to the labelling server: a page that has its token, at the address that it was opened at.

Any page in the user's browser can send requests to a server on the user's machine. What keeps hostile ones
out:

- the token, which only who started the server knows; it comes in the address once, and is a cookie from then
  on that other sites' requests do not carry;
- the Host header, which must be an address of this machine: a name that an attacker points at it is refused
  (DNS rebinding);
- Origin and Sec-Fetch-Site: requests that other pages make are refused, even on other ports of this machine;
- a content security policy that runs nothing but the page's own script;
- a limit on the size of requests.
"""

from __future__ import annotations

import hashlib
import ipaddress
import json
import os
import re
import secrets
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import platformdirs

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_BODY", "Guard", "is_loopback", "kept_token"]

_TOKEN_LENGTH = 24  # bytes
MAX_BODY = 1 << 20  # bytes; an answer has a few hundred
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::([0-9]{1,5}))?")

_SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
# For all answers but the page, which has a policy of its own.
_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
_POLICY_TO_GO_ON = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_GO_ON = (
    b'<!doctype html><title>refpair</title><link rel="icon" href="data:,">'
    b'<meta http-equiv="refresh" content="0; url=/"><a href="/">Label</a>'
)


@dataclass(frozen=True)
class Refusal(Exception):
    """A request that is not answered, and what to do instead."""

    status: int
    reason: str


class Guard:
    """Lets requests through to an app, or refuses them.

    `names` are host names, besides addresses and localhost, that the server may be called by. If only this
    machine may call it (`loopback`), other addresses in the Host header are refused.
    """

    def __init__(
        self, app: ASGIApp, *, token: str, names: Collection[str] = (), loopback: bool = True
    ) -> None:
        if not token:
            raise ValueError("token must not be empty: anybody would have it")
        self.app = app
        self.token = token
        self.names = {name.lower() for name in names}
        self.loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        try:
            headers = _Headers(scope)
            host, port = self._check_host(headers)
            _check_origin(scope, headers, host)
            cookie = f"refpair_{port}"
            if self._brings_token(scope):
                await _take_in(guarded, cookie, self.token)
                return
            self._check_token(headers, cookie)
            if scope["method"] not in ("GET", "HEAD"):
                _check_body(headers)
                whole = await _read(receive)
                if whole is None:
                    return  # nobody waits for an answer
                receive = whole
            await self.app(scope, receive, guarded)
        except Refusal as refusal:
            await _refuse(guarded, refusal)

    def _check_host(self, headers: _Headers) -> tuple[str, str]:
        host = (headers.only("host") or "").lower()
        match = _HOST.fullmatch(host)
        if not match or not self._is_own(match[1] or match[2]) or int(match[3] or 80) > 65535:
            raise Refusal(403, "The server is not called by this name; open the address that it printed.")
        return host, match[3] or "80"

    def _is_own(self, name: str) -> bool:
        if name == "localhost" or name in self.names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False  # a name that may point anywhere
        return address.is_loopback or not self.loopback

    def _brings_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if not given:
            return False
        if not secrets.compare_digest(given[0].encode(), self.token.encode()):
            raise Refusal(
                403, "The token in the address is not that of this server; open the address that it printed."
            )
        return True

    def _check_token(self, headers: _Headers, cookie: str) -> None:
        given = headers.cookies(cookie)
        scheme, _, credentials = (headers.only("authorization") or "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(credentials.strip())
        if not any(secrets.compare_digest(one.encode(), self.token.encode()) for one in given):
            raise Refusal(
                403, "The token is missing; open the address with ?token=… that the server printed."
            )


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._all: list[tuple[str, str]] = [
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]
        ]

    def only(self, name: str) -> str | None:
        """Return the value of a header, None if it is missing; twice is refused."""
        found = [value for key, value in self._all if key == name]
        if len(found) > 1:
            raise Refusal(400, f"The header {name} comes twice.")
        return found[0] if found else None

    def cookies(self, name: str) -> list[str]:
        """Return the values of all cookies of a name.

        By hand: other programs of this machine have cookies here, too, and `http.cookies` gives up on all of
        them at the first odd character.
        """
        pairs = [
            pair.partition("=") for key, value in self._all if key == "cookie" for pair in value.split(";")
        ]
        return [value.strip() for key, _, value in pairs if key.strip() == name]


def _check_origin(scope: Scope, headers: _Headers, host: str) -> None:
    origin = headers.only("origin")
    if origin is not None and origin.lower() != f"{scope['scheme']}://{host}":
        raise Refusal(403, "The request comes from another page.")
    site = headers.only("sec-fetch-site")
    opens_page = (
        scope["method"] == "GET"
        and scope["path"] == "/"
        and headers.only("sec-fetch-mode") == "navigate"
        and headers.only("sec-fetch-dest") in (None, "document")
    )
    if site in ("cross-site", "same-site") and not opens_page:  # a link may lead here
        raise Refusal(403, "The request comes from another page.")


def _check_body(headers: _Headers) -> None:
    kind = (headers.only("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":  # what a form of another page cannot send
        raise Refusal(415, "Send JSON, with the header Content-Type: application/json.")
    length = headers.only("content-length")
    if length is not None and (not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_BODY):
        raise _too_large()


def _too_large() -> Refusal:
    return Refusal(413, f"The request is too large; at most {MAX_BODY:,} bytes are read.")


async def _read(receive: Receive) -> Receive | None:
    """Read a request, but no more than is allowed, and return what gives it to the app; None if it broke off.

    It is done here and not while the app reads, which would take a refusal for an error of its own.
    """
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise _too_large()
        more = message.get("more_body", False)
    whole: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def given() -> Message:
        return whole.pop() if whole else await receive()

    return given


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.decode("latin-1").lower() for name, _ in message.get("headers", [])}
            wanted = {"content-security-policy": _POLICY, **_SECURITY}
            message["headers"] = [
                *message.get("headers", []),
                *((name.encode(), value.encode()) for name, value in wanted.items() if name not in own),
            ]
        await send(message)

    return guarded


async def _take_in(send: Send, cookie: str, token: str) -> None:
    """Keep the token as a cookie that scripts cannot read, and take it out of the address.

    By a page that goes on to the other one, not by a redirection: that would still count as a request of the
    page where somebody found the address, a mail say, and come without the cookie.
    """
    value = f"{cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
    policy = {"content-security-policy": _POLICY_TO_GO_ON, "set-cookie": value}
    await _answer(send, 200, _GO_ON, {"content-type": "text/html; charset=utf-8", **policy})


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.reason}).encode()
    close = {"connection": "close"}  # what is left of the request is not read
    await _answer(send, refusal.status, body, {"content-type": "application/json", **close})


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    headers = {**headers, "content-length": str(len(body))}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def kept_token(session: Path) -> str:
    """Return the token of a session: the same one when it is served again, so that open pages go on.

    It is kept where only the user may read it, not in the session's file, which may be given to others.
    """
    name = hashlib.sha256(str(session.resolve()).encode()).hexdigest()[:32]
    path = platformdirs.user_state_path("refpair") / "tokens" / name
    try:
        token = path.read_text(encoding="ascii").strip()
        if len(token) >= _TOKEN_LENGTH and _is_private(path):
            return token
    except (OSError, UnicodeDecodeError):
        pass
    token = secrets.token_urlsafe(_TOKEN_LENGTH)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(token)
    except OSError:
        pass  # a home that cannot be written to: pages have to be opened anew next time
    return token


def _is_private(path: Path) -> bool:
    """Whether a file is the user's own, and nobody else can have read it."""
    if os.name != "posix":
        return True
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == os.getuid()
