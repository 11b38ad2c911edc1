"""Tables in an SQLite file that several processes and threads may use, and any of which may be killed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = ["open_tables", "writing"]

_PATIENCE = 60.0  # seconds to wait while another process writes


def open_tables(
    path: Path, tables: Sequence[str], version: int, *, what: str, otherwise: str
) -> sqlite3.Connection:
    """Open a file with these tables; they are created in a new one.

    Parameters
    ----------
    path : Path
    tables : sequence of str
        What stands behind ``CREATE TABLE``.
    version : int
        Of the tables, at least 1; a file with those of another version is refused.
    what : str
        What the file is, for messages: "a store of refpair".
    otherwise : str
        What to do if it cannot be opened, for messages: "choose another --out".

    Raises
    ------
    OSError
        If the file cannot be read or written.
    ValueError
        If it is something else.
    """
    try:
        # Threads take turns by a lock of the caller's.
        connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            if _version(connection) != version:
                _create(connection, path, tables, version, otherwise)
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
        hint = "wait for the process that writes to it" if busy else otherwise
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


def _create(
    connection: sqlite3.Connection, path: Path, tables: Sequence[str], version: int, otherwise: str
) -> None:
    with writing(connection):  # another process may be about to do the same
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for table in tables:
                connection.execute(f"CREATE TABLE {table}")
            connection.execute(f"PRAGMA user_version = {version}")
        if _version(connection) != version:
            raise ValueError(f"{path} was made by another version of refpair; {otherwise}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
