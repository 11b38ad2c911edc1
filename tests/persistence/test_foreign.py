"""Estimators of scikit-learn in models: which are saved, and which are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from refpair import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, load, save
from tests.persistence.test_every_estimator import assert_same

BASE = [
    SGDClassifier(random_state=0),
    SGDClassifier(loss="log_loss", random_state=0),
    Perceptron(random_state=0),
    RidgeClassifier(),
    LinearSVC(),
    CalibratedClassifierCV(LinearSVC(), cv=2),
    BernoulliNB(),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(),
    DummyClassifier(),
    ExtraTreeClassifier(max_depth=4, random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=5, ccp_alpha=0.001, random_state=0),
    AdaBoostClassifier(n_estimators=3, random_state=0),
    BaggingClassifier(n_estimators=3, max_features=0.5, random_state=0),
    make_pipeline(SimpleImputer(), StandardScaler(), PCA(3), LogisticRegression()),
    make_pipeline(MinMaxScaler(), FunctionTransformer(np.log1p), LogisticRegression()),
]


@pytest.mark.parametrize("estimator", BASE, ids=lambda estimator: str(estimator)[:40])
def test_base_learners(estimator, data, tmp_path):
    model = BinaryRelevance(estimator).fit(*data)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, data[0])


MULTI = [
    ExtraTreesClassifier(3, random_state=0),
    OneVsRestClassifier(LogisticRegression()),
    LogisticRegression(),
    make_pipeline(StandardScaler(), GaussianNB()),
    MultiOutputClassifier(BaggingClassifier(GaussianNB(), n_estimators=2)),
    ClassifierChain(DecisionTreeClassifier(max_depth=2, random_state=0), order=[2, 0, 1]),
    GridSearchCV(RandomForestClassifier(3, random_state=0), {"max_depth": [2, 4]}, cv=2),
    ColumnTransformer(
        [("numbers", StandardScaler(), [0, 1]), ("kinds", OneHotEncoder(handle_unknown="ignore"), [2])]
    ),
]


@pytest.mark.parametrize("estimator", MULTI, ids=lambda estimator: str(estimator)[:40])
def test_multi_label_models(estimator, data, tmp_path):
    X, Y = data
    if isinstance(estimator, ColumnTransformer):
        estimator = make_pipeline(estimator, RandomForestClassifier(3, random_state=0))
    model = BayesDecisionClassifier(estimator, random_state=0).fit(X, Y)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, X)


def test_texts(tmp_path):
    texts = pd.DataFrame({"text": ["good day", "bad day", "good night", "bad night", "good"] * 4})
    Y = np.column_stack([texts["text"].str.contains("good"), texts["text"].str.contains("night")]).astype(int)
    words = ColumnTransformer([("words", TfidfVectorizer(), "text")])
    model = BayesDecisionClassifier(make_pipeline(words, RandomForestClassifier(3, random_state=0))).fit(
        texts, Y
    )
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    np.testing.assert_array_equal(loaded.predict(texts), model.predict(texts))


def test_sparse_features(data, tmp_path):
    X = sp.csr_array(np.where(data[0] > 1, data[0], 0))
    for model in (
        BayesDecisionClassifier(RandomForestClassifier(3, random_state=0)),
        CSRPEClassifier(n_bits=5, estimator=LogisticRegression(), random_state=0),
        CSRPEClassifier(n_bits=5, estimator="logistic", random_state=0),
    ):
        save(model.fit(X, data[1]), tmp_path / "m")
        assert_same(load(tmp_path / "m"), model, X)


def test_a_bank_that_keeps_its_rows(data, tmp_path):
    """With more features than rows, logistic regressions are sums of rows; these may be sparse."""
    X = np.hstack([data[0][:30]] * 8)
    for features in (X, sp.csr_array(np.where(X > 1, X, 0)), X.astype(np.float32)):
        model = CSRPEClassifier(n_bits=6, estimator="logistic", random_state=0).fit(features, data[1][:30])
        assert model.bits_.basis_ is not None
        save(model, tmp_path / "m")
        assert_same(load(tmp_path / "m"), model, features)


REFUSED = {
    "sklearn.svm._classes.SVC": SVC(),
    "KNeighborsClassifier": KNeighborsClassifier(),
    "GradientBoostingClassifier": GradientBoostingClassifier(n_estimators=2),
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(max_iter=2),
    "isotonic": CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"),
    "in a pipeline": make_pipeline(FunctionTransformer(np.abs), KNeighborsClassifier()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_checked_is_named(name, data, tmp_path):
    model = BinaryRelevance(REFUSED[name]).fit(*data)
    named = "KNeighborsClassifier" if name == "in a pipeline" else name
    with pytest.raises(ValueError, match=rf"(?i){named}.*cannot be (checked|saved).*joblib\.dump"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_checked_is_named_once_a_label(data, tmp_path):
    model = BayesDecisionClassifier(HistGradientBoostingClassifier(max_iter=2)).fit(*data)
    with pytest.raises(ValueError, match=r"HistGradientBoostingClassifier.*cannot be (checked|saved)"):
        save(model, tmp_path / "m")


def twice(X):
    return 2 * X


class Own(GaussianNB):
    pass


def test_functions_and_classes_of_ones_own_are_named(data, tmp_path):
    pipeline = make_pipeline(FunctionTransformer(twice), GaussianNB())
    with pytest.raises(ValueError, match=r"test_foreign\.twice.*joblib\.dump"):
        save(BinaryRelevance(pipeline).fit(*data), tmp_path / "m")
    with pytest.raises(ValueError, match=r"test_foreign\.Own"):
        save(BinaryRelevance(Own()).fit(*data), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
