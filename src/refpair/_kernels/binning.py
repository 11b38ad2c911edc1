"""Cut features into at most 255 bins, and find the bin of a value."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair._kernels.jit import Bools, Bytes, Floats, Ints, Longs, helper, kernel

# How a missing value is written when rows are binned for prediction; no finite value has this bin.
MISSING = 255


@helper
def find_edges(
    values: Floats,
    copies: Longs,
    n_zeros: int,
    max_bins: int,
    edges: Floats,
    distinct: Floats,
    counts: Longs,
) -> int:
    """Find the edges between the bins of one feature, of values that ascend and zeros; return their number.

    Bin b holds the values up to ``edges[b]``, the last one the rest. `copies` tells how often each value
    counts, and is empty if all count once. There is memory for the distinct values and how many there are of
    each.
    """
    n_stored, n_copies = values.shape[0], copies.shape[0]
    n = (n_stored if n_copies == 0 else copies.sum()) + n_zeros
    n_distinct, zeros_left = 0, n_zeros > 0
    for i in range(n_stored + 1):
        # The implicit zeros come before the first stored value that is not negative.
        if zeros_left and (i == n_stored or values[i] >= 0.0):
            distinct[n_distinct], counts[n_distinct] = 0.0, n_zeros
            n_distinct += 1
            zeros_left = False
        if i < n_stored:
            value, times = np.float64(values[i]), copies[i] if n_copies > 0 else 1
            if n_distinct > 0 and distinct[n_distinct - 1] == value:
                counts[n_distinct - 1] += times
            else:
                distinct[n_distinct], counts[n_distinct] = value, times
                n_distinct += 1
    n_edges, seen, target = 0, 0, 1
    for i in range(n_distinct - 1):
        seen += counts[i]
        if n_distinct <= max_bins or seen * max_bins >= target * n:
            low, high = distinct[i], distinct[i + 1]
            edge = low + (high - low) / 2
            edges[n_edges] = edge if edge < high else low
            n_edges += 1
            if n_edges == max_bins - 1 and n_distinct > max_bins:
                break
            target = seen * max_bins // n + 1
    return n_edges


def find_all_edges(
    values: Floats,
    copies: Longs,
    start: Longs,
    n_rows: int,
    max_bins: int,
    edges: Floats,
    n_edges: Longs,
    missing: Bools,
) -> int:
    """Find the edges of several features, one after the other; return how many there are in all.

    Their values follow one another too, ascending with NaN last; `copies` tells how often each counts, and is
    empty if all count once. `n_rows` counts copies, too. Also written are how many edges each feature
    has, and whether a value of it is missing.
    """
    most = np.diff(start).max(initial=0) + 1
    scratch = np.empty(most), np.empty(most, np.int64)
    return write_edges(values, copies, start, n_rows, max_bins, edges, n_edges, missing, *scratch)


@kernel
def write_edges(
    values: Floats,
    copies: Longs,
    start: Longs,
    n_rows: int,
    max_bins: int,
    edges: Floats,
    n_edges: Longs,
    missing: Bools,
    distinct: Floats,
    counts: Longs,
) -> int:
    """Do what `find_all_edges` says, in memory for a feature's distinct values."""
    n_found = 0
    for f in range(n_edges.shape[0]):
        first, last = start[f], start[f + 1]
        n_zeros = n_rows - (last - first if copies.shape[0] == 0 else copies[first:last].sum())
        while last > first and np.isnan(values[last - 1]):
            last -= 1
        missing[f] = last < start[f + 1]
        n_edges[f] = find_edges(
            values[first:last], copies[first:last], n_zeros, max_bins, edges[n_found:], distinct, counts
        )
        n_found += n_edges[f]
    return n_found


@helper
def find_bin(value: float | np.floating[Any], edges: Floats, first: int, last: int, missing_bin: int) -> int:
    """Return the bin of `value`, given that the feature's edges are ``edges[first:last]``."""
    if np.isnan(value):
        return missing_bin
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if edges[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel
def bin_columns(
    columns: Floats, first: int, edges: Floats, edge_start: Longs, missing_bins: Ints, codes: Bytes
) -> None:
    """Bin features for training, from a first one on: ``codes[f, i]`` is the bin of row i."""
    for c in range(columns.shape[0]):
        f = first + c
        for i in range(columns.shape[1]):
            codes[f, i] = find_bin(columns[c, i], edges, edge_start[f], edge_start[f + 1], missing_bins[f])


@kernel
def bin_stored(
    values: Floats, column_start: Longs, edges: Floats, edge_start: Longs, missing_bins: Ints, codes: Bytes
) -> None:
    """Bin the stored values of a CSC matrix."""
    for f in range(column_start.shape[0] - 1):
        for j in range(column_start[f], column_start[f + 1]):
            codes[j] = find_bin(values[j], edges, edge_start[f], edge_start[f + 1], missing_bins[f])


@kernel
def bin_rows(rows: Floats, edges: Floats, edge_start: Longs, codes: Bytes) -> None:
    """Bin dense rows for prediction, row by row; missing is ``MISSING``."""
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            codes[i, f] = find_bin(rows[i, f], edges, edge_start[f], edge_start[f + 1], MISSING)


@kernel
def bin_sparse_rows(
    data: Floats, indices: Longs, indptr: Longs, edges: Floats, edge_start: Longs, codes: Bytes
) -> None:
    """Bin the stored cells of some rows of a CSR matrix for prediction; ``indptr`` counts from anywhere."""
    for i in range(codes.shape[0]):
        for j in range(indptr[i] - indptr[0], indptr[i + 1] - indptr[0]):
            f = indices[j]
            codes[i, f] = find_bin(data[j], edges, edge_start[f], edge_start[f + 1], MISSING)


@kernel
def common_bins(codes: Bytes, n_bins: Ints, common: Bytes, tally: Longs) -> int:
    """Find each feature's most frequent bin (the lowest of several); return how many cells are in others.

    There is memory for a tally of 256 bins.
    """
    n_others = codes.size
    for f in range(codes.shape[0]):
        for b in range(tally.shape[0]):
            tally[b] = 0
        for i in range(codes.shape[1]):
            tally[codes[f, i]] += 1
        most = 0
        for b in range(1, n_bins[f]):
            if tally[b] > tally[most]:
                most = b
        common[f] = most
        n_others -= tally[most]
    return n_others


@kernel
def uncommon_cells(codes: Bytes, common: Bytes, start: Longs, rows: Ints, bins: Bytes) -> None:
    """List, feature by feature, the cells of a dense matrix that are not in the common bin."""
    j = 0
    for f in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            if codes[f, i] != common[f]:
                rows[j], bins[j] = i, codes[f, i]
                j += 1
        start[f + 1] = j


def slots_by_row(
    start: Longs, rows: Ints, bins: Bytes, common: Bytes, features: Ints, first_slot: Ints, n_rows: int
) -> tuple[Longs, Ints]:
    """Return the slots of cells by row, ascending; features are given in the order of their slots."""
    row_start, row_slots = np.zeros(n_rows + 1, np.int64), np.empty(len(rows), np.int32)
    np.cumsum(np.bincount(rows, minlength=n_rows), out=row_start[1:])
    slots_of = np.empty(256, np.int32)
    list_by_row(start, rows, bins, common, features, first_slot, slots_of, row_start[:-1].copy(), row_slots)
    return row_start, row_slots


@kernel
def list_by_row(
    start: Longs,
    rows: Ints,
    bins: Bytes,
    common: Bytes,
    features: Ints,
    first_slot: Ints,
    slots_of: Ints,
    free: Longs,
    row_slots: Ints,
) -> None:
    """Write the slots of cells by row, each row's from where it has a free place on."""
    for f in features:
        for b in range(256):
            slots_of[b] = first_slot[f] + b - (b > common[f])
        for j in range(start[f], start[f + 1]):
            row_slots[free[rows[j]]] = slots_of[bins[j]]
            free[rows[j]] += 1
