"""A disk that is full: nothing acknowledged is lost, it is told in words, and it goes on afterwards."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from itertools import cycle

import pytest

from refpair._files import is_full, written_whole
from refpair.labeling import Session
from refpair.labeling.server import Worker
from tests.labeling.browser import PATIENCE, Server, chromium
from tests.labeling.requests import LabelServer
from tests.labeling.sessions import LABELS, QUICK, Costly, open_quick

pytestmark = pytest.mark.slow

FULL = "the disk is full: nothing was written; free some space"
CSV = "id,tempo\n" + "".join(f"{i},{i * 7 % 5}\n" for i in range(60))


BALLAST = {
    "events": "INSERT INTO events (row, kind, undone, who, holder, at, model) "
    "VALUES ('0', 'undo', 0, '', '', '', '')",
    "rounds": "INSERT INTO rounds (event, n_labeled, sample, at) VALUES (-1, 0, '', '')",
    "leases": "INSERT INTO leases VALUES (hex(randomblob(8)), -1, '', 1e18, '')",
}


class Limit:
    """What a session may have of the disk: SQLite itself says that it is full."""

    def __init__(self, session):
        self._connection = session._store._connection

    def fill(self, *tables):
        (size,) = self._connection.execute("PRAGMA page_count").fetchone()
        self._connection.execute(f"PRAGMA max_page_count = {size}")
        for table in tables:
            with pytest.raises(sqlite3.OperationalError, match="full"):  # also what is left of the last page
                repeat(self._connection.execute, BALLAST[table])

    def free(self):
        self._connection.execute("PRAGMA max_page_count = 1000000")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte, and what fills it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no small file system can be mounted here ({error})")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def repeat(work, *args):
    while True:
        work(*args)


def fill(folder):
    with (folder / "ballast").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        repeat(file.write, bytes(4096))


# -- sessions ----------------------------------------------------------------------------------------------


def tell_until_full(session):
    """Answer rows until the disk is full, and return how many were taken."""
    before = len(session.history)
    rows = cycle(session.ids)
    with pytest.raises(OSError, match=FULL) as error:
        repeat(lambda: session.tell([next(rows)], [["joy"]], who=f"{len(session.history)}" * 3000))
    assert error.value.filename == str(session.path.resolve())
    return len(session.history) - before


def test_answers_on_a_full_disk_are_refused_as_a_whole_and_taken_later(tmp_path):
    with open_quick(tmp_path / "a.sqlite") as session:
        limit = Limit(session)
        limit.fill()
        n = tell_until_full(session)
        with pytest.raises(OSError, match=FULL):
            session.tell([0, 1, 2], [["joy"]] * 3, who="x" * 3000)
        assert len(session.history) == n
        limit.free()
        session.tell([0, 1, 2], [["joy"]] * 3)
        assert len(session.history) == n + 3
    with Session.open(tmp_path / "a.sqlite") as session:
        assert len(session.history) == n + 3


def test_a_real_disk(small_disk):
    path = small_disk / "a.sqlite"
    with open_quick(path) as session:
        session.tell([0, 1], [["joy"], ["anger"]])
        fill(small_disk)
        n = tell_until_full(session)
        assert len(session.history) == n + 2
        with open_quick(path) as second:  # it can be looked at
            assert len(second.history) == n + 2
        with pytest.raises(OSError, match="the disk is full"):
            open_quick(small_disk / "new.sqlite")
        (small_disk / "ballast").unlink()
        session.tell([2], [["calm"]])
    with Session.open(path) as session:
        assert len(session.history) == n + 3


def test_what_was_learnt_is_noted_when_there_is_space_again_without_learning_again(tmp_path):
    with open_quick(tmp_path / "a.sqlite", **{**QUICK, "estimator": Costly()}) as session:
        session.tell([0, 1], [["joy"], ["anger"]])
        limit = Limit(session)
        limit.fill("rounds")
        n = len(session.rounds)
        worker = Worker(session)
        worker.start()
        wait_for(lambda: worker.problem == FULL)
        learnt = session.model
        assert learnt is not None
        worker.wake()
        time.sleep(0.2)
        assert worker.is_alive()
        assert len(session.rounds) == n
        limit.free()
        worker.wake()
        wait_for(lambda: worker.problem is None)
        worker.stop()
        assert session.model is learnt
        assert len(session.rounds) == n + 1


def wait_for(what):
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


# -- the page ----------------------------------------------------------------------------------------------


def test_each_request_that_writes_is_answered_in_words(tmp_path):
    server = LabelServer(tmp_path, CSV, LABELS, **QUICK)
    assert server.answer(1, ["joy"]).status == 200
    limit = Limit(server.session)
    limit.fill("events", "leases")
    n = server.n_events()
    answers = [
        server.answer(0, ["joy"]),
        server.post("/api/answer", {"holder": "a-window-of-tests", "id": 2, "skip": True}),
        server.post("/api/undo", {"holder": "a-window-of-tests"}),
    ]
    saved = {"error": "The disk is full: nothing was saved. Free some space and do it again."}
    assert [(one.status, one.json()) for one in answers] == [(503, saved)] * 3
    asked = server.post("/api/ask", {"holder": "another-window"})
    assert asked.status == 503
    assert asked.json()["error"].startswith(
        "The disk is full: there is no next row until some space is free."
    )
    assert server.get("/api/state").status == 200
    assert server.get("/api/table.csv").status == 200
    assert server.n_events() == n
    limit.free()
    assert server.answer(3, ["anger"]).status == 200
    assert server.ask() is not None
    server.session.close()


def test_a_model_that_does_not_fit_leaves_the_old_one(tmp_path, monkeypatch):
    server = LabelServer(tmp_path, CSV, LABELS)
    for i in range(6):
        assert server.answer(i, [LABELS[i % 2]]).status == 200
    assert server.post("/api/model", {}).json()["file"] == "answers.refpair"
    model = tmp_path / "answers.refpair"
    before, names = model.read_bytes(), sorted(one.name for one in tmp_path.iterdir())
    monkeypatch.setattr("os.fsync", no_space)
    answer = server.post("/api/model", {})
    assert answer.status == 503
    assert "The disk is full" in answer.json()["error"]
    assert model.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == names
    server.session.close()


def no_space(file):
    raise OSError(28, "No space left on device")


def test_the_page_says_it_keeps_the_answer_and_goes_on(small_disk, tmp_path):
    server = Server("digits", "--session", str(small_disk / "a.sqlite"), folder=tmp_path)
    server.start()
    server.wait()
    try:
        with chromium() as browser:
            page = browser.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(server.address)
            page.wait_for_selector("#row[data-id]")
            fill(small_disk)
            page.fill("#who", "w" * 100)
            for _ in range(300):  # what is left of a page of the file may take some
                row = page.get_attribute("#row", "data-id")
                page.keyboard.press("Escape")
                page.keyboard.press("3")
                page.keyboard.press("Enter")
                page.wait_for_selector("body:not([aria-busy]), #problem:not([hidden])")
                if page.is_visible("#problem"):
                    break
            told = page.inner_text("#problem")
            assert told.startswith("The disk is full: ")
            if "nothing was saved" in told:
                assert page.get_attribute("#row", "data-id") == row
                assert page.get_attribute("[data-label='3']", "aria-pressed") == "true"
            page.screenshot(path=tmp_path / "full.png")
            (small_disk / "ballast").unlink()
            page.wait_for_timeout(1000)
            if page.is_visible("#problem"):
                page.keyboard.press("Enter")
            page.wait_for_selector(f"#row[data-id]:not([data-id='{row}'])")
            page.wait_for_selector("#problem", state="hidden")
    finally:
        server.stop()
    assert "Traceback" not in server.output()
    with Session.open(small_disk / "a.sqlite") as session:
        assert session.answers().loc[int(row), "3"] == 1


# -- files -------------------------------------------------------------------------------------------------


def test_a_file_that_does_not_fit_leaves_the_old_one(small_disk):
    path = small_disk / "out.csv"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="nothing was written") as error, written_whole(path) as file:
        file.write(bytes(2 << 20))
    assert is_full(error.value)
    assert error.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(small_disk) == ["out.csv"]


@pytest.mark.parametrize(("option", "name"), [("--export", "out.csv"), ("--save-model", "m.refpair")])
def test_the_command_says_it_in_one_sentence(small_disk, tmp_path, option, name):
    rows = [f"{i},{i % 5},{i % 2},{1 - i % 2}" for i in range(8)]
    (tmp_path / "pool.csv").write_text("\n".join(["id,tempo,joy,anger", *rows]))
    old = small_disk / name
    old.write_bytes(b"old")
    fill(small_disk)
    done = subprocess.run(
        [sys.executable, "-m", "refpair", "label", "pool.csv", "--labels", "joy,anger", option, old],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"error: {old}: {FULL}"
    assert "Traceback" not in done.stderr
    assert old.read_bytes() == b"old"
    assert sorted(os.listdir(small_disk)) == sorted(["ballast", name])
