"""Where compiled kernels are kept between runs.

Numba's own cache differs in three ways: it does not see changes in functions that a kernel calls in another
file, it looks in one folder only, and where no folder can be written the import fails.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

import numba
from numba import config
from numba.core.caching import FunctionCache, IndexDataCacheFile

from refpair._folders import cache_folder

_HERE = Path(__file__).parent
_DAMAGED = (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError)


@cache
def stamp() -> str:
    """Return a digest of all that compiled code depends on and numba's keys leave out."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {config.BOUNDSCHECK}".encode())
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith((".py", ".pyc"))]
    for file in sorted(files, key=lambda file: file.name):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


@cache
def folders() -> tuple[Path, ...]:
    """Return the folders to look in: the last one is written to, and those before it cannot be."""
    found = []
    for folder in _places():
        found.append(folder)
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                break
    return tuple(found)


def _places() -> Iterator[Path]:
    own = f"refpair-{hashlib.sha256(str(_HERE).encode()).hexdigest()[:16]}"  # one for each installation
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR) / own
    yield _HERE / "__pycache__"
    with suppress(RuntimeError):
        yield cache_folder() / own
    if hasattr(os, "getuid"):
        private = Path(os.environ.get("TMPDIR") or "/tmp") / f"refpair-{os.getuid()}"
        if _is_private(private):
            yield private / own


def _is_private(folder: Path) -> bool:
    """Make a folder and say whether it is this user's alone: what is kept in it runs as code."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


@cache
def _say_once() -> None:
    print(
        "refpair: compiled code cannot be kept (no folder can be written): each start compiles anew; "
        "set NUMBA_CACHE_DIR to a writable folder",
        file=sys.stderr,
    )


class _Files(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """The files of one kernel in one folder: an index by types, and one file of code for each."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(str(folder), name, stamp())
        # This is read first: other versions may be of classes that there are no more, and cannot be read on.
        self._version = stamp()

    def _load_index(self) -> dict[Any, str]:
        try:
            return cast(dict[Any, str], super()._load_index())
        except _DAMAGED:
            return {}

    def save(self, key: Any, code: Any) -> None:
        super().save(key, (self._source_stamp, key, code))

    def load(self, key: Any) -> Any:
        try:
            kept = super().load(key)
        except _DAMAGED:
            return None
        # Another process may have replaced the file since this one, or whoever wrote the index, read it.
        return kept[2] if kept is not None and kept[:2] == (self._source_stamp, key) else None


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """The compiled forms of one kernel, in files whose names stay the same so that new code replaces old."""

    def __init__(self, kernel: Callable[..., Any]) -> None:
        # Not numba's own, and neither is that of `_impl`: both insist on one folder that can be written.
        self._name, self._py_func = repr(kernel), kernel
        self._impl = self._impl_class.__new__(self._impl_class)
        checked = "-checked" if config.BOUNDSCHECK else ""
        name = f"{kernel.__module__}.{kernel.__qualname__}{checked}.{sys.implementation.cache_tag}"
        self._all = [_Files(folder, name) for folder in folders()]
        self._cache_file, self._cache_path = self._all[-1], str(folders()[-1])
        self.enable()

    def _load_overload(self, signature: Any, target_context: Any) -> Any:
        key = self._index_key(signature, target_context.codegen())
        found = (files.load(key) for files in self._all)
        code = next((code for code in found if code is not None), None)
        return code and self._impl.rebuild(target_context, code)

    def _save_overload(self, signature: Any, compiled: Any) -> None:
        if not self._impl.check_cachable(compiled):
            return
        key = self._index_key(signature, compiled.codegen)
        try:
            self._cache_file.save(key, self._impl.reduce(compiled))
        except OSError:
            _say_once()
