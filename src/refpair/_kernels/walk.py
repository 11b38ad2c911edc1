"""Send binned rows down trees, to leaves and to what they say.

Trees are the outer loop: a tree's nodes stay in the fast cache while a block of rows passes through it. In
classifier chains, after the features of a row come the labels that the chain has set so far. The paths of a
row, which differ only in the labels, go down a tree together, up to 64 of them as the bits of a machine word,
and part only where a node asks for a label: with 40 paths a row that takes a tenth of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refpair._kernels.binning import MISSING
from refpair._kernels.jit import (
    Bools,
    Bytes,
    Floats,
    Ints,
    Longs,
    SignedBytes,
    Words,
    helper,
    inline,
    kernel,
    trailing_zeros,
)

_TOGETHER = 64  # paths: the bits of a word
_VOTES_AT_ONCE = 1 << 15  # they stay in the second-level cache
_PAIRS = 256  # of a row and a tree that go down side by side, if there are not more rows

# A node as one word: threshold, whether missing values go left, feature, left child among all nodes.
LEAF = np.uint64(2**64 - 1)
MOST_FEATURES, MOST_NODES = 1 << 24, 1 << 31
_BYTE_BITS, _FEATURE_AT, _CHILD_AT, _ROW_BITS = np.uint64(8), np.uint64(9), np.uint64(33), np.uint64(32)
_BYTE, _FEATURE, _ROW = np.uint64(255), np.uint64(MOST_FEATURES - 1), np.uint64(2**32 - 1)


class Nodes(NamedTuple):
    """The nodes of binary trees, one tree after the other."""

    start: Longs  # (n_trees + 1,): where each tree's nodes begin
    feature: Ints  # that a node asks for; −1 at a leaf
    threshold: Bytes  # bins up to this one go left
    missing_left: Bools
    left_child: Ints  # counted from the tree's first node; the right child is the next one


class ClassCounts(NamedTuple):
    """How many training rows of which classes are in each leaf."""

    start: Longs  # (n_nodes + 1,): where those of each node begin; inner nodes have none
    classes: Ints  # ascending within a leaf
    counts: Ints


@inline
def find_leaf(codes: Bytes, root: int, nodes: Nodes) -> int:
    """Return the leaf that one row reaches in the tree with this root.

    The two ways are two branches, not a sum with the answer: so the processor can guess, which is faster.
    """
    node = root
    while nodes.feature[node] >= 0:
        code = codes[nodes.feature[node]]
        child = root + nodes.left_child[node]
        goes_left = nodes.missing_left[node] if code == MISSING else code <= nodes.threshold[node]
        node = child if goes_left else child + 1
    return node


def pack_nodes(nodes: Nodes) -> Words:
    """Return each node as one word, as `ask_trees` takes them."""
    root = np.repeat(nodes.start[:-1], np.diff(nodes.start))
    child = (root + nodes.left_child).astype(np.uint64) << _CHILD_AT
    feature = nodes.feature.astype(np.uint64) << _FEATURE_AT
    test = nodes.threshold + nodes.missing_left.astype(np.uint64) * np.uint64(257)  # one higher, and a mark
    return np.where(nodes.feature < 0, LEAF, child | feature | test)


@kernel
def ask_trees(
    codes: Bytes, start: Longs, words: Words, value: Floats, n_signs: int, signs: SignedBytes, values: Floats
) -> None:
    """Write what the leaves that rows reach say: signs of the first trees, −1 or +1, values of the others.

    That is ``signs[row, tree]`` and ``values[row, tree − n_signs]``. Nodes are `pack_nodes`' words.

    Pairs of a row and a tree go down side by side, all of them one node at a time: the processor works on
    several at once, since none waits for another, and there is no branch that it could guess wrong. Pairs
    that are at a leaf drop out, by not being written to the front of the list.
    """
    n, n_trees = codes.shape[0], start.shape[0] - 1
    at_once = max(1, _PAIRS // max(n, 1))
    waiting = np.empty(at_once * n, np.uint64)  # the node that each pair is at
    pair = np.empty(at_once * n, np.uint64)  # its place in `leaf`, and its row
    leaf = np.empty(at_once * n, np.uint32)
    for first in range(0, n_trees, at_once):
        last = min(first + at_once, n_trees)
        n_waiting, place = np.uint64(0), np.uint64(0)
        for tree in range(first, last):
            root = words[start[tree]]
            for row in range(n):
                leaf[place] = start[tree]
                waiting[n_waiting], pair[n_waiting] = root, place << _ROW_BITS | np.uint64(row)
                n_waiting += np.uint64(root != LEAF)
                place += np.uint64(1)
        while n_waiting > 0:
            n_left = np.uint64(0)
            for i in range(n_waiting):
                node, who = waiting[i], pair[i]
                code = np.uint64(codes[who & _ROW, node >> _FEATURE_AT & _FEATURE])
                # A missing value, 255, becomes 0 where it is to go left: all codes and the threshold are one
                # higher there.
                code = code + (node >> _BYTE_BITS & np.uint64(1)) & _BYTE
                child = (node >> _CHILD_AT) + np.uint64(code > node & _BYTE)
                leaf[who >> _ROW_BITS] = child
                waiting[n_left], pair[n_left] = words[child], who
                n_left += np.uint64(words[child] != LEAF)
            n_waiting = n_left
        place = np.uint64(0)
        for tree in range(first, last):
            for row in range(n):
                told = value[leaf[place]]
                if tree < n_signs:
                    signs[row, tree] = 1 if told > 0 else -1
                else:
                    values[row, tree - n_signs] = told
                place += np.uint64(1)


@inline
def add_votes(
    codes: Bytes, first: int, first_tree: int, n_trees: int, nodes: Nodes, held: ClassCounts, votes: Floats
) -> None:
    """Write the mean of the class frequencies in the leaves to ``votes[row − first, class]``."""
    for i in range(votes.shape[0]):
        for c in range(votes.shape[1]):
            votes[i, c] = 0.0
    for tree in range(first_tree, first_tree + n_trees):
        for i in range(votes.shape[0]):
            leaf, total = find_leaf(codes[first + i], nodes.start[tree], nodes), 0
            for j in range(held.start[leaf], held.start[leaf + 1]):
                total += held.counts[j]
            for j in range(held.start[leaf], held.start[leaf + 1]):
                votes[i, held.classes[j]] += held.counts[j] / total
    for i in range(votes.shape[0]):
        for c in range(votes.shape[1]):
            votes[i, c] /= n_trees


@kernel
def class_votes(
    codes: Bytes, problem: int, n_trees: int, nodes: Nodes, held: ClassCounts, out: Floats
) -> None:
    """Write to ``out[row, class]`` the mean over a problem's trees of the class frequencies in the leaves."""
    add_votes(codes, 0, problem * n_trees, n_trees, nodes, held, out)


@kernel
def most_voted(
    codes: Bytes, n_classes: Longs, n_trees: int, nodes: Nodes, held: ClassCounts, out: Ints
) -> None:
    """Write to ``out[row, problem]`` the class with the most votes, the first of them if they are several."""
    n_rows = codes.shape[0]
    for problem in range(n_classes.shape[0]):
        n_own = n_classes[problem]
        n_at_once = min(n_rows, max(1, _VOTES_AT_ONCE // n_own))
        votes = np.empty((n_at_once, n_own), np.float64)
        for first in range(0, n_rows, n_at_once):
            some = votes[: min(n_at_once, n_rows - first)]
            add_votes(codes, first, problem * n_trees, n_trees, nodes, held, some)
            for i in range(some.shape[0]):
                best = 0
                for c in range(1, n_own):
                    if some[i, c] > some[i, best]:
                        best = c
                out[first + i, problem] = best


@kernel
def find_leaves(codes: Bytes, nodes: Nodes, out: Ints) -> None:
    """Write to ``out[row, tree]`` which of all nodes is the leaf that a row reaches."""
    for tree in range(nodes.start.shape[0] - 1):
        for row in range(codes.shape[0]):
            out[row, tree] = find_leaf(codes[row], nodes.start[tree], nodes)


@kernel
def leaf_votes(leaves: Ints, asked: Bools, held: ClassCounts, votes: Floats) -> None:
    """Add to ``votes[row, class]`` the class frequencies in a row's leaves, of the trees that are asked."""
    for row in range(leaves.shape[0]):
        for tree in range(leaves.shape[1]):
            if asked[row, tree]:
                leaf, total = leaves[row, tree], 0
                for j in range(held.start[leaf], held.start[leaf + 1]):
                    total += held.counts[j]
                for j in range(held.start[leaf], held.start[leaf + 1]):
                    votes[row, held.classes[j]] += held.counts[j] / total


def sum_leaves(
    nodes: Longs, start: Longs, index: Ints, weight: Floats, n_vectors: int
) -> tuple[Longs, Ints, Floats]:
    """Return the mean distribution of the leaves that each row reaches, sparse: start, index and weight.

    Row i reaches ``nodes[i]``. Node j puts ``weight[start[j] : start[j + 1]]``, all above zero, on these
    vectors of ``index``.
    """
    n_summed = (start[nodes + 1] - start[nodes]).sum(axis=1)
    capacity = int(np.minimum(n_summed, n_vectors).sum())
    out = np.zeros(len(nodes) + 1, np.int64), np.empty(capacity, np.int32), np.empty(capacity)
    _write_sums(nodes, start, index, weight, np.zeros(n_vectors), *out)
    end = out[0][-1]
    return out[0], out[1][:end].copy(), out[2][:end].copy()


@kernel
def _write_sums(
    nodes: Longs, start: Longs, index: Ints, weight: Floats, sums: Floats,
    out_start: Longs, out_index: Ints, out_weight: Floats,
) -> None:  # fmt: skip
    end = 0
    for i in range(nodes.shape[0]):
        total = 0.0
        for node in nodes[i]:
            for j in range(start[node], start[node + 1]):
                vector = index[j]
                if sums[vector] == 0.0:
                    out_index[end] = vector
                    end += 1
                sums[vector] += weight[j]
                total += weight[j]
        for j in range(out_start[i], end):
            out_weight[j] = sums[out_index[j]] / total
            sums[out_index[j]] = 0.0  # for the next row: only where it was written
        out_start[i + 1] = end


@kernel
def sum_values(codes: Bytes, row: Longs, paths: Bytes, nodes: Nodes, value: Floats, out: Floats) -> None:
    """Write to ``out[i]`` the sum over the trees of the values of the leaves that a path reaches.

    Path i has the features ``codes[row[i]]`` and then the labels ``paths[i]``, whose bins are 0 and 1. It is
    paths of the same row being neighbors that makes this fast.
    """
    feature, threshold, missing_left = nodes.feature, nodes.threshold, nodes.missing_left
    n_features, n_labels = codes.shape[1], paths.shape[1]
    begin = groups_of(row)
    has_label = words_of(paths, begin)
    waiting_node = np.empty(n_labels + 1, np.int64)  # for which some paths have left the others
    waiting = np.empty(n_labels + 1, np.uint64)
    out[:] = 0.0
    for tree in range(nodes.start.shape[0] - 1):
        root = nodes.start[tree]
        for group in range(begin.shape[0] - 1):
            first = begin[group]
            mine = codes[row[first]]
            node = root
            here = ~np.uint64(0) >> np.uint64(_TOGETHER - (begin[group + 1] - first))
            n_waiting = 0
            while True:
                f = feature[node]
                if f < 0:
                    while here:
                        out[first + trailing_zeros(here)] += value[node]
                        here &= here - np.uint64(1)
                    if n_waiting == 0:
                        break
                    n_waiting -= 1
                    node, here = waiting_node[n_waiting], waiting[n_waiting]
                    continue
                left = root + nodes.left_child[node]
                if f < n_features:
                    code = np.int64(mine[f])
                    goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                    node = left + (not goes_left)
                    continue
                ones = here & has_label[group, f - n_features]
                node = left + (ones != 0)
                if ones != 0 and ones != here:
                    waiting_node[n_waiting], waiting[n_waiting] = left, here ^ ones
                    n_waiting += 1
                    here = ones


@helper
def groups_of(row: Longs) -> Longs:
    """Return where the groups of paths begin, each of one row, and at the end the number of paths."""
    begin = np.empty(row.shape[0] + 1, np.int64)
    n_groups = 0
    for i in range(row.shape[0]):
        if i == 0 or row[i] != row[i - 1] or i - begin[n_groups - 1] == _TOGETHER:
            begin[n_groups] = i
            n_groups += 1
    begin[n_groups] = row.shape[0]
    return begin[: n_groups + 1]


@helper
def words_of(paths: Bytes, begin: Longs) -> Words:
    """Return for each group and label which paths have it, as the bits of a word."""
    words = np.zeros((begin.shape[0] - 1, paths.shape[1]), np.uint64)
    for group in range(begin.shape[0] - 1):
        for i in range(begin[group], begin[group + 1]):
            bit = np.uint64(1) << np.uint64(i - begin[group])
            for label in range(paths.shape[1]):
                if paths[i, label]:
                    words[group, label] |= bit
    return words


@kernel
def vote(
    codes: Bytes,
    row: Longs,
    paths: Bytes,
    asked: Bools,
    n_asked: Longs,
    nodes: Nodes,
    value: Floats,
    out: Bytes,
    looked_at: Words,
) -> None:
    """Write to ``out[i]`` whether the leaves that a path reaches have a positive sum.

    Paths are as in `sum_values`, but path i asks tree t only if ``asked[t, row[i]]``; ``n_asked[row[i]]``
    counts these trees. No tree says more than ±1, so the last ones need not be asked once they cannot change
    the vote. In ``looked_at[i]`` the bit l % 64 is set if the trees have looked at label l: as long as none
    of these labels changes, nor does the vote.
    """
    feature, threshold, missing_left = nodes.feature, nodes.threshold, nodes.missing_left
    n_features, n_paths = codes.shape[1], row.shape[0]
    sums, left = np.zeros(n_paths), np.empty(n_paths, np.int64)
    for i in range(n_paths):
        left[i] = n_asked[row[i]]
        looked_at[i] = 0
    for tree in range(nodes.start.shape[0] - 1):
        root = nodes.start[tree]
        for i in range(n_paths):
            if abs(sums[i]) > left[i] or not asked[tree, row[i]]:
                continue
            mine = codes[row[i]]
            node = root
            while feature[node] >= 0:
                f = feature[node]
                if f < n_features:
                    code = np.int64(mine[f])
                    goes_left = missing_left[node] if code == MISSING else code <= threshold[node]
                else:
                    label = f - n_features
                    looked_at[i] |= np.uint64(1) << np.uint64(label & 63)
                    goes_left = paths[i, label] <= threshold[node]
                node = root + nodes.left_child[node] + (not goes_left)
            sums[i] += value[node]
            left[i] -= 1
    for i in range(n_paths):
        out[i] = sums[i] > 0.0


@kernel
def round_draws(expected: Floats, row: Longs, uniform: float) -> Floats:
    """Round the expected numbers of a row's draws at random, each up or down, and so that its mean is right.

    This is systematic sampling: also the sum over the paths of a row, which are neighbors, is rounded up or
    down, so that the draws tell far more of the chance of a label than as many independent ones.
    """
    out = np.empty(row.shape[0], np.float64)
    total, drawn = 0.0, 0.0
    for i in range(row.shape[0]):
        if i == 0 or row[i] != row[i - 1]:
            total, drawn = 0.0, 0.0
        total += expected[i]
        upto = np.floor(total + uniform)
        out[i] = upto - drawn
        drawn = upto
    return out
