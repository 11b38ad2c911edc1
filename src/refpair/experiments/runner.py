"""Run tasks in processes that share nothing but the store.

Each worker goes through the tasks, claims one that is open, runs it, and stores its results as they come. So
it does not matter how many workers there are, whether another command works on the same store, or when one
of them is killed: what is stored stays, what is claimed by the dead is open again.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path

import pandas as pd
from joblib import cpu_count
from rich.progress import TextColumn
from threadpoolctl import threadpool_limits

from refpair._progress import progress_bar
from refpair.experiments.protocols import run_task
from refpair.experiments.store import Failure, Store
from refpair.experiments.tasks import Source, Task

__all__ = ["run_tasks", "seconds_left"]

_LOOK_EACH, _WAIT = 0.5, 2.0  # seconds


def run_tasks(
    path: Path, tasks: Sequence[Task], run: int, *, jobs: int = 1, verbose: int = 0
) -> list[Failure]:
    """Run those tasks whose results are not in the store, and return which of them failed.

    Parameters
    ----------
    path : Path
        The store.
    tasks : sequence of Task
    run : int
        The number that the store gave to this run.
    jobs : int, default=1
        How many processes work; −1 is one for each processor.
    verbose : int, default=0
        1 shows a progress bar with the time left.

    Raises
    ------
    ChildProcessError
        If a worker was killed, for want of memory say.
    """
    with Store(path) as store:
        open_tasks = _open_tasks(store, tasks, run)
        n_workers = min(cpu_count() if jobs == -1 else jobs, len(open_tasks))
        context = get_context("spawn")
        workers = [
            context.Process(target=_work, args=(path, open_tasks, run), daemon=True) for _ in range(n_workers)
        ]
        try:
            for worker in workers:
                worker.start()
            _watch(store, tasks, run, workers, visible=verbose > 0 and bool(workers))
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
        return store.failures(run)


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
    start = time.perf_counter()
    try:
        missing = store.missing(
            task.result_keys()
        )  # asked again: it may have been finished before it was claimed
        for key, result in run_task(task, _read(task.source), missing):
            store.add(key, result, run)
        store.note_time(task.name, task.source.name, task.algorithm, time.perf_counter() - start)
    except Exception:  # one algorithm that fails on one data set must not end a run of a night
        store.fail(task.name, run, traceback.format_exc())
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
    """Show how far the workers are, until they are done."""
    with progress_bar(visible=visible, left=TextColumn("{task.fields[left]}")) as bar:
        shown = bar.add_task("tasks", total=len(tasks), left="?")
        while running := [worker.sentinel for worker in workers if worker.is_alive()]:
            connection.wait(running, timeout=_LOOK_EACH)
            remaining = _open_tasks(store, tasks, run)
            left = seconds_left(store.times(), remaining) / len(running)
            bar.update(shown, completed=len(tasks) - len(remaining), left=_clock(left))
    codes = [worker.exitcode for worker in workers if worker.exitcode]
    if codes:
        how = f"signal {-codes[0]}" if codes[0] < 0 else f"exit code {codes[0]}"
        raise ChildProcessError(
            f"{len(codes)} of {len(workers)} worker processes were ended from outside ({how}), for want of "
            "memory perhaps; what is finished is stored, and the same command goes on, with fewer --jobs"
        )


def seconds_left(times: pd.DataFrame, remaining: Sequence[Task]) -> float:
    """Return how long tasks will take one after the other: as long as others like them, NaN if none is known.

    Examples
    --------
    >>> times = pd.DataFrame({"data": ["a", "a"], "algorithm": ["BR", "CC"], "seconds": [1.0, 2.0]})
    >>> seconds_left(times, [])
    0.0
    """
    if times.empty:
        return math.nan if remaining else 0.0
    same = times.groupby(["data", "algorithm"])["seconds"].mean().to_dict()
    same_data = times.groupby("data")["seconds"].mean().to_dict()
    typical = float(times["seconds"].mean())
    return float(
        sum(
            same.get((task.source.name, task.algorithm), same_data.get(task.source.name, typical))
            for task in remaining
        )
    )


def _clock(seconds: float) -> str:
    """Return a time as hours, minutes and seconds."""
    return "?" if math.isnan(seconds) else str(timedelta(seconds=round(seconds)))
