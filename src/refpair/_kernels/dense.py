"""Dense features for :mod:`refpair._kernels.grow`: one byte a cell, a feature's column at a time."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.extending import overload

from refpair._kernels import grow
from refpair._kernels.split import best_threshold
from refpair._kernels.words import trailing_zeros


class DenseBins(NamedTuple):
    """The bin of each cell."""

    codes: Any  # (d, n) uint8
    n_bins: Any  # (d,) int32: how many bins a feature has, that of missing values included
    missing_bins: Any  # (d,) int32: the bin of missing values, always the last; -1 if none was missing


class DenseWork(NamedTuple):
    """Scratch memory of one call."""

    histograms: Any  # (slots, d, widest) int64
    values: Any  # (n,) int64: the packed weights in the order of a node's rows
    spare_rows: Any  # (n,) int32
    bins: Any  # (widest,) int64
    sums: Any  # (widest,) int64
    one_feature: Any  # (widest,) int64, zero between uses
    mask: Any  # (widest / 64,) uint64, zero between uses


def is_dense(features: Any) -> bool:
    """Whether numba sees `features` as :class:`DenseBins`."""
    return isinstance(features, numba.types.NamedTuple) and features.instance_class is DenseBins


@overload(grow.make_workspace)
def _make_workspace(features, n_rows, keep_histograms):
    if not is_dense(features):
        return None

    def make_workspace(features, n_rows, keep_histograms):
        n_features, widest = features.codes.shape[0], features.n_bins.max()
        n_slots = 0
        if keep_histograms:
            while (1 << n_slots) <= n_rows // grow.SMALL_NODE + 1:
                n_slots += 1
            n_slots += 1
        return DenseWork(
            np.empty((n_slots, n_features, widest), np.int64),
            np.empty(n_rows, np.int64),
            np.empty(n_rows, np.int32),
            np.empty(widest + 1, np.int64),
            np.empty(widest + 1, np.int64),
            np.zeros(widest, np.int64),
            np.zeros((widest + 63) // 64, np.uint64),
        )

    return make_workspace


@overload(grow.start_tree)
def _start_tree(features, work, rows, n_kept):
    if not is_dense(features):
        return None
    return lambda features, work, rows, n_kept: None


@numba.njit(cache=True, nogil=True, error_model="numpy")
def gather(rows, by_row, start, end, values):
    """Lay the packed weights of a node's rows side by side."""
    for i in range(start, end):
        values[i - start] = by_row[rows[i]]
    return values[: end - start]


@overload(grow.make_histogram)
def _make_histogram(features, work, slot, rows, by_row, start, end):
    if not is_dense(features):
        return None

    def make_histogram(features, work, slot, rows, by_row, start, end):
        values, chosen = gather(rows, by_row, start, end, work.values), rows[start:end]
        histogram = work.histograms[slot]
        histogram[:] = 0
        for f in range(features.codes.shape[0]):
            column, bins = features.codes[f], histogram[f]
            for i in range(values.shape[0]):
                bins[column[chosen[i]]] += values[i]

    return make_histogram


@overload(grow.hand_down)
def _hand_down(features, work, slot, small_slot, rows, by_row, start, end):
    if not is_dense(features):
        return None

    def hand_down(features, work, slot, small_slot, rows, by_row, start, end):
        if small_slot >= 0:
            grow.make_histogram(features, work, small_slot, rows, by_row, start, end)
            larger, smaller = work.histograms[slot].reshape(-1), work.histograms[small_slot].reshape(-1)
            for i in range(larger.shape[0]):
                larger[i] -= smaller[i]
            return
        values, chosen = gather(rows, by_row, start, end, work.values), rows[start:end]
        for f in range(features.codes.shape[0]):
            column, bins = features.codes[f], work.histograms[slot, f]
            for i in range(values.shape[0]):
                bins[column[chosen[i]]] -= values[i]

    return hand_down


@numba.njit
def read_histogram(histogram, n_bins, bins, sums):
    """List a feature's occupied bins and their sums, ascending."""
    n_occupied = 0
    for code in range(n_bins):
        bins[n_occupied] = code
        sums[n_occupied] = histogram[code]
        n_occupied += histogram[code] != 0
    return n_occupied


@numba.njit
def read_rows(column, rows, values, one_feature, mask, bins, sums):
    """List the occupied bins of a few rows and their sums, ascending: a bit mask spares the walk over empty bins."""
    for i in range(rows.shape[0]):
        code = np.int64(column[rows[i]])
        one_feature[code] += values[i]
        mask[code >> 6] |= np.uint64(1) << np.uint64(code & 63)
    n_occupied = 0
    for w in range(mask.shape[0]):
        word = mask[w]
        mask[w] = np.uint64(0)
        while word != np.uint64(0):
            code = np.int64(trailing_zeros(word)) + 64 * w
            word &= word - np.uint64(1)
            bins[n_occupied] = code
            sums[n_occupied] = one_feature[code]
            one_feature[code] = 0
            n_occupied += 1
    return n_occupied


@overload(grow.search)
def _search(features, work, slot, rows, by_row, start, end, total, order, turn, limits):
    if not is_dense(features):
        return None

    def search(features, work, slot, rows, by_row, start, end, total, order, turn, limits):
        n_features, bins, sums = features.codes.shape[0], work.bins, work.sums
        values, chosen = gather(rows, by_row, start, end, work.values), rows[start:end]
        gain, best_feature, best_bin, best_side, best_left = -1.0, -1, 0, -1, np.int64(0)
        for visited in range(n_features):
            if visited >= limits.max_features and best_feature >= 0:
                break
            f = order.order[visited + turn if visited + turn < n_features else visited + turn - n_features]
            if slot >= 0:
                n_occupied = read_histogram(work.histograms[slot, f], features.n_bins[f], bins, sums)
            else:
                n_occupied = read_rows(
                    features.codes[f], chosen, values, work.one_feature, work.mask, bins, sums
                )
            missing = np.int64(0)
            if bins[n_occupied - 1] == features.missing_bins[f]:
                n_occupied -= 1
                missing = sums[n_occupied]
            found, bin_, side, left = best_threshold(
                bins, sums, n_occupied, missing, features.missing_bins[f] - 1, total, limits, gain
            )
            if found > gain:
                gain, best_feature, best_bin, best_side, best_left = found, f, bin_, side, left
                if gain == np.inf:
                    break
        return gain, best_feature, best_bin, best_side, best_left

    return search


@overload(grow.part_rows)
def _part_rows(features, work, split, rows, start, end):
    if not is_dense(features):
        return None

    def part_rows(features, work, split, rows, start, end):
        _, f, threshold, side, _ = split
        column, missing_bin, spare = features.codes[f], features.missing_bins[f], work.spare_rows
        left, right = start, 0
        for i in range(start, end):
            row = rows[i]
            code = np.int64(column[row])
            goes_left = side == 1 if code == missing_bin else code <= threshold
            # Both sides are written and one is overwritten: no branch to mispredict.
            rows[left] = row
            spare[right] = row
            left += goes_left
            right += not goes_left
        rows[left:end] = spare[:right]
        return left

    return part_rows
