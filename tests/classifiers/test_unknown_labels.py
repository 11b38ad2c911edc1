"""Models that learn from labels that are not all known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import BayesDecisionClassifier, BinaryRelevance, Forest, LabelPowerset, get_cost, load, save
from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

rng = np.random.default_rng(0)
X = rng.integers(0, 6, (200, 4)).astype(float)  # so few values that bins are those of any rows
Y = (X[:, :3] + rng.normal(size=(200, 3)) > 2.5).astype(float)
GAPS = rng.random(Y.shape) < 0.4
GAPS[:5] = True  # nothing known
PARTIAL = np.where(GAPS, np.nan, Y)


@pytest.mark.parametrize(
    "estimator",
    [Forest(5, max_samples=None), "logistic", LogisticRegression()],
    ids=["forest", "own", "other"],
)
def test_each_label_is_learned_from_the_rows_where_it_is_known(estimator):
    model = BinaryRelevance(estimator, random_state=0).fit(X, PARTIAL)
    for label, known in enumerate(~GAPS.T):
        alone = np.repeat(Y[known][:, [label]], 3, axis=1)  # as many labels: each draws as it did
        expected = BinaryRelevance(estimator, random_state=0).fit(X[known], alone)
        np.testing.assert_allclose(
            model.predict_proba(X)[:, label], expected.predict_proba(X)[:, label], atol=1e-8
        )
    assert model.predict(X).dtype == np.float64


@pytest.mark.parametrize("estimator", ["tree", "logistic", LogisticRegression()])
def test_a_label_whose_known_cells_agree_is_constant(estimator):
    partial = PARTIAL.copy()
    partial[partial[:, 0] == 1, 0] = np.nan
    partial[partial[:, 1] == 0, 1] = np.nan
    predicted = BinaryRelevance(estimator, random_state=0).fit(X, partial).predict(X)
    assert (predicted[:, 0] == 0).all()
    assert (predicted[:, 1] == 1).all()


def test_only_models_that_can_take_unknown_labels():
    with pytest.raises(ValueError, match="Y: column 0 has an empty cell in row 0: CSRPEClassifier, Binary"):
        LabelPowerset().fit(X, PARTIAL)
    with pytest.raises(ValueError, match="Y: column 0 has an empty cell in row 0"):
        BayesDecisionClassifier(LogisticRegression()).fit(X, PARTIAL)
    with pytest.raises(ValueError, match="y has an empty cell in row 0"):
        LabelPowerset().fit(X, PARTIAL[:, 0])


@pytest.mark.parametrize("single", [False, True])
def test_decisions_are_calibrated_by_known_labels(single, tmp_path):
    relevance = BinaryRelevance(LogisticRegression(), random_state=0)
    partial = PARTIAL[:, 0] if single else PARTIAL
    for inner in (relevance, make_pipeline(StandardScaler(), relevance)):
        model = BayesDecisionClassifier(inner, random_state=0).fit(X, partial)
        assert model._label_model.pool is not None
        save(model, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").predict(X), model.predict(X))
    known = ~GAPS[:, 0]
    if single:  # what is not known has no say, but in which rows are in which fold
        plain = BayesDecisionClassifier(relevance, calibrate=False).fit(X, partial)
        expected = BayesDecisionClassifier(relevance, calibrate=False).fit(X[known], Y[known, 0])
        np.testing.assert_allclose(plain.predict_proba(X), expected.predict_proba(X), atol=1e-8)
    assert 0.7 < model.score(X, partial) < 1.0


def test_labels_that_a_decision_cannot_learn_are_constant():
    partial = PARTIAL.copy()
    partial[partial[:, 0] == 1, 0] = np.nan
    partial[partial[:, 1] == 0, 1] = np.nan
    model = BayesDecisionClassifier(BinaryRelevance("logistic"), cost="hamming", random_state=0).fit(
        X, partial
    )
    assert (model.predict(X)[:, :2] == [0, 1]).all()


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_validation_with_unknown_labels(cost):
    frame = pd.DataFrame(PARTIAL, columns=["a", "b", "c"])
    score = get_cost(cost)
    for splits in (MultilabelStratifiedKFold(3), MultilabelStratifiedShuffleSplit(2, random_state=0)):
        found = cross_val_score(BinaryRelevance("logistic"), X, frame, cv=splits, scoring=score)
        expected = []
        for train, test in splits.split(X, frame):
            model = BinaryRelevance("logistic").fit(X[train], PARTIAL[train])
            expected.append(score(model, X[test], PARTIAL[test]))
        np.testing.assert_array_equal(found, expected)
        assert np.isfinite(found).all()
