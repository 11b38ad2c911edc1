"""Trees on hundreds and thousands of rows: kept histograms, their subtraction, and arrays that must grow."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from refpair._kernels.grow import SMALL_NODE, n_histograms
from refpair._kernels.walk import ask_trees
from refpair.bits.binning import find_bins
from refpair.bits.nodes import Trees
from tests.kernels.checking import check_nodes
from tests.kernels.growing import forms_of, grow, grow_all_forms, integer_weights, limits_for


def codes_of(X, max_bins):
    bins = find_bins(X, max_bins)
    features = forms_of(X, bins)["dense"]
    codes = features.codes.T.astype(np.int64)
    return codes, codes == features.missing_bins


def check(X, differences, *, max_bins=64, n_checked=2, **limits):
    """Grow in all forms, check some of the trees node by node, and return the depth of the first."""
    trees = grow_all_forms(X, differences, max_bins=max_bins, **limits)
    codes, missing = codes_of(X, max_bins)
    limits = limits_for(X, **limits)
    depths = []
    for tree in range(min(n_checked, len(trees))):
        signed = np.float64(integer_weights(differences[:, tree], np.arange(len(X)), limits))
        depths.append(check_nodes(trees, tree, codes, missing, signed, limits))
    return depths[0]


def mixed_features(rng, n):
    """Continuous, binary, rare, skewed and missing values; zero is not always the common value."""
    columns = [
        rng.standard_normal(n),
        rng.exponential(size=n).round(1),
        (rng.random(n) < 0.05).astype(float),
        (rng.random(n) < 0.9).astype(float),
        rng.integers(0, 300, n).astype(float),
        np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 6, n)),
        np.where(rng.random(n) < 0.9, np.nan, rng.standard_normal(n)),
        np.where(rng.random(n) < 0.5, np.nan, 2.0),
        np.full(n, 7.0),
        np.full(n, np.nan),
    ]
    return np.column_stack(columns)


@pytest.mark.parametrize("limits", [{}, {"max_depth": 6}, {"min_samples_leaf": 9}])
@pytest.mark.parametrize("max_bins", [2, 64, 255])
def test_every_split_is_the_best_one(limits, max_bins):
    rng = np.random.default_rng(max_bins)
    X = mixed_features(rng, 900)
    signal = np.nan_to_num(X[:, 0]) + X[:, 3] - np.isnan(X[:, 6])
    differences = (signal[:, None] + rng.standard_normal((900, 12))) * (rng.random((900, 12)) < 0.8)
    check(X, differences, max_bins=max_bins, **limits)


def test_a_quarter_of_a_million_cells():
    rng = np.random.default_rng(1)
    X = mixed_features(rng, 25_000)
    differences = np.nan_to_num(X[:, :1]) + rng.standard_normal((25_000, 1))
    check(X, differences, n_checked=1, max_depth=9)


def test_deep_trees_on_rare_features():
    """Each feature tells one row from the rest: rows go one by one, a histogram is handed down each time."""
    n = 260
    differences = np.where(np.arange(n) % 2, 1.0, -1.0) * np.linspace(1.0, 2.0, n)
    assert check(np.eye(n), differences[:, None], n_checked=1) > 100


def test_as_many_histograms_as_can_be():
    """Binary digits of the row part every node in halves: all that can wait with a histogram do."""
    n = 25 * 2**7
    X = (np.arange(n)[:, None] >> np.arange(12) & 1).astype(float)
    differences = np.random.default_rng(0).choice([-1.0, 1.0], (n, 3))
    check(X, differences, n_checked=1)


def test_the_number_of_histograms_is_the_least_that_suffices():
    """By all ways to part a node: the larger child keeps its histogram while the smaller one grows."""
    needed = [0] * (SMALL_NODE + 1)
    for n in range(SMALL_NODE + 1, 700):
        most = 1
        for small in range(1, n // 2 + 1):
            waits = n - small > SMALL_NODE
            most = max(most, needed[n - small], needed[small] + waits if needed[small] else 0)
        needed.append(most)
        assert n_histograms(n) == needed[n], n
    assert [n_histograms(n) for n in (1, SMALL_NODE)] == [0, 0]


def test_arrays_grow_with_the_number_of_nodes():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((500, 3))
    differences = rng.standard_normal((500, 60))
    seeds = rng.integers(0, 2**63, 60, dtype=np.uint64)
    features, limits = forms_of(X, find_bins(X, 64))["dense"], limits_for(X)
    together = grow(features, differences, limits, seeds=seeds)
    assert len(together.feature) > 2 * (64 * 60 + 2 * 500), "too few nodes to enlarge any array"
    one_by_one = [grow(features, differences[:, [t]], limits, seeds=seeds[[t]]) for t in range(60)]
    joined = Trees.join(one_by_one)
    for field in vars(together):
        np.testing.assert_array_equal(getattr(together, field), getattr(joined, field))


def predicted(trees, bins, X):
    signs = np.empty((len(X), len(trees)), np.int8)
    for block, codes in bins.blocks(X):
        none = np.empty((len(codes), 0), np.float32)
        ask_trees(codes, trees.start, trees.words, trees.value, len(trees), signs[block], none)
    return signs


@pytest.mark.parametrize("max_values", [2, 12])
def test_training_rows_are_learnt_as_scikit_learn_learns_them(max_values):
    """Full trees fit all rows but those with equal features; there both take the heavier sign."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, max_values, (600, 5)).astype(float)
    bits, weights = rng.choice([-1, 1], (600, 8)), rng.uniform(0.5, 2.0, (600, 8))
    trees = grow_all_forms(X, bits * weights)
    ours = predicted(trees, find_bins(X, 64), X)
    for tree in range(8):
        theirs = DecisionTreeClassifier(random_state=0).fit(X, bits[:, tree], sample_weight=weights[:, tree])
        np.testing.assert_array_equal(ours[:, tree], theirs.predict(X))


def test_new_rows_are_predicted_about_as_well_as_by_scikit_learn():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((2000, 8))
    score = X[:, [0]] + X[:, [1]] * X[:, [2]] + rng.standard_normal((2000, 20))
    new = np.arange(2000) >= 1000
    bins, limits = find_bins(X[~new], 64), limits_for(X[~new], max_depth=6)
    trees = grow(forms_of(X[~new], bins)["dense"], score[~new], limits)
    ours = predicted(trees, bins, X[new]) == np.sign(score[new])
    theirs = np.column_stack([
        DecisionTreeClassifier(max_depth=6, random_state=0)
        .fit(X[~new], score[~new, tree] > 0, sample_weight=np.abs(score[~new, tree]))
        .predict(X[new]) == (score[new, tree] > 0)
        for tree in range(20)
    ])  # fmt: skip
    weights = np.abs(score[new])
    ours, theirs = (ours * weights).sum() / weights.sum(), (theirs * weights).sum() / weights.sum()
    assert theirs > 0.7
    assert abs(ours - theirs) < 0.015
