"""Run tasks in processes that share nothing but the store.

Each worker goes through the tasks, claims one that is open, runs it, and stores its results as they come. So
it does not matter how many workers there are, whether another command works on the same store, or when one
of them is killed: what is stored stays, what is claimed by the dead is open again.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import version
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from refpair._progress import progress, show_left
from refpair.experiments.data import Source
from refpair.experiments.protocols import run_task
from refpair.experiments.store import Failure, Store
from refpair.experiments.tasks import Task

_LOOK_EACH, _TELL_EACH, _WAIT = 2.0, 60.0, 2.0  # seconds
_PACKAGES = ("refpair", "numpy", "scipy", "scikit-learn", "numba")


def run_tasks(path: Path, tasks: Sequence[Task], *, jobs: int = 1, verbose: int = 0) -> list[Failure]:
    """Run those tasks whose results are not in the store, and return which failed, as `Study.run` says.

    It is a ChildProcessError if workers were killed, for want of memory say, and left tasks open.
    """
    if jobs != -1 and jobs < 1:
        raise ValueError(f"jobs must be -1, one for each processor, or at least 1; it is {jobs}")
    with Store(path) as store:
        run = store.start_run(datetime.now(UTC).isoformat(timespec="seconds"), describe_machine())
        open_tasks = _open_tasks(store, tasks, run)
        n_workers = min(cpu_count() if jobs == -1 else jobs, len(open_tasks))
        workers: list[BaseProcess] = []
        try:
            with _ignoring_interrupts():
                for _ in range(n_workers):
                    new = get_context("spawn").Process(
                        target=_work, args=(path, open_tasks, run), daemon=True
                    )
                    new.start()
                    workers.append(new)
            _watch(store, tasks, run, workers, visible=verbose > 0 and bool(workers))
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
            store.remove_dead_workers()
        _check_ends([worker.exitcode for worker in workers], finished=not _open_tasks(store, tasks, run))
        return store.failures(run)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C for a moment: processes that are started then do so from their first instruction on."""
    if threading.current_thread() is not threading.main_thread():  # others may not, and do not hear it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _open_tasks(store: Store, tasks: Sequence[Task], run: int) -> list[Task]:
    """Return the tasks of which results are missing, and which have not failed in this run."""
    there = store.keys()
    failed = {failure.task for failure in store.failures(run)}
    return [task for task in tasks if task.name not in failed and not there.issuperset(task.result_keys())]


def _work(path: Path, tasks: list[Task], run: int) -> None:
    """Be a worker: run what is open until nothing is."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, too, and ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # One thread each: workers are what runs in parallel, and sums do not depend on the number of processors.
    with threadpool_limits(1), Store(path) as store:
        while tasks := _open_tasks(store, tasks, run):
            if not any(_try(store, task, run) for task in tasks):  # looked up anew after each that was run
                time.sleep(_WAIT)  # the rest is claimed by others; should they die, it is ours


def _try(store: Store, task: Task, run: int) -> bool:
    """Run a task unless it is claimed or done, and return whether there was something to do."""
    if not store.missing(task.result_keys()) or not store.claim(task.name):
        return False
    try:
        missing = store.missing(task.result_keys())  # asked again: who had claimed it may have finished it
        for key, result in run_task(task, _read(task.source), missing):
            store.add(key, result, run)
    except (Exception, SystemExit) as error:  # one that fails on one data set must not end a run of a night
        what = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
        where = task.source.name, task.algorithm, task.split
        store.fail(Failure(task.name, *where, what, traceback.format_exc()), run)
    finally:
        store.release(task.name)
    return True


_read = lru_cache(maxsize=2)(Source.read)


def _end_with_parent() -> None:
    """Wait for the end of the parent, and follow it: nobody else would end a worker then."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _watch(
    store: Store, tasks: Sequence[Task], run: int, workers: Sequence[BaseProcess], *, visible: bool
) -> None:
    """Show how far the workers are, until they are done: by a bar, or by lines if there is no terminal."""
    terminal, start, n_at_start = sys.stderr.isatty(), time.monotonic(), len(_open_tasks(store, tasks, run))
    n_shown = len(tasks) - n_at_start
    with progress("tasks", len(tasks), verbose=int(visible and terminal), done=n_shown) as advance:
        while running := [worker.sentinel for worker in workers if worker.is_alive()]:
            ended = connection.wait(running, timeout=_LOOK_EACH if terminal else _TELL_EACH)
            if not visible or (ended and not terminal):
                continue
            n_open = len(_open_tasks(store, tasks, run))
            n_done = len(tasks) - n_open
            advance(n_done - n_shown)
            n_shown = n_done
            if not terminal:
                left = show_left(time.monotonic() - start, n_at_start - n_open, n_open)
                print(f"{n_done:,} of {len(tasks):,} tasks, {left} left", file=sys.stderr, flush=True)


def _check_ends(codes: Sequence[int | None], *, finished: bool) -> None:
    """Say if workers did not end by themselves; it is an error if something is left to do."""
    killed = "killed (signal {}), for want of memory perhaps, of which fewer --jobs need less"
    ends = [killed.format(-code) if code < 0 else f"ended with exit code {code}" for code in codes if code]
    if not ends:
        return
    what = f"{len(ends)} of {len(codes)} worker processes: {'; '.join(dict.fromkeys(ends))}"
    if not finished:
        raise ChildProcessError(f"{what}; what is finished is stored, and the same command continues")
    print(f"warning: {what}; the others have finished all", file=sys.stderr)


def describe_machine() -> str:
    """Return the system, the processor and the versions, as a report shows them."""
    n = os.cpu_count() or 1
    versions = ", ".join(f"{name} {version(name)}" for name in _PACKAGES)
    file = Path("/proc/cpuinfo")  # where Linux has the name of the processor, and nowhere else
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.processor() or platform.machine()
    return (
        f"{platform.system()} {platform.machine()}, {processor}, {n} core{'s' * (n > 1)}; "
        f"Python {platform.python_version()}, {versions}"
    )
