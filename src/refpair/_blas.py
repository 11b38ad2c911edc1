"""How many threads the products of matrices take."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np  # noqa: F401  # its library is found only once it is loaded, and so is SciPy's
import scipy.linalg  # noqa: F401  # loaded for the same reason
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


class _Limit:
    """A limit on the threads of some libraries, which lasts until the last of those who asked for it ends.

    A thread that put back what it had found might put back another one's limit. (Should someone else set the
    number in the meantime, whoever ends last has the last word.)
    """

    def __init__(self, libraries: list[Any]) -> None:
        self.libraries = libraries
        self.n_asking = 0
        self.n_threads: list[int] = []

    def begin(self) -> None:
        if self.n_asking == 0:
            self.n_threads = [library.get_num_threads() for library in self.libraries]
            self._set(1)
        self.n_asking += 1

    def end(self) -> None:
        self.n_asking -= 1
        if self.n_asking == 0:
            self._set()

    def _set(self, number: int | None = None) -> None:
        """Set the number of threads, or put back what it was, where it was more than one."""
        for library, n_threads in zip(self.libraries, self.n_threads, strict=True):
            if n_threads > 1:
                library.set_num_threads(n_threads if number is None else number)
                # Since 3.8, threadpoolctl heeds only the thread that was the first to ask, until that gives
                # way: here another one may be the last.
                getattr(library, "clear_controlling_thread", _do_nothing)()


def _do_nothing() -> None:
    pass


class _Limits(threading.local):
    """What a thread limits: the process's libraries, and those in which it has a number of its own."""

    lock = threading.Lock()
    shared: _Limit | None = None
    own_libraries: tuple[Any, ...] = ()

    def __init__(self) -> None:
        self.own: _Limit | None = None

    def begin(self) -> None:
        with _Limits.lock:
            if _Limits.shared is None:  # to look for libraries takes milliseconds
                found = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
                _Limits.own_libraries = tuple(filter(_is_by_thread, found))
                _Limits.shared = _Limit([library for library in found if not _is_by_thread(library)])
            _Limits.shared.begin()
        if self.own is None:
            self.own = _Limit(list(_Limits.own_libraries))
        self.own.begin()

    def end(self) -> None:
        assert self.own is not None
        self.own.end()
        with _Limits.lock:
            assert _Limits.shared is not None
            _Limits.shared.end()


def _is_by_thread(library: Any) -> bool:
    """Whether a library has a number for each thread that calls it."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", None) == "openmp"


_LIMITS = _Limits()


def _after_fork() -> None:
    """Forget the threads of the parent: in a child they do not run, nor will they end what they began."""
    _Limits.lock = threading.Lock()
    if _Limits.shared is not None and _LIMITS.own is not None:
        while _Limits.shared.n_asking > _LIMITS.own.n_asking:
            _Limits.shared.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute products of matrices in one thread each.

    The threads of small products wait for each other longer than they compute, many times as long if another
    program has one of the processors. Whoever has many of them lets threads share out something larger.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     (np.eye(2) @ np.eye(2)).sum()
    np.float64(2.0)
    """
    _LIMITS.begin()
    try:
        yield
    finally:
        _LIMITS.end()
