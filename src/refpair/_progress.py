"""Run independent chunks of work, in threads if asked for, under a progress bar if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from refpair._cluster import active_cluster, is_on_worker, run_on_cluster

__all__ = ["progress_bar", "run_chunks"]

Result = TypeVar("Result")


def progress_bar(*, visible: bool, left: ProgressColumn | None = None) -> Progress:
    """Return a progress bar on standard error that shows the time left, by a column of its own if given."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        left or TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not visible,
    )


def run_chunks(
    work: Callable[[slice], Result],
    chunks: Sequence[slice],
    *,
    n_jobs: int | None,
    verbose: int,
    title: str,
    in_place: bool = False,
) -> list[Result]:
    """Return ``work(chunk)`` for each chunk, in order.

    Chunks run through joblib, by default in threads: the kernels release the GIL.
    ``joblib.parallel_config`` around the call chooses another backend, unless the work is done `in_place`, in
    memory that another process would not share. A single chunk is run right here.
    """
    if verbose == 0 and (len(chunks) < 2 or (in_place and n_jobs in (None, 1))):
        return [work(chunk) for chunk in chunks]  # threads and a bar take longer to start than many a chunk
    done: dict[int, Result] = {}
    with progress_bar(visible=verbose > 0) as bar:
        task = bar.add_task(title, total=chunks[-1].stop if chunks else 0)
        for place, result in _run_all(work, chunks, n_jobs, in_place):
            done[place] = result
            bar.advance(task, chunks[place].stop - chunks[place].start)
    return [done[place] for place in range(len(chunks))]


def _run_all(
    work: Callable[[slice], Result], chunks: Sequence[slice], n_jobs: int | None, in_place: bool
) -> Iterator[tuple[int, Result]]:
    """Yield the place of each chunk and its result, where the active backend of joblib has them run."""
    cluster = None if in_place else active_cluster()
    if cluster is not None and not is_on_worker():
        return run_on_cluster(cluster, work, chunks)
    # In a task of a cluster the work stays in its process: the other workers have tasks of their own.
    require = "sharedmem" if in_place or cluster is not None else None
    # Processes share large arrays as files; kernels are compiled for arrays that may be written to.
    jobs = Parallel(n_jobs=n_jobs, prefer="threads", require=require, mmap_mode="c", return_as="generator")
    return enumerate(jobs(delayed(work)(chunk) for chunk in chunks))
