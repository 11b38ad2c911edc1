"""Sum what the leaves of a forest say about label vectors."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import kernel
from refpair._kernels.types import Floats, Ints, Longs

__all__ = ["sum_leaves"]


@kernel
def sum_leaves(
    leaves: Ints, tree_start: Longs, start: Longs, index: Ints, weight: Floats, n_vectors: int
) -> tuple[Longs, Ints, Floats]:
    """Return the mean distribution of the leaves that each row reaches, sparse: start, index and weight.

    Row i reaches node ``leaves[i, t]`` of tree t, which is node ``tree_start[t] + leaves[i, t]`` of all. Node
    j puts ``weight[start[j] : start[j + 1]]``, all above zero, on these vectors of ``index``.
    """
    n, n_trees = leaves.shape
    capacity = 0
    for i in range(n):
        n_summed = 0
        for t in range(n_trees):
            node = tree_start[t] + leaves[i, t]
            n_summed += start[node + 1] - start[node]
        capacity += min(n_summed, n_vectors)

    out_start = np.zeros(n + 1, np.int64)
    out_index = np.empty(capacity, np.int32)
    out_weight = np.empty(capacity)
    sums = np.zeros(n_vectors)  # cleared after each row where it was written, not as a whole
    end = 0
    for i in range(n):
        total = 0.0
        for t in range(n_trees):
            node = tree_start[t] + leaves[i, t]
            for j in range(start[node], start[node + 1]):
                vector = index[j]
                if sums[vector] == 0.0:
                    out_index[end] = vector
                    end += 1
                sums[vector] += weight[j]
                total += weight[j]
        for j in range(out_start[i], end):
            out_weight[j] = sums[out_index[j]] / total
            sums[out_index[j]] = 0.0
        out_start[i + 1] = end
    return out_start, out_index[:end].copy(), out_weight[:end].copy()
