"""Asking for single labels of single rows."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from refpair import Cost, CSRPEClassifier, get_cost
from refpair.active import BayesRisk, RandomQuery, RepresentativeUncertainty, SpreadQuery, SubSampled
from refpair.active._cells import Cells, label_probabilities
from refpair.active._coverage import variance_removed, variance_removed_by_label
from refpair.active._pool import read_pool
from refpair.decision.value import LabelsGiven, values_of_labels
from refpair.posterior import IndependentLabels, LabelDistribution
from refpair.tables.labels import UNKNOWN
from tests.active.strategies import STRATEGIES
from tests.active.test_strategies import make_data

ASK = {
    "representative": RepresentativeUncertainty("f1", random_state=0),
    "risk": BayesRisk("rank", random_state=0),
    "random": RandomQuery(random_state=0),
    "some": SubSampled(RepresentativeUncertainty("jaccard"), n_candidates=30, random_state=0),
    "naive Bayes": BayesRisk("f1", estimator=GaussianNB(), random_state=0),
    "code": RepresentativeUncertainty("f1", estimator=CSRPEClassifier(n_bits=30), random_state=0),
}


@pytest.fixture(params=ASK)
def strategy(request):
    return clone(ASK[request.param])


def partly_known(seed=0):
    X, Y, truth = make_data(seed=seed)
    rng = np.random.default_rng(seed)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    some = rng.random(Y.shape) < 0.05
    Y[some] = truth[some]
    return X, Y, truth


def test_unknown_labels_are_asked_for(strategy):
    X, Y, _ = partly_known()
    before = Y.copy()
    cells = strategy.query_cells(X, Y, batch_size=12)
    assert cells.shape == (12, 2)
    assert np.issubdtype(cells.dtype, np.integer)
    assert len({*map(tuple, cells)}) == 12
    assert np.isnan(Y[cells[:, 0], cells[:, 1]]).all()
    np.testing.assert_array_equal(clone(strategy).query_cells(X, Y, batch_size=12), cells)
    np.testing.assert_array_equal(Y, before)


def test_one_label(strategy):
    X, Y, _ = partly_known()
    cells = strategy.query_cells(X, Y, batch_size=5, label=2)
    assert (cells[:, 1] == 2).all()
    assert len({*cells[:, 0]}) == 5
    frame = pd.DataFrame(Y, columns=["spam", "ham", "fraud", "ok"])
    np.testing.assert_array_equal(strategy.query_cells(X, frame, batch_size=5, label="fraud"), cells)


def test_candidates(strategy):
    X, Y, _ = partly_known()
    open_rows = np.flatnonzero(np.isnan(Y).any(axis=1))[:6]
    cells = strategy.query_cells(X, Y, batch_size=1000, candidates=open_rows)
    assert {*map(tuple, cells)} == {(row, k) for row in open_rows for k in np.flatnonzero(np.isnan(Y[row]))}


def test_a_loop_from_nothing_to_everything(strategy):
    X, _, truth = make_data(n=20)
    Y = np.full(truth.shape, np.nan)
    while np.isnan(Y).any():
        row, label = strategy.query_cells(X, Y, batch_size=9).T
        assert np.isnan(Y[row, label]).all()
        Y[row, label] = truth[row, label]
    with pytest.raises(ValueError, match="there is nothing to ask: no cell of Y is NaN"):
        strategy.query_cells(X, Y)


def test_sparse_features(strategy):
    X, Y, _ = partly_known()
    X[np.abs(X) < 0.5] = 0.0
    if isinstance(getattr(strategy, "estimator", None), GaussianNB):
        return  # takes none
    np.testing.assert_array_equal(
        strategy.query_cells(sp.csr_array(X), Y, batch_size=5), strategy.query_cells(X, Y, batch_size=5)
    )


def test_rows_that_are_the_same_are_asked_once():
    X, Y, truth = make_data()
    X[20:40] = X[20]
    for strategy in (RepresentativeUncertainty(random_state=0), BayesRisk(random_state=0)):
        row, label = strategy.query_cells(X, Y, batch_size=12).T
        for k in range(truth.shape[1]):
            assert ((row[label == k] >= 20) & (row[label == k] < 40)).sum() <= 1


def test_many_rows_are_looked_at_by_their_cost():
    X, Y, _ = make_data(n=1300)
    cells = RepresentativeUncertainty(random_state=0).query_cells(X, Y, batch_size=4500)
    assert len({*map(tuple, cells)}) == 4500


def test_prices_of_labels():
    X, Y, _ = make_data()
    cost = Cost.per_label(false_negative=[0.0, 0.0, 9.0, 0.0], false_positive=[0.0, 0.0, 9.0, 0.0])
    cells = BayesRisk(cost, random_state=0).query_cells(X, Y, batch_size=6)
    assert (cells[:, 1] == 2).all()


# ---- probabilities and values ----


def brute_force(vectors, weights, observed):
    out = np.empty(observed.shape)
    for row, known in enumerate(observed):
        agrees = ((known == UNKNOWN) | (vectors == known)).all(axis=1)
        if (weights[row] * agrees).sum() > 0:
            out[row] = (weights[row] * agrees) @ vectors / (weights[row] * agrees).sum()
        else:
            out[row] = np.where(known == UNKNOWN, weights[row] @ vectors, known)
    return out


@pytest.mark.parametrize("n_labels", [1, 3, 6])
def test_conditional_probabilities(n_labels):
    rng = np.random.default_rng(n_labels)
    vectors = np.array(list(product([0, 1], repeat=n_labels)), np.uint8)
    for n_vectors in (len(vectors), len(vectors) // 2):
        some = vectors[rng.permutation(len(vectors))[:n_vectors]]
        weights = rng.random((40, n_vectors)) * (rng.random((40, n_vectors)) < 0.6)
        weights[:, 0] += 0.1
        weights /= weights.sum(axis=1, keepdims=True)
        observed = rng.choice([0, 1, UNKNOWN], size=(40, n_labels)).astype(np.uint8)
        told = LabelDistribution.from_dense(some, weights).given(observed).marginals()
        np.testing.assert_allclose(told, brute_force(some, weights, observed), atol=1e-12)
    p = rng.random((40, n_labels))
    given = IndependentLabels(p).given(observed).marginals()
    np.testing.assert_array_equal(given, np.where(observed == UNKNOWN, p, observed))


@pytest.mark.parametrize("cost", ["f1", "hamming", "rank", "jaccard", "zero_one"])
def test_values_are_those_of_all_label_vectors(cost):
    cost, rng = get_cost(cost), np.random.default_rng(0)
    p = rng.random((8, 4))
    p[0, 1], p[1, 2] = 0.0, 1.0
    vectors = np.array(list(product([0, 1], repeat=4)), np.uint8)
    costs = np.array([[cost.rows(y[None], z[None])[0] for y in vectors] for z in vectors])

    def least(marginals):
        return (costs @ np.prod(np.where(vectors, marginals, 1 - marginals), axis=1)).min()

    nothing = np.full(p.shape, UNKNOWN, np.uint8)
    given = LabelsGiven(IndependentLabels(p))
    values = values_of_labels(given, np.arange(8), nothing, nothing == UNKNOWN, cost)
    for row, k in product(range(8), range(4)):
        after = [least(np.where(np.arange(4) == k, value, p[row])) for value in (0, 1)]
        expected = least(p[row]) - (1 - p[row, k]) * after[0] - p[row, k] * after[1]
        assert values[row, k] == pytest.approx(expected, abs=1e-12)


def test_of_many_labels_a_function_counts_as_hamming_loss():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.integers(0, 2, (40, 12)).astype(float)
    Y[20:] = np.nan
    own = Cost.from_function(lambda truths, predicted: (truths != predicted).any(axis=1).astype(float))
    cells = [
        BayesRisk(cost, estimator=GaussianNB()).query_cells(X, Y, batch_size=5) for cost in (own, "hamming")
    ]
    np.testing.assert_array_equal(*cells)


def test_what_is_known_of_a_row_tells_of_its_other_labels():
    X, Y = np.zeros((60, 1)), np.full((60, 2), np.nan)
    X[:, 0] = np.arange(60) % 3
    Y[:40] = (np.arange(40) % 2)[:, None]  # both labels or none
    Y[40, 0], Y[41, 0] = 0.0, 1.0
    pool = read_pool(X, Y, [40, 41, 50], cells=True)
    model = CSRPEClassifier("f1", n_bits=20, sources=("code", "leaves"), random_state=0)
    p = label_probabilities(model, pool, np.random.default_rng(0))[:, 1]
    assert p[0] < p[2] < p[1]


def test_coverage_is_that_of_each_label():
    X, Y, _ = partly_known()
    pool = read_pool(X, Y, cells=True)
    unknown = Cells(pool, np.arange(4)).unknown
    found = variance_removed_by_label(
        X,
        pool.labeled,
        pool.known != UNKNOWN,
        pool.candidates,
        unknown,
        np.arange(60),
        np.random.default_rng(0),
    )
    everything = np.flatnonzero(~np.isnan(Y[:, 1]))
    expected = variance_removed(X, everything, np.arange(60), np.random.default_rng(0))
    asked = unknown[:, 1]
    np.testing.assert_allclose(found[asked, 1], expected[pool.candidates[asked]], rtol=1e-9)


# ---- mistakes ----


def test_mistakes_are_told(strategy):
    X, Y, _ = partly_known()
    with pytest.raises(ValueError, match="batch_size must be an integer of at least 1, not 0"):
        strategy.query_cells(X, Y, batch_size=0)
    with pytest.raises(ValueError, match=r"label must be one of .* or a column number up to 3, not 'fraud'"):
        strategy.query_cells(X, Y, label="fraud")
    with pytest.raises(ValueError, match="candidates must be row numbers from 0 to 59"):
        strategy.query_cells(X, Y, candidates=[60])
    with pytest.raises(ValueError, match="Y must be 0, 1 or NaN, and has 2"):
        strategy.query_cells(X, np.where(Y == 1, 2, Y))
    Y[:, 1] = 0.0
    with pytest.raises(ValueError, match="there is nothing to ask: no candidate, as to the label 1, has NaN"):
        strategy.query_cells(X, Y, label=1)


@pytest.mark.parametrize("strategy", [SpreadQuery(), STRATEGIES["mmc"], SubSampled(SpreadQuery())])
def test_some_ask_for_whole_rows_only(strategy):
    X, Y, _ = partly_known()
    with pytest.raises(ValueError, match="asks for whole rows only: query_cells needs Representative"):
        strategy.query_cells(X, Y)


def test_estimators_without_probabilities():
    X, Y, _ = partly_known()
    with pytest.raises(ValueError, match="must have predict_proba"):
        RepresentativeUncertainty(estimator=LinearSVC()).query_cells(X, Y)
