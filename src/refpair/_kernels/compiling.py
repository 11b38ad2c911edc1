"""What happens around the compiler: a line on standard error, once a process, and no garbage collection.

Numba tells of functions that are compiled, not of those whose code is loaded from the disk.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from typing import Any

from numba.core import event

SAID = "refpair: compiling kernels, once: up to half a minute (`refpair warmup` does so beforehand)"


class Compiling(event.Listener):  # type: ignore[misc]  # numba has no types
    """Hear of the compiler; numba's lock lets one thread at a time compile."""

    def __init__(self) -> None:
        self.is_told = False  # or need not be told
        self.n_kernels = 0  # that were compiled
        self._depth = 0  # kernels call others
        self._collects = False

    def on_start(self, told: Any) -> None:
        """Say that this takes a while, and put off garbage collection: it takes a tenth of the time."""
        if not _is_own(told):
            return
        self._depth += 1
        if self._depth > 1:
            return
        self.n_kernels += 1
        self._collects = gc.isenabled()
        gc.disable()
        if not self.is_told and sys.stderr is not None:
            self.is_told = True
            with suppress(OSError, ValueError):  # nobody is there to read it
                print(SAID, file=sys.stderr, flush=True)

    def on_end(self, told: Any) -> None:
        """Collect garbage again."""
        if not _is_own(told):
            return
        self._depth -= 1
        if self._depth == 0 and self._collects:
            gc.enable()


def _is_own(told: Any) -> bool:
    return str(told.data["dispatcher"].py_func.__module__).startswith("refpair._kernels.")


COMPILING = Compiling()
event.register("numba:compile", COMPILING)
