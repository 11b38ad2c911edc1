"""Sparse features: only the cells that differ from their feature's common bin.

Each pair of a feature and a bin other than its common one is a *slot*. Slots are numbered by feature, then by
bin, but features with a single slot (two values, the usual case of sparse data) come before all others. A row
is the list of its slots, a histogram has a sum for each slot, and what the common bin holds is the node's
total minus the rest. The time goes with the stored cells, never with rows × features.

If only a few features were drawn, there are four ways to what one of them sums up to. All give the same
integers; the cheapest is taken.

- By the stored cells of the node's rows: for small nodes if many features are drawn.
- By a bit a row and feature, row by row: for small nodes if few are drawn.
- By the same bits, 64 rows at a time, if all rows have the same weight, so that counting is enough.
- By the features' own lists of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels.grow import BitNode, Order, Split
from refpair._kernels.jit import Bytes, Ints, Longs, Words, count_ones, kernel, lean
from refpair._kernels.packed import Limits, best_threshold, highest_gain, split_gain

BY_CELLS, BY_BITS, BY_WORDS, BY_LISTS = 0, 1, 2, 3

# What a step of each way costs, in half nanoseconds.
CELL, BIT, WORD, LISTED = 4, 2, 1, 1

AT_ONCE = 8  # features; a search often ends at the first of them that parts a small node into pure sides


class SparseWork(NamedTuple):
    """Scratch memory of one call."""

    histograms: Longs  # (kept, slots)
    active: Ints  # (kept, slots + 1): the slots of a kept histogram that hold rows, ascending
    n_active: Longs  # (kept,)
    few: Longs  # (slots,): the sums of a small node, zero between uses
    touched: Ints  # (slots + 1,)
    all_slots: Ints  # (slots,): 0, 1, 2, ...
    inside: Longs  # (n,), or empty if no tree draws: the weight of a row inside the node entered last, else 0
    inside_bits: Words  # (2, words): which rows inside have the sign + and −; empty without `bits`
    span: Longs  # (2,): where the rows inside start and end
    signs: Longs  # (2,): the packed weights of all rows with + and −; 0 if they differ
    bits: Words  # (d, words): see ``bits_of_columns``; empty if they would not pay
    drawn_sums: Longs  # (AT_ONCE,)
    spare_rows: Ints  # (n,)
    place: Ints  # (n,): where a row stands in its tree's list of rows; -1 if it is not there
    bins: Longs  # (widest + 1,)
    sums: Longs  # (widest + 1,)


class SparseBins(NamedTuple):
    """The cells that are not in their feature's common bin, by row and by feature."""

    row_start: Longs  # (n + 1,)
    row_slots: Ints  # (cells,), ascending within a row
    column_start: Longs  # (d + 1,)
    column_rows: Ints  # (cells,)
    column_bins: Bytes  # (cells,)
    first_slot: Ints  # (d,): the slots of each feature ...
    end_slot: Ints  # (d,): ... and where they end
    slot_feature: Ints  # (slots,)
    slot_bin: Bytes  # (slots,), ascending within a feature
    common_bins: Ints  # (d,)
    n_bins: Ints  # (d,): how many bins a feature has, that of missing values included
    n_single: int  # how many features have a single slot, and none of their values missing
    missing_bins: Ints  # (d,): the bin of missing values, always the last; -1 if none was missing

    def workspace(self, n_rows: int, n_kept: int, any_drawn: bool) -> SparseWork:
        """Allocate what one call needs."""
        n_slots, widest = len(self.slot_bin), int(self.n_bins.max(initial=0))
        bits = bits_of_columns(self) if any_drawn else np.zeros((0, 0), np.uint64)
        return SparseWork(
            np.empty((n_kept, n_slots), np.int64),
            np.empty((n_kept, n_slots + 1), np.int32),
            np.empty(n_kept, np.int64),
            np.zeros(n_slots, np.int64),
            np.empty(n_slots + 1, np.int32),
            np.arange(n_slots, dtype=np.int32),
            np.empty(n_rows if any_drawn else 0, np.int64),
            np.empty((2, bits.shape[1]), np.uint64),
            np.empty(2, np.int64),
            np.empty(2, np.int64),
            bits,
            np.empty(AT_ONCE, np.int64),
            np.empty(n_rows, np.int32),
            np.empty(n_rows, np.int32),
            np.empty(widest + 1, np.int64),
            np.empty(widest + 1, np.int64),
        )


@lean
def collect(features: SparseBins, node: BitNode, few: Longs, touched: Ints) -> int:
    """Sum a small node's rows into `few`, and list the slots that they touch."""
    n_touched = 0
    for i in range(node.start, node.end):
        row = node.rows[i]
        value = node.by_row[row]
        for j in range(features.row_start[row], features.row_start[row + 1]):
            s = features.row_slots[j]
            touched[n_touched] = s
            n_touched += int(few[s] == 0)
            few[s] += value
    return n_touched


@lean
def list_bins(
    features: SparseBins, work: SparseWork, histogram: Longs, slots: Ints, first: int, last: int, total: int
) -> tuple[int, int]:
    """List the occupied bins of one feature, ascending: its slots ``slots[first:last]`` and its common bin.

    Returns the number of bins and the sum of the missing values, which are not listed.
    """
    bins, sums = work.bins, work.sums
    f = features.slot_feature[slots[first]]
    common, missing_bin = features.common_bins[f], features.missing_bins[f]
    rest = total
    for i in range(first, last):
        rest -= histogram[slots[i]]
    n_occupied, missing = 0, 0
    for i in range(first, last + 1):
        if rest != 0 and (i == last or features.slot_bin[slots[i]] > common):
            if common == missing_bin:
                missing = rest
            else:
                bins[n_occupied], sums[n_occupied] = common, rest
                n_occupied += 1
            rest = 0
        if i < last and histogram[slots[i]] != 0:
            if features.slot_bin[slots[i]] == missing_bin:
                missing = histogram[slots[i]]
            else:
                bins[n_occupied], sums[n_occupied] = features.slot_bin[slots[i]], histogram[slots[i]]
                n_occupied += 1
    return n_occupied, missing


@lean
def search_all(
    features: SparseBins,
    work: SparseWork,
    histogram: Longs,
    slots: Ints,
    n_slots: int,
    total: int,
    order: Order,
    turn: int,
    limits: Limits,
) -> Split:
    """Search every feature that varies in a node, given the slots that hold rows, ascending by feature."""
    n_features = features.common_bins.shape[0]
    highest = highest_gain(total, limits)
    gain, best_feature, best_bin, best_side, best_left = -1.0, -1, 0, -1, 0
    best_place, first = n_features, 0
    while first < n_slots and slots[first] < features.n_single:
        s = slots[first]
        first += 1
        # An infinite gain may still be met by a feature that comes earlier in the random order.
        found = split_gain(histogram[s], total, limits, min(gain, highest))
        if found >= gain and found >= 0.0 and histogram[s] != total:
            f = features.slot_feature[s]
            if f >= n_features:
                continue
            place = order.place[f] - turn
            if place < 0:
                place += n_features
            if found > gain or place < best_place:
                gain, best_feature, best_place = found, f, place
                best_bin, best_side = 0, -1
                best_left = histogram[s] if features.slot_bin[s] == 0 else total - histogram[s]
    while first < n_slots:
        f = features.slot_feature[slots[first]]
        last = first + 1
        while last < n_slots and features.slot_feature[slots[last]] == f:
            last += 1
        if f >= n_features:
            first = last
            continue
        n_occupied, missing = list_bins(features, work, histogram, slots, first, last, total)
        first, last_bin = last, features.missing_bins[f] - 1
        found, threshold, side, left = best_threshold(
            work.bins, work.sums, n_occupied, missing, last_bin, total, limits, min(gain, highest)
        )
        if found >= gain and found >= 0.0:
            place = order.place[f] - turn
            if place < 0:
                place += n_features
            if found > gain or place < best_place:
                gain, best_feature, best_bin, best_side, best_left = found, f, threshold, side, left
                best_place = place
    return gain, best_feature, best_bin, best_side, best_left


def bits_of_columns(features: SparseBins) -> Words:
    """Return a bit for each feature and row: whether the cell is stored.

    There are none if they would not pay: where some features have several slots, or where the lists of rows
    are shorter than the words of bits.
    """
    n_rows, n_features = len(features.row_start) - 1, len(features.common_bins)
    n_words, n_cells = (n_rows + 63) >> 6, len(features.row_slots)
    if features.n_single < len(features.slot_bin) or n_features * n_words > n_cells:
        return np.zeros((0, n_words), np.uint64)
    bits = np.zeros((n_features, n_words), np.uint64)
    set_bits(features.column_start, features.column_rows, bits)
    return bits


@kernel
def set_bits(column_start: Longs, column_rows: Ints, bits: Words) -> None:
    """Set the bits of the rows that features store."""
    for f in range(bits.shape[0]):
        for j in range(column_start[f], column_start[f + 1]):
            row = np.uint64(column_rows[j])
            bits[f, row >> np.uint64(6)] |= np.uint64(1) << (row & np.uint64(63))


@lean
def note_weights(work: SparseWork, root: BitNode) -> None:
    """Forget the rows of the last tree, and note the packed weights of + and − if each has only one."""
    work.inside[:] = 0
    work.inside_bits[:] = np.uint64(0)
    work.span[:] = 0
    plus, minus, equal = np.int64(0), np.int64(0), True
    for i in range(root.end):
        value = root.by_row[root.rows[i]]
        if value > 0:
            equal &= plus == 0 or value == plus
            plus = value
        else:
            equal &= minus == 0 or value == minus
            minus = value
    work.signs[0], work.signs[1] = plus if equal else 0, minus if equal else 0


@lean
def counts_words(work: SparseWork) -> bool:
    """Whether there are bits, and all rows of the tree have the same weight."""
    return bool(work.bits.shape[0] > 0 and work.signs[0] != work.signs[1])


@lean
def cheapest_way(features: SparseBins, work: SparseWork, n_rows: int, n_drawn: int) -> int:
    """Return how to sum up the drawn features of a node with so many rows."""
    n_features, n_all_rows = features.common_bins.shape[0], features.row_start.shape[0] - 1
    # Rows and columns of mean length: to look up their own would take longer than it could save.
    way, cost = BY_CELLS, CELL * (n_rows * features.row_slots.shape[0] // n_all_rows)
    if work.bits.shape[0] > 0 and BIT * n_rows * n_drawn < cost:
        way, cost = BY_BITS, BIT * n_rows * n_drawn
    if counts_words(work):
        # There are no bits unless they are fewer words than the lists.
        return BY_WORDS if WORD * work.bits.shape[1] * n_drawn < cost else way
    return BY_LISTS if LISTED * (n_drawn * features.column_start[n_features] // n_features) < cost else way


@lean
def flip(bits: Words, node: BitNode, first: int, last: int) -> None:
    """Let some rows enter or leave the bits of the rows inside."""
    for i in range(first, last):
        row = np.uint64(node.rows[i])
        bits[0 if node.by_row[row] > 0 else 1, row >> np.uint64(6)] ^= np.uint64(1) << (row & np.uint64(63))


@lean
def enter(work: SparseWork, node: BitNode) -> None:
    """Make the rows of a node those that are inside."""
    inside, bits, before, after = work.inside, work.inside_bits, work.span[0], work.span[1]
    rows, start, end = node.rows, node.start, node.end
    work.span[0], work.span[1] = start, end
    # Of a descendant of the node entered last, only the rows that it lacks leave.
    inner = before <= start and end <= after
    first_end, second_start = (start, end) if inner else (after, after)
    if counts_words(work):
        flip(bits, node, before, first_end)
        flip(bits, node, second_start, after)
        if not inner:
            flip(bits, node, start, end)
        return
    for i in range(before, first_end):
        inside[rows[i]] = 0
    for i in range(second_start, after):
        inside[rows[i]] = 0
    if not inner:
        for i in range(start, end):
            inside[rows[i]] = node.by_row[rows[i]]


@lean
def sum_bits(bits: Words, node: BitNode, drawn: Ints, sums: Longs) -> None:
    """Sum the weights of those of a few rows that the features' bits have."""
    for p in range(drawn.shape[0]):
        total = np.int64(0)
        # Unsigned indices spare the question whether they count from the end.
        for i in range(np.uint64(node.start), np.uint64(node.end)):
            row = np.uint64(node.rows[i])
            bit = np.int64(bits[drawn[p], row >> np.uint64(6)] >> (row & np.uint64(63))) & 1
            total += node.by_row[row] & -bit
        sums[p] = total


@lean
def sum_words(bits: Words, inside_bits: Words, signs: Longs, drawn: Ints, sums: Longs) -> None:
    """Sum the weights of the rows inside that the features' bits have, by counting those of each sign."""
    for p in range(drawn.shape[0]):
        f, n_plus, n_minus = drawn[p], np.uint64(0), np.uint64(0)
        for w in range(bits.shape[1]):
            n_plus += count_ones(bits[f, w] & inside_bits[0, w])
            n_minus += count_ones(bits[f, w] & inside_bits[1, w])
        sums[p] = np.int64(n_plus) * signs[0] + np.int64(n_minus) * signs[1]


@lean
def sum_lists(column_start: Longs, column_rows: Ints, inside: Longs, drawn: Ints, sums: Longs) -> None:
    """Sum the weights of the rows inside that the features list."""
    for p in range(drawn.shape[0]):
        total = np.int64(0)
        for j in range(np.uint64(column_start[drawn[p]]), np.uint64(column_start[drawn[p] + 1])):
            total += inside[np.uint64(column_rows[j])]
        sums[p] = total


@lean
def sum_few(few: Longs, first_slot: Ints, drawn: Ints, sums: Longs) -> None:
    """Read off the sums that stand in `few`."""
    for p in range(drawn.shape[0]):
        first = first_slot[drawn[p]]
        sums[p] = few[first] if first < few.shape[0] else 0


@lean
def search_several(
    features: SparseBins, work: SparseWork, way: int, f: int, total: int, limits: Limits, floor: float
) -> tuple[float, int, int, int]:
    """Find the best threshold of a feature with several slots."""
    first, last, few = features.first_slot[f], features.end_slot[f], work.few
    if way == BY_LISTS:
        common = features.common_bins[f]
        for j in range(features.column_start[f], features.column_start[f + 1]):
            bin_ = np.int64(features.column_bins[j])
            few[first + bin_ - int(bin_ > common)] += work.inside[features.column_rows[j]]
    n_occupied, missing = list_bins(features, work, few, work.all_slots, first, last, total)
    if way == BY_LISTS:
        few[first:last] = 0
    return best_threshold(
        work.bins, work.sums, n_occupied, missing, features.missing_bins[f] - 1, total, limits, floor
    )


@lean
def search_drawn(
    features: SparseBins, work: SparseWork, node: BitNode, order: Order, limits: Limits
) -> Split:
    """Search the first features of a random order, and more until one can be split."""
    n_touched, total = 0, node.total
    way = cheapest_way(features, work, node.end - node.start, order.n_drawn)
    if way == BY_CELLS:
        n_touched = collect(features, node, work.few, work.touched)
    elif way != BY_BITS:
        enter(work, node)

    in_order, n_drawn, n_single, sums = order.order, order.n_drawn, features.n_single, work.drawn_sums
    first_slot, end_slot, slot_bin = features.first_slot, features.end_slot, features.slot_bin
    gain, best_feature, best_bin, best_side, best_left = -1.0, -1, 0, -1, 0
    for visited in range(in_order.shape[0]):
        if visited >= n_drawn and best_feature >= 0:
            break
        if visited % AT_ONCE == 0:
            # As if each had a single slot.
            drawn = in_order[visited : visited + AT_ONCE]
            if way == BY_CELLS:
                sum_few(work.few, first_slot, drawn, sums)
            elif way == BY_BITS:
                sum_bits(work.bits, node, drawn, sums)
            elif way == BY_WORDS:
                sum_words(work.bits, work.inside_bits, work.signs, drawn, sums)
            else:
                sum_lists(features.column_start, features.column_rows, work.inside, drawn, sums)
        f = in_order[visited]
        first = first_slot[f]
        if first < n_single:
            child = sums[visited % AT_ONCE]
            if child == 0 or child == total:
                continue
            found, threshold, side = split_gain(child, total, limits, gain), 0, -1
            left = child if slot_bin[first] == 0 else total - child
        elif first < end_slot[f]:
            found, threshold, side, left = search_several(features, work, way, f, total, limits, gain)
        else:
            continue
        if found > gain:
            gain, best_feature, best_bin, best_side, best_left = found, f, threshold, side, left
            if gain == np.inf:
                break
    for i in range(n_touched):
        work.few[work.touched[i]] = 0
    return gain, best_feature, best_bin, best_side, best_left
