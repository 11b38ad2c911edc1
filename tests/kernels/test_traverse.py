from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.binning import MISSING
from refpair._kernels.walk import ClassCounts, ask_trees, find_leaves, leaf_votes
from refpair.bits.binning import find_bins
from refpair.bits.nodes import Trees
from tests import naive
from tests.kernels.growing import forms_of, grow, limits_for

MAX_BINS = 16


def traverse(trees, codes):
    n, n_trees = len(codes), len(trees)
    values, signs = np.empty((n, n_trees), np.float32), np.empty((n, n_trees), np.int8)
    ask_trees(codes, trees.start, trees.words, trees.value, 0, signs[:, :0], values)
    ask_trees(codes, trees.start, trees.words, trees.value, n_trees, signs, values[:, :0])
    return values, signs


def as_nodes(trees, tree):
    """One tree of the bank as the naive nodes, which are walked one by one."""
    first = int(trees.start[tree])

    def node(at):
        found = naive.Node(trees.value[first + at], int(trees.feature[first + at]))
        if found.feature >= 0:
            found.threshold = int(trees.threshold[first + at])
            found.missing_left = bool(trees.missing_left[first + at])
            left = int(trees.left_child[first + at])
            found.children = node(left), node(left + 1)
        return found

    return node(0)


@pytest.mark.parametrize("seed", range(4))
def test_rows_reach_the_leaf_of_a_walk(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-20, 20, (200, 4)) / 4
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = np.nan_to_num(X[:, 0])
    bins = find_bins(X, MAX_BINS)
    features = forms_of(X, bins)["dense"]
    trees = grow(features, rng.standard_normal((200, 5)), limits_for(X, max_depth=7))

    new = np.round(rng.standard_normal((3000, 4)) * 8) / 8
    new[rng.random(new.shape) < 0.15] = np.nan
    new[0] = [1e300, -1e300, np.nan, 0.0]
    edges = [naive.bin_edges(column.tolist(), MAX_BINS) for column in X.T]
    rows = [[naive.bin_of(v, e) for v, e in zip(row, edges, strict=True)] for row in new.tolist()]
    nodes = [as_nodes(trees, tree) for tree in range(5)]
    expected = np.array([[naive.leaf(node, row).value for node in nodes] for row in rows])
    for form in (new, np.asfortranarray(new), sp.csr_array(new)):
        codes = np.concatenate([block for _, block in bins.blocks(form)])
        values, signs = traverse(trees, codes)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(signs, np.where(expected > 0, 1, -1))


def test_what_is_missing_only_now_follows_the_larger_part():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    bins = find_bins(X, 64)
    for differences, expected in [([1, 1, -1, -1, -1], -1), ([1, 1, 1, -1, -1], 1), ([1, 1, 0, -1, -1], 1)]:
        for features in forms_of(X, bins).values():
            trees = grow(features, np.float64(differences)[:, None], limits_for(X))
            _, signs = traverse(trees, np.full((1, 1), MISSING, np.uint8))
            assert signs.item() == expected


def test_what_was_missing_follows_the_better_side():
    X = np.array([[np.nan], [np.nan], [1.0], [2.0], [3.0], [4.0]])
    bins = find_bins(X, 64)
    for differences in ([1, 1, 1, 1, -1, -1], [1, 1, -1, -1, 1, 1], [1, 1, -1, -1, -1, -1]):
        for features in forms_of(X, bins).values():
            trees = grow(features, np.float64(differences)[:, None], limits_for(X))
            assert len(trees.feature) == 3, "one split is enough"
            codes = np.concatenate([block for _, block in bins.blocks(X)])
            assert traverse(trees, codes)[1].ravel().tolist() == differences


def test_a_leaf_without_a_majority_says_minus():
    leaf = {"feature": [-1], "threshold": [0], "missing_left": [False], "left_child": [0]}
    dtypes = {"feature": np.int32, "threshold": np.uint8, "missing_left": bool, "left_child": np.int32}
    arrays = {name: np.array(value * 4, dtypes[name]) for name, value in leaf.items()}
    values = np.float32([0.0, -0.0, 1e-30, -1e-30])
    trees = Trees(np.arange(5), *arrays.values(), values)
    assert traverse(trees, np.zeros((1, 1), np.uint8))[1].tolist() == [[-1, -1, 1, -1]]


@st.composite
def random_trees(draw):
    """Trees of any shape, chains among them, with any threshold; some are a single leaf."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_features, chance = draw(st.sampled_from([1, 3, 300])), draw(st.sampled_from([0.3, 0.55, 0.9]))
    start, nodes = [0], []
    for _ in range(draw(st.integers(0, 6))):
        own, at = [None], 0
        while at < len(own):
            splits = rng.random() < chance and len(own) < 300
            own[at] = (
                (rng.integers(n_features), rng.integers(255), rng.random() < 0.5, len(own))
                if splits
                else (-1, 0, False, 0)
            )
            own += [None, None] if splits else []
            at += 1
        nodes += own
        start.append(len(nodes))
    columns = zip(*nodes, strict=True) if nodes else [()] * 4
    dtypes = (np.int32, np.uint8, bool, np.int32)
    arrays = [np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)]
    value = rng.uniform(-1, 1, len(nodes)).astype(np.float32)
    n_rows = draw(st.sampled_from([0, 1, 2, 60, 300]))
    codes = rng.choice(np.uint8([0, 1, 127, 253, 254, MISSING]), (n_rows, n_features))
    return Trees(np.int64(start), *arrays, value), codes, draw(st.integers(0, len(start) - 1))


@settings(deadline=None, max_examples=150)
@given(random_trees())
def test_many_rows_and_trees_at_once_are_as_one_by_one(case):
    trees, codes, n_signs = case
    trees._check_saved()
    n, n_trees = len(codes), len(trees)
    nodes = [as_nodes(trees, tree) for tree in range(n_trees)]
    rows = [[None if code == MISSING else code for code in row] for row in codes.tolist()]
    expected = np.array([[naive.leaf(node, row).value for node in nodes] for row in rows]).reshape(n, n_trees)
    signs, values = np.empty((n, n_signs), np.int8), np.empty((n, n_trees - n_signs), np.float32)
    ask_trees(codes, trees.start, trees.words, trees.value, n_signs, signs, values)
    np.testing.assert_array_equal(signs, np.where(expected[:, :n_signs] > 0, 1, -1))
    np.testing.assert_array_equal(values, expected[:, n_signs:])


# ---- leaves ----


@settings(deadline=None, max_examples=100)
@given(random_trees())
def test_the_leaves_that_rows_reach_are_those_of_a_walk(case):
    trees, codes, _ = case
    n, n_trees = len(codes), len(trees)
    numbered = replace(trees, value=np.arange(len(trees.feature)))  # each node says which one it is
    nodes = [as_nodes(numbered, tree) for tree in range(n_trees)]
    rows = [[None if code == MISSING else code for code in row] for row in codes.tolist()]
    expected = np.array([[naive.leaf(node, row).value for node in nodes] for row in rows])
    out = np.full((n, n_trees), -1, np.int32)
    find_leaves(codes, trees.nodes, out)
    np.testing.assert_array_equal(out, expected.reshape(n, n_trees))
    assert (trees.feature[out] == -1).all()


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.0, 0.5, 1.0]))
def test_leaves_vote_by_their_frequencies_if_they_are_asked(seed, n_rows, n_trees, share):
    rng = np.random.default_rng(seed)
    n_nodes, n_classes = 7, 4
    n_held = rng.integers(1, n_classes + 1, n_nodes)
    classes = [np.sort(rng.permutation(n_classes)[:n]).astype(np.int32) for n in n_held]
    counts = [rng.integers(1, 9, n).astype(np.int32) for n in n_held]
    held = ClassCounts(np.cumsum([0, *n_held]), np.concatenate(classes), np.concatenate(counts))
    leaves = rng.integers(0, n_nodes, (n_rows, n_trees)).astype(np.int32)
    asked = rng.random((n_rows, n_trees)) < share
    before = rng.random((n_rows, n_classes))
    votes = before.copy()
    leaf_votes(leaves, asked, held, votes)
    expected = before.copy()
    for row, tree in np.argwhere(asked):
        leaf = leaves[row, tree]
        for of_class, count in zip(classes[leaf], counts[leaf], strict=True):
            expected[row, of_class] += count / sum(counts[leaf])
    np.testing.assert_allclose(votes, expected, rtol=1e-12)
    np.testing.assert_allclose((votes - before).sum(axis=1), asked.sum(axis=1), atol=1e-12)
