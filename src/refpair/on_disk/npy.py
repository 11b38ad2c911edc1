"""Dense rows in a file of :func:`numpy.save`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from refpair.on_disk.rows import Rows, RowsOnDisk
from refpair.on_disk.stored_array import StoredArray

__all__ = ["NpyRows"]


class NpyRows(RowsOnDisk):
    """Dense rows in a file of :func:`numpy.save`.

    The file is read, not mapped: it takes no address space, however large it is.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "X.npy")
    ...     np.save(path, np.arange(12.0).reshape(4, 3))
    ...     NpyRows(path)[np.array([3, 0])]
    array([[ 9., 10., 11.],
           [ 0.,  1.,  2.]])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._array = StoredArray.read_header(file, str(path))
        if len(self._array.shape) != 2 or self._array.dtype.kind not in "biuf":
            raise ValueError(f"{path}: rows on disk must be a matrix of numbers, one row a sample")
        self.shape = self._array.shape[0], self._array.shape[1]

    def _read(self, rows: Rows) -> npt.NDArray[np.floating]:
        with self.path.open("rb", buffering=0) as file:
            found = self._array.take(file, rows)
        wide = found.dtype not in (np.dtype(np.float32), np.dtype(np.float64))
        return found.astype(np.float64) if wide else found
