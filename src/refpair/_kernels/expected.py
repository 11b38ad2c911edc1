"""Expected costs of label sets under a cost of the counts, given as a table.

A cost of the counts is a function of |z|, |y| and tp. The table has a row for each |z| and in it a run of
cells for each |y|, one for each tp from 0 to |y|; that of vector v begins at ``first_cell[v]``.
Cells of counts that cannot be hold 0.

If labels are independent, tp and fn are too, each a count of independent labels, for which a recursion over
the labels gives the probabilities. If moreover a cost never rises with tp for given |y| and |z|, then the
best set of m labels is that of the m likeliest: to exchange a label for a likelier one changes tp only where
exactly one of the two is there, and this is more often the likelier one.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.f_measure import TAIL, Entries, sort_slots
from refpair._kernels.jit import Bytes, Floats, Ints, Longs, helper, kernel


def expected_costs(
    entries: Entries, first_cell: Longs, table: Floats, table_row: Longs, labels: Bytes
) -> Floats:
    """Return the expected cost of labels[i] for each row i; table_row tells the table's row of a size |z|."""
    out = np.zeros(len(entries[0]) - 1)
    rows = table_row[labels.sum(axis=1, dtype=np.int64)]
    add_expected_costs(entries, first_cell, table, rows, labels, out)
    return out


@kernel
def add_expected_costs(
    entries: Entries, first_cell: Longs, table: Floats, rows: Longs, labels: Bytes, out: Floats
) -> None:
    """Add the expected cost of labels[i] to ``out[i]``, by the row of the table that it is given."""
    start, index, weight, label_start, label_index = entries
    for i in range(out.shape[0]):
        for j in range(start[i], start[i + 1]):
            v = index[j]
            cell = first_cell[v]
            for a in range(label_start[v], label_start[v + 1]):
                cell += labels[i, label_index[a]]
            out[i] += weight[j] * table[rows[i], cell]


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
    entries: Entries,
    first: Longs,
    by_cell: Floats,
    sizes: Longs,
    least: Floats,
    slack: float,
    n_labels: int,
) -> Bytes:
    """Return, of the sets of a row's 0, 1, 2, … most probable labels, the one of least expected cost.

    The table `by_cell` has a row for each cell and a column for each |z|: a vector's costs against one set
    after the other are near each other. ``least[m, s]`` is the least cost of any m labels where the truth has
    the size number s, which is ``sizes[v]`` for vector v: sets that are too large to be best are not looked
    at. The slack is what rounding may change an expected cost by.
    """
    start, index, weight, label_start, label_index = entries
    n = start.shape[0] - 1
    out = np.zeros((n, n_labels), np.uint8)
    marginals, place = np.empty(n_labels), np.empty(n_labels, np.int64)
    steps, costs = np.empty(n_labels + 1, np.uint64), np.empty(n_labels + 1)
    flat, width = by_cell.ravel(), by_cell.shape[1]
    for i in range(n):
        vectors, w = index[start[i] : start[i + 1]], weight[start[i] : start[i + 1]]
        marginals[:] = 0.0
        for j in range(vectors.shape[0]):
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                marginals[label_index[a]] += w[j]
        order = np.nonzero(marginals)[0]
        sort_slots(order, order.shape[0], marginals)
        place[:] = n_labels  # of labels in no set; if there are any, the sets are fewer
        place[order] = np.arange(1, order.shape[0] + 1)

        n_sizes = min(order.shape[0] + 1, width)
        likely = min(int(marginals.sum() + 0.5), n_sizes - 1)  # a size that is not far from the best
        cost = 0.0
        for j in range(vectors.shape[0]):
            cell = first[vectors[j]]
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                cell += int(place[label_index[a]] <= likely)
            cost += w[j] * by_cell[cell, likely]
        n_sizes = n_sizes_worth_a_look(vectors, w, sizes, least, n_sizes, cost + slack)
        costs[:] = 0.0
        for j in range(vectors.shape[0]):
            # A set with one more label of the vector is a cell further. Places in the table are unsigned: a
            # signed one might count from the end, and to ask each time takes as long as the rest.
            steps[:] = 0
            for a in range(label_start[vectors[j]], label_start[vectors[j] + 1]):
                steps[place[label_index[a]]] = width
            at = np.uint64(first[vectors[j]] * width)
            for m in range(n_sizes):
                at += steps[m]
                costs[m] += w[j] * flat[at + np.uint64(m)]
        best = 0
        for m in range(1, n_sizes):
            if costs[m] < costs[best]:
                best = m
        out[i, order[:best]] = 1
    return out


@helper
def add_label(before: Floats, chance: float, after: Floats) -> None:
    """Find the probabilities of the counts with one more label; counts past the end of the array are lost."""
    for s in range(before.shape[0] - 1, 0, -1):
        after[s] = before[s] * (1.0 - chance) + before[s - 1] * chance
    after[0] = before[0] * (1.0 - chance)


@kernel
def best_prefixes_of_independent(marginals: Floats, first_cell: Longs, table: Floats, slack: float) -> Bytes:
    """Return, of the sets of a row's 0, 1, 2, … likeliest labels, the smallest of least expected cost.

    Sizes s of truths that `first_cell` leaves out must be as good as impossible.
    """
    n, n_labels = marginals.shape
    out = np.zeros((n, n_labels), np.uint8)
    n_counts = first_cell.shape[0]
    hits = np.empty(n_counts)
    misses = np.empty((n_labels + 1, n_counts))
    for i in range(n):
        order = np.arange(n_labels)
        sort_slots(order, n_labels, marginals[i])
        misses[n_labels] = 0.0
        misses[n_labels, 0] = 1.0
        for m in range(n_labels - 1, -1, -1):
            add_label(misses[m + 1], marginals[i, order[m]], misses[m])
        hits[:] = 0.0
        hits[0] = 1.0
        best, least = 0, np.inf
        for m in range(min(n_labels + 1, table.shape[0])):
            if m > 0:
                add_label(hits, marginals[i, order[m - 1]], hits)
            low, high = 0, n_counts - 1
            while low < high and misses[m, low] < TAIL:
                low += 1
            while high > low and misses[m, high] < TAIL:
                high -= 1
            cost = 0.0
            for tp in range(min(m + 1, n_counts)):
                if hits[tp] < TAIL:
                    continue
                part = 0.0
                for fn in range(low, min(high + 1, n_counts - tp)):
                    part += misses[m, fn] * table[m, first_cell[tp + fn] + tp]
                cost += hits[tp] * part
            if cost < least - slack:
                best, least = m, cost
        out[i, order[:best]] = 1
    return out


@kernel
def sum_costs(cells: Longs, rows: Longs, weight: Floats, costs: Floats) -> Floats:
    """Return the expected cost of each label set i: it is ``costs[rows[i], cells[i, j]]`` under vector j."""
    out = np.zeros(len(cells))
    for i in range(cells.shape[0]):
        of_size = costs[rows[i]]
        for j in range(cells.shape[1]):
            out[i] += weight[j] * of_size[cells[i, j]]
    return out


@kernel
def write_counts(chances: Floats, out: Floats) -> None:
    """Write the probabilities that 0, 1, 2, … of the independent events of a row happen, as many as fit."""
    most = out.shape[1] - 1
    for i in range(chances.shape[0]):
        for s in range(most + 1):
            out[i, s] = 0.0
        out[i, 0] = 1.0
        top = 0
        for k in range(chances.shape[1]):
            chance = chances[i, k]
            if chance == 0.0:
                continue
            top = min(top + 1, most)
            for s in range(top, 0, -1):
                out[i, s] = out[i, s] * (1.0 - chance) + out[i, s - 1] * chance
            out[i, 0] *= 1.0 - chance
