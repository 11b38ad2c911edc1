"""Requests that a hostile page, or a hostile program in the network, would send."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair.labeling.guard import Guard, is_loopback
from tests.labeling.requests import COOKIE, HOST, TOKEN, App, call

JSON = ("Content-Type", "application/json")


@pytest.fixture
def app():
    return App()


def guarded(app, **how):
    return Guard(app, token=TOKEN, **how)


def get(app, *headers, target="/api/state", host=HOST, method="GET", cookie=COOKIE, **how):
    own = [("Host", host)] if host is not None else []
    own += [("Cookie", cookie)] if cookie is not None else []
    return call(guarded(app, **how), method, target, [*own, *headers])


def post(app, *headers, parts=(b"{}",), kind="application/json"):
    own = [("Host", HOST), ("Cookie", COOKIE)] + ([("Content-Type", kind)] if kind is not None else [])
    return call(guarded(app), "POST", "/api/answer", [*own, *headers], parts)


# -- the token ---------------------------------------------------------------------------------------------


def test_the_cookie_and_the_bearer_token_let_through(app):
    assert get(app).status == 200
    assert get(app, ("Authorization", f"Bearer {TOKEN}"), cookie=None).status == 200
    assert get(app, ("Authorization", f"bearer  {TOKEN}"), cookie=None).status == 200
    assert len(app.bodies) == 3


COOKIES = [
    None, "", "refpair_8732=", "refpair_8732", f"refpair_8732={TOKEN}x", f"refpair_8732={TOKEN[:-1]}",
    f"refpair_8732={TOKEN.upper()}", f"REFPAIR_8732={TOKEN}", f"token={TOKEN}", TOKEN, "=;=;;;",
    f"refpair_8733={TOKEN}", f"refpair_80={TOKEN}",  # of servers at other ports
    f"other=refpair_8732={TOKEN}", "refpair_8732=\xff\xfe", "refpair_8732=" + "a" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("cookie", COOKIES)
def test_without_the_right_cookie_nothing_is_answered(app, cookie):
    answer = get(app, cookie=cookie)
    assert answer.status == 403
    assert "?token=" in answer.json()["error"]
    assert not app.bodies


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer{TOKEN}", f"Bearer {TOKEN}x", "Bearer \xff"],
)
def test_without_the_right_authorization_nothing_is_answered(app, value):
    assert get(app, ("Authorization", value), cookie=None).status == 403
    assert not app.bodies


@pytest.mark.parametrize(
    "headers", [("X-Token", TOKEN), ("Token", TOKEN), ("Referer", f"http://{HOST}/?token={TOKEN}")]
)
def test_a_token_in_another_header_is_none(app, headers):
    assert get(app, headers, cookie=None).status == 403


ADDRESSES = [
    f"/api/state?token={TOKEN}",  # only the page takes it in the address: addresses are kept and shown
    f"/{TOKEN}", f"/?Token={TOKEN}", "/?token=", "/?token", f"/?x=token={TOKEN}",
]  # fmt: skip


@pytest.mark.parametrize("target", ADDRESSES)
def test_a_token_elsewhere_in_the_address_is_none(app, target):
    assert get(app, target=target, cookie=None).status == 403
    assert not app.bodies


@pytest.mark.parametrize("given", ["x", f"{TOKEN}x", "%ED%A0%80", "%00", "%FF", f"x&token={TOKEN}"])
def test_a_wrong_token_in_the_address_is_told(app, given):
    answer = get(app, target=f"/?token={given}", cookie=None)
    assert answer.status == 403
    assert "is not that of this server" in answer.json()["error"]
    assert answer.header("set-cookie") is None


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(app):
    answer = get(app, target=f"/?token={TOKEN}", cookie=None)
    assert answer.header("set-cookie") == f"{COOKIE}; HttpOnly; SameSite=Strict; Path=/"
    assert (answer.status, answer.header("location")) == (200, None)
    assert b'content="0; url=/"' in answer.body
    assert "sandbox" not in answer.header("content-security-policy")  # which could not go on
    assert not app.bodies


@pytest.mark.parametrize("method", ["POST", "HEAD", "OPTIONS"])
def test_only_who_opens_the_page_gets_the_cookie(app, method):
    assert get(app, target=f"/?token={TOKEN}", cookie=None, method=method).header("set-cookie") is None


def test_cookies_of_other_programs_on_this_machine_do_no_harm(app):
    # Browsers send the cookies of all ports of a machine, and nobody keeps others from using any characters.
    others = [
        'session={"user": 1, "x"}',
        "a=b c",
        "über=1",
        "[x]=1",
        "=",
        "x",
        'q="a;b',
        "@=1",
        "refpair_8732=old",
    ]
    for other in others:
        assert get(app, cookie=f"{other}; {COOKIE}").status == 200, other
        assert get(app, cookie=f"{COOKIE}; {other}").status == 200, other
    assert get(app, ("Cookie", COOKIE), cookie='x="').status == 200  # in two headers, as HTTP/2 has it


@pytest.mark.parametrize(
    ("host", "cookie"),
    [
        ("127.0.0.1", f"refpair_80={TOKEN}"),
        ("localhost:9000", f"refpair_9000={TOKEN}"),  # by a tunnel
        ("[::1]:8732", COOKIE),
        ("[::1]", f"refpair_80={TOKEN}"),
    ],
)
def test_the_cookie_is_named_by_the_port(app, host, cookie):
    answer = get(app, target=f"/?token={TOKEN}", host=host, cookie=None)
    assert answer.header("set-cookie").startswith(f"{cookie}; ")
    assert get(app, host=host, cookie=cookie).status == 200


# -- the host: DNS rebinding -------------------------------------------------------------------------------

OWN = [
    "127.0.0.1",
    "127.0.0.1:8732",
    "127.8.9.1:8732",
    "localhost:8732",
    "LocalHost:8732",
    "[::1]:8732",
    "[::1]",
]
FOREIGN = [
    None, "", ":8732", "evil.example", "evil.example:8732", "127.0.0.1.evil.example:8732",
    "localhost.evil.example:8732", "evil.example.localhost.:8732", "localhost.", "127.0.0.1.", "127.1:8732",
    "2130706433:8732", "0x7f.0.0.1:8732", "0177.0.0.1:8732", "127.0.0.1@evil.example:8732",
    "evil.example@127.0.0.1:8732", "127.0.0.1:8732@evil.example", "127.0.0.1/evil.example:8732",
    "127.0.0.1#evil.example", "127.0.0.1?evil.example", "127.0.0.1\\evil.example", "127.0.0.1 evil.example",
    "127.0.0.1,evil.example", "http://127.0.0.1:8732", "[", "]", "[::1", "::1", "::1]:8732", "[127.0.0.1",
    "[::1]evil.example", "[::1]:8732:1", "[::1%25eth0]:8732", "[v1.a]:8732", "127.0.0.1:", "127.0.0.1:x",
    "127.0.0.1:8732; Domain=evil.example", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:\xb2",
    "\xbd.example", "xn--", "a" * 100_000, "." * 300,
]  # fmt: skip
ELSEWHERE = ["0.0.0.0:8732", "10.0.0.7:8732", "192.168.1.5", "[fe80::1]:8732", "[::]:8732"]


@pytest.mark.parametrize("host", OWN)
def test_names_of_this_machine_are_answered(app, host):
    bearer = ("Authorization", f"Bearer {TOKEN}")
    assert get(app, bearer, host=host, cookie=None).status == 200
    assert get(app, bearer, host=host, cookie=None, loopback=False).status == 200


@pytest.mark.parametrize("host", FOREIGN)
@pytest.mark.parametrize("loopback", [True, False])
def test_no_other_name_is_answered(app, host, loopback):
    for target in ("/", "/api/state", f"/?token={TOKEN}"):
        answer = get(app, ("Authorization", f"Bearer {TOKEN}"), host=host, target=target, loopback=loopback)
        assert answer.status == 403
        assert answer.header("set-cookie") is None
    assert not app.bodies


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_addresses_are_answered_only_where_others_may_call(app, host):
    bearer = ("Authorization", f"Bearer {TOKEN}")
    assert get(app, bearer, host=host, cookie=None).status == 403
    assert get(app, bearer, host=host, cookie=None, loopback=False).status == 200


def test_a_name_of_the_server_is_answered_in_any_case(app):
    how = {"names": ["Lab.example"], "loopback": False}
    assert get(app, host="lab.EXAMPLE:8732", **how).status == 200
    assert get(app, host="lab.example.evil:8732", **how).status == 403
    assert get(app, host="xlab.example:8732", **how).status == 403


@pytest.mark.parametrize("name", ["Host", "Origin", "Sec-Fetch-Site", "Authorization", "Content-Type"])
def test_a_header_that_comes_twice_is_refused(app, name):
    values = {"Host": HOST, "Origin": f"http://{HOST}", "Content-Type": "application/json"}
    value = values.get(name, "same-origin")
    own = [(key, what) for key, what in {"Host": HOST, "Content-Type": JSON[1]}.items() if key != name]
    for second in (value, "evil.example"):
        headers = [*own, ("Cookie", COOKIE), (name, value), (name, second)]
        headers = (
            [*headers, ("Authorization", f"Bearer {TOKEN}")]
            if name != "Authorization"
            else headers[:2] + headers[3:]
        )
        assert call(guarded(app), "POST", "/api/ask", headers, [b"{}"]).status == 400
    assert not app.bodies


# -- the origin: requests of other pages -------------------------------------------------------------------

ORIGINS = [
    "http://evil.example", "null", "", "http://localhost:8732", "http://127.0.0.1:9000", "http://127.0.0.1",
    "https://127.0.0.1:8732", "file://", "chrome-extension://abc", f"http://x@{HOST}", "http://[", "\xff",
    "127.0.0.1:8732", f"http://{HOST}.evil.example", f"http://{HOST}/x", f"{HOST}://{HOST}", f"ws://{HOST}",
]  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_requests_of_other_pages_are_refused(app, origin):
    assert post(app, ("Origin", origin)).status == 403
    assert get(app, ("Origin", origin)).status == 403
    assert get(app, ("Origin", origin), target="/", method="OPTIONS").status == 403
    assert not app.bodies


def test_requests_of_the_own_page_are_answered(app):
    assert post(app, ("Origin", f"http://{HOST}"), ("Sec-Fetch-Site", "same-origin")).status == 200
    assert post(app, ("Origin", f"HTTP://{HOST}")).status == 200
    assert get(app, ("Sec-Fetch-Site", "none")).status == 200  # an address that somebody typed


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_browsers_say_other_pages_ask_for_is_refused(app, site):
    told = ("Sec-Fetch-Site", site)
    assert post(app, told).status == 403
    assert get(app, told).status == 403
    assert get(app, told, ("Sec-Fetch-Mode", "navigate")).status == 403  # but for the page itself
    assert get(app, told, ("Sec-Fetch-Mode", "navigate"), target="/image").status == 403
    assert get(app, told, ("Sec-Fetch-Mode", "no-cors"), target="/").status == 403
    assert get(app, told, target="/").status == 403
    assert not app.bodies
    # A link may lead to the page.
    assert get(app, told, ("Sec-Fetch-Mode", "navigate"), target="/").status == 200
    frame = (told, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe"))
    assert get(app, *frame, target="/").status == 403


KINDS = [
    None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "text/json", "text/plain; application/json", "application/jsonx", "application/json, text/plain",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_form_can_send_is_refused(app, kind):
    assert post(app, kind=kind).status == 415
    assert not app.bodies


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/json ;x"]
)
def test_json_is_read(app, kind):
    assert post(app, kind=kind).status == 200


@pytest.mark.parametrize("target", ["/", "/api/answer", "*"])
def test_a_preflight_allows_nothing(app, target):
    asked = [("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "content-type")]
    for origin in ("http://evil.example", f"http://{HOST}"):
        for cookie in (None, COOKIE):
            answer = get(app, ("Origin", origin), *asked, target=target, method="OPTIONS", cookie=cookie)
            assert answer.status in (403, 415)  # and `call` has looked for headers that allow it
    assert not app.bodies


# -- everything else ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "FOO"])
def test_a_method_without_json_is_refused(app, method):
    assert get(app, method=method).status == 415


def test_websockets_are_refused():
    sent = []

    async def connect():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "websocket",
            "path": "/",
            "headers": [(b"host", HOST.encode()), (b"cookie", COOKIE.encode())],
        }
        await guarded(App())(scope, receive, send)

    asyncio.run(connect())
    assert [message["type"] for message in sent] == ["websocket.close"]


TEXT = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=40)
NAMES = st.sampled_from(
    [
        "host",
        "origin",
        "cookie",
        "authorization",
        "content-type",
        "content-length",
        "sec-fetch-site",
        "sec-fetch-mode",
    ]
)


@settings(deadline=None, max_examples=200)
@given(
    headers=st.lists(
        st.tuples(NAMES, TEXT | st.sampled_from([HOST, COOKIE, *OWN, "same-site", "navigate"])), max_size=6
    ),
    method=st.sampled_from(["GET", "POST", "HEAD", "OPTIONS"]),
    query=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20),
)
def test_whatever_the_headers_are_there_is_an_answer(headers, method, query):
    app = App()
    answer = call(guarded(app), method, f"/?{query.replace('#', '')}", headers)
    knows = any(name == "cookie" and COOKIE in value for name, value in headers)
    assert knows or (answer.status in (400, 403) and not app.bodies)
    assert answer.status == 200 or "error" in json.loads(answer.body)


def test_an_empty_token_is_none_at_all():
    with pytest.raises(ValueError, match="token must not be empty"):
        Guard(App(), token="")


def test_loopback_is_what_only_this_machine_reaches():
    inside = ["127.0.0.1", "127.1.2.3", "::1", "localhost"]
    outside = ["0.0.0.0", "::", "10.0.0.1", "evil.example", "localhost.evil.example", "", "127.1"]
    assert [is_loopback(host) for host in inside] == [True] * 4
    assert [is_loopback(host) for host in outside] == [False] * 7
