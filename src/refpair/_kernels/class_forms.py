"""What growing a tree of classes asks of the features, dense or sparse.

Sparse features answer in three ways. If a split looks at many of them, all cells of the node are counted at
once (``class_counts``). If not, a feature has a list of the rows it stores, and a row has a bit for each of
its stored features: in a large node the lists of the features looked at are the shorter ones, in a small node
the bits of its rows are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from refpair._kernels.class_counts import NONE, Counts, worth_of_counted
from refpair._kernels.class_split import Node, Numbers, Work, best_threshold, worth_of_stored
from refpair._kernels.dense import DenseBins
from refpair._kernels.jit import INLINE, Function, inline, kernel
from refpair._kernels.sparse import SparseBins, find_slot
from refpair._kernels.types import Ints, Longs, Words

# A feature's own list is read if it is no longer than so many times the node. On enron and bibtex
# 1, 2 and 4 are about the same.
LIST_BELOW = 2


class SparseRows(NamedTuple):
    """Sparse features, and a bit for each cell that is stored."""

    bins: SparseBins
    bits: Words  # (n, words): of row i, bit f of a power of two; several features share one if they must
    exact: bool  # whether no two features share a bit


@kernel
def mark_cells(n_rows: int, column_start: Longs, column_rows: Ints) -> Words:
    """Set the bits of all stored cells, 64 at most for each on average."""
    n_features = column_start.shape[0] - 1
    wanted = min(n_features, 32 * column_rows.shape[0] // max(n_rows, 1))
    n_bits = 64
    while n_bits < wanted:
        n_bits *= 2
    bits = np.zeros((n_rows, n_bits // 64), np.uint64)
    for f in range(n_features):
        bit = f & (n_bits - 1)
        for j in range(column_start[f], column_start[f + 1]):
            bits[column_rows[j], bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    return bits


def with_bits(bins: SparseBins) -> SparseRows:
    """Give sparse features their bits."""
    bits = mark_cells(len(bins.row_start) - 1, bins.column_start, bins.column_rows)
    return SparseRows(bins, bits, len(bins.common_bins) <= 64 * bits.shape[1])


def does(function: Callable[..., object], form: type) -> Callable[[Function], Function]:
    """Decorate what `function` does where the features have the given form; compiled as by ``inline``."""

    def decorate(implementation: Function) -> Function:
        @wraps(implementation)  # numba compares the names of the parameters
        def choose(features: Any, *_: Any) -> Function | None:
            return implementation if features.instance_class is form else None

        overload(function, jit_options=INLINE)(choose)
        return implementation

    return decorate


def n_counted(features: DenseBins | SparseRows, max_features: int) -> int:
    """Return how many slots are worth counting: none if nodes are better searched feature by feature."""
    raise NotImplementedError  # numba takes the body for the form, below


def count_cells(
    features: DenseBins | SparseRows, rows: Numbers, classes: Ints, step: int, kept: Ints
) -> None:
    """Add `step` to the counts of all cells of some rows."""
    raise NotImplementedError  # numba takes the body for the form, below


def search_feature(
    features: DenseBins | SparseRows,
    f: int,
    rows: Numbers,
    node: Node,
    work: Work,
    counts: Counts,
    counted: int,
    floor: float,
) -> tuple[float, int, int]:
    """Find the best threshold of a feature, as ``best_threshold`` does.

    `counted` is where the node's counts are, or ``NONE``.
    """
    raise NotImplementedError  # numba takes the body for the form, below


def write_bins(features: DenseBins | SparseRows, f: int, rows: Numbers, work: Work) -> int:
    """Write the bins of all rows of a node to `work`; return the bin of the feature's missing values."""
    raise NotImplementedError  # numba takes the body for the form, below


@does(write_bins, DenseBins)
def write_bins_dense(features: DenseBins, f: int, rows: Numbers, work: Work) -> int:
    """Copy them."""
    column = features.codes[f]
    for i in range(rows.shape[0]):
        work.found_bins[i] = column[rows[i]]
    return int(features.missing_bins[f])


@does(n_counted, DenseBins)
def n_counted_dense(features: DenseBins, max_features: int) -> int:
    """Return 0: all cells are stored, and it is no quicker to go through those of a row."""
    return 0


@does(count_cells, DenseBins)
def count_cells_dense(features: DenseBins, rows: Numbers, classes: Ints, step: int, kept: Ints) -> None:
    """Count nothing."""


@does(search_feature, DenseBins)
def search_feature_dense(
    features: DenseBins,
    f: int,
    rows: Numbers,
    node: Node,
    work: Work,
    counts: Counts,
    counted: int,
    floor: float,
) -> tuple[float, int, int]:
    """Sort all rows by their bins."""
    missing_bin = write_bins(features, f, rows, work)
    return best_threshold(work, node, work.labels, rows.shape[0], -1, missing_bin, floor)


@does(n_counted, SparseRows)
def n_counted_sparse(features: SparseRows, max_features: int) -> int:
    """Count if most features have a single slot, and a split looks at twice as many as a row stores."""
    bins = features.bins
    n_rows, n_features = bins.row_start.shape[0] - 1, bins.common_bins.shape[0]
    pays = 2 * bins.n_single > n_features and max_features * n_rows >= 2 * bins.row_slots.shape[0]
    return int(bins.n_single) if pays else 0


@does(count_cells, SparseRows)
def count_cells_sparse(features: SparseRows, rows: Numbers, classes: Ints, step: int, kept: Ints) -> None:
    """Go through the slots of each row, of which those of features with a single slot come first."""
    bins = features.bins
    width = kept.shape[0] // max(bins.n_single, 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        slots, c = bins.row_slots[bins.row_start[row] : bins.row_start[row + 1]], classes[row]
        for j in range(slots.shape[0]):
            if slots[j] >= bins.n_single:
                break
            kept[np.uint32(slots[j] * width + c)] += np.int32(step)


@inline
def gather(features: SparseRows, f: int, rows: Numbers, node: Node, work: Work) -> int:
    """Find the rows of a node that a feature stores; return their number.

    Their classes are written to `work`, and their bins if the feature has more than one slot. It goes through
    the feature's own list or through the rows, whichever is shorter.
    """
    bins, bits, found, found_bins = features.bins, features.bits, work.found, work.found_bins
    first, last = bins.column_start[f], bins.column_start[f + 1]
    single = bool(bins.first_slot[f] < bins.n_single)
    n_found = 0
    # A class is written in any case and overwritten if its row does not count: no branch to mispredict.
    if last - first <= LIST_BELOW * rows.shape[0]:
        column_rows, column_bins = bins.column_rows[first:last], bins.column_bins[first:last]
        for j in range(column_rows.shape[0]):
            c = work.marks[np.uint32(column_rows[j])] - node.mark
            found[n_found] = c
            if not single:
                found_bins[n_found] = column_bins[j]
            n_found += int(c >= 0)
    else:
        bit = f & (64 * bits.shape[1] - 1)
        word, shift = bit >> 6, np.uint64(bit & 63)
        if single and features.exact:
            for i in range(rows.shape[0]):
                found[n_found] = work.labels[i]
                n_found += int((bits[rows[i], word] >> shift) & np.uint64(1))
        else:
            for i in range(rows.shape[0]):
                if (bits[rows[i], word] >> shift) & np.uint64(1):
                    slot = find_slot(bins, f, rows[i])
                    if slot >= 0:
                        found[n_found], found_bins[n_found] = work.labels[i], bins.slot_bin[slot]
                        n_found += 1
    return n_found


@does(search_feature, SparseRows)
def search_feature_sparse(
    features: SparseRows,
    f: int,
    rows: Numbers,
    node: Node,
    work: Work,
    counts: Counts,
    counted: int,
    floor: float,
) -> tuple[float, int, int]:
    """Look at the node's counts, or gather the rows that the feature stores."""
    bins = features.bins
    first, single = bins.first_slot[f], bool(bins.first_slot[f] < bins.n_single)
    if single and counted != NONE:
        return worth_of_counted(counts, counted, first, node, floor), 0, -1
    n_found = gather(features, f, rows, node, work)
    if n_found == 0:
        return floor, 0, -1
    if single:
        return worth_of_stored(work, node, n_found, floor), 0, -1
    common, missing_bin = int(bins.common_bins[f]), int(bins.missing_bins[f])
    return best_threshold(work, node, work.found, n_found, common, missing_bin, floor)


@does(write_bins, SparseRows)
def write_bins_sparse(features: SparseRows, f: int, rows: Numbers, work: Work) -> int:
    """Go through the feature's own list or through the rows' bits, whichever is shorter."""
    bins, bits, found_bins, cells = features.bins, features.bits, work.found_bins, work.cells
    first, last, common = bins.column_start[f], bins.column_start[f + 1], bins.common_bins[f]
    if last - first <= LIST_BELOW * rows.shape[0]:
        for j in range(first, last):
            cells[bins.column_rows[j]] = np.int32(bins.column_bins[j]) + 1
        for i in range(rows.shape[0]):
            cell = cells[rows[i]]
            found_bins[i] = cell - 1 if cell > 0 else common
        for j in range(first, last):
            cells[bins.column_rows[j]] = 0
    else:
        bit = f & (64 * bits.shape[1] - 1)
        word, shift = bit >> 6, np.uint64(bit & 63)
        for i in range(rows.shape[0]):
            found_bins[i] = common
            if (bits[rows[i], word] >> shift) & np.uint64(1):
                slot = find_slot(bins, f, rows[i])
                if slot >= 0:
                    found_bins[i] = bins.slot_bin[slot]
    return int(bins.missing_bins[f])
