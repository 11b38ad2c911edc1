"""Lists of labels: ``predict_top``, and classifiers that are fitted for costs of lists."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from refpair import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, get_cost, load, save
from refpair.decision import top_labels
from refpair.posterior import IndependentLabels
from tests.classifiers.common import CLASSES, make, names_with

NAMES = ["joy", "calm", "anger", "fear"]
COSTS = ("precision@2", "recall@1", "ndcg@3")
DECIDE = ("CSRPEClassifier", "BayesDecisionClassifier", "ProbabilisticChain")

each_cost = pytest.mark.parametrize("cost", COSTS)


@pytest.fixture(scope="module")
def data(small):
    X, Y = small
    return X[:80], Y[:80], X[80:], Y[80:]


def own_lists(model, X, cost):
    """Return the lists by what a model knows, one block after the other."""
    if hasattr(model, "_marginals"):
        return top_labels(IndependentLabels(model._marginals(X)), cost)
    return np.concatenate([top_labels(p, cost) for _, p in model._distributions(X, cost)])


@pytest.mark.parametrize("name", CLASSES)
def test_all_that_know_probabilities_list_labels(data, name):
    X, Y, others, _ = data
    model = make(name).fit(X, Y)
    assert hasattr(model, "predict_top") == hasattr(model, "predict_proba")
    if not hasattr(model, "predict_proba"):
        return
    by_probability, chances = model.predict_top(others)
    assert by_probability.shape == chances.shape == (len(others), 4)
    proba = model.predict_proba(others)
    np.testing.assert_array_equal(by_probability, np.argsort(-proba, axis=1, kind="stable"))
    np.testing.assert_array_equal(chances, np.take_along_axis(proba, by_probability, axis=1))
    cost = get_cost("recall@2")
    labels, chances = model.predict_top(others, cost=cost)
    np.testing.assert_array_equal(labels, own_lists(model, others, cost))
    np.testing.assert_array_equal(chances, np.take_along_axis(proba, labels, axis=1))
    assert model.predict_top(others, 3, "recall@2")[0].shape == (len(others), 3)


@pytest.mark.parametrize("name", DECIDE)
@each_cost
def test_models_for_lists(data, name, cost):
    X, Y, others, truths = data
    model = make(name, cost=cost).fit(X, Y)
    lists, _ = model.predict_top(others)
    assert lists.shape == (len(others), model.cost_.k)
    for answer in (model.predict(others), make(name).fit(X, Y).decide(others, cost)):
        assert answer.dtype == Y.dtype
        assert (answer.sum(axis=1) == model.cost_.k).all()
    np.testing.assert_array_equal(
        np.sort(lists, axis=1), np.nonzero(model.predict(others))[1].reshape(lists.shape)
    )
    assert (
        model.score(others, truths)
        == get_cost(cost).mean(truths, lists)
        == get_cost(cost)(model, others, truths)
    )
    told = model.expected_cost(others)
    np.testing.assert_allclose(model.expected_cost(others, model.predict(others)), told)


@each_cost
def test_they_come_back_from_files(data, tmp_path, cost):
    X, Y, others, truths = data
    model = make("CSRPEClassifier", cost=cost).fit(X, Y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.cost_ == get_cost(cost)
    assert again.score(others, truths) == model.score(others, truths)
    for one, other in zip(again.predict_top(others), model.predict_top(others), strict=True):
        np.testing.assert_array_equal(one, other)


def test_names_of_labels(data):
    X, Y, others, truths = data
    named, truths = pd.DataFrame(Y, columns=NAMES), pd.DataFrame(truths, columns=NAMES)
    model = make("CSRPEClassifier", cost="ndcg@2").fit(X, named)
    lists, _ = model.predict_top(others)
    assert lists.dtype == object
    numbers, _ = make("CSRPEClassifier", cost="ndcg@2").fit(X, Y).predict_top(others)
    np.testing.assert_array_equal(lists, np.array(NAMES, object)[numbers])
    assert get_cost("ndcg@2").mean(truths, lists) == model.score(others, truths)
    joined = ["|".join(np.array(NAMES)[row == 1]) for row in Y]
    assert make("CSRPEClassifier", cost="ndcg@2").fit(X, joined).predict_top(others)[0][0, 0] in NAMES


def test_a_single_label(data):
    X, Y, others, truths = data
    model = make("CSRPEClassifier", cost="precision@3").fit(X, np.array(["no", "yes"])[Y[:, 0]])
    lists, chances = model.predict_top(others)
    assert set(lists.ravel()) == {"yes"}
    np.testing.assert_array_equal(chances[:, 0], model.predict_proba(others)[:, 1])
    assert model.score(others, np.array(["no", "yes"])[truths[:, 0]]) == truths[:, 0].mean()


def test_unknown_labels_are_passed_over(data):
    X, Y, others, truths = data
    gaps = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    model = make("CSRPEClassifier", cost="precision@2").fit(X, gaps)
    unknown = truths.astype(float)
    lists, _ = model.predict_top(others, 4)
    unknown[np.arange(len(others)), lists[:, 0]] = np.nan
    assert model.score(others, unknown) == pytest.approx(get_cost("precision@2").mean(truths, lists[:, 1:]))


@pytest.mark.parametrize("cost", ["recall@2", "ndcg@3"])
def test_searches_pipelines_and_classifiers_of_scikit_learn(data, cost):
    X, Y, others, truths = data
    pipeline = make_pipeline(StandardScaler(), BinaryRelevance("tree", random_state=0))
    scorer = get_cost(cost).scorer()
    search = GridSearchCV(
        pipeline, {"binaryrelevance__estimator": ["tree", "logistic"]}, scoring=scorer, cv=2
    )
    search.fit(X, Y)
    assert 0 < search.best_score_ <= 1
    scaled = search.best_estimator_[:-1].transform(others)
    lists, _ = search.best_estimator_[-1].predict_top(scaled, cost=cost)
    assert scorer(search, others, truths) == get_cost(cost).mean(truths, lists)
    Y = Y.copy()
    Y[:, 3] = 1  # nearly: logistic regression needs two classes
    Y[0, 3] = 0
    for model in (
        RandomForestClassifier(5, random_state=0),
        MultiOutputClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
    ):
        told = np.column_stack([p[:, 1] for p in model.fit(X, Y).predict_proba(others)])
        lists = np.argsort(-told, axis=1, kind="stable")
        assert scorer(model, others, truths) == get_cost(cost).mean(truths, lists)


def test_a_label_that_a_forest_has_never_seen(data):
    X, Y, others, _ = data
    Y = np.column_stack([np.zeros(len(Y), int), Y, np.ones(len(Y), int)])
    forest = RandomForestClassifier(20, max_depth=2, random_state=0)
    lists = get_cost("recall@6").lists_of(forest.fit(X, Y), others)
    assert (lists[:, 0] == 5).all()
    assert (lists[:, -1] == 0).all()


def test_models_without_an_order_are_refused(data):
    X, Y, others, truths = data
    message = "the cost 'recall@2' needs an order of labels, and .* has no probabilities"
    nearest = make("CSRPEClassifier", decoder="nearest").fit(X, Y)
    for model in (nearest, MultiOutputClassifier(LinearSVC()).fit(X, Y)):
        with pytest.raises(ValueError, match=message):
            get_cost("recall@2")(model, others, truths)
    with pytest.raises(ValueError, match='decoder="nearest" needs a cost of label vectors'):
        CSRPEClassifier("recall@2", decoder="nearest").fit(X, Y)
    with pytest.raises(ValueError, match='inference="sample"'):
        make("ProbabilisticChain", cost="recall@2", inference="exact").fit(X, Y)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"k": 0}, "k must be an integer of at least 1, not 0"),
        ({"k": 2.5}, "k must be an integer"),
        ({"cost": "f1"}, 'cost must be one of lists, such as "precision@3" or "ndcg@10", not \'f1\''),
        ({"cost": "precision"}, "unknown cost"),
    ],
)
def test_wrong_arguments_of_predict_top(data, how, message):
    X, Y, others, _ = data
    with pytest.raises(ValueError, match=message):
        make("BinaryRelevance").fit(X, Y).predict_top(others, **how)


def test_dummies_have_probabilities(data):
    X, Y, others, _ = data
    model = BayesDecisionClassifier(DummyClassifier(strategy="prior"), cost="precision@1").fit(X, Y)
    assert (model.predict_top(others)[0] == Y.mean(axis=0).argmax()).all()


def test_every_model_with_a_cost_is_tried():
    assert set(names_with("cost")) == {*DECIDE, "CondensedFilterTree"}
