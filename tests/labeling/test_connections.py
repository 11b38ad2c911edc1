"""Connections over which no whole request comes: they are closed, and keep nobody else waiting."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time

import pytest
import uvicorn

from refpair.labeling import connections
from refpair.labeling.connections import Connection
from refpair.labeling.server import open_socket, serve
from tests.labeling.requests import TOKEN
from tests.labeling.sessions import open_quick

DEADLINE = 0.7
HEAD = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
BODY = f"{HEAD}Content-Type: application/json\r\n"
GET = f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
HALF = {
    "nothing": "",
    "half a line": "GET /api/st",
    "half a header": HEAD,
    "a line of a header": f"{HEAD}X-Long: aaaa",
    "half a body": f'{BODY}Content-Length: 100\r\n\r\n{{"holder": ',
    "no body": f"{BODY}Content-Length: 100\r\n\r\n",
    "half a chunk": f"{BODY}Transfer-Encoding: chunked\r\n\r\n20\r\n{{",
    "no last chunk": f"{BODY}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n",
    "a body that nobody reads": f"{GET}Content-Length: 100\r\n\r\n{{",
    "half a body of a stranger": "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
}


@pytest.fixture
def port(tmp_path, monkeypatch):
    """Of a real server, as the command starts it."""
    monkeypatch.setattr(Connection, "deadline", DEADLINE)
    servers = []

    class Noted(uvicorn.Server):
        def __init__(self, config):
            super().__init__(config)
            servers.append(self)

    monkeypatch.setattr("refpair.labeling.server.uvicorn.Server", Noted)
    is_ready = threading.Event()
    with open_quick(tmp_path / "a.sqlite") as session, open_socket("127.0.0.1", None) as listening:
        how = {"name": "rows", "token": TOKEN, "ready": is_ready.set}
        thread = threading.Thread(target=serve, args=[session, listening], kwargs=how)
        thread.start()
        assert is_ready.wait(60)
        yield listening.getsockname()[1]
        servers[0].should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def connect(port, text=""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(text.encode())
    return connection


def answers_at_once(port):
    begin = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(connection):
        connection.request("GET", "/api/state", headers={"Authorization": f"Bearer {TOKEN}"})
        assert connection.getresponse().status == 200
    assert time.monotonic() - begin < DEADLINE


def is_closed(connection):
    """Wait until the other side closes it."""
    with contextlib.suppress(ConnectionResetError):
        while connection.recv(65536):
            pass
    return True


def test_fifty_halves_of_requests_are_closed_in_time_and_keep_nobody_waiting(port):
    texts = [list(HALF.values())[i % len(HALF)] for i in range(55)]
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(connect(port, text)) for text in texts]
        answers_at_once(port)
        assert all(is_closed(connection) for connection in opened)
    assert time.monotonic() - begin < DEADLINE + 1
    answers_at_once(port)


@pytest.mark.parametrize("start", [GET, f"{BODY}Content-Length: 100\r\n\r\n", f"{GET}\r\n{GET}"])
def test_one_byte_after_another_gives_no_more_time(port, start):
    begin = time.monotonic()
    with connect(port, start) as connection, contextlib.suppress(ConnectionError):
        while time.monotonic() - begin < 10:
            connection.sendall(b"x")
            time.sleep(0.05)
    assert time.monotonic() - begin < DEADLINE + 1


def test_requests_that_take_their_time_are_answered(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = b'{"holder": "a-window-of-tests"}'
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with contextlib.closing(connection):
        for _ in range(3):  # over one connection, whose age is beyond the deadline at the end
            connection.putrequest("POST", "/api/ask")
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                connection.putheader(name, value)
            connection.endheaders()
            connection.send(body[:10])
            time.sleep(0.6 * DEADLINE)
            connection.send(body[10:])
            answer = connection.getresponse()
            assert answer.status == 200
            answer.read()


def test_if_there_are_too_many_the_oldest_goes(port, monkeypatch):
    monkeypatch.setattr(connections, "_MOST", 5)
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(8):
            opened.append(stack.enter_context(connect(port, "GET")))
            time.sleep(0.02)
        answers_at_once(port)
        for connection in opened[:4]:
            connection.settimeout(0.3)
            assert is_closed(connection)
        opened[-1].settimeout(0.1)
        with pytest.raises(TimeoutError):
            is_closed(opened[-1])
