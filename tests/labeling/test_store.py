"""The file of a session: what is in it stays in it, and what is no such file is told as such."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from types import SimpleNamespace

import pytest

from refpair import _sqlite
from refpair.labeling import store as store_module
from refpair.labeling.store import ALL, ROW, AnswerStore, Event, StoredRound

ME = {"who": "me", "holder": "here"}
SETTINGS = {"journal_mode": "wal", "synchronous": 2}  # 2 is FULL
LABELS = ["joy", "anger"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def store(path):
    with closing(AnswerStore(path)) as store:
        store.add_labels(LABELS)
        yield store


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    clock = SimpleNamespace(now=1000.0)
    times = SimpleNamespace(time=lambda: clock.now, monotonic=lambda: clock.now, sleep=lambda seconds: None)
    for module in (store_module, _sqlite):
        monkeypatch.setattr(module, "time", times)
    return clock


def say(store, kind, row, labels=(), *, who="me", holder="here", asked=0b11, **how):
    asked = ALL if kind == "skip" else asked
    store.say(kind, [row], [labels], [asked], who=who, said_in=None, holder=holder, **how)


def lease(store, n, *rows, holder="here", seconds=10.0, model=""):
    how = {"among": [ROW], "holder": holder, "seconds": seconds, "model": model}
    given = store.lease(n, [str(number) for number in range(10)], [(row, ROW) for row in rows], **how)
    return [row for row, _ in given]


# ---- events ----


def test_what_was_said_comes_back_after_reopening(store, path):
    say(store, "labels", '"Hey Jude"', [0])
    say(store, "skip", "7", who="you", holder="there")
    store.close()
    with closing(AnswerStore(path)) as again:
        first, second = again.events()
        assert again.events(after=1) == [second]
        assert again.names == LABELS
    assert first == Event(1, '"Hey Jude"', "labels", (0,), 0b11, None, "me", "here", first.at, "")
    assert second == Event(2, "7", "skip", (), ALL, None, "you", "there", second.at, "")
    assert first.at.endswith("+00:00")
    assert first.at <= second.at


def test_several_answers_are_noted_all_or_none(store):
    how = {"said_in": None, **ME}
    with pytest.raises(TypeError, match="not iterable"):
        store.say("labels", ["1", "2"], [[0], None], [0b11] * 2, **how)
    assert store.events() == store.last_words() == []
    store.say("labels", ["1", "2"], [[0], []], [0b11] * 2, **how, at="2026-01-01T00:00:00.000+00:00")
    assert [event.at for event in store.events()] == ["2026-01-01T00:00:00.000+00:00"] * 2


def test_an_answer_knows_which_labels_it_is_about(store):
    say(store, "labels", "1", [1])
    store.add_labels(["calm"])
    say(store, "labels", "2", [2], asked=0b110)
    many = 1 << 300
    store.add_labels([f"label {number}" for number in range(300)])
    say(store, "labels", "3", [300], asked=many)
    assert [event.asked for event in store.events()] == [0b11, 0b110, many]


def test_labels_are_added_behind_those_that_there_are(store):
    store.add_labels(["calm", "joy", "awe"])
    assert store.names == [*LABELS, "calm", "awe"]


def test_notes_are_plain_values(store):
    assert store.about("cost") is None
    store.note("cost", {"name": "f1"})
    store.note("cost", {"name": "f2", "prices": [1, 2.5]})
    assert store.about("cost") == {"name": "f2", "prices": [1, 2.5]}


# ---- taking back ----


def undo(store, who="me", said_in=None, holder="here", lease=10.0):
    return store.undo(who=who, said_in=said_in, holder=holder, lease=lease)


def test_what_was_said_last_is_taken_back_first(store):
    for row in ("1", "2", "3"):
        say(store, "labels", row, [0])
    assert [undo(store).row for _ in range(3)] == ["3", "2", "1"]
    assert undo(store) is None
    assert [event.undone for event in store.events(after=3)] == [3, 2, 1]
    say(store, "skip", "2")
    assert (undo(store).kind, undo(store)) == ("skip", None)


def test_nobody_takes_back_what_others_said(store):
    say(store, "labels", "1", [0])
    say(store, "labels", "2", [0], who="you", holder="here")
    say(store, "labels", "3", [0], who="me", holder="there")
    assert undo(store, who="she") is None
    assert undo(store, said_in="here").row == "1"
    assert undo(store, said_in="here") is None
    assert undo(store).row == "3"
    assert undo(store, who="you").row == "2"


def test_a_row_that_was_taken_back_is_held(store, clock):
    lease(store, 1, "1", model="CSRPE")
    say(store, "labels", "1", [0])
    assert undo(store, lease=5.0).model == "CSRPE"
    assert lease(store, 2, "1", "2", holder="there") == ["2"]
    assert lease(store, 1, "2") == ["1"]
    say(store, "labels", "1", [1])
    assert store.events(after=2)[0].model == "CSRPE"  # it is still the one that asked


# ---- leases ----


def test_two_holders_get_different_rows(store, clock):
    assert lease(store, 2, "1", "2", "3") == ["1", "2"]
    assert lease(store, 2, "1", "2", "3", holder="there") == ["3"]
    assert lease(store, 2, "1", "2", "3", holder="elsewhere") == []
    store.release("here")
    assert lease(store, 2, "1", "2", "3", holder="elsewhere") == ["1", "2"]


def test_a_holder_gets_the_same_rows_until_they_are_answered(store, clock):
    assert lease(store, 2, "1", "2", "3") == ["1", "2"]
    assert lease(store, 2, "3", "2", "1") == ["1", "2"]
    say(store, "labels", "1", [])
    assert lease(store, 2, "3") == ["2", "3"]


def test_leases_expire(store, clock):
    lease(store, 1, "1", seconds=10.0)
    clock.now += 9.9
    assert lease(store, 1, "1", holder="there") == []
    clock.now += 0.1
    assert lease(store, 1, "1", holder="there") == ["1"]
    assert lease(store, 1, "1") == []


def test_to_ask_again_prolongs_a_lease(store, clock):
    lease(store, 1, "1", seconds=10.0)
    clock.now += 9.0
    lease(store, 1, "1", seconds=10.0)
    clock.now += 9.0
    assert lease(store, 1, "1", holder="there") == []


def test_a_lease_begins_when_nobody_else_writes_any_more(store, path, monkeypatch):
    """Or who waited for long would get rows whose leases are over."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(store_module, "time", SimpleNamespace(time=lambda: clock.now))
    given = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=lambda: given.append(lease(store, 1, "1", seconds=10.0)))
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        clock.now += 30.0
        other.execute("COMMIT")
    thread.join()
    assert given == [["1"]]
    assert lease(store, 1, "1", holder="there") == []


def test_answers_note_which_model_asked(store):
    lease(store, 1, "1", model="CSRPE, 3 answers")
    say(store, "labels", "1", [0], who="you", holder="there")
    say(store, "labels", "2", [0])
    assert [event.model for event in store.events()] == ["CSRPE, 3 answers", ""]


# ---- rounds ----


def test_rounds_come_back_and_are_noted_once(store, path):
    first = StoredRound(3, 2, 0.1 + 0.2, "5 rows", b"\x00\xff")
    second = StoredRound(4, 3, None, "5 rows", None)
    for one in (first, second, StoredRound(4, 3, 0.5, "5 rows", b"other"), first):
        store.add_round(one)
    with closing(AnswerStore(path)) as other:
        other.add_round(second)
        other.add_round(StoredRound(4, 3, None, "6 rows", None))
        assert other.rounds() == [first, second, StoredRound(4, 3, None, "6 rows", None)]


# ---- the file ----


def test_answers_are_on_the_disk_when_a_call_returns(store):
    settings = [store._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in SETTINGS]
    assert dict(zip(SETTINGS, settings, strict=True)) == SETTINGS


def test_one_file_is_left(store, path):
    say(store, "labels", "1", [0])
    store.close()
    store.close()
    assert [file.name for file in path.parent.iterdir()] == ["answers.sqlite"]


def test_another_file_is_no_session(path):
    path.write_text("label,joy\n" * 100)
    with pytest.raises(
        ValueError, match=r"answers\.sqlite is no labeling session of refpair .*choose another"
    ):
        AnswerStore(path)
    assert path.read_text() == "label,joy\n" * 100


@pytest.mark.parametrize("version", [1, 2])
def test_a_database_of_another_program_is_left_alone(path, version):
    """Programs number their versions as this one does."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE labels (name)")
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"answers\.sqlite (is no labeling session|was made by another ver)"):
        AnswerStore(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_file_of_another_version_is_refused(store, path):
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        for version in (0, 99):
            connection.execute(f"PRAGMA user_version = {version}")
            with pytest.raises(ValueError, match="another version of refpair; choose another file"):
                AnswerStore(path)


def test_a_folder_in_its_place_is_told(path):
    path.mkdir()
    with pytest.raises(OSError, match=r"answers\.sqlite: unable to open database file; choose another file"):
        AnswerStore(path)


def test_a_file_that_cannot_be_written_to_is_told(store, path, monkeypatch):
    """As root, to which all files can be written, it is opened such that it cannot."""
    store.close()

    connect = sqlite3.connect
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **how: connect(f"file:{path}?mode=ro", uri=True, **how)
    )
    with pytest.raises(
        OSError, match=r"answers\.sqlite: attempt to write a readonly database; choose another"
    ):
        AnswerStore(path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write to all files")
def test_a_file_without_permission_is_told(store, path):
    store.close()
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with pytest.raises(OSError, match=r"answers\.sqlite: .*choose another file"):
            AnswerStore(path)
    finally:
        path.parent.chmod(0o700)


def test_a_file_that_stays_locked_is_told_as_such(path, monkeypatch):
    monkeypatch.setattr(_sqlite, "_PATIENCE", 0.0)
    AnswerStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match=r"answers\.sqlite: database is locked; wait for the process"):
            AnswerStore(path)


class Busy(sqlite3.Connection):
    """Others open the same new file: SQLite does not wait for them here, in about one case of a hundred."""

    n_times = 3

    def execute(self, sql, *parameters):
        if "journal_mode" in sql and self.n_times:
            self.n_times -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(sql, *parameters)


def test_a_file_that_others_are_making_is_waited_for(path, clock, monkeypatch):
    AnswerStore(path).close()
    made = sqlite3.connect(path, isolation_level=None, factory=Busy)
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: made)
    with closing(AnswerStore(path)) as store:
        assert made.n_times == 0
        assert store.names == []
