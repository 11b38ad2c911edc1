"""Dask arrays and DataFrames: whether something is one, and its rows by blocks."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["in_memory", "is_frame", "is_lazy", "row_blocks"]


def is_lazy(X: object) -> bool:
    """Whether X is a Dask collection. Dask is not imported for that: without it, there can be none."""
    dask = sys.modules.get("dask.base")
    return dask is not None and bool(dask.is_dask_collection(X))


def in_memory(X: Any) -> Any:
    """Return X as it is, or what a Dask collection amounts to."""
    return X.compute() if is_lazy(X) else X


def is_frame(X: Any) -> bool:
    """Whether a Dask collection is a DataFrame."""
    return hasattr(X, "map_partitions") and getattr(X, "ndim", 0) == 2


def row_blocks(X: Any, name: str = "X") -> tuple[list[Any], list[float]]:
    """Return a Dask collection as blocks of whole rows, each to be computed by itself.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        An array that is cut by columns, too, is put together first.
    name : str
        The argument to name in the ValueError.

    Returns
    -------
    blocks : list of dask.delayed.Delayed
    n_rows : list of float
        How many rows each has; NaN where nobody knows yet.
    """
    if is_frame(X):
        blocks = X.to_delayed()
        return blocks, [np.nan] * len(blocks)
    if not hasattr(X, "rechunk") or X.ndim != 2:
        raise ValueError(f"{name} must be a Dask array of shape (n, n_columns) or a Dask DataFrame")
    whole = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return whole.to_delayed().ravel().tolist(), list(whole.chunks[0])
