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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from refpair._sqlite import open_tables, writing
from refpair.labeling.events import Answers, Event, Label, Said

__all__ = ["AnswerStore", "StoredRound"]

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


class StoredRound(NamedTuple):
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
    """Labels, events, leases and rounds in one file, for any number of threads and processes.

    What follows from the events so far is kept in memory; :meth:`read` takes note of those of others.

    Parameters
    ----------
    path : Path
        Created if it is not there.

    Attributes
    ----------
    labels : list of Label
    answers : Answers

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, AnswerStore(Path(folder, "songs.sqlite")) as store:
    ...     store.add_labels([Label("joy", "absent"), Label("anger", "absent")])
    ...     store.say("labels", ['"Hey Jude"'], [[0]], n_labels=2, who="me", said_in=None, holder="a")
    ...     store.answers.of('"Hey Jude"').labels
    (0,)
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_closed = False
        self.labels: list[Label] = []
        self.answers = Answers()
        self._lock = threading.RLock()  # threads share the connection
        self._connection = open_tables(path, _TABLES, _VERSION, what=_WHAT, otherwise=_OTHERWISE)
        try:
            self._check_tables()
            self._keep_log()
            self.read()
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

    @property
    def names(self) -> list[str]:
        """The names of the labels."""
        return [label.name for label in self.labels]

    @property
    def state(self) -> tuple[int, int]:
        """What changes whenever anything is said: the last event, and the number of labels."""
        return self.answers.last_event, len(self.labels)

    def about(self, name: str) -> Any:
        """Return what was noted under a name, or None."""
        with self._lock:
            found = self._connection.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return None if found is None else json.loads(found[0])

    def note(self, name: str, value: Any) -> None:
        """Note plain values under a name."""
        with self._lock:
            self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", [name, json.dumps(value)])

    def read(self) -> None:
        """Take note of what was said since, by whomever."""
        with self._lock:
            self.answers.read(self.events(self.answers.last_event))
            found = self._connection.execute("SELECT name, earlier FROM labels ORDER BY place")
            self.labels = [Label(*one) for one in found]  # not before: answers may tell of new ones

    def events(self, after: int = 0) -> list[Event]:
        """Return what was said after an event, in order."""
        with self._lock:
            found = self._connection.execute("SELECT * FROM events WHERE number > ? ORDER BY number", [after])
            return [_event(one) for one in found]

    def settled(self) -> list[Event]:
        """Return the last words on all rows that have one."""
        with self._lock:
            self.read()
            return self.answers.settled()

    def is_open(self, row: str) -> bool:
        """Whether a row may be asked for."""
        with self._lock:
            return self.answers.is_open(row, self.labels)

    def matrix(
        self, rows: dict[str, int]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], tuple[int, int]]:
        """Return Y for strategies, the rows that may be asked for, and the state that this is of.

        Parameters
        ----------
        rows : dict of str to int
            Which row of Y each row is.
        """
        with self._lock:
            self.read()
            Y = self.answers.matrix(rows, self.labels)
            return Y, np.flatnonzero([self.is_open(key) for key in rows]), self.state

    def add_labels(self, labels: Iterable[Label]) -> None:
        """Add labels behind those that there are; one that is there already stays as it is."""
        with self._writing() as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM labels")}
            new = [label for label in labels if label.name not in known]
            places = range(len(known), len(known) + len(new))
            connection.executemany(
                "INSERT INTO labels VALUES (?, ?, ?)",
                [(place, *label) for place, label in zip(places, new, strict=True)],
            )

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
        leased.

        Parameters
        ----------
        kind : {"labels", "skip"}
        rows : sequence of str
        labels : sequence of sequence of int
            The places of the labels that each row has.
        n_labels : int
            How many there were to choose from.
        who : str
        said_in : str or None
            If given, only what was said in this session object or page counts as said before.
        holder : str
        at : str, optional
            When, in ISO 8601, UTC; now by default.
        """
        with self._writing() as connection:
            self.read()
            last = {row: self.answers.of(row) for row in rows}
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
                lease = connection.execute(
                    "DELETE FROM leases WHERE row = ? RETURNING model", [row]
                ).fetchone()
                connection.execute(
                    "INSERT INTO events (row, kind, labels, n_labels, who, holder, at, model) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [row, kind, json.dumps(list(places)), n_labels, who, holder, at or _now(),
                     lease[0] if lease else ""],
                )  # fmt: skip

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

        Nobody else gets them before that expires.

        Parameters
        ----------
        n : int
            How many rows.
        rows : dict of str to int
            All rows that there are.
        order : iterable of str
            Rows that may be asked for, the best one first; those that were closed since are passed over.
        holder : str
        seconds : float
            For how long.
        model : str
            Which model asks.
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
        with self._lock:
            self._connection.execute("DELETE FROM leases WHERE holder = ?", [holder])

    def add_round(self, one: StoredRound) -> None:
        """Note what was learnt, unless that of the same event and the same rows was noted before."""
        with self._lock:
            self._connection.execute(
                "INSERT INTO rounds (event, n_labelled, expected_cost, sample, predictions, at) "
                "SELECT ?1, ?2, ?3, ?4, ?5, ?6 "
                "WHERE NOT EXISTS (SELECT 1 FROM rounds WHERE event = ?1 AND sample = ?4)",
                [*one, _now()],
            )

    def rounds(self) -> list[StoredRound]:
        """Return all rounds in order."""
        with self._lock:
            found = self._connection.execute(
                "SELECT event, n_labelled, expected_cost, sample, predictions FROM rounds ORDER BY number"
            )
            return [StoredRound(*one) for one in found]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing while nobody else does, and take note of it."""
        with self._lock:
            with writing(self._connection) as connection:
                yield connection
            self.read()

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


def _lease(connection: sqlite3.Connection, row: str, holder: str, until: float, model: str) -> None:
    connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", [row, holder, until, model])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
