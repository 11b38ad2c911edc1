"""What a strategy is given: rows, in memory or of Dask, of which some have labels, and those to ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from refpair._extras import is_dataframe, pd
from refpair._parallel import chunks_of, in_memory, is_lazy
from refpair._sparse import check_sparse
from refpair.bits.binning import Matrix
from refpair.classifiers import BinaryRelevance
from refpair.classifiers._dask import is_frame, row_blocks
from refpair.posterior.completion import complete
from refpair.tables.labels import UNKNOWN, has_unknown, with_gaps

Indices = npt.NDArray[np.intp]
Labels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

_ROWS_A_CALL = 4096
_BLOCKS_KEPT = 2  # rows asked for together that are of more blocks than that are fetched alone


@dataclass(frozen=True, eq=False)
class Pool:
    """What a query strategy chooses from.

    Attributes
    ----------
    X : array, sparse matrix, DataFrame or DaskRows
        All rows, as they were given; `features` has them as numbers.
    known : ndarray of uint8, shape (n_labeled, n_labels)
        The known labels, and UNKNOWN for each that is not.
    labeled : ndarray of int, shape (n_labeled,)
        The rows of X that have them, or some of them.
    candidates : ndarray of int
        The rows of X that may be asked for.
    label_names : list
        The names of the labels, or their numbers.
    """

    X: Any
    known: Labels
    labeled: Indices
    candidates: Indices
    label_names: list[Any]

    @property
    def is_lazy(self) -> bool:
        """Whether rows are fetched block by block, because they may not fit into memory."""
        return isinstance(self.X, DaskRows)

    @cached_property
    def features(self) -> Matrix:
        """X as a float ndarray or a CSR matrix; of Dask rows, something that gives one when indexed."""
        X = self.X
        if self.is_lazy:
            return X
        usual = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0
        if usual and np.isfinite(X).all():
            return X  # a check would find nothing, and in a loop of small queries it would be felt
        return _as_numbers(X)

    @cached_property
    def tells_something(self) -> bool:
        """Whether at least two labeled rows have different labels."""
        return bool(((self.known == 0).any(axis=0) & (self.known == 1).any(axis=0)).any())

    @property
    def has_gaps(self) -> bool:
        """Whether some labels of labeled rows are not known."""
        return has_unknown(self.known)

    @cached_property
    def labels(self) -> Labels:
        """The labels of the labeled rows; those that are not known are the likeliest, by a forest."""
        if not self.has_gaps:
            return self.known
        known, features = self._without_empty_labels, self.features[self.labeled]
        if not has_unknown(known):
            return known
        told = BinaryRelevance("forest", random_state=0).fit(features, with_gaps(known))
        distinct = complete(known, told.predict_proba(features), np.random.default_rng(0))
        return np.asarray(distinct.vectors[distinct.likeliest])

    def labels_for(self, model: Any) -> Any:
        """Return the labels of the labeled rows to fit a model to: NaN if it takes that, else the likeliest.

        A label of which nothing is known is not there in either case: no model learns from that.
        """
        takes = getattr(model, "_takes_unknown_labels", False) is True
        return with_gaps(self._without_empty_labels) if takes else self.labels

    @property
    def _without_empty_labels(self) -> Labels:
        return np.where((self.known == UNKNOWN).all(axis=0), 0, self.known).astype(np.uint8)

    def known_of(self, which: Indices) -> Labels:
        """Return what is known of the labels of some rows."""
        found = np.full((len(which), len(self.label_names)), UNKNOWN, np.uint8)
        _, places, own = np.intersect1d(which, self.labeled, assume_unique=True, return_indices=True)
        found[places] = self.known[own]
        return found

    def rows(self, which: Indices) -> Any:
        """Return some rows of X in the form that they were given."""
        return self.X.take(which) if self.is_lazy else _safe_indexing(self.X, which)

    def in_memory(self) -> Pool:
        """Return a pool whose labeled rows and candidates are in memory."""
        if not self.is_lazy:
            return self
        which = np.concatenate([self.labeled, self.candidates])
        labeled, candidates = np.split(np.arange(len(which)), [len(self.labeled)])
        return Pool(self.rows(which), self.known, labeled, candidates, self.label_names)

    def by_chunks(self, worth: Callable[[Indices], Floats]) -> Floats:
        """Return the utilities of the candidates, computed in chunks to bound the memory."""
        parts = chunks_of(len(self.candidates), _ROWS_A_CALL)
        return np.concatenate([worth(self.candidates[part]) for part in parts])


class DaskRows:
    """Rows of a Dask array or DataFrame, fetched when they are asked for.

    A block is kept until one of another is asked for: neighbors are likely to follow. Of rows from all over,
    only they are fetched. Blocks of unknown length are computed once to count their rows.
    """

    def __init__(self, X: Any) -> None:
        dask = import_module("dask")
        self.blocks, n_rows = row_blocks(X)
        if np.isnan(n_rows).any():
            count = dask.delayed(_num_samples)
            n_rows = list(dask.compute(*map(count, self.blocks)))
        self.starts = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.intp)
        self.shape = int(self.starts[-1]), len(X.columns) if is_frame(X) else int(X.shape[1])
        self._kept: tuple[int, Any] = -1, None
        self._lock = Lock()  # strategies look at chunks in threads

    def take(self, which: Indices) -> Any:
        """Return some rows in the form that the blocks have: arrays, sparse matrices or DataFrames."""
        dask = import_module("dask")
        rows, back = np.unique(which, return_inverse=True)
        block_of = np.searchsorted(self.starts, rows, side="right") - 1
        places = np.unique(block_of) if len(rows) else np.array([0])
        of_block = {place: rows[block_of == place] - self.starts[place] for place in places}
        if len(places) <= _BLOCKS_KEPT:
            parts = [_safe_indexing(self._block(place), own) for place, own in of_block.items()]
        else:
            some = dask.delayed(_safe_indexing)
            parts = list(dask.compute(*(some(self.blocks[place], own) for place, own in of_block.items())))
        return _safe_indexing(stacked(parts), back)

    def __getitem__(self, which: Indices) -> Matrix:
        """Return some rows as numbers."""
        numbers = _as_numbers(self.take(which))
        # In the order of rows taken from an array in memory: sums over them are then rounded alike.
        return numbers if sp.issparse(numbers) else np.ascontiguousarray(numbers)

    def _block(self, place: int) -> Any:
        with self._lock:
            kept, block = self._kept
            if kept != place:
                self._kept = -1, None  # room for the next one
                block = self.blocks[place].compute()
                self._kept = place, block
            return block


def _as_numbers(X: Any) -> Matrix:
    check_sparse(X, "X")
    return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")


def stacked(parts: list[Any]) -> Any:
    """Return rows of several arrays, sparse matrices or DataFrames as one."""
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    return pd.concat(parts) if is_dataframe(parts[0]) else np.concatenate(parts)


def read_pool(X: Any, Y: Any, candidates: Any = None, *, cells: bool = False) -> Pool:
    """Sort rows into those with labels and those to ask for, as :meth:`QueryStrategy.query` takes them.

    To ask for single `cells`, all rows of which not all is known may be asked for.
    """
    labels = _read_labels(in_memory(Y))
    check_sparse(X, "X")
    if is_lazy(X):
        X = DaskRows(X)
    if _num_samples(X) != len(labels):
        raise ValueError(
            f"X has {_num_samples(X)} rows and Y {len(labels)}: Y needs a row of NaN for each without labels"
        )
    missing = np.isnan(labels)
    unlabeled = np.asarray(missing.all(axis=1))
    wrong = labels[~missing & (labels != 0) & (labels != 1)]
    if len(wrong):
        raise ValueError(f"Y must be 0, 1 or NaN, and has {wrong[0]:g}")
    known = np.where(missing, UNKNOWN, labels)[~unlabeled].astype(np.uint8)
    names = list(Y.columns) if hasattr(Y, "columns") else list(range(labels.shape[1]))
    chosen = _read_candidates(candidates, missing, cells)
    return Pool(X, known, np.flatnonzero(~unlabeled), chosen, names)


def _read_labels(Y: Any) -> Floats:
    if sp.issparse(Y):
        raise ValueError("Y must be dense, with a row of NaN for each row without labels: Y.toarray()")
    try:
        labels = Y.to_numpy(dtype=float, na_value=np.nan) if hasattr(Y, "iloc") else np.asarray(Y, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Y must be 0, 1 or NaN: {error}") from error
    if labels.ndim != 2 or labels.shape[1] == 0:
        raise ValueError(f"Y must have shape (n, n_labels), not {labels.shape}")
    return np.asarray(labels, np.float64)


def _read_candidates(candidates: Any, missing: npt.NDArray[np.bool_], cells: bool) -> Indices:
    unlabeled = np.asarray(missing.any(axis=1))
    if candidates is None:
        chosen = np.flatnonzero(unlabeled if cells else missing.all(axis=1))
        if len(chosen) == 0:
            raise ValueError(f"there is nothing to ask: no {'cell' if cells else 'row'} of Y is NaN")
        return chosen
    given = np.asarray(candidates)
    if given.dtype == bool and given.shape == unlabeled.shape:
        given = np.flatnonzero(given)
    if given.ndim != 1 or len(given) == 0 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError("candidates must be row numbers, at least one, or a boolean for each row")
    if given.min() < 0 or given.max() >= len(unlabeled):
        raise ValueError(f"candidates must be row numbers from 0 to {len(unlabeled) - 1}")
    chosen = np.unique(given).astype(np.intp)
    known = chosen[~unlabeled[chosen]]
    if len(known):
        raise ValueError(f"candidates must be rows with unknown labels: row {known[0]} has none")
    return chosen
