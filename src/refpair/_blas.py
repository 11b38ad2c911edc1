"""How many threads the products of matrices take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np  # noqa: F401  # its library is found only once it is loaded, and so is SciPy's
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

__all__ = ["one_blas_thread"]


class _Limit:
    """A limit on the threads of all libraries, which lasts until the last of those who asked for it ends.

    The number of threads is the process's: a thread that put back what it had found would put back another
    one's limit.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_asking = 0
        self.libraries: list[Any] | None = None
        self.n_threads: list[int] = []

    def begin(self) -> None:
        with self.lock:
            if self.n_asking == 0:
                if self.libraries is None:  # to look for them takes milliseconds
                    found = ThreadpoolController().lib_controllers
                    self.libraries = [library for library in found if library.user_api == "blas"]
                self.n_threads = [library.get_num_threads() for library in self.libraries]
                self._set([1] * len(self.libraries))
            self.n_asking += 1

    def end(self) -> None:
        with self.lock:
            self.n_asking -= 1
            if self.n_asking == 0:
                self._set(self.n_threads)

    def _set(self, n_threads: list[int]) -> None:
        for library, n in zip(self.libraries or (), n_threads, strict=True):
            library.set_num_threads(n)
            # Since 3.8, threadpoolctl heeds only the thread that was the first to ask, until that gives way:
            # here another one may be the last.
            getattr(library, "clear_controlling_thread", _do_nothing)()


def _do_nothing() -> None:
    pass


_LIMIT = _Limit()


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
    _LIMIT.begin()
    try:
        yield
    finally:
        _LIMIT.end()
