"""The answers of a labeling session in one SQLite file.

Answers, skips, undos and wishes to review are events that are only ever added: what a row's labels are
follows from them, and nothing that a person has said is overwritten. An event is on the disk when the call
that adds it returns.

A set of labels is an integer here, whose bit 0 is the first label: rows may be many, and labels too.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from refpair._sqlite import open_tables, writing

Said = Literal["labels", "skip"]
Cell = tuple[str, int]  # a row and the place of a label, or ROW

ROW = -1  # in the place of a label: the row with all its labels
ALL = -1  # the set of all labels, also of those that are added later

_VERSION = 3  # of the tables; to be raised whenever they change
_TABLES = (
    "about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "labels (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "events (number INTEGER PRIMARY KEY AUTOINCREMENT, row TEXT NOT NULL, kind TEXT NOT NULL, labels TEXT, "
    "asked TEXT, undone INTEGER, who TEXT NOT NULL, holder TEXT NOT NULL, at TEXT NOT NULL, "
    "model TEXT NOT NULL)",
    "leases (row TEXT NOT NULL, place INTEGER NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL, "
    "model TEXT NOT NULL, PRIMARY KEY (row, place))",
    "rounds (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL, n_labeled INTEGER NOT NULL, "
    "expected_cost REAL, sample TEXT NOT NULL, predictions BLOB, at TEXT NOT NULL)",
)


class Event(NamedTuple):
    """Something that a person has said, numbered as it came."""

    number: int
    row: str  # the id as JSON
    kind: Literal["labels", "skip", "review", "undo"]
    labels: tuple[int, ...]  # the places of the labels that the row has
    asked: int  # the labels that it is about: ALL if the row was skipped
    undone: int | None  # the event that an undo takes back
    who: str
    holder: str  # the session object or page that it was said in
    at: str  # a time in ISO 8601, UTC
    model: str  # that asked, empty if none did


class Cells(NamedTuple):
    """What is known of a row: the labels that it has, those that it does not have, and those skipped.

    Of the labels that are known, some are to be reviewed.
    """

    yes: int = 0
    no: int = 0
    skipped: int = 0
    review: int = 0

    @property
    def known(self) -> int:
        """The labels that were answered."""
        return self.yes | self.no

    def open(self, n_labels: int) -> int:
        """Return the labels that may be asked for."""
        return ((1 << n_labels) - 1) & ~(self.yes | self.no | self.skipped)

    def after(self, word: Event) -> Cells:
        """Return it after an answer or a skip, which corrects what was said of the same labels."""
        if word.kind == "review":
            return self._replace(review=self.review | (word.asked & self.known))
        yes, no, skipped, review = (one & ~word.asked for one in self)
        if word.kind == "skip":
            return Cells(yes, no, skipped | word.asked, review)
        # Whoever answers a row that was skipped as a whole finds that it can be answered.
        chosen = labels_of(word.labels)
        return Cells(yes | chosen, no | (word.asked & ~chosen), max(skipped, 0), review)


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
        self.names: list[str] = []  # of the labels
        self._last_event = 0
        self._words: dict[str, list[Event]] = {}  # what was said of a row and not taken back, in order
        self._cells: dict[str, Cells] = {}  # what follows
        self._to_review: dict[str, None] = {}  # the rows that are to be reviewed, in order
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
    def state(self) -> tuple[int, int]:
        """What changes whenever anything is said: the last event, and the number of labels."""
        return self._last_event, len(self.names)

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
            heard = self.events(self._last_event)
            for event in heard:
                words = self._words.setdefault(event.row, [])
                if event.kind == "undo":
                    words[:] = [word for word in words if word.number != event.undone]
                else:
                    words.append(event)
                self._last_event = event.number
            for row in dict.fromkeys(event.row for event in heard):
                self._cells[row] = reduce(Cells.after, self._words[row], Cells())
                if self._cells[row].review:
                    self._to_review.setdefault(row)
                else:
                    self._to_review.pop(row, None)
            found = self._connection.execute("SELECT name FROM labels ORDER BY place")
            self.names = [name for (name,) in found]  # not before: answers may have new ones

    def events(self, after: int = 0) -> list[Event]:
        """Return what was said after an event, in order."""
        with self._lock:
            found = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", [after])
            return [_event(one) for one in found]

    def last_words(self) -> list[Event]:
        """Return the last answers or skips of all rows that have one, whoever said them."""
        with self._lock:
            self.read()
            said = ([word for word in words if word.kind != "review"] for words in self._words.values())
            return [words[-1] for words in said if words]

    def cells(self, row: str) -> Cells:
        """Return what is known of a row."""
        return self._cells.get(row, Cells())

    def all_cells(self) -> dict[str, Cells]:
        """Return what is known of all rows of which anything was said, whoever said it."""
        with self._lock:
            self.read()
            return {row: cells for row, cells in self._cells.items() if self._words[row]}

    def is_open(self, row: str, place: int = ROW) -> bool:
        """Whether a row may be asked for: a label is neither answered nor skipped, or this one is not."""
        labels = self.cells(row).open(len(self.names))
        return labels != 0 if place == ROW else bool(labels >> place & 1)

    def to_review(self) -> list[Cell]:
        """Return the rows that are to be reviewed, and which of their labels, in order."""
        with self._lock:
            return [(row, self._cells[row].review) for row in self._to_review]

    def matrix(
        self, rows: Iterable[str]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], tuple[int, int]]:
        """Return Y for strategies, which of its cells may be asked for, and the state that this is of.

        Y is 0 and 1 where labels are known, and NaN elsewhere; its rows are these, in this order.
        """
        with self._lock:
            self.read()
            n = len(self.names)
            cells = [self.cells(row) for row in rows]
            return as_matrix(cells, n), _bits([one.open(n) for one in cells], n), self.state

    def add_labels(self, names: Iterable[str]) -> None:
        """Add labels behind those that there are; one that is there already stays as it is."""
        with self._writing() as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM labels")}
            new = (name for name in names if name not in known)
            connection.executemany("INSERT INTO labels VALUES (?, ?)", enumerate(new, start=len(known)))

    def say(
        self,
        kind: Said,
        rows: Sequence[str],
        labels: Sequence[Sequence[int]],
        asked: Sequence[int],
        *,
        who: str,
        said_in: str | None,
        holder: str,
        at: str | None = None,
    ) -> None:
        """Store answers or skips, all or none, but for those that repeat the last word of a person on a row.

        A page says it again if it does not know whether the first time arrived. What was `asked` is no longer
        leased. If `said_in` is given, only what was said in that session object or page counts as said.
        """
        with self._writing() as connection:
            self.read()
            last = {row: words[-1] for row in rows if (words := self._words.get(row))}
            before = {
                row: (word.kind, word.labels, word.asked)
                for row, word in last.items()
                if word.who == who and said_in in (None, word.holder)
            }
            every = (1 << len(self.names)) - 1
            for row, places, about in zip(rows, labels, asked, strict=True):
                word = (kind, tuple(places), about)
                if before.get(row) == word:
                    continue
                before[row] = word
                connection.execute(
                    "INSERT INTO events (row, kind, labels, asked, who, holder, at, model) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        row, kind, json.dumps(list(places)), f"{about:x}", who, holder, at or _now(),
                        _end_leases(connection, row, ALL if about == every else about),
                    ],
                )  # fmt: skip

    def review(self, rows: Sequence[str], asked: Sequence[int], *, who: str, holder: str) -> None:
        """Note that labels of rows are to be reviewed, but for those that are not known or were so before."""
        with self._writing() as connection:
            self.read()
            for row, labels in zip(rows, asked, strict=True):
                before = (word.asked for word in self._words.get(row, []) if word.kind == "review")
                new = labels & self.cells(row).known & ~reduce(int.__or__, before, 0)
                if new:
                    connection.execute(
                        "INSERT INTO events (row, kind, asked, who, holder, at, model) "
                        "VALUES (?, 'review', ?, ?, ?, ?, '')",
                        [row, f"{new:x}", who, holder, _now()],
                    )

    def undo(self, *, who: str, said_in: str | None, holder: str, lease: float) -> Event | None:
        """Take back what a person said last, in one session object or page if it is given, and return it.

        What it was about is leased to the holder for so many seconds.
        """
        with self._writing() as connection:
            last = connection.execute(
                "SELECT * FROM events WHERE who = ? AND holder = coalesce(?, holder) "
                "AND kind IN ('labels', 'skip') "
                "AND number NOT IN (SELECT undone FROM events WHERE kind = 'undo') "
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
            places = [] if event.asked == ALL or len(self.names) == 1 else places_of(event.asked)
            place = places[0] if len(places) == 1 else ROW
            _lease(connection, (event.row, place), holder, time.time() + lease, event.model)
        return event

    def lease(
        self,
        n: int,
        rows: Container[str],
        order: Iterable[Cell],
        *,
        among: Container[int],
        holder: str,
        seconds: float,
        model: str,
    ) -> list[Cell]:
        """Lease rows or cells to a holder: those that it has already, then the first in order that are free.

        `rows` are all that there are, `among` the places of labels that are asked for, or ROW, and `order`
        what may be asked for, the best one first; what was closed since is passed over.
        """
        with self._writing() as connection:
            self.read()
            now = time.time()  # not before: others may have written for long
            connection.execute("DELETE FROM leases WHERE until <= ?", [now])
            held = connection.execute("SELECT row, place, holder FROM leases ORDER BY rowid").fetchall()
            own = [(row, place) for row, place, owner in held if owner == holder and place in among]
            given = [cell for cell in own if cell[0] in rows and self._may_ask(*cell)][:n]
            others = [(row, place) for row, place, owner in held if owner != holder]
            whole = {row for row, place in others if place == ROW}
            taken = {*given, *others, *((row, ROW) for row, _ in others)}
            for cell in given:
                connection.execute(
                    "UPDATE leases SET until = ? WHERE row = ? AND place = ?", [now + seconds, *cell]
                )
            for cell in order:
                if len(given) == n:
                    break
                if cell not in taken and cell[0] not in whole and self._may_ask(*cell):
                    _lease(connection, cell, holder, now + seconds, model)
                    given.append(cell)
                    taken.add(cell)
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

    def _may_ask(self, row: str, place: int) -> bool:
        review = self.cells(row).review
        return self.is_open(row, place) or bool(review if place == ROW else review >> place & 1)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing while nobody else does, and take note of it."""
        with self._lock:
            with writing(self._connection) as connection:
                yield connection
            self.read()


def labels_of(places: Iterable[int]) -> int:
    """Return a set of labels, given by their places."""
    return reduce(lambda labels, place: labels | 1 << place, places, 0)


def places_of(labels: int) -> list[int]:
    """Return the places of labels, in order."""
    return [place for place in range(labels.bit_length()) if labels >> place & 1]


def as_matrix(rows: Sequence[Cells], n_labels: int) -> npt.NDArray[np.float64]:
    """Return what is known of rows as 0 and 1, and NaN where nothing is."""
    yes, known = (_bits(sets, n_labels) for sets in ([one.yes for one in rows], [one.known for one in rows]))
    return np.where(known, yes, np.nan)


def _bits(sets: Sequence[int], n_labels: int) -> npt.NDArray[np.bool_]:
    n_bytes = (n_labels + 7) // 8
    packed = np.frombuffer(b"".join(one.to_bytes(n_bytes, "little") for one in sets), np.uint8)
    bits = np.unpackbits(packed.reshape(len(sets), n_bytes), axis=1, count=n_labels, bitorder="little")
    return bits.astype(bool)


def _event(found: tuple[Any, ...]) -> Event:
    number, row, kind, labels, asked, *rest = found
    return Event(number, row, kind, tuple(json.loads(labels or "[]")), int(asked or "0", 16), *rest)


def _lease(connection: sqlite3.Connection, cell: Cell, holder: str, until: float, model: str) -> None:
    connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?)", [*cell, holder, until, model])


def _end_leases(connection: sqlite3.Connection, row: str, asked: int) -> str:
    """End the leases of these labels of a row, that of the row if it is all, and return who asked."""
    asker = ""
    leases = connection.execute("SELECT place, model FROM leases WHERE row = ?", [row]).fetchall()
    for place, model in leases:
        if asked == ALL or (place != ROW and asked >> place & 1):
            connection.execute("DELETE FROM leases WHERE row = ? AND place = ?", [row, place])
        elif place != ROW:
            continue
        asker = asker or model
    return asker


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def parse_time(text: str) -> datetime:
    """Return a time in ISO 8601 in UTC, which it is taken to be in if it does not say."""
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f"{text!r:.60} is not a time such as 2026-03-01T10:00:00+00:00") from None
