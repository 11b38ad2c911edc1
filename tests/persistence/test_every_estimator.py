"""Every estimator of the package comes back from a file as it was, with every kind of base learner."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import refpair
from refpair import (
    BayesDecisionClassifier,
    BinaryRelevance,
    Cost,
    CostGuarantee,
    CSRPEClassifier,
    Forest,
    Logistic,
    load,
    save,
)
from refpair.classifiers import AnswersAndQuestions
from refpair.classifiers._base import MultiLabelClassifier

LEARNERS = {
    "tree": "tree",
    "forest": "forest",
    "logistic": "logistic",
    "Forest": Forest(n_trees=3, max_depth=4),
    "Logistic": Logistic(C=0.3),
    "LogisticRegression": LogisticRegression(),
    "DecisionTreeClassifier": DecisionTreeClassifier(max_depth=3, random_state=0),
    "GaussianNB": GaussianNB(),
}
# CSRPE knows no forests of its own, and the last ones are for BayesDecisionClassifier alone.
BIT_LEARNERS = {name: learner for name, learner in LEARNERS.items() if name not in ("forest", "Forest")}
MULTI_LABEL = {
    "RandomForestClassifier": RandomForestClassifier(4, random_state=0),
    "DecisionTreeClassifier": DecisionTreeClassifier(max_depth=4, random_state=0),
    "ClassifierChain": ClassifierChain(LogisticRegression()),
    "MultiOutputClassifier": MultiOutputClassifier(GaussianNB()),
    "Pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(4, random_state=0)),
    "own": BinaryRelevance("tree", random_state=0),
    "own in a pipeline": make_pipeline(StandardScaler(), BinaryRelevance(LogisticRegression())),
    "own in a chain": ClassifierChain(Logistic()),
}
SMALL = {"n_bits": 12, "n_rounds": 2, "random_state": 0}
METHODS = (
    "predict",
    "predict_proba",
    "expected_cost",
    "predict_set_proba",
    "predict_code",
    "decision_function",
    "predict_or_ask",
)


def estimators():
    """All estimators that the package names: one that is new is tested, too."""
    classes = [getattr(refpair, name) for name in refpair.__all__]
    return [cls for cls in classes if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]


def cases():
    for cls in estimators():
        parameters = inspect.signature(cls).parameters
        small = {name: value for name, value in SMALL.items() if name in parameters}
        if not hasattr(cls, "fit"):
            continue
        if cls is CostGuarantee:
            for model in (
                CSRPEClassifier(**small),
                BayesDecisionClassifier(RandomForestClassifier(4), **small),
            ):
                yield pytest.param(cls(model, coverage=1), id=f"{cls.__name__}-{type(model).__name__}")
        elif cls is CSRPEClassifier:
            for name, learner in BIT_LEARNERS.items():
                yield pytest.param(cls(estimator=learner, **small), id=f"{cls.__name__}-{name}")
        elif "estimator" in parameters:
            needs_one = parameters["estimator"].default is inspect.Parameter.empty
            for name, learner in (MULTI_LABEL if needs_one else LEARNERS).items():
                yield pytest.param(cls(estimator=learner, **small), id=f"{cls.__name__}-{name}")
        else:
            yield pytest.param(cls(**small), id=cls.__name__)


def said_by(model, X):
    answers = {}
    for method in METHODS:
        if hasattr(model, method):
            price = [0.2] if method == "predict_or_ask" and isinstance(model, MultiLabelClassifier) else []
            given = getattr(model, method)(X, *price)
            parts = given if isinstance(given, tuple | AnswersAndQuestions) else (given,)
            answers[method] = [np.asarray(part) for part in parts]
    return answers


def assert_same(loaded, model, X):
    assert type(loaded) is type(model)
    then, now = said_by(model, X), said_by(loaded, X)
    assert then.keys() == now.keys()
    for method in then:
        for before, after in zip(then[method], now[method], strict=True):
            assert after.dtype == before.dtype
            np.testing.assert_array_equal(after, before)
    assert str(loaded.get_params()) == str(model.get_params())


def test_all_estimators_are_found():
    assert len([cls for cls in estimators() if issubclass(cls, MultiLabelClassifier)]) >= 9


@pytest.mark.parametrize("model", list(cases()))
def test_a_model_comes_back_as_it_was(model, data, tmp_path):
    X, Y = data
    model.fit(X, Y if isinstance(model, MultiLabelClassifier) else Y[:, 0])
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert_same(loaded, model, X)
    assert vars(loaded).keys() == vars(model).keys()
    save(loaded, tmp_path / "again")
    assert_same(load(tmp_path / "again"), model, X)


@pytest.mark.parametrize("cls", [cls for cls in estimators() if issubclass(cls, MultiLabelClassifier)])
def test_names_come_back_and_a_loaded_model_can_be_fitted_again(cls, data, tmp_path):
    X = pd.DataFrame(data[0], columns=list("abcde"))
    Y = pd.DataFrame(data[1], columns=["joy", "anger", "calm"])
    model = cls(RandomForestClassifier(3)) if cls.__name__.startswith("Bayes") else cls()
    small = {name: value for name, value in SMALL.items() if name in model.get_params()}
    model.set_params(**small).fit(X, Y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    pd.testing.assert_frame_equal(loaded.predict(X), model.predict(X))
    assert loaded.feature_names_in_.tolist() == list("abcde")
    assert loaded.classes_.tolist() == ["joy", "anger", "calm"]
    assert loaded.score(X, Y) == model.score(X, Y)
    pd.testing.assert_frame_equal(clone(loaded).fit(X, Y).predict(X), model.predict(X))


def n_wrong(Y, Z):
    return (Y != Z).sum(axis=1)


def first_wrong(Y, Z):
    return Y[:, 0] != Z[:, 0]


COST_SENSITIVE = [cls for cls in estimators() if "cost" in inspect.signature(cls).parameters]


@pytest.mark.parametrize("cls", COST_SENSITIVE)
@pytest.mark.parametrize(
    "cost", ["rank", refpair.get_cost("f2"), Cost.per_label(false_negative=[1, 5, 0.1])], ids=str
)
def test_costs_come_back(cls, cost, data, tmp_path):
    model = small_model(cls, cost).fit(*data)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.cost == cost
    assert loaded.cost_ == model.cost_
    assert_same(loaded, model, data[0])


@pytest.mark.parametrize("cls", COST_SENSITIVE)
def test_a_function_is_asked_for(cls, data, tmp_path):
    model = small_model(cls, n_wrong).fit(*data)
    save(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"'n_wrong' is a Python function.*load\(path, cost="):
        load(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted with the cost 'first_wrong'"):
        load(tmp_path / "m", cost=first_wrong)
    loaded = load(tmp_path / "m", cost=n_wrong)
    assert loaded.cost is n_wrong
    assert_same(loaded, model, data[0])


def small_model(cls, cost):
    if cls is CostGuarantee:  # the model in it has a cost of its own
        return cls(small_model(CSRPEClassifier, "f1"), coverage=1, cost=cost)
    model = cls(RandomForestClassifier(3)) if cls.__name__.startswith("Bayes") else cls()
    small = {name: value for name, value in SMALL.items() if name in model.get_params()}
    return model.set_params(cost=cost, **small)


def test_a_cost_for_a_model_without_one_is_refused(data, tmp_path):
    save(BinaryRelevance("tree").fit(*data), tmp_path / "m")
    with pytest.raises(ValueError, match="a BinaryRelevance has no cost"):
        load(tmp_path / "m", cost="f1")


@pytest.mark.parametrize("estimator", ["forest", "logistic", LogisticRegression()], ids=str)
@pytest.mark.parametrize("cls", [cls for cls in estimators() if issubclass(cls, MultiLabelClassifier)])
def test_labels_that_never_vary(cls, estimator, data, tmp_path):
    """Where there is nothing to learn, numbers stand for classifiers."""
    X, Y = data[0], data[1].copy()
    Y[:, 1], Y[:, 2] = 1, 0
    parameters = inspect.signature(cls).parameters
    if cls is CSRPEClassifier:
        model = cls(estimator="tree" if isinstance(estimator, str) else estimator)
    elif cls.__name__.startswith("Bayes"):
        model = cls(ClassifierChain(LogisticRegression()))
    else:
        model = cls(estimator)
    model.set_params(**{name: value for name, value in SMALL.items() if name in parameters}).fit(X, Y)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, X)


def test_a_shortened_model(data, tmp_path):
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(*data).shorten(7)
    save(model, tmp_path / "m")
    assert_same(load(tmp_path / "m"), model, data[0])
