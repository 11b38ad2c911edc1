"""Results in an SQLite file, each stored the moment it is known, for any number of processes at once.

A process that works on a store claims a task before it starts it, so that no other one does the same. Claims
must not outlive their process, which may be killed at any time. So each process keeps a file of its own
locked beside the store; the system drops the lock when the process ends, however it ends, and the claim of a
worker whose file is not locked is void.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple, Self

import pandas as pd

__all__ = ["Failure", "Key", "Result", "Store"]

_PATIENCE = 60.0  # seconds to wait while another process writes
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY, started TEXT NOT NULL, machine TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS results (
    experiment TEXT, data TEXT, cost TEXT, algorithm TEXT, n_bits INTEGER, split INTEGER, fingerprint TEXT,
    score REAL, seconds_search REAL, seconds_fit REAL, seconds_predict REAL, chosen TEXT, run INTEGER,
    PRIMARY KEY (experiment, data, cost, algorithm, n_bits, split, fingerprint));
CREATE TABLE IF NOT EXISTS claims (task TEXT PRIMARY KEY, worker TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS failures (
    task TEXT PRIMARY KEY, run INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS times (
    task TEXT PRIMARY KEY, data TEXT NOT NULL, algorithm TEXT NOT NULL, seconds REAL NOT NULL);
"""


class Key(NamedTuple):
    """What a result is the result of.

    Attributes
    ----------
    experiment : {"compare", "code-length", "relevant-set"}
    data, cost, algorithm : str
    n_bits : int
        The length of the code, 0 for algorithms without one.
    split : int
    fingerprint : str
        Of all that the names do not tell: the data themselves, the settings, code of the user's.
    """

    experiment: str
    data: str
    cost: str
    algorithm: str
    n_bits: int
    split: int
    fingerprint: str


@dataclass(frozen=True)
class Result:
    """What came out.

    Attributes
    ----------
    score : float
        Of the predictions on the test half, as the cost reports it.
    seconds_search, seconds_fit, seconds_predict : float
        What choosing parameters, fitting and predicting took.
    chosen : str
        The parameters that were chosen in the training half, as JSON.
    """

    score: float
    seconds_search: float
    seconds_fit: float
    seconds_predict: float
    chosen: str


class Failure(NamedTuple):
    """A task that raised an exception, and the traceback."""

    task: str
    reason: str

    def summary(self) -> str:
        """Return the task and the last line of the reason, which says what was raised."""
        return f"{self.task}: {self.reason.strip().splitlines()[-1]}"


class Store:
    """Results, claims and failures in one file.

    Parameters
    ----------
    path : Path
        Created if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> key = Key("compare", "emotions", "f1", "BR", 0, 0, "ab12")
    >>> with TemporaryDirectory() as folder, Store(Path(folder, "store.sqlite")) as store:
    ...     store.add(key, Result(0.62, 0.0, 0.1, 0.02, "{}"), run=1)
    ...     store.results([key])[["data", "algorithm", "split", "score"]]
           data algorithm  split  score
    0  emotions        BR      0   0.62
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        self._worker: tuple[str, sqlite3.Connection] | None = None
        try:
            self._connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise ValueError(f"{path} is no store of refpair ({error}); choose another --out") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims and close the file."""
        if self._worker is not None:
            name, lock = self._worker
            self._connection.execute("DELETE FROM claims WHERE worker = ?", [name])
            lock.close()
            self._remove_lock(name)
            self._worker = None
        self._connection.close()

    def start_run(self, started: str, machine: str) -> int:
        """Note that a command works on the store, and return its number."""
        self._remove_dead_workers()
        row = self._connection.execute(
            "INSERT INTO runs (started, machine) VALUES (?, ?) RETURNING run", [started, machine]
        )
        return int(row.fetchone()[0])

    def machines(self) -> list[str]:
        """Return what results were made with, the latest first."""
        rows = self._connection.execute(
            "SELECT machine FROM runs WHERE run IN (SELECT run FROM results) ORDER BY run DESC"
        )
        return list(dict.fromkeys(machine for (machine,) in rows))

    def add(self, key: Key, result: Result, run: int) -> None:
        """Store a result. What is there already stays: it would be the same."""
        values = (*key, *astuple(result), run)
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT OR IGNORE INTO results VALUES ({marks})", values)

    def keys(self) -> set[Key]:
        """Return the keys of all results."""
        rows = self._connection.execute(f"SELECT {', '.join(Key._fields)} FROM results")
        return {Key(*row) for row in rows}

    def missing(self, keys: Iterable[Key]) -> list[Key]:
        """Return those keys that there is no result of."""
        where = " AND ".join(f"{field} = ?" for field in Key._fields)
        question = f"SELECT EXISTS (SELECT 1 FROM results WHERE {where})"
        return [key for key in keys if not self._connection.execute(question, key).fetchone()[0]]

    def results(self, keys: Iterable[Key]) -> pd.DataFrame:
        """Return those results that are there, in the order of the keys, not that in which they came."""
        frame = pd.read_sql_query("SELECT * FROM results", self._connection)
        wanted = pd.DataFrame(list(dict.fromkeys(keys)), columns=list(Key._fields))
        return wanted.merge(frame, on=list(Key._fields))

    def claim(self, task: str) -> bool:
        """Return whether the task is now this process's own; not if it is claimed already."""
        worker = self._worker_name()
        with self._writing() as connection:
            row = connection.execute("SELECT worker FROM claims WHERE task = ?", [task]).fetchone()
            if row is not None and self._is_alive(row[0]):
                return False
            connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", [task, worker])
        return True

    def release(self, task: str) -> None:
        """Give up a claim."""
        self._connection.execute("DELETE FROM claims WHERE task = ?", [task])

    def fail(self, task: str, run: int, reason: str) -> None:
        """Note that a task raised an exception."""
        self._connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", [task, run, reason])

    def note_time(self, task: str, data: str, algorithm: str, seconds: float) -> None:
        """Note how long a task took: others like it will take about as long."""
        self._connection.execute(
            "INSERT OR REPLACE INTO times VALUES (?, ?, ?, ?)", [task, data, algorithm, seconds]
        )

    def times(self) -> pd.DataFrame:
        """Return how long tasks took: their ``task``, ``data``, ``algorithm`` and ``seconds``."""
        return pd.read_sql_query("SELECT * FROM times ORDER BY task", self._connection)

    def failures(self, run: int) -> list[Failure]:
        """Return what has failed in a run."""
        rows = self._connection.execute(
            "SELECT task, reason FROM failures WHERE run = ? ORDER BY task", [run]
        )
        return [Failure(*row) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _worker_name(self) -> str:
        """Return the name of this process among those that work on the store, with its file locked."""
        if self._worker is None:
            name = uuid.uuid4().hex
            lock = sqlite3.connect(self._lock_path(name), isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
            self._worker = name, lock
        return self._worker[0]

    def _is_alive(self, worker: str) -> bool:
        path = self._lock_path(worker)
        if not path.exists():
            return False
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as lock:
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                return True
        self._remove_lock(worker)
        return False

    def _remove_dead_workers(self) -> None:
        for path in self.path.parent.glob(".worker-*"):
            self._is_alive(path.name.removeprefix(".worker-").removesuffix("-journal"))

    def _remove_lock(self, worker: str) -> None:
        path = self._lock_path(worker)
        path.unlink(missing_ok=True)
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)

    def _lock_path(self, worker: str) -> Path:
        return self.path.with_name(f".worker-{worker}")
