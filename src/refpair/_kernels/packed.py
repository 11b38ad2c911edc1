"""Exact weighted sums, two or three to a machine word, and the best threshold of a feature from them.

A row of a bit carries the signed weight ``±w``: plus if the first reference vector is cheaper. Trees need, of
any set of rows, ``S = Σ ±w``, ``W = Σ w`` and sometimes the number of rows. Weights are quantised to integers
and the three sums share one ``int64``::

    packed = S << (weight_bits + count_bits)  |  W << count_bits  |  count

One addition then updates all of them, and as integer sums are exact, dense and sparse input, any number of
threads and any chunking give the same tree. ``count_bits`` is 0 unless ``min_samples_leaf > 1``, which leaves
31 bits for W: about 2³¹/n steps for the mean weight of n rows.

A row may count as several: what one row would weigh is multiplied by the row's own weight, so that a whole
weight w gives the sums of w copies. Other weights are given in parts of their mean, and products are rounded.

With S and W of a node, parting off a child with s and w lowers the weighted Gini impurity in proportion to

    (s·W − S·w)² / (w·(W − w)).

The difference is taken in integers, so it is exact and the same for either child. No split is worth more than
W² − S², the value of two pure children. Such a split is given an infinite gain: a search may stop there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from refpair._kernels.jit import Floats, Ints, Longs, helper

# A candidate below the best by more than rounding is thrown out by a product; only the rest pays for a
# division.
NEARLY = 1.0 - 1e-9


class Limits(NamedTuple):
    """What stops a tree, and how its sums are packed."""

    max_depth: int
    min_samples_leaf: int
    weight_bits: int
    count_bits: int


def field_widths(n_rows: int, min_samples_leaf: int) -> tuple[int, int]:
    """Return ``(weight_bits, count_bits)`` for sums over at most `n_rows` rows, copies counted."""
    count_bits = 0 if min_samples_leaf <= 1 else math.ceil(math.log2(n_rows + 1))
    weight_bits = (63 - count_bits) // 2
    if 1 << weight_bits < 4 * n_rows:
        raise ValueError(
            f"{n_rows} training rows are too many for min_samples_leaf={min_samples_leaf}: "
            "use min_samples_leaf=1 (limit depth with max_depth) or fit on a sample of the rows"
        )
    return weight_bits, count_bits


@helper
def signed_sum(packed: int, weight_bits: int, count_bits: int) -> int:
    """Return S: the weight for the first reference vector minus that for the second."""
    return packed >> (weight_bits + count_bits)


@helper
def weight_sum(packed: int, weight_bits: int, count_bits: int) -> int:
    """Return W: the total weight."""
    return (packed >> count_bits) & ((1 << weight_bits) - 1)


@helper
def row_count(packed: int, count_bits: int) -> int:
    """Return the number of rows (meaningless when ``count_bits`` is 0)."""
    return packed & ((1 << count_bits) - 1)


@helper
def n_copies(row_weight: Floats, rows: Ints, start: int, end: int) -> int:
    """Return how many copies some rows stand for: a row the whole part of its weight, 1 at least."""
    if row_weight.shape[0] == 0:
        return end - start
    total = np.int64(0)
    for i in range(start, end):
        total += max(np.int64(1), np.int64(row_weight[rows[i]]))
    return int(total)


@helper
def weight_of(row_weight: Floats, row: int) -> float:
    """Return how often a row counts: once if there are no weights."""
    return float(row_weight[row]) if row_weight.shape[0] > 0 else 1.0


@helper
def pack_row_weights(
    differences: Floats,
    vector_of_row: Ints,
    row_weight: Floats,
    rows: Ints,
    weight_bits: int,
    count_bits: int,
    values: Longs,
    kept: Ints,
) -> int:
    """Quantise a bit's weights, C(y, β) − C(y, α) by label vector, and pack those of some rows into `values`.

    Rows that tie are left out; the others are listed in `kept`. Returns how many they are. `row_weight` tells
    how often each row counts; it is empty if all count once.
    """
    # In parts of the largest weight, so that neither a huge nor a tiny cost leaves the range of the floats.
    largest, total, most_copies = 0.0, 0.0, 0.0
    for i in range(rows.shape[0]):
        largest = max(largest, abs(differences[vector_of_row[rows[i]]]))
    if largest == 0.0:
        return 0
    for i in range(rows.shape[0]):
        times = weight_of(row_weight, rows[i])
        total += abs(differences[vector_of_row[rows[i]]]) / largest * times
        most_copies += max(times, 1.0)
    # Weights are rounded up to at least 1, and so are products: hence the room left for two units a copy.
    scale = (float((1 << weight_bits) - 1) - 2.0 * most_copies) / total
    n_kept = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        difference = differences[vector_of_row[row]]
        if difference != 0.0:
            times = weight_of(row_weight, row)
            weight = max(np.int64(1), np.int64(abs(difference) / largest * scale + 0.5))
            weight = max(np.int64(1), np.int64(float(weight) * times + 0.5))
            one_row = max(np.int64(1), np.int64(times)) if count_bits > 0 else np.int64(0)
            signed = weight if difference > 0.0 else -weight
            values[row] = (signed << (weight_bits + count_bits)) + (weight << count_bits) + one_row
            kept[n_kept] = row
            n_kept += 1
    return n_kept


@helper
def highest_gain(total: int, limits: Limits) -> float:
    """Return W² − S², which no finite gain exceeds but for rounding."""
    s = float(signed_sum(total, limits.weight_bits, limits.count_bits))
    w = float(weight_sum(total, limits.weight_bits, limits.count_bits))
    return w * w - s * s


@helper
def split_gain(child: int, total: int, limits: Limits, floor: float) -> float:
    """Return the gain of parting `child` from a node's `total`, or −1 if below `floor` or forbidden."""
    if limits.count_bits > 0:
        n_child = row_count(child, limits.count_bits)
        n_other = row_count(total, limits.count_bits) - n_child
        if min(n_child, n_other) < limits.min_samples_leaf:
            return -1.0
    s = signed_sum(child, limits.weight_bits, limits.count_bits)
    w = weight_sum(child, limits.weight_bits, limits.count_bits)
    s_total = signed_sum(total, limits.weight_bits, limits.count_bits)
    w_total = weight_sum(total, limits.weight_bits, limits.count_bits)
    contrast = float(s * w_total - s_total * w)  # |contrast| <= W²/2 < 2**62: no overflow
    numerator = contrast * contrast
    denominator = float(w) * float(w_total - w)
    if numerator < floor * denominator * NEARLY:
        return -1.0
    if abs(s) == w and abs(s_total - s) == w_total - w:
        return np.inf
    return numerator / denominator


@helper
def may_reach(histogram: Longs, n_bins: int, total: int, limits: Limits, floor: float) -> bool:
    """Whether a feature may have a threshold with a gain of `floor`: a quick look that is never wrongly no.

    Most features of a node are far from the best, so this look, in floats and at half the price, spares the
    exact search. Divided by W², the gain is u² / (w·(W − w)) with u = s − (S / W)·w. Rounding changes u by
    less than 2W / 2⁵³. Where the floor is above W² / 10⁶, a split that reaches it has u > √W / 1500, so that
    u² is wrong by less than one part in 10⁷; below that floor the answer is always yes. Where all rows are
    left or all are right, u² is nothing but rounding, less than 10⁻³⁰ W².
    """
    s_total = float(signed_sum(total, limits.weight_bits, limits.count_bits))
    w_total = float(weight_sum(total, limits.weight_bits, limits.count_bits))
    mean, enough = s_total / w_total, floor / (w_total * w_total)
    if enough < 1e-6:
        return True
    enough, rounding = enough * (1.0 - 1e-6), 1e-30 * w_total * w_total
    left, reached = np.int64(0), False
    for b in range(n_bins):
        left += histogram[b]
        s = float(signed_sum(left, limits.weight_bits, limits.count_bits))
        w = float(weight_sum(left, limits.weight_bits, limits.count_bits))
        u = s - mean * w
        reached |= u * u > enough * (w * (w_total - w)) + rounding
    return reached


@helper
def best_threshold(
    bins: Longs, sums: Longs, n_bins: int, missing: int, last: int, total: int, limits: Limits, floor: float
) -> tuple[float, int, int, int]:
    """Return a feature's best gain, its threshold, the side of missing values and the packed sum on the left.

    `bins` are the ones that hold rows of the node, ascending, without that of missing values, and `sums` are
    theirs; `missing` is the sum where the feature is missing, 0 if it nowhere is; `last` the last bin of
    finite values. The gain is −1 if no allowed split reaches `floor`. The threshold, up to which bins go
    left, lies half-way between two of them. The side is 1 (left), 0 (right) or −1 (none is missing).
    """
    gain, threshold, missing_side, best_left = -1.0, 0, 0 if missing != 0 else -1, 0
    left = 0
    for i in range(n_bins - 1):
        left += sums[i]
        candidate = split_gain(left, total, limits, max(gain, floor))
        if candidate > gain:
            gain, threshold, best_left = candidate, (bins[i] + bins[i + 1]) >> 1, left
    if missing != 0 and n_bins > 0:
        left += sums[n_bins - 1]
        candidate = split_gain(left, total, limits, max(gain, floor))
        if candidate > gain:
            gain, threshold, best_left = candidate, last, left
        left = missing
        for i in range(n_bins - 1):
            left += sums[i]
            candidate = split_gain(left, total, limits, max(gain, floor))
            if candidate > gain:
                gain, threshold, best_left, missing_side = candidate, (bins[i] + bins[i + 1]) >> 1, left, 1
    return gain, threshold, missing_side, best_left
