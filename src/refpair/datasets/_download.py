"""Downloads that either give the whole, right file or leave nothing behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pooch
from rich.console import Console

TIMEOUT = 30.0  # seconds without an answer after which a server counts as out of reach


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
    """Bring a file from the URL to the path, which only ever holds the right content; or say why not."""
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
        with Console(stderr=True).status(f"downloading {path.name}"):  # shown on a terminal only
            pooch.HTTPDownloader(chunk_size=1 << 16, timeout=TIMEOUT)(url, name, None)
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
