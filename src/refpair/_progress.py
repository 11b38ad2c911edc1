"""How far work has got, shown on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], None]

_EACH = 5.0  # seconds between lines, where there is no bar


@contextmanager
def progress(title: str, total: int, *, visible: bool, done: int = 0) -> Iterator[Advance]:
    """Give a function to call with how much more is done of a total, to be shown if that is `visible`."""
    if not visible:
        yield lambda more: None
        return
    start, at_start = time.monotonic(), done
    with _shown(title, total, done) as show:

        def advance(more: int) -> None:
            nonlocal done
            done += more
            show(done, show_left(time.monotonic() - start, done - at_start, total - done))

        yield advance


def show_left(seconds: float, n_done: int, n_open: int) -> str:
    """Return the time left in hours, minutes and seconds, at the pace so far."""
    return str(timedelta(seconds=round(seconds * n_open / n_done))) if n_done else "?"


@contextmanager
def _shown(title: str, total: int, done: int) -> Iterator[Callable[[int, str], None]]:
    """Give what shows how much is done and the time left: a bar, or without rich a line every few seconds."""
    try:
        from rich import progress as bars  # noqa: PLC0415 - an extra
        from rich.console import Console  # noqa: PLC0415 - an extra
    except ImportError:
        yield _Lines(title, total)
        return
    columns = bars.TextColumn("{task.description}"), bars.BarColumn(), bars.MofNCompleteColumn()
    times = bars.TimeElapsedColumn(), bars.TextColumn("{task.fields[left]} left")
    with bars.Progress(*columns, *times, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, completed=done, left="?")
        yield lambda done, left: bar.update(task, completed=done, left=left)


class _Lines:
    """Lines on standard error: one every few seconds, and a last one."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.last = time.monotonic()

    def __call__(self, done: int, left: str) -> None:
        now = time.monotonic()
        if done >= self.total or now - self.last >= _EACH:
            print(f"{self.title}: {done:,} of {self.total:,}, {left} left", file=sys.stderr, flush=True)
            self.last = now
