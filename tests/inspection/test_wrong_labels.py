import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import BinaryRelevance, Cost, CSRPEClassifier, get_cost
from refpair._cross_fitting import given_others
from refpair.inspection import suspicious_labels
from refpair.inspection.wrong_labels import chance_of_mistake, posterior_of_mistake
from refpair.tables.labels import UNKNOWN

MODEL = BinaryRelevance("logistic")


@pytest.fixture(scope="module")
def planted():
    """Return rows, labels of which two always agree and two never, flips, and what is given."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    first, third = (X[:, place] + rng.normal(size=400) > 0 for place in (0, 1))
    Y = np.column_stack([first, first, third, ~third]).astype(np.uint8)
    flips = rng.random(Y.shape) < 0.04
    return X, Y, flips, Y ^ flips


def score(table, flips):
    truth = [flips[row, label] for row, label in zip(table["row"], table["label"], strict=True)]
    return average_precision_score(truth, -np.arange(len(table)))


def test_other_labels_tell_what_features_do_not(planted):
    X, _, flips, Y = planted
    table = suspicious_labels(MODEL, X, Y)
    assert list(table.columns) == ["row", "label", "given", "wrong", "cost"]
    assert len(table) == Y.size
    assert not table.duplicated(["row", "label"]).any()
    assert table["wrong"].is_monotonic_decreasing
    assert table["given"].tolist() == Y[table["row"], table["label"]].tolist()
    found = score(table, flips)
    alone = score(suspicious_labels(MODEL, X, Y[:, :1]), flips)
    own = table[table["label"] == 0]
    assert found > 0.6
    assert score(own, flips) > alone + 0.3
    top = table.head(int(flips.sum()))
    right = flips[top["row"], top["label"]].mean()
    assert top["wrong"].mean() == pytest.approx(right, abs=0.3), "probabilities mean something"


def test_unknown_labels_are_not_listed_and_do_not_count(planted):
    X, _, flips, Y = planted
    partial = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, np.nan, Y)
    table = suspicious_labels(MODEL, X, partial)
    listed = np.zeros(Y.shape, bool)
    listed[table["row"], table["label"]] = True
    np.testing.assert_array_equal(listed, ~np.isnan(partial))
    assert score(table, flips) > 0.4


def test_the_cost_is_that_of_the_given_labels_if_one_is_wrong(planted):
    X, _, _, Y = planted
    some = np.where(np.arange(len(Y))[:, None] + np.arange(4) == 7, np.nan, Y)[:60]
    cost = Cost.per_label(false_positive=[1, 2, 3, 4], false_negative=5)
    for model, expected in (
        (CSRPEClassifier("jaccard", n_bits=15, sources=("code",), random_state=0), get_cost("jaccard")),
        (CSRPEClassifier(cost, n_bits=15, sources=("code",), random_state=0), cost),
        (MODEL, get_cost("hamming")),
    ):
        table = suspicious_labels(model, X[:60], some, n_folds=2)
        for row, label, _, _, paid in table.head(30).itertuples(index=False):
            truth = some[[row]].copy()
            truth[0, label] = 1 - truth[0, label]
            answer = np.nan_to_num(some[[row]]).astype(int)
            assert paid == pytest.approx(float(expected.rows(truth, answer)[0]))


@settings(deadline=None, max_examples=30)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.4), st.floats(0.01, 0.4))
def test_the_chance_of_a_mistake_is_that_of_bayes(there, false_there, false_absent):
    joint = {(1, 1): there * (1 - false_absent), (1, 0): there * false_absent}
    joint |= {(0, 1): (1 - there) * false_there, (0, 0): (1 - there) * (1 - false_there)}
    p = joint[1, 1] + joint[0, 1]
    for label in (0, 1):
        expected = joint[1 - label, label] / (joint[0, label] + joint[1, label])
        found = posterior_of_mistake(
            np.array([[label]], np.uint8), np.array([[p]]), false_there, false_absent
        )
        assert found[0, 0] == pytest.approx(expected)


def test_rates_of_mistakes_are_found():
    rng = np.random.default_rng(0)
    there = rng.random((5000, 4)) < 0.3
    p_there = np.where(there, 0.999, 0.001)
    for false_there, false_absent in ((0.02, 0.02), (0.01, 0.2)):
        wrong = rng.random(there.shape) < np.where(there, false_absent, false_there)
        p = p_there * (1 - false_absent) + (1 - p_there) * false_there
        chance = chance_of_mistake((there ^ wrong).astype(np.uint8), p)
        assert chance.sum() == pytest.approx(wrong.sum(), rel=0.2)
        assert chance[wrong].min() > 0.8


def test_odds_given_others_are_those_of_the_joint():
    """Two labels of which the joint is known: p(y1 | y2) follows from it."""
    rng = np.random.default_rng(0)
    joint = np.array([[0.5, 0.05], [0.1, 0.35]])
    cells = rng.choice(4, size=4000, p=joint.ravel())
    labels = np.column_stack([cells // 2, cells % 2]).astype(np.uint8)
    found = given_others(labels, np.tile([[0.45, 0.4]], (4000, 1)))
    for other in (0, 1):
        expected = joint[1, other] / joint[:, other].sum()
        assert found[labels[:, 1] == other, 0].mean() == pytest.approx(expected, abs=0.05)


def test_a_label_that_never_varies_keeps_its_odds():
    labels = np.array([[0, 1], [0, 0], [0, UNKNOWN]] * 10, np.uint8)
    p = np.full(labels.shape, 0.2)
    found = given_others(labels, p)
    np.testing.assert_allclose(found[:, 0], 0.2)
    np.testing.assert_allclose(found[2::3, 1], 0.2)


@pytest.mark.slow
def test_pipelines_frames_and_names(planted):
    X, _, _, Y = planted
    index = [f"song {i}" for i in range(100)]
    frame = pd.DataFrame(X[:100], index, columns=list("abc"))
    labels = pd.DataFrame(Y[:100], index, columns=["joy", "glee", "calm", "rage"])
    model = make_pipeline(StandardScaler(), BinaryRelevance(LogisticRegression()))
    table = suspicious_labels(model, frame, labels, verbose=0)
    assert set(table["row"]) == set(index)
    assert set(table["label"]) == set(labels.columns)
    names = ["|".join(labels.columns[row == 1]) for row in labels.to_numpy()]
    same = suspicious_labels(model, frame, pd.Series(names, index)).set_index(["row", "label"])["given"]
    assert table.set_index(["row", "label"])["given"].sort_index().equals(same.sort_index())
    single = suspicious_labels(model, frame, np.where(Y[:100, 0], "yes", "no"))
    assert len(single) == 100


def test_what_cannot_be_checked_is_refused(planted):
    X, _, _, Y = planted
    with pytest.raises(ValueError, match="n_folds must be an integer of at least 2"):
        suspicious_labels(MODEL, X, Y, n_folds=1)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        suspicious_labels(MODEL, X[1:], Y)
    with pytest.raises(ValueError, match=r"label 2 is known in fewer than 10 rows, .*: fill in more of it"):
        suspicious_labels(MODEL, X, np.where((np.arange(4) == 2) & (X[:, [0]] < 2.5), np.nan, Y))
    with pytest.raises(ValueError, match="a Ridge has no predict_proba"):
        suspicious_labels(Ridge(), X, Y)
