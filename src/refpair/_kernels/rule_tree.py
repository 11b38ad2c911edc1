"""Label sets of the largest sum of gains among those that keep the rules of a tree, by dynamic programming.

Nodes are labels and sets of labels, children before parents. A node has one value for each number s of labels
at and below it: the largest sum of their gains, −∞ where the rules allow no such set. Where numbers do not
matter a node is free: a label then has two values, absent and present, and a set has one. Children are merged
into their parents one after the other, and what each merge chose is kept: how many labels of the child.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels.f_measure import (
    SLACK,
    Entries,
    SetWork,
    make_work,
    score_slots,
    sort_slots,
)
from refpair._kernels.jit import ONE, ZERO, Bytes, Floats, Longs, helper, kernel


class Tree(NamedTuple):
    """The nodes; the last one is the root, the set of all labels."""

    label: Longs  # (n_nodes,): −1 for a set
    parent: Longs  # (n_nodes,): −1 for the root
    low: Longs  # (n_nodes,): the least number of labels; the largest number is how many values there are
    is_free: Bytes  # (n_nodes,)
    start: Longs  # (n_nodes + 1,): where the values of a node begin
    choice_start: Longs  # (n_nodes + 1,): where the choices begin of the merge of a node into its parent


class TreeWork(NamedTuple):
    """Scratch memory of one call."""

    value: Floats
    choice: Longs
    left: Longs  # (n_nodes,): number of labels that are to be found below a node
    filled: Longs  # (n_nodes,): number of values of a node so far


def make_tree_work(tree: Tree) -> TreeWork:
    """Allocate what one call needs."""
    n = len(tree.label)
    return TreeWork(
        np.empty(tree.start[-1]),
        np.empty(tree.choice_start[-1], np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@helper
def merge(tree: Tree, work: TreeWork, v: int, slack: float) -> None:
    """Merge the values of a node into those of its parent."""
    value, choice, filled = work.value, work.choice, work.filled
    p = tree.parent[v]
    mine, n_mine = tree.start[v], tree.start[v + 1] - tree.start[v]
    its, n_its = tree.start[p], tree.start[p + 1] - tree.start[p]
    first = tree.choice_start[v]
    if tree.is_free[p]:
        best = ZERO
        for t in range(1, n_mine):
            if value[mine + t] > value[mine + best] + slack:
                best = t
        value[its] += value[mine + best]
        choice[first] = best
        return
    n_filled = filled[p]
    n_merged = min(n_filled + n_mine - 1, n_its)
    for s in range(n_merged - 1, -1, -1):  # downwards: smaller numbers are still those before the merge
        best, largest = ZERO, -np.inf
        for t in range(max(ZERO, s - n_filled + 1), min(s + 1, n_mine)):
            total = value[its + s - t] + value[mine + t]
            if total > largest:
                best, largest = t, total
        value[its + s] = largest
        choice[first + s] = best
    for s in range(n_merged, n_its):
        choice[first + s] = 0
    filled[p] = n_merged


@helper
def add_label(tree: Tree, work: TreeWork, v: int, gain: float) -> None:
    """Turn what is below a label into the values of that label: none, or itself and what is below."""
    value = work.value
    first, end = tree.start[v], tree.start[v + 1]
    for s in range(end - 1, first, -1):
        value[s] = value[s - 1] + gain
    value[first] = 0.0
    work.filled[v] = min(work.filled[v] + 1, end - first)


@helper
def climb(tree: Tree, gains: Floats, slack: float, work: TreeWork) -> None:
    """Find the values of all nodes."""
    value, filled = work.value, work.filled
    n_nodes = tree.label.shape[0]
    for v in range(n_nodes):
        for at in range(tree.start[v], tree.start[v + 1]):
            value[at] = -np.inf
        value[tree.start[v]] = 0.0
        filled[v] = 1
        work.left[v] = 0  # whether there must be a label, here or below
    for v in range(n_nodes):
        first, p = tree.start[v], tree.parent[v]
        if tree.label[v] >= 0:
            add_label(tree, work, v, gains[tree.label[v]])
            if work.left[v]:
                value[first] = -np.inf
        else:
            for s in range(min(tree.low[v], tree.start[v + 1] - first)):
                value[first + s] = -np.inf
            if tree.low[v] > 0:
                work.left[v] = 1
        if p >= 0:
            if work.left[v]:
                work.left[p] = 1
            merge(tree, work, v, slack)


@helper
def descend(tree: Tree, size: int, work: TreeWork, out: Bytes) -> None:
    """Write the labels of the best set of a size: the place of its value at the root."""
    left, choice = work.left, work.choice
    n_nodes = tree.label.shape[0]
    for v in range(n_nodes - 1, -1, -1):
        p = tree.parent[v]
        if p < 0:
            s = size
        elif left[p] < 0:
            s = ZERO
        elif tree.is_free[p]:
            s = choice[tree.choice_start[v]]
        else:
            s = choice[tree.choice_start[v] + left[p]]
            left[p] -= s
        if tree.label[v] < 0:
            left[v] = s
        else:
            out[tree.label[v]] = s > 0
            left[v] = s - 1  # −1: it is absent, and so is all below


def best_by_gains(gains: Floats, tree: Tree, slack: float) -> Bytes:
    """Return the labels (n, n_labels) of the largest sum of gains; of sums nearly the same, fewest labels."""
    out = np.zeros(gains.shape, np.uint8)
    write_best_by_gains(gains, tree, slack, make_tree_work(tree), out)
    return out


@kernel
def write_best_by_gains(gains: Floats, tree: Tree, slack: float, work: TreeWork, out: Bytes) -> None:
    """Write the labels of `best_by_gains`."""
    root = tree.label.shape[0] - 1
    first, end = tree.start[root], tree.start[root + 1]
    for i in range(gains.shape[0]):
        climb(tree, gains[i], slack, work)
        best = first
        for at in range(first + 1, end):
            if work.value[at] > work.value[best] + slack:
                best = at
        descend(tree, best - first, work, out[i])


def best_of_sizes(gains: Floats, sizes: Longs, tree: Tree, values: Floats) -> Bytes:
    """Return the labels (n, n_labels) of the largest sum of gains[i] with sizes[i] labels; write the sums."""
    out = np.zeros(gains.shape, np.uint8)
    write_best_of_sizes(gains, sizes, tree, make_tree_work(tree), values, out)
    return out


@kernel
def write_best_of_sizes(
    gains: Floats, sizes: Longs, tree: Tree, work: TreeWork, values: Floats, out: Bytes
) -> None:
    """Write the labels of `best_of_sizes`, and their sums: −∞ where there are no such labels."""
    root = tree.label.shape[0] - 1
    first, end = tree.start[root], tree.start[root + 1]
    for i in range(gains.shape[0]):
        values[i] = -np.inf
        if first + sizes[i] < end:
            climb(tree, gains[i], 0.0, work)
            values[i] = work.value[first + sizes[i]]
            if values[i] != -np.inf:
                descend(tree, sizes[i], work, out[i])


@kernel
def write_forest(chances: Floats, parent: Longs, order: Longs, uniform: Floats, out: Bytes) -> None:
    """Draw labels out[i, k, j] of row i and sample j: by its chance if its parent, which comes first, is."""
    n, n_labels, n_samples = out.shape
    for i in range(n):
        for at in range(n_labels):
            k = order[at]
            mine, chance, p = out[i, k], chances[i, k], parent[k]
            for j in range(n_samples):
                mine[j] = uniform[k, j] < chance
            if p >= 0:
                above = out[i, p]
                for j in range(n_samples):
                    mine[j] &= above[j]


@helper
def join_sizes(entries: Entries, i: int, work: SetWork, joint: Floats) -> int:
    """Find P(|y| = s) and P(y_k = 1, |y| = s) of a row for its sizes s > 0; return their number."""
    start, index, weight, label_start, _ = entries
    of_size, sizes, chances, row_of_size = work.counts, work.sizes, work.of_size, work.places
    n_labels = joint.shape[1]
    for s in range(n_labels + 1):
        of_size[s] = 0.0
    for j in range(start[i], start[i + 1]):
        of_size[label_start[index[j] + 1] - label_start[index[j]]] += weight[j]
    n_sizes = ZERO
    for s in range(1, n_labels + 1):
        if of_size[s] != 0.0:
            sizes[n_sizes], chances[n_sizes] = s, of_size[s]
            row_of_size[s] = n_sizes
            n_sizes += 1
    for s in range(n_sizes):
        for k in range(n_labels):
            joint[s, k] = 0.0
    for j in range(start[i], start[i + 1]):
        if weight[j] != 0.0:
            first, end = label_start[index[j]], label_start[index[j] + 1]
            for a in range(first, end):
                joint[row_of_size[end - first], entries[4][a]] += weight[j]
    return n_sizes


@helper
def bound_sizes(joint: Floats, square: float, m: int, work: SetWork) -> None:
    """Lower the bounds of all sizes by what any m labels, and then any others, add at most."""
    n_sizes, n_labels = joint.shape
    least, most = square * work.sizes[0], square * work.sizes[n_sizes - 1]  # sizes rise
    for k in range(n_labels):
        work.active[k] = k
    score_slots(joint, work.sizes, square, m, work.scores)
    sort_slots(work.active, n_labels, work.scores)
    total = 0.0
    for other in range(1, n_labels + 1):
        total += work.scores[work.active[other - 1]]
        reached = total * ((most if other > m else least) + m) / ((most if other > m else least) + other)
        if reached < work.bound[other]:
            work.bound[other] = reached


def best_f_beta(entries: Entries, n_labels: int, square: float, tree: Tree) -> Bytes:
    """Return the labels (n, n_labels) of largest expected F-beta that the tree allows; square is β²."""
    out = np.zeros((len(entries[0]) - 1, n_labels), np.uint8)
    joint = np.empty((n_labels, n_labels))
    write_best_f_beta(entries, square, tree, joint, make_work(n_labels), make_tree_work(tree), out)
    return out


@kernel
def write_best_f_beta(
    entries: Entries, square: float, tree: Tree, joint: Floats, work: SetWork, steps: TreeWork, out: Bytes
) -> None:
    """Write the labels of `best_f_beta`: the sizes of the largest bounds are tried, until none is better."""
    n, n_labels = out.shape
    root = tree.label.shape[0] - 1
    low, high = tree.low[root], tree.start[root + 1] - tree.start[root] - 1
    bound = work.bound
    for i in range(n):
        n_sizes = join_sizes(entries, i, work, joint)
        own = joint[:n_sizes]
        for m in range(n_labels + 1):
            bound[m] = 2.0 if low <= m <= high else -1.0
        bound[0] = work.counts[0] if low == 0 else -1.0
        best, value = -ONE, -np.inf
        while True:
            m = ZERO
            for other in range(1, n_labels + 1):
                if bound[other] > bound[m]:
                    m = other
            if bound[m] < 0.0 or bound[m] <= value - SLACK:
                break
            if m == 0 or n_sizes == 0:
                for k in range(n_labels):
                    work.scores[k] = 0.0
            else:
                bound_sizes(own, square, m, work)
                if bound[m] <= value - SLACK or (m > best and bound[m] <= value + SLACK and best >= 0):
                    bound[m] = -1.0
                    continue
            bound[m] = -1.0
            climb(tree, work.scores, 0.0, steps)
            found = steps.value[tree.start[root] + m]
            if found == -np.inf:
                continue
            if m == 0:
                found = work.counts[0]
            if found > value + SLACK or (found > value - SLACK and m < best):
                best, value = m, found
                descend(tree, m, steps, out[i])
