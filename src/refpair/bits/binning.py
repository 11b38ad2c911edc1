"""Bins: each feature cut once into at most 255 ranges of values, for all bits together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels import binning as kernels
from refpair._kernels.dense import DenseBins
from refpair._kernels.rng import draw_rows
from refpair._kernels.sparse import SparseBins
from refpair._saved import Savable, require, starts_in_order
from refpair.bits.weights import check_row_weight, in_whole_copies
from refpair.on_disk import RowsOnDisk

Matrix: TypeAlias = Any  # a float ndarray, a csr_array without duplicates or rows on disk; SciPy has no types
Features: TypeAlias = DenseBins | SparseBins

Longs: TypeAlias = npt.NDArray[np.int64]

Number = TypeVar("Number", np.float64, np.int64)

# Below this share of cells outside their feature's common bin the sparse form is the faster one: 9 times on
# enron (8 %), level at about a third.
SPARSE_BELOW = 0.25
_BLOCK_BYTES = 1 << 20  # binned rows a block when predicting: they stay in the second-level cache
_SORTED_CELLS = 1 << 20  # of a dense matrix that are copied at a time, column by column
_MOST_ROWS = 100_000  # that are looked at for where bins end: more would hardly move them
_ROWS_A_LOOK = 4096  # for missing values
_MOST_EDGES = 254  # a bin is a byte, and 255 stands for a missing value


@dataclass(frozen=True, eq=False)
class Bins(Savable):
    """Where the bins of each feature end."""

    edges: npt.NDArray[np.float64]  # the inner ones, feature by feature; a value equal to one lies below it
    edge_start: npt.NDArray[np.int64]  # (n_features + 1,): where the edges of each feature begin
    has_missing: npt.NDArray[np.bool_]  # missing values of a feature have a bin of their own, the last one

    def _check_saved(self) -> None:
        """Check that each feature has its edges, and no more than a byte can tell apart."""
        start = self.edge_start
        right = self.has_missing.ndim == self.edges.ndim == 1 and start.shape == (self.n_features + 1,)
        require(right, "the bins have a wrong shape")
        ascends = starts_in_order(start, len(self.edges), may_be_empty=True)
        few = ascends and np.diff(start).max(initial=0) <= _MOST_EDGES
        require(few, "the bins have too many or too few edges")
        require(np.isfinite(self.edges).all(), "an edge of a bin is not a number")

    @property
    def n_features(self) -> int:
        """Return the number of features."""
        return len(self.has_missing)

    @property
    def n_bins(self) -> npt.NDArray[np.int32]:
        """Return how many bins each feature has, that of missing values included."""
        return (np.diff(self.edge_start) + 1 + self.has_missing).astype(np.int32)

    @property
    def missing_bins(self) -> npt.NDArray[np.int32]:
        """Return each feature's bin of missing values, or −1."""
        return np.where(self.has_missing, self.n_bins - 1, -1).astype(np.int32)

    def zero_bins(self) -> npt.NDArray[np.uint8]:
        """Return the bin that 0 is in, for each feature."""
        below = np.add.reduceat(
            np.append(self.edges < 0.0, False).astype(np.int64),
            np.minimum(self.edge_start[:-1], len(self.edges)),
        )
        return np.where(np.diff(self.edge_start) > 0, below, 0).astype(np.uint8)

    def blocks(self, X: Matrix) -> Iterator[tuple[slice, npt.NDArray[np.uint8]]]:
        """Yield the rows of X by blocks, binned row by row for prediction."""
        if X.shape[1] != self.n_features:  # kernels do not look
            raise ValueError(f"X has {X.shape[1]} features, but there are bins for {self.n_features}")
        n_rows = max(1, min(1024, _BLOCK_BYTES // max(1, self.n_features)))
        zero_bins = self.zero_bins()
        for first in range(0, X.shape[0], n_rows):
            last = min(first + n_rows, X.shape[0])
            codes = np.empty((last - first, self.n_features), np.uint8)
            if sp.issparse(X):
                indptr = _read_only(X.indptr[first : last + 1], np.int64)
                stored = slice(int(indptr[0]), int(indptr[-1]))
                data, indices = (
                    _read_only(X.data[stored], np.float64),
                    _read_only(X.indices[stored], np.int64),
                )
                codes[:] = zero_bins
                kernels.bin_sparse_rows(data, indices, indptr, self.edges, self.edge_start, codes)
            else:
                rows = _read_only(X[first:last], np.float64)
                kernels.bin_rows(rows, self.edges, self.edge_start, codes)
            yield slice(first, last), codes


def _read_only(array: npt.NDArray[Any], dtype: type[Number]) -> npt.NDArray[Number]:
    """Return values as kernels take them: in whatever form X comes, they are compiled for this one alone."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def find_bins(X: Matrix, max_bins: int, row_weight: npt.NDArray[np.float64] | None = None) -> Bins:
    """Cut each feature into at most `max_bins` bins, from 2 to 255; one for missing values comes on top.

    A feature with no more values than that has a bin for each; else the bins are about equally full, a
    row counted by its weight. A sparse matrix gives the same bins as the dense one. Of more than 100,000
    rows, so many are looked at, always the same ones.
    """
    n_rows, n_features = X.shape
    if row_weight is not None:
        check_row_weight(row_weight, n_rows)
    if n_rows > _MOST_ROWS or isinstance(X, RowsOnDisk):
        some = np.sort(draw_rows(n_rows, min(n_rows, _MOST_ROWS), np.uint64(0)))
        bins = find_bins(X[some], max_bins, None if row_weight is None else row_weight[some])
        # A missing value must have a bin, even if it is the only one.
        return replace(bins, has_missing=_find_missing(X))
    has_missing = np.empty(n_features, bool)
    n_edges = np.empty(n_features, np.int64)
    found = []
    copies = None if row_weight is None else in_whole_copies(row_weight)[0]
    n_copies = n_rows if copies is None else int(copies.sum())
    for features, values, of_values, column_start in _sorted_columns(X, copies):
        # At most one edge for each stored value: the implicit zeros make one value more.
        size = np.minimum(np.diff(column_start), max_bins - 1).sum()
        edges = np.empty(size)
        n_found = kernels.find_all_edges(
            values, of_values, column_start, n_copies, max_bins, edges, n_edges[features],
            has_missing[features],
        )  # fmt: skip
        found.append(edges[:n_found])
    return Bins(np.concatenate(found), np.concatenate([[0], np.cumsum(n_edges)]), has_missing)


def _sorted_columns(
    X: Matrix, copies: Longs | None
) -> Iterator[tuple[slice, npt.NDArray[Any], Longs, Longs]]:
    """Yield blocks of features: their values, each feature's ascending, and where each feature begins.

    Before that, how often each value counts, given how often each row does; nothing if all count once.
    """
    n_rows, n_features = X.shape
    of_values = np.empty(0, np.int64)
    if sp.issparse(X):
        columns = X.astype(np.float64, copy=False).tocsc(copy=True)
        if copies is not None:
            of_values = copies[columns.indices]
        for f in np.flatnonzero(np.diff(columns.indptr) > 1):
            own = slice(columns.indptr[f], columns.indptr[f + 1])
            if copies is None:
                columns.data[own].sort()
            else:
                order = np.argsort(columns.data[own])
                columns.data[own], of_values[own] = columns.data[own][order], of_values[own][order]
        yield slice(0, n_features), columns.data, of_values, columns.indptr.astype(np.int64)
        return
    width = max(1, _SORTED_CELLS // n_rows)
    for first in range(0, n_features, width):
        columns = np.array(X[:, first : first + width].T, np.float64, order="C")  # always a copy
        if copies is None:
            columns.sort(axis=1)  # NaN last
        else:
            order = np.argsort(columns, axis=1)
            columns, of_values = np.take_along_axis(columns, order, axis=1), copies[order].ravel()
        starts = np.arange(len(columns) + 1) * n_rows
        yield slice(first, first + len(columns)), columns.ravel(), of_values, starts


def _find_missing(X: Matrix) -> npt.NDArray[np.bool_]:
    """Return which features have a missing value."""
    n_rows, n_features = X.shape
    missing = np.zeros(n_features, bool)
    if sp.issparse(X):
        missing[X.indices[np.isnan(X.data)]] = True
        return missing
    if isinstance(X, RowsOnDisk):
        return X.has_missing
    for first in range(0, n_rows, _ROWS_A_LOOK):
        missing |= np.isnan(X[first : first + _ROWS_A_LOOK]).any(axis=0)
    return missing


def bin_for_training(X: Matrix, bins: Bins) -> Features:
    """Bin a training matrix, in the form in which trees grow fastest on it."""
    n_rows, n_features = X.shape
    missing_bins, n_bins = bins.missing_bins, bins.n_bins
    if sp.issparse(X) and X.nnz < SPARSE_BELOW * n_rows * n_features:
        columns = X.tocsc()
        column_bins = np.empty(columns.nnz, np.uint8)
        starts = columns.indptr.astype(np.int64)
        values = _read_only(columns.data, np.float64)
        kernels.bin_stored(values, starts, bins.edges, bins.edge_start, missing_bins, column_bins)
        common = bins.zero_bins()
        feature_of = np.repeat(np.arange(n_features), np.diff(columns.indptr))
        stored = column_bins != common[feature_of]
        starts[1:] = np.cumsum(np.bincount(feature_of[stored], minlength=n_features))
        rows = columns.indices[stored].astype(np.int32)
        return _sparse(bins, n_rows, common, starts, rows, column_bins[stored])

    codes = np.empty((n_features, n_rows), np.uint8)
    dense = X.toarray() if sp.issparse(X) else X
    width = max(1, _SORTED_CELLS // max(1, n_rows))
    for first in range(0, n_features, width):
        columns = _read_only(dense[:, first : first + width].T, np.float64)
        kernels.bin_columns(columns, first, bins.edges, bins.edge_start, missing_bins, codes)
    common = np.empty(n_features, np.uint8)
    n_cells = kernels.common_bins(codes, n_bins, common, np.empty(256, np.int64))
    if n_cells >= SPARSE_BELOW * n_rows * n_features:
        return DenseBins(codes, n_bins, missing_bins)
    starts, rows = np.zeros(n_features + 1, np.int64), np.empty(n_cells, np.int32)
    column_bins = np.empty(n_cells, np.uint8)
    kernels.uncommon_cells(codes, common, starts, rows, column_bins)
    return _sparse(bins, n_rows, common, starts, rows, column_bins)


def _sparse(
    bins: Bins,
    n_rows: int,
    common: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int32],
    bin_of: npt.NDArray[np.uint8],
) -> SparseBins:
    """Give the slots their numbers, features with a single one first, and list the cells by row, too."""
    n_bins, missing_bins = bins.n_bins, bins.missing_bins
    single = (n_bins == 2) & (missing_bins < 0)
    in_slot_order = np.concatenate([np.flatnonzero(single), np.flatnonzero(~single)]).astype(np.int32)
    ends = np.cumsum(n_bins[in_slot_order] - 1)
    end_slot = np.empty(bins.n_features, np.int32)
    end_slot[in_slot_order] = ends
    first_slot = (end_slot - (n_bins - 1)).astype(np.int32)
    slot_feature = np.repeat(in_slot_order, n_bins[in_slot_order] - 1)
    slot_bin = np.arange(len(slot_feature)) - first_slot[slot_feature]
    slot_bin += slot_bin >= common[slot_feature]
    by_row = kernels.slots_by_row(starts, rows, bin_of, common, in_slot_order, first_slot, n_rows)
    return SparseBins(
        *by_row, starts, rows, bin_of, first_slot, end_slot, slot_feature, slot_bin.astype(np.uint8),
        common.astype(np.int32), n_bins, int(single.sum()), missing_bins,
    )  # fmt: skip
