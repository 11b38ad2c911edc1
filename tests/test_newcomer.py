"""What people who know scikit-learn try first, each of which could quietly give a wrong number."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, f1_score, jaccard_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import refpair
from refpair import BinaryRelevance, Cost, CSRPEClassifier, LabelPowerset, get_cost
from refpair.active import BayesRisk, CostSensitiveUncertainty, RepresentativeUncertainty
from refpair.labeling import Session
from tests.classifiers.common import CLASSES, make, names_with

NAMES = ["spam", "fraud", "joy", "anger"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    return X, (X @ rng.standard_normal((6, 4)) + 0.3 * rng.standard_normal((120, 4)) > 0.2).astype(int)


def csrpe(cost="f1", **how):
    return CSRPEClassifier(cost, n_bits=20, random_state=0, **how)


# ---- a cost in the grid ----


@pytest.mark.parametrize("within", ["alone", "pipeline"])
def test_a_cost_in_the_grid_needs_a_scorer(data, within):
    X, Y = data
    model = csrpe() if within == "alone" else make_pipeline(StandardScaler(), csrpe())
    grid = {"cost" if within == "alone" else "csrpeclassifier__cost": ["f1", "hamming", "rank"]}
    with pytest.warns(UserWarning, match=r'scoring=get_cost\("f1"\)\.scorer\(\)') as caught:
        GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert len(caught) == 1
    search = GridSearchCV(model, grid, cv=2, scoring=get_cost("f1").scorer(), error_score="raise").fit(X, Y)
    assert ((search.cv_results_["mean_test_score"] > 0) & (search.cv_results_["mean_test_score"] < 1)).all()


def test_nothing_is_said_where_nothing_is_compared(data):
    X, Y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GridSearchCV(csrpe(), {"max_depth": [1, 2]}, cv=2).fit(X, Y)
        GridSearchCV(csrpe(), {"cost": ["f1"]}, cv=2).fit(X, Y)
        csrpe().set_params(cost="hamming").fit(X, Y)
        cross_val_score(csrpe("hamming"), X, Y, cv=2)


# ---- prices by name ----


@pytest.mark.parametrize("name", names_with("cost"))
def test_prices_by_name(data, name):
    X, Y = data
    labels = pd.DataFrame(Y, columns=NAMES)
    price = Cost.per_label(false_negative={"fraud": 50})
    model = make(name, cost=price).fit(X, labels)
    assert model.cost_ == Cost.per_label(false_negative=[1, 50, 1, 1], false_positive=1)
    expected = make(name, cost=model.cost_).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.score(X, labels) == price.scorer()(model, X, labels) == expected.score(X, Y)
    with pytest.raises(ValueError, match="unknown label 'frand'; did you mean 'fraud'"):
        make(name, cost=Cost.per_label(false_negative={"frand": 50})).fit(X, labels)


def test_prices_by_name_follow_the_labels(data, tmp_path):
    X, Y = data
    price = Cost.per_label(false_negative={"fraud": 50}, false_positive={"spam": 3}, default=2)
    assert price.for_labels(["fraud", "spam", "joy"]).prices(3)[0].tolist() == [2, 3, 2]
    assert price.for_labels(["fraud", "spam", "joy"]).prices(3)[1].tolist() == [50, 2, 2]
    joined = ["|".join(np.array(NAMES)[row == 1]) for row in Y]
    model = csrpe(price).fit(X, joined)
    assert model.cost_.prices(4)[1].tolist() == [2, 50, 2, 2]  # names are sorted: anger, fraud, joy, spam
    refpair.save(model, tmp_path / "model.refpair")
    loaded = refpair.load(tmp_path / "model.refpair")
    assert (loaded.cost, loaded.cost_) == (price, model.cost_)
    assert loaded.fit(X, joined).predict(X) == model.predict(X)
    assert Cost.from_dict(price.to_dict()) == eval(repr(price)) == price
    assert hash(Cost.from_dict(price.to_dict())) == hash(price)
    numbered = csrpe(Cost.per_label(false_negative={1: 50})).fit(X, Y)
    assert numbered.cost_.prices(4)[1].tolist() == [1, 50, 1, 1]


def test_prices_by_name_need_names(data):
    _, Y = data
    price, frame = Cost.per_label(false_negative={"fraud": 50}), pd.DataFrame(Y, columns=NAMES)
    assert price.mean(frame, 0 * frame) == price.for_labels(NAMES).mean(Y, 0 * Y)
    for method in (price.rows, price.mean, price.matrix):
        with pytest.raises(
            ValueError, match=r"prices by label name.*no names: give DataFrames, or .*for_labels"
        ):
            method(Y, Y)
    for wrong in ({}, {"fraud": -1}, {"fraud": "dear"}, {"fraud": [[1, 2]]}):
        with pytest.raises(ValueError, match=r"^false_negative"):
            Cost.per_label(false_negative=wrong)


@pytest.mark.parametrize("strategy", [CostSensitiveUncertainty, RepresentativeUncertainty, BayesRisk])
def test_prices_by_name_in_a_query(data, strategy):
    X, Y = data
    known = pd.DataFrame(np.where(np.arange(len(X))[:, None] < 40, Y, np.nan), columns=NAMES)
    by_name = Cost.per_label(false_negative={"fraud": 50})
    by_place = Cost.per_label(false_negative=[1, 50, 1, 1])
    asked = [strategy(cost, random_state=0).query(X, known, 5).tolist() for cost in (by_name, by_place)]
    assert asked[0] == asked[1]
    with pytest.raises(ValueError, match="frau"):
        strategy(Cost.per_label(false_negative={"frau": 50})).query(X, known)


def test_prices_by_name_are_those_of_the_file(data, tmp_path):
    X, Y = data
    cost = Cost.per_label(false_negative={"fraud": 50})
    refpair.save(csrpe(cost).fit(X, pd.DataFrame(Y, columns=NAMES)), tmp_path / "model.refpair")
    assert refpair.load(tmp_path / "model.refpair", cost=cost).cost == cost
    with pytest.raises(ValueError, match="another one"):
        refpair.load(tmp_path / "model.refpair", cost=Cost.per_label(false_negative={"spam": 50}))


def test_prices_by_name_in_a_session(tmp_path):
    table = pd.DataFrame({"size": [1.5, 2.25, 7.0] * 3, "tone": [0.5, 0.5, 3.0] * 3})
    price = Cost.per_label(false_negative={"fraud": 50})
    with Session.open(tmp_path / "mails.session", table, labels=["spam", "fraud"], cost=price) as session:
        assert session.cost == Cost.per_label(false_positive=1, false_negative=[1, 50])
    with pytest.raises(ValueError, match="unknown label 'fraud'"):
        Session.open(tmp_path / "other.session", table, labels=["spam", "joy"], cost=price)


# ---- the names of scikit-learn ----


@pytest.mark.parametrize(
    ("name", "meant"), [("f1_samples", "f1"), ("jaccard_samples", "jaccard"), ("accuracy", "jaccard")]
)
def test_the_names_of_scikit_learn(data, name, meant):
    X, Y = data
    assert get_cost(name) is get_cost(meant)
    model = csrpe(name).fit(X, Y)
    measure = {"f1": f1_score, "jaccard": jaccard_score}[meant]
    predicted = model.predict(X)
    assert model.score(X, Y) == pytest.approx(measure(Y, predicted, average="samples", zero_division=1.0))


@pytest.mark.parametrize(
    ("typo", "meant"), [("f1_sample", "f1_samples"), ("jaccard_sample", "jaccard_samples")]
)
def test_near_misses_of_them(typo, meant):
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        get_cost(typo)


# ---- a cost as a scorer ----


FORMS = {
    "array": lambda Y: Y,
    "sparse": sp.csr_array,
    "frame": lambda Y: pd.DataFrame(Y, columns=NAMES),
    "joined": lambda Y: pd.Series(["|".join(np.array(NAMES)[row == 1]) for row in Y]),
    "lists": lambda Y: np.array([*[np.array(NAMES)[row == 1].tolist() for row in Y], []], object)[:-1],
    "words": lambda Y: np.where(Y == 1, "yes", "no"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("within", ["alone", "pipeline", "search"])
def test_a_cost_is_a_scorer(data, form, within):
    X, Y = data
    given = FORMS[form](Y)
    model = csrpe("hamming") if within == "alone" else make_pipeline(StandardScaler(), csrpe("hamming"))
    if within == "search":
        model = GridSearchCV(model, {"csrpeclassifier__n_bits": [10]}, cv=KFold(2), scoring=get_cost("f1"))
    model.fit(X, given)
    right = get_cost("f1").mean(Y, csrpe_labels(model, X, form))
    for scorer in (
        get_cost("f1"),
        get_cost("f1").scorer(),
        pickle.loads(pickle.dumps(get_cost("f1").scorer())),
    ):
        assert scorer(model, X, given) == pytest.approx(right)
    weights = np.arange(len(X))
    weighted = get_cost("f1").mean(Y, csrpe_labels(model, X, form), weights)
    assert get_cost("f1").scorer()(model, X, given, sample_weight=weights) == pytest.approx(weighted)
    if form == "sparse":
        return  # cross_val_score refuses it
    scores = cross_val_score(csrpe(), X, given, cv=KFold(3), scoring=get_cost("f1"), error_score="raise")
    order = np.argsort(NAMES) if form in ("joined", "lists") else slice(None)  # names are sorted
    np.testing.assert_allclose(scores, cross_val_score(csrpe(), X, Y[:, order], cv=KFold(3)))


def csrpe_labels(model, X, form):
    predicted = model.predict(X)
    if form in ("joined", "lists"):
        split = [row.split("|") if isinstance(row, str) else row for row in predicted]
        return np.array([[name in row for name in NAMES] for row in split])
    if form == "words":
        return predicted == "yes"
    return predicted.toarray() if form == "sparse" else np.asarray(predicted)


def test_models_of_others_are_scored_too(data):
    X, Y = data
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    assert get_cost("f1")(forest, X, Y) == get_cost("f1").mean(Y, forest.predict(X))
    frame = pd.DataFrame(Y, columns=NAMES)
    price = Cost.per_label(false_negative={"fraud": 50})
    assert price(forest, X, frame) == -price.for_labels(NAMES).mean(Y, forest.predict(X))
    single = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, np.where(Y[:, 0], "yes", "no"))
    found = get_cost("hamming")(single, X[:1], single.predict(X[:1]))
    assert found == 0.0


def test_a_cost_called_with_labels_says_what_to_do(data):
    _, Y = data
    for arguments in ((Y, Y), (Y.tolist(), Y.tolist()), (pd.DataFrame(Y), Y)):
        with pytest.raises(TypeError, match=r"\.mean\(Y, Z\), or \.rows\(Y, Z\)"):
            get_cost("f1")(*arguments)


# ---- score of one model against that of another ----


@pytest.mark.parametrize("name", CLASSES)
def test_the_score_of_every_classifier_is_that_of_its_cost(data, name):
    X, Y = data
    model = make(name, **({"cost": "f1"} if name in names_with("cost") else {})).fit(X, Y)
    assert model.cost_.name == ("f1" if name in names_with("cost") else "zero_one")
    assert model.score(X, Y) == model.cost_.scorer()(model, X, Y)
    assert model.score(X, Y) > model.score(X, 1 - Y)


def test_scores_of_binary_relevance_and_csrpe_are_comparable_by_one_cost(data):
    X, Y = data
    baseline, ours = BinaryRelevance("tree", random_state=0).fit(X[:80], Y[:80]), csrpe().fit(X[:80], Y[:80])
    # As scikit-learn has it, a model that knows no cost has the share of rows that are right in all labels …
    theirs = MultiOutputClassifier(DecisionTreeClassifier()).fit(X[:80], Y[:80])
    right = accuracy_score(Y[80:], baseline.predict(X[80:]))
    assert baseline.score(X[80:], Y[80:]) == pytest.approx(right)
    assert get_cost("zero_one")(theirs, X[80:], Y[80:]) == pytest.approx(theirs.score(X[80:], Y[80:]))
    # … as has every model that is made for the zero-one loss.
    for model in (csrpe("zero_one"), LabelPowerset("tree")):
        model.fit(X[:80], Y[:80])
        assert model.score(X[80:], Y[80:]) == pytest.approx(accuracy_score(Y[80:], model.predict(X[80:])))
    # By one scorer they are told apart by one measure.
    scorer = get_cost("f1").scorer()
    for model in (baseline, ours):
        found = f1_score(Y[80:], model.predict(X[80:]), average="samples", zero_division=1.0)
        assert scorer(model, X[80:], Y[80:]) == pytest.approx(found)
