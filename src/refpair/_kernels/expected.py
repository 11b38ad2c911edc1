"""Expected costs of label sets under a cost of the counts, given as a table.

A cost of the counts is a function of |z|, |y| and tp. The table has a row for each |z| and in it a run of
cells for each |y|, one for each tp from 0 to |y|; that of vector v begins at ``first_cell[v]``.
Cells of counts that cannot be hold 0.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Bytes, Floats, Ints, Longs

__all__ = ["expected_costs", "find_cells", "sum_cells"]


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


@kernel
def expected_costs(
    start: Longs,
    index: Ints,
    weight: Floats,
    label_start: Longs,
    label_index: Ints,
    first_cell: Longs,
    table: Floats,
    table_row: Longs,
    labels: Bytes,
) -> Floats:
    """Return the expected cost of labels[i] for each row i; table_row tells the table's row of a size |z|."""
    out = np.empty(start.shape[0] - 1)
    cells = np.empty(index.shape[0], np.int64)
    for i in range(out.shape[0]):
        row = slice(start[i], start[i + 1])
        z = labels[i]
        size = 0
        for k in range(z.shape[0]):
            size += z[k]
        find_cells(index[row], label_start, label_index, first_cell, z, cells[row])
        out[i] = sum_cells(weight[row], cells[row], table[table_row[size]])
    return out
