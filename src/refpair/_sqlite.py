"""Tables in an SQLite file that several processes and threads may use, and any of which may be killed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60.0  # seconds to wait while another process writes, or opens the file


def open_tables(
    path: Path, tables: Sequence[str], version: int, *, what: str, otherwise: str, durable: bool = False
) -> sqlite3.Connection:
    """Open a file with these tables, each as it stands behind ``CREATE TABLE``; a new file is made.

    A file with tables of another `version` (at least 1) or of another program is refused. `what` the file is
    ("a store of refpair") and what to do `otherwise` ("choose another --out") are for messages. What is
    written to a `durable` one is on the disk when the call returns (write-ahead log, full synchronisation),
    whatever happens to the process or the machine afterwards.
    """
    try:
        # Threads take turns by a lock of the caller's.
        connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            if _version(connection) != version:
                with writing(connection):  # another process may be about to do the same
                    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                        for table in tables:
                            connection.execute(f"CREATE TABLE {table}")
                        connection.execute(f"PRAGMA user_version = {version}")
                if _version(connection) != version:
                    raise ValueError(f"{path} was made by another version of refpair; {otherwise}")
            found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            if not {table.split()[0] for table in tables} <= found:  # others number their versions, too
                raise ValueError(f"{path} is no {what}; {otherwise}")
            if durable:
                _log_ahead(connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        hint = "wait for the process that writes to it" if _is_busy(error) else otherwise
        raise OSError(f"{path}: {error}; {hint}") from None
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is no {what} ({error}); {otherwise}") from None
    return connection


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Do all or nothing of what is within, while nobody else writes."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _log_ahead(connection: sqlite3.Connection) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # SQLite itself does not wait here for others who open a new file at the same time.
            if not _is_busy(error) or time.monotonic() > until:
                raise
        time.sleep(0.01)
    connection.execute("PRAGMA synchronous = FULL")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
