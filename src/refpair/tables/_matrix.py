"""Matrices of numbers, dense or sparse, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

__all__ = ["Matrix", "SparseOption", "check_sparse_option", "frame_of_matrix", "store"]

Matrix: TypeAlias = Any
"""A float64 ``ndarray`` or a ``scipy.sparse.csr_array`` (scipy has no types to say so)."""

SparseOption: TypeAlias = Literal["auto"] | bool

SPARSE_BELOW = 0.1
"""``sparse="auto"`` stores features sparsely when a smaller share than this is not zero."""


def store(matrix: Matrix, sparse: SparseOption) -> Matrix:
    """Return the matrix dense or sparse, as the option says; "auto" keeps a sparse one sparse."""
    if isinstance(matrix, csr_array):
        return matrix.toarray() if sparse is False else matrix
    if sparse == "auto":
        sparse = np.count_nonzero(matrix) < SPARSE_BELOW * matrix.size
    return csr_array(matrix) if sparse else matrix


def check_sparse_option(sparse: SparseOption) -> None:
    """Refuse anything but "auto", True and False before any work is done."""
    if not (sparse == "auto" or isinstance(sparse, bool)):
        raise ValueError(f'sparse must be "auto", True or False, not {sparse!r}')


def frame_of_matrix(matrix: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """Make a table of a matrix, with sparse columns if it is sparse."""
    columns = pd.Index(list(names), dtype=object)
    if isinstance(matrix, csr_array):
        frame: pd.DataFrame = pd.DataFrame.sparse.from_spmatrix(  # type: ignore[attr-defined]
            matrix, columns=columns
        )
        return frame
    return pd.DataFrame(matrix, columns=columns)
