"""The labeling page after 120 answers: needs Debian's chromium and playwright."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from _drawing import FOLDER
from playwright.sync_api import Page, sync_playwright

from refpair.datasets import load_dataset

N_ANSWERS, TOKEN = 120, "only-for-this-picture"
CHROMIUM = os.environ.get("REFPAIR_CHROMIUM") or shutil.which("chromium")


@contextmanager
def served(folder: str) -> Iterator[str]:
    """Run the page in a process of its own, and give its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "refpair", "label", "digits", "--no-browser", "--port", str(port)]
    secret = {**os.environ, "REFPAIR_TOKEN": TOKEN}
    with subprocess.Popen(command, cwd=folder, env=secret, stdout=subprocess.DEVNULL) as process:
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert process.poll() is None, "the server does not start"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/?token={TOKEN}"
        process.terminate()


def answer(page: Page) -> None:
    """Press the keys that are right for the row on the page."""
    digits = load_dataset("digits")
    page.wait_for_selector("body:not([aria-busy])")
    row = json.loads(page.get_attribute("#row", "data-id") or "")
    for name, there in zip(digits.label_names, digits.Y[row], strict=True):
        if there:
            page.keyboard.press(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("body:not([aria-busy])")


def main() -> None:
    """Label, and take the picture."""
    with tempfile.TemporaryDirectory() as folder, served(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 850})
        page.set_default_timeout(60_000)
        page.goto(address)
        page.wait_for_selector("#row[data-id]")
        for _ in range(N_ANSWERS):
            answer(page)
            page.wait_for_timeout(150)  # as if it took a moment: the model learns meanwhile
        while page.query_selector(".percent") is None or page.query_selector("#curve circle") is None:
            page.wait_for_timeout(500)
            answer(page)
        page.screenshot(path=FOLDER / "labeling_page.png")
        browser.close()


if __name__ == "__main__":
    main()
