import numpy as np
import pytest
import scipy.sparse as sp

from refpair._kernels.binning import MISSING
from refpair._kernels.walk import find_leaves, leaf_signs
from refpair.bits.binning import find_bins
from refpair.bits.nodes import Trees
from tests import naive
from tests.kernels.growing import forms_of, grow, limits_for

MAX_BINS = 16


def traverse(trees, codes):
    leaves, signs = np.empty((len(codes), len(trees)), np.int32), np.empty((len(codes), len(trees)), np.int8)
    find_leaves(codes, trees.nodes, leaves)
    leaf_signs(codes, trees.nodes, trees.value, signs)
    return trees.value[leaves], signs


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
    for given in (new, np.asfortranarray(new), sp.csr_array(new)):
        codes = np.concatenate([block for _, block in bins.blocks(given)])
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
