"""The best threshold of one feature in one node of a tree of classes.

A split with L_c rows of class c left and R_c right is worth

    Σ L_c² / L + Σ R_c² / R,

which is the more, the lower the Gini impurity of its sides. All sums are of whole numbers, so dense and
sparse features see the same ones; below 300,000 rows equal splits are equal to the last bit. The sums follow
a row from one side to the other in a step or two: with T_c rows of class c in the node,

    Σ R_c² = Σ T_c² − 2 Σ T_c L_c + Σ L_c².

A row may count as several copies, whose number stands in front of its class, in a label of 64 bits. Where
all rows count once, labels have 32 bits, and the compiler leaves out what is done with copies.

Classes are numbered anew in each node, by those that are there, so that no loop runs over all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from refpair._kernels.jit import (
    INLINE,
    Bytes,
    Ints,
    Longs,
    Numbers,
    Words,
    by_form,
    implements,
    inline,
    trailing_zeros,
)
from refpair._kernels.packed import NEARLY

MASK_BELOW = 24  # rows


class Alike(NamedTuple):
    """Rows that all count once."""


class Copies(NamedTuple):
    """Rows that count as several."""

    of_row: Longs  # (n,): how many, in all less than 2³¹


Times: TypeAlias = Alike | Copies
Labels: TypeAlias = Numbers | Words  # classes, those of `Copies` with how often their row counts in front

times_of = by_form("return how often a row counts")
count_copies = by_form("return how often some rows count in all")
label_of = by_form("return the class of a row with how often that counts")


@implements(times_of, Alike, INLINE)
def times_of_alike(times: Alike, row: int) -> int:
    """Return 1."""
    return 1


@implements(times_of, Copies, INLINE)
def times_of_copies(times: Copies, row: int) -> int:
    """Look it up."""
    return int(times.of_row[row])


@implements(count_copies, Alike, INLINE)
def count_alike(times: Alike, rows: Numbers) -> int:
    """Return how many rows there are."""
    return len(rows)


@implements(count_copies, Copies, INLINE)
def count_of_copies(times: Copies, rows: Numbers) -> int:
    """Add up their copies."""
    total = 0
    for i in range(rows.shape[0]):
        total += times.of_row[rows[i]]
    return total


@implements(label_of, Alike, INLINE)
def label_of_alike(times: Alike, row: int, c: int) -> int:
    """Return the class alone."""
    return c


@implements(label_of, Copies, INLINE)
def label_of_copies(times: Copies, row: int, c: int) -> np.uint64:
    """Put the two into one word."""
    return np.uint64(times.of_row[row]) << np.uint64(32) | np.uint64(np.uint32(c))


@inline
def class_of(label: np.uint32 | np.uint64) -> np.uint32:
    """Return the class in a label."""
    return np.uint32(label)


@inline
def times_in(label: np.uint32 | np.uint64) -> int:
    """Return how often the row of a label counts: of 32 bits, once."""
    return int(max(np.int64(1), np.int64(np.uint64(label) >> np.uint64(32))))


class Node(NamedTuple):
    """What a node knows of its classes."""

    rows: Numbers
    size: int  # how many rows there are, copies counted
    n_classes: int  # of those that are there
    square: int  # Σ T_c²
    mark: int  # see `Work.marks`
    least: int  # how many rows each side of a split has at least, copies counted


class Work(NamedTuple):
    """Scratch memory of one call. Classes are those of the node, and rows count as often as `times` says."""

    times: Times
    totals: Longs  # (classes + 1,): T_c
    left: Longs  # (classes + 1,): L_c, zero between uses
    labels: Labels  # (n,): those of the node's rows
    marks: Ints  # (n,): of a row of the node, its class plus the node's mark; of other rows, less than it
    found: Labels  # (n + 1,): the labels of the rows that a feature stores ...
    found_bins: Bytes  # (n + 1,): ... and their bins
    ordered: Labels  # (n,): the labels again, by bin
    bins: Longs  # (258,): the occupied bins, ascending ...
    first: Longs  # (258,): ... and where their rows begin in `ordered`; −1: those that are not stored
    end: Longs  # (258,)
    sizes: Longs  # (256,): rows by bin, zero between uses
    mask: Words  # (4,): the bins that hold rows, zero between uses
    spare_rows: Numbers  # (n,)
    cells: Ints  # (n,): one more than a row's bin, zero between uses


def make_work(n_rows: int, n_classes: int, times: Times) -> Work:
    """Allocate what one call needs."""
    n_local = min(n_rows, n_classes) + 1
    label: Any = np.uint64 if isinstance(times, Copies) else np.uint32
    return Work(
        times,
        np.zeros(n_local, np.int64),
        np.zeros(n_local, np.int64),
        np.empty(n_rows, label),
        np.full(n_rows, -1, np.int32),
        np.empty(n_rows + 1, label),
        np.empty(n_rows + 1, np.uint8),
        np.empty(n_rows, label),
        np.empty(258, np.int64),
        np.empty(258, np.int64),
        np.empty(258, np.int64),
        np.zeros(256, np.int64),
        np.zeros(4, np.uint64),
        np.empty(n_rows, np.uint32),
        np.zeros(n_rows, np.int32),
    )


@inline
def split_worth(node: Node, size: int, square: int, cross: int, floor: float) -> float:
    """Return what it is worth to part a child from a node; −1 if less than `floor` or if a side is too small.

    `size` is the child's number of rows, copies counted, `square` its Σ L_c² and `cross` its Σ T_c L_c.
    """
    other = node.size - size
    if min(size, other) < node.least:
        return -1.0
    denominator = float(size) * float(other)
    # The sum is the same whichever of the two children is asked for.
    numerator = float(square) * float(other) + float(node.square - 2 * cross + square) * float(size)
    if numerator < floor * denominator * NEARLY:
        return -1.0
    return numerator / denominator


@inline
def worth_of_stored(work: Work, node: Node, n_found: int, floor: float) -> float:
    """Return what it is worth to part the rows that a feature stores from the others."""
    found, left, totals = work.found, work.left, work.totals
    size, square, cross = 0, 0, 0
    for i in range(n_found):
        c, times = class_of(found[i]), times_in(found[i])
        size += times
        square += times * (2 * left[c] + times)
        left[c] += times
        cross += times * totals[c]
    for i in range(n_found):
        left[class_of(found[i])] = 0
    return split_worth(node, size, square, cross, floor)


@inline
def list_bin(work: Work, n_occupied: int, b: int, begin: int) -> int:
    """List an occupied bin, whose rows begin at a place in `ordered`; return where they end."""
    end = begin + int(work.sizes[b])
    work.bins[n_occupied], work.first[n_occupied], work.end[n_occupied] = b, begin, end
    work.sizes[b] = begin  # from here on: where the bin's next row goes
    return end


@inline
def sort_by_bin(work: Work, found: Labels, n_found: int) -> int:
    """Bring the labels of the rows found into the order of their bins; list the bins, return how many."""
    sizes, mask, found_bins = work.sizes, work.mask, work.found_bins
    highest = 0
    for i in range(n_found):
        b = int(found_bins[i])
        sizes[found_bins[i]] += 1
        highest = max(highest, b)
    n_occupied, begin = 0, 0
    if n_found > MASK_BELOW:
        for b in range(highest + 1):
            if sizes[b] > 0:
                begin = list_bin(work, n_occupied, b, begin)
                n_occupied += 1
    else:  # a bit mask spares the walk over empty bins
        for i in range(n_found):
            mask[found_bins[i] >> 6] |= np.uint64(1) << np.uint64(found_bins[i] & 63)
        for w in range((highest >> 6) + 1):
            word = mask[w]
            mask[w] = np.uint64(0)
            while word != np.uint64(0):
                begin = list_bin(work, n_occupied, int(trailing_zeros(word)) + 64 * w, begin)
                n_occupied += 1
                word &= word - np.uint64(1)
    for i in range(n_found):
        b = found_bins[i]
        work.ordered[np.uint32(sizes[b])] = found[i]
        sizes[b] += 1
    for g in range(n_occupied):
        sizes[work.bins[g]] = 0
    return n_occupied


@inline
def insert_common(work: Work, n_occupied: int, common: int) -> None:
    """Put the bin of the rows that are not stored among the occupied ones."""
    g = n_occupied
    while g > 0 and work.bins[g - 1] > common:
        work.bins[g], work.first[g], work.end[g] = work.bins[g - 1], work.first[g - 1], work.end[g - 1]
        g -= 1
    work.bins[g], work.first[g], work.end[g] = common, -1, -1


@inline
def add_bin(
    work: Work, node: Node, g: int, n_found: int, size: int, square: int, cross: int
) -> tuple[int, int, int]:
    """Move the rows of the occupied bin number `g` to the left side; return its new sums."""
    left, totals = work.left, work.totals
    if work.first[g] >= 0:
        for i in range(work.first[g], work.end[g]):
            label = work.ordered[np.uint32(i)]
            c, times = class_of(label), times_in(label)
            size += times
            square += times * (2 * left[c] + times)
            left[c] += times
            cross += times * totals[c]
        return size, square, cross
    for own in range(node.n_classes):
        left[own] += totals[own]
    size += node.size
    for i in range(n_found):
        label = work.ordered[i]
        left[class_of(label)] -= times_in(label)
        size -= times_in(label)
    square, cross = 0, 0
    for own in range(node.n_classes):
        square += left[own] * left[own]
        cross += left[own] * totals[own]
    return size, square, cross


@inline
def walk(
    work: Work, node: Node, n_occupied: int, missing: int, n_found: int, floor: float
) -> tuple[float, int]:
    """Move bin after bin to the left, those of missing values first if `missing` is not −1.

    Returns the best worth, if above `floor`, and the number of the last bin on the left.
    """
    size, square, cross = 0, 0, 0
    best, best_last = floor, -1
    if missing >= 0:
        size, square, cross = add_bin(work, node, missing, n_found, size, square, cross)
    for g in range(n_occupied - 1):
        size, square, cross = add_bin(work, node, g, n_found, size, square, cross)
        worth = split_worth(node, size, square, cross, best)
        if worth > best:
            best, best_last = worth, g
    for c in range(node.n_classes):
        work.left[c] = 0
    return best, best_last


@inline
def best_threshold(
    work: Work, node: Node, found: Labels, n_found: int, common: int, missing_bin: int, floor: float
) -> tuple[float, int, int]:
    """Return what a feature's best split is worth, its threshold and the side of missing values.

    ``work.found_bins`` holds the bins of the rows `found`, given by their labels; the node's others are in
    the bin `common`. The worth is `floor` if no split is worth more; else as of ``packed.best_threshold``.
    """
    n_occupied = sort_by_bin(work, found, n_found)
    if n_found < node.rows.shape[0]:
        insert_common(work, n_occupied, common)
        n_occupied += 1
    if n_occupied < 2:
        return floor, 0, -1
    bins = work.bins
    some_missing = bins[n_occupied - 1] == missing_bin
    if some_missing:
        n_occupied -= 1
    best, last = walk(work, node, n_occupied, -1, n_found, floor)
    threshold = (bins[last] + bins[last + 1]) >> 1 if last >= 0 else 0
    if not some_missing:
        return best, threshold, -1
    side, missing = 0, n_occupied  # missing values stand behind the others
    size, square, cross = add_bin(work, node, missing, n_found, 0, 0, 0)
    for c in range(node.n_classes):
        work.left[c] = 0
    worth = split_worth(node, size, square, cross, best)
    if worth > best:
        best, threshold = worth, missing_bin - 1
    worth, last = walk(work, node, n_occupied, missing, n_found, best)
    if last >= 0:
        best, threshold, side = worth, (bins[last] + bins[last + 1]) >> 1, 1
    return best, threshold, side
