"""Arrays as values that a file can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.persistence._checks import starts_in_order
from refpair.persistence._codec import Reader, Writer, require
from refpair.persistence._fields import Whole

__all__ = ["Array", "Matrix", "Numbers", "Vectors"]


@dataclass(frozen=True)
class Array:
    """An array of numbers of one type, which the file may hold in a smaller one."""

    dtype: str
    ndim: int = 1

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return writer.add_array(np.asarray(value, self.dtype), place)

    def read(self, stored: Any, reader: Reader, place: str) -> npt.NDArray[Any]:
        array = reader.take_array(stored, place)
        dtype = np.dtype(self.dtype)
        smaller = array.dtype.kind in "iu" and dtype.kind in "iu" and np.can_cast(array.dtype, dtype)
        require(smaller or array.dtype == dtype, f"{place} holds {array.dtype}")
        require(array.ndim == self.ndim, f"{place} has a wrong shape")
        # In the machine's byte order and to be written to: for others, numba compiles all kernels anew.
        return np.require(array, dtype.newbyteorder("="), ["C", "W"])


class Vectors:
    """Label vectors: a matrix of 0 and 1, stored as bits."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return {"bits": writer.add_array(np.packbits(value, axis=1), place), "n": int(value.shape[1])}

    def read(self, stored: Any, reader: Reader, place: str) -> npt.NDArray[np.uint8]:
        require(isinstance(stored, dict) and stored.keys() == {"bits", "n"}, f"{place} has no bits")
        packed, n = reader.take_array(stored["bits"], place), stored["n"]
        require(type(n) is int and n > 0, f"{place} does not tell its number of labels")
        is_packed = packed.dtype == np.uint8 and packed.ndim == 2 and packed.shape[1] == -(-n // 8)
        require(is_packed, f"{place}: a label matrix has a wrong shape")
        return np.unpackbits(packed, axis=1, count=n)


class Matrix:
    """A matrix of finite floats, dense or CSR."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if not sp.issparse(value):
            return {"dense": writer.add_array(_floats(value), place)}
        matrix = sp.csr_array(value)
        parts = {"data": _floats(matrix.data), "indices": matrix.indices, "indptr": matrix.indptr}
        names = {name: writer.add_array(array, f"{place}.{name}") for name, array in parts.items()}
        return {**names, "n_columns": int(matrix.shape[1])}

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, dict), f"{place} is not a matrix")
        if stored.keys() == {"dense"}:
            dense = reader.take_array(stored["dense"], place)
            require(
                dense.dtype.str in ("<f8", "<f4") and dense.ndim == 2, f"{place} is not a matrix of floats"
            )
            require(np.isfinite(dense).all(), f"{place} holds what is not a number")
            return np.require(dense, dense.dtype.newbyteorder("="), ["C", "W"])
        require(stored.keys() == {"data", "indices", "indptr", "n_columns"}, f"{place} is not a matrix")
        n_columns = Whole(1).read(stored["n_columns"], reader, f"{place}.n_columns")
        data = reader.take_array(stored["data"], place)
        require(data.dtype.str in ("<f8", "<f4") and data.ndim == 1, f"{place} is not a matrix of floats")
        require(np.isfinite(data).all(), f"{place} holds what is not a number")
        indices = Array("<i8").read(stored["indices"], reader, f"{place}.indices")
        start = Array("<i8").read(stored["indptr"], reader, f"{place}.indptr")
        ascends = starts_in_order(start, len(indices), may_be_empty=True)
        require(ascends and len(data) == len(indices), f"{place} has rows that do not follow one another")
        fits = indices.min(initial=0) >= 0 and indices.max(initial=0) < n_columns
        require(fits, f"{place} has a cell outside")
        index = np.int32 if max(len(indices), n_columns) < 2**31 else np.int64
        parts = (data.astype(data.dtype.newbyteorder("=")), indices.astype(index), start.astype(index))
        matrix = sp.csr_array(parts, shape=(len(start) - 1, n_columns))
        matrix.sum_duplicates()
        return matrix


def _floats(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


class Numbers:
    """Whole numbers that a person has given, as a list or a list of lists."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return np.asarray(value).tolist()

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, list), f"{place} is not a list of numbers")
        rows = [row if isinstance(row, list) else [row] for row in stored]
        require(
            all(type(number) is int for row in rows for number in row), f"{place} is not a list of numbers"
        )
        return stored
