"""Downloads against a server on loopback: the right file, or an error and nothing left behind."""

from __future__ import annotations

import hashlib
import io
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from refpair.datasets import DatasetUnavailableError, list_datasets, load, load_dataset
from refpair.datasets.load import Source

ARFF = b"@relation toy\n@attribute x real\n@attribute y {0,1}\n@data\n" + b"0.5,1\n" * 500
XML = b'<labels><label name="y"></label></labels>'


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves ``files``; cuts the body of the path ``broken`` in half; notes what was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/far/toy-sparse.arff": ARFF, "/far/toy.xml": XML}
        self.broken = ""
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == self.server.broken else body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(cache, monkeypatch):
    source = Source(1, 500, 1, "far/toy-sparse.arff", sha256(ARFF), "far/toy.xml", sha256(XML))
    monkeypatch.setattr(load, "REGISTRY", {"toy": source})
    with Server() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("REFPAIR_DATA_URL", server.url)
        yield server
        server.shutdown()
        thread.join()


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def is_local() -> bool:
    return list_datasets()[1].is_local


def test_success_fills_the_cache_once(server, cache, capfd):
    assert not is_local()
    data = load_dataset("TOY")
    assert data.name == "toy"
    assert data.X.shape == (500, 1)
    assert data.Y.sum() == 500
    assert files(cache) == {"toy.arff", "toy.xml"}
    assert is_local()
    assert len(server.asked) == 2
    again = load_dataset("toy", download=False)
    np.testing.assert_array_equal(again.X, data.X)
    assert len(server.asked) == 2
    assert capfd.readouterr().err == ""


def test_wrong_checksum(server, cache):
    server.files["/far/toy-sparse.arff"] = ARFF + b"9,1\n"
    with pytest.raises(
        DatasetUnavailableError,
        match=r"wrong checksum.*set REFPAIR_DATA to a folder that holds toy/toy\.arff",
    ):
        load_dataset("toy")
    assert files(cache) == {"toy.xml"}
    assert not is_local()


def test_broken_transfer_and_a_second_try(server, cache):
    server.broken = "/far/toy-sparse.arff"
    with pytest.raises(DatasetUnavailableError, match=r"downloading .*toy-sparse\.arff failed.*try again"):
        load_dataset("toy")
    assert files(cache) == {"toy.xml"}
    server.broken = ""
    assert load_dataset("toy").X.shape == (500, 1)
    assert server.asked.count("/far/toy.xml") == 1


def test_not_found(server, cache):
    del server.files["/far/toy.xml"]
    with pytest.raises(DatasetUnavailableError, match="404"):
        load_dataset("toy")
    assert files(cache) == set()


def test_no_network(server, cache, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("REFPAIR_DATA_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
    with pytest.raises(OSError, match=r"'toy' is not available: downloading .* failed"):
        load_dataset("toy")
    assert files(cache) == set()


def test_half_written_cache_is_replaced(server, cache):
    load_dataset("toy")
    path = cache / "datasets" / "toy" / "toy.arff"
    path.write_bytes(ARFF[:-100])
    assert not is_local()
    with pytest.raises(DatasetUnavailableError, match="downloads are switched off"):
        load_dataset("toy", download=False)
    assert load_dataset("toy").X.shape == (500, 1)
    assert path.read_bytes() == ARFF
    assert files(cache) == {"toy.arff", "toy.xml"}


def test_half_written_cache_without_network_stays_unused(server, cache, monkeypatch):
    load_dataset("toy")
    path = cache / "datasets" / "toy" / "toy.arff"
    path.write_bytes(ARFF[:-100])
    server.broken = "/far/toy-sparse.arff"
    with pytest.raises(DatasetUnavailableError):
        load_dataset("toy")
    assert files(cache) == {"toy.arff", "toy.xml"}
    assert not is_local()


def test_interruption_leaves_nothing(server, cache, monkeypatch):
    def interrupt(*args, **how) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("toy")
    assert files(cache) == set()


def test_a_cache_that_cannot_be_written(server, cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(DatasetUnavailableError, match=r"cannot write to .*set REFPAIR_DATA"):
        load_dataset("toy")


def test_own_folder_comes_first(server, cache, tmp_path, monkeypatch):
    own = tmp_path / "own" / "toy"
    own.mkdir(parents=True)
    (own / "toy.arff").write_bytes(ARFF + b"9,0\n")
    monkeypatch.setenv("REFPAIR_DATA", str(own.parent))
    assert load_dataset("toy").X.shape == (500, 1)  # no XML there yet, so it does not count
    (own / "toy.xml").write_bytes(XML)
    assert is_local()
    assert load_dataset("toy", download=False).X.shape == (501, 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_on_a_terminal_only(server, cache, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    load_dataset("toy")
    assert "toy.arff" in terminal.getvalue()
