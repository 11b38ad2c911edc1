from math import comb

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BinaryRelevance, LabelPowerset, RAkEL
from refpair.datasets import load_dataset

SETS = [[0, 1, 2], [1, 3, 0], [2, 3, 1]]


@parametrize_with_checks([RAkEL(LogisticRegression(max_iter=1000), labelset_size=2, random_state=0)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


# ---- the method ----


@pytest.mark.parametrize("estimator", [LogisticRegression(), KNeighborsClassifier(), LinearSVC()])
def test_powersets_of_the_sets_vote(small, estimator):
    X, Y = small
    model = RAkEL(estimator, labelsets=SETS).fit(X[:80], Y[:80])
    assert model.labelsets_.tolist() == SETS
    votes = {label: [] for label in range(4)}
    for labels in SETS:
        predicted = LabelPowerset(estimator).fit(X[:80], Y[:80, labels]).predict(X[80:])
        for place, label in enumerate(labels):
            votes[label].append(predicted[:, place])
    shares = np.transpose([np.mean(votes[label], axis=0) for label in range(4)])
    np.testing.assert_allclose(model.predict_proba(X[80:]), shares.clip(1e-6, 1 - 1e-6))
    np.testing.assert_array_equal(model.predict(X[80:]), shares > 0.5)
    assert (shares == 0.5).any(), "there are ties, which are a 0"


@pytest.mark.parametrize("estimator", ["tree", "forest", "logistic"])
def test_one_set_of_all_labels_is_a_label_powerset(small, estimator):
    X, Y = small
    expected = LabelPowerset(estimator, random_state=3).fit(X[:80], Y[:80]).predict(X[80:])
    for size in (4, 9):
        model = RAkEL(estimator, labelset_size=size, random_state=3).fit(X[:80], Y[:80])
        assert model.labelsets_.tolist() == [[0, 1, 2, 3]]
        np.testing.assert_array_equal(model.predict(X[80:]), expected)


def test_sets_of_one_label_are_binary_relevance(small):
    X, Y = small
    model = RAkEL("logistic", labelset_size=1, random_state=0).fit(X[:80], Y[:80])
    assert sorted(model.labelsets_.ravel().tolist()) == [0, 1, 2, 3]
    expected = BinaryRelevance("logistic").fit(X[:80], Y[:80]).predict(X[80:])
    np.testing.assert_array_equal(model.predict(X[80:]), expected)


def test_a_set_that_is_given_twice_counts_twice(small):
    X, Y = small
    once, twice = (
        RAkEL("tree", labelsets=sets, random_state=0).fit(X[:60], Y[:60])
        for sets in (SETS, [*SETS, SETS[1], SETS[1]])
    )
    assert len(twice.learners_.patterns_) == 3
    p, q = once.predict_proba(X), twice.predict_proba(X)
    np.testing.assert_array_equal(q[:, 2], p[:, 2])  # which is not in that set
    assert 0.5 in p[:, 0]
    assert set(q[p[:, 0] == 0.5, 0]) <= {0.25, 0.75}  # three votes against one


def test_it_predicts_vectors_that_were_never_seen():
    """Each label is learned in pairs that are all there, but never all three labels together."""
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)][:-1], float).repeat(5, axis=0)
    model = RAkEL("tree", labelset_size=2, random_state=0).fit(X, X.astype(int))
    np.testing.assert_array_equal(model.predict([[1, 1, 1]]), [[1, 1, 1]])
    assert LabelPowerset("tree", random_state=0).fit(X, X.astype(int)).predict([[1, 1, 1]]).sum() == 2


def test_it_is_better_than_a_single_tree():
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:800], digits.Y[:800], digits.X[800:], digits.Y[800:]
    whole = LabelPowerset("tree", random_state=0).fit(X, Y).score(X_test, Y_test)
    voted = RAkEL("tree", random_state=0).fit(X, Y).score(X_test, Y_test)
    assert voted > whole + 0.02


# ---- the sets ----


@pytest.mark.parametrize("n_labels", [1, 2, 3, 4, 5, 6, 12])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_sets_that_are_drawn(n_labels, size):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), rng.integers(0, 2, (20, n_labels))
    within = min(size, n_labels)
    for n_sets in (None, 12, 1000):
        model = RAkEL("tree", labelset_size=size, n_labelsets=n_sets, random_state=1).fit(X, Y)
        expected = min(2 * n_labels if n_sets is None else n_sets, comb(n_labels, within))
        assert model.labelsets_.shape == (expected, within)
        assert len(np.unique(np.sort(model.labelsets_, axis=1), axis=0)) == expected
        assert set(model.labelsets_.ravel()) == set(range(n_labels))


def test_the_seed_decides_the_sets(small):
    X, Y = small
    sets = [
        RAkEL("tree", labelset_size=2, n_labelsets=3, random_state=seed).fit(X, Y).labelsets_
        for seed in (0, 0, 1, 2)
    ]
    np.testing.assert_array_equal(sets[0], sets[1])
    assert (sets[0] != sets[2]).any() or (sets[0] != sets[3]).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"labelset_size": 0}, "labelset_size must be an integer of at least 1, not 0"),
        ({"n_labelsets": 0}, "n_labelsets must be an integer of at least 1, not 0"),
        ({"n_labelsets": 1.5}, "n_labelsets must be an integer of at least 1, not 1.5"),
        (
            {"n_labelsets": 1},
            "n_labelsets is 1, too few to have each of 4 labels in a set of 3: give at least 2",
        ),
        ({"labelsets": [[0, 1, 2]]}, "labelsets leaves out label 3"),
        ({"labelsets": [[0, 1, 2], [1, 2, 4]]}, "labelsets must hold labels from 0 to 3"),
        ({"labelsets": [[0, 1, 2], [3, 3, 1]]}, "labelsets has a label twice in a set"),
        ({"labelsets": [0, 1, 2, 3]}, "labelsets must be label numbers of shape"),
        ({"labelsets": np.eye(4)}, "labelsets must be label numbers of shape"),
    ],
)
def test_bad_parameters_are_named(small, parameters, message):
    with pytest.raises(ValueError, match=message):
        RAkEL("tree", **parameters).fit(*small)
