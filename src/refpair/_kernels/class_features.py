"""What growing a tree of classes asks of the features, dense or sparse.

Sparse features answer in three ways. If a split looks at many, all stored cells of the node's rows are
counted by class at once, but only those of features with a single slot (see ``sparse_search``). The counts of
large nodes are kept: those of the larger child are its parent's without those of the smaller one. If not, a
feature has a list of the rows it stores, the shorter one in a large node, and a row has a bit for each of its
stored features, the shorter one in a small node.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from refpair._kernels import grow
from refpair._kernels.class_split import (
    Node,
    Times,
    Work,
    best_threshold,
    label_of,
    split_worth,
    times_of,
    worth_of_stored,
)
from refpair._kernels.dense import DenseBins
from refpair._kernels.grow import NO_SLOT, SMALL_NODE, Slots, Split
from refpair._kernels.jit import INLINE, Ints, Longs, Numbers, Words, by_form, implements, inline, kernel
from refpair._kernels.sparse import SparseBins, find_slot

# A feature's own list is read if it is no longer than so many times the node. On enron and bibtex
# 1, 2 and 4 are about the same.
LIST_BELOW = 2

# Beyond these, to clear and to subtract the counts of a node would take longer than to go through the rows of
# the features that a split looks at.
MOST_CLASSES = 16
MOST_CELLS = 1 << 17  # counts of one node, half a megabyte


class Counts(NamedTuple):
    """The counts of the nodes that wait, and of the one that is searched."""

    kept: Ints  # (kept + 1, slots * width): the last are those of a small node, zero between uses
    width: int  # classes, as they are named in the whole forest
    totals: Longs  # (width,): the rows of the node that is searched, by class, copies counted
    slots: Slots


def make_counts(n_slots: int, n_classes: int, n_rows: int) -> Counts:
    """Allocate what one call needs, for a tree of so many rows, copies counted.

    That is nothing if there are no slots to count, or too many counts.
    """
    pays = 0 < n_slots * n_classes <= MOST_CELLS and n_classes <= MOST_CLASSES
    n_kept = grow.n_histograms(n_rows) if pays else 0
    return Counts(
        np.zeros((n_kept + 1 if pays else 0, n_slots * n_classes), np.int32),
        n_classes,
        np.zeros(n_classes, np.int64),
        grow.make_slots(n_kept),
    )


@inline
def are_used(counts: Counts) -> bool:
    """Whether nodes are searched by their counts."""
    return bool(counts.kept.shape[0] > 0)


@inline
def worth_of_counted(counts: Counts, counted: int, slot: int, node: Node, floor: float) -> float:
    """Return what it is worth to part the rows that a slot holds from the others."""
    first = slot * counts.width
    of_class, totals = counts.kept[counted, first : first + counts.width], counts.totals
    size, square, cross = 0, 0, 0
    for c in range(np.uint32(counts.width)):
        count = int(of_class[c])
        size += count
        square += count * count
        cross += count * int(totals[c])
    return split_worth(node, size, square, cross, floor)


class SparseRows(NamedTuple):
    """Sparse features, and a bit for each cell that is stored."""

    bins: SparseBins
    bits: Words  # (n, words): of row i, bit f of a power of two; several features share one if they must
    exact: bool  # whether no two features share a bit


Features: TypeAlias = DenseBins | SparseRows


@kernel
def mark_cells(column_start: Longs, column_rows: Ints, bits: Words) -> None:
    """Set the bits of all stored cells."""
    last_bit = 64 * bits.shape[1] - 1
    for f in range(column_start.shape[0] - 1):
        bit = f & last_bit
        for j in range(column_start[f], column_start[f + 1]):
            bits[column_rows[j], bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


def with_bits(bins: SparseBins) -> SparseRows:
    """Give sparse features their bits, 64 at most for each stored cell on average."""
    n_rows, n_features = len(bins.row_start) - 1, len(bins.common_bins)
    wanted, n_bits = min(n_features, 32 * len(bins.column_rows) // max(n_rows, 1)), 64
    while n_bits < wanted:
        n_bits *= 2
    bits = np.zeros((n_rows, n_bits // 64), np.uint64)
    mark_cells(bins.column_start, bins.column_rows, bits)
    return SparseRows(bins, bits, n_features <= n_bits)


def n_counted(features: Features, max_features: int) -> int:
    """Return how many slots are worth counting: none if nodes are better searched by feature.

    Of dense features all cells are stored, and it is no quicker to go through those of a row. Of sparse ones,
    count if most have a single slot, and a split looks at twice as many as a row stores.
    """
    if isinstance(features, DenseBins):
        return 0
    bins = features.bins
    n_rows, n_features = len(bins.row_start) - 1, len(bins.common_bins)
    pays = 2 * bins.n_single > n_features and max_features * n_rows >= 2 * len(bins.row_slots)
    return bins.n_single if pays else 0


# What the forms of features implement.
count_cells = by_form("add a step to the counts of all cells of some rows")
search_feature = by_form("find the best threshold of a feature; counts are at `counted`, or ``NO_SLOT``")


@implements(count_cells, DenseBins, INLINE)
def count_cells_dense(
    features: DenseBins, rows: Numbers, classes: Ints, times: Times, step: int, kept: Ints
) -> None:
    """Count nothing."""


@implements(search_feature, DenseBins, INLINE)
def search_feature_dense(
    features: DenseBins, f: int, node: Node, work: Work, counts: Counts, counted: int, floor: float
) -> tuple[float, int, int]:
    """Sort all rows by their bins."""
    column, rows = features.codes[f], node.rows
    for i in range(rows.shape[0]):
        work.found_bins[i] = column[rows[i]]
    return best_threshold(work, node, work.labels, rows.shape[0], -1, int(features.missing_bins[f]), floor)


@implements(count_cells, SparseRows, INLINE)
def count_cells_sparse(
    features: SparseRows, rows: Numbers, classes: Ints, times: Times, step: int, kept: Ints
) -> None:
    """Go through the slots of each row, of which those of features with a single slot come first."""
    bins = features.bins
    width = kept.shape[0] // max(bins.n_single, 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        slots, c = bins.row_slots[bins.row_start[row] : bins.row_start[row + 1]], classes[row]
        change = np.int32(step * times_of(times, row))
        for j in range(slots.shape[0]):
            if slots[j] >= bins.n_single:
                break
            kept[np.uint32(slots[j] * width + c)] += change


@inline
def gather(features: SparseRows, f: int, node: Node, work: Work) -> int:
    """Find the rows of a node that a feature stores; return their number.

    Their labels are written to `work`, and their bins if the feature has more than one slot. It goes through
    the feature's own list or through the rows, whichever is shorter.
    """
    bins, bits, found, found_bins = features.bins, features.bits, work.found, work.found_bins
    rows = node.rows
    first, last = bins.column_start[f], bins.column_start[f + 1]
    single = bool(bins.first_slot[f] < bins.n_single)
    n_found = 0
    # A label is written in any case and overwritten if its row does not count: no branch to mispredict.
    if last - first <= LIST_BELOW * rows.shape[0]:
        column_rows, column_bins = bins.column_rows[first:last], bins.column_bins[first:last]
        for j in range(column_rows.shape[0]):
            row = np.uint32(column_rows[j])
            c = work.marks[row] - node.mark
            found[n_found] = label_of(work.times, row, c)
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


@implements(search_feature, SparseRows, INLINE)
def search_feature_sparse(
    features: SparseRows, f: int, node: Node, work: Work, counts: Counts, counted: int, floor: float
) -> tuple[float, int, int]:
    """Look at the node's counts, or gather the rows that the feature stores."""
    bins = features.bins
    first, single = bins.first_slot[f], bool(bins.first_slot[f] < bins.n_single)
    if single and counted != NO_SLOT:
        return worth_of_counted(counts, counted, first, node, floor), 0, -1
    n_found = gather(features, f, node, work)
    if n_found == 0:
        return floor, 0, -1
    if single:
        return worth_of_stored(work, node, n_found, floor), 0, -1
    common, missing_bin = int(bins.common_bins[f]), int(bins.missing_bins[f])
    return best_threshold(work, node, work.found, n_found, common, missing_bin, floor)


@inline
def write_bins(features: SparseRows, f: int, rows: Numbers, work: Work) -> None:
    """Write the bins of a node's rows, by the feature's own list or the rows' bits, whichever is shorter."""
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


@implements(grow.part_rows, SparseRows, INLINE)
def part_rows_sparse(
    features: SparseRows, work: Work, split: Split, rows: Numbers, start: int, end: int
) -> int:
    """Part the rows of a node; each side keeps its order."""
    f, threshold, side = split[1], split[2], split[3]
    write_bins(features, f, rows[start:end], work)
    left, right, missing_bin = start, 0, np.int64(features.bins.missing_bins[f])
    for i in range(start, end):
        row, code = rows[i], np.int64(work.found_bins[i - start])
        goes_left = side == 1 if code == missing_bin else code <= threshold
        # Both sides are written and one is overwritten: no branch to mispredict.
        rows[left] = row
        work.spare_rows[right] = row
        left += int(goes_left)
        right += int(not goes_left)
    for i in range(right):
        rows[left + i] = work.spare_rows[i]
    return left


@inline
def count_anew(features: Features, counts: Counts, rows: Numbers, of_row: Ints, times: Times) -> int:
    """Count the cells of a large node; return where."""
    counted = grow.take_slot(counts.slots)
    kept = counts.kept[counted]
    for i in range(kept.shape[0]):
        kept[i] = 0
    count_cells(features, rows, of_row, times, 1, kept)
    return counted


@inline
def count_node(
    features: Features, counts: Counts, counted: int, node: Node, of_row: Ints, names: Ints, work: Work
) -> int:
    """Count the cells of a node that is searched, unless they were handed down; return where they are."""
    if not are_used(counts):
        return NO_SLOT
    for name in range(counts.width):
        counts.totals[name] = 0
    for c in range(node.n_classes):
        counts.totals[names[c]] = work.totals[c]
    if counted != NO_SLOT:
        return counted
    if node.rows.shape[0] > SMALL_NODE:
        return count_anew(features, counts, node.rows, of_row, work.times)
    counted = counts.kept.shape[0] - 1
    count_cells(features, node.rows, of_row, work.times, 1, counts.kept[counted])
    return counted


@inline
def forget_counts(
    features: Features, counts: Counts, counted: int, rows: Numbers, of_row: Ints, times: Times
) -> None:
    """Let other nodes have the counts of one that is done."""
    if counted == NO_SLOT:
        return
    if rows.shape[0] > SMALL_NODE:
        grow.free_slot(counts.slots, counted)
    else:
        count_cells(features, rows, of_row, times, -1, counts.kept[counted])


@inline
def hand_counts_down(
    features: Features,
    counts: Counts,
    counted: int,
    rows: Numbers,
    small_rows: Numbers,
    of_row: Ints,
    times: Times,
) -> tuple[int, int]:
    """Make the counts of a node those of its larger child; return where the two children's are."""
    if counted == NO_SLOT or rows.shape[0] - small_rows.shape[0] <= SMALL_NODE:
        forget_counts(features, counts, counted, rows, of_row, times)
        return NO_SLOT, NO_SLOT
    if small_rows.shape[0] <= SMALL_NODE:
        count_cells(features, small_rows, of_row, times, -1, counts.kept[counted])
        return counted, NO_SLOT
    small = count_anew(features, counts, small_rows, of_row, times)
    left, right = counts.kept[counted], counts.kept[small]
    for i in range(left.shape[0]):
        left[i] -= right[i]
    return counted, small
