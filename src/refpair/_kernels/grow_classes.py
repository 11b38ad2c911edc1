"""Grow trees of several classes, some a call.

The loop is that of ``grow``, with a number for each class in the place of a signed weight; ``class_split``
says what a split is worth. Dense and sparse features (``class_features``) see the same whole numbers and go
through the features in the same random order, so they grow the same trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels import class_features, grow, rng
from refpair._kernels.class_features import Counts, Features, make_counts, n_counted
from refpair._kernels.class_split import (
    Alike,
    Copies,
    Node,
    Times,
    Work,
    count_copies,
    label_of,
    make_work,
    times_of,
)
from refpair._kernels.grow import NO_SLOT, Split
from refpair._kernels.jit import ONE, ZERO, Bools, Ints, Longs, Numbers, Words, helper, inline, kernel
from refpair._kernels.walk import ClassCounts, Nodes


class TreeWork(NamedTuple):
    """Scratch memory of one call, and where it stands."""

    work: Work
    counts: Counts
    number: Ints  # (n_classes,): the number of a class in a node, −1 between uses ...
    names: Ints  # (n_classes + 1,): ... and the class of a number
    drawn: Ints  # (n,)
    sampled: Bools  # (n,)
    rows: Numbers  # (n,)
    order: Ints  # (d,)
    stack: Longs  # (n + 2, 6): see `grow.push_children`
    progress: Longs  # (2,): the next mark, and how many counts the leaves hold


class Leaves(NamedTuple):
    """What the leaves hold, in the order in which they are grown."""

    first_count: Longs  # (nodes,): where a node's classes and counts begin ...
    n_held: Ints  # (nodes,): ... and how many they are
    classes: Ints
    counts: Ints


ALIKE = Alike()
_LAST_MARK = 1 << 30  # marks are renewed before they leave the range of their type


@inline
def look_at_classes(
    classes: Ints, rows: Numbers, mark: int, number: Ints, names: Ints, work: Work
) -> tuple[int, int, int]:
    """Give the classes of a node numbers from 0; return how many there are, Σ T_c and Σ T_c²."""
    totals, n_classes = work.totals, 0
    for i in range(rows.shape[0]):
        row = rows[i]
        name = np.uint32(classes[row])
        c = number[name]
        if c < 0:
            c = np.int32(n_classes)
            number[name], names[c], totals[c] = c, name, 0
            n_classes += 1
        work.labels[i] = label_of(work.times, row, c)
        work.marks[row] = mark + c
        totals[np.uint32(c)] += times_of(work.times, row)
    size, square = 0, 0
    for c in range(n_classes):
        size += totals[c]
        square += totals[c] * totals[c]
        number[names[c]] = -1
    return n_classes, size, square


@inline
def search(
    features: Features,
    node: Node,
    work: Work,
    counts: Counts,
    counted: int,
    order: Ints,
    turn: int,
    max_features: int,
) -> Split:
    """Look at the features in their random order, and at more than asked for until one can be split."""
    n_features = order.shape[0]
    best, best_feature, best_threshold, best_side = -1.0, -1, 0, -1
    for visited in range(n_features):
        if visited >= max_features and best_feature >= 0:
            break
        f = order[visited + turn if visited + turn < n_features else visited + turn - n_features]
        worth, threshold, side = class_features.search_feature(features, f, node, work, counts, counted, best)
        if worth > best:
            best, best_feature, best_threshold, best_side = worth, f, threshold, side
            if best >= node.size:  # both sides are pure: nothing is worth more
                break
    return best, best_feature, best_threshold, best_side, 0


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
def sample_rows(n_sampled: int, seed: np.uint64, work: TreeWork) -> None:
    """Write the rows of a tree to the front of `rows`, ascending: nodes then read columns front to back."""
    rng.draw_to_front(work.drawn, n_sampled, seed)
    n_rows = work.drawn.shape[0]
    for row in range(n_rows):
        work.sampled[row] = False
    for i in range(n_sampled):
        work.sampled[work.drawn[i]] = True
    n = 0
    for row in range(n_rows):
        if n < n_sampled:
            work.rows[n] = row  # overwritten if it was not drawn: no branch to mispredict
        n += work.sampled[row]


def grow_class_trees(
    features: Features,
    n_features: int,
    classes: Ints,
    n_classes: int,
    problem_of_tree: Ints,
    n_sampled: int,
    seeds: Words,
    max_depth: int,
    min_samples_leaf: int,
    max_features: int,
    times: Times = ALIKE,
) -> tuple[Nodes, ClassCounts]:
    """Grow a tree for each seed, on `n_sampled` rows, which are drawn without replacement.

    `classes` of shape (n_problems, n) are from 0 to less than `n_classes`; `problem_of_tree` tells which row
    of them a tree learns. A split looks at `max_features`. `min_samples_leaf` and the counts of leaves are in
    copies, if `times` tells how often each row counts.
    """
    n_rows, n_trees = classes.shape[1], len(problem_of_tree)
    n_copies = int(times.of_row.sum()) if isinstance(times, Copies) else n_sampled
    capacity, n_done = 2 * n_sampled, 0
    nodes = grow.make_nodes(n_trees, capacity)
    leaves = Leaves(
        np.empty(capacity, np.int64), np.empty(capacity, np.int32), np.empty(n_sampled, np.int32),
        np.empty(n_sampled, np.int32),
    )  # fmt: skip
    work = TreeWork(
        make_work(n_rows, n_classes, times),
        make_counts(n_counted(features, max_features), n_classes, n_copies),
        np.full(n_classes, -1, np.int32), np.empty(n_classes + 1, np.int32),
        np.empty(n_rows, np.int32), np.empty(n_rows, np.bool_), np.empty(n_rows, np.uint32),
        np.empty(n_features, np.int32), np.empty((n_rows + 2, 6), np.int64), np.zeros(2, np.int64),
    )  # fmt: skip
    while True:
        n_done = grow_while_room(
            features, work, classes, problem_of_tree, n_sampled, seeds, max_depth, min_samples_leaf,
            max_features, nodes, leaves, n_done,
        )  # fmt: skip
        if n_done == n_trees:
            break
        if nodes.start[n_done] + 2 * n_sampled > capacity:
            capacity = 2 * (capacity + n_sampled)
        n_counts = int(work.progress[1])
        most = len(leaves.classes)
        if n_counts + n_sampled > most:
            most = 2 * (n_counts + n_sampled)
        nodes = grow.resized_nodes(nodes, capacity)
        leaves = Leaves(
            grow.resized(leaves.first_count, capacity), grow.resized(leaves.n_held, capacity),
            grow.resized(leaves.classes, most), grow.resized(leaves.counts, most),
        )  # fmt: skip
    nodes = grow.resized_nodes(nodes, int(nodes.start[n_trees]))
    return nodes, by_node(len(nodes.feature), leaves)


@kernel
def grow_while_room(
    features: Features,
    tree_work: TreeWork,
    classes: Ints,
    problem_of_tree: Ints,
    n_sampled: int,
    seeds: Words,
    max_depth: int,
    min_samples_leaf: int,
    max_features: int,
    nodes: Nodes,
    leaves: Leaves,
    first_tree: int,
) -> int:
    """Grow the trees from a first one on as long as there is room; return how many there are then."""
    work, counts, number, names, _, _, rows, order, stack, progress = tree_work
    mark, n_counts = progress[0], progress[1]
    for tree in range(first_tree, problem_of_tree.shape[0]):
        of_row, first = classes[problem_of_tree[tree]], nodes.start[tree]
        if first + 2 * n_sampled > leaves.n_held.shape[0] or n_counts + n_sampled > leaves.classes.shape[0]:
            progress[0], progress[1] = mark, n_counts
            return tree
        sample_rows(n_sampled, seeds[tree], tree_work)
        state = grow.order_features(order, seeds[tree])
        n_nodes, n_waiting = ONE, ONE
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 5] = 0, 0, n_sampled, 0, NO_SLOT
        while n_waiting > 0:
            n_waiting -= 1
            at, start = first + stack[n_waiting, 0], stack[n_waiting, 1]
            end, depth, counted = stack[n_waiting, 2], stack[n_waiting, 3], stack[n_waiting, 5]
            own = rows[start:end]
            if mark > _LAST_MARK:
                for row in range(work.marks.shape[0]):
                    work.marks[row] = -1
                mark = ZERO
            n_own, size, square = look_at_classes(of_row, own, mark, number, names, work)
            node = Node(own, size, n_own, square, mark, min_samples_leaf)
            mark += node.n_classes  # what is marked so far no longer counts
            split = (-1.0, -1, 0, -1, 0)
            if node.n_classes > 1 and depth < max_depth and node.size >= 2 * min_samples_leaf:
                state, turn = grow.draw_features(order, max_features, state)
                counted = class_features.count_node(features, counts, counted, node, of_row, names, work)
                split = search(features, node, work, counts, counted, order, turn, max_features)
            leaves.first_count[at], leaves.n_held[at] = n_counts, 0
            if split[1] < 0:
                class_features.forget_counts(features, counts, counted, own, of_row, work.times)
                grow.write_leaf(nodes, at)
                sort_classes(names, work.totals, node.n_classes)
                for c in range(node.n_classes):
                    leaves.classes[n_counts + c], leaves.counts[n_counts + c] = names[c], work.totals[c]
                leaves.n_held[at] = node.n_classes
                n_counts += node.n_classes
                continue

            middle = grow.part_rows(features, work, split, rows, start, end)
            n_left = count_copies(work.times, rows[start:middle])
            grow.write_split(nodes, at, split, n_nodes, n_left, size - n_left)
            small = int(n_left > size - n_left)
            small_rows = rows[middle:end] if small else rows[start:middle]
            large_slot, small_slot = class_features.hand_counts_down(
                features, counts, counted, own, small_rows, of_row, work.times
            )
            n_waiting = grow.push_children(
                stack, n_waiting, n_nodes, start, middle, end, depth + 1, small, 0, 0, small_slot, large_slot
            )
            n_nodes += 2
        nodes.start[tree + 1] = first + n_nodes
    return len(problem_of_tree)


def by_node(n_nodes: int, leaves: Leaves) -> ClassCounts:
    """Bring what leaves hold into the order of the nodes: they were grown in another one."""
    n_held = leaves.n_held[:n_nodes]
    start = np.concatenate([[0], np.cumsum(n_held, dtype=np.int64)])
    where = np.arange(start[-1]) + np.repeat(leaves.first_count[:n_nodes] - start[:-1], n_held)
    return ClassCounts(start, leaves.classes[where], leaves.counts[where])
