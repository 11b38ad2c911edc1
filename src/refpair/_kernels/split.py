"""The best threshold of one feature in one node: the only place where gains are computed.

With S and W of a node (see ``packed``), parting off a child with s and w lowers the weighted Gini impurity in
proportion to

    (s·W − S·w)² / (w·(W − w)).

The difference is taken in integers, so it is exact and the same for either child. No split is worth more than
W² − S², the value of two pure children. Such a split is given an infinite gain: nothing beats it, and saying
so in integers lets a search stop there without depending on how a quotient was rounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels.jit import helper
from refpair._kernels.packed import row_count, signed_sum, weight_sum
from refpair._kernels.types import Longs

# A candidate below the best by more than rounding is thrown out by a product; only the rest pays for a
# division.
NEARLY = 1.0 - 1e-9


class Limits(NamedTuple):
    """What stops a tree, and how its sums are packed."""

    max_depth: int
    min_samples_leaf: int
    weight_bits: int
    count_bits: int


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
    bins: Longs,
    sums: Longs,
    n_occupied: int,
    missing: int,
    last_bin: int,
    total: int,
    limits: Limits,
    floor: float,
) -> tuple[float, int, int, int]:
    """Find the best threshold of a feature from its occupied bins.

    Parameters
    ----------
    bins : int array
        The bins that hold rows of the node, ascending; `n_occupied` of them, the bin of missing values left
        out.
    sums : int64 array
        Their packed sums.
    n_occupied : int
    missing : int64
        The packed sum of the node's rows where the feature is missing; 0 if there are none.
    last_bin : int
        The feature's last bin of finite values; used only if some are missing.
    total : int64
        The packed sum of the node.
    limits : Limits
    floor : float
        Gains below it do not matter.

    Returns
    -------
    gain : float
        −1 if no allowed split reaches `floor`.
    threshold : int
        Bins up to this one go left. It lies half-way between two occupied bins: the tree knows nothing about
        the values between them.
    missing_side : int
        Where missing values go: 1 left, 0 right, −1 if the node has none.
    left : int64
        The packed sum of the left child.
    """
    gain, threshold, missing_side, best_left = -1.0, 0, 0 if missing != 0 else -1, 0
    left = 0
    for i in range(n_occupied - 1):
        left += sums[i]
        candidate = split_gain(left, total, limits, max(gain, floor))
        if candidate > gain:
            gain, threshold, best_left = candidate, (bins[i] + bins[i + 1]) >> 1, left
    if missing != 0 and n_occupied > 0:
        left += sums[n_occupied - 1]
        candidate = split_gain(left, total, limits, max(gain, floor))
        if candidate > gain:
            gain, threshold, best_left = candidate, last_bin, left
        left = missing
        for i in range(n_occupied - 1):
            left += sums[i]
            candidate = split_gain(left, total, limits, max(gain, floor))
            if candidate > gain:
                gain, threshold, best_left, missing_side = candidate, (bins[i] + bins[i + 1]) >> 1, left, 1
    return gain, threshold, missing_side, best_left
