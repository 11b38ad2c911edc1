"""Rows on disk, more than fit into memory: files of numpy, SciPy and Parquet."""

from __future__ import annotations

import os
import struct
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._extras import from_extra
from refpair._files import written_whole
from refpair._sparse import check_sparse

__all__ = ["RowsOnDisk", "open_rows"]

Rows: TypeAlias = npt.NDArray[np.integer[Any]]
Block: TypeAlias = Any  # a float ndarray or a csr_array; SciPy carries no types

_CELLS_A_BLOCK = 1 << 22  # that are looked at at a time
_GAP = 1 << 14  # bytes between two rows that are read along: to skip so few takes longer
_MOST = 1 << 24  # bytes that are read at a time
_PARTS = ("data", "indices", "indptr")
_LOCAL_HEADER = 30  # bytes of a part of a zip file, then the name and what else there is


class RowsOnDisk(ABC):
    """A feature matrix in a file, of which only the requested rows are read.

    ``X[rows]`` reads rows, given by a slice or by their numbers, into memory. Other processes are sent the
    path, and open the file themselves.

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
        """Which features have missing values; reads all rows once. Infinite values are an error."""
        missing = np.zeros(self.shape[1], bool)
        for first, block in self._blocks():
            stored = block.data if sp.issparse(block) else block
            if np.isinf(stored).any():
                raise ValueError(
                    f"{self.path}: a value in rows {first} to {first + block.shape[0]} is infinite"
                )
            nan = np.isnan(stored)
            missing[block.indices[nan] if sp.issparse(block) else nan.any(axis=0)] = True
        return missing

    def save(self, path: str | os.PathLike[str], dtype: npt.DTypeLike = np.float32) -> None:
        """Write the rows to a ``.npy`` file, block by block, completely or not at all.

        Parameters
        ----------
        path : path-like
        dtype : dtype, default=float32
        """
        about = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": self.shape}
        with written_whole(Path(path)) as file:
            np.lib.format.write_array_header_1_0(file, about)
            for _, block in self._blocks():
                dense = block.toarray() if sp.issparse(block) else block
                file.write(np.ascontiguousarray(dense, dtype).data)

    def _blocks(self) -> Iterator[tuple[int, Block]]:
        step = max(1, _CELLS_A_BLOCK // self.shape[1])
        for first in range(0, self.shape[0], step):
            yield first, self[first : first + step]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}: {self.shape[0]} rows, {self.shape[1]} features)"


def open_rows(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> RowsOnDisk:
    """Open a feature matrix that is larger than memory.

    Pass it to :meth:`refpair.CSRPEClassifier.fit` as X, for example with ``max_samples=100_000``: each bit
    reads only its own rows into memory. The model is the same as for X in memory with
    ``sources=("code", "labels")``; other sources need all rows. ``predict`` reads it block by block.

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
    >>> in_memory = CSRPEClassifier(**how, sources=("code", "labels")).fit(digits.X, digits.Y)
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


class NpyRows(RowsOnDisk):
    """Dense rows in a file of :func:`numpy.save`, which is read, not mapped: it takes no address space."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self._array = StoredArray.read_header(file, str(path))
        if len(self._array.shape) != 2 or self._array.dtype.kind not in "biuf":
            raise ValueError(f"{path}: rows on disk must be a matrix of numbers, one row a sample")
        self.shape = self._array.shape[0], self._array.shape[1]

    def _read(self, rows: Rows) -> npt.NDArray[np.floating]:
        with self.path.open("rb", buffering=0) as file:
            return _as_floats(self._array.take(file, rows))


class NpzRows(RowsOnDisk):
    """Sparse rows of ``scipy.sparse.save_npz(path, X, compressed=False)``; memory keeps where each begins."""

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
        matrix = sp.csr_array((_as_floats(data), indices, start), shape=(len(rows), self.shape[1]))
        check_sparse(matrix, str(self.path))
        matrix.sum_duplicates()
        return matrix


class ParquetRows(RowsOnDisk):
    """Rows in a Parquet file, or in all those of a folder, by the order of their names; columns are numbers.

    A row group is read as a whole if one of its rows is asked for. Single rows of a ``.npy`` file are read
    much faster: :meth:`RowsOnDisk.save` writes one.
    """

    def __init__(self, path: Path, columns: list[str] | None = None) -> None:
        pq = from_extra("pyarrow.parquet", "parquet", "Parquet files need pyarrow")
        self.path = path
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"{path}: the folder holds no .parquet files")
        self._groups: list[tuple[Path, int]] = []
        ends = [0]
        for one in files:
            about = pq.ParquetFile(one)
            names = about.schema_arrow.names
            self.feature_names = self.feature_names or columns or names
            unknown = [name for name in self.feature_names if name not in names]
            if unknown or (columns is None and names != self.feature_names):
                raise ValueError(f"{one}: its columns are {names}, and not {self.feature_names}")
            for group in range(about.metadata.num_row_groups):
                self._groups.append((one, group))
                ends.append(ends[-1] + about.metadata.row_group(group).num_rows)
        self._ends = np.array(ends)
        self.shape = ends[-1], len(self.feature_names or [])

    def _read(self, rows: Rows) -> npt.NDArray[np.float64]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        out = np.empty((len(rows), self.shape[1]))
        bounds = np.searchsorted(rows, self._ends)
        opened: tuple[Path, Any] | None = None
        for number in np.flatnonzero(np.diff(bounds)):
            path, group = self._groups[number]
            if opened is None or opened[0] != path:
                opened = path, pq.ParquetFile(path)
            table = opened[1].read_row_group(group, columns=self.feature_names)
            mine = slice(bounds[number], bounds[number + 1])
            try:
                numbers = table.to_pandas().to_numpy(dtype=np.float64, na_value=np.nan)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self.path}: a column does not hold numbers ({error})") from error
            out[mine] = numbers[rows[mine] - self._ends[number]]
        return out


def _as_floats(values: npt.NDArray[Any]) -> npt.NDArray[np.floating]:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


@dataclass(frozen=True)
class StoredArray:
    """Where in a file the cells of an array in numpy's format begin."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def read_header(cls, file: IO[bytes], name: str) -> StoredArray:
        """Read what numpy.save wrote before the cells; the file stands where they begin then."""
        try:
            version = np.lib.format.read_magic(file)
            of_version = {(1, 0): np.lib.format.read_array_header_1_0}
            shape, by_column, dtype = of_version.get(version, np.lib.format.read_array_header_2_0)(file)
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
