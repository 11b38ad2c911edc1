"""What all classifiers have in common; new ones are tested here without a change."""

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import refpair
from refpair import Cost
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._reduction import ReductionClassifier
from tests.classifiers.common import (
    CLASSES,
    NOT_COPIES,
    learner_parameter,
    make,
    make_with,
    names_with,
    parameters,
)

FEATURES, LABELS = [f"x{i}" for i in range(6)], ["joy", "calm", "anger", "fear"]

each = pytest.mark.parametrize("name", CLASSES)


@pytest.fixture(scope="module")
def data(small):
    """Return training rows, their labels, and other rows."""
    X, Y = small
    return X[:70], Y[:70], X[70:]


def answers(model, X):
    """Return all that a fitted model says of rows."""
    said = {"predict": np.asarray(model.predict(X))}
    if hasattr(model, "predict_proba"):
        said["predict_proba"] = model.predict_proba(X)
    return said


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, said in first.items():
        np.testing.assert_array_equal(said, second[name])


# ---- the package ----


def test_every_classifier_is_exported():
    modules = [
        importlib.import_module(f"refpair.classifiers.{module.name}")
        for module in pkgutil.iter_modules(refpair.classifiers.__path__)
        if not module.name.startswith("_")
    ]
    defined = {
        name
        for module in modules
        for name, found in vars(module).items()
        if inspect.isclass(found)
        and issubclass(found, MultiLabelClassifier)
        and found.__module__ == module.__name__
    }
    assert defined == set(CLASSES)
    assert defined <= set(refpair.__all__)
    assert all(getattr(refpair, name) is cls for name, cls in CLASSES.items())


@parametrize_with_checks(
    [make(name) for name in CLASSES],
    expected_failed_checks=lambda model: NOT_COPIES if isinstance(model, refpair.CSRPEClassifier) else {},
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@each
def test_parameters_are_documented(name):
    documentation = inspect.getdoc(CLASSES[name])
    for parameter in parameters(CLASSES[name]):
        assert f"\n{parameter} : " in documentation
    for section in ("Parameters", "Attributes", "Examples"):
        assert f"\n{section}\n---" in documentation


# ---- kinds of data ----


@each
def test_sparse_features(data, name):
    X, Y, others = data
    model, dense = make(name), make(name).fit(X, Y)
    for kind in (sp.csr_array, sp.csc_matrix):
        assert_same(answers(model.fit(kind(X), Y), kind(others)), answers(dense, others))
    assert_same(answers(model, others), answers(dense, others))


@each
def test_labels_come_back_in_their_kind(data, name):
    X, Y, others = data
    expected = make(name).fit(X, Y).predict(others)
    assert expected.dtype == Y.dtype
    assert set(np.unique(expected)) <= {0, 1}
    for kind in (sp.csr_array, sp.csr_matrix):
        predicted = make(name).fit(X, kind(Y)).predict(others)
        assert type(predicted) is sp.csr_matrix
        np.testing.assert_array_equal(predicted.toarray(), expected)
    for dtype in (bool, np.uint8, np.float32):
        predicted = make(name).fit(X, Y.astype(dtype)).predict(others)
        assert predicted.dtype == dtype
        np.testing.assert_array_equal(predicted.astype(int), expected)
    np.testing.assert_array_equal(make(name).fit(X.tolist(), Y.tolist()).predict(others.tolist()), expected)


@each
def test_frames_keep_their_names(data, name):
    X, Y, others = data
    frame = pd.DataFrame(X, columns=FEATURES, index=[f"row {i}" for i in range(len(X))])
    model = make(name).fit(frame, pd.DataFrame(Y, columns=LABELS, index=frame.index))
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.classes_.tolist() == LABELS
    new = pd.DataFrame(others, columns=FEATURES, index=np.arange(len(others)) + 7)
    predicted = model.predict(new)
    assert list(predicted.columns) == LABELS
    assert predicted.index.equals(new.index)
    np.testing.assert_array_equal(predicted, make(name).fit(X, Y).predict(others))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(new[FEATURES[::-1]])
    with pytest.raises(ValueError, match="the labels of the model are"):
        model.score(frame, pd.DataFrame(Y, columns=LABELS[::-1]))
    with pytest.raises(ValueError, match=f"X has 5 features, but {name} is expecting 6"):
        make(name).fit(X, Y).predict(others[:, :5])


@each
def test_missing_values(data, name):
    X, Y, others = data
    X, others = np.where(X > 1.0, np.nan, X), np.where(others < -1.0, np.nan, others)
    model = make(name)
    if get_tags(model).input_tags.allow_nan:
        assert model.fit(X, Y).predict(others).shape == (50, 4)
    else:
        with pytest.raises(ValueError, match="NaN"):
            model.fit(X, Y)
    with pytest.raises(ValueError, match="infinity"):
        make(name).fit(np.where(np.isnan(X), np.inf, X), Y)


@each
def test_every_kind_of_features(data, name):
    X, Y, _ = data
    X = X.round(1)
    expected = make(name).fit(X, Y).predict(X)
    frame = pd.DataFrame(X, columns=FEATURES)
    for kind in (
        X.tolist(), np.asfortranarray(X), X.astype(object), sp.coo_array(X), frame, frame.convert_dtypes(),
        frame.astype(pd.SparseDtype("float64", 0.0)), pl.DataFrame(X, schema=FEATURES),
    ):  # fmt: skip
        np.testing.assert_array_equal(make(name).fit(kind, Y).predict(kind), expected)
    with pytest.raises(ValueError, match=r"column 'x0' does not hold numbers.*TableVectorizer"):
        make(name).fit(frame.assign(x0="word"), Y)


@each
def test_what_is_no_label_is_named(data, name):
    X, Y, _ = data
    wrong = Y.copy()
    wrong[5, 1] = 2
    with pytest.raises(ValueError, match="0/1, boolean or yes/no: column 1 has 2 in row 5"):
        make(name).fit(X, wrong)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make(name).fit(X, Y[:-1])


# ---- little to learn ----


@each
def test_constant_labels(data, name):
    X, Y, others = data
    zero, one = np.zeros(len(X), int), np.ones(len(X), int)
    predicted = make(name).fit(X, np.column_stack([zero, Y[:, 0], one, zero, Y[:, 1]])).predict(others)
    assert (predicted[:, [0, 2, 3]] == [0, 1, 0]).all()
    assert 0 < predicted[:, 1].mean() < 1
    for vector in ([0, 0, 0], [1, 1, 1], [1, 0, 1], [0], [1]):
        model = make(name).fit(X, np.tile(vector, (len(X), 1)))
        assert (model.predict(others) == vector).all()
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(model.predict_proba(others), np.tile(vector, (50, 1)), atol=1e-5)


@each
def test_a_single_label(data, name):
    X, Y, others = data
    column = make(name).fit(X, Y[:, :1])
    assert column.predict(others).shape == (50, 1)
    words = np.where(Y[:, 0], "yes", "no")
    named = make(name).fit(X, words)
    assert named.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(named.predict(others) == "yes", column.predict(others)[:, 0])
    assert named.score(X, words) == column.score(X, Y[:, :1])
    if hasattr(named, "predict_proba"):
        p = named.predict_proba(others)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(p[:, 1], column.predict_proba(others)[:, 0])
    assert make(name).fit(X, ["yes"] * len(X)).predict(others[:2]).tolist() == ["yes", "yes"]


@each
def test_one_row(name):
    model = make(name).fit([[1.0, 2.0]], [[1, 0, 1]])
    assert model.predict([[5.0, 2.0], [0.0, 0.0]]).tolist() == [[1, 0, 1]] * 2


@each
def test_a_model_can_be_fitted_again_on_other_data(data, name):
    X, Y, others = data
    model = make(name).fit(pd.DataFrame(X, columns=FEATURES), pd.DataFrame(Y, columns=LABELS))
    assert model.fit(X[:50, :3], Y[:50, :2]) is model
    assert (model.n_features_in_, model.classes_.tolist()) == (3, [0, 1])
    assert not hasattr(model, "feature_names_in_")
    assert_same(answers(model, others[:, :3]), answers(make(name).fit(X[:50, :3], Y[:50, :2]), others[:, :3]))


# ---- seeds and threads ----


@each
def test_the_seed_decides_everything(data, name):
    X, Y, others = data
    expected = answers(make(name).fit(X, Y), others)
    assert_same(answers(make(name).fit(X, Y), others), expected)
    assert_same(answers(make(name, n_jobs=2).fit(X, Y), others), expected)
    state = np.random.RandomState(3)
    other = make(name, random_state=state).fit(X, Y)
    again = make(name, random_state=np.random.RandomState(3)).fit(X, Y)
    assert_same(answers(other, others), answers(again, others))
    make(name, random_state=None).fit(X, Y)


@each
def test_copies(data, name):
    X, Y, others = data
    model = make(name).fit(X, Y)
    expected = answers(model, others)
    assert_same(answers(pickle.loads(pickle.dumps(model)), others), expected)
    copy = clone(model)
    with pytest.raises(Exception, match="not fitted yet"):
        check_is_fitted(copy)
    assert_same(answers(copy.fit(X, Y), others), expected)


# ---- other tools ----


@each
def test_pipelines_and_searches(data, name):
    X, Y, others = data
    pipeline = make_pipeline(StandardScaler(), make(name)).fit(X, Y)
    scaler = StandardScaler().fit(X)
    alone = make(name).fit(scaler.transform(X), Y)
    np.testing.assert_array_equal(pipeline.predict(others), alone.predict(scaler.transform(others)))
    grid = {f"{name.lower()}__random_state": [0, 1]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, Y)
    assert search.predict(others).shape == (50, 4)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])


@each
def test_the_score_is_greater_for_the_better(data, name):
    X, Y, _ = data
    model = make(name).fit(X, Y)
    assert model.score(X, Y) > model.score(X, 1 - Y)
    predicted = model.predict(X)
    if "cost" in parameters(CLASSES[name]):
        assert model.score(X, Y) == -(predicted != Y).mean()
    else:
        assert model.score(X, Y) == pytest.approx((predicted == Y).all(axis=1).mean())
    weights = np.arange(len(X)) % 3  # a row that counts twice is as good as two rows
    twice = np.repeat(np.arange(len(X)), weights)
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(model.score(X[twice], Y[twice]))


@each
def test_a_classifier_of_scikit_learn_as_the_learner(data, name):
    X, Y, others = data
    model = make_with(name, GaussianNB())
    assert not get_tags(model).input_tags.sparse
    assert (model.fit(X, Y).predict(X) == Y).mean() > 0.7
    assert_same(answers(clone(model).set_params(n_jobs=2).fit(X, Y), others), answers(model, others))
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        model.fit(sp.csr_array(X), Y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 1.0, np.nan, X), Y)


# ---- costs ----


@pytest.mark.parametrize("name", names_with("cost"))
def test_a_cost_of_ones_own(data, name):
    X, Y, others = data
    missed = Cost.from_counts(lambda tp, fp, fn, tn: fp + 30 * fn, name="missed")
    learner = LogisticRegression(C=0.1)  # a tree is too sure of what it says for the cost to matter
    model = make_with(name, learner, cost=missed).fit(X, Y)
    assert model.cost_ is missed
    assert model.predict(others).sum() > make_with(name, learner).fit(X, Y).predict(others).sum() + 10
    assert model.score(X, Y) == -missed.mean(Y, model.predict(X))
    for cost in ("f1", "rank", "zero_one", Cost.per_label(false_negative=[1, 2, 3, 4])):
        assert make(name, cost=cost).fit(X, Y).predict(others).shape == (50, 4)
    for wrong, message in [
        ("haming", "did you mean 'hamming'"),
        (3, "cost must be a name, a Cost or a function, not 3"),
        (Cost.per_label(false_negative=[1, 2, 3]), "has 3 prices for 4 labels"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(name, cost=wrong).fit(X, Y)


# ---- parameters ----


@each
def test_bad_parameters_are_named(data, name):
    X, Y, _ = data
    known = parameters(CLASSES[name])
    wrong = {"n_jobs": [0, 1.5, "two"], "random_state": ["seed", -1], "verbose": [-1, "yes", None]}
    for parameter, default in known.items():
        if isinstance(default, bool):
            wrong[parameter] = [1, None, "yes"]
        elif isinstance(default, str):
            wrong[parameter] = ["no such", 1.5]
        elif isinstance(default, int) and parameter not in wrong:
            wrong[parameter] = [0, -1, 2.5, "many", True]
    wrong |= {
        parameter: ["no such", [[0, 1], [2]], [-1]]
        for parameter in ("order", "labelsets")
        if parameter in known
    }
    wrong |= {parameter: [0, 1.5] for parameter in ("n_labelsets", "code_length") if parameter in known}
    wrong |= {learner_parameter(name): ["no such", None, GaussianNB, LinearRegression()]}
    for parameter, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=rf"\b{parameter}\b"):
                make(name, **{parameter: value}).fit(X, Y)


@pytest.mark.parametrize(
    "name", [name for name, cls in CLASSES.items() if issubclass(cls, ReductionClassifier)]
)
def test_unknown_learners_are_answered_with_the_choices(data, name):
    X, Y, _ = data
    message = 'estimator must be a classifier of scikit-learn or one of "tree", "forest", "logistic", not'
    with pytest.raises(ValueError, match=message):
        make(name, estimator="neighbours").fit(X, Y)


@each
def test_nothing_is_answered_before_fit(data, name):
    X, Y, _ = data
    for method in ("predict", "predict_proba", "predict_set_proba", "expected_cost"):
        if hasattr(make(name), method):
            with pytest.raises(Exception, match="not fitted yet"):
                getattr(make(name), method)(X)
    with pytest.raises(Exception, match="not fitted yet"):
        make(name).score(X, Y)
