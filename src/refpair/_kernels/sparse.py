"""Grow trees of bits on sparse features; ``sparse_search`` says what a slot is and finds the best split."""

from __future__ import annotations

import numpy as np

from refpair._kernels import grow
from refpair._kernels.grow import BitNode, Order, Split
from refpair._kernels.jit import Ints, Longs, helper, implements, inline, lean, trailing_zeros
from refpair._kernels.packed import Limits
from refpair._kernels.sparse_search import (
    SparseBins,
    SparseWork,
    collect,
    counts_words,
    note_weights,
    search_all,
    search_drawn,
)

__all__ = ["SparseBins", "SparseWork", "find_slot"]


@implements(grow.first_features, SparseBins)
def first_features(features: SparseBins, n_features: int) -> SparseBins:
    """Return the first features. The rows keep the slots of the others, which a search passes over."""
    n = n_features
    return SparseBins(
        features.row_start, features.row_slots, features.column_start[: n + 1], features.column_rows,
        features.column_bins, features.first_slot[:n], features.end_slot[:n], features.slot_feature,
        features.slot_bin, features.common_bins[:n], features.n_bins[:n], features.n_single,
        features.missing_bins[:n],
    )  # fmt: skip


@implements(grow.start_tree, SparseBins)
def start_tree(features: SparseBins, work: SparseWork, root: BitNode) -> None:
    """Note where each row stands, and what the rows weigh."""
    if work.inside.shape[0] > 0:
        note_weights(work, root)
    for row in range(work.place.shape[0]):
        work.place[row] = -1
    for i in range(root.end):
        work.place[root.rows[i]] = i


@implements(grow.make_histogram, SparseBins)
def make_histogram(features: SparseBins, work: SparseWork, node: BitNode) -> None:
    """Sum up the rows of a node, slot by slot, and list the slots that hold any."""
    histogram, active = work.histograms[node.slot], work.active[node.slot]
    histogram[:] = 0
    add_rows(features, node, 1, histogram)
    n_active = 0
    for s in range(histogram.shape[0]):
        active[n_active] = s
        n_active += int(histogram[s] != 0)
    work.n_active[node.slot] = n_active


@lean
def add_rows(features: SparseBins, node: BitNode, sign: int, histogram: Longs) -> None:
    """Add the rows of a node, times `sign`."""
    for i in range(node.start, node.end):
        row = node.rows[i]
        value = sign * node.by_row[row]
        for j in range(features.row_start[row], features.row_start[row + 1]):
            histogram[features.row_slots[j]] += value


@implements(grow.hand_down, SparseBins)
def hand_down(features: SparseBins, work: SparseWork, slot: int, small: BitNode) -> None:
    """Subtract the smaller child, through its histogram if that is to be kept, else row by row."""
    histogram = work.histograms[slot]
    if small.slot >= 0:
        for i in range(work.n_active[small.slot]):
            s = work.active[small.slot, i]
            histogram[s] -= work.histograms[small.slot, s]
    else:
        add_rows(features, small, -1, histogram)
    active, n_active = work.active[slot], 0
    for i in range(work.n_active[slot]):
        s = active[i]
        active[n_active] = s
        n_active += int(histogram[s] != 0)
    work.n_active[slot] = n_active


@helper
def sort_slots(slots: Ints, n: int) -> None:
    """Sort the first `n` slots (Shell's way: no slower here than numba's own, which takes 5 s to compile)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            slot, j = slots[i], i
            while j >= gap and slots[j - gap] > slot:
                slots[j] = slots[j - gap]
                j -= gap
            slots[j] = slot
        gap //= 3


@implements(grow.search, SparseBins)
def search(
    features: SparseBins, work: SparseWork, node: BitNode, order: Order, turn: int, limits: Limits
) -> Split:
    """Search a node, in its kept histogram or, if it has none, in the sums of its rows."""
    slot, total = node.slot, node.total
    if slot >= 0:
        histogram, slots, n_slots = work.histograms[slot], work.active[slot], work.n_active[slot]
        return search_all(features, work, histogram, slots, n_slots, total, order, turn, limits)
    if order.n_drawn < order.order.shape[0]:
        return search_drawn(features, work, node, order, limits)
    few, touched = work.few, work.touched
    n_touched = collect(features, node, few, touched)
    if features.n_single < features.slot_bin.shape[0]:
        # Some features have several slots: bring them together.
        sort_slots(touched, n_touched)
    split = search_all(features, work, few, touched, n_touched, total, order, turn, limits)
    for i in range(n_touched):
        few[touched[i]] = 0
    return split


@lean
def part_by_bits(features: SparseBins, work: SparseWork, f: int, rows: Ints, start: int, end: int) -> int:
    """Part the rows of a node by a feature's bits; return where the right child starts."""
    bits, place = work.bits, work.place
    stored_left = features.slot_bin[features.first_slot[f]] == 0
    left, right = start, end
    if work.span[0] == start and work.span[1] == end and counts_words(work):
        # The rows to move are at hand.
        for w in range(bits.shape[1]):
            word = bits[f, w] & (work.inside_bits[0, w] | work.inside_bits[1, w])
            while word != np.uint64(0):
                where = int(place[64 * w + int(trailing_zeros(word))])
                word &= word - np.uint64(1)
                if stored_left:
                    swap_rows(rows, place, where, left)
                    left += 1
                else:
                    right -= 1
                    swap_rows(rows, place, where, right)
        return left if stored_left else right
    n_spare = 0
    for i in range(start, end):
        row = rows[i]
        bit = np.int64(bits[f, row >> 6] >> np.uint64(row & 63)) & 1
        goes_left = bit == int(stored_left)
        # Both sides are written and one is overwritten: no branch to mispredict.
        rows[left] = row
        work.spare_rows[n_spare] = row
        left += int(goes_left)
        n_spare += int(not goes_left)
    for i in range(n_spare):
        rows[left + i] = work.spare_rows[i]
    for i in range(start, end):
        place[rows[i]] = i
    return left


@lean
def swap_rows(rows: Ints, place: Ints, i: int, j: int) -> None:
    """Exchange two rows of the list and keep `place` true."""
    a, b = rows[i], rows[j]
    rows[i], rows[j] = b, a
    place[a], place[b] = j, i


@inline
def find_slot(features: SparseBins, f: int, row: int) -> int:
    """Return the slot of a cell, by bisection of the row's slots; −1 if the cell is in the common bin."""
    low, end = features.row_start[row], features.row_start[row + 1]
    first, high = features.first_slot[f], end
    while low < high:
        middle = (low + high) >> 1
        if features.row_slots[middle] < first:
            low = middle + 1
        else:
            high = middle
    found = low < end and features.row_slots[low] < features.end_slot[f]
    return int(features.row_slots[low]) if found else -1


@helper
def find_bin(features: SparseBins, row: int, f: int) -> np.int64:
    """Return the bin of one cell."""
    slot = find_slot(features, f, row)
    return np.int64(features.slot_bin[slot] if slot >= 0 else features.common_bins[f])


@implements(grow.part_rows, SparseBins)
def part_rows(features: SparseBins, work: SparseWork, split: Split, rows: Ints, start: int, end: int) -> int:
    """Part the rows of a node by the feature's own list of rows, or row by row if that is too long."""
    _, f, threshold, side, _ = split
    place, missing_bin = work.place, features.missing_bins[f]
    common = features.common_bins[f]
    common_left = side == 1 if common == missing_bin else common <= threshold
    first, last = features.column_start[f], features.column_start[f + 1]
    left, right = start, end
    if work.bits.shape[0] > 0:
        return part_by_bits(features, work, f, rows, start, end)
    if last - first <= 8 * (end - start):
        # Move only the rows on the other side than the common bin, found through the feature's own list.
        for j in range(first, last):
            bin_ = np.int64(features.column_bins[j])
            goes_left = side == 1 if bin_ == missing_bin else bin_ <= threshold
            where = place[features.column_rows[j]]
            if goes_left != common_left and start <= where < end:
                if goes_left:
                    swap_rows(rows, place, where, left)
                    left += 1
                else:
                    right -= 1
                    swap_rows(rows, place, where, right)
        return right if common_left else left
    while left < right:
        bin_ = find_bin(features, rows[left], f)
        goes_left = side == 1 if bin_ == missing_bin else bin_ <= threshold
        if goes_left:
            left += 1
        else:
            right -= 1
            swap_rows(rows, place, left, right)
    return left
