"""Sparse features for :mod:`refpair._kernels.grow`: only the cells that differ from their feature's common bin.

Each pair of a feature and a bin other than its common one is a *slot*. Slots are numbered by feature, then by bin, but
features with a single slot (two values, the usual case of sparse data) come before all others. A row is the list of its slots, a histogram has a sum for each slot, and what the common bin holds is the node's total
minus the rest. The time goes with the stored cells, never with rows × features.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from refpair._kernels import grow
from refpair._kernels.split import best_threshold, highest_gain, split_gain


class SparseBins(NamedTuple):
    """The cells that are not in their feature's common bin, by row and by feature."""

    row_start: Any  # (n + 1,) int64
    row_slots: Any  # (cells,) int32, ascending within a row
    column_start: Any  # (d + 1,) int64
    column_rows: Any  # (cells,) int32
    column_bins: Any  # (cells,) uint8
    first_slot: Any  # (d,) int32: the slots of each feature ...
    end_slot: Any  # (d,) int32: ... and where they end
    slot_feature: Any  # (slots,) int32
    slot_bin: Any  # (slots,) uint8, ascending within a feature
    common_bins: Any  # (d,) int32
    n_bins: Any  # (d,) int32
    n_single: int  # how many features have a single slot, and none of their values missing
    missing_bins: Any  # (d,) int32: the bin of missing values, always the last; -1 if none was missing


class SparseWork(NamedTuple):
    """Scratch memory of one call."""

    histograms: Any  # (kept, slots) int64
    active: Any  # (kept, slots) int32: the slots of a kept histogram that hold rows, ascending
    n_active: Any  # (kept,) int64
    few: Any  # (slots,) int64: the sums of a small node, zero between uses
    touched: Any  # (slots,) int32
    all_slots: Any  # (slots,) int32: 0, 1, 2, ...
    place: Any  # (n,) int32: where a row stands in its tree's list of rows; -1 if it is not there
    bins: Any  # (widest,) int64
    sums: Any  # (widest,) int64


def is_sparse(features: Any) -> bool:
    """Whether numba sees `features` as :class:`SparseBins`."""
    return isinstance(features, numba.types.NamedTuple) and features.instance_class is SparseBins


@overload(grow.make_workspace)
def _make_workspace(features, n_rows, keep_histograms):
    if not is_sparse(features):
        return None

    def make_workspace(features, n_rows, keep_histograms):
        n_slots, widest = features.slot_bin.shape[0], features.n_bins.max()
        n_kept = 0
        if keep_histograms:
            while (1 << n_kept) <= n_rows // grow.SMALL_NODE + 1:
                n_kept += 1
            n_kept += 1
        return SparseWork(
            np.zeros((n_kept, n_slots), np.int64),
            np.empty((n_kept, n_slots + 1), np.int32),
            np.zeros(n_kept, np.int64),
            np.zeros(n_slots, np.int64),
            np.empty(n_slots + 1, np.int32),
            np.arange(n_slots).astype(np.int32),
            np.empty(n_rows, np.int32),
            np.empty(widest + 1, np.int64),
            np.empty(widest + 1, np.int64),
        )

    return make_workspace


@overload(grow.start_tree)
def _start_tree(features, work, rows, n_kept):
    if not is_sparse(features):
        return None

    def start_tree(features, work, rows, n_kept):
        work.place[:] = -1
        for i in range(n_kept):
            work.place[rows[i]] = i

    return start_tree


@overload(grow.make_histogram)
def _make_histogram(features, work, slot, rows, by_row, start, end):
    if not is_sparse(features):
        return None

    def make_histogram(features, work, slot, rows, by_row, start, end):
        histogram, active = work.histograms[slot], work.active[slot]
        histogram[:] = 0
        for i in range(start, end):
            row = rows[i]
            value = by_row[row]
            for j in range(features.row_start[row], features.row_start[row + 1]):
                histogram[features.row_slots[j]] += value
        n_active = 0
        for s in range(histogram.shape[0]):
            active[n_active] = s
            n_active += histogram[s] != 0
        work.n_active[slot] = n_active

    return make_histogram


@overload(grow.hand_down)
def _hand_down(features, work, slot, small_slot, rows, by_row, start, end):
    if not is_sparse(features):
        return None

    def hand_down(features, work, slot, small_slot, rows, by_row, start, end):
        histogram = work.histograms[slot]
        if small_slot >= 0:
            grow.make_histogram(features, work, small_slot, rows, by_row, start, end)
            for i in range(work.n_active[small_slot]):
                s = work.active[small_slot, i]
                histogram[s] -= work.histograms[small_slot, s]
        else:
            for i in range(start, end):
                row = rows[i]
                value = by_row[row]
                for j in range(features.row_start[row], features.row_start[row + 1]):
                    histogram[features.row_slots[j]] -= value
        active, n_active = work.active[slot], 0
        for i in range(work.n_active[slot]):
            s = active[i]
            active[n_active] = s
            n_active += histogram[s] != 0
        work.n_active[slot] = n_active

    return hand_down


@numba.njit
def collect(features, rows, by_row, start, end, few, touched):
    """Sum a small node's rows into `few`, and list the slots that they touch."""
    n_touched = 0
    for i in range(start, end):
        row = rows[i]
        value = by_row[row]
        for j in range(features.row_start[row], features.row_start[row + 1]):
            s = features.row_slots[j]
            touched[n_touched] = s
            n_touched += few[s] == 0
            few[s] += value
    return n_touched


@numba.njit
def list_bins(features, histogram, slots, first, last, total, bins, sums):
    """List the occupied bins of one feature, ascending, from its slots ``slots[first:last]``; the common bin is added.

    Returns the number of bins and the sum of the missing values, which are not listed.
    """
    f = features.slot_feature[slots[first]]
    common, missing_bin = features.common_bins[f], features.missing_bins[f]
    rest = total
    for i in range(first, last):
        rest -= histogram[slots[i]]
    n_occupied, missing = 0, np.int64(0)
    for i in range(first, last + 1):
        if rest != 0 and (i == last or features.slot_bin[slots[i]] > common):
            if common == missing_bin:
                missing = rest
            else:
                bins[n_occupied], sums[n_occupied] = common, rest
                n_occupied += 1
            rest = np.int64(0)
        if i < last and histogram[slots[i]] != 0:
            if features.slot_bin[slots[i]] == missing_bin:
                missing = histogram[slots[i]]
            else:
                bins[n_occupied], sums[n_occupied] = features.slot_bin[slots[i]], histogram[slots[i]]
                n_occupied += 1
    return n_occupied, missing


@numba.njit(cache=True, nogil=True, error_model="numpy")
def search_all(features, work, histogram, slots, n_slots, total, order, turn, limits):
    """Search every feature that varies in a node, given the slots that hold rows, ascending by feature."""
    n_features = features.common_bins.shape[0]
    highest = highest_gain(total, limits)
    gain, best_feature, best_bin, best_side, best_left = -1.0, -1, 0, -1, np.int64(0)
    best_place, first = n_features, 0
    while first < n_slots and slots[first] < features.n_single:
        s = slots[first]
        first += 1
        # An infinite gain may still be met by a feature that comes earlier in the random order.
        found = split_gain(histogram[s], total, limits, min(gain, highest))
        if found >= gain and found >= 0.0 and histogram[s] != total:
            f = features.slot_feature[s]
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
        n_occupied, missing = list_bins(features, histogram, slots, first, last, total, work.bins, work.sums)
        first = last
        found, threshold, side, left = best_threshold(
            work.bins,
            work.sums,
            n_occupied,
            missing,
            features.missing_bins[f] - 1,
            total,
            limits,
            min(gain, highest),
        )
        if found >= gain and found >= 0.0:
            place = order.place[f] - turn
            if place < 0:
                place += n_features
            if found > gain or place < best_place:
                gain, best_feature, best_bin, best_side, best_left = found, f, threshold, side, left
                best_place = place
    return gain, best_feature, best_bin, best_side, best_left


@numba.njit(cache=True, nogil=True, error_model="numpy")
def search_some(features, work, total, order, limits):
    """Search the first features of a random order, and more until one can be split; the sums stand in ``work.few``."""
    gain, best_feature, best_bin, best_side, best_left = -1.0, -1, 0, -1, np.int64(0)
    for visited in range(order.order.shape[0]):
        if visited >= limits.max_features and best_feature >= 0:
            break
        f = order.order[visited]
        first, last = features.first_slot[f], features.end_slot[f]
        if first == last:
            continue
        n_occupied, missing = list_bins(
            features, work.few, work.all_slots, first, last, total, work.bins, work.sums
        )
        found, threshold, side, left = best_threshold(
            work.bins, work.sums, n_occupied, missing, features.missing_bins[f] - 1, total, limits, gain
        )
        if found > gain:
            gain, best_feature, best_bin, best_side, best_left = found, f, threshold, side, left
            if gain == np.inf:
                break
    return gain, best_feature, best_bin, best_side, best_left


@overload(grow.search)
def _search(features, work, slot, rows, by_row, start, end, total, order, turn, limits):
    if not is_sparse(features):
        return None

    def search(features, work, slot, rows, by_row, start, end, total, order, turn, limits):
        if slot >= 0:
            histogram, slots, n_slots = work.histograms[slot], work.active[slot], work.n_active[slot]
            return search_all(features, work, histogram, slots, n_slots, total, order, turn, limits)
        few, touched = work.few, work.touched
        n_touched = collect(features, rows, by_row, start, end, few, touched)
        if limits.max_features < order.order.shape[0]:
            split = search_some(features, work, total, order, limits)
        else:
            if features.n_single < features.slot_bin.shape[0]:
                # Some features have several slots: bring them together.
                touched[:n_touched].sort()
            split = search_all(features, work, few, touched, n_touched, total, order, turn, limits)
        for i in range(n_touched):
            few[touched[i]] = 0
        return split

    return search


@numba.njit
def find_bin(features, row, f):
    """Return the bin of one cell, by bisection of the row's slots."""
    low, high = features.row_start[row], features.row_start[row + 1]
    first, last = features.first_slot[f], features.end_slot[f]
    end = high
    while low < high:
        middle = (low + high) >> 1
        if features.row_slots[middle] < first:
            low = middle + 1
        else:
            high = middle
    if low < end and features.row_slots[low] < last:
        return np.int64(features.slot_bin[features.row_slots[low]])
    return np.int64(features.common_bins[f])


@numba.njit
def swap_rows(rows, place, i, j):
    """Exchange two rows of the list and keep `place` true."""
    a, b = rows[i], rows[j]
    rows[i], rows[j] = b, a
    place[a], place[b] = j, i


@overload(grow.part_rows)
def _part_rows(features, work, split, rows, start, end):
    if not is_sparse(features):
        return None

    def part_rows(features, work, split, rows, start, end):
        _, f, threshold, side, _ = split
        place, missing_bin = work.place, features.missing_bins[f]
        common = features.common_bins[f]
        common_left = side == 1 if common == missing_bin else common <= threshold
        first, last = features.column_start[f], features.column_start[f + 1]
        left, right = start, end
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

    return part_rows
