import itertools
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BayesDecisionClassifier, Cost, get_cost
from refpair.classifiers import _chain_search, _leaf_vectors, _links
from refpair.datasets import load_dataset
from refpair.posterior.calibrate import LogOddsPool
from tests.classifiers.common import NOT_COPIES
from tests.classifiers.deciding import ESTIMATORS, FORESTS, fit

WEIGHTS = "check_sample_weights_list", "check_sample_weights_not_overwritten"


def what_cannot_hold(estimator):
    """Return the checks that a model must fail, and why."""
    reasons = {}
    if estimator.cost == "f1":
        reasons["check_classifier_multioutput"] = "the best answer need not have the likelier of 0 and 1"
    if estimator.calibrate:
        reasons |= NOT_COPIES
    if isinstance(estimator.estimator, ClassifierChain):
        reasons |= dict.fromkeys([*WEIGHTS, *NOT_COPIES], "chains take weights by metadata routing only")
    return reasons


@parametrize_with_checks(
    [
        BayesDecisionClassifier(RandomForestClassifier(21, random_state=0), cost="hamming"),
        BayesDecisionClassifier(RandomForestClassifier(10, random_state=0)),
        BayesDecisionClassifier(ClassifierChain(LogisticRegression()), cost="hamming", n_samples=6),
        BayesDecisionClassifier(MultiOutputClassifier(LogisticRegression()), cost="hamming"),
        BayesDecisionClassifier(LogisticRegression(), cost="hamming"),
        BayesDecisionClassifier(
            LogisticRegression(solver="newton-cholesky"), cost="hamming", calibrate=False
        ),
        BayesDecisionClassifier(DecisionTreeClassifier(random_state=0), cost="hamming", calibrate=False),
    ],
    expected_failed_checks=what_cannot_hold,
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- forests, as they are ----


def leaf_distribution(forest, X, Y, x):
    """For one row: how often each label vector is in its leaf, tree by tree, and the mean of that."""
    trees = getattr(forest, "estimators_", [forest])
    samples = (
        forest.estimators_samples_ if getattr(forest, "bootstrap", False) else [range(len(X))] * len(trees)
    )
    found = {}
    for tree, rows in zip(trees, samples, strict=True):
        leaf = tree.apply(x[None].astype(np.float32))[0]
        leaves = tree.apply(X.astype(np.float32))
        vectors = [tuple(Y[row]) for row in rows if leaves[row] == leaf]
        for vector in vectors:
            found[vector] = found.get(vector, 0) + 1 / len(vectors) / len(trees)
    return found


@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_gives_the_label_vectors_of_the_leaves(small, name):
    X, Y = small
    model = fit(name, X[:90], Y[:90], calibrate=False)
    labels, probabilities = model.predict_set_proba(X[90:], k=16)
    for i, x in enumerate(X[90:]):
        expected = leaf_distribution(model.estimator_, X[:90], Y[:90], x)
        given = {tuple(y.tolist()): p for y, p in zip(labels[i], probabilities[i], strict=True) if p > 0}
        assert given == pytest.approx(expected)


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_marginals_are_those_of_the_forest(small, name, kind):
    X, Y = small
    X = kind(X)
    model = fit(name, X[:90], Y[:90], calibrate=False)
    expected = np.column_stack([p[:, 1] for p in model.estimator_.predict_proba(X[90:])])
    np.testing.assert_allclose(model.predict_proba(X[90:]), np.clip(expected, 1e-6, 1 - 1e-6), atol=1e-9)
    same = ESTIMATORS[name].fit(X[:90], Y[:90])  # as one would fit it without this class
    np.testing.assert_array_equal(same.predict(X[90:]), model.estimator_.predict(X[90:]))


def test_missing_values_are_for_the_forest_to_treat(small):
    X, Y = small
    X = np.where(np.abs(X) > 1.5, np.nan, X)
    model = fit("forest", X[:90], Y[:90], calibrate=False)
    expected = np.column_stack([p[:, 1] for p in model.estimator_.predict_proba(X[90:])])
    np.testing.assert_allclose(model.predict_proba(X[90:]), np.clip(expected, 1e-6, 1 - 1e-6), atol=1e-9)
    with pytest.raises(ValueError, match="NaN"):
        fit("logistic", X, Y)


# ---- chains, as they are ----


def joint(chain, x):
    """The probability of each label vector, by asking the links along each path."""
    found = {}
    for labels in itertools.product([0, 1], repeat=len(chain.order_)):
        p, path = 1.0, []
        for link, label in zip(chain.estimators_, chain.order_, strict=True):
            p *= link.predict_proba([[*x, *path]])[0, labels[label]]
            path.append(labels[label])
        found[labels] = p
    return found


@pytest.mark.parametrize("n_samples", [8, 20_000])
def test_a_short_chain_is_exact(small, n_samples):
    X, Y = small
    chain = ClassifierChain(LogisticRegression(), order=[2, 0, 1])
    model = BayesDecisionClassifier(chain, n_samples=n_samples, calibrate=False).fit(X, Y[:, :3])
    labels, probabilities = model.predict_set_proba(X[:10], k=8)
    for i, x in enumerate(X[:10]):
        given = {tuple(y.tolist()): p for y, p in zip(labels[i], probabilities[i], strict=True)}
        assert given == pytest.approx(joint(model.estimator_, x))


def test_draws_from_a_chain_come_to_its_distribution(small):
    X, Y = small
    Y = np.column_stack([Y, X[:, 0] > 0.3, X[:, 1] + X[:, 2] > 0]).astype(int)
    chain = ClassifierChain(LogisticRegression(), order=[5, 2, 0, 4, 1, 3]).fit(X, Y)
    expected = np.array([list(joint(chain, x).values()) for x in X[:5]])
    links, order = _links.EstimatorLinks(chain.estimators_), np.asarray(chain.order_)
    few = np.empty((400, 5, 64))
    for seed in range(400):
        uniforms = np.random.default_rng(seed).random(6)
        drawn = _chain_search.ChainSamples(links, order, 20, uniforms).draw(X[:5])
        few[seed] = 0.0
        for labels, row, weight in drawn:
            few[seed][row, labels @ (2 ** np.arange(6)[::-1])] = weight
    np.testing.assert_allclose(few * 20, np.round(few * 20), atol=1e-9)  # each is a number of draws
    np.testing.assert_allclose(few.mean(axis=0), expected, atol=0.015)  # the mean has no bias
    apart = np.abs(few - expected).sum(axis=2).mean()
    rng = np.random.default_rng(0)
    independent = np.array([[rng.multinomial(20, p / p.sum()) / 20 for p in expected] for _ in range(400)])
    assert apart < 0.8 * np.abs(independent - expected).sum(axis=2).mean()  # nearer than independent draws


def test_many_draws_from_a_chain(small):
    X, Y = small
    wide = np.column_stack([Y] + [X[:, i] > 0.2 * i for i in range(6)] * 2).astype(int)  # 16 labels
    chain = ClassifierChain(LogisticRegression())
    model = BayesDecisionClassifier(chain, n_samples=20_000, calibrate=False, random_state=0).fit(X, wide)
    labels, probabilities = model.predict_set_proba(X[:3], k=4)
    for x, vectors, given in zip(X, labels, probabilities, strict=False):
        for vector, p in zip(vectors, given, strict=True):
            exact = 1.0
            for k, link in enumerate(model.estimator_.estimators_):
                exact *= link.predict_proba([[*x, *vector[:k]]])[0, vector[k]]
            assert p == pytest.approx(exact, abs=0.004)


# ---- independent labels, as they are ----


@pytest.mark.parametrize(
    "name", ["neighbours", "logistic", "once a label", "one against the rest", "network"]
)
def test_all_other_models_have_independent_labels(small, name):
    X, Y = small
    model = fit(name, X[:90], Y[:90], calibrate=False)
    told = model.estimator_.predict_proba(X[90:])
    p = np.column_stack([array[:, 1] for array in told]) if isinstance(told, list) else told
    np.testing.assert_allclose(model.predict_proba(X[90:]), np.clip(p, 1e-6, 1 - 1e-6))
    labels, probabilities = model.predict_set_proba(X[90:], k=7)
    every = np.array(list(itertools.product([0, 1], repeat=4)))
    products = np.where(every, p[:, None], 1 - p[:, None]).prod(axis=2)
    np.testing.assert_allclose(probabilities, -np.sort(-products, axis=1)[:, :7], atol=1e-12)
    chances = np.where(labels, p[:, None], 1 - p[:, None]).prod(axis=2)
    some = probabilities > 0
    np.testing.assert_allclose(chances[some], probabilities[some], atol=1e-12)
    for row in range(len(labels)):
        assert len(np.unique(labels[row][some[row]], axis=0)) == some[row].sum()
    costs = get_cost("f1").matrix(every, every)
    np.testing.assert_array_equal(model.predict(X[90:]), every[(products @ costs).argmin(axis=1)])
    np.testing.assert_allclose(model.expected_cost(X[90:]), (products @ costs).min(axis=1))


# ---- calibration ----


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_answers_are_of_one_calibrated_distribution(small, name):
    X, Y = small
    model = fit(name, X[:90], Y[:90])
    labels, probabilities = model.predict_set_proba(X[90:], k=16)
    p = (probabilities[:, :, None] * labels).sum(axis=1)
    np.testing.assert_allclose(model.predict_proba(X[90:]), np.clip(p, 1e-6, 1 - 1e-6), atol=1e-9)
    likelier = model.decide(X[90:], "hamming")
    np.testing.assert_array_equal(likelier, p > 0.5)
    hamming = fit(name, X[:90], Y[:90], cost="hamming")
    np.testing.assert_allclose(hamming.expected_cost(X[90:]), np.minimum(p, 1 - p).mean(axis=1), atol=1e-9)
    as_told = fit(name, X[:90], Y[:90], calibrate=False).predict_proba(X[90:])
    assert np.abs(p - as_told).max() > 1e-3
    assert np.abs(p.mean() - as_told.mean()) < 0.15


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(1),
        DecisionTreeClassifier(random_state=0),
        ClassifierChain(KNeighborsClassifier(1)),
    ],
)
def test_who_is_sure_of_noise_becomes_modest(estimator):
    """They remember the training rows; what they say of others is worth nothing."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((400, 3)), (rng.random((400, 3)) < [0.3, 0.4, 0.3]).astype(int)
    model = BayesDecisionClassifier(estimator, random_state=0).fit(X, Y)
    p = model.predict_proba(X)
    as_told = BayesDecisionClassifier(estimator, calibrate=False, random_state=0).fit(X, Y).predict_proba(X)
    assert ((as_told < 0.01) | (as_told > 0.99)).all()
    if model._label_model.reading is None:  # leaves and links of a single label vector stay as they are
        np.testing.assert_allclose(p, 0.33, atol=0.1)
    else:
        np.testing.assert_array_equal(p, as_told)


def out_of_bag(forest, X, Y):
    """Return for each row the mean of the label frequencies in its leaves of trees that did not draw it."""
    sums, n_trees = np.zeros(Y.shape), np.zeros(len(X))
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        leaves = tree.apply(X.astype(np.float32))
        for i in np.setdiff1d(np.arange(len(X)), rows):
            sums[i] += Y[[row for row in rows if leaves[row] == leaves[i]]].mean(axis=0)
            n_trees[i] += 1
    return sums / n_trees[:, None]


def test_a_forest_is_calibrated_out_of_bag(small, monkeypatch):
    X, Y = small
    X, Y = X[:60], Y[:60]
    forest = RandomForestClassifier(100, max_depth=3, random_state=0)
    monkeypatch.setattr(BayesDecisionClassifier, "_cross_fit", None)  # not asked
    model = BayesDecisionClassifier(forest).fit(X, Y)
    p = out_of_bag(model.estimator_, X, Y)
    told = [np.where((p > 0) & (p < 1), p, np.nan)]
    expected = LogOddsPool.fit(told, Y).fit_labels(told, Y)
    np.testing.assert_allclose(model._label_model.pool.of_labels, expected.of_labels, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model._label_model.pool.coefficients, expected.coefficients, rtol=1e-5)
    assert model._label_model.pool.shift == pytest.approx(expected.shift, rel=1e-5)


class Counting(KNeighborsClassifier):
    times: ClassVar[list] = []

    def fit(self, X, y):
        self.times.append({float(x) for x in X[:, 0]})
        return super().fit(X, y)

    def predict_proba(self, X):
        assert not self.times[-1] & {float(x) for x in X[:, 0]}
        return super().predict_proba(X)


def test_other_models_are_calibrated_by_folds(small):
    Y = small[1][:103]
    X = np.arange(103.0)[:, None]
    for calibrate, sizes in [(True, [103, 82, 82, 82, 83, 83]), (False, [103])]:
        Counting.times.clear()
        model = BayesDecisionClassifier(Counting(), calibrate=calibrate).fit(X, Y)
        assert [len(rows) for rows in Counting.times] == sizes
        assert (model._label_model.pool is not None) == calibrate


def test_little_data_is_not_calibrated(small):
    X, Y = small
    for name in ("forest", "tree", "chain", "logistic"):
        assert fit(name, X[:19], Y[:19])._label_model.pool is None
        assert fit(name, X[:20], Y[:20])._label_model.pool is not None
        assert fit(name, X, np.tile([0, 1], (120, 1)))._label_model.pool is None


def test_an_estimator_that_cannot_do_with_fewer_rows_is_not_calibrated(small):
    X, Y = small
    with pytest.warns(FitFailedWarning, match=r"not calibrated.*n_neighbors = 110.*calibrate=False") as told:
        model = BayesDecisionClassifier(KNeighborsClassifier(110)).fit(X, Y)
    assert told[0].filename == __file__
    assert model._label_model.pool is None
    as_told = BayesDecisionClassifier(KNeighborsClassifier(110), calibrate=False).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), as_told.predict_proba(X))


def test_random_states_decide_which_rows_calibrate(small):
    X, Y = small
    for name in ("logistic", "forest"):
        p = [fit(name, X, Y, random_state=seed).predict_proba(X) for seed in (1, 1, 2)]
        np.testing.assert_array_equal(p[0], p[1])
        assert 0 < np.abs(p[0] - p[2]).max() < 0.3


@pytest.mark.parametrize("n_trees", [30, 100])
def test_a_dear_label_is_told_as_seldom_as_is_best(n_trees):
    """A forest of digits is far too unsure: decided by what it says, it does worse than alone."""
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:400], digits.Y[:400], digits.X[400:1400], digits.Y[400:1400]
    forest = RandomForestClassifier(n_trees, random_state=0)
    dear = Cost.per_label(false_positive=3)
    as_told = BayesDecisionClassifier(forest, cost=dear, calibrate=False, random_state=0).fit(X, Y)
    model = BayesDecisionClassifier(forest, cost=dear, random_state=0).fit(X, Y)
    alone = dear.mean(Y_test, model.estimator_.predict(X_test))
    assert dear.mean(Y_test, as_told.predict(X_test)) > 1.1 * alone
    assert dear.mean(Y_test, model.predict(X_test)) < 0.95 * alone
    # What it expects to pay is what it pays.
    assert model.expected_cost(X_test).mean() == pytest.approx(
        dear.mean(Y_test, model.predict(X_test)), rel=0.15
    )
    for cost in ("f1", "jaccard", "hamming", "rank", "zero_one"):
        costs = [get_cost(cost).rows(Y_test, m.decide(X_test, cost)).mean() for m in (model, as_told)]
        assert costs[0] < 1.01 * costs[1]


# ---- decisions ----


@pytest.mark.parametrize("name", ESTIMATORS)
def test_expected_costs_and_other_costs(small, name):
    X, Y = small
    model = fit(name, X[:90], Y[:90])
    for cost in ("rank", Cost.per_label(false_negative=[1, 2, 3, 9])):
        same = fit(name, X[:90], Y[:90], cost=cost)
        decided = model.decide(X[90:], cost)
        np.testing.assert_array_equal(decided, same.predict(X[90:]))
        least = same.expected_cost(X[90:])
        np.testing.assert_allclose(same.expected_cost(X[90:], decided), least)
        np.testing.assert_allclose(same.expected_cost(X[90:], sp.csr_array(decided)), least)
        for other in (Y[90:], 1 - decided, np.zeros_like(decided)):
            assert (same.expected_cost(X[90:], other) >= least - 1e-9).all()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.expected_cost(X[90:], Y)


@pytest.mark.slow
def test_it_is_better_by_the_cost_than_the_model_alone():
    digits = load_dataset("digits")
    X, Y = digits.X[:700] / 16, digits.Y[:700]
    X, Y, X_test, Y_test = X[:400], Y[:400], X[400:], Y[400:]
    costs = [get_cost(name) for name in ("f1", "accuracy", "hamming", "rank", "zero_one")]
    costs.append(Cost.per_label(false_negative=9))
    for estimator in (
        RandomForestClassifier(60, random_state=0),
        ClassifierChain(LogisticRegression(max_iter=500), order="random", random_state=0),
        KNeighborsClassifier(9),
    ):
        model = BayesDecisionClassifier(estimator, random_state=0).fit(X, Y)
        alone = model.estimator_.predict(X_test)
        better = 0
        for cost in costs:
            own = cost.rows(Y_test, model.decide(X_test, cost)).mean()
            better += own <= cost.rows(Y_test, alone).mean()
        assert better >= 5, estimator


@pytest.mark.parametrize("name", ESTIMATORS)
def test_blocks_of_rows_do_not_matter(small, name, monkeypatch):
    X, Y = small
    model = fit(name, X[:60], Y[:60])
    expected = model.predict(X), model.predict_proba(X), model.expected_cost(X)
    monkeypatch.setattr(_leaf_vectors, "_ROWS", 20)
    monkeypatch.setattr(_leaf_vectors, "_MOST_ROWS", 50)
    monkeypatch.setattr(_chain_search, "_ROWS", 50)
    monkeypatch.setattr(_links, "_CELLS", 150)
    blocks = fit(name, X[:60], Y[:60], n_jobs=2)
    np.testing.assert_array_equal(blocks.predict(X), expected[0])
    np.testing.assert_allclose(blocks.predict_proba(X), expected[1], rtol=1e-12)
    np.testing.assert_allclose(blocks.expected_cost(X), expected[2], rtol=1e-12, atol=1e-15)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(60, 68)])
    np.testing.assert_array_equal(alone, expected[0][60:68])
