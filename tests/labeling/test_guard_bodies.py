"""Requests with bodies that are too large, lie about their length, or never end."""

from __future__ import annotations

import asyncio

import pytest

from refpair.labeling.guard import MAX_BODY, Guard
from tests.labeling.requests import COOKIE, HOST, TOKEN, App, call


@pytest.fixture
def app():
    return App()


def post(app, *headers, parts=(b"{}",)):
    own = [("Host", HOST), ("Cookie", COOKIE), ("Content-Type", "application/json")]
    return call(Guard(app, token=TOKEN), "POST", "/api/answer", [*own, *headers], parts)


def test_a_body_of_the_largest_size_arrives_whole(app):
    parts = [b"a" * (MAX_BODY // 4)] * 4
    assert post(app, ("Content-Length", str(MAX_BODY)), parts=parts).status == 200
    assert app.bodies == [b"a" * MAX_BODY]


@pytest.mark.parametrize(
    "length",
    [str(MAX_BODY + 1), "1000000000", "9" * 5000, "-1", "1e3", "\xb2", " ", "", "0x10", "1_0", "+5"],
)
def test_a_length_that_is_too_much_or_none_is_refused_before_anything_is_read(app, length):
    answer = post(app, ("Content-Length", length))
    assert answer.status == 413
    assert answer.n_read == 0
    assert answer.header("connection") == "close"
    assert not app.bodies


@pytest.mark.parametrize("headers", [(), [("Content-Length", "2")]], ids=["chunked", "lying"])
def test_a_body_that_goes_on_is_read_up_to_the_limit(app, headers):
    answer = post(app, *headers, parts=[b"x" * 65_536] * 1000)
    assert answer.status == 413
    assert answer.n_read == MAX_BODY // 65_536 + 1
    assert not app.bodies


def test_a_request_that_breaks_off_does_nothing(app):
    sent = []

    async def broken():
        coming = iter(
            [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
        )

        async def receive():
            return next(coming)

        headers = [
            (b"host", HOST.encode()),
            (b"cookie", COOKIE.encode()),
            (b"content-type", b"application/json"),
        ]
        scope = {"type": "http", "method": "POST", "path": "/", "scheme": "http", "headers": headers}
        await Guard(app, token=TOKEN)(scope, receive, sent.append)

    asyncio.run(broken())
    assert not app.bodies
    assert not sent


def test_a_body_in_very_many_parts_arrives(app):
    assert post(app, parts=[b"x"] * 20_000).status == 200
    assert app.bodies == [b"x" * 20_000]
