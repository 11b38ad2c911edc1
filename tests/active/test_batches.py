"""Batches without repeats, rows that stand for others, and pools of many rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from refpair import BinaryRelevance, Logistic
from refpair.active import (
    MMC,
    AdaptiveActive,
    BayesRisk,
    BinaryMinimization,
    CostSensitiveUncertainty,
    RandomQuery,
    RepresentativeUncertainty,
    SubSampled,
    _pool,
)
from refpair.active._coverage import spread_rows, squared_distances, variance_removed
from refpair.active._strategy import best_rows, diverse_rows
from refpair.active.uncertainty import _are_of_a_kind


@given(st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_distances(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, 5, 3))
    B[0] = A[1]
    expected = ((A[:, None] - B) ** 2).sum(axis=2)
    for left, right in ((A, B), (sp.csr_array(A), B), (sp.csr_array(A), sp.csr_array(B))):
        np.testing.assert_allclose(squared_distances(left, right), expected, atol=1e-10)
        assert squared_distances(left, right)[1, 0] == 0.0


def test_missing_values_have_distances():
    X = np.array([[np.nan, 1.0], [0.0, 1.0], [2.0, np.nan]])
    np.testing.assert_allclose(squared_distances(X, X)[0], [0.0, 0.0, 5.0])
    np.testing.assert_allclose(squared_distances(sp.csr_array(X), sp.csr_array(X))[0], [0.0, 0.0, 5.0])


def test_ties_are_broken_at_random_and_rows_not_looked_at_come_last():
    utilities = np.array([1.0, 2.0, 2.0, np.nan, -np.inf])
    first = {int(best_rows(utilities, 1, np.random.default_rng(seed))[0]) for seed in range(20)}
    assert first == {1, 2}
    assert best_rows(utilities, 3, np.random.default_rng(0))[-1] == 0


def test_near_duplicates_do_not_share_a_batch():
    rng = np.random.default_rng(0)
    centres = 10 * rng.standard_normal((5, 3))
    X = np.repeat(centres, 20, axis=0) + 1e-6 * rng.standard_normal((100, 3))
    utilities = np.repeat([5.0, 4.9, 4.8, 4.7, 4.6], 20) + 0.01 * rng.random(100)
    chosen = diverse_rows(X, utilities, 5, rng)
    assert chosen[0] == np.argmax(utilities)
    assert sorted(chosen // 20) == [0, 1, 2, 3, 4]
    top = np.argsort(-utilities)[:5]
    assert len(set(top // 20)) == 1  # what the top of the ranking would have been


def test_exact_duplicates_are_asked_for_only_when_nothing_else_is_left():
    X = np.array([[0.0], [0.0], [0.0], [7.0], [9.0]])
    chosen = diverse_rows(X, np.array([5.0, 4.0, 3.0, 2.0, 1.0]), 4, np.random.default_rng(0))
    assert set(chosen[:3]) == {0, 3, 4}


@pytest.mark.parametrize("sparse", [False, True])
def test_spread_rows_are_greedy_medoids(sparse):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2))
    labeled, candidates = np.array([0, 1]), np.arange(2, 30)
    given = sp.csr_array(X) if sparse else X
    chosen, worth = spread_rows(given, labeled, candidates, 4, rng)
    d = ((X[candidates][:, None] - X) ** 2).sum(axis=2)  # candidates × all
    nearest = d[:, labeled].min(axis=1)
    np.testing.assert_allclose(
        worth, [np.maximum(nearest - d[:, row], 0).mean() for row in candidates], atol=1e-9
    )
    for one in chosen:
        gains = [np.maximum(nearest - d[:, row], 0).mean() for row in candidates]
        assert gains[one] == pytest.approx(max(gains))
        nearest = np.minimum(nearest, d[:, candidates[one]])


@pytest.mark.parametrize("labeled", [[0, 1], []])
def test_by_how_much_a_label_lowers_the_variance_of_others(labeled):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((25, 3))
    labeled, candidates = np.array(labeled, int), np.arange(2, 25)
    d = ((X[:, None] - X) ** 2).sum(axis=2)
    among = d[np.ix_(candidates, candidates)]
    d /= np.median(among[among > 0])
    likeness = (np.exp(-d) + np.exp(-3 * d) + np.exp(-10 * d)) / 3

    def variances(known):
        """Of the candidates in a Gaussian process, given the labels of some rows with noise."""
        both = likeness[np.ix_(candidates, known)]
        noisy = likeness[np.ix_(known, known)] + np.eye(len(known))
        return np.diag(likeness)[candidates] - np.einsum("ij,ji->i", both, np.linalg.solve(noisy, both.T))

    before = variances(labeled)
    expected = [np.mean(before - variances(np.append(labeled, x))) for x in candidates]
    np.testing.assert_allclose(variance_removed(X, labeled, candidates, rng), expected, atol=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5], ids=["counts of words", "not sparse"])
def test_rows_of_many_zeros_cover_by_their_directions(share):
    rng = np.random.default_rng(3)
    X = rng.random((30, 40)) * (rng.random((30, 40)) < share)
    X[7] = 0.0
    known, others = np.arange(5), np.arange(5, 30)
    covered = variance_removed(X, known, others, np.random.default_rng(0))
    sparse = variance_removed(sp.csr_array(X), known, others, np.random.default_rng(0))
    np.testing.assert_allclose(sparse, covered, atol=1e-12)
    lengths = rng.uniform(0.5, 2.0, (30, 1))
    longer = variance_removed(X * lengths, known, others, np.random.default_rng(0))
    assert np.allclose(longer, covered, atol=1e-12) == (share < 0.2)


def make_pool(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    truth = (X @ rng.standard_normal((6, 4)) > 0.4).astype(float)
    Y = np.full(truth.shape, np.nan)
    Y[:25] = truth[:25]
    return X, Y


@pytest.mark.parametrize(
    "strategy",
    [
        BinaryMinimization(random_state=0),
        MMC(random_state=0),
        BayesRisk("f1", random_state=0),
        CostSensitiveUncertainty("f1", n_bits=40, random_state=0),
        RepresentativeUncertainty("f1", n_bits=40, random_state=0),
    ],
)
def test_pools_are_looked_at_by_chunks(strategy, monkeypatch):
    X, Y = make_pool(300)
    _, expected = strategy.query(X, Y, return_utilities=True)
    monkeypatch.setattr(_pool, "_ROWS_A_CALL", 37)
    _, found = strategy.query(X, Y, return_utilities=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_some_of_a_large_pool():
    X, Y = make_pool(2000)
    strategy = SubSampled(BinaryMinimization(), n_candidates=50, random_state=0)
    rows, utilities = strategy.query(X, Y, batch_size=3, return_utilities=True)
    assert np.isfinite(utilities).sum() == 50
    _, all_of_them = BinaryMinimization().query(X, Y, return_utilities=True)
    seen = np.isfinite(utilities)
    np.testing.assert_allclose(utilities[seen], all_of_them[seen])
    assert rows[0] == np.nanargmax(utilities)
    with pytest.raises(
        ValueError, match=r"strategy must be a query strategy such as RandomQuery\(\), not 'MMC'"
    ):
        SubSampled("MMC").query(X, Y)
    with pytest.raises(ValueError, match="n_candidates must be an integer of at least 1"):
        SubSampled(RandomQuery(), n_candidates=0).query(X, Y)
    with pytest.raises(ValueError, match="C must be a number above 0"):
        SubSampled(MMC(C=0)).query(X, Y)


def test_representative_uncertainty_is_the_product():
    X, Y = make_pool(80)
    how = {"n_bits": 40, "random_state": 0}
    _, product = RepresentativeUncertainty("f1", **how).query(X, Y, return_utilities=True)
    _, uncertainty = CostSensitiveUncertainty("f1", part="utility", **how).query(X, Y, return_utilities=True)
    covered = variance_removed(X, np.arange(25), np.arange(25, 80), np.random.default_rng(0))
    np.testing.assert_allclose(product[25:], uncertainty[25:] ** 2 * covered, atol=1e-9)


def test_both_uncertainties_are_the_sum_of_the_two():
    X, Y = make_pool(80)
    how = {"n_bits": 40, "random_state": 0}
    both, estimation, utility = (
        CostSensitiveUncertainty("rank", part=part, **how).query(X, Y, return_utilities=True)[1]
        for part in ("both", "estimation", "utility")
    )
    np.testing.assert_allclose(both[25:], estimation[25:] + utility[25:])
    assert (both[25:] >= 0).all()
    assert (estimation[25:] <= 0.5).all()


def test_the_bits_begin_where_they_were():
    X, Y = make_pool(120)
    warm = CostSensitiveUncertainty("f1", n_bits=60, bit_estimator=Logistic(tol=1e-8), random_state=0)
    truth = np.nan_to_num(Y)
    for n in (25, 26, 40):
        Y[:n] = truth[:n]
        cold = CostSensitiveUncertainty("f1", n_bits=60, bit_estimator=Logistic(tol=1e-8), random_state=0)
        np.testing.assert_allclose(
            warm.query(X, Y, return_utilities=True)[1], cold.query(X, Y, return_utilities=True)[1], atol=1e-9
        )
    warm.query(X[:, :3], Y)  # other features: from the beginning


@pytest.mark.parametrize("part", ["both", "utility"])
def test_a_classifier_that_is_learnt_along_with_the_bits_is_the_same(part):
    X, Y = make_pool(120)
    how = {"n_bits": 40, "bit_estimator": Logistic(tol=1e-8), "part": part, "random_state": 0}
    _, along = CostSensitiveUncertainty("f1", **how).query(X, Y, return_utilities=True)
    apart = BinaryRelevance(Logistic(tol=1e-9))  # solved more closely than the bits
    for estimator in (apart, BinaryRelevance("logistic"), BinaryRelevance(Logistic(tol=1e-8))):
        assert _are_of_a_kind(estimator, how["bit_estimator"]) == (estimator is not apart)
        strategy = CostSensitiveUncertainty("f1", estimator=estimator, **how)
        np.testing.assert_allclose(strategy.query(X, Y, return_utilities=True)[1], along, atol=1e-12)
    other = CostSensitiveUncertainty("f1", estimator=BinaryRelevance(Logistic(C=1e-3)), **how)
    assert np.nanmax(np.abs(other.query(X, Y, return_utilities=True)[1] - along)) > 0.01


def test_a_change_of_parameters_between_queries():
    X, Y = make_pool(120)
    strategy = CostSensitiveUncertainty("f1", n_bits=40, bit_estimator=Logistic(tol=1e-8), random_state=0)
    for change in ({"part": "estimation"}, {"part": "both"}, {"n_bits": 60}, {"cost": "rank"}, {"n_jobs": 2}):
        utilities = strategy.set_params(**change).query(X, Y, return_utilities=True)[1]
        fresh = clone(strategy).query(X, Y, return_utilities=True)[1]
        np.testing.assert_allclose(utilities, fresh, atol=1e-9)


@pytest.mark.parametrize("row", [3, 40], ids=["labeled", "not labeled"])
def test_logistic_bits_refuse_missing_values_wherever_they_are(row):
    X, Y = make_pool(60)
    X[row, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        CostSensitiveUncertainty("f1", n_bits=30, random_state=0).query(X, Y)
    trees = CostSensitiveUncertainty(
        "f1", estimator=BinaryRelevance("tree"), n_bits=30, bit_estimator="tree", random_state=0
    )
    assert trees.query(X, Y)[0] >= 25


def test_what_was_asked_before_is_forgotten_if_it_does_not_help():
    X, Y = make_pool(60)
    for before in (X * 1e15, X + 2e3, -X):
        strategy = CostSensitiveUncertainty("f1", n_bits=30, bit_estimator=Logistic(tol=1e-8), random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            strategy.query(before, Y)
        utilities = strategy.query(X, Y, return_utilities=True)[1]
        np.testing.assert_allclose(
            utilities, clone(strategy).query(X, Y, return_utilities=True)[1], atol=1e-9
        )


def test_far_from_0_rows_cover_the_same():
    X, _ = make_pool(60)
    known, others = np.arange(10), np.arange(10, 60)
    near = variance_removed(X, known, others, np.random.default_rng(0))
    far = variance_removed(X + 1e6, known, others, np.random.default_rng(0))
    np.testing.assert_allclose(far, near, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("bit_estimator", ["tree", "logistic", Logistic(C=0.1)])
def test_bits_by_other_learners(bit_estimator):
    X, Y = make_pool(60)
    strategy = CostSensitiveUncertainty(
        "f1", estimator=BinaryRelevance("tree"), n_bits=30, bit_estimator=bit_estimator, random_state=0
    )
    assert strategy.query(X, Y)[0] >= 25


def test_other_base_learners_and_fewer_rows_to_look_at():
    X, Y = make_pool(40)
    for strategy in (AdaptiveActive("tree"), BinaryMinimization("forest"), MMC("tree")):
        assert strategy.set_params(random_state=0).query(X, Y)[0] >= 25
    _, utilities = AdaptiveActive(max_looked_at=1, random_state=0).query(X, Y, return_utilities=True)
    assert np.isfinite(utilities).sum() <= 11
    with pytest.raises(ValueError, match="max_looked_at must be an integer of at least 1, not 0"):
        AdaptiveActive(max_looked_at=0).query(X, Y)
    with pytest.raises(ValueError, match="betas must be numbers from 0 to 1"):
        AdaptiveActive(betas=[2.0]).query(X, Y)


def test_adaptive_refits_are_those_of_single_models():
    X, Y = make_pool(45)
    _, at_once = AdaptiveActive(Logistic(), random_state=0).query(X, Y, return_utilities=True)
    one_by_one = AdaptiveActive(LogisticRegression(tol=1e-10, solver="newton-cholesky"), random_state=0)
    _, expected = one_by_one.query(X, Y, return_utilities=True)
    np.testing.assert_allclose(at_once, expected, atol=1e-5)


def test_wrong_parameters_are_told():
    X, Y = make_pool(40)
    for strategy, message in (
        (CostSensitiveUncertainty("speed"), "unknown cost"),
        (CostSensitiveUncertainty(n_bits=0), "n_bits must be an integer of at least 1"),
        (CostSensitiveUncertainty(part="all"), 'part must be "both", "estimation" or "utility", not \'all\''),
        (
            CostSensitiveUncertainty(bit_estimator="svm"),
            'estimator must be "tree", "logistic" or a scikit-learn',
        ),
        (
            CostSensitiveUncertainty("f1", estimator=3),
            "estimator must be a multi-label classifier or None, not 3",
        ),
        (
            BayesRisk("f1", estimator=3),
            "estimator must be a classifier with expected_cost or predict_proba, not 3",
        ),
        (MMC("oak"), "estimator must be a classifier of scikit-learn or one of"),
        (BinaryMinimization(None), "estimator must be a classifier of scikit-learn or one of"),
    ):
        with pytest.raises(ValueError, match=message):
            strategy.query(X, Y)
