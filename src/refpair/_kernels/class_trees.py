"""Grow trees of classes, some a call.

The loop is that of ``grow``, with a number for each class in the place of a signed weight; ``class_split``
says what a split is worth and ``class_forms`` how dense and sparse features differ. Both see the same whole
numbers and go through the features in the same random order, so they grow the same trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from refpair._kernels import rng
from refpair._kernels.class_counts import NONE, Counts, make_counts
from refpair._kernels.class_forms import n_counted, search_feature, write_bins
from refpair._kernels.class_kept import count_node, forget_counts, hand_down
from refpair._kernels.class_split import Node, Numbers, Work, make_work
from refpair._kernels.jit import helper, inline, kernel
from refpair._kernels.types import Bools, Bytes, Ints, Longs, Words

if TYPE_CHECKING:
    from refpair._kernels.class_forms import SparseRows
    from refpair._kernels.dense import DenseBins

_LAST_MARK = 1 << 30  # marks are renewed before they leave the range of their type


@inline
def look_at_classes(
    classes: Ints, rows: Numbers, mark: int, min_samples_leaf: int, number: Ints, names: Ints, work: Work
) -> Node:
    """Give the classes of a node numbers from 0 and count them.

    `number` holds −1 for each class, here and after; the classes' names are written to `names`.
    """
    totals, n_classes = work.totals, 0
    for i in range(rows.shape[0]):
        row = rows[i]
        name = np.uint32(classes[row])
        c = number[name]
        if c < 0:
            c = np.int32(n_classes)
            number[name], names[c], totals[c] = c, name, 0
            n_classes += 1
        work.labels[i] = c
        work.marks[row] = mark + c
        totals[np.uint32(c)] += 1
    square = 0
    for c in range(n_classes):
        square += totals[c] * totals[c]
        number[names[c]] = -1
    return Node(rows.shape[0], n_classes, square, mark, min_samples_leaf)


@inline
def search(
    features: DenseBins | SparseRows,
    rows: Numbers,
    node: Node,
    work: Work,
    counts: Counts,
    counted: int,
    order: Ints,
    turn: int,
    max_features: int,
) -> tuple[int, int, int]:
    """Return the best split of a node: ``(feature, threshold, side of missing values)``.

    The features are looked at one by one in their random order, and more than asked for until one can be
    split. The feature is −1 if none can; the side is 1 (left), 0 (right) or −1 (none is missing).
    """
    n_features = order.shape[0]
    best, best_feature, best_threshold, best_side = -1.0, -1, 0, -1
    for visited in range(n_features):
        if visited >= max_features and best_feature >= 0:
            break
        f = order[visited + turn if visited + turn < n_features else visited + turn - n_features]
        worth, threshold, side = search_feature(features, f, rows, node, work, counts, counted, best)
        if worth > best:
            best, best_feature, best_threshold, best_side = worth, f, threshold, side
            if best >= node.n_rows:  # both sides are pure: nothing is worth more
                break
    return best_feature, best_threshold, best_side


@inline
def part_rows(
    features: DenseBins | SparseRows, f: int, threshold: int, side: int, rows: Numbers, work: Work
) -> int:
    """Move the rows of the left child to the front, each side in its order; return their number."""
    missing_bin = write_bins(features, f, rows, work)
    left, right = 0, 0
    for i in range(rows.shape[0]):
        row, code = rows[i], np.int64(work.found_bins[i])
        goes_left = side == 1 if code == missing_bin else code <= threshold
        # Both sides are written and one is overwritten: no branch to mispredict.
        rows[left] = row
        work.spare[right] = row
        left += int(goes_left)
        right += int(not goes_left)
    for i in range(right):
        rows[left + i] = work.spare[i]
    return left


@inline
def sort_classes(names: Ints, counts: Longs, n: int) -> None:
    """Sort the first `n` classes with their counts (Shell's way)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            name, count, j = names[i], counts[i], i
            while j >= gap and names[j - gap] > name:
                names[j], counts[j] = names[j - gap], counts[j - gap]
                j -= gap
            names[j], counts[j] = name, count
        gap //= 3


@helper
def sample_rows(n_rows: int, n_sampled: int, seed: np.uint64, rows: Numbers) -> None:
    """Write the rows of a tree to the front of `rows`, ascending: nodes then read columns front to back."""
    sampled = np.zeros(n_rows, np.bool_)
    for row in rng.draw_rows(n_rows, n_sampled, seed):
        sampled[row] = True
    n = 0
    for row in range(n_rows):
        if n < n_sampled:
            rows[n] = row  # overwritten if it was not drawn: no branch to mispredict
        n += int(sampled[row])


@kernel
def grow_class_trees(
    features: DenseBins | SparseRows,
    n_features: int,
    classes: Ints,
    n_classes: int,
    problem_of_tree: Ints,
    n_sampled: int,
    seeds: Words,
    max_depth: int,
    min_samples_leaf: int,
    max_features: int,
) -> tuple[Longs, Ints, Bytes, Bools, Ints, Longs, Ints, Ints]:
    """Grow a tree for each seed.

    Parameters
    ----------
    features : DenseBins or SparseRows
    n_features : int
    classes : (n_problems, n) int32 array
        From 0; less than `n_classes`.
    n_classes : int
    problem_of_tree : (n_trees,) int32 array
        Which row of `classes` a tree learns.
    n_sampled : int
        How many rows, drawn without replacement, each tree uses.
    seeds : (n_trees,) uint64 array
    max_depth, min_samples_leaf, max_features : int

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
        Counted from the tree's first node; the right child is the next one. Of a leaf, its number among the
        leaves of its tree.
    leaf_start : int64 array
        Where the classes of each leaf begin in the arrays below, tree by tree, and where the last ones end.
    leaf_class, leaf_count : int32 array
        The classes of a leaf's training rows, ascending, and how many rows have them.
    """
    n_rows, n_trees = classes.shape[1], problem_of_tree.shape[0]
    # Memory that is never written to is never taken from the machine.
    feature = np.empty(2 * n_sampled * n_trees, np.int32)
    threshold = np.empty(2 * n_sampled * n_trees, np.uint8)
    missing_left = np.empty(2 * n_sampled * n_trees, np.bool_)
    left_child = np.empty(2 * n_sampled * n_trees, np.int32)
    leaf_start = np.zeros(n_sampled * n_trees + 1, np.int64)
    leaf_class = np.empty(n_sampled * n_trees, np.int32)
    leaf_count = np.empty(n_sampled * n_trees, np.int32)
    tree_start = np.zeros(n_trees + 1, np.int64)

    work = make_work(n_rows, n_classes)
    counts = make_counts(n_counted(features, max_features), n_classes, n_sampled)
    number, names = np.full(n_classes, -1, np.int32), np.empty(n_classes + 1, np.int32)
    rows, order = np.empty(n_rows, np.uint32), np.empty(n_features, np.int32)
    # Nodes that wait: node, start, end, depth, where its counts are.
    stack = np.empty((n_rows + 2, 5), np.int64)
    mark, n_leaves, n_counts = 0, 0, 0

    for tree in range(n_trees):
        of_row, first, first_leaf = classes[problem_of_tree[tree]], tree_start[tree], n_leaves
        sample_rows(n_rows, n_sampled, seeds[tree], rows)
        for f in range(n_features):
            order[f] = f
        state = rng.shuffle_prefix(order, n_features, seeds[tree])
        n_nodes, n_waiting = 1, 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, 0, n_sampled, 0, NONE
        while n_waiting > 0:
            n_waiting -= 1
            at, start = first + stack[n_waiting, 0], stack[n_waiting, 1]
            end, depth, counted = stack[n_waiting, 2], stack[n_waiting, 3], stack[n_waiting, 4]
            own = rows[start:end]
            if mark > _LAST_MARK:
                work.marks[:] = -1
                mark = 0
            node = look_at_classes(of_row, own, mark, min_samples_leaf, number, names, work)
            mark += node.n_classes  # what is marked so far no longer counts
            f, at_most, side = -1, 0, -1
            if node.n_classes > 1 and depth < max_depth and node.n_rows >= 2 * min_samples_leaf:
                if max_features >= n_features:
                    state = rng.next_state(state)
                    turn = rng.below(state, n_features)
                else:
                    state = rng.shuffle_prefix(order, max_features, state)
                    turn = 0
                counted = count_node(features, counts, counted, own, of_row, node, names, work)
                f, at_most, side = search(
                    features, own, node, work, counts, counted, order, turn, max_features
                )
            feature[at], threshold[at] = f, at_most
            if f < 0:
                forget_counts(features, counts, counted, own, of_row)
                missing_left[at], left_child[at] = False, n_leaves - first_leaf
                sort_classes(names, work.totals, node.n_classes)
                for c in range(node.n_classes):
                    leaf_class[n_counts], leaf_count[n_counts] = names[c], work.totals[c]
                    n_counts += 1
                n_leaves += 1
                leaf_start[n_leaves] = n_counts
                continue

            middle = start + part_rows(features, f, at_most, side, own, work)
            # Where training shows no missing value, a new one follows the larger part of the rows.
            missing_left[at] = side == 1 or (side < 0 and middle - start >= end - middle)
            left_child[at] = n_nodes
            # The smaller child is split first, so that few nodes wait.
            small = int(middle - start > end - middle)
            small_rows = rows[middle:end] if small else rows[start:middle]
            large_counted, small_counted = hand_down(features, counts, counted, own, small_rows, of_row)
            for right in (1 - small, small):
                stack[n_waiting, 0], stack[n_waiting, 3] = n_nodes + right, depth + 1
                stack[n_waiting, 1] = middle if right else start
                stack[n_waiting, 2] = end if right else middle
                stack[n_waiting, 4] = small_counted if right == small else large_counted
                n_waiting += 1
            n_nodes += 2
        tree_start[tree + 1] = first + n_nodes

    n_used = tree_start[n_trees]
    return (
        tree_start, feature[:n_used].copy(), threshold[:n_used].copy(), missing_left[:n_used].copy(),
        left_child[:n_used].copy(), leaf_start[: n_leaves + 1].copy(), leaf_class[:n_counts].copy(),
        leaf_count[:n_counts].copy(),
    )  # fmt: skip
