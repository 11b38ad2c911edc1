"""Tables in an SQLite file that several processes and threads may use, and any of which may be killed."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from refpair._files import disk_full

_PATIENCE = 60.0  # seconds to wait while another process writes, or opens the file


def open_tables(
    path: Path,
    tables: Sequence[str],
    version: int,
    *,
    what: str,
    otherwise: str,
    durable: bool = False,
    private: bool = False,
) -> sqlite3.Connection:
    """Open a file with these tables, each as it stands behind ``CREATE TABLE``; a new file is made.

    A file with tables of another `version` (at least 1) or of another program is refused. `what` the file is
    ("a store of refpair") and what to do `otherwise` ("choose another --out") are for messages. What is
    written to a `durable` one is on the disk when the call returns (write-ahead log, full synchronisation),
    whatever happens to the process or the machine afterwards. A `private` one is made for its owner alone;
    if it is there and others may read it, that ends, but for a group that may write: a team's, on purpose.
    """
    if private:
        with suppress(OSError):  # it is there, or SQLite tells what is wrong
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # files beside it get the same mode
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
            if private:
                _keep_out_others(path)
            if durable:
                _log_ahead(connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.OperationalError as error:
        if _is_full(error):
            raise disk_full(path) from None
        hint = "wait for the process that writes to it" if _is_busy(error) else otherwise
        raise OSError(f"{path}: {error}; {hint}") from None
    except sqlite3.DatabaseError as error:
        raise ValueError(f"{path} is no {what} ({error}); {otherwise}") from None
    return connection


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Do all or nothing of what is within, while nobody else writes.

    What the disk does not take is an OSError that says so; the connection can be used again.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite may have taken it back by itself
                connection.execute("ROLLBACK")
            raise
    except sqlite3.OperationalError as error:
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        if _is_full(error):
            raise disk_full(path) from error
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
            raise OSError(errno.EIO, f"nothing was written ({error})", path) from error
        raise


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


def _keep_out_others(path: Path) -> None:
    for one in (path, *(path.with_name(f"{path.name}-{ending}") for ending in ("wal", "shm"))):
        with suppress(OSError):  # it is not there, or somebody else's
            mode = stat.S_IMODE(one.stat().st_mode)
            kept = mode & (0o770 if mode & stat.S_IWGRP else 0o700)
            if kept != mode:
                one.chmod(kept)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _is_full(error: sqlite3.OperationalError) -> bool:
    code = error.sqlite_errorcode
    return code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE
