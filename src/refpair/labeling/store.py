"""The answers of a labeling session in one SQLite file.

Answers, skips and undos are events that are only ever added: what a row's labels are follows from them, and
nothing that a person has said is overwritten. An event is on the disk when the call that adds it returns.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from refpair._sqlite import open_tables, writing

Said = Literal["labels", "skip"]
Earlier = Literal["absent", "unknown"]  # how answers are read that were given before there was a label

_VERSION = 2  # of the tables; to be raised whenever they change
_TABLES = (
    "about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "labels (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, earlier TEXT NOT NULL)",
    "events (number INTEGER PRIMARY KEY AUTOINCREMENT, row TEXT NOT NULL, kind TEXT NOT NULL, labels TEXT, "
    "n_labels INTEGER, undone INTEGER, who TEXT NOT NULL, holder TEXT NOT NULL, at TEXT NOT NULL, "
    "model TEXT NOT NULL)",
    "leases (row TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL, model TEXT NOT NULL)",
    "rounds (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL, n_labeled INTEGER NOT NULL, "
    "expected_cost REAL, sample TEXT NOT NULL, predictions BLOB, at TEXT NOT NULL)",
)


class Event(NamedTuple):
    """Something that a person has said, numbered as it came."""

    number: int
    row: str  # the id as JSON
    kind: Literal["labels", "skip", "undo"]
    labels: tuple[int, ...]  # the places of the labels that the row has
    n_labels: int  # that there were to choose from
    undone: int | None  # the event that an undo takes back
    who: str
    holder: str  # the session object or page that it was said in
    at: str  # a time in ISO 8601, UTC
    model: str  # that asked, empty if none did


class Label(NamedTuple):
    """A label, and how answers are read that were given before there was such a label."""

    name: str
    earlier: Earlier


class StoredRound(NamedTuple):
    """What was learned from all answers up to an event."""

    event: int
    n_labeled: int
    expected_cost: float | None
    sample: str  # names the rows that the expected cost and the packed predictions are of
    predictions: bytes | None


class AnswerStore:
    """Labels, events, leases and rounds in one file, for any number of threads and processes.

    The last word on each row is kept in memory, as it follows from the events: a later answer corrects an
    earlier one, which holds again when that is taken back. :meth:`read` takes note of what others said.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_closed = False
        self.labels: list[Label] = []
        self._last_event = 0
        self._words: dict[str, list[Event]] = {}  # what was said of a row and not taken back, in order
        self._lock = threading.RLock()  # threads share the connection
        self._connection = open_tables(
            path, _TABLES, _VERSION, what="labeling session of refpair", otherwise="choose another file",
            durable=True, private=True,
        )  # fmt: skip
        self.read()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
            self.is_closed = True

    @property
    def names(self) -> list[str]:
        """The names of the labels."""
        return [label.name for label in self.labels]

    @property
    def state(self) -> tuple[int, int]:
        """What changes whenever anything is said: the last event, and the number of labels."""
        return self._last_event, len(self.labels)

    def about(self, name: str) -> Any:
        """Return what was noted under a name, or None."""
        with self._lock:
            found = self._connection.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return None if found is None else json.loads(found[0])

    def note(self, name: str, value: Any) -> None:
        """Note plain values under a name; nothing is written if they are there already."""
        with self._lock:
            text = json.dumps(value)
            if self.about(name) != json.loads(text):
                with writing(self._connection) as connection:
                    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [name, text])

    def read(self) -> None:
        """Take note of what was said since, by whomever."""
        with self._lock:
            for event in self.events(self._last_event):
                words = self._words.setdefault(event.row, [])
                if event.kind == "undo":
                    words[:] = [word for word in words if word.number != event.undone]
                else:
                    words.append(event)
                self._last_event = event.number
            found = self._connection.execute("SELECT name, earlier FROM labels ORDER BY place")
            self.labels = [Label(*one) for one in found]  # not before: answers may have new ones

    def events(self, after: int = 0) -> list[Event]:
        """Return what was said after an event, in order."""
        with self._lock:
            found = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", [after])
            return [_event(one) for one in found]

    def last_word(self, row: str) -> Event | None:
        """Return the last word on a row, as far as it is known: an answer, a skip, or None."""
        words = self._words.get(row)
        return words[-1] if words else None

    def last_words(self) -> list[Event]:
        """Return the last words on all rows that have one, whoever said them."""
        with self._lock:
            self.read()
            return [words[-1] for words in self._words.values() if words]

    def is_open(self, row: str) -> bool:
        """Whether a row may be asked for: it was neither answered in full nor skipped."""
        with self._lock:
            word = self.last_word(row)
            return word is None or (word.kind == "labels" and not self._is_complete(word))

    def _is_complete(self, answer: Event) -> bool:
        return all(label.earlier == "absent" for label in self.labels[answer.n_labels :])

    def matrix(
        self, rows: dict[str, int]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], tuple[int, int]]:
        """Return Y for strategies, the rows that may be asked for, and the state that this is of.

        Y is 0 and 1 where rows were answered in full, and NaN elsewhere; `rows` says where each row is in it.
        """
        with self._lock:
            words = self.last_words()
            Y = np.full((len(rows), len(self.labels)), np.nan)
            for word in words:
                if word.row in rows and word.kind == "labels" and self._is_complete(word):
                    Y[rows[word.row]] = 0.0
                    Y[rows[word.row], list(word.labels)] = 1.0
            return Y, np.flatnonzero([self.is_open(key) for key in rows]), self.state

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Add labels behind those that there are; one that is there already stays as it is."""
        with self._writing() as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM labels")}
            new = (label for label in labels if label.name not in known)
            rows = [(place, *label) for place, label in enumerate(new, start=len(known))]
            connection.executemany("INSERT INTO labels VALUES (?, ?, ?)", rows)

    def say(
        self,
        kind: Said,
        rows: Sequence[str],
        labels: Sequence[Sequence[int]],
        *,
        n_labels: int,
        who: str,
        said_in: str | None,
        holder: str,
        at: str | None = None,
    ) -> None:
        """Store answers or skips, all or none, but for those that repeat the last word of a person on a row.

        A page says it again if it does not know whether the first time arrived. The rows are no longer
        leased. If `said_in` is given, only what was said in that session object or page counts as said.
        """
        with self._writing() as connection:
            self.read()
            last = {row: self.last_word(row) for row in rows}
            before = {
                row: (word.kind, word.labels, word.n_labels)
                for row, word in last.items()
                if word is not None and word.who == who and said_in in (None, word.holder)
            }
            for row, places in zip(rows, labels, strict=True):
                word = (kind, tuple(places), n_labels)
                if before.get(row) == word:
                    continue
                before[row] = word
                lease = connection.execute("DELETE FROM leases WHERE row = ? RETURNING model", [row])
                (model,) = lease.fetchone() or ("",)
                connection.execute(
                    "INSERT INTO events (row, kind, labels, n_labels, who, holder, at, model) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [row, kind, json.dumps(list(places)), n_labels, who, holder, at or _now(), model],
                )

    def undo(self, *, who: str, said_in: str | None, holder: str, lease: float) -> Event | None:
        """Take back what a person said last, in one session object or page if it is given, and return it.

        The row is leased to the holder for so many seconds.
        """
        with self._writing() as connection:
            last = connection.execute(
                "SELECT * FROM events WHERE who = ? AND holder = coalesce(?, holder) "
                "AND kind != 'undo' AND number NOT IN (SELECT undone FROM events WHERE kind = 'undo') "
                "ORDER BY number DESC LIMIT 1",
                [who, said_in],
            ).fetchone()
            if last is None:
                return None
            event = _event(last)
            connection.execute(
                "INSERT INTO events (row, kind, undone, who, holder, at, model) "
                "VALUES (?, 'undo', ?, ?, ?, ?, '')",
                [event.row, event.number, who, holder, _now()],
            )
            _lease(connection, event.row, holder, time.time() + lease, event.model)
        return event

    def lease(
        self, n: int, rows: dict[str, int], order: Iterable[str], *, holder: str, seconds: float, model: str
    ) -> list[str]:
        """Lease rows to a holder: those that it has already, then the first ones in order that are free.

        `rows` are all that there are, and `order` those that may be asked for, the best one first; those that
        were closed since are passed over.
        """
        with self._writing() as connection:
            self.read()
            now = time.time()  # not before: others may have written for long
            connection.execute("DELETE FROM leases WHERE until <= ?", [now])
            held = dict(connection.execute("SELECT row, holder FROM leases ORDER BY rowid").fetchall())
            own = [row for row, owner in held.items() if owner == holder and row in rows]
            given = [row for row in own if self.is_open(row)][:n]
            for row in given:
                connection.execute("UPDATE leases SET until = ? WHERE row = ?", [now + seconds, row])
            for row in order:
                if len(given) == n:
                    break
                if row not in held and self.is_open(row):
                    _lease(connection, row, holder, now + seconds, model)
                    given.append(row)
        return given

    def release(self, holder: str) -> None:
        """Give back what was leased to a holder."""
        with self._lock, writing(self._connection) as connection:
            connection.execute("DELETE FROM leases WHERE holder = ?", [holder])

    def add_round(self, one: StoredRound) -> None:
        """Note what was learned, unless that of the same event and the same rows was noted before."""
        with self._lock, writing(self._connection) as connection:
            connection.execute(
                "INSERT INTO rounds (event, n_labeled, expected_cost, sample, predictions, at) "
                "SELECT ?, ?, ?, ?, ?, ? "
                "WHERE NOT EXISTS (SELECT 1 FROM rounds WHERE event = ? AND sample = ?)",
                [*one, _now(), one.event, one.sample],
            )

    def rounds(self) -> list[StoredRound]:
        """Return all rounds in order."""
        with self._lock:
            found = self._connection.execute(
                "SELECT event, n_labeled, expected_cost, sample, predictions FROM rounds ORDER BY number"
            )
            return [StoredRound(*one) for one in found]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing while nobody else does, and take note of it."""
        with self._lock:
            with writing(self._connection) as connection:
                yield connection
            self.read()


def _event(found: tuple[Any, ...]) -> Event:
    number, row, kind, labels, n_labels, *rest = found
    return Event(number, row, kind, tuple(json.loads(labels or "[]")), n_labels or 0, *rest)


def _lease(connection: sqlite3.Connection, row: str, holder: str, until: float, model: str) -> None:
    connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", [row, holder, until, model])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def parse_time(text: str) -> datetime:
    """Return a time in ISO 8601 in UTC, which it is taken to be in if it does not say."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{text!r:.60} is not a time such as 2026-03-01T10:00:00+00:00") from None
