"""The rows of a Dask array or DataFrame, fetched when they are asked for."""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from refpair.bits.binning import Matrix
from refpair.classifiers._dask import is_frame, row_blocks

__all__ = ["DaskRows", "as_numbers"]

_KEPT_FROM = 2  # blocks, at most, that rows asked for together may be of for a block to be fetched whole

Indices = npt.NDArray[np.intp]


class DaskRows:
    """Rows of Dask, of which only some are in memory at a time.

    Rows that are near each other are likely to be followed by their neighbours: the block that they are of is
    fetched and kept until one of another block is asked for. Of rows from all over, only they are fetched.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Where it is unknown how many rows its blocks have, they are computed once to count them.

    Examples
    --------
    >>> import dask.array as da
    >>> rows = DaskRows(da.arange(12, chunks=4).reshape(6, 2))
    >>> rows.shape
    (6, 2)
    >>> rows[np.array([5, 0])]
    array([[10.,  11.],
           [ 0.,   1.]])
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
        of_block = [rows[block_of == place] - self.starts[place] for place in places]
        if len(places) <= _KEPT_FROM:
            parts = [
                _safe_indexing(self._block(place), own) for place, own in zip(places, of_block, strict=True)
            ]
        else:
            some = dask.delayed(_safe_indexing)
            asked = [some(self.blocks[place], own) for place, own in zip(places, of_block, strict=True)]
            parts = list(dask.compute(*asked))
        return _safe_indexing(_stacked(parts), back)

    def __getitem__(self, which: Indices) -> Matrix:
        """Return some rows as numbers."""
        numbers = as_numbers(self.take(which))
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


def as_numbers(X: Any) -> Matrix:
    """Return rows as a float ndarray or a CSR matrix."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    return pd.concat(parts) if isinstance(parts[0], pd.DataFrame) else np.concatenate(parts)
