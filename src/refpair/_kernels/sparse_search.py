"""The best split of a node of sparse features from the sums of its slots; ``sparse`` says what a slot is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refpair._kernels.forms import Order, Split
from refpair._kernels.jit import lean
from refpair._kernels.split import Limits, best_threshold, highest_gain, split_gain
from refpair._kernels.types import Ints, Longs

if TYPE_CHECKING:
    from refpair._kernels.sparse import SparseBins, SparseWork


@lean
def collect(
    features: SparseBins, rows: Ints, by_row: Longs, start: int, end: int, few: Longs, touched: Ints
) -> int:
    """Sum a small node's rows into `few`, and list the slots that they touch."""
    n_touched = 0
    for i in range(start, end):
        row = rows[i]
        value = by_row[row]
        for j in range(features.row_start[row], features.row_start[row + 1]):
            s = features.row_slots[j]
            touched[n_touched] = s
            n_touched += int(few[s] == 0)
            few[s] += value
    return n_touched


@lean
def list_bins(
    features: SparseBins,
    histogram: Longs,
    slots: Ints,
    first: int,
    last: int,
    total: int,
    bins: Longs,
    sums: Longs,
) -> tuple[int, int]:
    """List the occupied bins of one feature, ascending: its slots ``slots[first:last]`` and its common bin.

    Returns the number of bins and the sum of the missing values, which are not listed.
    """
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
