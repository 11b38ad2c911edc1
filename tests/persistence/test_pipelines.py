"""Pipelines, and how a class of the package takes part in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from refpair import (
    BayesDecisionClassifier,
    BinaryRelevance,
    CostGuarantee,
    CSRPEClassifier,
    Logistic,
    load,
    save,
)
from refpair._saved import IfThere, Savable, require
from refpair.persistence import ModelFileError, _values
from tests.persistence.forging import forge, in_header


class Columns(TransformerMixin, BaseEstimator, Savable):
    """A transformer as the package may have one: some columns by their names, some words counted."""

    means_: np.ndarray
    words_: list[str]
    kinds_: dict[str, str]
    places_: dict[str, float]
    parts_: tuple[int, ...]
    basis_: IfThere[sp.csr_array]

    def __init__(self, kinds: Any = None, scale: float = 1.0) -> None:
        self.kinds = kinds
        self.scale = scale

    def fit(self, X, y=None):
        self.means_ = X.mean(axis=0)
        self.words_ = ["good", "day", "\u00e9\u4e2d"]
        self.kinds_ = {"a": "number", "with a space": "text"}
        self.places_ = {"b c": 0.5, "": float("inf")}
        self.parts_ = (1, 2)
        self.basis_ = sp.csr_array(np.eye(3))
        return self

    def transform(self, X):
        return (X - self.means_) * self.scale

    def _check_saved(self) -> None:
        if hasattr(self, "means_"):
            require(self.means_.ndim == 1 and np.isfinite(self.means_).all(), "the means are no numbers")


@pytest.fixture
def columns(monkeypatch):
    """The class, as if it were one of the package: that is all it takes."""
    monkeypatch.setitem(_values.OWN, "Columns", Columns)


def round_trip(model, tmp_path, **how):
    save(model, tmp_path / "m")
    return load(tmp_path / "m", **how)


def test_a_pipeline_of_the_packages_own(columns, data, tmp_path):
    model = make_pipeline(Columns({"a": "text"}, scale=2), CSRPEClassifier("f1", n_bits=9, random_state=0))
    loaded = round_trip(model.fit(*data), tmp_path)
    assert type(loaded) is Pipeline
    np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))
    before, after = vars(model[0]), vars(loaded[0])
    assert (after.pop("basis_") != before.pop("basis_")).nnz == 0
    np.testing.assert_equal(after, before)
    assert str(loaded.get_params()) == str(model.get_params())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("means_", "dtype", "<i8"), "holds float64"),
        (("words_", 0, 3), "words_ of a Columns cannot be"),
        (("words_", {"dict": {}}), "words_ of a Columns cannot be a dict"),
        (("kinds_", "dict", "a", 1), "kinds_ of a Columns"),
        (("places_", "dict", "", {"pairs": []}), "is no value"),
        (("parts_", [1, 2]), "parts_ of a Columns"),
        (("scale", "large"), "scale of a Columns cannot be 'large'"),
        (("more", 1), "other fields"),
        (("basis_", None), "basis_ of a Columns"),
        (("basis_", {"class": "Logistic", "C": 1.0, "tol": None}), "basis_ of a Columns|does not belong"),
    ],
    ids=str,
)
def test_a_class_is_checked_by_its_annotations(change, says, columns, data, tmp_path):
    model = make_pipeline(Columns(), BinaryRelevance("tree")).fit(*data)
    save(model, tmp_path / "m")
    *keys, value = change
    step = ("model", "steps", 0, "tuple", 1)
    forge(tmp_path / "m", in_header(*step, *keys, value=value))
    with pytest.raises(ModelFileError, match=says):
        load(tmp_path / "m")


def test_a_class_checks_itself_when_it_is_saved_too(columns, data, tmp_path):
    model = make_pipeline(Columns(), BinaryRelevance("tree")).fit(*data)
    model[0].means_[0] = np.nan
    with pytest.raises(ValueError, match="the means are no numbers"):
        save(model, tmp_path / "m")
    model[0].means_ = "mean"
    with pytest.raises(ValueError, match="the means_ of a Columns cannot be 'mean'"):
        save(model, tmp_path / "m")
    del model[0].means_
    model[0].kinds = {"a": object()}
    with pytest.raises(ValueError, match=r"steps\.0\.1\.kinds\.a is .*object object"):
        save(model, tmp_path / "m")
    model[0].kinds = {1: 2}
    with pytest.raises(ValueError, match="keys are not all strings"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


PIPELINES = {
    "scaler": make_pipeline(StandardScaler(), CSRPEClassifier("f1", n_bits=9, random_state=0)),
    "in a pipeline": make_pipeline(make_pipeline(StandardScaler()), BinaryRelevance("logistic")),
    "passed through": Pipeline([("a", "passthrough"), ("b", BinaryRelevance("tree", random_state=0))]),
    "of scikit-learn": make_pipeline(StandardScaler(), ClassifierChain(LogisticRegression())),
    "not fitted in a fitted one": make_pipeline(
        BayesDecisionClassifier(make_pipeline(StandardScaler(), ClassifierChain(Logistic())), random_state=0)
    ),
    "searched": BayesDecisionClassifier(
        GridSearchCV(
            make_pipeline(StandardScaler(), BinaryRelevance("logistic")),
            {"standardscaler__with_mean": [True, False]},
            cv=2,
        ),
        random_state=0,
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_come_back(name, data, tmp_path):
    model = PIPELINES[name].fit(*data)
    loaded = round_trip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))
    np.testing.assert_array_equal(loaded.predict_proba(data[0]), model.predict_proba(data[0]))
    assert str(loaded.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(loaded.fit(*data).predict(data[0]), model.predict(data[0]))


def promising(data):
    pipeline = make_pipeline(StandardScaler(), CSRPEClassifier("f1", n_bits=9, random_state=0))
    return CostGuarantee(pipeline, coverage=0.5).fit(*data)


def test_a_promise_about_a_pipeline_comes_back(data, tmp_path):
    model = promising(data)
    loaded = round_trip(model, tmp_path)
    for mine, theirs in zip(model.predict_or_ask(data[0]), loaded.predict_or_ask(data[0]), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert loaded.promise_ == model.promise_
    assert str(loaded.get_params()) == str(model.get_params())


@pytest.mark.parametrize("last", ["passthrough", {"class": "Logistic", "C": 1.0, "tol": None}])
def test_a_promise_needs_a_fitted_classifier_at_the_end(last, data, tmp_path):
    save(promising(data), tmp_path / "m")
    steps = [{"tuple": ["a", "passthrough"]}, {"tuple": ["b", last]}]
    forge(tmp_path / "m", in_header("model", "estimator_", "steps", value=steps))
    with pytest.raises(ModelFileError, match=r"no last step|the estimator is none that is fitted"):
        load(tmp_path / "m")


def n_wrong(Y, Z):
    return (Y != Z).sum(axis=1)


def test_a_function_is_asked_for_and_given_to_the_last_step(data, tmp_path):
    model = make_pipeline(StandardScaler(), CSRPEClassifier(n_wrong, n_bits=9, random_state=0)).fit(*data)
    with pytest.raises(ValueError, match="'n_wrong' is a Python function"):
        round_trip(model, tmp_path)
    assert round_trip(model, tmp_path, cost=n_wrong)[-1].cost is n_wrong
    with pytest.raises(ValueError, match="not fitted with the cost 'f1'"):
        round_trip(model, tmp_path, cost="f1")


def test_the_folder_of_a_pipeline_is_not_stored(data, tmp_path):
    model = make_pipeline(BinaryRelevance("tree"), memory=str(tmp_path / "cache")).fit(*data)
    assert round_trip(model, tmp_path).memory is None


def test_what_cannot_be_saved_is_named(data, tmp_path):
    with pytest.raises(NotFittedError):
        save(make_pipeline(StandardScaler(), BinaryRelevance("tree")), tmp_path / "m")
    with pytest.raises(ValueError, match=r"SVC.*joblib\.dump"):
        save(make_pipeline(StandardScaler(), SVC()).fit(data[0], data[1][:, 0]), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


NOT_FITTED = {"tuple": ["a", {"class": "Logistic", "C": 1.0, "tol": None}]}
FORGED = {
    "no steps": ([], "no steps"),
    "a list for a step": ([["a", "b"]], "no steps"),
    "no name": ([{"tuple": [1, "passthrough"]}], "no steps"),
    "nothing at all": ([{"tuple": ["a", "passthrough"]}], "no last step"),
    "no transformer": ([NOT_FITTED] * 2, "(?i)transform|uni"),
    "not fitted": ([NOT_FITTED], "not fitted"),
    "number for a step": ([{"tuple": ["a", 3]}], "fit"),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_forged_pipelines_are_refused(what, data, tmp_path):
    steps, says = FORGED[what]
    save(make_pipeline(BinaryRelevance("tree", random_state=0)).fit(*data), tmp_path / "m")
    forge(tmp_path / "m", in_header("model", "steps", value=steps))
    with pytest.raises(ModelFileError, match=says):
        load(tmp_path / "m")
