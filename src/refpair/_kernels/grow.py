"""Grow trees, a chunk a call, on whatever form the binned features have: what all share, and trees of bits.

The loops are the same for dense and sparse features; ``dense`` and ``sparse`` implement the functions below
that have no body. Both forms see the same integers (``packed``) and break ties by the same random order of
the features, so they grow the same trees. ``grow_classes`` grows those of several classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from refpair._kernels import rng
from refpair._kernels.jit import (
    ONE,
    ZERO,
    Bools,
    Bytes,
    Floats,
    Ints,
    Longs,
    Words,
    by_form,
    helper,
    inline,
    kernel,
)
from refpair._kernels.packed import Limits, n_copies, pack_row_weights, row_count, signed_sum, weight_sum
from refpair._kernels.walk import Nodes

# Gain, feature, threshold, side of missing values (1 left, 0 right, −1 there are none), sum on the left.
Split: TypeAlias = tuple[float, int, int, int, int]
Array = TypeVar("Array", Bools, Bytes, Ints, Longs, Floats)

# Up to this many rows, a node's sums are collected anew; above it, its histogram is kept, and the larger
# child's is the parent's minus the smaller child's. Measured on the paper's sets: sparse data like 12 a
# little better than 24 (enron 0.80 against 0.87 ms a bit), dense data do not care.
SMALL_NODE = 16
NO_SLOT = -1
ALIKE = np.empty(0)  # the weights of rows that all count once


class Order(NamedTuple):
    """A random order of the features that a tree may use, which are the first ones."""

    order: Ints  # (allowed,): the feature at each place
    place: Ints  # (allowed,): its inverse, if all features are drawn
    n_drawn: int  # how many of them, from the front, a split looks at


class BitNode(NamedTuple):
    """A node of a bit's tree, of the rows from `start` to `end`."""

    rows: Ints  # of the tree
    by_row: Longs  # the packed weight of each
    start: int
    end: int
    total: int  # the packed sum of its rows
    slot: int  # of its histogram; −1 if it has none


class Slots(NamedTuple):
    """Places for the histograms of nodes that wait."""

    free: Longs
    n_free: Longs  # (1,)


class BitWork(NamedTuple):
    """Scratch memory of one call, whatever the form of the features."""

    by_row: Longs  # (n,)
    rows: Ints  # (n,)
    sampled: Ints  # (n,)
    order: Ints  # (d,)
    place: Ints  # (d,)
    stack: Longs  # (n + 2, 6): see `push_children`
    slots: Slots


# What the forms of features implement.
first_features = by_form("return the features without those from a number on, as far as possible uncopied")
start_tree = by_form("note which rows a new tree is grown on, given its root")
make_histogram = by_form("fill the histogram in a node's slot with its rows")
search = by_form("return the best split of a node; its feature is −1 if none is allowed")
part_rows = by_form("move the rows of the left child to the front; return where the right child starts")
hand_down = by_form("turn a node's histogram into its larger child's; the smaller's is made if it has a slot")


# ---- what all trees share ----


def n_histograms(n_rows: int) -> int:
    """Return how many histograms are kept at once, of a tree with so many rows, copies counted.

    The smaller one of two children is split first, so a node with k larger ones waiting has at most n/2ᵏ
    rows; and it has more than `SMALL_NODE`, or its histogram would not be kept.
    """
    n_kept = 0
    while (SMALL_NODE + 1) << n_kept <= n_rows:
        n_kept += 1
    return n_kept


def make_slots(n_slots: int) -> Slots:
    """Return places that are all free, of which the first one is taken first."""
    return Slots(np.arange(n_slots)[::-1].copy(), np.full(1, n_slots, np.int64))


@inline
def take_slot(slots: Slots) -> int:
    """Take a place, as its last owner left it."""
    slots.n_free[0] -= 1
    return int(slots.free[slots.n_free[0]])


@inline
def free_slot(slots: Slots, slot: int) -> None:
    """Let other nodes have a place."""
    slots.free[slots.n_free[0]] = slot
    slots.n_free[0] += 1


def resized(array: Array, size: int) -> Array:
    """Return a copy of another size."""
    copy = np.empty(size, array.dtype)
    copy[: array.size] = array[:size]
    return copy


def make_nodes(n_trees: int, n_nodes: int) -> Nodes:
    """Allocate the nodes of some trees."""
    return Nodes(
        np.zeros(n_trees + 1, np.int64),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.uint8),
        np.empty(n_nodes, np.bool_),
        np.empty(n_nodes, np.int32),
    )


def resized_nodes(nodes: Nodes, size: int) -> Nodes:
    """Return a copy with room for more nodes, or for fewer."""
    return Nodes(
        nodes.start,
        resized(nodes.feature, size),
        resized(nodes.threshold, size),
        resized(nodes.missing_left, size),
        resized(nodes.left_child, size),
    )


@helper
def order_features(order: Ints, seed: np.uint64) -> np.uint64:
    """Bring all features into a random order; return the state of the tree's random numbers."""
    for f in range(order.shape[0]):
        order[f] = f
    return rng.shuffle_prefix(order, order.shape[0], seed)


@helper
def draw_features(order: Ints, n_drawn: int, state: np.uint64) -> tuple[np.uint64, int]:
    """Draw the features of a split to the front; of all features, draw the place where it begins instead."""
    if n_drawn < order.shape[0]:
        return rng.shuffle_prefix(order, n_drawn, state), 0
    state = rng.next_state(state)
    return state, rng.below(state, order.shape[0])


@inline
def write_leaf(nodes: Nodes, node: int) -> None:
    """Make a node a leaf, until it is split."""
    nodes.feature[node], nodes.threshold[node] = -1, 0
    nodes.missing_left[node], nodes.left_child[node] = False, 0


@inline
def write_split(nodes: Nodes, node: int, split: Split, left_child: int, n_left: int, n_right: int) -> None:
    """Make a node an inner one."""
    nodes.feature[node], nodes.threshold[node], side = split[1], split[2], split[3]
    # Where training shows no missing value, a new one follows the larger part of the rows.
    nodes.missing_left[node] = side == 1 or (side < 0 and n_left >= n_right)
    nodes.left_child[node] = left_child


@inline
def push_children(
    stack: Longs,
    n_waiting: int,
    left_child: int,
    start: int,
    middle: int,
    end: int,
    depth: int,
    small: int,
    left_total: int,
    right_total: int,
    small_slot: int,
    large_slot: int,
) -> int:
    """Let two children wait, the smaller one in front, so that few nodes wait; return how many do.

    `small` is 0 if that is the left one, 1 if the right one.

    Of a node that waits the stack holds its number, where its rows start and end, its depth, what its rows
    sum up to and the place of its histogram.
    """
    for right in (1 - small, small):
        stack[n_waiting, 0], stack[n_waiting, 3] = left_child + right, depth
        stack[n_waiting, 1] = middle if right else start
        stack[n_waiting, 2] = end if right else middle
        stack[n_waiting, 4] = right_total if right else left_total
        stack[n_waiting, 5] = small_slot if right == small else large_slot
        n_waiting += 1
    return n_waiting


# ---- trees of bits ----


@helper
def is_leaf(total: int, depth: int, limits: Limits) -> bool:
    """Whether a node is pure, too deep or too small to be split."""
    if limits.count_bits > 0 and row_count(total, limits.count_bits) < 2 * limits.min_samples_leaf:
        return True
    s = signed_sum(total, limits.weight_bits, limits.count_bits)
    w = weight_sum(total, limits.weight_bits, limits.count_bits)
    return abs(s) == w or depth >= limits.max_depth


@helper
def needs_histogram(total: int, n_rows: int, depth: int, limits: Limits) -> bool:
    """Whether a node will be split, and is too large to collect its sums anew."""
    return n_rows > SMALL_NODE and not is_leaf(total, depth, limits)


def n_copies_of(row_weight: Floats, n_rows: int) -> int:
    """Return how many copies any `n_rows` of the rows stand for at most, a row for 1 at least."""
    if len(row_weight) == 0:
        return n_rows
    copies = np.maximum(row_weight, 1.0)
    if n_rows < len(copies):
        copies = np.partition(copies, len(copies) - n_rows)[len(copies) - n_rows :]
    return int(np.ceil(copies.sum()))


def grow_trees(
    features: Any,
    n_features: Longs,
    n_drawn: Longs,
    vector_of_row: Ints,
    differences: Floats,
    n_sampled: int,
    seeds: Words,
    limits: Limits,
    row_weight: Floats = ALIKE,
) -> tuple[Nodes, Floats]:
    """Grow one tree for each row of `differences`: C(y, β) − C(y, α) by distinct label vector.

    Of each tree, `n_features` tells how many of the first features it may use, and `n_drawn` how many of
    these, drawn anew, a split looks at. `n_sampled` rows are drawn for it without replacement; `row_weight`
    tells how often each row counts, and is empty if all count once. Returns the nodes, and for each of them
    the value S / W of its training rows, in [−1, 1]: its sign is the bit.
    """
    n_rows, n_trees = len(vector_of_row), len(differences)
    capacity, n_done = 64 * n_trees + 2 * n_rows, 0
    nodes, value = make_nodes(n_trees, capacity), np.empty(capacity, np.float32)
    any_kept, any_drawn = bool((n_drawn >= n_features).any()), bool((n_drawn < n_features).any())
    n_slots = n_histograms(n_copies_of(row_weight, n_rows))
    form_work = features.workspace(n_rows, n_slots if any_kept else 0, any_drawn)
    most_features = n_features.max(initial=0)
    work = BitWork(
        np.empty(n_rows, np.int64), np.empty(n_rows, np.int32), np.empty(n_rows, np.int32),
        np.empty(most_features, np.int32), np.empty(most_features, np.int32),
        np.empty((n_rows + 2, 6), np.int64), make_slots(n_slots),
    )  # fmt: skip
    while True:
        n_done = grow_while_room(
            features, form_work, work, n_features, n_drawn, vector_of_row, row_weight, differences, n_sampled,
            seeds, limits, nodes, value, n_done,
        )  # fmt: skip
        if n_done == n_trees:
            break
        capacity = 2 * capacity + 2 * n_rows
        nodes, value = resized_nodes(nodes, capacity), resized(value, capacity)
    n_used = int(nodes.start[n_trees])
    return resized_nodes(nodes, n_used), resized(value, n_used)


@kernel
def grow_while_room(
    features: Any,
    form_work: Any,
    work: BitWork,
    n_features: Longs,
    n_drawn: Longs,
    vector_of_row: Ints,
    row_weight: Floats,
    differences: Floats,
    n_sampled: int,
    seeds: Words,
    limits: Limits,
    nodes: Nodes,
    value: Floats,
    first_tree: int,
) -> int:
    """Grow the trees from a first one on as long as their nodes find room; return how many there are then.

    Memory is allocated outside: each kind of array that a kernel makes takes the compiler some 50 ms.
    """
    n_rows, n_trees = len(vector_of_row), len(differences)
    weight_bits, count_bits = limits.weight_bits, limits.count_bits
    by_row, rows, sampled, all_order, all_place, stack, slots = work
    for tree in range(first_tree, n_trees):
        first = nodes.start[tree]
        if first + 2 * n_rows > value.shape[0]:
            return tree

        rng.draw_to_front(sampled, n_sampled, seeds[tree])
        n_kept = pack_row_weights(
            differences[tree], vector_of_row, row_weight, sampled[:n_sampled], weight_bits, count_bits,
            by_row, rows,
        )  # fmt: skip
        total = ZERO
        for i in range(n_kept):
            total += by_row[rows[i]]

        n_allowed = n_features[tree]
        # With few features a split, a histogram of all features would mostly be thrown away.
        keep_histograms = n_drawn[tree] >= n_allowed
        allowed = first_features(features, n_allowed)
        start_tree(allowed, form_work, BitNode(rows, by_row, 0, n_kept, total, NO_SLOT))
        order = Order(all_order[:n_allowed], all_place[:n_allowed], n_drawn[tree])
        state = order_features(order.order, seeds[tree])
        if keep_histograms:
            for p in range(n_allowed):
                order.place[order.order[p]] = p

        n_nodes, n_waiting = ONE, ONE
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n_kept
        stack[0, 3], stack[0, 4], stack[0, 5] = 0, total, NO_SLOT
        while n_waiting > 0:
            n_waiting -= 1
            at, start, end = first + stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
            depth, total, slot = stack[n_waiting, 3], stack[n_waiting, 4], stack[n_waiting, 5]

            weight = weight_sum(total, weight_bits, count_bits)
            value[at] = signed_sum(total, weight_bits, count_bits) / weight if weight > 0 else 0.0
            write_leaf(nodes, at)
            if is_leaf(total, depth, limits):
                continue

            counts_anew = keep_histograms and slot < 0 and end - start > SMALL_NODE
            if counts_anew:
                slot = take_slot(slots)
            node = BitNode(rows, by_row, start, end, total, slot)
            if counts_anew:
                make_histogram(allowed, form_work, node)
            state, turn = draw_features(order.order, order.n_drawn, state)
            split = search(allowed, form_work, node, order, turn, limits)
            if split[1] < 0:
                if slot >= 0:
                    free_slot(slots, slot)
                continue

            middle = part_rows(allowed, form_work, split, rows, start, end)
            n_left, n_right = (
                n_copies(row_weight, rows, start, middle),
                n_copies(row_weight, rows, middle, end),
            )
            write_split(nodes, at, split, n_nodes, n_left, n_right)
            left_total, right_total, smaller = split[4], total - split[4], int(n_left > n_right)
            small_slot, large_slot = NO_SLOT, NO_SLOT
            if slot >= 0:
                first_small, end_small, small_total, large_total = start, middle, left_total, right_total
                if smaller == 1:
                    first_small, end_small, small_total, large_total = middle, end, right_total, left_total
                n_small = end_small - first_small
                if needs_histogram(large_total, end - start - n_small, depth + 1, limits):
                    large_slot = slot
                    if needs_histogram(small_total, n_small, depth + 1, limits):
                        small_slot = take_slot(slots)
                    small = BitNode(rows, by_row, first_small, end_small, small_total, small_slot)
                    if small_slot >= 0:
                        make_histogram(allowed, form_work, small)
                    hand_down(allowed, form_work, slot, small)
                else:
                    free_slot(slots, slot)
            n_waiting = push_children(
                stack, n_waiting, n_nodes, start, middle, end, depth + 1, smaller, left_total, right_total,
                small_slot, large_slot,
            )  # fmt: skip
            n_nodes += 2
        nodes.start[tree + 1] = first + n_nodes

    return n_trees
