"""Rows that count differently: a whole weight is as good as so many copies of the row, in any order."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from refpair.bits import trees
from refpair.bits.binning import find_bins
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitProblems, ClassProblems
from refpair.bits.trees import ClassTreeBank, TreeBank
from refpair.bits.weights import in_copies, in_whole_copies
from tests import naive


def columns(differences, bits):
    return differences[:, bits]


def make(n=200, d=12, share=1.0, n_bits=6, seed=0):
    """Features, problems whose rows count differently, and the rows repeated, in another order."""
    rng = np.random.default_rng(seed)
    differences = rng.integers(-2, 3, (9, n_bits)) / 4
    X = rng.standard_normal((n, d)).round(1) * (rng.random((n, d)) < share)
    weight = rng.integers(1, 5, n).astype(float)
    problems = BitProblems(
        rng.integers(0, 9, n).astype(np.int32), n_bits, partial(columns, differences),
        np.arange(n_bits, dtype=np.uint64), row_weight=weight,
    )  # fmt: skip
    return X, problems, rng.permutation(np.repeat(np.arange(n), weight.astype(int)))


def repeated(problems, rows):
    return replace(problems, vector_of_row=problems.vector_of_row[rows], row_weight=None)


def assert_same_arrays(ours, theirs):
    for field in vars(ours):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field), err_msg=field)


@pytest.mark.parametrize("share", [1.0, 0.1])
@pytest.mark.parametrize("max_features", [None, "sqrt"])
@pytest.mark.parametrize("min_samples_leaf", [1, 3])
def test_trees_of_weights_are_those_of_copies(share, max_features, min_samples_leaf):
    X, problems, rows = make(share=share)
    how = {"max_features": max_features, "min_samples_leaf": min_samples_leaf, "max_bins": 16}
    bank, other = TreeBank(**how).fit(X, problems), TreeBank(**how).fit(X[rows], repeated(problems, rows))
    assert_same_arrays(bank.bins_, other.bins_)
    assert_same_arrays(bank.trees_, other.trees_)
    assert_same_arrays(TreeBank(**how).fit(sp.csr_array(X), problems).trees_, bank.trees_)
    classes, n_classes = (
        np.stack([problems.vector_of_row, problems.vector_of_row % 3], axis=1),
        np.array([9, 3]),
    )
    seeds = problems.seeds[:4]
    forests = ClassTreeBank(**how).fit(X, ClassProblems(classes, n_classes, 2, seeds, problems.row_weight))
    others = ClassTreeBank(**how).fit(X[rows], ClassProblems(classes[rows], n_classes, 2, seeds))
    assert_same_arrays(forests.trees_, others.trees_)


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_regressions_of_weights_are_those_of_copies(share):
    X, problems, rows = make(share=share)
    X = sp.csr_array(X) if share < 1 else X
    bank = LogisticBank(tol=1e-8).fit(X, problems)
    other = LogisticBank(tol=1e-8).fit(X[rows], repeated(problems, rows))
    np.testing.assert_allclose(bank.coef_, other.coef_, atol=1e-8)
    np.testing.assert_allclose(bank.intercept_, other.intercept_, atol=1e-8)
    estimators = EstimatorBank(LogisticRegression(tol=1e-10)).fit(X, problems)
    others = EstimatorBank(LogisticRegression(tol=1e-10)).fit(X[rows], repeated(problems, rows))
    np.testing.assert_allclose(estimators.values(X), others.values(X), atol=1e-4)


def test_weights_stay_with_problems():
    X, problems, _ = make()
    assert problems.at_hand().row_weight is problems.row_weight
    some = np.array([3, 1])
    taken = TreeBank().fit(X, problems.take(some)).trees_
    assert_same_arrays(taken, TreeBank().fit(X, problems).take(some).trees_)


def test_a_few_rows_of_many_take_their_weights_with_them(monkeypatch):
    """Trees that are given their own rows alone are those that are given all rows."""
    X, problems, _ = make(n=400)
    expected = TreeBank(max_samples=60).fit(X, problems).trees_
    monkeypatch.setattr(trees, "_FEW", 10**9)
    assert_same_arrays(TreeBank(max_samples=60).fit(X, problems).trees_, expected)


def test_equal_weights_that_are_not_whole_change_no_tree():
    X, problems, _ = make()
    expected = TreeBank().fit(X, replace(problems, row_weight=None)).trees_
    for weight in (0.3, 1.0, 1e-300, 1e300):
        weighted = replace(problems, row_weight=np.full(len(X), weight))
        assert_same_arrays(TreeBank().fit(X, weighted).trees_, expected)


def test_weights_in_copies():
    whole = np.array([1.0, 5.0, 2.0])
    np.testing.assert_array_equal(in_copies(whole), whole)
    np.testing.assert_array_equal(in_whole_copies(whole)[0], [1, 5, 2])
    np.testing.assert_allclose(in_copies(np.array([0.5, 1.0, 1.5])), [0.5, 1.0, 1.5])
    np.testing.assert_allclose(in_copies(np.array([1e10, 3e10])), [0.5, 1.5])
    np.testing.assert_allclose(in_copies(np.array([1e308, 1e308, 1e-300])), [1.5, 1.5, 0.0], atol=1e-8)
    copies, unit = in_whole_copies(np.array([0.5, 1.0, 1.5, 1e-9]))
    assert copies.tolist() == [683, 1365, 2048, 1]
    assert unit == 1024


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.5, 3.0, np.nan]), st.integers(1, 6)),
        min_size=1,
        max_size=30,
    ),
    st.integers(2, 6),
)
@settings(deadline=None, max_examples=200)
def test_bins_count_rows_by_weight(rows, max_bins):
    values, copies = (np.array(part, float) for part in zip(*rows, strict=True))
    expected = naive.bin_edges(values.tolist(), max_bins, [int(n) for n in copies])
    for X in (values[:, None], sp.csr_array(values[:, None])):
        bins = find_bins(X, max_bins, copies)
        assert bins.edges.tolist() == expected
        assert_same_arrays(bins, find_bins(np.repeat(values, copies.astype(int))[:, None], max_bins))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"weights of shape \(3,\) are given for 2 rows"),
        (np.array([1.0, 0.0]), "not a finite number above 0"),
        (np.array([1.0, np.nan]), "not a finite number above 0"),
        (np.array([1.0, np.inf]), "not a finite number above 0"),
    ],
)
def test_wrong_weights_are_refused(weight, message):
    rows, seeds = np.zeros(2, np.int32), np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match=message):
        BitProblems(rows, 1, columns, seeds, row_weight=weight)
    with pytest.raises(ValueError, match=message):
        ClassProblems(rows[:, None], np.array([1]), 1, seeds, weight)
    with pytest.raises(ValueError, match=message):
        find_bins(np.zeros((2, 1)), 4, weight)
