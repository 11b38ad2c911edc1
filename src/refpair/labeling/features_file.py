"""Features that another program made, from .npy and .npz files; nothing is unpickled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair.bits.binning import Matrix

__all__ = ["read_features"]


def read_features(source: Any, n_rows: int) -> Matrix:
    """Return features that take the place of a table's cells, such as embeddings of texts or images.

    Parameters
    ----------
    source : array, sparse matrix, or path
        A file ending in .npy with a matrix of numbers, or in .npz with a sparse one of
        ``scipy.sparse.save_npz``.
    n_rows : int
        The number of rows of the table; there must be as many, in the same order.
    """
    name = "features"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        name = str(source)
        readers = {".npy": _read_dense, ".npz": _read_sparse}
        if path.suffix.lower() not in readers:
            raise ValueError(f"{path}: cannot tell the format by the name; features are .npy or .npz files")
        source = readers[path.suffix.lower()](path)
        if source.dtype.kind not in "biuf":
            raise ValueError(f"{path}: must hold numbers, not {source.dtype}; save it with X.astype(float)")
    X = check_array(source, accept_sparse="csr", dtype=np.float64, input_name=name)
    if X.shape[0] != n_rows:
        raise ValueError(
            f"{name}: has {X.shape[0]:,} rows, and the table {n_rows:,}; save the features of each row of "
            "the table, in its order"
        )
    return X


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
