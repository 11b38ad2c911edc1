"""Open a file of rows, by its ending."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

from refpair.on_disk.npy import NpyRows
from refpair.on_disk.npz import NpzRows
from refpair.on_disk.parquet import ParquetRows
from refpair.on_disk.rows import RowsOnDisk

__all__ = ["open_rows"]


def open_rows(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> RowsOnDisk:
    """Open a matrix of features that is larger than memory.

    Give it to :meth:`refpair.CSRPEClassifier.fit` in place of X, with ``max_samples=100_000``, say: each bit
    reads its own rows from the disk, and no more than these are ever in memory. The model is the same as that
    of X in memory. ``predict`` reads it block by block.

    Parameters
    ----------
    path : path-like
        ``.npy`` as :func:`numpy.save` writes a matrix; ``.npz`` as :func:`scipy.sparse.save_npz` writes a CSR
        matrix with ``compressed=False``; ``.parquet``, or a folder of such files.
    columns : sequence of str, optional
        The columns of Parquet files to use, in this order; all by default.

    Returns
    -------
    RowsOnDisk

    Raises
    ------
    ValueError
        If the file is none of these, or is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from refpair import CSRPEClassifier
    >>> from refpair.datasets import load_dataset
    >>> from refpair.on_disk import open_rows
    >>> digits = load_dataset("digits")
    >>> how = {"n_bits": 20, "max_samples": 300, "random_state": 0}
    >>> with TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/X.npy", digits.X)
    ...     X = open_rows(f"{folder}/X.npy")
    ...     print(f"{X.shape[0]} rows, {X.shape[1]} features")
    ...     model = CSRPEClassifier(**how).fit(X, digits.Y)
    3000 rows, 64 features
    >>> in_memory = CSRPEClassifier(**how).fit(digits.X, digits.Y)
    >>> (model.predict(digits.X) == in_memory.predict(digits.X)).all()
    np.True_
    """
    path = Path(path)
    if path.suffix == ".parquet" or path.is_dir():
        return ParquetRows(path, None if columns is None else list(columns))
    if columns is not None:
        raise ValueError(f"{path}: columns are named in Parquet files only")
    if path.suffix == ".npy":
        return NpyRows(path)
    if path.suffix == ".npz":
        try:
            return NpzRows(path)
        except (zipfile.BadZipFile, KeyError) as error:
            raise ValueError(f"{path}: this is no sparse matrix that scipy.sparse.save_npz wrote") from error
    raise ValueError(f"{path}: rows on disk are in .npy, .npz or .parquet files, or in a folder of the last")
