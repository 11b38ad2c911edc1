"""What `sample_weight` is in `fit`: a row of weight 2 is there twice, one of weight 0 is not there."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from refpair import (
    BayesDecisionClassifier,
    BinaryRelevance,
    CSRPEClassifier,
    Forest,
    LabelPowerset,
    Logistic,
    ProbabilisticChain,
    load,
    save,
)
from refpair.classifiers._reduction import ReductionClassifier
from tests.classifiers.common import CLASSES, make

NAMES = [name for name, cls in CLASSES.items() if has_fit_parameter(cls, "sample_weight")]
REDUCTIONS = [name for name in NAMES if issubclass(CLASSES[name], ReductionClassifier)]
LEARNERS = {
    "tree": "tree",
    "forest": Forest(3, max_samples=None),
    "leaves": Forest(2, max_samples=None, min_samples_leaf=4),
}

each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def weighted(small):
    """Return rows, their labels and weights, of which some are 0, and the rows repeated in another order."""
    X, Y = small
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(X))
    return X, Y, weight, rng.permutation(np.repeat(np.arange(len(X)), weight))


def arrays(part, seen=None):
    """Yield all arrays of numbers that a model is made of."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield part
    elif isinstance(part, dict):
        for key in sorted(part, key=str):
            if key != "words":  # the nodes once more, made when they are first asked for
                yield from arrays(part[key], seen)
    elif isinstance(part, list | tuple):
        for item in part:
            yield from arrays(item, seen)
    elif hasattr(part, "__dict__"):
        yield from arrays(vars(part), seen)


def assert_same_model(model, other, X):
    ours, theirs = list(arrays(model)), list(arrays(other))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


def without_bags(name):
    """Return a classifier that draws no rows."""
    return make(name, **{"calibrate": False} if name == "BayesDecisionClassifier" else {})


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_weight_is_worth_as_many_rows(weighted, name, learner):
    X, Y, weight, rows = weighted
    model = make(name, estimator=LEARNERS[learner])
    expected = make(name, estimator=LEARNERS[learner]).fit(X[rows], Y[rows])
    assert_same_model(model.fit(X, Y, weight), expected, X)
    cut = X * (np.abs(X) > 1.0)  # mostly zeros
    expected = make(name, estimator=LEARNERS[learner]).fit(cut[rows], Y[rows])
    for kind in (np.asarray, sp.csr_array, sp.coo_array):
        assert_same_model(model.fit(kind(cut), Y, sample_weight=weight), expected, cut)


@pytest.mark.parametrize("learner", [Logistic(), LogisticRegression(tol=1e-12, max_iter=1000), GaussianNB()])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_weight_is_worth_as_many_rows_but_for_rounding(weighted, name, learner):
    X, Y, weight, rows = weighted
    model = make(name, estimator=learner).fit(X, Y, weight)
    other = make(name, estimator=learner).fit(X[rows], Y[rows])
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    for a, b in zip(arrays(model), arrays(other), strict=True):
        if a.dtype == float and not np.array_equal(a, b):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6 if isinstance(learner, Logistic) else 1e-4)


@each
def test_rows_of_weight_0_are_not_there(weighted, name):
    X, Y, weight, _ = weighted
    kept = np.flatnonzero(weight)
    how = {"estimator": "forest"} if name in REDUCTIONS else {}
    if name == "BayesDecisionClassifier":
        how = {"calibrate": False, "estimator": RandomForestClassifier(5, random_state=0)}
    expected = make(name, **how).fit(X[kept], Y[kept], weight[kept])
    assert_same_model(make(name, **how).fit(X, Y, weight), expected, X)
    expected = make(name, **how).fit(X[kept], Y[kept])
    assert_same_model(make(name, **how).fit(X, Y, np.minimum(weight, 1)), expected, X)
    # What is there only in rows that are left out is not known: neither missing values nor labels.
    strange, labels = X.copy(), [list(np.flatnonzero(row)) for row in Y]
    strange[weight == 0] = np.inf
    labels = [
        ["new"] if w == 0 else [f"label {k}" for k in row] for row, w in zip(labels, weight, strict=True)
    ]
    for kind in (np.asarray, pd.DataFrame, pl.DataFrame, np.ndarray.tolist):
        model = make(name, **how).fit(kind(strange), labels, np.minimum(weight, 1))
        assert model.classes_.tolist() == [f"label {k}" for k in range(Y.shape[1])]


@pytest.mark.parametrize("estimator", ["tree", "logistic"])
@pytest.mark.parametrize("cost", ["hamming", "rank"])
def test_the_nearest_code_of_weighted_rows(weighted, cost, estimator):
    X, Y, weight, rows = weighted
    model = CSRPEClassifier(cost, n_bits=60, decoder="nearest", estimator=estimator, random_state=0)
    cut = X * (np.abs(X) > 1.0)
    for kind in (np.asarray, sp.csr_array):
        found = model.fit(kind(cut), Y, weight)
        said = found.predict_code(cut), found.predict(cut), found.relevant_counts_, found.code_.alpha
        other = model.fit(kind(cut[rows]), Y[rows])
        for ours, theirs in zip(
            said,
            (other.predict_code(cut), other.predict(cut), other.relevant_counts_, other.code_.alpha),
            strict=True,
        ):
            np.testing.assert_array_equal(ours, theirs)


def test_a_posterior_goes_by_the_weights():
    """Of two kinds of rows that contradict each other, the heavier is believed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    Y = (X[:, :3] > 0).astype(int)
    wrong = np.arange(400) % 2 == 1
    contradicting = np.where(wrong[:, None], 1 - Y, Y)
    weight = np.where(wrong, 0.2, 1.3)
    model = CSRPEClassifier("f1", n_bits=100, random_state=0).fit(X, contradicting, weight)
    assert (model.predict(X) == Y).mean() > 0.9
    assert model.oob_cost_ < CSRPEClassifier("f1", n_bits=100, random_state=0).fit(X, contradicting).oob_cost_
    p = model.predict_proba(X)
    share = weight[~wrong].sum() / weight.sum()  # of rows whose labels follow from the features
    assert abs(np.where(Y, p, 1 - p).mean() - share) < 0.1
    assert model.relevant_counts_.sum() == pytest.approx(weight.sum())


@each
def test_equal_weights_of_1_are_none(weighted, name):
    X, Y, _, _ = weighted
    assert_same_model(make(name).fit(X, Y, np.ones(len(X))), make(name).fit(X, Y), X)


@each
def test_wrong_weights_are_named(weighted, name):
    X, Y, weight, _ = weighted
    n = len(X)
    for wrong, message in [
        (np.ones(n - 1), rf"sample_weight must be {n} numbers, one a row, not of shape \({n - 1},\)"),
        (np.ones((n, 1)), "sample_weight must be"),
        (3.0, "sample_weight must be"),
        (["a"] * n, "sample_weight must be numbers"),
        (
            np.where(weight == 2, np.nan, 1),
            "sample_weight must be finite and not negative, but is nan in row",
        ),
        (np.where(weight == 2, np.inf, 1), "sample_weight must be finite"),
        (weight - 1, "sample_weight must be finite and not negative, but is -1.0 in row"),
        (weight * 1e300, "the largest sample_weight must be from 1e-12 to 1e[+]12, but is .*: scale all"),
        (weight * 1e-300, "the largest sample_weight must be"),
        (np.zeros(n), "sample_weight is zero for all rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(name).fit(X, Y, sample_weight=wrong)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        make(name).fit(X, Y[:-1], weight)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_learners_without_weights_are_named(weighted, name):
    X, Y, weight, _ = weighted
    learner = make_pipeline(KNeighborsClassifier())
    if name != "CondensedFilterTree":  # it always needs weights
        make(name, estimator=learner).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"(?s)estimator must take sample_weight in fit, which Pipeline.*does not"
    ):
        make(name, estimator=learner).fit(X, Y, weight)


def test_weights_that_are_not_whole():
    """Heavier rows decide; the size of all weights together does not matter to trees."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    noisy = np.arange(300) % 2 == 1
    wrong = np.where(noisy[:, None], 1 - Y, Y)
    weight = np.where(noisy, 0.15, 1.7)
    for model in (
        BinaryRelevance(Forest(max_depth=3)), LabelPowerset(Forest(max_depth=3)), BinaryRelevance("logistic"),
        ProbabilisticChain(Forest(max_depth=3), cost="hamming"),
    ):  # fmt: skip
        model.set_params(random_state=0)
        assert (model.fit(X, wrong, weight).predict(X) == Y).mean() > 0.9
        if model.estimator != "logistic":
            predicted = model.predict(X)
            np.testing.assert_array_equal(model.fit(X, wrong, weight * 0.25).predict(X), predicted)


# ---- estimators of scikit-learn ----


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        ExtraTreesClassifier(5, max_depth=3, random_state=0),
        MultiOutputClassifier(LogisticRegression(tol=1e-10)),
        LogisticRegression(tol=1e-10),
        make_pipeline(StandardScaler().set_output(), DecisionTreeClassifier(max_depth=3, random_state=0)),
        make_pipeline(make_pipeline(DecisionTreeClassifier(max_depth=3, random_state=0))),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_weights_are_passed_on(weighted, estimator):
    X, Y, weight, rows = weighted
    X = (X - X[rows].mean(axis=0)) / X[rows].std(axis=0)  # no scaler changes them
    model = BayesDecisionClassifier(estimator, calibrate=False).fit(X, Y, weight)
    used = np.flatnonzero(weight)
    plain = BayesDecisionClassifier(estimator, calibrate=False).fit(X[used], Y[used])
    assert not np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    if not isinstance(estimator, ExtraTreesClassifier) and "standardscaler" not in estimator.get_params():
        other = BayesDecisionClassifier(estimator, calibrate=False).fit(X[rows], Y[rows])
        np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-5)


def test_searches_are_given_weights(weighted):
    X, Y, weight, _ = weighted
    pipeline = make_pipeline(DecisionTreeClassifier(random_state=0))
    for estimator, grid in [
        (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
        (pipeline, {"decisiontreeclassifier__max_depth": [1, 3]}),
    ]:
        search = GridSearchCV(estimator, grid, cv=3)
        model = BayesDecisionClassifier(search, calibrate=False).fit(X, Y, weight)
        depth = next(iter(model.estimator_.best_params_.values()))
        alone = DecisionTreeClassifier(max_depth=depth, random_state=0)
        expected = BayesDecisionClassifier(alone, calibrate=False).fit(X, Y, weight)
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (KNeighborsClassifier(), "KNeighborsClassifier"),
        (MultiOutputClassifier(KNeighborsClassifier()), "KNeighborsClassifier"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "KNeighborsClassifier"),
        (ClassifierChain(LogisticRegression()), "ClassifierChain"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_estimators_without_weights_are_named(weighted, estimator, named):
    X, Y, weight, _ = weighted
    with pytest.raises(ValueError, match=rf"estimator must take sample_weight in fit, which {named}"):
        BayesDecisionClassifier(estimator).fit(X, Y, weight)


def test_leaves_count_rows_by_weight():
    X, Y = np.zeros((4, 1)), np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    weight = np.array([4.0, 3.0, 2.0, 1.0])
    model = BayesDecisionClassifier(DecisionTreeClassifier(), calibrate=False).fit(X, Y, weight)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.6]])
    vectors, chances = model.predict_set_proba(X[:1])
    np.testing.assert_array_equal(vectors[0, :4], Y)
    np.testing.assert_allclose(chances[0, :4], weight / 10)
    forest = RandomForestClassifier(300, random_state=0)
    model = BayesDecisionClassifier(forest, calibrate=False, random_state=0).fit(X, Y, weight)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.5, 0.6]], atol=0.05)


# ---- metadata routing ----


@each
def test_requests_are_those_of_scikit_learn(weighted, name):
    X, Y, weight, _ = weighted
    with config_context(enable_metadata_routing=True):
        model = without_bags(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        if name == "BayesDecisionClassifier":
            model.estimator.set_fit_request(sample_weight=True)
        pipeline = make_pipeline(model).fit(X, Y, sample_weight=weight)
        expected = without_bags(name).fit(X, Y, weight) if name != "BayesDecisionClassifier" else None
        if expected is not None:
            np.testing.assert_array_equal(pipeline.predict(X), expected.predict(X))
        assert pipeline.score(X, Y, sample_weight=weight) == pipeline[-1].score(X, Y, weight)
    if expected is None:
        expected = without_bags(name).fit(X, Y, weight)
        np.testing.assert_array_equal(pipeline.predict(X), expected.predict(X))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_models_with_requests_can_be_saved(weighted, name, tmp_path):
    X, Y, weight, _ = weighted
    with config_context(enable_metadata_routing=True):
        model = make(name).set_fit_request(sample_weight=True).fit(X, Y, weight)
    save(model, tmp_path / "model.refpair")
    np.testing.assert_array_equal(load(tmp_path / "model.refpair").predict(X), model.predict(X))


def test_routing_goes_through_pipelines_and_chains(weighted):
    X, Y, weight, _ = weighted
    with config_context(enable_metadata_routing=True):
        learner = LogisticRegression().set_fit_request(sample_weight=True)
        for estimator in (make_pipeline(learner), ClassifierChain(learner), MultiOutputClassifier(learner)):
            model = BayesDecisionClassifier(estimator, calibrate=False, random_state=0)
            plain = model.fit(X[weight > 0], Y[weight > 0]).predict_proba(X)
            assert not np.array_equal(model.fit(X, Y, weight).predict_proba(X), plain)
        with pytest.raises(ValueError, match="sample_weight"):
            BayesDecisionClassifier(make_pipeline(LogisticRegression())).fit(X, Y, weight)
