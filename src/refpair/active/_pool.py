"""What a strategy is given: rows, of which some have labels, and those that may be asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from refpair._parallel import in_memory, is_lazy
from refpair.active._dask_rows import DaskRows, as_numbers
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of

__all__ = ["Pool", "read_pool"]

Indices = npt.NDArray[np.intp]
Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]

_ROWS_A_CALL = 4096


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows with labels, and rows that may be asked for.

    Attributes
    ----------
    X : array, sparse matrix, DataFrame or DaskRows of shape (n, n_features)
        All rows, as they were given; those of Dask are fetched when they are asked for.
    labels : ndarray of uint8, shape (n_labelled, n_labels)
    labelled : ndarray of int, shape (n_labelled,)
        Which rows of X have these labels.
    candidates : ndarray of int, shape (n_candidates,)
        Which rows of X may be asked for.
    """

    X: Any
    labels: Bytes
    labelled: Indices
    candidates: Indices

    @property
    def is_lazy(self) -> bool:
        """Whether rows are fetched when they are asked for, and may be more than memory holds."""
        return isinstance(self.X, DaskRows)

    @cached_property
    def features(self) -> Matrix:
        """X as numbers: a float ndarray or a CSR matrix, or something of which some rows are such."""
        X = self.X
        if self.is_lazy:
            return X
        usual = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0
        if usual and np.isfinite(X).all():
            return X  # a check would find nothing, and in a loop of small queries it would be felt
        return as_numbers(X)

    @cached_property
    def tells_something(self) -> bool:
        """Whether there are two different label vectors to tell apart."""
        return len(self.labels) > 1 and bool((self.labels != self.labels[0]).any())

    @property
    def n_rows(self) -> int:
        """The number of rows, with labels and without."""
        return int(_num_samples(self.X))

    def rows(self, which: Indices) -> Any:
        """Return some rows of X in the form that they were given."""
        return self.X.take(which) if self.is_lazy else _safe_indexing(self.X, which)

    def narrowed(self, candidates: Indices) -> Pool:
        """Return the same with fewer rows that may be asked for."""
        return replace(self, candidates=candidates)

    def in_memory(self) -> Pool:
        """Return the same with all rows that count in memory."""
        if not self.is_lazy:
            return self
        rows = self.rows(np.concatenate([self.labelled, self.candidates]))
        n_labelled = len(self.labelled)
        return Pool(rows, self.labels, np.arange(n_labelled), n_labelled + np.arange(len(self.candidates)))

    def by_chunks(self, worth: Callable[[Indices], Floats]) -> Floats:
        """Return what the candidates are worth, asked for some at a time: that bounds the memory."""
        parts = chunks_of(len(self.candidates), _ROWS_A_CALL)
        return np.concatenate([worth(self.candidates[part]) for part in parts])


def read_pool(X: Any, Y: Any, candidates: Any = None) -> Pool:
    """Sort rows into those with labels and those to ask for.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, n_features), also of Dask
    Y : array or DataFrame of shape (n, n_labels)
        The labels, 0 or 1; a row of NaN has none yet. A row of zeros has been answered: none of the labels.
    candidates : array of int, or of bool, optional
        Which rows may be asked for; by default all without labels.

    Examples
    --------
    >>> pool = read_pool(np.eye(3), [[1, 0], [np.nan, np.nan], [0, 0]])
    >>> pool.labelled, pool.candidates
    (array([0, 2]), array([1]))
    """
    labels = _read_labels(in_memory(Y))
    if is_lazy(X):
        X = DaskRows(X)
    if _num_samples(X) != len(labels):
        raise ValueError(
            f"X has {_num_samples(X)} rows and Y {len(labels)}: Y needs a row of NaN for each without labels"
        )
    missing = np.isnan(labels)
    unlabelled = np.asarray(missing.all(axis=1))
    partly = np.flatnonzero(missing.any(axis=1) & ~unlabelled)
    if len(partly):
        raise ValueError(
            f"row {partly[0]} of Y has NaN beside labels: give all labels of a row, or NaN for all of them"
        )
    known = labels[~unlabelled]
    if not ((known == 0) | (known == 1)).all():
        wrong = known[(known != 0) & (known != 1)][0]
        raise ValueError(f"Y must be 0, 1 or NaN, and has {wrong:g}")
    return Pool(
        X, known.astype(np.uint8), np.flatnonzero(~unlabelled), _read_candidates(candidates, unlabelled)
    )


def _read_labels(Y: Any) -> npt.NDArray[np.float64]:
    if sp.issparse(Y):
        raise ValueError("Y must be dense, with a row of NaN for each row without labels: Y.toarray()")
    try:
        labels = Y.to_numpy(dtype=float, na_value=np.nan) if hasattr(Y, "iloc") else np.asarray(Y, float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Y must be 0, 1 or NaN: {error}") from error
    if labels.ndim != 2 or labels.shape[1] == 0:
        raise ValueError(f"Y must have shape (n, n_labels), not {labels.shape}")
    return np.asarray(labels, np.float64)


def _read_candidates(candidates: Any, unlabelled: npt.NDArray[np.bool_]) -> Indices:
    if candidates is None:
        chosen = np.flatnonzero(unlabelled)
        if len(chosen) == 0:
            raise ValueError("there is nothing to ask: no row of Y is NaN")
        return chosen
    given = np.asarray(candidates)
    if given.dtype == bool and given.shape == unlabelled.shape:
        given = np.flatnonzero(given)
    if given.ndim != 1 or len(given) == 0 or not np.issubdtype(given.dtype, np.integer):
        raise ValueError("candidates must be row numbers, at least one, or a boolean for each row")
    if given.min() < 0 or given.max() >= len(unlabelled):
        raise ValueError(f"candidates must be row numbers from 0 to {len(unlabelled) - 1}")
    chosen = np.unique(given).astype(np.intp)
    known = chosen[~unlabelled[chosen]]
    if len(known):
        raise ValueError(f"candidates must be rows without labels, and row {known[0]} has some")
    return chosen
