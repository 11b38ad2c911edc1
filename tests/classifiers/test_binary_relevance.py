import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import BinaryRelevance, get_cost
from refpair.datasets import load_dataset


@parametrize_with_checks([BinaryRelevance(LogisticRegression(), random_state=0)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        KNeighborsClassifier(),
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
def test_it_is_what_scikit_learn_has_for_it(small, estimator):
    X, Y = small
    ours = BinaryRelevance(estimator).fit(X[:80], Y[:80])
    theirs = MultiOutputClassifier(estimator).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(ours.predict(X[80:]), theirs.predict(X[80:]))
    p = np.transpose([of_label[:, 1] for of_label in theirs.predict_proba(X[80:])])
    np.testing.assert_allclose(ours.predict_proba(X[80:]), p.clip(1e-6, 1 - 1e-6), atol=1e-6)
    assert ours.score(X[80:], Y[80:]) == pytest.approx(theirs.score(X[80:], Y[80:]))


def test_without_probabilities(small):
    X, Y = small
    model = BinaryRelevance(LinearSVC()).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.8
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as error:
        model.predict_proba(X)
    assert "the base learner LinearSVC() has no predict_proba" in str(error.value.__cause__)


def test_a_forest_is_about_as_good_as_that_of_scikit_learn():
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:500], digits.Y[:500], digits.X[1500:], digits.Y[1500:]
    hamming = get_cost("hamming")
    ours = hamming.mean(Y_test, BinaryRelevance(random_state=0).fit(X, Y).predict(X_test))
    forest = MultiOutputClassifier(RandomForestClassifier(random_state=0))
    theirs = hamming.mean(Y_test, forest.fit(X, Y).predict(X_test))
    assert ours < 1.05 * theirs
    tree = hamming.mean(Y_test, BinaryRelevance("tree", random_state=0).fit(X, Y).predict(X_test))
    assert ours < 0.8 * tree


def test_base_learners_get_the_classes_0_and_1(small):
    """As they have them in scikit-learn: some take weights of classes, or know no other classes."""
    X, Y = small
    learner = LogisticRegression(class_weight={0: 1, 1: 50})
    eager = BinaryRelevance(learner).fit(X, Y).predict(X)
    assert eager.sum() > BinaryRelevance(LogisticRegression()).fit(X, Y).predict(X).sum()
    np.testing.assert_array_equal(eager, MultiOutputClassifier(learner).fit(X, Y).predict(X))
