"""The likeliest labels, as many of them as cost least: a start for local search."""

from __future__ import annotations

import numpy as np

from refpair._kernels.f_measure import sort_slots
from refpair._kernels.jit import kernel
from refpair._kernels.types import Bytes, Floats, Ints, Longs

__all__ = ["best_prefixes"]


@kernel
def best_prefixes(
    start: Longs,
    index: Ints,
    weight: Floats,
    label_start: Longs,
    label_index: Ints,
    first_cell: Longs,
    table: Floats,
    n_labels: int,
) -> Bytes:
    """Return, of the sets of a row's 0, 1, 2, … most probable labels, the one of least expected cost.

    The arguments are those of ``local_search.search``. All sets together take one pass over the labels of the
    row's vectors, and for each set one over the vectors.
    """
    n = start.shape[0] - 1
    out = np.zeros((n, n_labels), np.uint8)
    marginals = np.empty(n_labels)
    place = np.empty(n_labels, np.int64)
    for i in range(n):
        vectors, w = index[start[i] : start[i + 1]], weight[start[i] : start[i + 1]]
        marginals[:] = 0.0
        for j in range(vectors.shape[0]):
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                marginals[label_index[a]] += w[j]
        order = np.nonzero(marginals)[0]
        sort_slots(order, marginals)
        place[order] = np.arange(order.shape[0])

        # Which vectors have a label, label after label in this order: a counting sort.
        ends = np.zeros(order.shape[0] + 1, np.int64)
        for j in range(vectors.shape[0]):
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                if marginals[label_index[a]] > 0.0:
                    ends[place[label_index[a]] + 1] += 1
        ends = np.cumsum(ends)
        owners = np.empty(ends[-1], np.int64)
        for j in range(vectors.shape[0]):
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                if marginals[label_index[a]] > 0.0:
                    owners[ends[place[label_index[a]]]] = j
                    ends[place[label_index[a]]] += 1

        cells = first_cell[vectors]
        best, least, seen = 0, np.inf, 0
        for m in range(min(order.shape[0] + 1, table.shape[0])):
            if m > 0:
                while seen < ends[m - 1]:
                    cells[owners[seen]] += 1
                    seen += 1
            cost = 0.0
            for j in range(cells.shape[0]):
                cost += w[j] * table[m, cells[j]]
            if cost < least:
                best, least = m, cost
        out[i, order[:best]] = 1
    return out
