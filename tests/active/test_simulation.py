import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from refpair import BinaryRelevance, get_cost
from refpair.active import RandomQuery, SpreadQuery, learning_curve


@pytest.fixture(scope="module")
def halves():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    Y = (X @ rng.standard_normal((4, 3)) + 0.5 * rng.standard_normal((120, 3)) > 0).astype(int)
    return X[:60], Y[:60], X[60:], Y[60:]


MODEL = BinaryRelevance("logistic")


def test_a_curve_is_what_a_loop_by_hand_gives(halves):
    X, Y, X_test, Y_test = halves
    strategy = SpreadQuery(random_state=0)
    curve = learning_curve(
        strategy, MODEL, *halves, start=[3, 5, 7, 9], n_queries=6, cost="hamming", test_each=3
    )
    assert curve["n_labeled"].tolist() == [4, 7, 10]
    known = np.full(Y.shape, np.nan)
    known[[3, 5, 7, 9]] = Y[[3, 5, 7, 9]]
    scores = []
    for n in range(7):
        rows = np.flatnonzero(~np.isnan(known[:, 0]))
        if n % 3 == 0:
            predicted = BinaryRelevance("logistic").fit(X[rows], Y[rows]).predict(X_test)
            scores.append(get_cost("hamming").mean(Y_test, predicted))
        (row,) = strategy.query(X, known)
        known[row] = Y[row]
    np.testing.assert_allclose(curve["score"], scores)
    assert (curve["seconds"][1:] > 0).all()
    assert curve["seconds"][0] == 0


def test_a_measure_of_the_test_rows_together(halves):
    X, Y, X_test, Y_test = halves
    curve = learning_curve(
        RandomQuery(random_state=0), MODEL, *halves, start=range(59), n_queries=1, cost="macro_f1"
    )
    expected = get_cost("macro_f1").mean(Y_test, BinaryRelevance("logistic").fit(X, Y).predict(X_test))
    assert curve["score"][-1] == pytest.approx(expected)


def test_batches_and_the_end_of_the_pool(halves):
    strategy = RandomQuery(random_state=0)
    curve = learning_curve(
        strategy, MODEL, *halves, start=range(10), n_queries=1000, batch_size=20, test_each=15
    )
    assert curve["n_labeled"].tolist() == [10, 30, 50, 60]
    assert curve["score"][-1] > curve["score"][0]


def test_no_labels_at_first(halves):
    curve = learning_curve(RandomQuery(random_state=0), MODEL, *halves, start=[], n_queries=3)
    assert curve["n_labeled"].tolist() == [0, 1, 2, 3]
    Y_test = halves[3]
    assert curve["score"][0] == get_cost("f1").mean(Y_test, np.zeros_like(Y_test))


def test_classifiers_that_fail_on_labels_without_two_classes(halves):
    X, Y, X_test, Y_test = halves
    Y = np.column_stack([Y, np.zeros(60, int), np.ones(60, int)])
    Y_test = np.column_stack([Y_test, np.zeros(60, int), np.ones(60, int)])
    model = MultiOutputClassifier(LogisticRegression())
    how = {"start": range(10), "n_queries": 10, "test_each": 10}
    curve = learning_curve(RandomQuery(random_state=0), model, X, Y, X_test, Y_test, **how)
    assert curve["score"].min() > 0.4


def test_frames(halves):
    X, Y, X_test, Y_test = halves
    names = list("abcd")
    frames = pd.DataFrame(X, columns=names), pd.DataFrame(Y), pd.DataFrame(X_test, columns=names), Y_test
    how = {"start": range(10), "n_queries": 5}
    expected = learning_curve(RandomQuery(random_state=0), MODEL, *halves, **how)
    found = learning_curve(RandomQuery(random_state=0), MODEL, *frames, **how)
    np.testing.assert_allclose(found["score"], expected["score"])


def test_mistakes_are_told(halves):
    for wrong, message in (
        ({"n_queries": 0}, "n_queries must be an integer of at least 1, not 0"),
        ({"test_each": 0}, "test_each must be an integer of at least 1, not 0"),
        ({"cost": "speed"}, "unknown cost"),
    ):
        with pytest.raises(ValueError, match=message):
            learning_curve(RandomQuery(), MODEL, *halves, **{"start": range(5), "n_queries": 2} | wrong)
    with pytest.raises(
        ValueError, match=r"estimator must be an instance, BinaryRelevance\(\), not the class"
    ):
        learning_curve(RandomQuery(), BinaryRelevance, *halves, start=range(5), n_queries=2)
