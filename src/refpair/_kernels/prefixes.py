"""The likeliest labels, as many of them as cost least: a start for local search."""

from __future__ import annotations

import numpy as np

from refpair._kernels.f_measure import sort_slots
from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Bytes, Floats, Ints, Longs

__all__ = ["best_prefixes"]


@helper
def n_sizes_worth_a_look(
    vectors: Ints, weight: Floats, size_of_vector: Longs, least: Floats, n_sizes: int, at_most: float
) -> int:
    """Return n if no set of n labels or more can cost as little as `at_most`, whatever its labels are."""
    weight_of_size = np.zeros(least.shape[1])
    for j in range(vectors.shape[0]):
        weight_of_size[size_of_vector[vectors[j]]] += weight[j]
    while n_sizes > 1:
        bound = 0.0
        for s in range(least.shape[1]):
            bound += weight_of_size[s] * least[n_sizes - 1, s]
        if bound <= at_most:
            break
        n_sizes -= 1
    return n_sizes


@kernel
def best_prefixes(
    start: Longs,
    index: Ints,
    weight: Floats,
    label_start: Longs,
    label_index: Ints,
    first_cell: Longs,
    by_cell: Floats,
    size_of_vector: Longs,
    least: Floats,
    slack: float,
    n_labels: int,
) -> Bytes:
    """Return, of the sets of a row's 0, 1, 2, … most probable labels, the one of least expected cost.

    The arguments are those of ``local_search.search``, but the table has a row for each cell and a column for
    each |z|: a vector's costs against one set after the other are near each other. All sets together take one
    pass over the labels of the row's vectors, and each vector one over the sets.

    ``least[m, s]`` is the least cost of any m labels where the truth has the size number s, which is
    ``size_of_vector[v]`` for vector v: sets that are too large to be best are not looked at. The slack is
    what rounding may change an expected cost by.
    """
    n = start.shape[0] - 1
    out = np.zeros((n, n_labels), np.uint8)
    marginals = np.empty(n_labels)
    place = np.empty(n_labels, np.int64)
    steps = np.empty(n_labels + 1, np.uint64)
    costs = np.empty(n_labels + 1)
    flat, width = by_cell.ravel(), by_cell.shape[1]
    for i in range(n):
        vectors, w = index[start[i] : start[i + 1]], weight[start[i] : start[i + 1]]
        marginals[:] = 0.0
        for j in range(vectors.shape[0]):
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                marginals[label_index[a]] += w[j]
        order = np.nonzero(marginals)[0]
        sort_slots(order, marginals)
        place[:] = n_labels  # of labels in no set; if there are any, the sets are fewer
        place[order] = np.arange(1, order.shape[0] + 1)

        n_sizes = min(order.shape[0] + 1, width)
        likely = min(int(marginals.sum() + 0.5), n_sizes - 1)  # a size that is not far from the best
        cost = 0.0
        for j in range(vectors.shape[0]):
            cell = first_cell[vectors[j]]
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                cell += int(place[label_index[a]] <= likely)
            cost += w[j] * by_cell[cell, likely]
        n_sizes = n_sizes_worth_a_look(vectors, w, size_of_vector, least, n_sizes, cost + slack)
        costs[:] = 0.0
        for j in range(vectors.shape[0]):
            # A set with one more label of the vector is a cell further. Places in the table are unsigned: a
            # signed one might count from the end, and to ask each time takes as long as the rest.
            steps[:] = 0
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                steps[place[label_index[a]]] = width
            at = np.uint64(first_cell[vectors[j]] * width)
            for m in range(n_sizes):
                at += steps[m]
                costs[m] += w[j] * flat[at + np.uint64(m)]
        best = 0
        for m in range(1, n_sizes):
            if costs[m] < costs[best]:
                best = m
        out[i, order[:best]] = 1
    return out
