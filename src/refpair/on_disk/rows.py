"""What all rows on the disk have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._files import written_whole

Rows: TypeAlias = npt.NDArray[np.integer[Any]]
Block: TypeAlias = Any  # a float ndarray or a csr_array; SciPy carries no types

_CELLS_A_BLOCK = 1 << 22  # that are looked at at a time


class RowsOnDisk(ABC):
    """A matrix of features in a file, of which only the rows asked for are read.

    ``X[rows]`` reads some rows, given by a slice or by their numbers, into memory. Another process is given
    the path, and opens the file by itself.

    Attributes
    ----------
    path : Path
    shape : (n_rows, n_features)
    feature_names : list of str, or None
    """

    path: Path
    shape: tuple[int, int]
    feature_names: list[str] | None = None

    @abstractmethod
    def _read(self, rows: Rows) -> Block:
        """Read rows, given by ascending numbers, none twice."""

    def __getitem__(self, rows: slice | Rows) -> Block:
        n_rows = self.shape[0]
        if isinstance(rows, slice):
            return self._read(np.arange(*rows.indices(n_rows)))
        wanted = np.asarray(rows)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise TypeError(f"{self.path}: rows on disk are asked for by a slice or by their numbers")
        if len(wanted) and (wanted.min() < 0 or wanted.max() >= n_rows):
            raise IndexError(f"{self.path}: rows are numbered from 0 to {n_rows - 1}")
        distinct, place = np.unique(wanted, return_inverse=True)  # a disk is read in one direction
        found = self._read(distinct)
        return found if np.array_equal(place, np.arange(len(distinct))) else found[place]

    def __len__(self) -> int:
        return self.shape[0]

    @cached_property
    def has_missing(self) -> npt.NDArray[np.bool_]:
        """Which features have a missing value; found by looking at all rows, once. None may be infinite."""
        n_rows, n_features = self.shape
        missing = np.zeros(n_features, bool)
        step = self._n_a_block
        for first in range(0, n_rows, step):
            block = self[first : first + step]
            stored = block.data if sp.issparse(block) else block
            nan = np.isnan(stored)
            if np.isinf(stored).any():
                raise ValueError(f"{self.path}: a value in rows {first} to {first + step} is infinite")
            if sp.issparse(block):
                missing[block.indices[nan]] = True
            else:
                missing |= nan.any(axis=0)
        return missing

    def save(self, path: str | os.PathLike[str], dtype: npt.DTypeLike = np.float32) -> None:
        """Write the rows to a ``.npy`` file, block by block, the whole of it or nothing.

        Parameters
        ----------
        path : path-like
        dtype : dtype, default=float32
        """
        about = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": self.shape}
        with written_whole(Path(path)) as file:
            np.lib.format.write_array_header_1_0(file, about)
            for first in range(0, self.shape[0], self._n_a_block):
                block = self[first : first + self._n_a_block]
                dense = block.toarray() if sp.issparse(block) else block
                file.write(np.ascontiguousarray(dense, dtype).data)

    @property
    def _n_a_block(self) -> int:
        return max(1, _CELLS_A_BLOCK // self.shape[1])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}: {self.shape[0]} rows, {self.shape[1]} features)"
