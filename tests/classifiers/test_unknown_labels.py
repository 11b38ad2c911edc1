"""Models that learn from labels that are not all known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import (
    BayesDecisionClassifier,
    BinaryRelevance,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    get_cost,
    load,
    save,
)
from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit
from refpair.posterior.code import _Learning

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


# ---- CSRPEClassifier ----


def csrpe(**how):
    return CSRPEClassifier(**{"cost": "f1", "n_bits": 80, "random_state": 0} | how)


@pytest.fixture(scope="module")
def dependent():
    """Return samples whose labels depend on features and on each other, with gaps in half of them."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 5))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 0.5, X[:, 1] > 0, X[:, 1] < -0.5, X[:, 2] > 1]).astype(float)
    flip = rng.random(Y.shape) < 0.05
    Y = np.where(flip, 1 - Y, Y)
    gaps = rng.random((200, 5)) < 0.5
    gaps[gaps.all(axis=1), 0] = False
    return X[:200], np.where(gaps, np.nan, Y[:200]), X[200:], Y[200:]


HOW = {
    "default": {},
    "no bags": {"max_samples": None},
    "nearest": {"decoder": "nearest"},
    "logistic": {"estimator": "logistic", "sources": ("code", "labels")},
    "own": {"sources": ("code", LogisticRegression())},
}


@pytest.mark.parametrize("how", HOW)
def test_it_learns_from_what_is_known(dependent, how, tmp_path):
    X, partial, others, truths = dependent
    model = csrpe(**HOW[how]).fit(X, partial)
    as_absent = csrpe(**HOW[how]).fit(X, np.nan_to_num(partial))
    assert model.score(others, truths) > as_absent.score(others, truths) + 0.05
    assert ((model.relevant_set_ == 0) | (model.relevant_set_ == 1)).all()
    assert model.relevant_counts_.sum() == pytest.approx(len(X))
    np.testing.assert_array_equal(
        csrpe(n_jobs=2, **HOW[how]).fit(X, partial).predict(others), model.predict(others)
    )
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(others), model.predict(others))
    if how != "nearest":
        np.testing.assert_array_equal(loaded.predict_proba(others), model.predict_proba(others))


@pytest.mark.parametrize("kind", ["words", "rows"])
def test_either_kind_of_known_codes(dependent, kind, tmp_path, monkeypatch):
    X, partial, others, truths = dependent
    own = _Learning._out_of_bag
    monkeypatch.setattr(
        _Learning, "_out_of_bag", lambda self: (seen for seen in own(self) if seen.kind == kind)
    )
    model = csrpe(sources=("code",)).fit(X, partial)
    by_code = model.posterior_.sources[0]
    assert by_code.settings.compared_with == kind
    assert (by_code.known.shares is not None) == (kind == "rows")
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(others), model.predict_proba(others))
    np.testing.assert_array_equal(model.shorten(len(model.code_)).predict(others), model.predict(others))
    assert model.score(others, truths) > 0.6


def test_rows_of_which_nothing_is_known_are_left_out(dependent):
    X, partial, others, _ = dependent
    more = np.vstack([partial, np.full((3, 5), np.nan)])
    model = csrpe().fit(np.vstack([X, X[:3] + 9]), more)
    np.testing.assert_array_equal(model.predict(others), csrpe().fit(X, partial).predict(others))
    sparse = csrpe().fit(sp.csr_array(X), partial)
    np.testing.assert_array_equal(sparse.predict(others), csrpe().fit(X, partial).predict(others))


def test_gaps_in_any_form(dependent):
    X, partial, others, _ = dependent
    expected = csrpe().fit(X, partial).predict(others)
    words = np.where(np.isnan(partial), None, np.where(partial == 1, "yes", "no"))
    frame = pd.DataFrame(words, columns=list("abcde"))
    predicted = csrpe().fit(X, frame).predict(others)
    np.testing.assert_array_equal((predicted == "yes").to_numpy(), expected == 1)


@pytest.mark.parametrize("share", [0.7, 0.95])
def test_little_is_known(dependent, share):
    X, partial, others, truths = dependent
    rng = np.random.default_rng(0)
    few = np.where(rng.random(partial.shape) < share, np.nan, partial)
    few[0] = partial[np.flatnonzero(~np.isnan(partial).any(axis=1))[0]]
    model = csrpe().fit(X, few)
    assert np.isfinite(model.predict_proba(others)).all()
    assert model.score(others, truths) > (0.5 if share < 0.9 else 0.2)


def test_weights_and_gaps(dependent):
    X, partial, others, truths = dependent
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.flatnonzero(weight)
    model = csrpe().fit(X, partial, weight)
    expected = csrpe().fit(X[rows], partial[rows], weight[rows])
    np.testing.assert_array_equal(model.predict_proba(others), expected.predict_proba(others))
    assert model.score(others, truths) > 0.6


def test_a_single_label_with_gaps(dependent):
    X, partial, others, truths = dependent
    model = csrpe().fit(X, partial[:, 0])
    assert set(np.unique(model.predict(others))) == {0.0, 1.0}
    assert (model.predict(others) == truths[:, 0]).mean() > 0.8
