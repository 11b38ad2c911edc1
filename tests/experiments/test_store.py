from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from refpair import _sqlite
from refpair.experiments.store import Failure, Key, Result, Store

KEY = Key("compare", "emotions", "f1", "BR", 0, 0, "ab12", "present")
RESULT = Result(0.1 + 0.2, 0.0, 1.5, 0.25, '{"max_depth": 3}')


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "store.sqlite"


def test_a_result_comes_back_to_the_last_bit(path):
    with Store(path) as store:
        store.add(KEY, RESULT, run=1)
    with Store(path) as store:
        (row,) = store.results([KEY]).to_dict("records")
    assert row["score"] == 0.1 + 0.2
    assert {name: row[name] for name in Key._fields} == KEY._asdict()
    assert row["chosen"] == RESULT.chosen


def test_results_are_those_asked_for_in_that_order(path):
    keys = [KEY._replace(split=split) for split in (3, 1, 2)]
    with Store(path) as store:
        for key in sorted(keys):
            store.add(key, RESULT, run=1)
        store.add(KEY._replace(fingerprint="other"), RESULT, run=1)
        assert store.results([*keys, KEY]).split.tolist() == [3, 1, 2]
        assert store.missing([*keys, KEY]) == [KEY]
        assert store.keys() == {*keys, KEY._replace(fingerprint="other")}


def test_results_of_other_sources_are_shown_only_if_asked_for(path):
    other, older = KEY._replace(sources="other"), KEY._replace(sources="older")
    second = KEY._replace(split=1)
    with Store(path) as store:
        store.add(other, Result(0.2, 0, 0, 0, ""), run=2)
        store.add(older, Result(0.1, 0, 0, 0, ""), run=1)
        assert store.results([KEY]).empty
        assert store.missing([KEY]) == [KEY]
        assert store.results([KEY], any_sources=True)["score"].tolist() == [0.2], "the latest"
        store.add(second, RESULT, run=3)
        store.add(second._replace(sources="other"), Result(0.2, 0, 0, 0, ""), run=4)
        found = store.results([second, KEY], any_sources=True)
    assert found["score"].tolist() == [RESULT.score, 0.2], "the present ones first of all"
    assert found["sources"].tolist() == ["present", "other"]


def test_the_first_result_stays(path):
    with Store(path) as store:
        store.add(KEY, RESULT, run=1)
        store.add(KEY, Result(9.0, 0, 0, 0, ""), run=2)
        assert store.results([KEY]).score.tolist() == [RESULT.score]


def test_a_task_has_one_owner_at_a_time(path):
    with Store(path) as one, Store(path) as other:
        assert one.claim("task")
        assert not other.claim("task")
        assert other.claim("another")
        one.release("task")
        assert other.claim("task")
        assert not one.claim("task")


def test_claims_end_with_the_store_that_made_them(path):
    with Store(path) as one:
        assert one.claim("task")
    with Store(path) as other:
        assert other.claim("task")
    assert [file.name for file in path.parent.iterdir()] == ["store.sqlite"]


def test_claims_of_a_killed_process_are_void(path):
    code = (
        "from refpair.experiments.store import Store; from pathlib import Path; import time\n"
        f"store = Store(Path({str(path)!r}))\nprint(store.claim('task'), flush=True)\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "True\n"
        with Store(path) as store:
            assert not store.claim("task")
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert store.claim("task")


def test_many_claim_at_once_and_one_gets_it(path):
    Store(path).close()
    barrier, won = threading.Barrier(4), []

    def try_it():
        with Store(path) as store:
            barrier.wait()
            won.append([store.claim(f"task {number}") for number in range(20)])
            barrier.wait()

    threads = [threading.Thread(target=try_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [sum(column) for column in zip(*won, strict=True)] == [1] * 20


def test_a_worker_shows_its_file_only_while_it_writes_to_the_store(path):
    Store(path).close()
    claimed = []

    def claim():
        with Store(path) as store:
            claimed.append(store.claim("task"))

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=claim)
        thread.start()
        time.sleep(0.2)
        assert list(path.parent.glob(".worker-*")) == []
        other.execute("COMMIT")
    thread.join()
    assert claimed == [True]


def test_files_of_the_living_stay_and_those_of_the_dead_go(path):
    with Store(path) as living, Store(path) as other:
        assert living.claim("task")
        (path.parent / ".worker-dead").touch()
        (path.parent / ".worker-gone-journal").touch()
        other.remove_dead_workers()
        assert [file.name for file in path.parent.glob(".worker-*") if "-journal" not in file.name] == [
            f".worker-{living._worker[0]}"
        ]
        assert not (path.parent / ".worker-gone-journal").exists()
        assert not other.claim("task")


def test_a_file_that_cannot_be_removed_is_no_error(path, monkeypatch):
    def refuse(self, missing_ok=False):
        raise PermissionError

    with Store(path) as store:
        assert store.claim("task")
        monkeypatch.setattr(Path, "unlink", refuse)


def test_failures_belong_to_a_run(path):
    failure = Failure("task", "emotions", "BR", 3, "ValueError: because", "Traceback ...")
    with Store(path) as store:
        store.fail(failure, 1)
        assert store.failures(1) == [failure]
        assert store.failures(2) == []
        store.fail(failure._replace(error="ValueError: why not"), 2)
        assert store.failures(1) == [failure]


def test_machines_are_those_that_results_were_made_with(path):
    with Store(path) as store:
        first, _, third = (store.start_run("monday", machine) for machine in ("old", "idle", "new"))
        store.add(KEY, RESULT, first)
        store.add(KEY._replace(split=1), RESULT, third)
        assert store.machines({first, third}) == ["new", "old"]
        assert store.machines({first}) == ["old"]


def test_another_file_is_no_store(tmp_path):
    (tmp_path / "store.sqlite").write_text("label,joy\n" * 100)
    with pytest.raises(ValueError, match=r"store\.sqlite is no store of refpair .*choose another --out"):
        Store(tmp_path / "store.sqlite")


def test_a_store_of_another_version_is_refused(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        for version in (0, 99):
            connection.execute(f"PRAGMA user_version = {version}")
            with pytest.raises(ValueError, match=r"another version of refpair; choose another --out"):
                Store(path)


def test_a_folder_in_its_place_is_told(path):
    path.mkdir(parents=True)
    with pytest.raises(OSError, match=r"store\.sqlite: unable to open database file; choose another --out"):
        Store(path)


def test_a_store_that_stays_locked_is_told_as_such(path, monkeypatch):
    Store(path).close()
    monkeypatch.setattr(_sqlite, "_PATIENCE", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match=r"store\.sqlite: database is locked; wait for"):
            Store(path)
