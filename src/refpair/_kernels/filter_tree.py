"""Votes of the forests of a condensed filter tree."""

from __future__ import annotations

import numpy as np

from refpair._kernels.binning import MISSING
from refpair._kernels.jit import kernel
from refpair._kernels.types import Bools, Bytes, Floats, Ints, Longs, Words

__all__ = ["vote"]


@kernel
def vote(
    codes: Bytes,
    row: Longs,
    paths: Bytes,
    asked: Bools,
    n_asked: Longs,
    tree_start: Longs,
    feature: Ints,
    threshold: Bytes,
    missing_left: Bools,
    left_child: Ints,
    value: Floats,
    out: Bytes,
    looked_at: Words,
) -> None:
    """Write to ``out[i]`` whether the leaves that a path reaches have a positive sum.

    Path i has the features ``codes[row[i]]`` and then the labels ``paths[i]``, as in ``chains.sum_values``.
    It asks tree t only if ``asked[t, row[i]]``; ``n_asked[row[i]]`` counts these trees. No tree says more
    than 1 or less than −1, so those that are left need not be asked once they cannot change the vote.

    In ``looked_at[i]`` the bit l % 64 is set if the trees have looked at label l: as long as none of these
    labels changes, nor does the vote.
    """
    n_features, n_paths = codes.shape[1], row.shape[0]
    sums, left = np.zeros(n_paths), np.empty(n_paths, np.int64)
    for i in range(n_paths):
        left[i] = n_asked[row[i]]
        looked_at[i] = 0
    for tree in range(tree_start.shape[0] - 1):
        root = tree_start[tree]
        for i in range(n_paths):
            if abs(sums[i]) > left[i] or not asked[tree, row[i]]:
                continue
            mine = codes[row[i]]
            node = root
            while feature[node] >= 0:
                f = feature[node]
                if f < n_features:
                    code = np.int64(mine[f])
                    goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                else:
                    label = f - n_features
                    looked_at[i] |= np.uint64(1) << np.uint64(label & 63)
                    goes_left = paths[i, label] <= threshold[node]
                node = root + left_child[node] + (not goes_left)
            sums[i] += value[node]
            left[i] -= 1
    for i in range(n_paths):
        out[i] = sums[i] > 0.0
