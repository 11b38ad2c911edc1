"""Ctrl-C while a kernel runs.

Numba runs Python code to make objects of what a function returns, arrays for instance. Python handles signals
in the main thread between any two steps of such code: a KeyboardInterrupt there became a SystemError at best,
and a crash of the process at worst. A signal that came while the kernel worked is handled just there.
"""

from __future__ import annotations

# What the module signal wraps, in a tenth of the time; there are no types for it.
from _signal import getsignal, signal  # type: ignore[import-not-found]
from signal import SIGINT
from threading import get_ident, main_thread
from types import FrameType
from typing import Any

from numba.core.registry import CPUDispatcher

_call = CPUDispatcher.__call__


class Uninterrupted(CPUDispatcher):
    """A compiled function that puts off Ctrl-C until it has returned, unless it is still being compiled."""

    def __call__(self, *given: Any) -> Any:
        handle = getsignal(SIGINT)
        if not callable(handle) or get_ident() != main_thread().ident:  # only there are signals handled
            return _call(self, *given)
        came: list[FrameType | None] = []

        def put_off(number: int, frame: FrameType | None) -> None:
            if self.is_compiling:
                handle(number, frame)
            else:
                came.append(frame)

        signal(SIGINT, put_off)
        try:
            return _call(self, *given)
        finally:
            signal(SIGINT, handle)
            if came:
                handle(SIGINT, came[0])
