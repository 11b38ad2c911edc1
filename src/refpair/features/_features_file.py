"""Features that another program made, from .npy and .npz files; nothing is unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ._blocks import SPARSE_BELOW, Block, standardise
from ._cells import Matrix

__all__ = ["read_block"]


def read_block(path: Path, n_rows: int) -> Block:
    """Read a matrix of numbers and scale its columns; those that are the same in all rows are left out."""
    readers = {".npy": _read_dense, ".npz": _read_sparse}
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: cannot tell the format by the name; features are .npy or .npz files")
    given = readers[path.suffix.lower()](path)
    _check_shape(path, given, n_rows)
    X = _as_floats(path, given)
    kept = _varied(X)
    if not len(kept):
        raise ValueError(f"{path}: nothing to learn from, each feature is the same in all rows")
    names = [f"{path.stem} {i}" for i in kept]
    if sp.issparse(X):
        return Block(_scaled(X[:, kept]), names, [_sentence(path, "scaled", X.shape[1], len(kept))])
    X = X[:, kept]
    standardise(X)
    return Block(X, names, [_sentence(path, "standardised", given.shape[1], len(kept))])


def _read_dense(path: Path) -> Matrix:
    try:
        # Mapped, not read: a header may lie about how much follows.
        given: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{path}: cannot read it as an array of numbers ({str(error).strip()}); save it with "
            "np.save(path, X.astype(float))"
        ) from error
    if not isinstance(given, np.ndarray):
        given.close()
        raise ValueError(f"{path}: it is an .npz file; save the array alone with np.save(path, X)")
    return given


def _read_sparse(path: Path) -> Matrix:
    try:
        given = sp.load_npz(path)
        if hasattr(given, "check_format"):
            given.check_format(full_check=True)  # compiled code would follow wrong indices anywhere
    except (ValueError, EOFError, KeyError, TypeError, BadZipFile, MemoryError) as error:
        raise ValueError(
            f"{path}: cannot read it as a sparse matrix ({str(error).strip()}); save it with "
            "scipy.sparse.save_npz(path, X), or a dense one with np.save as .npy"
        ) from error
    return given


def _check_shape(path: Path, given: Matrix, n_rows: int) -> None:
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{path}: must hold numbers, not {given.dtype}; save it with X.astype(float)")
    if given.ndim != 2:
        raise ValueError(
            f"{path}: must have shape (rows, features), not {given.shape}; a single feature needs "
            "X.reshape(-1, 1)"
        )
    if given.shape[0] != n_rows:
        raise ValueError(
            f"{path}: has {given.shape[0]:,} rows, and the table {n_rows:,}; save the features of "
            "each row of the table, in its order"
        )


def _as_floats(path: Path, given: Matrix) -> Matrix:
    """Return a copy as float64, dense unless most of it is zero."""
    with np.errstate(over="ignore"):  # a long double may be too large: that is infinite, and told below
        X: Matrix = (
            sp.csr_array(given, dtype=np.float64) if sp.issparse(given) else np.array(given, np.float64)
        )
    if sp.issparse(X):
        X.sum_duplicates()
        if X.nnz >= SPARSE_BELOW * X.shape[0] * X.shape[1]:
            X = X.toarray()
    bad = np.argwhere(~np.isfinite(X.data if sp.issparse(X) else X))
    if len(bad):
        row, column = (at[bad[0][0]] for at in X.nonzero()) if sp.issparse(X) else bad[0]
        raise ValueError(
            f"{path}: row {row + 1} has {X[row, column]:g} as feature {column}; fill it in, for example with "
            "np.nan_to_num(X)"
        )
    return X


def _varied(X: Matrix) -> npt.NDArray[np.intp]:
    low, high = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return np.flatnonzero(high > low)


def _scaled(X: Matrix) -> Matrix:
    """Divide each column by its largest value. To standardise would make it dense and rare values huge."""
    largest = abs(X).max(axis=0).toarray().ravel()
    X.data /= largest[X.indices]
    return X


def _sentence(path: Path, how: str, n_given: int, n_kept: int) -> str:
    told = f"{path.name}: {n_kept:,} feature{'s' if n_kept > 1 else ''}, {how}"
    constant = n_given - n_kept
    return told + (
        f"; {constant:,} more {'are' if constant > 1 else 'is'} the same in all rows" if constant else ""
    )
