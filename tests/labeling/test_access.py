"""Tokens: where they come from, where they are kept, and that nobody else sees them."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
from html import unescape
from pathlib import Path

import pytest

from refpair.labeling.access import Redirect, given_token, kept_token, new_token
from tests.labeling.browser import ARGUMENTS, CHROMIUM

TOKEN = "a-token-for-tests-only"


@pytest.fixture
def state(tmp_path, monkeypatch):
    """Where tokens are kept in the test."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "refpair" / "tokens"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# -- kept --------------------------------------------------------------------------------------------------


def test_a_token_is_kept_where_only_the_user_may_read_it(state, tmp_path):
    old = os.umask(0)
    try:
        token = kept_token(tmp_path / "a.sqlite")
    finally:
        os.umask(old)
    (path,) = state.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert path.read_text() == token
    assert "a.sqlite" not in path.name


def test_a_session_has_one_token_and_another_session_another_one(state, tmp_path, monkeypatch):
    token = kept_token(tmp_path / "a.sqlite")
    assert len(token) == 32
    assert kept_token(tmp_path / "a.sqlite") == token
    monkeypatch.chdir(tmp_path)
    assert kept_token(Path("a.sqlite")) == token
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "a.sqlite")
    assert kept_token(tmp_path / "link.sqlite") == token
    assert kept_token(tmp_path / "b.sqlite") != token
    (tmp_path / "sub").mkdir()
    assert kept_token(tmp_path / "sub" / "a.sqlite") != token


@pytest.mark.parametrize("content", [b"", b"short", b"\n", b"\xff" * 40, b"a" * 23])
def test_a_broken_token_is_replaced(state, tmp_path, content):
    first = kept_token(tmp_path / "a.sqlite")
    (path,) = state.iterdir()
    path.write_bytes(content)
    path.chmod(0o644)
    second = kept_token(tmp_path / "a.sqlite")
    assert second not in ("", first, content.decode("latin-1"))
    assert kept_token(tmp_path / "a.sqlite") == second
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_that_others_may_have_read_is_replaced(state, tmp_path):
    first = kept_token(tmp_path / "a.sqlite")
    (path,) = state.iterdir()
    path.chmod(0o644)
    assert kept_token(tmp_path / "a.sqlite") != first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_home_that_cannot_be_written_to_is_told(state, tmp_path):
    state.parent.parent.write_text("a file where the folder should be")
    with pytest.raises(OSError, match=re.escape(str(state.parent.parent))):
        kept_token(tmp_path / "a.sqlite")


def test_a_token_that_is_a_folder_or_a_link_is_not_followed(state, tmp_path):
    kept_token(tmp_path / "a.sqlite")
    (path,) = state.iterdir()
    path.unlink()
    (tmp_path / "elsewhere").write_text("x" * 40)
    (tmp_path / "elsewhere").chmod(0o600)
    path.symlink_to(tmp_path / "elsewhere")
    token = kept_token(tmp_path / "a.sqlite")
    assert (tmp_path / "elsewhere").read_text() == "x" * 40 != token
    assert kept_token(tmp_path / "a.sqlite") == token
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=path.name):
        kept_token(tmp_path / "a.sqlite")


def test_new_tokens_differ():
    assert len({new_token() for _ in range(100)}) == 100
    assert given_token(None) is None


# -- given -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [TOKEN, f"{TOKEN}\n", f"  {TOKEN}\r\n", "a" * 1000])
def test_a_file_gives_the_token(tmp_path, content):
    (tmp_path / "token").write_text(content)
    assert given_token(tmp_path / "token") == content.strip()


WRONG = ["short", "a; Domain=evil.example; x", f"{TOKEN}\n{TOKEN}", "<script>" * 3, "ü" * 20, "a" * 1001]


@pytest.mark.parametrize("content", ["", "\n", *WRONG])
def test_a_file_with_another_content_is_refused_without_showing_it(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(ValueError, match="token: a token must have 16 to 1,000 characters") as error:
        given_token(tmp_path / "token")
    assert not content.strip() or content not in str(error.value)


@pytest.mark.parametrize("content", WRONG)
def test_a_wrong_token_in_the_environment_is_refused(monkeypatch, content):
    monkeypatch.setenv("REFPAIR_TOKEN", content)
    with pytest.raises(ValueError, match="the environment variable REFPAIR_TOKEN: a token must have 16"):
        given_token(None)


def test_a_file_without_end_is_not_read_to_its_end():
    with pytest.raises(ValueError, match="a token must have"):
        given_token(Path("/dev/zero"))


# -- the browser -------------------------------------------------------------------------------------------


def test_the_way_to_the_page_is_for_its_owner_alone(tmp_path):
    redirect = Redirect(tmp_path / "mails.labels.sqlite", "http://127.0.0.1:1/?token=a&<>")
    path = tmp_path / "mails.labels.open.html"
    (tmp_path / "elsewhere").write_text("mine")
    path.symlink_to(tmp_path / "elsewhere")
    old = os.umask(0)
    try:
        assert redirect.write() == path.as_uri()
    finally:
        os.umask(old)
    assert mode(path) == 0o600
    assert (tmp_path / "elsewhere").read_text() == "mine"
    (address,) = re.findall('url=([^"]*)"', path.read_text())
    assert unescape(address) == "http://127.0.0.1:1/?token=a&<>"
    redirect.remove()
    assert not path.exists()
    path.write_text("of somebody else")
    redirect.remove()
    assert path.exists()


SCRIPT = """#!{python}
import subprocess, sys
with open("opened", "w") as file:
    file.write(sys.argv[1])
subprocess.run([{chromium!r}, "--headless", *{arguments!r}, "--virtual-time-budget=3000",
               "--user-data-dir=" + {folder!r}, "--dump-dom", sys.argv[1]])
"""


@pytest.mark.skipif(CHROMIUM is None or not Path("/proc").exists(), reason="needs chromium and /proc")
@pytest.mark.slow
def test_no_process_has_the_token_among_its_arguments(tmp_path):
    """The command opens a real browser, which comes to the page; all arguments are looked at meanwhile."""
    browser = tmp_path / "browser"
    browser.write_text(
        SCRIPT.format(
            python=sys.executable, chromium=CHROMIUM, arguments=ARGUMENTS, folder=str(tmp_path / "profile")
        )
    )
    browser.chmod(0o700)
    (tmp_path / "pool.csv").write_text("id,tempo\n1,5\n2,6\n3,4\n")
    env = {**os.environ, "BROWSER": f"{browser} %s", "REFPAIR_TOKEN": TOKEN}
    command = [sys.executable, "-m", "refpair", "label", "pool.csv", "--labels", "joy,anger"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=log, stderr=log)
    redirect = tmp_path / "pool.labels.open.html"
    opened = tmp_path / "opened"
    seen = set()
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and (not opened.exists() or redirect.exists()):
            assert process.poll() is None, (tmp_path / "log").read_text()
            seen |= arguments()
            time.sleep(0.01)
    finally:
        process.terminate()
        process.wait()
    assert opened.read_text() == redirect.as_uri()
    assert any("open.html" in one and "chrom" in one for one in seen)  # the browser was there
    assert not [one for one in seen if TOKEN in one]
    assert not redirect.exists()  # the page has been opened
    assert f"/?token={TOKEN}" in (tmp_path / "log").read_text()


def arguments():
    """Those of all processes at this moment."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it has ended
            continue
    return found
