"""The kernels grow, node for node, the tree that brute force in exact fractions grows.

Weights of eight bits keep all gains exact in floats, so that ties are ties and the random order decides them.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels.rng import draw_rows
from tests import naive
from tests.kernels.growing import assert_same_tree, grow_all_forms, integer_weights, limits_for, naive_codes

KINDS = ["binary", "few", "many", "constant", "holes", "mostly missing", "all missing", "ones", "copy"]


def make_column(rng, kind, n, before):
    if kind == "copy":
        return before[-1].copy() if before else np.zeros(n)
    if kind == "binary":
        return (rng.random(n) < 0.3).astype(float)
    if kind == "ones":
        return (rng.random(n) < 0.8).astype(float)
    if kind == "few":
        return rng.integers(-2, 3, n).astype(float)
    if kind == "many":
        return rng.standard_normal(n).round(1)
    if kind == "constant":
        return np.full(n, 3.0)
    column = rng.integers(0, 4, n).astype(float)
    column[rng.random(n) < {"holes": 0.2, "mostly missing": 0.8, "all missing": 1.1}[kind]] = np.nan
    return column


@st.composite
def problems(draw, max_rows=40):
    n = draw(st.one_of(st.integers(1, 8), st.integers(20, max_rows)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for kind in kinds:
        columns.append(make_column(rng, kind, n, columns))
    X = np.column_stack(columns)
    signs = rng.integers(-1, 2, n) if draw(st.booleans()) else rng.choice([-1, 1], n)
    weights = draw(st.sampled_from([np.ones(n), rng.integers(1, 4, n), rng.random(n)]))
    return X, signs * weights, draw(st.integers(0, 2**64 - 1))


def check(
    X,
    differences,
    seed,
    *,
    max_bins=64,
    n_sampled=None,
    n_features=None,
    max_features=None,
    row_weight=(),
    weight_bits=8,
    **limits,
):
    n, limits = len(X), limits | {"row_weight": row_weight}
    n_sampled = n_sampled or n
    trees = grow_all_forms(
        X, differences[:, None], max_bins=max_bins, weight_bits=weight_bits, seeds=[seed],
        n_sampled=n_sampled, n_features=n_features, max_features=max_features, **limits,
    )  # fmt: skip
    rows = draw_rows(n, n_sampled, np.uint64(seed))
    limits_ = limits_for(X, weight_bits=weight_bits, **limits)
    signed = integer_weights(differences, rows, limits_, limits.pop("row_weight"))
    copies = [int(max(1, weight)) for weight in row_weight] or None
    whole = np.array_equal(copies or [], row_weight)  # for bins, other weights are rounded
    codes = naive_codes(X[:, :n_features], max_bins, copies if whole else None)
    twin = naive.grow_tree(codes, signed, seed, max_features=max_features, copies=copies, **limits)
    assert_same_tree(trees, 0, twin)


@given(problems())
@settings(deadline=None, max_examples=150)
def test_full_trees(problem):
    check(*problem)


@given(problems(), st.integers(1, 4), st.integers(1, 6))
@settings(deadline=None, max_examples=100)
def test_limits_of_depth_and_leaves(problem, max_depth, min_samples_leaf):
    check(*problem, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


@given(problems(), st.data())
@settings(deadline=None, max_examples=100)
def test_some_features(problem, data):
    X = problem[0]
    check(*problem, max_features=data.draw(st.integers(1, X.shape[1])))


@st.composite
def two_valued_problems(draw):
    """Features that are there or not, and rows enough that it may pay to have bits of them."""
    n, d = draw(st.integers(60, 140)), draw(st.integers(2, 12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = (rng.random((n, d)) < draw(st.sampled_from([0.005, 0.05, 0.3, 0.7]))).astype(float)
    X[:, rng.integers(d)] = 1.0  # a feature without a slot
    signs = rng.integers(-1, 2, n) if draw(st.booleans()) else rng.choice([-1, 1], n)
    weights = draw(st.sampled_from([np.ones(n), np.ones(n), rng.integers(1, 4, n)]))
    return X, signs * weights, draw(st.integers(0, 2**64 - 1))


@given(two_valued_problems(), st.data())
@settings(deadline=None, max_examples=100)
def test_some_features_of_two_values(problem, data):
    n, d = problem[0].shape
    check(
        *problem,
        max_features=data.draw(st.integers(1, d)),
        n_sampled=data.draw(st.integers(1, n)),
        min_samples_leaf=data.draw(st.sampled_from([1, 1, 3])),
    )


@given(problems(), st.data())
@settings(deadline=None, max_examples=100)
def test_the_first_features_only(problem, data):
    """As if the others were not there."""
    n_features = data.draw(st.integers(1, problem[0].shape[1]))
    check(*problem, n_features=n_features)
    check(*problem, n_features=n_features, max_features=data.draw(st.integers(1, n_features)))


@given(two_valued_problems(), st.data())
@settings(deadline=None, max_examples=50)
def test_the_first_features_of_two_values_only(problem, data):
    n_features = data.draw(st.integers(1, problem[0].shape[1]))
    check(*problem, n_features=n_features)
    check(*problem, n_features=n_features, max_features=data.draw(st.integers(1, n_features)))


@given(problems(), st.data())
@settings(deadline=None, max_examples=100)
def test_some_rows(problem, data):
    check(*problem, n_sampled=data.draw(st.integers(1, len(problem[0]))))


@given(problems(), st.integers(2, 5))
@settings(deadline=None, max_examples=100)
def test_few_bins(problem, max_bins):
    check(*problem, max_bins=max_bins)


@pytest.mark.parametrize(
    "differences", [[1.0], [-1.0], [0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-2.0, -1.0]]
)
def test_nothing_to_split(differences):
    X = np.arange(len(differences), dtype=float)[:, None]
    trees = grow_all_forms(X, np.array(differences)[:, None])
    assert trees.feature.tolist() == [-1]
    assert trees.value.tolist() == [np.sign(sum(differences))]


def test_rows_that_tie_change_nothing():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (40, 4)).astype(float)
    differences = rng.standard_normal(40) * (np.arange(40) % 2)
    trees = grow_all_forms(X, differences[:, None])
    X[::2] = rng.integers(0, 5, (20, 4))  # other values of the same bins
    again = grow_all_forms(X, differences[:, None])
    for field in vars(trees):
        np.testing.assert_array_equal(getattr(trees, field), getattr(again, field))


def test_the_search_goes_on_past_features_that_cannot_be_split():
    """With max_features=1 and one useful feature of 50, every tree finds it, wherever the order has it."""
    X = np.zeros((30, 50))
    X[:, 17] = np.arange(30) >= 15
    differences = np.tile(np.where(np.arange(30) >= 15, 1.0, -1.0)[:, None], 20)
    trees = grow_all_forms(X, differences, max_features=1)
    assert trees.feature[trees.start[:-1]].tolist() == [17] * 20


def test_with_some_features_no_feature_is_favoured_by_its_number():
    """Of forty features that split alike among a hundred that cannot, each is as likely to be taken."""
    X = np.zeros((30, 140))
    useful = np.arange(1, 140, 3)[:40]
    X[:, useful] = (np.arange(30) >= 15)[:, None]
    differences = np.tile(np.where(np.arange(30) >= 15, 1.0, -1.0)[:, None], 4000)
    trees = grow_all_forms(X, differences, max_features=1)
    counts = np.bincount(trees.feature[trees.start[:-1]], minlength=140)[useful]
    assert counts.sum() == 4000
    assert 55 < counts.min() <= counts.max() < 150  # 100 each, and a standard deviation of 10


@given(problems(max_rows=30), st.data())
@settings(deadline=None, max_examples=150)
def test_rows_that_count_differently(problem, data):
    n, d = problem[0].shape
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if data.draw(st.booleans()):
        row_weight = rng.integers(1, 5, n).astype(float)
    else:
        row_weight = rng.choice([0.01, 0.7, 1.0, 3.5], n)
    check(
        *problem,
        row_weight=row_weight,
        weight_bits=10,
        n_sampled=data.draw(st.integers(1, n)),
        min_samples_leaf=data.draw(st.sampled_from([1, 3])),
        max_features=data.draw(st.sampled_from([None, 1, d])),
        max_bins=data.draw(st.sampled_from([64, 4])) if (row_weight == row_weight.round()).all() else 64,
    )
