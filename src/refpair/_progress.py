"""How far work has got: shown on standard error, and told to the callbacks of the fit under way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:
    CallbackSupportMixin: TypeAlias = Any

    def with_callbacks(method: Method) -> Method: ...
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # before scikit-learn 1.9

        class CallbackSupportMixin:
            """An estimator, which has no callbacks before scikit-learn 1.9."""

        def with_callbacks(method: Method) -> Method:
            """Return the method as it is."""
            return method


__all__ = [
    "FIT",
    "Advance",
    "CallbackSupportMixin",
    "progress",
    "show_left",
    "telling_callbacks",
    "with_callbacks",
]

Advance: TypeAlias = Callable[[int], None]
_EACH = 5.0  # seconds between lines, where there is no bar
# The estimator under way, if it has callbacks, and what scikit-learn calls their context.
FIT: ContextVar[tuple[Any, Any] | None] = ContextVar("FIT", default=None)


@contextmanager
def telling_callbacks(estimator: Any, given: Sequence[Any], named: Mapping[str, Any]) -> Iterator[None]:
    """Have the callbacks of an estimator told of its ``fit(*given, **named)``, and of :func:`progress` in it.

    They are not asked whether to stop: half of a model is none.
    """
    data = dict(zip(("X", "y"), given, strict=False)) | {k: named[k] for k in ("X", "y") if k in named}
    context = None
    if getattr(estimator, "_skl_callbacks", None):
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator, **data)
    token = FIT.set(context and (estimator, context))
    try:
        yield
    finally:
        FIT.reset(token)
    if context:
        context.call_on_fit_task_end(estimator=estimator, **data, reconstruction_attributes={})


@contextmanager
def progress(
    title: str, total: int, *, verbose: int | None, n_steps: int | None = None, done: int = 0
) -> Iterator[Advance]:
    """Give a function to call with how much more is done of a total, `n_steps` times at most.

    With `verbose` of at least 1 that is shown; unless it is None, the callbacks of a fit under way are told.
    """
    with ExitStack() as stack:
        tell, show = None, None
        if verbose is not None and (fit := FIT.get()):
            tell = stack.enter_context(_told(*fit, title, total if n_steps is None else n_steps))
        if verbose:
            show = stack.enter_context(_shown(title, total, done))
        start, at_start = time.monotonic(), done

        def advance(more: int) -> None:
            nonlocal done
            done += more
            if show is not None:
                show(done, show_left(time.monotonic() - start, done - at_start, total - done))
            if more and tell is not None:
                tell()

        yield advance


def show_left(seconds: float, n_done: int, n_open: int) -> str:
    """Return the time left in hours, minutes and seconds, at the pace so far."""
    return str(timedelta(seconds=round(seconds * n_open / n_done))) if n_done else "?"


@contextmanager
def _told(estimator: Any, whole: Any, title: str, n_steps: int) -> Iterator[Callable[[], None]]:
    """Give what tells the callbacks of an estimator that a step is done."""
    context = whole.subcontext(task_name=title, max_subtasks=n_steps)

    def tell() -> None:
        step = context.subcontext(task_name=f"{title}, a part")
        step.call_on_fit_task_begin(estimator=estimator)
        step.call_on_fit_task_end(estimator=estimator)

    context.call_on_fit_task_begin(estimator=estimator)
    yield tell
    context.call_on_fit_task_end(estimator=estimator)


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
    """Lines on standard error, one every few seconds and a last one."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.last = time.monotonic()

    def __call__(self, done: int, left: str) -> None:
        now = time.monotonic()
        if done >= self.total or now - self.last >= _EACH:
            print(f"{self.title}: {done:,} of {self.total:,}, {left} left", file=sys.stderr, flush=True)
            self.last = now
