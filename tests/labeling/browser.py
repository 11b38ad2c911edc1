"""A real browser and a real server, for tests that a person could do by hand."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

CHROMIUM = os.environ.get("REFPAIR_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds; the first lesson may have to compile kernels


@contextmanager
def chromium():
    """A browser; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here: apt-get install chromium, or set REFPAIR_CHROMIUM")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Server:
    """``refpair label`` in a process of its own, which can be killed and started again."""

    def __init__(self, *arguments, folder):
        self.folder = folder
        self.port = _free_port()
        self.command = [
            sys.executable, "-m", "refpair", "label", *map(str, arguments),
            "--no-browser", "--port", str(self.port),
        ]  # fmt: skip
        self.token = "a-token-for-tests-only"
        self.process = None

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def start(self):
        self.log = open(self.folder / "server.log", "ab")  # noqa: SIM115
        self.process = subprocess.Popen(
            self.command, cwd=self.folder, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            env={**os.environ, "REFPAIR_TOKEN": self.token},
        )  # fmt: skip

    def wait(self):
        """Wait until the page can be opened."""
        end = time.monotonic() + PATIENCE / 1000
        while time.monotonic() < end:
            assert self.process.poll() is None, self.output()
            with socket.socket() as attempt:
                attempt.settimeout(0.2)
                if attempt.connect_ex(("127.0.0.1", self.port)) == 0 and "Label at" in self.output():
                    return
            time.sleep(0.05)
        raise AssertionError(f"the server does not start: {self.output()}")

    def output(self):
        return re.sub(r"\s+", " ", (self.folder / "server.log").read_text(errors="replace"))

    def kill(self):
        """End it at once, as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()
        (self.folder / "server.log").unlink()

    def stop(self):
        """End it as Ctrl-C does."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
