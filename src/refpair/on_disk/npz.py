"""Sparse rows in a file of :func:`scipy.sparse.save_npz`."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from refpair.on_disk.rows import Block, Rows, RowsOnDisk
from refpair.on_disk.stored_array import StoredArray

__all__ = ["NpzRows"]

_PARTS = ("data", "indices", "indptr")
_LOCAL_HEADER = 30  # bytes, then the name and what else there is


class NpzRows(RowsOnDisk):
    """Sparse rows in a file of ``scipy.sparse.save_npz(path, X, compressed=False)``, X being CSR.

    Where each row begins is kept in memory: 8 bytes a row.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "X.npz")
    ...     sp.save_npz(path, sp.eye_array(4, format="csr"), compressed=False)
    ...     NpzRows(path)[np.array([3, 0])].toarray()
    array([[0., 0., 0., 1.],
           [1., 0., 0., 0.]])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            with archive.open("format.npy") as kind:
                if np.lib.format.read_array(kind, allow_pickle=False).item() != b"csr":
                    raise ValueError(f"{path}: rows on disk must be CSR: save X.tocsr()")
            with archive.open("shape.npy") as shape:
                n_rows, n_features = np.lib.format.read_array(shape, allow_pickle=False).tolist()
            parts = {name: self._find(file, archive.getinfo(f"{name}.npy")) for name in _PARTS}
            file.seek(parts["indptr"].offset)
            start = np.fromfile(file, parts["indptr"].dtype, n_rows + 1).astype(np.int64)
        self.shape = int(n_rows), int(n_features)
        self._data, self._indices, self._start = parts["data"], parts["indices"], start
        n_stored = self._data.shape[0]
        ascends = start[0] == 0 and start[-1] == n_stored and (start[1:] >= start[:-1]).all()
        if len(start) != n_rows + 1 or not ascends or self._indices.shape != (n_stored,):
            raise ValueError(f"{path}: the parts of the sparse matrix do not fit together")

    def _find(self, file: IO[bytes], info: zipfile.ZipInfo) -> StoredArray:
        """Return where a part of the archive is in the file."""
        if info.compress_type != zipfile.ZIP_STORED:
            raise ValueError(
                f"{self.path}: single rows of a compressed file cannot be read: save it again by "
                "scipy.sparse.save_npz(path, X, compressed=False)"
            )
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        n_name, n_extra = struct.unpack("<HH", header[26:30])
        file.seek(info.header_offset + _LOCAL_HEADER + n_name + n_extra)
        return StoredArray.read_header(file, f"{self.path}: {info.filename}")

    def _read(self, rows: Rows) -> Block:
        sizes = self._start[rows + 1] - self._start[rows]
        start = np.concatenate([[0], np.cumsum(sizes)])
        cells = np.arange(start[-1]) + np.repeat(self._start[rows] - start[:-1], sizes)
        with self.path.open("rb", buffering=0) as file:
            data = self._data.take(file, cells)
            indices = self._indices.take(file, cells)
        if len(indices) and (indices.min() < 0 or indices.max() >= self.shape[1]):
            raise ValueError(f"{self.path}: a cell is in a column that the matrix does not have")
        floats: Any = data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)
        matrix = sp.csr_array((floats, indices, start), shape=(len(rows), self.shape[1]))
        matrix.sum_duplicates()
        return matrix
