"""Send binned rows down the trees of classes and count the votes of their leaves."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import helper, kernel
from refpair._kernels.traverse import find_leaf
from refpair._kernels.types import Bools, Bytes, Floats, Ints, Longs

_VOTES_AT_ONCE = 1 << 15  # they stay in the second-level cache


@helper
def add_votes(
    codes: Bytes,
    first_row: int,
    first_tree: int,
    last_tree: int,
    tree_start: Longs,
    feature: Ints,
    threshold: Bytes,
    missing_left: Bools,
    left_child: Ints,
    leaf_start: Longs,
    leaf_class: Ints,
    leaf_count: Ints,
    votes: Floats,
) -> None:
    """Write the mean of the class frequencies in the leaves to ``votes[row − first_row, class]``.

    Trees are the outer loop: a tree's nodes stay in the fast cache while a block of rows passes through it.
    """
    votes[:] = 0.0
    for tree in range(first_tree, last_tree):
        # A tree has a leaf more than it has inner nodes.
        first_leaf = (tree_start[tree] + tree) // 2
        for i in range(votes.shape[0]):
            node = find_leaf(
                codes[first_row + i], tree_start[tree], feature, threshold, missing_left, left_child
            )
            leaf, total = first_leaf + left_child[node], 0
            for j in range(leaf_start[leaf], leaf_start[leaf + 1]):
                total += leaf_count[j]
            for j in range(leaf_start[leaf], leaf_start[leaf + 1]):
                votes[i, leaf_class[j]] += leaf_count[j] / total
    for i in range(votes.shape[0]):
        for c in range(votes.shape[1]):
            votes[i, c] /= last_tree - first_tree


@kernel
def class_votes(
    codes: Bytes,
    problem: int,
    n_trees: int,
    tree_start: Longs,
    feature: Ints,
    threshold: Bytes,
    missing_left: Bools,
    left_child: Ints,
    leaf_start: Longs,
    leaf_class: Ints,
    leaf_count: Ints,
    out: Floats,
) -> None:
    """Write to ``out[row, class]`` the mean over a problem's trees of the class frequencies in the leaves."""
    add_votes(
        codes, 0, problem * n_trees, (problem + 1) * n_trees, tree_start, feature, threshold, missing_left,
        left_child, leaf_start, leaf_class, leaf_count, out,
    )  # fmt: skip


@kernel
def most_voted(
    codes: Bytes,
    n_classes: Longs,
    n_trees: int,
    tree_start: Longs,
    feature: Ints,
    threshold: Bytes,
    missing_left: Bools,
    left_child: Ints,
    leaf_start: Longs,
    leaf_class: Ints,
    leaf_count: Ints,
    out: Ints,
) -> None:
    """Write to ``out[row, problem]`` the class with the most votes, the first of them if they are several."""
    n_rows = codes.shape[0]
    for problem in range(n_classes.shape[0]):
        n_own = n_classes[problem]
        n_at_once = min(n_rows, max(1, _VOTES_AT_ONCE // n_own))
        votes = np.empty((n_at_once, n_own), np.float64)
        for first in range(0, n_rows, n_at_once):
            some = votes[: min(n_at_once, n_rows - first)]
            add_votes(
                codes, first, problem * n_trees, (problem + 1) * n_trees, tree_start, feature, threshold,
                missing_left, left_child, leaf_start, leaf_class, leaf_count, some,
            )  # fmt: skip
            for i in range(some.shape[0]):
                best = 0
                for c in range(1, n_own):
                    if some[i, c] > some[i, best]:
                        best = c
                out[first + i, problem] = best
