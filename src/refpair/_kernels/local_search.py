"""Label sets of low expected cost, by local search, for any cost of the counts.

The search takes the cheapest of some starts and then the flip of one label that lowers the expected cost
most, until no flip does; then the best swap of two labels, one in and one out, and so on until nothing helps.
The expected costs of all flips come from one pass over the labels of the row's vectors: with T the table of
costs (see ``expected.py``) and t_i the overlap of vector i, of size s_i, with the set z of m labels,

    E C(z + k) = Σ_i w_i T[m + 1, s_i, t_i] + Σ_{i has k} w_i (T[m + 1, s_i, t_i + 1] − T[m + 1, s_i, t_i]).

Some T here are of counts that cannot be, where a vector has all labels that are not in z; they cancel.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from refpair._kernels.f_measure import Entries
from refpair._kernels.jit import Bytes, Floats, Ints, Longs, helper, kernel

# The vectors that a row puts weight on and their weights; the labels of all vectors and their first cells.
Row: TypeAlias = tuple[Ints, Floats, Longs, Ints, Longs]


@helper
def find_cells(
    vectors: Ints, label_start: Longs, label_index: Ints, first_cell: Longs, z: Bytes, cells: Longs
) -> None:
    """Find the cell of each vector against the labels z: that of its size and its overlap with z."""
    for i in range(vectors.shape[0]):
        v = vectors[i]
        cell = first_cell[v]
        for a in range(label_start[v], label_start[v + 1]):
            cell += z[label_index[a]]
        cells[i] = cell


@helper
def sum_cells(weight: Floats, cells: Longs, costs: Floats) -> float:
    """Return the expected cost, given a table's row."""
    total = 0.0
    for i in range(cells.shape[0]):
        total += weight[i] * costs[cells[i]]
    return total


@helper
def size_of(z: Bytes) -> int:
    """Return the number of labels."""
    size = 0
    for k in range(z.shape[0]):
        size += z[k]
    return size


@helper
def add_steps(row: Row, cells: Longs, z: Bytes, fewer: Floats, more: Floats, gains: Floats) -> None:
    """Add to gains[k] what the vectors with label k cost more if the label is flipped.

    The table's rows for the set after the flip are `fewer` if a label is cleared and `more` if it is set.
    """
    vectors, weight, label_start, label_index, first_cell = row
    for i in range(vectors.shape[0]):
        v, cell = vectors[i], cells[i]
        first, end = label_start[v], label_start[v + 1]
        overlap = cell - first_cell[v]
        cleared = weight[i] * (fewer[cell - 1] - fewer[cell]) if overlap > 0 else 0.0
        added = weight[i] * (more[cell + 1] - more[cell]) if overlap < end - first else 0.0
        for a in range(first, end):
            k = label_index[a]
            gains[k] += cleared if z[k] else added


@helper
def best_flip(
    row: Row, table: Floats, cells: Longs, z: Bytes, size: int, cost: float, gains: Floats
) -> tuple[int, float]:
    """Return the label whose flip gives the least expected cost, and this cost; −1 if none is below cost."""
    best, weight = -1, row[1]
    gains[:] = 0.0
    # Where there is no smaller or no larger set any row will do: what is made of it is not used.
    least, most = max(size - 1, 0), min(size + 1, table.shape[0] - 1)
    add_steps(row, cells, z, table[least], table[most], gains)
    fewer = sum_cells(weight, cells, table[least])
    more = sum_cells(weight, cells, table[most]) if most > size else np.inf
    for k in range(z.shape[0]):
        after = gains[k] + (fewer if z[k] else more)
        if after < cost:
            best, cost = k, after
    return best, cost


@helper
def curvature(costs: Floats, cell: int) -> float:
    """Return what a vector costs more with one label less and with one more, beyond what it costs now."""
    return float(costs[cell + 1] - costs[cell] + costs[cell - 1] - costs[cell])


@helper
def least_gain_in(row: Row, costs: Floats, cells: Longs, z: Bytes, gains: Floats) -> float:
    """Return a lower bound of what setting a label adds to the cost of a swap, whichever label goes out."""
    vectors, weight, label_start, label_index, first_cell = row
    bound = gains.copy()
    for i in range(vectors.shape[0]):
        first, end = label_start[vectors[i]], label_start[vectors[i] + 1]
        overlap = cells[i] - first_cell[vectors[i]]
        if 0 < overlap < end - first:
            back = weight[i] * curvature(costs, cells[i])
            if back > 0.0:
                for a in range(first, end):
                    bound[label_index[a]] -= back
    least = np.inf
    for k in range(z.shape[0]):
        if z[k] == 0:
            least = min(least, bound[k])
    return least


@helper
def best_swap(
    row: Row, costs: Floats, cells: Longs, z: Bytes, cost: float, slack: float, gains: Floats
) -> tuple[int, int, float]:
    """Return the label to clear, the label to set and the expected cost then; −1, −1 if none is below cost.

    The swap costs what clearing and setting cost, each alone and the size as it is, except that a vector
    with both labels costs no more than before: that is taken back pair by pair. There are many pairs, so a
    label is ruled out at once if no swap of it can be below cost, whatever is taken back. The bound is
    rounded otherwise than the costs are, so it must exceed them by a hundred times the slack.
    """
    vectors, weight, label_start, label_index, _ = row
    n_labels = z.shape[0]
    gains[:] = 0.0
    add_steps(row, cells, z, costs, costs, gains)
    now = sum_cells(weight, cells, costs)
    least = now + least_gain_in(row, costs, cells, z, gains)
    place = np.full(n_labels, -1, np.int64)
    n_out = 0
    for j in range(n_labels):
        if z[j] and least + gains[j] < cost + 100.0 * slack:
            place[j] = n_out
            n_out += 1
    best_out = best_in = -1
    if n_out == 0:
        return best_out, best_in, cost
    back = np.zeros((n_out, n_labels))
    for i in range(vectors.shape[0]):
        first, end = label_start[vectors[i]], label_start[vectors[i] + 1]
        for a in range(first, end):
            if place[label_index[a]] < 0:
                continue
            of_label = back[place[label_index[a]]]
            for b in range(first, end):
                if z[label_index[b]] == 0:
                    of_label[label_index[b]] += weight[i] * curvature(costs, cells[i])
    for j in range(n_labels):
        if place[j] < 0:
            continue
        of_label = back[place[j]]
        for k in range(n_labels):
            if z[k] == 0:
                after = now + gains[j] + gains[k] - of_label[k]
                if after < cost:
                    best_out, best_in, cost = j, k, after
    return best_out, best_in, cost


@helper
def likely_vectors(weight: Floats, n_likely: int) -> Longs:
    """Return the places of the largest weights, in falling order, ties by place."""
    found = np.empty(min(n_likely, weight.shape[0]), np.int64)
    for c in range(found.shape[0]):
        best = -1
        for i in range(weight.shape[0]):
            if best >= 0 and weight[i] <= weight[best]:
                continue
            last = found[c - 1]
            if c == 0 or weight[i] < weight[last] or (weight[i] == weight[last] and i > last):
                best = i
        found[c] = best
    return found


@kernel
def search(
    entries: Entries, first_cell: Longs, table: Floats, starts: Bytes, n_likely: int, slack: float
) -> Bytes:
    """Return labels (n, n_labels) whose expected cost no flip and no swap of labels lowers.

    No set of a size that the table has no row for is looked at. The search starts at the cheapest of
    starts[:, i] and the row's n_likely most probable vectors.
    """
    start, index, weight, label_start, label_index = entries
    n, n_labels = starts.shape[1], starts.shape[2]
    out = np.zeros((n, n_labels), np.uint8)
    all_cells = np.empty(index.shape[0], np.int64)
    gains = np.empty(n_labels)
    z = np.empty(n_labels, np.uint8)
    for i in range(n):
        own = slice(start[i], start[i + 1])
        vectors, w, cells = index[own], weight[own], all_cells[own]
        row = (vectors, w, label_start, label_index, first_cell)
        likely = likely_vectors(w, n_likely)
        cost = np.inf
        for c in range(starts.shape[0] + likely.shape[0]):
            if c < starts.shape[0]:
                z[:] = starts[c, i]
            else:
                v = vectors[likely[c - starts.shape[0]]]
                z[:] = 0
                z[label_index[label_start[v] : label_start[v + 1]]] = 1
            size = size_of(z)
            if size < table.shape[0]:
                find_cells(vectors, label_start, label_index, first_cell, z, cells)
                after = sum_cells(w, cells, table[size])
                if after < cost - slack:
                    cost = after
                    out[i] = z
        z[:] = out[i]  # the empty set, if all starts were too large
        while True:
            size = size_of(z)
            find_cells(vectors, label_start, label_index, first_cell, z, cells)
            cost = sum_cells(w, cells, table[size])
            k, _ = best_flip(row, table, cells, z, size, cost - slack, gains)
            if k >= 0:
                z[k] = 1 - z[k]
                continue
            j, k, _ = best_swap(row, table[size], cells, z, cost - slack, slack, gains)
            if k < 0:
                break
            z[j], z[k] = 0, 1
        out[i] = z
    return out
