"""Independent chunks of work: in threads, on a Dask cluster, or lazily; and how many threads BLAS takes.

Chunks run through joblib, by default in threads: the kernels release the GIL. On a cluster, what chunks share
is sent once a worker, and what is lost is run again.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

import numpy as np  # noqa: F401  # its library is found only once it is loaded, and so is SciPy's
import scipy.linalg  # noqa: F401  # loaded for the same reason
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from refpair._progress import FIT, progress

_FEW = 128  # rows that are not worth a second thread
_MOST_VAIN = 3  # times that the work is sent again although no chunk was done the last time

Result = TypeVar("Result")


def chunks_of(n: int, size: int) -> list[slice]:
    """Cut 0 … n−1 into slices of at most `size`; at least one, if an empty one."""
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]


def even_chunks(n: int, size: int, n_jobs: int | None) -> list[slice]:
    """Cut 0 … n−1 into slices of at most `size`, and so that all threads have as many, unless n is small."""
    n_threads = _count_threads(n_jobs)
    n_chunks = -(-n // size)
    if n_threads > 1 and n >= _FEW:
        n_chunks = -(-n_chunks // n_threads) * n_threads
    return chunks_of(n, -(-n // max(n_chunks, 1)) or size)


def run_chunks(
    work: Callable[[slice], Result],
    chunks: Sequence[slice],
    *,
    n_jobs: int | None,
    title: str,
    verbose: int | None = None,
    in_place: bool = False,
) -> list[Result]:
    """Return ``work(chunk)`` for each chunk, in order, and tell how far it is.

    With `verbose` of at least 1 that is shown; with 0 only callbacks of a fit are told, with None nobody.
    ``joblib.parallel_config`` around the call chooses another backend than threads, unless the work is done
    `in_place`, in memory that another process would not share. A single chunk is run right here.
    """
    is_told = bool(verbose) or (verbose is not None and FIT.get() is not None)
    if not is_told and (len(chunks) < 2 or (in_place and n_jobs in (None, 1))):
        return [work(chunk) for chunk in chunks]  # threads and a bar take longer to start than many a chunk
    done: dict[int, Result] = {}
    total = chunks[-1].stop if chunks else 0
    with progress(title, total, verbose=verbose, n_steps=len(chunks)) as advance:
        for place, result in _run_all(work, chunks, n_jobs, in_place):
            done[place] = result
            advance(chunks[place].stop - chunks[place].start)
    return [done[place] for place in range(len(chunks))]


def is_lazy(X: object) -> bool:
    """Whether X is a Dask collection. Dask is not imported for that: without it, there can be none."""
    dask = sys.modules.get("dask.base")
    return dask is not None and bool(dask.is_dask_collection(X))


def in_memory(X: Any) -> Any:
    """Return X as it is, or what a Dask collection amounts to."""
    return X.compute() if is_lazy(X) else X


def _run_all(
    work: Callable[[slice], Result], chunks: Sequence[slice], n_jobs: int | None, in_place: bool
) -> Iterator[tuple[int, Result]]:
    """Yield the place of each chunk and its result, where the active backend of joblib has them run."""
    backend, _ = get_active_backend(prefer="threads")
    on_cluster = type(backend).__module__ == "joblib._dask"
    if on_cluster and not in_place and not is_on_worker():
        return _run_on_cluster(backend, work, chunks)
    # In a task of a cluster the work stays in its process: the other workers have tasks of their own.
    if in_place or on_cluster:
        return _run_in_threads(work, chunks, n_jobs)
    # Processes share large arrays as files; kernels are compiled for arrays that may be written to.
    jobs = Parallel(n_jobs=n_jobs, prefer="threads", mmap_mode="c", return_as="generator")
    return enumerate(jobs(delayed(work)(chunk) for chunk in chunks))


def _run_in_threads(
    work: Callable[[slice], Result], chunks: Sequence[slice], n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """Yield the place of each chunk and its result. joblib's own threads would take 10 ms to start.

    This thread is one of them. It begins with the last chunk, and goes on to those that no other has begun.
    """
    n_threads = _count_threads(n_jobs)
    if n_threads == 1:
        yield from enumerate(map(work, chunks))
        return
    pool = ThreadPoolExecutor(n_threads - 1)
    try:
        begun = [pool.submit(work, chunk) for chunk in chunks[:-1]]
        yield len(begun), work(chunks[-1])
        for place, future in reversed(list(enumerate(begun))):
            yield place, work(chunks[place]) if future.cancel() else future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` are, by joblib's rules: None is what ``parallel_config`` says."""
    backend, by_default = get_active_backend(require="sharedmem")
    return int(backend.effective_n_jobs(by_default if n_jobs is None else n_jobs))


def is_on_worker() -> bool:
    """Whether this is a task of a Dask worker: to wait there for other tasks could be to wait for ever."""
    worker = sys.modules.get("distributed.worker")
    if worker is None:
        return False
    try:
        worker.get_worker()
    except ValueError:
        return False
    return True


def _run_on_cluster(
    backend: Any, work: Callable[[slice], Result], chunks: Sequence[slice]
) -> Iterator[tuple[int, Result]]:
    """Yield the place of each chunk and ``work(chunk)``, as they are done; what that raises is raised here.

    joblib would send the work, and X with it, along with each chunk. Here it is a piece of data that every
    worker has, and one that joins later gets it from its peers. Dask runs the chunks of a worker that dies
    again. Should all workers with the data die, it is sent again.
    """
    shared = Pickled(pickled=_pickle(work))
    left = dict(enumerate(chunks))
    n_vain = 0
    while left:
        n_before = len(left)
        for place, result in _run_once(backend, shared, left):
            del left[place]
            yield place, result
        n_vain = n_vain + 1 if len(left) == n_before else 0
        if n_vain > _MOST_VAIN:
            raise RuntimeError(
                f"{len(left)} of {len(chunks)} chunks cannot be run on the cluster: its workers are lost, "
                "or the tasks cancelled, each time before one is done. See the logs of the workers: they may "
                "lack memory"
            )


def _run_once(backend: Any, work: Pickled, left: Mapping[int, slice]) -> Iterator[tuple[int, Any]]:
    """Send the work and yield the results of chunks; not of all, if all copies of the work are lost."""
    distributed = import_module("distributed")  # an extra
    client, how = backend.client, backend.submit_kwargs
    backend.effective_n_jobs(-1)  # waits for workers to come up, and says what to do if there are none
    try:
        # Not by its hash: that would take longer, and the key of what was lost would be used again.
        shared = client.scatter(work, workers=how.get("workers"), broadcast=True, hash=False)
    except OSError:  # a worker died on the way
        return
    tasks = client.map(_run, [shared] * len(left), list(left.values()), pure=False, **how)
    place_of = dict(zip(tasks, left, strict=True))
    del tasks  # a worker keeps a result for as long as there is a reference to its task
    try:
        for task, result in distributed.as_completed(list(place_of), with_results=True, raise_errors=False):
            place = place_of.pop(task)
            if task.status == "error":
                _, error, trace = result
                raise error.with_traceback(trace)
            if task.status == "finished":
                yield place, pickle.loads(result)
    finally:
        if place_of:
            client.cancel(list(place_of), force=True)


def _run(work: Pickled, chunk: slice) -> bytes:
    """Run a chunk. Pickled here, since a result that cannot be is then an error of the task as any other."""
    return _pickle(work.content()(chunk))


def _pickle(something: Any) -> bytes:
    """Return something pickled as Dask does it, which knows functions without a name, too."""
    content: bytes = import_module("distributed.protocol.pickle").dumps(something)
    return content


class Pickled:
    """Something to be sent to workers as one piece, whose arrays arrive as they were.

    Dask cuts arrays out of what it receives wherever they happen to begin: kernels, compiled for arrays at
    addresses that suit a processor, would have to be compiled anew. The first task on a worker unpickles the
    content: if it cannot, that is an error of the task.
    """

    def __init__(self, content: Any = None, pickled: bytes | None = None) -> None:
        self._content, self._pickled = content, pickled
        self._n_bytes = len(pickled or b"")
        self._lock = threading.Lock()

    def content(self) -> Any:
        """Return what was pickled."""
        with self._lock:
            if self._pickled is not None:
                self._content = pickle.loads(self._pickled)
                self._pickled = None  # it would take as much memory again
            return self._content

    def __reduce__(self) -> tuple[type[Pickled], tuple[None, bytes]]:
        known = self._pickled
        return Pickled, (None, _pickle(self._content) if known is None else known)

    def __sizeof__(self) -> int:  # Dask asks for it
        return self._n_bytes


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
                getattr(library, "clear_controlling_thread", lambda: None)()


class _Limits(threading.local):
    """What a thread limits: the process's libraries, and those in which it has a number of its own."""

    lock = threading.Lock()
    shared: _Limit | None = None
    own_libraries: tuple[Any, ...] = ()
    own: _Limit | None = None  # of each thread


def _is_by_thread(library: Any) -> bool:
    """Whether a library has a number for each thread that calls it."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", None) == "openmp"


_LIMITS = _Limits()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Compute products of matrices in one thread each.

    The threads of small products wait for each other longer than they compute, many times as long if another
    program has one of the processors. Whoever has many of them lets threads share out something larger.
    """
    with _Limits.lock:
        if _Limits.shared is None:  # to look for libraries takes milliseconds
            found = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
            _Limits.own_libraries = tuple(filter(_is_by_thread, found))
            _Limits.shared = _Limit([library for library in found if not _is_by_thread(library)])
        shared = _Limits.shared
        shared.begin()
    own = _LIMITS.own = _LIMITS.own or _Limit(list(_Limits.own_libraries))
    own.begin()
    try:
        yield
    finally:
        own.end()
        with _Limits.lock:
            shared.end()


def _after_fork() -> None:
    """Forget the threads of the parent: in a child they do not run, nor will they end what they began."""
    _Limits.lock = threading.Lock()
    if _Limits.shared is not None and _LIMITS.own is not None:
        while _Limits.shared.n_asking > _LIMITS.own.n_asking:
            _Limits.shared.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
