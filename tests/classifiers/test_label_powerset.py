import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BinaryRelevance, LabelPowerset, get_cost

WHY = "the most probable label vector is not that of the labels that are likelier than not"


@parametrize_with_checks(
    [LabelPowerset(LogisticRegression(), random_state=0)],
    expected_failed_checks=lambda _: {"check_classifier_multioutput": WHY},
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [GaussianNB(), KNeighborsClassifier(), LogisticRegression()])
def test_label_vectors_are_classes(small, estimator):
    X, Y = small
    model = LabelPowerset(estimator).fit(X[:80], Y[:80])
    words = np.array(["".join(map(str, row)) for row in Y])
    estimator.fit(X[:80], words[:80])
    predicted = ["".join(map(str, row)) for row in model.predict(X[80:])]
    assert predicted == estimator.predict(X[80:]).tolist()
    vectors = np.array([[int(letter) for letter in word] for word in estimator.classes_])
    np.testing.assert_array_equal(model.vectors_, vectors)
    p = estimator.predict_proba(X[80:])
    np.testing.assert_allclose(model.predict_proba(X[80:]), (p @ vectors).clip(1e-6, 1 - 1e-6))
    labels, probabilities = model.predict_set_proba(X[80:], k=2)
    np.testing.assert_allclose(probabilities, -np.sort(-p, axis=1)[:, :2])
    np.testing.assert_allclose(probabilities[:, 0], p[(vectors[:, None] == labels[:, 0]).all(axis=2).T])


@pytest.mark.parametrize("estimator", ["tree", "forest", "logistic"])
def test_what_is_predicted_is_the_most_probable_vector(small, estimator):
    X, Y = small
    model = LabelPowerset(estimator, random_state=0).fit(X[:80], Y[:80])
    labels, probabilities = model.predict_set_proba(X[80:], k=2)
    clear = probabilities[:, 0] > probabilities[:, 1] + 1e-9
    assert clear.mean() > 0.8
    np.testing.assert_array_equal(model.predict(X[80:])[clear], labels[clear, 0])
    np.testing.assert_allclose(model.expected_cost(X[80:]), 1 - probabilities[:, 0])
    seen = {tuple(row) for row in Y[:80].tolist()}
    assert {tuple(row) for row in model.predict(X[80:]).tolist()} <= seen
    assert model.score(X[80:], Y[80:]) == pytest.approx((model.predict(X[80:]) == Y[80:]).all(axis=1).mean())


def test_other_costs(small):
    """The marginals are those of the classes, and the decision for Hamming is their rounding."""
    X, Y = small
    model = LabelPowerset(random_state=0).fit(X[:80], Y[:80])
    p = model.predict_proba(X[80:])
    np.testing.assert_array_equal(model.decide(X[80:], "hamming"), p > 0.5)
    f1 = get_cost("f1")
    assert f1.mean(Y[80:], model.decide(X[80:], "f1")) >= f1.mean(Y[80:], model.predict(X[80:]))


def test_a_single_label_is_learnt_as_by_binary_relevance(small):
    X, Y = small
    for estimator in ("logistic", LogisticRegression(), KNeighborsClassifier()):
        powerset, relevance = (
            kind(estimator).fit(X[:80], Y[:80, :1]) for kind in (LabelPowerset, BinaryRelevance)
        )
        np.testing.assert_array_equal(powerset.predict(X), relevance.predict(X))
        np.testing.assert_allclose(powerset.predict_proba(X), relevance.predict_proba(X), atol=1e-6)


def test_without_probabilities(small):
    X, Y = small
    model = LabelPowerset(LinearSVC()).fit(X, Y)
    assert model.score(X, Y) > 0.4
    for method in ("predict_proba", "predict_set_proba", "expected_cost", "decide"):
        assert not hasattr(model, method)


@pytest.mark.parametrize("estimator", ["tree", "forest", "logistic"])
def test_labels_are_predicted_as_a_whole(small, estimator):
    """Of four labels one is always there: binary relevance does not know that."""
    X, _ = small
    noise = np.random.default_rng(0).standard_normal((120, 4))
    Y = np.eye(4, dtype=int)[(X[:, :4] + noise).argmax(axis=1)]
    whole = LabelPowerset(estimator, random_state=0).fit(X[:80], Y[:80]).predict(X[80:])
    alone = BinaryRelevance(estimator, random_state=0).fit(X[:80], Y[:80]).predict(X[80:])
    assert (whole.sum(axis=1) == 1).all()
    assert (alone.sum(axis=1) == 1).mean() < 0.8


class Contrary(LogisticRegression):
    """Predicts what it holds for the least probable."""

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmin(axis=1)]


def test_the_expected_cost_is_that_of_the_own_answer(small):
    X, Y = small
    model = LabelPowerset(Contrary()).fit(X, Y)
    np.testing.assert_allclose(model.expected_cost(X), model.expected_cost(X, model.predict(X)))
    likeliest = LabelPowerset(LogisticRegression()).fit(X, Y)
    assert (model.expected_cost(X) > likeliest.expected_cost(X)).all()
