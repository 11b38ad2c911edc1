"""An array in numpy's format somewhere in a file, of which some rows are read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from refpair.on_disk.rows import Rows

__all__ = ["StoredArray"]

_GAP = 1 << 14  # bytes between two rows that are read along: to skip so few takes longer
_MOST = 1 << 24  # bytes that are read at a time


@dataclass(frozen=True)
class StoredArray:
    """Where an array is.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    offset : int
        Where its cells begin in the file.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def read_header(cls, file: IO[bytes], name: str) -> StoredArray:
        """Read what numpy.save wrote before the cells; the file stands where they begin then."""
        try:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
            else:
                shape, by_column, dtype = np.lib.format.read_array_header_2_0(file)
        except ValueError as error:
            raise ValueError(f"{name}: this is no array that numpy.save wrote ({error})") from error
        if by_column and len(shape) > 1:
            raise ValueError(
                f"{name}: the array is stored column by column, and rows would be scattered: save it again "
                "by numpy.save(path, numpy.ascontiguousarray(X))"
            )
        if dtype.hasobject:
            raise ValueError(f"{name}: the array holds Python objects, not numbers")
        return cls(shape, dtype, file.tell())

    def take(self, file: IO[bytes], rows: Rows) -> npt.NDArray[Any]:
        """Read rows, given by ascending numbers, none twice; those near each other at once."""
        width = int(np.prod(self.shape[1:], dtype=np.int64)) * self.dtype.itemsize
        out = np.empty((len(rows), *self.shape[1:]), self.dtype)
        if len(rows) == 0 or width == 0:
            return out
        far = (np.diff(rows) - 1) * width > _GAP
        starts = np.concatenate([[0], np.flatnonzero(far) + 1, [len(rows)]])
        for first, last in pairwise(starts.tolist()):
            while first < last:  # no more than a part of a long run
                end = int(np.searchsorted(rows[first:last], rows[first] + max(1, _MOST // width))) + first
                low, high = int(rows[first]), int(rows[end - 1]) + 1
                part = self._read_between(file, low, high, width)
                out[first:end] = part if end - first == high - low else part[rows[first:end] - low]
                first = end
        return out

    def _read_between(self, file: IO[bytes], low: int, high: int, width: int) -> npt.NDArray[Any]:
        file.seek(self.offset + low * width)
        content = bytearray((high - low) * width)
        left = memoryview(content)
        while left:
            n_read = file.readinto(left)  # type: ignore[attr-defined]
            if not n_read:
                raise ValueError(f"{file.name}: the file ends before its last row: it is cut off")
            left = left[n_read:]
        return np.frombuffer(content, self.dtype).reshape(high - low, *self.shape[1:])
