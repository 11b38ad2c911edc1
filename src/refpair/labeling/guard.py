"""Who may talk to the labeling server: a page that has its token, at the address that it was opened at.

Any page in the user's browser can send requests to a server on the user's machine. Against hostile ones:

- the token, which only who started the server knows; it comes in the address once, and is a cookie from then
  on that other sites' requests do not carry;
- the Host header, which must be an address of this machine: a name that an attacker points at it is refused
  (DNS rebinding);
- Origin and Sec-Fetch-Site: requests that other pages make are refused, even on other ports of this machine;
- a content security policy that runs nothing but the page's own script;
- a limit on the size of requests.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1 << 20  # bytes; an answer has a few hundred
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::([0-9]{1,5}))?")

_SECURITY = {
    # For all answers but the page, which has a policy of its own.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_POLICY_TO_GO_ON = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_GO_ON = (
    '<!doctype html><title>refpair</title><link rel="icon" href="data:,">'
    '<meta http-equiv="refresh" content="0; url=/"><a href="/">Label</a>'
)


@dataclass(frozen=True)
class Refusal(Exception):
    """A request that is not answered, and what to do instead."""

    status: int
    reason: str


class Guard:
    """Lets requests through to an app, or refuses them.

    `names` are host names, besides addresses and localhost, that the server may be called by. If only this
    machine may call it (`loopback`), other addresses in the Host header are refused. `entered` is called
    whenever somebody brings the token.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        names: Collection[str] = (),
        loopback: bool = True,
        entered: Callable[[], None] = lambda: None,
    ) -> None:
        if not token:
            raise ValueError("token must not be empty: anybody would have it")
        self.app = app
        self.token = token
        self.names = {name.lower() for name in names}
        self.loopback = loopback
        self.entered = entered

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
            headers = Headers(scope=scope)
            host, port = self._check_host(headers)
            _check_origin(scope, headers, host)
            cookie = f"refpair_{port}"
            if self._brings_token(scope):
                self.entered()
                await _taken_in(cookie, self.token)(scope, receive, guarded)
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
            close = {"connection": "close"}  # what is left of the request is not read
            if "text/html" in Headers(scope=scope).get("accept", ""):  # a person reads it
                refused: Response = PlainTextResponse(refusal.reason, refusal.status, close)
            else:
                refused = JSONResponse({"error": refusal.reason}, refusal.status, close)
            await refused(scope, receive, guarded)

    def _check_host(self, headers: Headers) -> tuple[str, str]:
        host = (_only(headers, "host") or "").lower()
        match = _HOST.fullmatch(host)
        if not match or not self._is_own(match[1] or match[2]) or int(match[3] or 80) > 65535:
            raise Refusal(403, "The server is not called by this name; open the address that it printed.")
        return host, match[3] or "80"

    def _is_own(self, name: str) -> bool:
        address = _address(name)  # another name may point anywhere
        return name in self.names or is_loopback(name) or (address is not None and not self.loopback)

    def _brings_token(self, scope: Scope) -> bool:
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if not given:
            return False
        if not secrets.compare_digest(given[0].encode(), self.token.encode()):
            raise Refusal(
                403,
                "The token in the address is not that of this server: if it was started again, open the new "
                "address that it printed in the terminal.",
            )
        return True

    def _check_token(self, headers: Headers, cookie: str) -> None:
        given = _cookies(headers, cookie)
        scheme, _, credentials = (_only(headers, "authorization") or "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(credentials.strip())
        if not any(secrets.compare_digest(one.encode(), self.token.encode()) for one in given):
            raise Refusal(
                403,
                "The token is missing or an old one: if the server was started again, open the new address "
                "with ?token=… that it printed in the terminal.",
            )


def _only(headers: Headers, name: str) -> str | None:
    """Return the value of a header, None if it is missing; twice is refused."""
    found = headers.getlist(name)
    if len(found) > 1:
        raise Refusal(400, f"The header {name} comes twice.")
    return found[0] if found else None


def _cookies(headers: Headers, name: str) -> list[str]:
    """Return the values of all cookies of a name.

    By hand: other programs of this machine have cookies here, too, and `http.cookies` gives up on all of
    them at the first odd character.
    """
    pairs = [pair.partition("=") for value in headers.getlist("cookie") for pair in value.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def _check_origin(scope: Scope, headers: Headers, host: str) -> None:
    origin = _only(headers, "origin")
    if origin is not None and origin.lower() != f"{scope['scheme']}://{host}":
        raise Refusal(403, "The request comes from another page.")
    site = _only(headers, "sec-fetch-site")
    opens_page = (
        scope["method"] == "GET"
        and scope["path"] == "/"
        and _only(headers, "sec-fetch-mode") == "navigate"
        and _only(headers, "sec-fetch-dest") in (None, "document")
    )
    if site in ("cross-site", "same-site") and not opens_page:  # a link may lead here
        raise Refusal(403, "The request comes from another page.")


def _check_body(headers: Headers) -> None:
    kind = (_only(headers, "content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":  # what a form of another page cannot send
        raise Refusal(415, "Send JSON, with the header Content-Type: application/json.")
    length = _only(headers, "content-length")
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
            message.setdefault("headers", [])
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY.items():
                headers.setdefault(name, value)
        await send(message)

    return guarded


def _taken_in(cookie: str, token: str) -> HTMLResponse:
    """Keep the token as a cookie that scripts cannot read, and take it out of the address.

    Not by a redirection: it would still count as a request of the page where somebody found the address, a
    mail say, and come without the cookie.
    """
    kept = f"{cookie}={token}; HttpOnly; SameSite=Strict; Path=/"
    return HTMLResponse(_GO_ON, headers={"content-security-policy": _POLICY_TO_GO_ON, "set-cookie": kept})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at an address."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
