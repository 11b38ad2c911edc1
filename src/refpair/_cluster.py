"""Run chunks of work on a Dask cluster: what they share is sent once a worker, what is lost is run again."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from threading import Lock
from typing import Any, TypeVar

from joblib.parallel import get_active_backend

__all__ = ["Envelope", "active_cluster", "is_on_worker", "packed", "run_on_cluster"]

_MOST_VAIN = 3  # times that the work is sent again although no chunk was done the last time

Result = TypeVar("Result")


def active_cluster() -> Any:
    """Return joblib's Dask backend if ``joblib.parallel_config(backend="dask")`` chose it, else None."""
    backend, _ = get_active_backend(prefer="threads")
    return backend if type(backend).__module__ == "joblib._dask" else None


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


def run_on_cluster(
    backend: Any, work: Callable[[slice], Result], chunks: Sequence[slice]
) -> Iterator[tuple[int, Result]]:
    """Yield the place of each chunk and ``work(chunk)``, as they are done.

    joblib would send the work, and X with it, along with each chunk. Here it is a piece of data that every
    worker has, and one that joins later gets it from its peers. Dask runs the chunks of a worker that dies
    again. Should all workers with the data die, it is sent again.

    Parameters
    ----------
    backend : joblib's DaskDistributedBackend
    work : callable
        Raises what it likes: that is raised here, at once, and the other chunks are cancelled.
    chunks : sequence of slice
    """
    envelope = Envelope(packed=packed(work))
    left = dict(enumerate(chunks))
    n_vain = 0
    while left:
        n_before = len(left)
        for place, result in _run_once(backend, envelope, left):
            del left[place]
            yield place, result
        n_vain = n_vain + 1 if len(left) == n_before else 0
        if n_vain > _MOST_VAIN:
            raise RuntimeError(
                f"{len(left)} of {len(chunks)} chunks cannot be run on the cluster: its workers are lost, "
                "or the tasks cancelled, each time before one is done. See the logs of the workers: they may "
                "lack memory"
            )


def _run_once(backend: Any, envelope: Envelope, left: Mapping[int, slice]) -> Iterator[tuple[int, Any]]:
    """Send the work and yield the results of chunks; not of all, if all copies of the work are lost."""
    distributed = import_module("distributed")  # an extra
    client, how = backend.client, backend.submit_kwargs
    backend.effective_n_jobs(-1)  # waits for workers to come up, and says what to do if there are none
    try:
        # Not by its hash: that would take longer, and the key of what was lost would be used again.
        shared = client.scatter(envelope, workers=how.get("workers"), broadcast=True, hash=False)
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


class Envelope:
    """Something to be sent to workers, whose arrays arrive as they were.

    Dask cuts arrays out of what it receives wherever they happen to begin: kernels, compiled for arrays at
    addresses that suit a processor, would have to be compiled anew. So the content is sent as one piece. The
    first task on a worker unpacks it: if it cannot, that is an error of the task.

    Parameters
    ----------
    content : object
    packed : bytes, optional
        The content as :func:`packed` returns it, if that is known.

    Examples
    --------
    >>> Envelope("X and all").open()
    'X and all'
    """

    def __init__(self, content: Any = None, packed: bytes | None = None) -> None:
        self._content = content
        self._packed = packed
        self._is_open = packed is None
        self._n_bytes = 0 if packed is None else len(packed)
        self._lock = Lock()

    def open(self) -> Any:
        """Return the content."""
        with self._lock:
            if not self._is_open:
                assert self._packed is not None
                self._content = pickle.loads(self._packed)
                self._is_open = True
                self._packed = None  # it would take as much memory again
            return self._content

    def __reduce__(self) -> tuple[type[Envelope], tuple[None, bytes]]:
        known = self._packed
        return Envelope, (None, packed(self._content) if known is None else known)

    def __sizeof__(self) -> int:  # Dask asks for it
        return self._n_bytes


def packed(something: Any) -> bytes:
    """Return something pickled as Dask does it, which knows functions without a name, too."""
    content: bytes = import_module("distributed.protocol.pickle").dumps(something)
    return content


def _run(work: Envelope, chunk: slice) -> bytes:
    """Run a chunk. Packed here, since a result that cannot be is then an error of the task as any other."""
    return packed(work.open()(chunk))
