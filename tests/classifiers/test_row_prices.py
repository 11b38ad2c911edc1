"""Classifiers under prices that differ from row to row."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import refpair
from refpair import (
    BayesDecisionClassifier,
    Cost,
    CSRPEClassifier,
    ProbabilisticChain,
)
from refpair.decision import expected_cost
from refpair.posterior import IndependentLabels
from tests.classifiers.common import CLASSES, make, names_with

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    Y = (X[:, :3] + rng.normal(size=(150, 3)) > 0.7).astype(int)
    return X, Y, rng.gamma(0.5, 8, (150, 3))


@pytest.fixture(scope="module", params=["CSRPEClassifier", "BayesDecisionClassifier", "ProbabilisticChain"])
def fitted(data, request):
    X, Y, A = data
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    learner = {} if request.param == "CSRPEClassifier" else {"estimator": tree}
    return make(request.param, cost=Cost.per_label(false_negative=A), **learner).fit(X, Y)


def test_decide_takes_the_prices_of_its_rows(data, fitted, monkeypatch):
    X, _, A = data
    monkeypatch.setattr("refpair.posterior.mixture._ROWS", 64)  # several blocks
    cost = Cost.per_label(false_negative=A, false_positive=2)
    answer, p = fitted.decide(X, cost), fitted.predict_proba(X)
    np.testing.assert_array_equal(answer[7:30], fitted.decide(X[7:30], cost.for_rows(slice(7, 30))))
    expected = fitted.expected_cost(X, cost=cost)
    np.testing.assert_allclose(expected, expected_cost(IndependentLabels(p), answer, cost), atol=1e-3)
    np.testing.assert_array_equal(expected, fitted.expected_cost(X, answer, cost=cost))
    assert (expected <= fitted.expected_cost(X, fitted.predict(X), cost=cost) + 1e-9).all()
    assert not np.array_equal(answer, fitted.decide(X, cost.with_mean_prices()))
    for method in (fitted.decide, fitted.expected_cost):
        with pytest.raises(ValueError, match="has prices of 150 rows, and here are 149"):
            method(X[1:], cost=cost)


def test_another_cost_may_be_expected(data, fitted):
    X, _, _ = data
    own, other = fitted.expected_cost(X), fitted.expected_cost(X, cost="hamming")
    assert not np.array_equal(own, other)
    np.testing.assert_array_equal(other, fitted.expected_cost(X, fitted.decide(X, "hamming"), cost="hamming"))
    np.testing.assert_array_equal(own, fitted.expected_cost(X, cost=fitted.cost_))


def test_all_forms_of_prices_are_the_same_to_a_model(data):
    X, Y, A = data
    X, Y = pd.DataFrame(X, columns=[*"pqrs"]), pd.DataFrame(Y, columns=NAMES)
    model = CSRPEClassifier("hamming", n_bits=20, random_state=0).fit(X, Y)
    expected = model.decide(X, Cost.per_label(false_negative=A))
    by_name = dict(zip(NAMES, A.T, strict=True))
    for prices in (pd.DataFrame(A, columns=NAMES).iloc[:, ::-1], by_name, A.tolist()):
        pd.testing.assert_frame_equal(model.decide(X, Cost.per_label(false_negative=prices)), expected)
    with pytest.raises(ValueError, match="unknown label 'd'"):
        model.decide(X, Cost.per_label(false_negative={"d": A[:, 0]}))


@pytest.mark.parametrize("name", names_with("cost"))
def test_a_fit_has_the_mean_prices_for_new_rows(data, name):
    X, Y, A = data
    cost = Cost.per_label(false_negative=A)
    model = make(name, cost=cost).fit(X, Y)
    assert model.cost is cost
    assert model.cost_ == Cost.per_label(false_negative=A.mean(axis=0))
    assert model.predict(X[:5]).shape == (5, 3)
    assert np.isfinite(model.score(X, Y))
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="has prices of 150 rows, and here are 100"):
        clone(model).fit(X[:100], Y[:100])


def test_rows_that_are_left_out_leave_their_prices_out(data):
    X, Y, A = data
    weight, gaps = np.ones(150), Y.astype(float)
    weight[::7], gaps[::5] = 0.0, np.nan
    kept = np.flatnonzero((np.arange(150) % 7 > 0) & (np.arange(150) % 5 > 0))
    cost = Cost.per_label(false_negative=A)
    model = CSRPEClassifier(cost, n_bits=20, random_state=0).fit(X, gaps, sample_weight=weight)
    few = CSRPEClassifier(cost.for_rows(kept), n_bits=20, random_state=0).fit(X[kept], Y[kept])
    assert model.cost_ == few.cost_ == Cost.per_label(false_negative=A[kept].mean(axis=0))
    assert model.oob_cost_ == few.oob_cost_


def test_the_mean_counts_rows_by_their_weights(data):
    X, Y, A = data
    weight = np.arange(1.0, 151.0)
    model = CSRPEClassifier(Cost.per_label(false_negative=A), n_bits=20, random_state=0)
    found = model.fit(X, Y, sample_weight=weight).cost_
    np.testing.assert_allclose(found.false_negative, np.average(A, axis=0, weights=weight))


def test_out_of_bag_rows_have_their_own_prices(data):
    X, Y, A = data
    free = np.where(np.arange(150)[:, None] % 2, 0.0, A)  # half of the rows cost nothing
    how = {"n_bits": 20, "random_state": 0}
    whole = CSRPEClassifier(Cost.per_label(false_negative=A, false_positive=A), **how).fit(X, Y)
    half = CSRPEClassifier(Cost.per_label(false_negative=free, false_positive=free), **how).fit(X, Y)
    assert 0 < half.oob_cost_ < whole.oob_cost_


def test_prices_may_all_be_zero(data):
    X, Y, A = data
    cost = Cost.per_label(false_negative=0 * A, false_positive=0 * A)
    model = CSRPEClassifier(cost, n_bits=20, random_state=0).fit(X, Y)
    assert not model.decide(X, cost).any()
    assert not model.expected_cost(X, cost=cost).any()


def test_the_nearest_decoder_has_the_mean(data):
    X, Y, A = data
    how = {"n_bits": 20, "decoder": "nearest", "random_state": 0}
    model = CSRPEClassifier(Cost.per_label(false_negative=A), **how).fit(X, Y)
    mean = CSRPEClassifier(Cost.per_label(false_negative=A.mean(axis=0)), **how).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), mean.predict(X))


def test_a_filter_tree_learns_from_the_prices_of_rows(data):
    X, Y, A = data
    mean = Cost.per_label(false_negative=A).with_mean_prices()
    same = Cost.per_label(false_negative=np.broadcast_to(mean.false_negative, A.shape))
    trees = [
        make("CondensedFilterTree", estimator=DecisionTreeClassifier(max_depth=2), cost=cost)
        .fit(X, Y)
        .predict(X)
        for cost in (mean, same, Cost.per_label(false_negative=A))
    ]
    np.testing.assert_array_equal(trees[0], trees[1])
    assert not np.array_equal(trees[0], trees[2])


@pytest.mark.parametrize("name", ["CSRPEClassifier", "CondensedFilterTree"])
def test_a_saved_model_has_the_mean_prices(data, name, tmp_path):
    X, Y, A = data
    model = make(name, cost=Cost.per_label(false_negative=A)).fit(X, Y)
    refpair.save(model, tmp_path / "m")
    loaded = refpair.load(tmp_path / "m")
    assert loaded.cost_ == model.cost_
    assert loaded.cost == Cost.per_label(false_negative=A.mean(axis=0))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_search_cannot_know_which_rows_prices_are_of(data):
    X, Y, A = data
    model = CSRPEClassifier(Cost.per_label(false_negative=A), n_bits=5, random_state=0)
    search = GridSearchCV(model, {"max_depth": [2, 3]}, cv=3, error_score="raise")
    with pytest.raises(
        ValueError, match="has prices of 150 rows, and here are 100: give the prices of these"
    ):
        search.fit(X, Y)


def test_rows_that_are_not_in_memory_are_refused(data):
    da = pytest.importorskip("dask.array")
    X, Y, A = data
    model = CSRPEClassifier("hamming", n_bits=5, random_state=0).fit(X, Y)
    cost = Cost.per_label(false_negative=A)
    for method in (model.decide, model.expected_cost):
        with pytest.raises(ValueError, match="prices of rows need rows in memory"):
            method(da.from_array(X, chunks=(50, 4)), cost=cost)


def test_a_rare_label_is_expected_where_no_likely_set_has_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 3))
    rare = rng.random(1500) < 0.02
    Y = np.column_stack([rare, X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    model = CSRPEClassifier("f1", random_state=0, n_jobs=1).fit(X[:1000], Y[:1000])
    p = model.predict_proba(X[1000:])[:, 0]
    assert p.min() > 1e-5
    assert p.mean() == pytest.approx(0.02, abs=0.015)


@pytest.mark.parametrize("name", ["CSRPEClassifier", "BayesDecisionClassifier"])
def test_what_dear_rows_cost_is_better_expected_after_a_fit_with_their_prices(name):
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(4000, 1)), np.exp(rng.normal(1, 1, (4000, 1)))
    Y = (rng.random((4000, 1)) < 1 / (1 + np.exp(2 - X - 0.8 * np.log(A)))).astype(int)  # X does not show A
    price = Cost.per_label(false_negative=A)
    known, new = price.for_rows(slice(0, 1000)), price.for_rows(slice(1000, None))
    tree = {} if name == "CSRPEClassifier" else {"estimator": DecisionTreeClassifier(max_depth=3)}
    own, mean = (
        make(name, cost=cost, **tree)
        .fit(X[:1000], Y[:1000])
        .expected_cost(X[1000:], 0 * Y[1000:], cost=new)
        .mean()
        for cost in (known, known.with_mean_prices())
    )
    assert 1.1 * mean < own < 1.02 * new.mean(Y[1000:], 0 * Y[1000:])


def test_expected_costs_of_all_classifiers_take_a_cost():
    for name, cls in CLASSES.items():
        if hasattr(cls, "expected_cost"):
            assert "cost" in inspect.signature(cls.expected_cost).parameters, name


def test_forests_of_scikit_learn(data):
    X, Y, A = data
    forest = RandomForestClassifier(100, random_state=0)
    cost = Cost.per_label(false_negative=A)
    model = BayesDecisionClassifier(forest, cost=cost.for_rows(slice(0, 75)), random_state=0).fit(
        X[:75], Y[:75]
    )
    paid = cost.for_rows(slice(75, None))
    assert paid.mean(Y[75:], model.decide(X[75:], paid)) < paid.mean(Y[75:], model.predict(X[75:]))


def test_a_chain_that_searches_still_tells_what_its_answer_costs(data):
    X, Y, _ = data
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = ProbabilisticChain(tree, cost="zero_one", inference="exact", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.expected_cost(X), model.expected_cost(X, cost="zero_one"))
    assert not np.array_equal(model.expected_cost(X), model.expected_cost(X, cost="hamming"))
