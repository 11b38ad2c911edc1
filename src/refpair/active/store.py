"""The answers of a labelling session in one SQLite file.

Answers, skips and undos are events that are only ever added: what a row's labels are follows from them, and
nothing that a person has said is overwritten. An event is on the disk when the call that adds it returns
(write-ahead log, full synchronisation), whatever happens to the process or the machine afterwards.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from refpair._sqlite import open_tables, writing

__all__ = ["AnswerStore", "Earlier", "Event", "Label", "Said", "StoredRound"]

_WHAT = "labelling session of refpair"
_OTHERWISE = "choose another file"
_PATIENCE = 60.0  # seconds to wait while others open the file
_VERSION = 1  # of the tables; to be raised whenever they change
_TABLES = (
    "about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "labels (place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, earlier TEXT NOT NULL)",
    "events (number INTEGER PRIMARY KEY AUTOINCREMENT, row TEXT NOT NULL, kind TEXT NOT NULL, labels TEXT, "
    "n_labels INTEGER, undone INTEGER, who TEXT NOT NULL, holder TEXT NOT NULL, at TEXT NOT NULL, "
    "model TEXT NOT NULL)",
    "leases (row TEXT PRIMARY KEY, holder TEXT NOT NULL, until REAL NOT NULL, model TEXT NOT NULL)",
    "rounds (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL, n_labelled INTEGER NOT NULL, "
    "expected_cost REAL, sample TEXT NOT NULL, predictions BLOB, at TEXT NOT NULL)",
)

Said = Literal["labels", "skip"]
Kind = Literal["labels", "skip", "undo"]
Earlier = Literal["absent", "unknown"]


class Event(NamedTuple):
    """Something that a person has said.

    Attributes
    ----------
    number : int
        Events are numbered as they come.
    row : str
        The id of the row, as JSON.
    kind : {"labels", "skip", "undo"}
    labels : tuple of int
        The places of the labels that the row has; empty for other kinds.
    n_labels : int
        How many labels there were to choose from.
    undone : int or None
        The event that an undo takes back.
    who, holder : str
        The person, and the session object or page that it was said in.
    at : str
        When, in ISO 8601, UTC.
    model : str
        Which model asked; empty if none did.
    """

    number: int
    row: str
    kind: Kind
    labels: tuple[int, ...]
    n_labels: int
    undone: int | None
    who: str
    holder: str
    at: str
    model: str


class Label(NamedTuple):
    """A label, and how answers are read that were given before there was such a label."""

    name: str
    earlier: Earlier


@dataclass(frozen=True)
class StoredRound:
    """What was learnt after so many answers.

    Attributes
    ----------
    event : int
        The last one that it was learnt from.
    n_labelled : int
    expected_cost : float or None
    sample : str
        Which rows the expected cost and the predictions are of.
    predictions : bytes or None
        Of these rows, packed.
    """

    event: int
    n_labelled: int
    expected_cost: float | None
    sample: str
    predictions: bytes | None


class AnswerStore:
    """Labels, events, leases and rounds in one file; for any number of threads and processes.

    Parameters
    ----------
    path : Path
        Created if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, AnswerStore(Path(folder, "songs.sqlite")) as store:
    ...     store.add_labels([Label("joy", "absent"), Label("anger", "absent")])
    ...     number = store.add("labels", '"Hey Jude"', [0], who="me", holder="a")
    ...     [(event.row, event.labels) for event in store.events(after=0)]
    [('"Hey Jude"', (0,))]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_closed = False
        self._lock = threading.RLock()  # threads share the connection
        self._connection = open_tables(path, _TABLES, _VERSION, what=_WHAT, otherwise=_OTHERWISE)
        try:
            self._check_tables()
            self._keep_log()
        except sqlite3.OperationalError as error:
            self._connection.close()
            hint = "wait for the process that writes to it" if _is_busy(error) else _OTHERWISE
            raise OSError(f"{path}: {error}; {hint}") from None
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
            self.is_closed = True

    def about(self, name: str) -> Any:
        """Return what was noted under a name, or None."""
        with self._lock:
            found = self._connection.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return None if found is None else json.loads(found[0])

    def note(self, name: str, value: Any) -> None:
        """Note plain values under a name."""
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [name, json.dumps(value)])

    def labels(self) -> list[Label]:
        """Return the labels in their order."""
        with self._lock:
            return [
                Label(*found)
                for found in self._connection.execute("SELECT name, earlier FROM labels ORDER BY place")
            ]

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Add labels behind those that there are; one that is there already stays as it is."""
        with self._lock, writing(self._connection) as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM labels")}
            new = [label for label in labels if label.name not in known]
            places = range(len(known), len(known) + len(new))
            connection.executemany(
                "INSERT INTO labels VALUES (?, ?, ?)",
                [(place, *label) for place, label in zip(places, new, strict=True)],
            )

    def events(self, after: int) -> list[Event]:
        """Return what was said after an event, in order."""
        with self._lock:
            found = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", [after])
            return [_event(one) for one in found]

    def add(
        self,
        kind: Said,
        row: str,
        labels: Sequence[int] = (),
        *,
        who: str,
        holder: str,
    ) -> int:
        """Note an answer or a skip, and return its number; the row is no longer leased."""
        return self.add_many(kind, [(row, labels)], who=who, holder=holder)

    def add_many(
        self,
        kind: Said,
        answers: Iterable[tuple[str, Sequence[int]]],
        *,
        who: str,
        holder: str,
        at: str | None = None,
        n_labels: int | None = None,
    ) -> int:
        """Note several answers or skips, all or none, and return the number of the last one.

        There were `n_labels` to choose from, all that there are by default. They are said `at` a time in ISO
        8601, UTC; now by default.
        """
        with self._lock, writing(self._connection) as connection:
            if n_labels is None:
                n_labels = connection.execute("SELECT count(*) FROM labels").fetchone()[0]
            number = 0
            for row, labels in answers:
                lease = connection.execute("SELECT model FROM leases WHERE row = ?", [row]).fetchone()
                found = connection.execute(
                    "INSERT INTO events (row, kind, labels, n_labels, who, holder, at, model) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
                    [
                        row,
                        kind,
                        json.dumps(list(labels)),
                        n_labels,
                        who,
                        holder,
                        at or _now(),
                        lease[0] if lease else "",
                    ],
                )
                number = int(found.fetchone()[0])
                connection.execute("DELETE FROM leases WHERE row = ?", [row])
        return number

    def undo(self, *, who: str, said_in: str | None, holder: str, lease: float) -> Event | None:
        """Take back what a person said last, and lease the row to the holder.

        Parameters
        ----------
        who : str
        said_in : str or None
            Only what was said in this session object or page; anywhere if it is None.
        holder : str
        lease : float
            For how many seconds.

        Returns
        -------
        Event or None
            What was taken back; None if there is nothing.
        """
        with self._lock, writing(self._connection) as connection:
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
        self,
        n: int,
        choose: Callable[[set[str], list[str]], Iterable[str]],
        *,
        holder: str,
        seconds: float,
        model: str,
    ) -> list[str]:
        """Lease rows to a holder, those first that it has already; nobody else gets them before that expires.

        Parameters
        ----------
        n : int
            How many rows.
        choose : callable
            Given the rows that others hold and the list of those that the holder has, returns an iterable of
            those that may be given, the best one first. It is called while nobody else writes.
        holder : str
        seconds : float
            For how long.
        model : str
            Which model asks.
        """
        with self._lock, writing(self._connection) as connection:
            now = time.time()  # not before: others may have written for long
            connection.execute("DELETE FROM leases WHERE until <= ?", [now])
            own: list[str] = []
            others: set[str] = set()
            for row, owner in connection.execute("SELECT row, holder FROM leases ORDER BY rowid"):
                if owner == holder:
                    own.append(row)
                else:
                    others.add(row)
            given: list[str] = []
            for row in choose(others, own):
                if len(given) == n:
                    break
                given.append(row)
            held = set(own)
            for row in given:
                if row in held:
                    connection.execute("UPDATE leases SET until = ? WHERE row = ?", [now + seconds, row])
                else:
                    _lease(connection, row, holder, now + seconds, model)
        return given

    def release(self, holder: str) -> None:
        """Give back what was leased to a holder."""
        with self._lock:
            self._connection.execute("DELETE FROM leases WHERE holder = ?", [holder])

    def add_round(self, one: StoredRound) -> None:
        """Note what was learnt, unless that of the same event and the same rows was noted before."""
        with self._lock:
            self._connection.execute(
                "INSERT INTO rounds (event, n_labelled, expected_cost, sample, predictions, at) "
                "SELECT ?1, ?2, ?3, ?4, ?5, ?6 "
                "WHERE NOT EXISTS (SELECT 1 FROM rounds WHERE event = ?1 AND sample = ?4)",
                [one.event, one.n_labelled, one.expected_cost, one.sample, one.predictions, _now()],
            )

    def rounds(self) -> list[StoredRound]:
        """Return all rounds in order."""
        with self._lock:
            found = self._connection.execute(
                "SELECT event, n_labelled, expected_cost, sample, predictions FROM rounds ORDER BY number"
            )
            return [StoredRound(*one) for one in found]

    def _keep_log(self) -> None:
        """Write to a log ahead of the file, and on the disk before a call returns."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # SQLite itself does not wait here for others who open a new file at the same time.
                if not _is_busy(error) or time.monotonic() > until:
                    raise
            time.sleep(0.01)
        self._connection.execute("PRAGMA synchronous = FULL")

    def _check_tables(self) -> None:
        """Refuse a file of another program, which may number its versions, too."""
        found = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not {table.split()[0] for table in _TABLES} <= {name for (name,) in found}:
            raise ValueError(f"{self.path} is no {_WHAT}; {_OTHERWISE}")


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _event(found: tuple[Any, ...]) -> Event:
    number, row, kind, labels, n_labels, *rest = found
    return Event(number, row, kind, tuple(json.loads(labels or "[]")), n_labels or 0, *rest)


def _lease(connection: Any, row: str, holder: str, until: float, model: str) -> None:
    connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", [row, holder, until, model])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
