"""Small models of every kind that a file can hold, and rows that they can be asked about."""

from __future__ import annotations

import functools
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn import preprocessing as pre
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from fuzz.scratch import scratch_folder
from refpair import (
    MLECC,
    BayesDecisionClassifier,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    Cost,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
    RAkEL,
    TableVectorizer,
    save,
)
from refpair.active._classifier import KernelFeatures, WrappedClassifier

Entries = dict[str, bytes]

X = np.arange(36.0).reshape(12, 3) % 5
Y = np.array([[i % 2, i // 2 % 2, i // 4 % 2] for i in range(12)])
_FEW = Forest(n_trees=2, max_depth=3)
_SEEDED: dict[str, Any] = {"random_state": 0}


def table() -> pd.DataFrame:
    """Return rows with a column of each kind but images."""
    i = np.arange(len(X))
    return pd.DataFrame(
        {
            "age": np.where(i % 5, i / 2, np.nan),
            "kind": np.where(i % 2, "song", "hymn"),
            "is_new": np.where(i % 3, "no", "yes"),
            "day": pd.date_range("2024-01-30", periods=len(X)).strftime("%d.%m.%Y"),
            "said": [f"it is {('good', 'bad')[j % 2]} and {('loud', 'low', 'long')[j % 3]}" for j in i],
        }
    )


def _own() -> Iterator[Any]:
    yield CSRPEClassifier("f1", n_bits=9, **_SEEDED)
    yield CSRPEClassifier("jaccard", n_bits=70, max_depth=2, max_samples=0.5, **_SEEDED)
    yield CSRPEClassifier("rank", n_bits=9, decoder="nearest", **_SEEDED)
    yield CSRPEClassifier("hamming", n_bits=9, estimator="logistic", **_SEEDED)
    yield CSRPEClassifier(Cost.per_label(false_negative=[1, 5, 0.1]), n_bits=5, **_SEEDED)
    for learner in ("tree", "logistic", _FEW):
        yield BinaryRelevance(learner, **_SEEDED)
        yield ChainClassifier(learner, order=[2, 0, 1], **_SEEDED)
        yield LabelPowerset(learner, **_SEEDED)
        yield RAkEL(learner, labelset_size=2, **_SEEDED)
        yield CondensedFilterTree(learner, n_rounds=2, **_SEEDED)
        yield ProbabilisticChain(learner, n_samples=5, **_SEEDED)
    for inference in ("beam", "exact"):
        yield ProbabilisticChain(_FEW, cost="zero_one", inference=inference, **_SEEDED)
    for code in ("rep", "rrep", "hamr"):
        yield MLECC("tree", code=code, code_length=21, **_SEEDED)
        yield MLECC(_FEW, code=code, powerset=3, code_length=21, **_SEEDED)


def _of_scikit_learn() -> Iterator[Any]:
    chain, forest = ClassifierChain(LogisticRegression()), RandomForestClassifier(3, max_depth=3, **_SEEDED)
    for estimator in (
        forest, ExtraTreesClassifier(2, bootstrap=True, **_SEEDED), DecisionTreeClassifier(**_SEEDED), chain,
        MultiOutputClassifier(GaussianNB()), make_pipeline(pre.StandardScaler(), forest),
        BinaryRelevance("tree"), make_pipeline(PCA(2), chain), OneVsRestClassifier(LogisticRegression()),
    ):  # fmt: skip
        yield BayesDecisionClassifier(estimator, n_samples=5, **_SEEDED)
    for learner in (
        LogisticRegression(), GaussianNB(), DecisionTreeClassifier(max_depth=3),
        ExtraTreeClassifier(max_depth=3), MLPClassifier((4,), solver="lbfgs", max_iter=5),
        BaggingClassifier(DecisionTreeClassifier(), 2, max_features=2), AdaBoostClassifier(n_estimators=2),
        CalibratedClassifierCV(LinearSVC(), cv=2), DummyClassifier(), LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(reg_param=0.5), BernoulliNB(), RidgeClassifier(),
        GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, cv=2), SGDClassifier(max_iter=5, tol=None),
    ):  # fmt: skip
        yield BinaryRelevance(learner, **_SEEDED)
    for learner in (
        OneVsOneClassifier(LogisticRegression()), OutputCodeClassifier(LogisticRegression(), **_SEEDED),
        MultinomialNB(), ComplementNB(),
    ):  # fmt: skip
        yield LabelPowerset(learner, **_SEEDED)
    yield CSRPEClassifier("f1", n_bits=3, estimator=LogisticRegression(), **_SEEDED)
    yield WrappedClassifier(MultiOutputClassifier(GaussianNB()))


def _pipelines() -> Iterator[Any]:
    last = BinaryRelevance("tree", **_SEEDED)
    yield make_pipeline(CSRPEClassifier("f1", n_bits=9, **_SEEDED))
    yield make_pipeline(KernelFeatures(4), BinaryRelevance("logistic"))
    for how in ({}, {"drop": "first"}, {"drop": "if_binary"}, {"handle_unknown": "ignore"}):
        yield make_pipeline(pre.OneHotEncoder(**how), last)
    yield make_pipeline(pre.OneHotEncoder(sparse_output=False), pre.Normalizer(), last)
    yield make_pipeline(pre.OneHotEncoder(), TfidfTransformer(), TruncatedSVD(2, **_SEEDED), last)
    yield make_pipeline(
        pre.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), pre.MaxAbsScaler(), last
    )
    yield make_pipeline(SimpleImputer(add_indicator=True), VarianceThreshold(), pre.RobustScaler(), last)
    yield make_pipeline(
        make_union(PCA(2), pre.Binarizer(), MissingIndicator(features="all")), pre.MinMaxScaler(), last
    )
    yield make_pipeline(pre.QuantileTransformer(n_quantiles=4), pre.PowerTransformer(), last)
    yield make_pipeline(pre.FunctionTransformer(np.log1p), pre.StandardScaler(with_mean=False), last)


def _of_tables() -> Iterator[Any]:
    last = BinaryRelevance("tree", **_SEEDED)
    yield make_pipeline(TableVectorizer(), CSRPEClassifier("f1", n_bits=9, **_SEEDED))
    yield make_pipeline(
        ColumnTransformer(
            [
                ("kind", pre.OneHotEncoder(drop="first"), ["kind", "is_new"]),
                ("age", make_pipeline(SimpleImputer(), pre.StandardScaler()), ["age"]),
                ("said", TfidfVectorizer(), "said"),
                ("counts", CountVectorizer(analyzer="char", ngram_range=(1, 2)), "kind"),
            ]
        ),
        last,
    )


@functools.cache
def saved() -> list[tuple[Entries, Any]]:
    """Return the entries of the models' files, and rows for each."""
    given: list[tuple[Any, Any, Any]] = [
        (model, X, Y) for part in (_own, _of_scikit_learn, _pipelines) for model in part()
    ]
    given += [(model, table(), Y) for model in _of_tables()]
    named = pd.DataFrame(X, columns=list("abc"))
    given.append((BinaryRelevance("tree"), named, pd.DataFrame(Y, columns=["joy", "anger", "calm"])))
    given.append((Logistic(), X, Y[:, 0]))
    found = []
    with scratch_folder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, rows, labels in given:
            save(model.fit(rows, labels), folder / "model")
            with zipfile.ZipFile(folder / "model") as archive:
                found.append(({name: archive.read(name) for name in archive.namelist()}, rows))
    return found
