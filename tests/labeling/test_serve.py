"""Where the server listens, how it learns in the background, and what is there without its extra."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from refpair.labeling.server import PORT, Worker, open_socket, page_address

CSV = "id,tempo,said\n" + "".join(f"{i},{i * 7 % 5},so {i % 3}\n" for i in range(9))


@pytest.fixture
def taken():
    """A port that somebody else listens at."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


# -- sockets -----------------------------------------------------------------------------------------------


def test_without_a_port_a_free_one_is_found(monkeypatch, taken):
    monkeypatch.setattr("refpair.labeling.server.PORT", taken)
    with open_socket("127.0.0.1", None) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert listening.getsockname()[1] != taken


def test_the_usual_port_is_taken_if_it_is_free(monkeypatch, taken):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setattr("refpair.labeling.server.PORT", port)
    with open_socket("127.0.0.1", None) as listening:
        assert listening.getsockname() == ("127.0.0.1", port)
    assert PORT == 8732


def test_a_port_that_was_asked_for_and_is_taken_is_an_error(taken):
    with pytest.raises(
        OSError, match=f"127.0.0.1:{taken} cannot be listened at .Address already in use.; choose"
    ):
        open_socket("127.0.0.1", taken)


@pytest.mark.parametrize("host", ["203.0.113.7", "", "a" * 80, "ü" * 80])
@pytest.mark.parametrize("port", [None, 54321])
def test_an_address_that_this_machine_has_not_is_an_error(host, port):
    with pytest.raises(ValueError, match="this machine has no such address"):
        open_socket(host, port)


def test_a_name_that_nobody_knows_is_an_error(monkeypatch):
    def unknown(*args, **how):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", unknown)
    with pytest.raises(ValueError, match=r"--host nosuch\.example: this machine has no such address"):
        open_socket("nosuch.example", None)


def test_localhost_is_this_machine_only():
    with open_socket("localhost", None) as listening:
        assert listening.getsockname()[0] in ("127.0.0.1", "::1")


def test_the_address_of_the_page(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "lab")
    hosts = {"127.0.0.1": "127.0.0.1", "0.0.0.0": "lab"}
    if socket.has_ipv6 and _has_ipv6():
        hosts |= {"::1": "[::1]", "::": "lab"}
    for host, name in hosts.items():
        with open_socket(host, None) as listening:
            port = listening.getsockname()[1]
            assert page_address(listening, "abc") == f"http://{name}:{port}/?token=abc"


def _has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as attempt:
            attempt.bind(("::1", 0))
    except OSError:
        return False
    return True


# -- a real server -----------------------------------------------------------------------------------------


@pytest.fixture
def serving(tmp_path):
    """Start the command, and end it after the test; `get` asks it under a name."""
    running = []

    def start(*options, **env):
        (tmp_path / "pool.csv").write_text(CSV)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "refpair",
            "label",
            "pool.csv",
            "--labels",
            "joy,anger",
            "--no-browser",
        ]
        process = subprocess.Popen(
            [*command, "--port", str(port), *options],
            cwd=tmp_path,
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "COLUMNS": "200", **env},
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        told = []
        for line in process.stderr:
            told.append(line)
            if line.startswith("Ctrl-C"):
                break
        address = next(
            line.removeprefix("Label at ").strip() for line in told if line.startswith("Label at ")
        )
        return process, port, address

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def get(port, target, host, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", target, headers={"Host": host, **headers})
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


@pytest.mark.slow
def test_the_command_serves_the_page_and_ends_by_ctrl_c(serving):
    process, port, address = serving()
    assert address.startswith(f"http://127.0.0.1:{port}/?token=")
    token = address.partition("token=")[2]
    assert get(port, "/", f"127.0.0.1:{port}").status == 403
    opened = get(port, f"/?token={token}", f"127.0.0.1:{port}")
    assert opened.getheader("set-cookie").startswith(f"refpair_{port}={token}; HttpOnly")
    bearer = {"Authorization": f"Bearer {token}"}
    assert get(port, "/api/state", f"localhost:{port}", **bearer).status == 200
    assert get(port, "/api/state", f"{socket.gethostname()}:{port}", **bearer).status == 403
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    assert told.strip() == "0 rows are answered; they are in pool.labels.sqlite"


def test_a_server_for_others_is_called_by_the_name_that_it_prints(serving):
    _, port, address = serving("--host", "0.0.0.0", REFPAIR_TOKEN="a-token-for-tests-only")
    assert address == f"http://{socket.gethostname()}:{port}/?token=a-token-for-tests-only"
    bearer = {"Authorization": "Bearer a-token-for-tests-only"}
    assert get(port, "/api/state", f"{socket.gethostname()}:{port}", **bearer).status == 200
    assert get(port, "/api/state", f"192.0.2.9:{port}", **bearer).status == 200
    assert get(port, "/api/state", f"{socket.gethostname()}:{port}").status == 403
    assert get(port, "/api/state", f"evil.example:{port}", **bearer).status == 403


# -- learning in the background ----------------------------------------------------------------------------


class Fits:
    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.n = 0
        self.learnt = threading.Condition()

    def learn(self):
        with self.learnt:
            self.n += 1
            self.learnt.notify_all()
        if self.outcomes and (outcome := self.outcomes.pop(0)):
            raise outcome

    def wait_for(self, n):
        with self.learnt:
            assert self.learnt.wait_for(lambda: self.n >= n, timeout=20)


def test_a_worker_learns_when_woken_and_survives_what_goes_wrong(capsys):
    fits = Fits(None, ZeroDivisionError("by zero"), None)
    worker = Worker(fits)
    worker.start()
    fits.wait_for(1)
    worker.wake()
    fits.wait_for(2)
    end = time.monotonic() + 20
    while worker.problem is None and time.monotonic() < end:
        time.sleep(0.01)
    assert worker.problem == "ZeroDivisionError: by zero"
    worker.wake()
    fits.wait_for(3)
    worker.stop()
    assert worker.problem is None
    assert "ZeroDivisionError: by zero" in capsys.readouterr().err


def test_a_worker_tells_of_a_full_disk_once_and_in_one_line(capsys):
    full = [OSError(28, "the disk is full", "a.sqlite") for _ in range(3)]
    fits = Fits(*full)
    worker = Worker(fits)
    worker.start()
    for n in (1, 2, 3):
        fits.wait_for(n)
        end = time.monotonic() + 20
        while worker.problem is None and time.monotonic() < end:
            time.sleep(0.01)
        assert worker.problem == "the disk is full"
        assert worker.is_alive()
        worker.wake()
    fits.wait_for(4)
    worker.stop()
    assert worker.problem is None
    assert capsys.readouterr().err.splitlines() == ["OSError: [Errno 28] the disk is full: 'a.sqlite'"]


def test_a_worker_that_is_stopped_while_it_begins_a_fit_does_not_miss_it(monkeypatch):
    worker = Worker(Fits())
    clear = worker._wake.clear

    def clear_after_stop():
        stopping.start()
        worker._wake.wait(20)
        clear()

    stopping = threading.Thread(target=worker.stop)
    monkeypatch.setattr(worker._wake, "clear", clear_after_stop)
    begin = time.monotonic()
    worker.start()
    while not stopping.ident:
        time.sleep(0.001)
    stopping.join(20)
    assert time.monotonic() - begin < 4  # else it sleeps for five seconds


# -- without starlette and uvicorn -------------------------------------------------------------------------

WITHOUT = """
import sys
sys.modules["starlette"] = sys.modules["uvicorn"] = None  # as if they were not installed
{}
"""


def without_the_extra(code, folder):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(code)],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_everything_but_the_page_is_there_without_the_extra(tmp_path):
    answered = CSV.replace("said\n", "said,joy,anger\n").replace("so 0\n", "so 0,1,0\n")
    (tmp_path / "pool.csv").write_text(re.sub(r"(so \d)\n", r"\1,,\n", answered))
    code = """
import refpair, refpair.active, refpair.labeling.label_studio, refpair.labeling.shown
from typer.testing import CliRunner
from refpair.cli.app import app
label = ["label", "pool.csv", "--labels", "joy,anger"]
run = lambda *args: CliRunner(env={"COLUMNS": "200"}).invoke(app, [*label, *args])
print(run("--export", "labels.csv").exit_code, run("--to-label-studio", "tasks.json").exit_code)
page = run("--no-browser")
print(page.exit_code, page.stderr.splitlines()[-1])
"""
    done = without_the_extra(code, tmp_path)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "0 0"
    assert (tmp_path / "labels.csv").exists()
    assert second.startswith("2 error: the labeling page needs starlette and uvicorn (")
    assert second.endswith("): pip install 'refpair[label]'")
