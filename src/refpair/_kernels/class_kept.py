"""When the counts of a node are made, handed down and forgotten; ``class_counts`` says what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refpair._kernels.class_counts import NONE, Counts, are_used, give_back, subtract, take
from refpair._kernels.class_forms import count_cells
from refpair._kernels.class_split import Node, Numbers, Work
from refpair._kernels.forms import SMALL_NODE
from refpair._kernels.jit import inline
from refpair._kernels.types import Ints

if TYPE_CHECKING:
    from refpair._kernels.class_forms import SparseRows
    from refpair._kernels.dense import DenseBins


@inline
def count_anew(features: DenseBins | SparseRows, counts: Counts, rows: Numbers, of_row: Ints) -> int:
    """Count the cells of a large node; return where."""
    counted = take(counts)
    kept = counts.kept[counted]
    for i in range(kept.shape[0]):
        kept[i] = 0
    count_cells(features, rows, of_row, 1, kept)
    return counted


@inline
def count_node(
    features: DenseBins | SparseRows,
    counts: Counts,
    counted: int,
    rows: Numbers,
    of_row: Ints,
    node: Node,
    names: Ints,
    work: Work,
) -> int:
    """Count the cells of a node that is searched, unless they were handed down; return where they are."""
    if not are_used(counts):
        return NONE
    for name in range(counts.width):
        counts.totals[name] = 0
    for c in range(node.n_classes):
        counts.totals[names[c]] = work.totals[c]
    if counted != NONE:
        return counted
    if node.n_rows > SMALL_NODE:
        return count_anew(features, counts, rows, of_row)
    counted = counts.kept.shape[0] - 1
    count_cells(features, rows, of_row, 1, counts.kept[counted])
    return counted


@inline
def forget_counts(
    features: DenseBins | SparseRows, counts: Counts, counted: int, rows: Numbers, of_row: Ints
) -> None:
    """Let other nodes have the counts of one that is done."""
    if counted == NONE:
        return
    if rows.shape[0] > SMALL_NODE:
        give_back(counts, counted)
    else:
        count_cells(features, rows, of_row, -1, counts.kept[counted])


@inline
def hand_down(
    features: DenseBins | SparseRows,
    counts: Counts,
    counted: int,
    rows: Numbers,
    small_rows: Numbers,
    of_row: Ints,
) -> tuple[int, int]:
    """Make the counts of a node those of its larger child; return where the two children's are."""
    if counted == NONE or rows.shape[0] - small_rows.shape[0] <= SMALL_NODE:
        forget_counts(features, counts, counted, rows, of_row)
        return NONE, NONE
    if small_rows.shape[0] <= SMALL_NODE:
        count_cells(features, small_rows, of_row, -1, counts.kept[counted])
        return counted, NONE
    small = count_anew(features, counts, small_rows, of_row)
    subtract(counts, counted, small)
    return counted, small
