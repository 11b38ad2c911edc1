from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from refpair import ChainClassifier, CondensedFilterTree, Cost, get_cost
from refpair.classifiers._filter_levels import EstimatorLevels, TreeLevels
from refpair.classifiers.filter_tree import KeyPaths, gains_apart, train_round, train_round_apart
from tests import naive

RECORDED = []


class Centroids(ClassifierMixin, BaseEstimator):
    """Tell classes by the nearer weighted mean, and note what each fit is given."""

    def __init__(self, n_used=None):
        self.n_used = n_used  # of the features: without the labels after them, if it is their number

    def fit(self, X, y, sample_weight=None):
        sample_weight = np.ones(len(y)) if sample_weight is None else sample_weight
        RECORDED.append((X, y, sample_weight))
        return self.learn(X, y, sample_weight)

    def learn(self, X, y, sample_weight):
        self.classes_ = np.array([0, 1])
        self.centroids_ = np.array(
            [np.average(X[y == c], axis=0, weights=sample_weight[y == c]) for c in self.classes_]
        )
        return self

    def predict(self, X):
        far = ((np.asarray(X)[:, None, : self.n_used] - self.centroids_[:, : self.n_used]) ** 2).sum(axis=2)
        return self.classes_[far.argmin(axis=1)]


@pytest.fixture(autouse=True)
def nothing_recorded():
    RECORDED.clear()


def naive_training(X, Y, cost, n_rounds, apart=False):
    """Yield what each level is trained on, round by round, the last level of a round first.

    Every path is met as often as it was found, and every completion is followed to its end.
    """
    n_labels = len(Y[0])
    paths = [[tuple(y)] for y in Y]
    levels = [0] * n_labels

    def complete(row, labels):
        labels = list(labels)
        for k in range(len(labels), n_labels):
            known = isinstance(levels[k], int)
            labels.append(levels[k] if known else int(levels[k].predict([[*X[row], *labels]])[0] > 0))
        return labels

    def gain(row, before):
        ends = [complete(row, [*before, value]) for value in (0, 1)]
        if apart:
            ends = [[*Y[row][: len(before)], value, *Y[row][len(before) + 1 :]] for value in (0, 1)]
        return cost(Y[row], ends[0]) - cost(Y[row], ends[1])

    for _ in range(n_rounds):
        for k in reversed(range(n_labels)):
            gains = {}
            for row, found in enumerate(paths):
                for path in found:
                    node = row, path[:k]
                    gains[node] = gains.get(node, Fraction(0)) + gain(*node)
            nodes = sorted(node for node in gains if gains[node])
            classes = {gains[node] > 0 for node in nodes}
            if len(classes) < 2:
                levels[k] = int(classes == {True})
                continue
            mean = sum(abs(gains[node]) for node in nodes) / len(nodes)
            features = np.array([[*X[row], *path] for row, path in nodes])
            targets = np.array([1 if gains[node] > 0 else 0 for node in nodes])
            weights = np.array([float(abs(gains[node]) / mean) for node in nodes])
            yield features, targets, weights
            levels[k] = Centroids().learn(features, targets, weights)
        for row, found in enumerate(paths):
            found.append(tuple(complete(row, [])))


def assert_recorded(expected):
    assert len(RECORDED) == len(expected)
    for (X, y, weights), (naive_X, naive_y, naive_weights) in zip(RECORDED, expected, strict=True):
        np.testing.assert_array_equal(X, naive_X)
        np.testing.assert_array_equal(y, naive_y)
        np.testing.assert_allclose(weights, naive_weights, rtol=1e-10)


def noisy(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Y = (X @ rng.standard_normal((3, n_labels)) + rng.standard_normal((n, n_labels)) > 0.2).astype(np.uint8)
    return X, Y


@pytest.mark.parametrize("name", ["f1", "accuracy", "zero_one"])
@pytest.mark.parametrize(("n", "n_labels"), [(12, 3), (25, 5)])
def test_levels_are_trained_on_what_the_definition_says(name, n, n_labels):
    X, Y = noisy(n, n_labels, seed=n)
    expected = list(naive_training(X, Y.tolist(), naive.COSTS[name], n_rounds=3))
    model = CondensedFilterTree(Centroids(), cost=name, n_rounds=3).fit(X, Y)
    assert model.n_rounds_ == 3
    assert len({len(features) for features, _, _ in expected}) > 2  # there are paths but the true ones
    assert_recorded(expected)


@pytest.mark.parametrize("name", ["hamming", "rank"])
def test_labels_that_count_for_themselves_have_weights_of_their_own(name):
    X, Y = noisy(20, 4, seed=3)
    expected = list(naive_training(X, Y.tolist(), naive.COSTS[name], n_rounds=3, apart=True))
    CondensedFilterTree(Centroids(), cost=name, n_rounds=3).fit(X, Y)
    assert_recorded(expected)


@pytest.mark.parametrize("cost", ["hamming", "rank", Cost.per_label(false_negative=[1, 5, 0, 2])])
def test_both_ways_of_training_are_one_where_a_label_changes_nothing_below(cost):
    X, Y = noisy(30, 4, seed=1)
    cost = get_cost(cost)

    def cost_of(row, vectors):
        return cost.rows(Y[row], vectors)

    rounds, how = [], {"draft": True, "n_jobs": None, "after_level": lambda: None}
    for train, what in ((train_round, cost_of), (train_round_apart, gains_apart(Y, cost_of))):
        levels = EstimatorLevels(Centroids(n_used=3), X, 4, np.random.default_rng(0))
        keys = KeyPaths.of_truth(Y)
        for _ in range(3):
            keys = keys.plus(train(levels, keys, what, **how))
        rounds.append((RECORDED.copy(), keys.paths))
        RECORDED.clear()
    (general, paths), (apart, apart_paths) = rounds
    RECORDED.extend(apart)
    np.testing.assert_array_equal(paths, apart_paths)
    assert_recorded(general)


@given(
    st.integers(1, 6).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 1), min_size=k, max_size=k), min_size=1)
    )
)
def test_weights_of_the_linear_costs(vectors):
    Y = np.array(vectors, np.uint8)
    n_labels, size = Y.shape[1], Y.sum(axis=1, keepdims=True)
    for name, weights in [
        ("hamming", np.full(Y.shape, 1 / n_labels)),
        ("rank", np.where(Y == 1, (n_labels - size) / 2, size / 2)),
    ]:
        cost = get_cost(name)
        gains = gains_apart(Y, lambda row, z, cost=cost: cost.rows(Y[row], z))
        np.testing.assert_allclose(gains, np.where(Y == 1, weights, -weights), rtol=1e-12)


paths_of_rounds = st.tuples(st.integers(1, 5), st.integers(1, 10)).flatmap(
    lambda shape: st.lists(
        st.lists(
            st.lists(st.integers(0, 1), min_size=shape[1], max_size=shape[1]).map(tuple),
            min_size=shape[0],
            max_size=shape[0],
        ),
        min_size=1,
        max_size=4,
    )
)


@given(paths_of_rounds)
@settings(deadline=None)
def test_key_paths_are_counted_and_sorted(rounds):
    keys = KeyPaths.of_truth(np.array(rounds[0], np.uint8))
    for paths in rounds[1:]:
        keys = keys.plus(np.array(paths, np.uint8))
    expected = sorted(Counter(pair for paths in rounds for pair in enumerate(paths)).items())
    found = zip(keys.row.tolist(), map(tuple, keys.paths.tolist()), strict=True)
    assert list(zip(found, keys.count.tolist(), strict=True)) == expected
    for level in range(len(rounds[0][0]) + 1):
        nodes = sorted({(row, path[:level]) for (row, path), _ in expected})
        first = keys.first_of_nodes(level)
        rows, begun = keys.row[first].tolist(), map(tuple, keys.paths[first, :level].tolist())
        assert list(zip(rows, begun, strict=True)) == nodes


# ---- models ----


@pytest.mark.parametrize("estimator", ["tree", DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("cost", ["f1", "accuracy"])
def test_learners_that_make_no_mistakes_stop_soon(small, estimator, cost):
    X, Y = small
    X = np.column_stack([X, np.arange(len(X))])  # so that no two rows are the same
    model = CondensedFilterTree(estimator, cost=cost, random_state=0).fit(X, Y)
    assert model.score(X, Y) == 1.0 - get_cost(cost).rows(Y, Y).mean()
    np.testing.assert_array_equal(model.predict(X), Y)
    assert model.n_rounds_ == 2


def test_a_learner_that_makes_no_mistakes_has_no_rank_loss(small):
    X, Y = small
    X = np.column_stack([X, np.arange(len(X))])
    model = CondensedFilterTree("tree", cost="rank", n_rounds=3, random_state=0).fit(X, Y)
    assert model.score(X, Y) == 0.0  # rows with no label or all have none whatever is predicted


def test_one_round_of_the_hamming_loss_is_a_classifier_chain(small):
    X, Y = small
    learner = LogisticRegression()
    model = CondensedFilterTree(learner, cost="hamming", n_rounds=1).fit(X[:70], Y[:70])
    chain = ChainClassifier(learner).fit(X[:70], Y[:70])
    np.testing.assert_array_equal(model.predict(X[70:]), chain.predict(X[70:]))


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_forests_do_not_depend_on_how_they_are_given_and_grown(small, cost):
    X, Y = small
    model = CondensedFilterTree("forest", cost=cost, n_rounds=2, random_state=5)
    expected = model.fit(X[:70], Y[:70]).predict(X[70:])
    for other in (model, model.set_params(n_jobs=2)):
        for rows, new in ((X[:70], X[70:]), (sp.csr_array(X[:70]), sp.csr_array(X[70:]))):
            for labels in (Y[:70], sp.csr_matrix(Y[:70])):
                found = other.fit(rows, labels).predict(new)
                np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected)
    other = CondensedFilterTree("forest", cost=cost, n_rounds=2, random_state=6).fit(X[:70], Y[:70])
    assert (other.predict(X[70:]) != expected).any()


def test_order(small):
    X, Y = small
    order, prices = np.array([2, 0, 3, 1]), np.array([1.0, 9.0, 2.0, 4.0])

    def first_counts_most(Y, Z):
        return (prices[: Y.shape[1]] * (Y != Z)).max(axis=1)

    def moved(Y, Z):
        return (prices[order] * (Y != Z)).max(axis=1)

    model = CondensedFilterTree("tree", cost=first_counts_most, n_rounds=2, order=order, random_state=0).fit(
        X, Y
    )
    other = CondensedFilterTree("tree", cost=moved, n_rounds=2, random_state=0).fit(X, Y[:, order])
    np.testing.assert_array_equal(model.order_, order)
    np.testing.assert_array_equal(model.predict(-X)[:, order], other.predict(-X))
    drawn = CondensedFilterTree("tree", n_rounds=1, order="random", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(np.sort(drawn.order_), np.arange(4))
    with pytest.raises(ValueError, match="order must be"):
        CondensedFilterTree("tree", order=[0, 1, 2, 2]).fit(X, Y)


@pytest.mark.parametrize("estimator", ["forest", "tree", "logistic"])
@pytest.mark.parametrize("cost", ["f1", "rank"])
def test_labels_that_are_always_or_never_there(small, estimator, cost):
    X, Y = small
    Y = np.column_stack([np.zeros(len(Y), int), Y[:, 0], np.ones(len(Y), int), Y[:, 1]])
    predicted = CondensedFilterTree(estimator, cost=cost, n_rounds=3, random_state=0).fit(X, Y).predict(-X)
    assert not predicted[:, 0].any()
    assert predicted[:, 2].all()


@pytest.mark.parametrize("estimator", ["forest", "tree", "logistic"])
def test_a_cost_of_nothing_gives_nothing(small, estimator):
    X, Y = small
    free = Cost.from_function(lambda Y, Z: np.zeros(len(Y)))
    assert not CondensedFilterTree(estimator, cost=free, n_rounds=2).fit(X, Y).predict(X).any()
    unpriced = Cost.per_label(false_positive=[0, 1, 1, 1], false_negative=[0, 1, 1, 1])
    predicted = CondensedFilterTree(estimator, cost=unpriced, n_rounds=2).fit(X, Y).predict(X)
    np.testing.assert_array_equal(predicted.any(axis=0), [False, True, True, True])


def test_one_label(small):
    X, Y = small
    for cost in ("f1", "hamming"):
        model = CondensedFilterTree("forest", cost=cost, n_rounds=3, random_state=0).fit(X[:70], Y[:70, :1])
        assert (model.predict(X[70:]) == Y[70:, :1]).mean() > 0.7


def test_learners_must_take_weights(small):
    X, Y = small
    for cost in ("f1", "hamming"):  # the weights for Hamming are all the same
        with pytest.raises(ValueError, match="sample_weight"):
            CondensedFilterTree(KNeighborsClassifier(), cost=cost, n_rounds=1).fit(X, Y)


def test_progress_is_shown(small, capfd):
    X, Y = small
    CondensedFilterTree("tree", n_rounds=2, verbose=1).fit(X, Y)
    assert "8/8" in capfd.readouterr().err


def test_quality(paper_data, monkeypatch):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    from refpair.datasets import load_dataset

    data = load_dataset("emotions")
    rows = np.random.default_rng(0).permutation(len(data.Y))
    train, test = rows[:296], rows[296:]
    scores = {
        cost: get_cost(cost).mean(
            data.Y[test],
            CondensedFilterTree("forest", cost=cost, random_state=0)
            .fit(data.X[train], data.Y[train])
            .predict(data.X[test]),
        )
        for cost in ("f1", "rank")
    }
    # The paper has 0.60 and 1.83.
    assert scores["f1"] > 0.62
    assert scores["rank"] < 1.7


def test_the_labels_before_do_not_change_how_many_features_are_drawn():
    """They are two-valued; in a late level there may be more of them than of features."""
    rng = np.random.default_rng(0)
    levels = TreeLevels("forest", rng.normal(size=(40, 4)), 12, rng, None)
    assert levels.settings["max_features"] == "sqrt"
    words = TreeLevels("forest", rng.integers(0, 2, (40, 4)).astype(float), 12, rng, None)
    assert words.settings["max_features"] == pytest.approx(1 / 3)
