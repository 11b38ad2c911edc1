"""A real server and a real browser under attack: by the data, by other pages, and by odd clients."""

from __future__ import annotations

import functools
import http.server
import json
import re
import socket
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from refpair.labeling import Session
from tests.labeling.browser import PATIENCE, Server, chromium
from tests.labeling.test_shown import HOSTILE, png

pytestmark = pytest.mark.slow

TOKEN = "a-token-for-tests-only"
LABELS = ["joy", "<img src=x onerror=alert(1)>", '"><script>alert(2)</script>', "\u202egnp", "=1+1"]
NAME = "<b onmouseover=alert(3)>name</b>"
DATA = "<svg onload=alert(4)>.csv"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A table of hostile cells, ids, names of columns and labels; and pictures, which others may want."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "a.png").write_bytes(png())
    (folder / "b.png").write_bytes(png(shade=99))
    rows = [
        [f"{cell} id", f"{cell} and words", cell, "a.png" if i % 2 else "b.png"]
        for i, cell in enumerate(HOSTILE)
    ]
    header = ["id", NAME, "<script>alert(5)</script>", "picture"]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [header, *rows]]
    (folder / DATA).write_text("\r\n".join(quoted) + "\r\n", newline="")
    server = Server(DATA, "--labels", ",".join(LABELS), "--session", "answers.sqlite", folder=folder)
    server.start()
    server.wait()
    yield server
    server.stop()
    assert "Traceback" not in server.output()


def said(server):
    with Session.open(server.folder / "answers.sqlite") as session:
        return len(session.history), session.labels


# -- odd clients -------------------------------------------------------------------------------------------


def talk(server, *parts, patience=10.0):
    """Send bytes as they are, and return the answer, as far as there is one."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass  # it closed: what was sent is too much
        try:
            while not is_whole(answer) and (more := connection.recv(65_536)):
                answer += more
        except OSError:
            pass
    return answer


def is_whole(answer):
    start, blank, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", start, re.IGNORECASE)
    return bool(blank and length) and len(body) >= int(length[1])


def head(server, method="POST", target="/api/answer", **headers):
    own = {
        "Host": f"127.0.0.1:{server.port}",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
    }
    lines = [
        f"{name.replace('_', '-')}: {value}"
        for name, value in {**own, **headers}.items()
        if value is not None
    ]
    return "\r\n".join([f"{method} {target} HTTP/1.1", *lines, "", ""]).encode("latin-1")


def is_well(server):
    return talk(server, head(server, "GET", "/api/state", Connection="close")).startswith(b"HTTP/1.1 200")


def memory(server):
    """The most memory that the server has had, in megabytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


MEGABYTE = b"x" * (1 << 20)


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from /proc, which is not here"
)
def test_huge_requests_are_refused_without_being_read(server):
    assert is_well(server)
    before, begin = memory(server), time.monotonic()
    endless = [b"100000\r\n" + MEGABYTE + b"\r\n"] * 60
    for header, parts in [
        ({"Content_Length": 10**9}, []),
        ({"Content_Length": 10**9}, [MEGABYTE] * 60),
        ({"Content_Length": 10**18}, [MEGABYTE] * 60),
        ({"Transfer_Encoding": "chunked"}, endless),
    ]:
        answer = talk(server, head(server, **header), *parts)
        # If it closes while we still send, the answer may be lost on the way; never is it another one.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 413"), answer
        assert is_well(server)
    assert talk(server, head(server, Content_Length=10**9)).startswith(b"HTTP/1.1 413")
    assert memory(server) - before < 30
    assert time.monotonic() - begin < 20


ODD = [
    [b"\x00\xff" * 100],
    [b"GET / HTTP/9.9\r\n\r\n"],
    [b"GET /\r\n\r\n"],
    [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],  # TLS
    [b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    [b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000],
    [b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(20_000)) + b"\r\n"],
    [b"POST /api/ask HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
    [b"POST /api/ask HTTP/1.1\r\nContent-Length: -2\r\n\r\n"],
    [b"POST /api/ask HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
]


@pytest.mark.parametrize("place", range(len(ODD)))
def test_what_is_no_http_does_no_harm(server, place):
    answer = talk(server, *ODD[place])
    assert answer == b"" or re.match(rb"HTTP/1.[01] 4\d\d", answer), answer
    assert is_well(server)


def test_a_length_that_lies_smuggles_nothing_in(server):
    before = said(server)
    hidden = b"POST /api/labels HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = talk(server, head(server, Content_Length=2) + b"{}" + hidden + MEGABYTE)
    assert b"HTTP/1.1 400" in answer
    assert said(server) == before
    # A request that breaks off is none.
    body = json.dumps({"holder": "a" * 8, "id": f"{HOSTILE[0]} id", "labels": []}).encode()
    talk(server, head(server, Content_Length=len(body) + 5) + body, patience=0.5)
    assert said(server) == before
    assert is_well(server)


def test_requests_without_a_host_or_for_another_one_are_refused(server):
    for sent in (
        b"GET / HTTP/1.0\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n\r\n",
        head(server, "GET", "/", Host="evil.example"),
        head(server, "GET", f"http://127.0.0.1:{server.port}/", Host="evil.example"),
    ):
        assert talk(server, sent).startswith(b"HTTP/1.1 403"), sent


def test_there_are_no_websockets(server):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": 13,
        "Content_Type": None,
    }
    for target, status in (("/", b"200"), ("/api/state", b"200"), ("/ws", b"404")):
        answer = talk(server, head(server, "GET", target, Sec_WebSocket_Key="A" * 22 + "==", **upgrade))
        assert answer.startswith(b"HTTP/1.1 " + status), answer  # as if nothing had been said of it


# -- the data, in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser, server):
    """The labeling page, and what went wrong in it."""
    page = watched(browser)
    page.goto(server.address)
    page.wait_for_selector("#row[data-id], #row > p")
    yield page
    page.context.close()


def watched(browser):
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE)
    page.trouble = []
    page.on("dialog", lambda dialog: (page.trouble.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("console", lambda message: page.trouble.append(message.text) if message.type == "error" else None)
    return page


def test_nothing_of_the_data_is_run_or_read_as_html(page, server):
    before = said(server)[0]
    seen = set()
    for _ in HOSTILE:
        page.wait_for_selector("body:not([aria-busy])")
        row = json.loads(page.get_attribute("#row", "data-id"))
        cell = row.removesuffix(" id")
        assert cell in HOSTILE
        text = page.text_content("#row")
        assert f"{cell} and words" in text
        assert "<script>alert(5)</script>" in text
        assert (
            page.query_selector("#row script, #row svg, #row b, #row i, #labels img, #labels script") is None
        )
        assert [node.text_content() for node in page.query_selector_all(".toggle .label")] == LABELS
        page.keyboard.press(str(1 + len(seen) % len(LABELS)))
        page.keyboard.press("Enter")
        seen.add(cell)
        page.wait_for_selector(f"#row:not([data-id={json.dumps(json.dumps(row))}]), #row > p")
    page.wait_for_selector("body:not([aria-busy])")  # the last answer is on its way
    assert seen == set(HOSTILE)
    assert said(server)[0] - before == len(seen)
    assert page.text_content("#name") == DATA
    assert page.title().startswith(DATA)
    assert page.trouble == []  # no dialog, no error, nothing that the policy had to stop


# -- other pages -------------------------------------------------------------------------------------------

ATTACKS = """
async ([target, row]) => {
  const done = {};
  const patience = () => new Promise(resolve => setTimeout(() => resolve("no answer"), 3000));
  const tried = async (name, work) => {
    try { done[name] = await Promise.race([work(), patience()]); } catch { done[name] = "refused"; }
  };
  const add = (tag, properties) => {
    const node = Object.assign(document.createElement(tag), properties);
    document.body.append(node);
    return node;
  };
  const load = (tag, properties) => new Promise(resolve => {
    add(tag, {onload: () => resolve("LOADED"), onerror: () => resolve("refused"), ...properties});
  });
  const answer = JSON.stringify({holder: "hostile-page", id: row, labels: []});
  const fetched = async (path, how) => {
    const response = await fetch(target + path, {credentials: "include", ...how});
    return (await response.text()) ? "READ" : response.type;
  };
  const post = {method: "POST", body: answer};
  const json = {"Content-Type": "application/json"};
  await tried("read the page", () => fetched("/"));
  await tried("read the state", () => fetched("/api/state"));
  await tried("read the table", () => fetched("/api/table.csv"));
  await tried("send JSON", () => fetched("/api/answer", {...post, headers: json}));
  await tried("send text", () => fetched("/api/answer", post));
  await tried("send blindly", () => fetched("/api/answer", {...post, mode: "no-cors"}));
  await tried("beacon", async () => {
    navigator.sendBeacon(target + "/api/answer", new Blob([answer], {type: "text/plain"}));
    return "sent";
  });
  const picture = `/image?row=${encodeURIComponent(JSON.stringify(row))}&column=picture`;
  await tried("image", () => load("img", {src: target + picture}));
  await tried("script", () => load("script", {src: target + "/api/state"}));
  await tried("style", () => load("link", {rel: "stylesheet", href: target + "/"}));
  await tried("frame", () => new Promise(resolve => {
    const look = frame => {
      try { return frame.contentDocument === null ? "hidden" : "READ"; } catch { return "hidden"; }
    };
    add("iframe", {onload: event => resolve(look(event.target)), src: target + "/"});
  }));
  await tried("socket", () => new Promise(resolve => {
    const socket = new WebSocket(target.replace("http", "ws") + "/");
    socket.onopen = () => resolve("OPEN");
    socket.onerror = () => resolve("refused");
  }));
  for (const kind of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
    await tried("form " + kind, () => new Promise(resolve => {
      const frame = add("iframe", {name: "answer-to-" + kind});
      frame.onload = () => resolve("sent");
      const how = {method: "POST", action: target + "/api/answer", enctype: kind, target: frame.name};
      const form = add("form", how);
      form.append(add("input", {name: answer.slice(0, -1) + ', "x": "', value: '"}'}));
      form.submit();
    }));
  return done;
}
"""
WANTED = {
    "read the page": "refused", "read the state": "refused", "read the table": "refused",
    "send JSON": "refused", "send text": "refused", "send blindly": "refused", "beacon": "sent",
    "image": "refused", "script": "refused", "style": "refused", "frame": "hidden", "socket": "refused",
    "form text/plain": "sent", "form application/x-www-form-urlencoded": "sent",
    "form multipart/form-data": "sent",
}  # fmt: skip


@pytest.fixture
def elsewhere(tmp_path):
    """A server of somebody else's pages, at another port of this machine."""
    (tmp_path / "index.html").write_text("<!doctype html><title>hostile</title><a id=link>a prize</a>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        yield other.server_address[1]
        other.shutdown()
        thread.join()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])  # to which browsers send the cookie, and not
def test_another_page_can_neither_read_nor_write(page, server, elsewhere, host):
    row = f"{HOSTILE[0]} id"
    before = said(server)
    hostile = page.context.new_page()
    hostile.goto(f"http://{host}:{elsewhere}/")
    address = f"http://127.0.0.1:{server.port}"
    assert hostile.evaluate(ATTACKS, [address, row]) == WANTED
    assert said(server) == before
    # The same things are done if the page itself asks for them.
    image = f"{address}/image?row={quote(json.dumps(row))}&column=picture"
    assert page.request.get(image).status == page.request.get(f"{address}/api/state").status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_link_with_the_token_opens_the_page_from_anywhere(browser, server, elsewhere, host):
    page = watched(browser)
    page.goto(f"http://{host}:{elsewhere}/")
    page.evaluate("address => { document.getElementById('link').href = address; }", server.address)
    before = page.evaluate("history.length")
    page.click("#link")
    page.wait_for_selector("#row[data-id], #row > p")
    assert page.url == f"http://127.0.0.1:{server.port}/"  # without the token
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("document.referrer") == ""
    assert page.evaluate("history.length") == before + 1  # the address with it is not in the way back
    page.context.close()
