"""Promises of costs, recall and precision: what is asked, what is refused, and that they hold."""

import pickle
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import refpair
from refpair import (
    AtMost,
    BayesDecisionClassifier,
    Cost,
    CostGuarantee,
    CSRPEClassifier,
    ProbabilisticChain,
    TableVectorizer,
    get_cost,
)
from refpair.tables.labels import read_labels

NAMES = ["fraud", "refund", "gift"]


def draw(rng, n):
    X = rng.normal(size=(n, 4))
    return X, (X[:, :3] + 0.4 * rng.normal(size=(n, 3)) > 0.3).astype(int)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return SimpleNamespace(train=draw(rng, 400), calibration=draw(rng, 600), new=draw(rng, 2000))


@pytest.fixture(scope="module")
def model(data):
    return BayesDecisionClassifier(LogisticRegression(), cost="hamming", random_state=0).fit(*data.train)


def frames(X, Y):
    return pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=NAMES)


def kept_rows(n):
    """Return the rows that a fit keeps from the model."""
    state = np.random.RandomState(0).randint(2**31, size=4, dtype=np.int64)
    return np.random.default_rng(state).permutation(n)[: n // 4]


def shown_cost(given, data, cost="hamming"):
    """Return the mean cost of the new rows that are answered, and their share."""
    X, Y = data.new
    answers, asks = given.predict_or_ask(X)
    assert asks.dtype == bool
    assert asks.shape == (len(X),)
    return get_cost(cost).rows(Y[~asks], np.asarray(answers)[~asks]).mean(), 1 - asks.mean()


# ---- what is promised ----


@pytest.mark.parametrize("cost", ["hamming", "f1", "jaccard", "zero_one", "rank"])
def test_answered_rows_cost_what_is_promised(model, data, cost):
    X, Y = data.new
    everything = get_cost(cost).rows(Y, model.decide(X, cost)).mean()
    given = CostGuarantee(model, 0.8 * everything, cost=cost).calibrate(*data.calibration)
    paid, share = shown_cost(given, data, cost)
    assert given.promise_ == {"cost": 0.8 * everything}
    assert paid <= 0.8 * everything * 1.02  # new rows are a sample, too
    assert 0.2 < share < 0.95
    assert given.coverage_ == pytest.approx(share, abs=0.06)
    assert given.estimator_ is model


def test_rows_are_answered_whose_expected_cost_is_at_most_the_threshold(model, data):
    given = CostGuarantee(model, 0.15).calibrate(*data.calibration)
    X = data.new[0]
    answers, asks = given.predict_or_ask(X)
    np.testing.assert_array_equal(asks, model.expected_cost(X) > given.threshold_["cost"])
    np.testing.assert_array_equal(answers, model.predict(X))


@pytest.mark.parametrize("coverage", [0.3, 0.8, 1, 1.0])
def test_the_lowest_cost_at_a_share_of_rows(model, data, coverage):
    given = CostGuarantee(model, coverage=coverage).calibrate(*data.calibration)
    paid, share = shown_cost(given, data)
    assert given.coverage_ == pytest.approx(coverage, abs=1 / 600)
    assert share == pytest.approx(coverage, abs=0.05)
    assert paid <= given.promise_["cost"] < paid + 0.04


def test_recall_and_precision_of_labels(model, data):
    X, Y = data.calibration
    given = CostGuarantee(model, recall={0: 0.9}, precision={2: 0.82}).calibrate(X, Y)
    assert list(given.promise_) == list(given.threshold_) == ["recall of 0", "precision of 2"]
    X, Y = data.new
    answers, asks = given.predict_or_ask(X)
    there, said = Y[~asks] == 1, answers[~asks] == 1
    assert said[there[:, 0], 0].mean() >= 0.9
    assert there[said[:, 2], 2].mean() >= 0.82
    assert 0.05 < asks.mean() < 0.9
    p = model.predict_proba(X)
    missed = p[:, 0] * (answers[:, 0] == 0) > given.threshold_["recall of 0"]
    wrong = (1 - p[:, 2]) * (answers[:, 2] == 1) > given.threshold_["precision of 2"]
    np.testing.assert_array_equal(asks, missed | wrong)


def test_more_promises_leave_fewer_answers(model, data):
    alone = CostGuarantee(model, 0.17).calibrate(*data.calibration)
    both = CostGuarantee(model, 0.17, recall={1: 0.95}).calibrate(*data.calibration)
    assert 0.0 < both.coverage_ < alone.coverage_
    assert shown_cost(both, data)[0] <= 0.17


@pytest.mark.parametrize("confidence", [0.8, 0.999])
def test_more_confidence_leaves_fewer_answers(model, data, confidence):
    usual, other = (
        CostGuarantee(model, 0.1, confidence=one).calibrate(*data.calibration) for one in (0.95, confidence)
    )
    assert (other.coverage_ > usual.coverage_) == (confidence < 0.95)


def test_everything_is_answered_for_a_cost_that_nothing_exceeds(model, data):
    given = CostGuarantee(model, 1.0).calibrate(*data.calibration)
    assert given.coverage_ == 1.0
    assert given.threshold_ == {"cost": np.inf}


# ---- models, costs and forms of labels ----


@pytest.mark.parametrize(
    "estimator",
    [
        CSRPEClassifier("f1", n_bits=40, random_state=0),
        ProbabilisticChain("logistic", random_state=0),
        BayesDecisionClassifier(LogisticRegression()),
        BayesDecisionClassifier(LogisticRegression(), rules=[AtMost(3)]),
    ],
)
def test_models_of_every_kind(estimator, data):
    given = CostGuarantee(estimator, coverage=0.5, calibration_size=200).fit(*data.calibration)
    answers, asks = given.predict_or_ask(data.new[0])
    assert 0.4 < asks.mean() < 0.6
    np.testing.assert_array_equal(answers, given.estimator_.predict(data.new[0]))
    assert not hasattr(estimator, "estimator_")  # it is a clone that is fitted


def test_names_and_frames(model, data):
    (X, Y), X_new = frames(*data.calibration), frames(*data.new)[0]
    X_new.index = X_new.index + 7
    given = CostGuarantee(clone(model), 0.2, recall={"fraud": 0.7}).fit(X, Y)
    answers, asks = given.predict_or_ask(X_new)
    assert answers.index.equals(X_new.index)
    assert list(answers) == given.classes_.tolist() == NAMES
    plain = CostGuarantee(clone(model), 0.2, recall={0: 0.7}).fit(*data.calibration)
    np.testing.assert_array_equal(plain.predict_or_ask(data.new[0])[1], asks)
    assert given.promise_ == {"cost": 0.2, "recall of fraud": 0.7}
    with pytest.raises(ValueError, match=r"recall: unknown label 'frud'; did you mean 'fraud'"):
        CostGuarantee(clone(model), recall={"frud": 0.7}).fit(X, Y)


def test_lists_of_names_of_which_one_is_rare(data):
    X, Y = data.calibration
    lists = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]
    estimator = BayesDecisionClassifier(LogisticRegression(), cost="hamming", random_state=0)
    expected = CostGuarantee(estimator, 0.2).fit(X, Y).predict_or_ask(X[:50])
    given = CostGuarantee(estimator, 0.2).fit(X, lists)
    answers, asks = given.predict_or_ask(X[:50])
    found = read_labels(answers, classes=NAMES)[0]
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, expected[0])
    np.testing.assert_array_equal(asks, expected[1])
    row = kept_rows(600)[3]
    lists[row] = [*lists[row], "unique"]
    given.fit(X, lists)
    assert set(given.classes_) == {*NAMES, "unique"}
    answers, _ = given.predict_or_ask(X[:5])
    assert isinstance(answers, list)
    assert all(isinstance(row, list) for row in answers)
    given.calibrate(X, lists)


def test_sparse_and_single_labels(data):
    X, Y = data.calibration
    estimator = CSRPEClassifier("hamming", n_bits=30, random_state=0)
    given = CostGuarantee(estimator, 0.3).fit(sp.csr_array(X), sp.csr_array(Y))
    answers, asks = given.predict_or_ask(sp.csr_array(X))
    assert sp.issparse(answers)
    words = np.where(Y[:, 0], "yes", "no")
    given = CostGuarantee(estimator, 0.2, recall={"yes": 0.6}).fit(X, words)
    answers, asks = given.predict_or_ask(X)
    assert (answers != words)[~asks].mean() < 0.2


def missed_twice(Y, Z):
    return ((Y > Z) * 2 + (Z > Y)).sum(axis=1)


def test_costs_of_users(model, data):
    X, Y = data.new
    for cost in (missed_twice, Cost.from_counts(lambda tp, fp, fn, tn: fp + 2 * fn, name="counted")):
        given = CostGuarantee(model, 0.6, cost=cost).calibrate(*data.calibration)
        answers, asks = given.predict_or_ask(X)
        np.testing.assert_array_equal(answers, model.decide(X, cost))
        assert get_cost(cost).rows(Y, answers)[~asks].mean() <= 0.6
    named = clone(model).fit(*frames(*data.train))
    cost = Cost.per_label(false_negative={"fraud": 3})
    given = CostGuarantee(named, 0.6, cost=cost).calibrate(*frames(*data.calibration))
    assert given.cost_ == cost.for_labels(NAMES)


def test_the_largest_cost_is_asked_for_where_it_is_not_known(data):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 2)), (rng.random((200, 11)) < 0.3).astype(int)
    model = BayesDecisionClassifier(LogisticRegression(), random_state=0)
    with pytest.raises(
        ValueError, match="'missed_twice' is not known for 11 labels: say it by largest_cost="
    ):
        CostGuarantee(model, 5, cost=missed_twice).fit(X, Y)
    with pytest.raises(ValueError, match="a row of calibration: promises need costs from 0 to largest_cost"):
        CostGuarantee(model, 0.9, cost=missed_twice, largest_cost=1).fit(X, Y)
    CostGuarantee(model, 21, cost=missed_twice, largest_cost=22).fit(X, Y)
    negative = Cost.from_counts(lambda tp, fp, fn, tn: fp + fn - tp, name="negative")
    with pytest.raises(ValueError, match="the cost 'negative' is -"):
        CostGuarantee(model, 5, cost=negative).fit(X, Y)


# ---- pipelines ----


def texts(X):
    """Return a table of which a pipeline makes the features."""
    mood = np.where(X[:, 0] > 0, "good day", "bad day")
    return pd.DataFrame({"text": mood, "size": X[:, 1], "weight": X[:, 2]}, index=np.arange(len(X)) + 7)


def test_a_pipeline_transforms_once_and_its_last_step_decides(data):
    X, Y = texts(data.new[0]), pd.DataFrame(data.new[1], columns=NAMES)
    X_new = texts(data.calibration[0])
    model = make_pipeline(TableVectorizer(), CSRPEClassifier("f1", n_bits=30, random_state=0))
    how = {"max_cost": 0.18, "recall": {"fraud": 0.8}}
    given = CostGuarantee(model, **how).fit(X, Y)
    answers, asks = given.predict_or_ask(X_new)
    assert answers.index.equals(X_new.index)
    assert list(answers) == given.classes_.tolist() == NAMES
    assert 0.0 < asks.mean() < 1.0
    assert not hasattr(model[-1], "classes_")
    fitted, features = given.estimator_[-1], given.estimator_[:-1].transform(X_new)
    assert given.cost_ == fitted.cost_
    pd.testing.assert_frame_equal(answers, given.estimator_.predict(X_new).set_axis(X_new.index))
    p = fitted.predict_proba(features)[:, 0] * (answers["fraud"] == 0)
    scores = fitted.expected_cost(features), p.to_numpy()
    thresholds = given.threshold_.values()
    expected = np.any([score > at for score, at in zip(scores, thresholds, strict=True)], axis=0)
    np.testing.assert_array_equal(asks, expected)
    plain = CostGuarantee(fitted, **how).calibrate(given.estimator_[:-1].transform(X), Y)
    again = CostGuarantee(given.estimator_, **how).calibrate(X, Y)
    assert again.threshold_ == plain.threshold_
    np.testing.assert_array_equal(again.predict_or_ask(X_new)[1], plain.predict_or_ask(features)[1])


def test_pipelines_of_one_step_and_names_that_are_kept_from_the_model(data):
    X, Y = data.calibration
    lists = [[NAMES[k] for k in np.flatnonzero(row)] for row in Y]
    lists[kept_rows(600)[0]] = ["unique"]
    model = BayesDecisionClassifier(LogisticRegression(), cost="hamming", random_state=0)
    plain, alone = (CostGuarantee(one, 0.3).fit(X, lists) for one in (model, make_pipeline(model)))
    assert set(alone.classes_) == {*NAMES, "unique"}
    assert alone.predict_or_ask(X)[0] == plain.predict_or_ask(X)[0]
    np.testing.assert_array_equal(alone.predict_or_ask(X)[1], plain.predict_or_ask(X)[1])


def test_a_pipeline_that_ends_in_another_estimator_or_is_not_fitted(data):
    for last in (LogisticRegression(), "passthrough", make_pipeline(CSRPEClassifier())):
        with pytest.raises(ValueError, match="estimator must be a classifier with expected_cost"):
            CostGuarantee(make_pipeline(StandardScaler(), last), 0.1).fit(*data.train)
    cost = Cost.per_label(false_negative=np.ones((400, 1)))
    with pytest.raises(ValueError, match="prices of 400 rows"):
        CostGuarantee(make_pipeline(StandardScaler(), CSRPEClassifier(cost)), 0.1).fit(*data.train)
    with pytest.raises(NotFittedError, match="let fit of the CostGuarantee do so"):
        CostGuarantee(make_pipeline(StandardScaler(), CSRPEClassifier()), 0.1).calibrate(*data.calibration)


# ---- what is refused ----


def test_a_promise_that_cannot_be_made_is_refused_with_what_could_be(model, data):
    with pytest.raises(ValueError, match="no share of rows can be promised") as error:
        CostGuarantee(model, 0.01).calibrate(*data.calibration)
    told = re.fullmatch(
        r"no share of rows can be promised to cost at most 0\.01 with confidence 0\.95\. What can be "
        r"promised: (0\.\d+) on (\d+)% of the rows, (0\.\d+) on (\d+)% of the rows, (0\.\d+) on all "
        r"\(600 rows of calibration\)",
        str(error.value),
    )
    *some, of_all = told.groups()
    # What is said is what the same call with these costs finds.
    for cost, percent in [*zip(some[::2], some[1::2], strict=True), (of_all, "100")]:
        found = CostGuarantee(model, float(cost)).calibrate(*data.calibration)
        assert f"{found.coverage_:.0%}" == f"{percent}%"
    with pytest.raises(ValueError, match=r"to have a recall of 1 of at least 0.999 .*: (0\.\d+) on") as error:
        CostGuarantee(model, recall={1: 0.999}).calibrate(*data.calibration)
    recall = float(re.search(r"promised: (0\.\d+)", str(error.value))[1])
    assert CostGuarantee(model, recall={1: recall}).calibrate(*data.calibration).coverage_ > 0
    both = CostGuarantee(model, 0.01, recall={1: 0.999})
    with pytest.raises(ValueError, match=r"promised: cost 0\.\d+ and recall of 1 0\.\d+ on \d+% of the rows"):
        both.calibrate(*data.calibration)
    with pytest.raises(ValueError, match=r"nothing can be promised of 0.05 of the rows .* 12 rows"):
        CostGuarantee(model, coverage=0.05).calibrate(*(part[:12] for part in data.calibration))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "either max_cost or coverage, or the recall"),
        ({"max_cost": 0.1, "coverage": 0.5}, "either max_cost or coverage"),
        ({"coverage": 0.5, "recall": {0: 0.5}}, "coverage cannot be given with recall"),
        ({"max_cost": 0}, "max_cost must be a number above 0"),
        ({"coverage": 1.5}, "coverage must be a number between 0 and 1"),
        ({"recall": {0: 95}}, "the recall of 0 must be a number between 0 and 1, not 95"),
        ({"recall": 0.9}, "recall must be a dictionary of labels"),
        ({"precision": {7: 0.9}}, "precision: unknown label '7'"),
        ({"max_cost": 0.1, "confidence": 1}, "confidence must be a number between 0 and 1"),
        ({"max_cost": 0.1, "calibration_size": 1.5}, "calibration_size must be a share"),
        ({"max_cost": 0.1, "calibration_size": 400}, "leaves none of the 400 rows"),
        ({"max_cost": 0.1, "calibration_size": 1}, "1 rows are too few to calibrate by"),
        ({"max_cost": 0.1, "cost": "macro_f1"}, "'macro_f1' is a measure of a whole table"),
        ({"max_cost": 0.1, "cost": "precision@2"}, "'precision@2' is a cost of lists"),
        ({"max_cost": 0.1, "cost": Cost.per_label(false_negative=np.ones((400, 1)))}, "prices of 400 rows"),
        ({"max_cost": 0.1, "largest_cost": -1}, "largest_cost must be a number above 0"),
        ({"max_cost": 0.1, "random_state": "a"}, "seed"),
    ],
)
def test_bad_parameters(data, how, message):
    estimator = BayesDecisionClassifier(LogisticRegression(), cost=how.get("cost", "hamming"))
    if how.get("cost") == "macro_f1":
        estimator.cost = "f1"
        estimator.fit(*data.train)
    with pytest.raises(ValueError, match=message):
        CostGuarantee(estimator, **how).fit(*data.train)


def test_what_is_no_estimator_with_costs(data):
    for estimator in (refpair.BinaryRelevance(), LogisticRegression(), CSRPEClassifier, None):
        with pytest.raises(ValueError, match="estimator must be a classifier with expected_cost"):
            CostGuarantee(estimator, 0.1).fit(*data.train)


def test_unknown_labels_are_refused(model, data):
    X, Y = data.calibration
    Y = Y.astype(float)
    Y[3, 1] = np.nan
    for learn in (CostGuarantee(model, 0.2).calibrate, CostGuarantee(model, 0.2).fit):
        with pytest.raises(ValueError, match="y has empty cells"):
            learn(X, Y)


def test_rows_of_x_and_y(model, data):
    X, Y = data.calibration
    for learn in (CostGuarantee(model, 0.2).calibrate, CostGuarantee(model, 0.2).fit):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            learn(X, Y[:-1])


def test_a_cost_that_is_always_0(data):
    X, Y = data.calibration
    with pytest.raises(ValueError, match="'rank' is 0 whatever is answered"):
        CostGuarantee(BayesDecisionClassifier(LogisticRegression()), 0.1, cost="rank").fit(X, Y[:, :1])


# ---- an estimator ----


def test_fit_and_calibrate(model, data):
    with pytest.raises(NotFittedError, match="let fit of the CostGuarantee do so"):
        CostGuarantee(clone(model), 0.2).calibrate(*data.calibration)
    with pytest.raises(NotFittedError):
        CostGuarantee(model, 0.2).predict_or_ask(data.new[0])
    given = CostGuarantee(clone(model), coverage=0.5).fit(*data.calibration)
    learnt = given.estimator_
    before = given.threshold_
    assert given.calibrate(*data.new) is given
    assert given.estimator_ is learnt
    assert given.threshold_ != before
    given.set_params(estimator=model).calibrate(*data.new)
    assert given.estimator_ is model
    given.fit(*data.calibration)
    assert given.estimator_ is not model
    np.testing.assert_array_equal(learnt.predict(data.new[0]), given.estimator_.predict(data.new[0]))


def test_the_model_does_not_see_the_rows_of_calibration(data, monkeypatch):
    seen = {}

    class Spy(BayesDecisionClassifier):
        def fit(self, X, y):
            seen["fit"] = X
            return super().fit(X, y)

        def expected_cost(self, X, **how):
            seen["calibrated"] = X
            return super().expected_cost(X, **how)

    X, Y = data.calibration
    CostGuarantee(Spy(LogisticRegression()), 0.5, calibration_size=0.4).fit(X, Y)
    assert (len(seen["fit"]), len(seen["calibrated"])) == (360, 240)
    both = np.vstack([seen["fit"], seen["calibrated"]])
    np.testing.assert_array_equal(np.sort(both[:, 0]), np.sort(X[:, 0]))


def test_all_or_nothing(model, data):
    given = CostGuarantee(model, 0.2).calibrate(*data.calibration)
    before = dict(vars(given))
    given.max_cost = 0.001
    for learn in (given.fit, given.calibrate):
        with pytest.raises(ValueError, match="no share of rows"):
            learn(*data.new)
    assert vars(given) == before | {"max_cost": 0.001}
    fresh = CostGuarantee(clone(model), 0.001)
    with pytest.raises(ValueError, match="no share of rows"):
        fresh.fit(*data.new)
    assert not hasattr(fresh, "estimator_")


def test_the_seed_decides(model, data):
    def thresholds(seed):
        return CostGuarantee(clone(model), coverage=0.5, random_state=seed).fit(*data.calibration).threshold_

    assert thresholds(3) == thresholds(3) != thresholds(4)
    state = np.random.RandomState(5)
    assert thresholds(state) != thresholds(state)


def test_copies_and_parameters(model, data):
    given = CostGuarantee(model, 0.2, recall={0: 0.6}).calibrate(*data.calibration)
    X = data.new[0]
    again = pickle.loads(pickle.dumps(given))
    np.testing.assert_array_equal(again.predict_or_ask(X)[1], given.predict_or_ask(X)[1])
    copy = clone(given)
    assert copy.get_params(deep=False).keys() == given.get_params(deep=False).keys()
    assert copy.recall == {0: 0.6}
    assert not hasattr(copy, "promise_")
    assert "max_cost=0.2" in repr(given)
    assert not hasattr(given, "predict")
    assert given.set_params(estimator__cost="f1").estimator.cost == "f1"
    given.set_params(estimator__cost="hamming")
    assert refpair.CostGuarantee is refpair.classifiers.CostGuarantee


# ---- that promises hold ----


@pytest.mark.parametrize(
    "how",
    [
        {"max_cost": 0.13},
        {"max_cost": 0.3, "cost": "zero_one"},
        {"coverage": 0.7},
        {"recall": {0: 0.85}},
        {"precision": {1: 0.85}},
        {"max_cost": 0.16, "recall": {0: 0.8}, "precision": {1: 0.8}},
    ],
    ids=str,
)
def test_promises_are_broken_as_seldom_as_said(model, how):
    """Calibration rows are drawn from a table: its rows are all that there is to make a promise about."""
    confidence, n_draws = 0.8, 250
    X, Y = draw(np.random.default_rng(1), 3000)
    said = {"decide": model.decide(X, how.get("cost")), "predict_proba": model.predict_proba(X)}
    said["expected_cost"] = model.expected_cost(X, cost=how.get("cost"))
    cost = get_cost(how.get("cost", "hamming")).rows(Y, said["decide"])

    class Known(BaseEstimator):
        """A model that has been asked about all rows."""

        cost_, _label_format = get_cost("hamming"), model._label_format

        def decide(self, rows, cost):
            return said["decide"][rows[:, 0]]

        def expected_cost(self, rows, cost):
            return said["expected_cost"][rows[:, 0]]

        def predict_proba(self, rows):
            return said["predict_proba"][rows[:, 0]]

        def fit(self):
            raise NotImplementedError

        def __sklearn_is_fitted__(self):
            return True

    rows, broken, shares = np.arange(3000)[:, None], 0, []
    for seed in range(n_draws):
        drawn = np.random.default_rng(seed).integers(0, 3000, 250)
        given = CostGuarantee(Known(), confidence=confidence, random_state=seed, **how)
        try:
            given.calibrate(rows[drawn], Y[drawn])
        except ValueError as error:
            if "no share" not in str(error):
                raise
            continue
        answers, asks = given.predict_or_ask(rows)
        answered, true, shown = ~asks, Y == 1, answers == 1
        shares.append(answered.mean())
        worst = {
            "cost": cost[answered].mean() > given.promise_.get("cost", 1) + 1e-9,
            "recall of 0": shown[answered & true[:, 0], 0].mean() < given.promise_.get("recall of 0", 0),
            "precision of 1": true[answered & shown[:, 1], 1].mean()
            < given.promise_.get("precision of 1", 0),
        }
        broken += any(worst.values())
    assert len(shares) > n_draws / 2
    assert 0.2 < np.mean(shares) < 0.99
    assert broken / n_draws <= 0.2 + 2 * np.sqrt(0.2 * 0.8 / n_draws)
