"""Results in an SQLite file, each stored the moment it is known, for any number of processes at once.

A process that works on a store claims a task before it starts it, so that no other one does the same. Claims
must not outlive their process, which may be killed at any time. So each process keeps a file of its own
locked beside the store; the system drops the lock when the process ends, however it ends, and the claim of a
worker whose file is not locked is void.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Collection, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self

from refpair._extras import pd
from refpair._sqlite import open_tables, writing

_VERSION = 3  # of the tables; to be raised whenever they change
_TABLES = (
    "runs (run INTEGER PRIMARY KEY, started TEXT NOT NULL, machine TEXT NOT NULL)",
    "results (experiment TEXT, data TEXT, cost TEXT, algorithm TEXT, size INTEGER, split INTEGER, "
    "fingerprint TEXT, sources TEXT, score REAL, seconds_search REAL, seconds_fit REAL, seconds_predict "
    "REAL, chosen TEXT, run INTEGER, "
    "PRIMARY KEY (experiment, data, cost, algorithm, size, split, fingerprint, sources))",
    "claims (task TEXT PRIMARY KEY, worker TEXT NOT NULL)",
    "failures (task TEXT, data TEXT, algorithm TEXT, split INTEGER, error TEXT, traceback TEXT, run INTEGER, "
    "PRIMARY KEY (task, run))",
)


class Key(NamedTuple):
    """What a result is the result of."""

    experiment: str
    data: str
    cost: str
    algorithm: str  # or the strategy, in a simulation
    size: int  # the length of the code, 0 without one, or the number of labeled rows
    split: int
    fingerprint: str  # of what the names do not tell: the data themselves, the settings, code of the user's
    sources: str  # a digest of those of this package


class Result(NamedTuple):
    """The score on the test half, what it took, and the parameters that were chosen, as JSON."""

    score: float
    seconds_search: float
    seconds_fit: float
    seconds_predict: float
    chosen: str


class Failure(NamedTuple):
    """A task that raised an exception: what was raised in a line, and its traceback."""

    task: str
    data: str
    algorithm: str
    split: int
    error: str
    traceback: str


class Store:
    """Results, claims and failures in one file, which is created if it is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._worker: tuple[str, sqlite3.Connection] | None = None
        self._connection = open_tables(
            path, _TABLES, _VERSION, what="store of refpair", otherwise="choose another --out"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Give up all claims and close the file."""
        with closing(self._connection):
            if self._worker is None:
                return
            name, lock = self._worker
            self._worker = None
            with writing(self._connection) as connection:
                connection.execute("DELETE FROM claims WHERE worker = ?", [name])
                lock.close()
                self._remove_lock(name)

    def start_run(self, started: str, machine: str) -> int:
        """Note that a command works on the store, and return its number."""
        self.remove_dead_workers()
        row = self._connection.execute(
            "INSERT INTO runs (started, machine) VALUES (?, ?) RETURNING run", [started, machine]
        )
        return int(row.fetchone()[0])

    def machines(self, runs: Collection[int]) -> list[str]:
        """Return what commands of these numbers have worked with, the latest first."""
        rows = self._connection.execute("SELECT run, machine FROM runs ORDER BY run DESC")
        return list(dict.fromkeys(machine for run, machine in rows if run in runs))

    def add(self, key: Key, result: Result, run: int) -> None:
        """Store a result. What is there already stays: it would be the same."""
        values = (*key, *result, run)
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

    def results(self, keys: Iterable[Key], *, any_sources: bool = False) -> pd.DataFrame:
        """Return those results that are there, in the order of the keys, not that in which they came.

        With any sources, the latest result of others stands for one that those of the keys have not made.
        """
        rows = self._connection.execute("SELECT * FROM results")
        frame = pd.DataFrame(rows.fetchall(), columns=[column[0] for column in rows.description])
        wanted = pd.DataFrame(list(dict.fromkeys(keys)), columns=list(Key._fields))
        if not any_sources:
            return wanted.merge(frame, on=list(Key._fields))
        names = list(Key._fields[:-1])
        found = wanted.rename(columns={"sources": "present"}).merge(frame, on=names)
        found["is_present"] = found["present"] == found["sources"]
        best = found.sort_values(["is_present", "run"], kind="stable").drop_duplicates(names, keep="last")
        return best.sort_index().reset_index(drop=True).drop(columns=["present", "is_present"])

    def claim(self, task: str) -> bool:
        """Return whether the task is now this process's own; not if it is claimed already."""
        with writing(self._connection) as connection:
            worker = self._worker_name()
            row = connection.execute("SELECT worker FROM claims WHERE task = ?", [task]).fetchone()
            if row is not None and self._is_alive(row[0]):
                return False
            connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?)", [task, worker])
        return True

    def release(self, task: str) -> None:
        """Give up a claim."""
        self._connection.execute("DELETE FROM claims WHERE task = ?", [task])

    def fail(self, failure: Failure, run: int) -> None:
        """Note that a task raised an exception."""
        self._connection.execute(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?)", [*failure, run]
        )

    def failures(self, run: int) -> list[Failure]:
        """Return what has failed in a run."""
        rows = self._connection.execute(
            f"SELECT {', '.join(Failure._fields)} FROM failures WHERE run = ? ORDER BY task", [run]
        )
        return [Failure(*row) for row in rows]

    def remove_dead_workers(self) -> None:
        """Remove the files and claims of processes that were killed."""
        with writing(self._connection) as connection:
            names = {path.name for path in self.path.parent.glob(".worker-*")}
            for worker in {name.removeprefix(".worker-").removesuffix("-journal") for name in names}:
                if not self._is_alive(worker):
                    self._remove_lock(worker)
                    connection.execute("DELETE FROM claims WHERE worker = ?", [worker])

    # The files of workers are made, tried and removed while writing to the store: who finds one that is not
    # locked must know that its worker is dead, and not just about to lock it.

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
        return False

    def _remove_lock(self, worker: str) -> None:
        path = self._lock_path(worker)
        for file in (path, path.with_name(f"{path.name}-journal")):
            with suppress(PermissionError):  # Windows keeps what is still open somewhere
                file.unlink(missing_ok=True)

    def _lock_path(self, worker: str) -> Path:
        return self.path.with_name(f".worker-{worker}")
