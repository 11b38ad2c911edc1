"""Grow weighted binary trees, a chunk of bits a call, on whatever form the binned features have.

The loop below is the same for dense and sparse features; see ``forms`` for what differs. Both forms see the
same integers (``packed``) and break ties by the same random order of the features, so they grow the same
trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from refpair._kernels import rng
from refpair._kernels.forms import (
    SMALL_NODE,
    Order,
    first_features,
    hand_down,
    make_histogram,
    make_workspace,
    part_rows,
    search,
    start_tree,
)
from refpair._kernels.jit import helper, kernel
from refpair._kernels.packed import pack_row_weights, signed_sum, weight_sum
from refpair._kernels.split import Limits
from refpair._kernels.types import Bools, Bytes, Floats, Ints, Longs, Words

if TYPE_CHECKING:
    from refpair._kernels.dense import DenseBins
    from refpair._kernels.sparse import SparseBins

Array = TypeVar("Array", Bools, Bytes, Ints, Floats)


@helper
def is_leaf(total: int, n_rows: int, depth: int, limits: Limits) -> bool:
    """Whether a node is pure, too deep or too small to be split."""
    s = signed_sum(total, limits.weight_bits, limits.count_bits)
    w = weight_sum(total, limits.weight_bits, limits.count_bits)
    return abs(s) == w or depth >= limits.max_depth or n_rows < 2 * limits.min_samples_leaf


@helper
def needs_histogram(total: int, n_rows: int, depth: int, limits: Limits) -> bool:
    """Whether a node will be split, and is too large to collect its sums anew."""
    return n_rows > SMALL_NODE and not is_leaf(total, n_rows, depth, limits)


@kernel
def resized(array: Array, size: int) -> Array:
    """Return a copy of another size."""
    copy = np.empty(size, array.dtype)
    for i in range(min(size, array.size)):
        copy[i] = array[i]
    return copy


@kernel
def grow_trees(
    features: DenseBins | SparseBins,
    n_features: Longs,
    n_drawn: Longs,
    vector_of_row: Ints,
    differences: Floats,
    n_sampled: int,
    seeds: Words,
    limits: Limits,
) -> tuple[Longs, Ints, Bytes, Bools, Ints, Floats]:
    """Grow one tree for each row of `differences`.

    Parameters
    ----------
    features : DenseBins or SparseBins
    n_features : (n_trees,) int64 array
        How many of the first features each tree may use.
    n_drawn : (n_trees,) int64 array
        How many of these, drawn anew, each split looks at.
    vector_of_row : (n,) int32 array
        Which distinct label vector each row carries.
    differences : (n_trees, n_vectors) float array
        C(y, β) − C(y, α): the sign is the bit, the size is the weight.
    n_sampled : int
        How many rows, drawn without replacement, each tree may use.
    seeds : (n_trees,) uint64 array
    limits : Limits

    Returns
    -------
    tree_start : (n_trees + 1,) int64 array
        Where each tree's nodes begin in the arrays below.
    feature : int32 array
        The feature a node asks for; −1 at a leaf.
    threshold : uint8 array
        Bins up to this one go left.
    missing_left : bool array
    left_child : int32 array
        Counted from the tree's first node; the right child is the next one.
    value : float32 array
        S / W of the node's training rows, in [−1, 1]; its sign is the predicted bit.
    """
    n_rows, n_trees = vector_of_row.shape[0], differences.shape[0]
    weight_bits, count_bits = limits.weight_bits, limits.count_bits
    any_kept, any_drawn, most_features = False, False, 0
    for tree in range(n_trees):
        any_kept |= bool(n_drawn[tree] >= n_features[tree])
        any_drawn |= bool(n_drawn[tree] < n_features[tree])
        most_features = max(most_features, int(n_features[tree]))
    work = make_workspace(features, n_rows, any_kept, any_drawn)

    capacity = 64 * n_trees + 2 * n_rows
    feature = np.empty(capacity, np.int32)
    threshold = np.empty(capacity, np.uint8)
    missing_left = np.empty(capacity, np.bool_)
    left_child = np.empty(capacity, np.int32)
    value = np.empty(capacity, np.float32)
    tree_start = np.zeros(n_trees + 1, np.int64)

    by_row = np.empty(n_rows, np.int64)
    rows = np.empty(n_rows, np.int32)
    all_order, all_place = np.empty(most_features, np.int32), np.empty(most_features, np.int32)

    # Nodes that wait: node, start, end, depth, total, slot of its histogram. The smaller child is split
    # first, so no more than log2(n) larger ones wait with a histogram of their own.
    stack = np.empty((n_rows + 2, 6), np.int64)
    free_slots = np.empty(64, np.int64)
    for i in range(64):
        free_slots[i] = 63 - i  # the lowest is taken first

    for tree in range(n_trees):
        first = tree_start[tree]
        if first + 2 * n_rows > capacity:
            capacity = 2 * capacity + 2 * n_rows
            feature = resized(feature, capacity)
            threshold = resized(threshold, capacity)
            missing_left = resized(missing_left, capacity)
            left_child = resized(left_child, capacity)
            value = resized(value, capacity)

        state = seeds[tree]
        sampled = rng.draw_rows(n_rows, n_sampled, state)
        n_kept = pack_row_weights(
            differences[tree], vector_of_row, sampled, weight_bits, count_bits, by_row, rows
        )
        total = 0
        for i in range(n_kept):
            total += by_row[rows[i]]

        n_allowed = int(n_features[tree])
        # With few features a split, a histogram of all features would mostly be thrown away.
        keep_histograms = n_drawn[tree] >= n_allowed
        allowed = first_features(features, n_allowed)
        start_tree(allowed, work, rows, n_kept, by_row)
        order = Order(all_order[:n_allowed], all_place[:n_allowed], int(n_drawn[tree]))
        for f in range(n_allowed):
            order.order[f] = f
        state = rng.shuffle_prefix(order.order, n_allowed, state)
        if keep_histograms:
            for p in range(n_allowed):
                order.place[order.order[p]] = p

        n_nodes, n_waiting, n_free = 1, 1, free_slots.shape[0]
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n_kept
        stack[0, 3], stack[0, 4], stack[0, 5] = 0, total, -1
        while n_waiting > 0:
            n_waiting -= 1
            node, start, end = first + stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2]
            depth, total, slot = stack[n_waiting, 3], stack[n_waiting, 4], stack[n_waiting, 5]

            weight = weight_sum(total, weight_bits, count_bits)
            value[node] = signed_sum(total, weight_bits, count_bits) / weight if weight > 0 else 0.0
            feature[node], threshold[node], missing_left[node], left_child[node] = -1, 0, False, 0
            if is_leaf(total, end - start, depth, limits):
                continue

            if keep_histograms and slot < 0 and end - start > SMALL_NODE:
                n_free -= 1
                slot = free_slots[n_free]
                make_histogram(allowed, work, slot, rows, by_row, start, end)
            if keep_histograms:
                state = rng.next_state(state)
                turn = rng.below(state, n_allowed)
            else:
                state = rng.shuffle_prefix(order.order, order.n_drawn, state)
                turn = 0
            split = search(allowed, work, slot, rows, by_row, start, end, total, order, turn, limits)
            if split[1] < 0:
                if slot >= 0:
                    free_slots[n_free] = slot
                    n_free += 1
                continue

            middle = part_rows(allowed, work, split, rows, start, end)
            feature[node], threshold[node] = split[1], split[2]
            # Where training shows no missing value, a new one follows the larger part of the rows.
            missing_left[node] = split[3] == 1 or (split[3] < 0 and middle - start >= end - middle)
            left_child[node] = n_nodes
            small, small_start, small_end, small_total = n_nodes, start, middle, split[4]
            large, large_start, large_end, large_total = n_nodes + 1, middle, end, total - split[4]
            if middle - start > end - middle:
                small, large = large, small
                small_start, large_start = large_start, small_start
                small_end, large_end = large_end, small_end
                small_total, large_total = large_total, small_total
            n_nodes += 2

            small_slot, large_slot = -1, -1
            if slot >= 0:
                if needs_histogram(large_total, large_end - large_start, depth + 1, limits):
                    large_slot = slot
                    if needs_histogram(small_total, small_end - small_start, depth + 1, limits):
                        n_free -= 1
                        small_slot = free_slots[n_free]
                    hand_down(allowed, work, slot, small_slot, rows, by_row, small_start, small_end)
                else:
                    free_slots[n_free] = slot
                    n_free += 1
            stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2] = large, large_start, large_end
            stack[n_waiting, 3], stack[n_waiting, 4], stack[n_waiting, 5] = depth + 1, large_total, large_slot
            n_waiting += 1
            stack[n_waiting, 0], stack[n_waiting, 1], stack[n_waiting, 2] = small, small_start, small_end
            stack[n_waiting, 3], stack[n_waiting, 4], stack[n_waiting, 5] = depth + 1, small_total, small_slot
            n_waiting += 1
        tree_start[tree + 1] = first + n_nodes

    n_used = int(tree_start[n_trees])
    return (
        tree_start, resized(feature, n_used), resized(threshold, n_used), resized(missing_left, n_used),
        resized(left_child, n_used), resized(value, n_used),
    )  # fmt: skip
