"""How many rows of each class the features of a node store.

Where a split looks at many sparse features it is quicker to go once through the stored cells of a node's rows
than through the rows of each feature. The counts of large nodes are kept: those of the larger child are its
parent's without those of the smaller one. Only features with a single slot (see ``sparse``) are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels.class_split import Node, split_worth
from refpair._kernels.forms import n_histograms
from refpair._kernels.jit import helper, inline
from refpair._kernels.types import Ints, Longs

# Beyond these, to clear and to subtract the counts of a node would take longer than to go through the rows of
# the features that a split looks at.
MOST_CLASSES = 16
MOST_CELLS = 1 << 17  # counts of one node, half a megabyte

NONE = -1  # in the place of a node's counts


class Counts(NamedTuple):
    """The counts of the nodes that wait, and of the one that is searched."""

    kept: Ints  # (kept + 1, slots * width): the last are those of a small node, zero between uses
    width: int  # classes, as they are named in the whole forest
    totals: Longs  # (width,): the rows of the node that is searched, by class
    free: Longs  # (kept,): which of `kept` no node has ...
    n_free: Longs  # (1,): ... and how many they are


@helper
def make_counts(n_slots: int, n_classes: int, n_rows: int) -> Counts:
    """Allocate what one call needs: nothing if there are no slots to count, or too many counts."""
    pays = 0 < n_slots * n_classes <= MOST_CELLS and n_classes <= MOST_CLASSES
    n_kept = n_histograms(n_rows) if pays else 0
    free = np.arange(n_kept)
    return Counts(
        np.zeros((n_kept + 1 if pays else 0, n_slots * n_classes), np.int32),
        n_classes,
        np.zeros(n_classes, np.int64),
        free,
        np.full(1, n_kept, np.int64),
    )


@inline
def are_used(counts: Counts) -> bool:
    """Whether nodes are searched by their counts."""
    return bool(counts.kept.shape[0] > 0)


@inline
def take(counts: Counts) -> int:
    """Take one of those that no node has, as its last owner left it."""
    counts.n_free[0] -= 1
    return int(counts.free[counts.n_free[0]])


@inline
def give_back(counts: Counts, counted: int) -> None:
    """Let other nodes have it."""
    counts.free[counts.n_free[0]] = counted
    counts.n_free[0] += 1


@inline
def subtract(counts: Counts, counted: int, other: int) -> None:
    """Subtract the counts of one node from those of another."""
    left, right = counts.kept[counted], counts.kept[other]
    for i in range(left.shape[0]):
        left[i] -= right[i]


@inline
def worth_of_counted(counts: Counts, counted: int, slot: int, node: Node, floor: float) -> float:
    """Return what it is worth to part the rows that a slot holds from the others."""
    first = slot * counts.width
    of_class, totals = counts.kept[counted, first : first + counts.width], counts.totals
    size, square, cross = 0, 0, 0
    for c in range(np.uint32(counts.width)):
        count = int(of_class[c])
        size += count
        square += count * count
        cross += count * int(totals[c])
    return split_worth(node, size, square, cross, floor)
