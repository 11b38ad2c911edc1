"""Downloads that either give the whole, right file or leave nothing behind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pooch
from rich.console import Console
from rich.progress import Progress

TIMEOUT = 30.0
"""Seconds without an answer after which a server counts as out of reach."""


class DatasetUnavailableError(OSError):
    """A data set is not on this machine and cannot be brought here.

    Examples
    --------
    >>> from refpair.datasets import DatasetUnavailableError
    >>> issubclass(DatasetUnavailableError, OSError)
    True
    """


def is_intact(path: Path, sha256: str) -> bool:
    """Whether the file is there and has the checksum."""
    return path.is_file() and pooch.file_hash(str(path), alg="sha256") == sha256


def fetch(url: str, path: Path, sha256: str) -> None:
    """Bring a file from the URL to the path, which only ever holds the right content.

    Raises
    ------
    DatasetUnavailableError
        If the server cannot be reached, the transfer breaks or the checksum is wrong.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The same folder, so that the last step is a rename, which is all or nothing; a name of its own,
        # so that processes that download at the same time do not meet.
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise DatasetUnavailableError(f"cannot write to {path.parent} ({error})") from error
    os.close(descriptor)
    part = Path(name)
    try:
        with _progress(path.name) as bar:
            pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=TIMEOUT)(url, name, None)
        if not is_intact(part, sha256):
            raise DatasetUnavailableError(f"what {url} sent has the wrong checksum (broken or changed)")
        part.replace(path)
    except DatasetUnavailableError:
        raise
    except OSError as error:  # all errors of requests are OSErrors, with texts too long to show
        response = getattr(error, "response", None)
        if response is not None:
            reason = f"the server answered {response.status_code}"
        else:
            reason = f"no connection or a broken transfer: {error.strerror or type(error).__name__}"
        raise DatasetUnavailableError(f"downloading {url} failed ({reason})") from error
    finally:
        part.unlink(missing_ok=True)


class _Bar:
    """A rich progress bar with the methods that pooch calls."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=None)

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, value: int) -> None:
        # 0 is pooch's way to say that the server did not tell.
        self._progress.update(self._task, total=value or None)

    def update(self, n: int) -> None:
        self._progress.advance(self._task, n)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.refresh()


@contextmanager
def _progress(title: str) -> Iterator[_Bar | bool]:
    if not sys.stderr.isatty():
        yield False
        return
    with Progress(console=Console(stderr=True), transient=True) as progress:
        yield _Bar(progress, title)
