"""Grow trees of several classes, some a call.

The loop is that of ``grow``, with a number for each class in the place of a signed weight; ``class_split``
says what a split is worth. Dense and sparse features (``class_features``) see the same whole numbers and go
through the features in the same random order, so they grow the same trees.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels import class_features, grow, rng
from refpair._kernels.class_features import Counts, Features
from refpair._kernels.class_split import Node, Work, make_work
from refpair._kernels.grow import NO_SLOT, Split
from refpair._kernels.jit import Ints, Longs, Numbers, Words, helper, inline, kernel
from refpair._kernels.walk import ClassCounts, Nodes

_LAST_MARK = 1 << 30  # marks are renewed before they leave the range of their type


@inline
def look_at_classes(
    classes: Ints, rows: Numbers, mark: int, number: Ints, names: Ints, work: Work
) -> tuple[int, int]:
    """Give the classes of a node numbers from 0 and count them; return how many there are, and Σ T_c²."""
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
    return n_classes, square


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
            if best >= node.n_rows:  # both sides are pure: nothing is worth more
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
) -> tuple[Nodes, ClassCounts]:
    """Grow a tree for each seed, on `n_sampled` rows, which are drawn without replacement.

    `classes` of shape (n_problems, n) are from 0 to less than `n_classes`; `problem_of_tree` tells which row
    of them a tree learns. A split looks at `max_features`.
    """
    n_rows, n_trees = classes.shape[1], problem_of_tree.shape[0]
    capacity, most_counts = 2 * n_sampled, n_sampled
    nodes = grow.make_nodes(n_trees, capacity)
    first_count, n_held = np.empty(capacity, np.int64), np.empty(capacity, np.int32)
    leaf_class, leaf_count = np.empty(most_counts, np.int32), np.empty(most_counts, np.int32)

    work = make_work(n_rows, n_classes)
    n_slots = class_features.n_counted(features, max_features)
    counts = class_features.make_counts(n_slots, n_classes, n_sampled)
    # The number of a class in a node, −1 between uses, and the class of a number.
    number, names = np.full(n_classes, -1, np.int32), np.empty(n_classes + 1, np.int32)
    rows, order = np.empty(n_rows, np.uint32), np.empty(n_features, np.int32)
    stack = np.empty((n_rows + 2, 6), np.int64)
    mark, n_counts = 0, 0

    for tree in range(n_trees):
        of_row, first = classes[problem_of_tree[tree]], nodes.start[tree]
        if first + 2 * n_sampled > capacity:
            capacity = 2 * (capacity + n_sampled)
            nodes = grow.resized_nodes(nodes, capacity)
            first_count, n_held = grow.resized(first_count, capacity), grow.resized(n_held, capacity)
        if n_counts + n_sampled > leaf_class.shape[0]:
            most_counts = 2 * (n_counts + n_sampled)
            leaf_class = grow.resized(leaf_class, most_counts)
            leaf_count = grow.resized(leaf_count, most_counts)
        sample_rows(n_rows, n_sampled, seeds[tree], rows)
        state = grow.order_features(order, seeds[tree])
        n_nodes, n_waiting = 1, 1
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 5] = 0, 0, n_sampled, 0, NO_SLOT
        while n_waiting > 0:
            n_waiting -= 1
            at, start = first + stack[n_waiting, 0], stack[n_waiting, 1]
            end, depth, counted = stack[n_waiting, 2], stack[n_waiting, 3], stack[n_waiting, 5]
            own = rows[start:end]
            if mark > _LAST_MARK:
                work.marks[:] = -1
                mark = 0
            n_own, square = look_at_classes(of_row, own, mark, number, names, work)
            node = Node(own, own.shape[0], n_own, square, mark, min_samples_leaf)
            mark += node.n_classes  # what is marked so far no longer counts
            split = (-1.0, -1, 0, -1, 0)
            if node.n_classes > 1 and depth < max_depth and node.n_rows >= 2 * min_samples_leaf:
                state, turn = grow.draw_features(order, max_features, state)
                counted = class_features.count_node(features, counts, counted, node, of_row, names, work)
                split = search(features, node, work, counts, counted, order, turn, max_features)
            first_count[at], n_held[at] = n_counts, 0
            if split[1] < 0:
                class_features.forget_counts(features, counts, counted, own, of_row)
                grow.write_leaf(nodes, at)
                sort_classes(names, work.totals, node.n_classes)
                for c in range(node.n_classes):
                    leaf_class[n_counts + c], leaf_count[n_counts + c] = names[c], work.totals[c]
                n_held[at] = node.n_classes
                n_counts += node.n_classes
                continue

            middle = grow.part_rows(features, work, split, rows, start, end)
            grow.write_split(nodes, at, split, n_nodes, middle - start, end - middle)
            small_rows = rows[middle:end] if middle - start > end - middle else rows[start:middle]
            large_slot, small_slot = class_features.hand_counts_down(
                features, counts, counted, own, small_rows, of_row
            )
            n_waiting = grow.push_children(
                stack, n_waiting, n_nodes, start, middle, end, depth + 1, 0, 0, small_slot, large_slot
            )
            n_nodes += 2
        nodes.start[tree + 1] = first + n_nodes
    nodes = grow.resized_nodes(nodes, int(nodes.start[n_trees]))
    return nodes, by_node(nodes, first_count, n_held, leaf_class, leaf_count)


@helper
def by_node(
    nodes: Nodes, first_count: Longs, n_held: Ints, leaf_class: Ints, leaf_count: Ints
) -> ClassCounts:
    """Bring what leaves hold into the order of the nodes: they were grown in another one."""
    n_nodes = nodes.feature.shape[0]
    start = np.zeros(n_nodes + 1, np.int64)
    for node in range(n_nodes):
        start[node + 1] = start[node] + n_held[node]
    held = ClassCounts(start, np.empty(start[n_nodes], np.int32), np.empty(start[n_nodes], np.int32))
    for node in range(n_nodes):
        for c in range(n_held[node]):
            held.classes[start[node] + c] = leaf_class[first_count[node] + c]
            held.counts[start[node] + c] = leaf_count[first_count[node] + c]
    return held
