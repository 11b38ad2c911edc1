"""Files that are written whole or not at all, and files that only their owner may read."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO


def check_output(path: Path) -> None:
    """Refuse a path that no file can be written to, in words that tell why."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; add the name of a file", str(path))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write in this folder", str(path.parent))


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Write to a name of its own in the same folder, then rename, which is all or nothing.

    A file that is replaced keeps its mode: one that its owner has made private stays so.
    """
    check_output(path)
    # Not by tempfile, whose files only their owner may read, whatever the umask says.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    try:
        with open(os.open(part, _NEW, 0o666 if mode is None else mode), "w+b") as file:
            if mode is not None:
                part.chmod(mode)  # which the umask has no say in
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise (disk_full(path) if is_full(error) else error) from None
    finally:
        part.unlink(missing_ok=True)


_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def new_private(path: Path) -> TextIO:
    """Open a new file that only its owner may read or write; one that is there, or a link, is replaced."""
    path.unlink(missing_ok=True)
    return open(os.open(path, _NEW, 0o600), "w", encoding="utf-8")


def make_private_folder(path: Path) -> None:
    """Make a folder, and those that it is in, as far as they are missing, for their owner alone."""
    for folder in reversed([path, *path.parents]):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)


def is_full(error: OSError) -> bool:
    """Whether there is no space left, or none that the user may have."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def disk_full(path: str | Path) -> OSError:
    """Return the error that says so."""
    return OSError(errno.ENOSPC, "the disk is full: nothing was written; free some space", str(path))
