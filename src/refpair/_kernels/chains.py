"""Trees of classifier chains: after the features of a row come the labels that the chain has set so far.

The paths of a row have the same features, and differ only in the labels. They go down a tree together, up to
64 of them as the bits of a machine word, and part only where a node asks for a label. With 40 paths a row on
yeast that takes a tenth of the time of each path going alone (0.33 s for 3.4 s, 100 draws).
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.binning import MISSING
from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Bools, Bytes, Floats, Ints, Longs, Words
from refpair._kernels.words import trailing_zeros

__all__ = ["round_draws", "sum_values"]

_TOGETHER = 64  # paths: the bits of a word


@kernel
def sum_values(
    codes: Bytes,
    row: Longs,
    paths: Bytes,
    tree_start: Longs,
    feature: Ints,
    threshold: Bytes,
    missing_left: Bools,
    left_child: Ints,
    value: Floats,
    out: Floats,
) -> None:
    """Write to ``out[i]`` the sum over the trees of the values of the leaves that a path reaches.

    Path i has the features ``codes[row[i]]`` and then the labels ``paths[i]``; rows are not copied for it.
    A label's bins are 0 and 1, as it is in all training rows one of them, or else no tree asks for it.
    Paths of the same row may be anywhere, but it is their being neighbours that makes this fast.
    """
    n_features, n_labels = codes.shape[1], paths.shape[1]
    begin = _groups(row)
    has_label = _words(paths, begin)
    waiting_node = np.empty(n_labels + 1, np.int64)  # for which some paths have left the others
    waiting = np.empty(n_labels + 1, np.uint64)
    out[:] = 0.0
    for tree in range(tree_start.shape[0] - 1):
        root = tree_start[tree]
        for group in range(begin.shape[0] - 1):
            first = begin[group]
            mine = codes[row[first]]
            node = root
            here = ~np.uint64(0) >> np.uint64(_TOGETHER - (begin[group + 1] - first))
            n_waiting = 0
            while True:
                f = feature[node]
                if f < 0:
                    while here:
                        out[first + trailing_zeros(here)] += value[node]
                        here &= here - np.uint64(1)
                    if n_waiting == 0:
                        break
                    n_waiting -= 1
                    node, here = waiting_node[n_waiting], waiting[n_waiting]
                    continue
                left = root + left_child[node]
                if f < n_features:
                    code = np.int64(mine[f])
                    goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                    node = left + (not goes_left)
                    continue
                ones = here & has_label[group, f - n_features]
                node = left + (ones != 0)
                if ones != 0 and ones != here:
                    waiting_node[n_waiting], waiting[n_waiting] = left, here ^ ones
                    n_waiting += 1
                    here = ones


@helper
def _groups(row: Longs) -> Longs:
    """Return where the groups of paths begin, each of one row, and at the end the number of paths."""
    begin = np.empty(row.shape[0] + 1, np.int64)
    n_groups = 0
    for i in range(row.shape[0]):
        if i == 0 or row[i] != row[i - 1] or i - begin[n_groups - 1] == _TOGETHER:
            begin[n_groups] = i
            n_groups += 1
    begin[n_groups] = row.shape[0]
    return begin[: n_groups + 1]


@helper
def _words(paths: Bytes, begin: Longs) -> Words:
    """Return for each group and label which paths have it, as the bits of a word."""
    words = np.zeros((begin.shape[0] - 1, paths.shape[1]), np.uint64)
    for group in range(begin.shape[0] - 1):
        for i in range(begin[group], begin[group + 1]):
            bit = np.uint64(1) << np.uint64(i - begin[group])
            for label in range(paths.shape[1]):
                if paths[i, label]:
                    words[group, label] |= bit
    return words


@kernel
def round_draws(expected: Floats, row: Longs, uniform: float) -> Floats:
    """Round the expected numbers of a row's draws at random, each up or down, and so that its mean is right.

    This is systematic sampling: also the sum over the paths of a row is rounded up or down, so that the draws
    tell far more of the chance of a label than as many that know nothing of each other. Paths of a row are
    neighbours.
    """
    out = np.empty(row.shape[0], np.float64)
    total, drawn = 0.0, 0.0
    for i in range(row.shape[0]):
        if i == 0 or row[i] != row[i - 1]:
            total, drawn = 0.0, 0.0
        total += expected[i]
        upto = np.floor(total + uniform)
        out[i] = upto - drawn
        drawn = upto
    return out
