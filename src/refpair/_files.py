"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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
    """Write to a name of its own in the same folder, then rename, which is all or nothing."""
    check_output(path)
    # Not by tempfile, whose files only their owner may read, whatever the umask says.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
