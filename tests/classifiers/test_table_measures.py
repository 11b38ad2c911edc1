"""Classifiers that are fitted for a measure of a whole table, and that decide for one."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import (
    AtMost,
    BayesDecisionClassifier,
    BinaryRelevance,
    Cost,
    CSRPEClassifier,
    Implies,
    ProbabilisticChain,
    get_cost,
    load,
    save,
)
from refpair.costs import Measure
from refpair.datasets import load_dataset
from refpair.decision.thresholds import HeldOut
from refpair.inspection import CostComparisonDisplay, suspicious_labels
from refpair.on_disk import open_rows
from refpair.persistence import ModelFileError
from tests.classifiers.common import NOT_COPIES, make, names_with
from tests.persistence.forging import changed, forge, in_header

DECIDE = ("CSRPEClassifier", "BayesDecisionClassifier", "ProbabilisticChain")
MEASURES = ("macro_f1", "micro_f1", "balanced_accuracy")

each_name = pytest.mark.parametrize("name", DECIDE)
each_measure = pytest.mark.parametrize("cost", MEASURES)


def g_mean(tp, fp, fn, tn):
    return np.sqrt(tp / np.maximum(tp + fn, 1e-9) * tn / np.maximum(tn + fp, 1e-9))


@pytest.fixture(scope="module")
def data(small):
    X, Y = small
    return X[:90], Y[:90], X[90:], Y[90:]


@pytest.fixture(scope="module")
def fitted(data):
    """Return models that are fitted once, by name and cost."""
    models = {}

    def find(name, cost):
        if (name, cost) not in models:
            models[name, cost] = make(name, cost=cost).fit(data[0], data[1])
        return models[name, cost]

    return find


@parametrize_with_checks(
    [
        CSRPEClassifier("macro_f1", n_bits=20, random_state=0),
        BayesDecisionClassifier(RandomForestClassifier(5, random_state=0), cost="micro_f1", random_state=0),
    ],
    expected_failed_checks=lambda model: (
        NOT_COPIES | {"check_classifier_multioutput": "the thresholds are not 1/2"}
        if isinstance(model, CSRPEClassifier)
        else NOT_COPIES
    ),
)
def test_they_are_scikit_learn_estimators(estimator, check):
    check(estimator)


# ---- decisions ----


@each_name
@each_measure
def test_a_label_is_predicted_above_its_threshold(data, fitted, name, cost):
    X = data[2]
    model = fitted(name, cost)
    at = model.thresholds_
    assert at.shape == (4,)
    assert ((at > 0) & (at < 1)).all()
    assert (len(set(at)) == 1) == (cost == "micro_f1")
    # The probabilities that decide differ from those that are told by rounding only.
    clear = np.abs(model.predict_proba(X) - at) > 1e-3
    np.testing.assert_array_equal((model.predict_proba(X) > at)[clear], (model.predict(X) == 1)[clear])


@each_name
@each_measure
def test_a_row_gets_the_same_answer_alone_or_in_a_batch(data, fitted, name, cost):
    X = data[2][:12]
    model = fitted(name, cost)
    alone = np.concatenate([model.predict(row[None]) for row in X])
    np.testing.assert_array_equal(alone, model.predict(X))


@pytest.mark.parametrize("name", DECIDE[:2])
@each_measure
def test_a_model_for_f1_decides_by_its_own_samples(data, name, cost):
    X, Y, others, _ = data
    model = make(name, cost="f1").fit(X, Y)
    assert not hasattr(model, "thresholds_")
    prices = model._held_out.prices(get_cost(cost))
    np.testing.assert_array_equal(model.decide(others, cost), model.decide(others, prices))


@each_name
def test_other_costs_of_a_model_for_a_measure(data, fitted, name):
    model, X = fitted(name, "macro_f1"), data[2]
    np.testing.assert_array_equal(model.decide(X), model.predict(X))
    np.testing.assert_array_equal(model.decide(X, "f1_macro"), model.predict(X))
    for cost in ("macro_f2", "micro_jaccard", Measure.macro(g_mean), "hamming", "f1", "precision@1"):
        assert model.decide(X, cost).shape == (30, 4)
    # F2 wants more labels than F1, and F1 more than F0.5.
    n = [model.decide(X, f"macro_f{beta}").sum() for beta in (0.5, 1, 2)]
    assert n == sorted(n)


@pytest.mark.parametrize(
    "model",
    [
        make("ProbabilisticChain", cost="f1"),
        make("BayesDecisionClassifier", cost="f1", calibrate=False),
    ],
)
def test_a_model_that_kept_no_samples_says_what_to_do(data, model):
    X, Y, others, _ = data
    with pytest.raises(ValueError, match="was fitted without such: fit it with cost='micro_f1'"):
        model.fit(X, Y).decide(others, "micro_f1")


@each_name
def test_another_fit_forgets_the_thresholds(data, name):
    X, Y, others, _ = data
    model = make(name, cost="macro_f1").fit(X, Y)
    before = model.thresholds_
    model.set_params(cost="hamming").fit(X, Y)
    assert not hasattr(model, "thresholds_")
    with pytest.raises(AttributeError, match="thresholds_ after a fit for a measure of a whole table only"):
        _ = model.thresholds_
    np.testing.assert_array_equal(model.predict(others), make(name).fit(X, Y).predict(others))
    model.set_params(cost="macro_f1").fit(X[:, :2], Y[:, :3])
    assert model.thresholds_.shape == (3,)
    np.testing.assert_array_equal(model.set_params(cost="macro_f1").fit(X, Y).thresholds_, before)


@each_name
@each_measure
def test_scores(data, fitted, name, cost):
    _, _, others, truths = data
    model, measure = fitted(name, cost), get_cost(cost)
    predicted = model.predict(others)
    weight = np.arange(1.0, 31.0)
    assert model.score(others, truths) == measure(model, others, truths) == measure.mean(truths, predicted)
    assert model.score(others, truths, weight) == measure.mean(truths, predicted, weight)
    assert 0 < model.expected_score(others) <= 1
    with pytest.raises(ValueError, match=r"no row has a cost of its own: expected_score\(X\) is what"):
        model.expected_cost(others)


def test_what_is_expected_is_what_comes():
    """Over 700 rows, a macro-F1 of 10 labels has a standard error of about 0.01: four of them are allowed."""
    digits = load_dataset("digits")
    X, Y, others, truths = digits.X[:1000], digits.Y[:1000], digits.X[1000:1700], digits.Y[1000:1700]
    model = CSRPEClassifier("macro_f1", n_bits=100, random_state=0).fit(X, Y)
    assert model.expected_score(others) == pytest.approx(model.score(others, truths), abs=0.04)
    assert 1 - model.oob_cost_ == pytest.approx(model.score(others, truths), abs=0.04)
    f1 = CSRPEClassifier("f1", n_bits=100, random_state=0).fit(X, Y)
    score = get_cost("macro_f1").mean(truths, model.predict(others))
    assert score >= get_cost("macro_f1").mean(truths, f1.predict(others)) - 0.01
    assert score == pytest.approx(get_cost("macro_f1").mean(truths, f1.decide(others, "macro_f1")), abs=0.02)


@each_name
@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_the_expected_score_of_other_costs_is_their_mean(data, fitted, name, cost):
    model, X = fitted(name, cost), data[2]
    mean = model.expected_cost(X).mean()
    assert model.expected_score(X) == pytest.approx(1 - mean if cost == "f1" else -mean)


def test_functions_of_ones_own(data, tmp_path):
    X, Y, others, truths = data
    cost, price = Measure.macro(g_mean), Measure.micro(lambda tp, fp, fn, tn: fp + 9 * fn, "price", False)
    model = make("CSRPEClassifier", cost=cost).fit(X, Y)
    assert 0 <= model.expected_score(others[:1]) <= 1  # counts of one row are close to 0
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(again.thresholds_, model.thresholds_)
    save(model, tmp_path / "model")
    with pytest.raises(ValueError, match="'g_mean' is a Python function, which a file cannot hold"):
        load(tmp_path / "model")
    loaded = load(tmp_path / "model", cost=cost)
    np.testing.assert_array_equal(loaded.predict(others), model.predict(others))
    with pytest.raises(ValueError, match="not fitted with the cost 'macro_f1'"):
        load(tmp_path / "model", cost="macro_f1")
    paid = make("CSRPEClassifier", cost=price).fit(X, Y)
    np.testing.assert_allclose(paid.thresholds_, 0.1, atol=0.05)
    assert paid.score(others, truths) == -price.mean(truths, paid.predict(others))
    assert paid.expected_score(others) < 0
    with pytest.raises(ValueError, match="the cost 'precision' is nan for tp=0, fp=0"):
        make("CSRPEClassifier", cost=Measure.macro(lambda tp, fp, fn, tn: tp / (tp + fp), "precision")).fit(
            X, Y
        )


# ---- kinds of data ----


@each_name
def test_labels_that_are_rare_never_there_or_always(data, name):
    X, Y, others, _ = data
    rare = np.zeros(len(X), int)
    rare[3] = 1
    labels = np.column_stack([np.zeros(len(X), int), Y[:, 0], np.ones(len(X), int), rare])
    for cost in MEASURES:
        model = make(name, cost=cost).fit(X, labels)
        answer = model.predict(others)
        assert not answer[:, 0].any()
        assert answer[:, 2].all()
        assert ((model.thresholds_ >= 0) & (model.thresholds_ <= 1)).all()
        for vector in ([0, 0], [1, 1], [0, 1], [0], [1]):
            constant = make(name, cost=cost).fit(X, np.tile(vector, (len(X), 1)))
            assert (constant.predict(others) == vector).all()
            assert np.isfinite(constant.expected_score(others))


@each_name
@pytest.mark.parametrize("n", [1, 2, 5, 15])
def test_few_rows(data, name, n):
    X, Y, others, _ = data
    model = make(name, cost="macro_f1").fit(X[:n], Y[:n])
    assert model.predict(others).shape == (30, 4)
    assert np.isfinite(model.thresholds_).all()


@each_name
def test_a_single_label_of_two_classes(data, name):
    X, Y, others, truths = data
    named = make(name, cost="macro_f1").fit(X, np.array(["no", "yes"])[Y[:, 0]])
    column = make(name, cost="macro_f1").fit(X, Y[:, :1])
    np.testing.assert_array_equal(named.thresholds_, column.thresholds_)
    assert named.thresholds_.shape == (1,)
    np.testing.assert_array_equal(named.predict(others) == "yes", column.predict(others)[:, 0] == 1)
    assert named.score(others, np.array(["no", "yes"])[truths[:, 0]]) == column.score(others, truths[:, :1])


def test_names_gaps_and_weights(data):
    X, Y, others, truths = data
    frame = pd.DataFrame(Y, columns=list("abcd"))
    how = {"cost": "macro_f1"}
    plain = make("CSRPEClassifier", **how).fit(X, Y)
    named = make("CSRPEClassifier", **how).fit(X, frame)
    assert list(named.predict(others).columns) == list("abcd")
    np.testing.assert_array_equal(named.predict(others), plain.predict(others))
    gaps = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    model = make("CSRPEClassifier", **how).fit(X, gaps)
    unknown = np.where(np.random.default_rng(1).random(truths.shape) < 0.2, np.nan, truths)
    assert model.score(others, unknown) == get_cost("macro_f1").mean(unknown, model.predict(others))
    assert model.score(others, truths) > 0.5
    weight = np.where(np.arange(90) % 3, 0.0, 1.0)
    some = make("CSRPEClassifier", **how).fit(X, Y, sample_weight=weight)
    third = make("CSRPEClassifier", **how).fit(X[::3], Y[::3])
    np.testing.assert_allclose(some.thresholds_, third.thresholds_)
    assert some.oob_cost_ == pytest.approx(third.oob_cost_)


def test_weights_count_where_a_model_is_asked_about_what_it_learned(data):
    X, Y = data[0][:10], data[1][:10]
    model = make("BayesDecisionClassifier", cost="micro_f1")
    weight = np.array([100.0] + [1.0] * 9)
    assert model.fit(X, Y, sample_weight=weight)._held_out.weight.max() > 5
    assert model.fit(X, Y)._held_out.weight.tolist() == [1.0] * 10


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(100, random_state=0),
        MultiOutputClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression()),
        make_pipeline(StandardScaler(), RandomForestClassifier(10, random_state=0)),
        BinaryRelevance("tree", random_state=0),
    ],
)
@pytest.mark.parametrize("calibrate", [True, False])
def test_classifiers_of_scikit_learn(data, estimator, calibrate):
    X, Y, others, truths = data
    model = BayesDecisionClassifier(estimator, cost="macro_f1", calibrate=calibrate, random_state=0).fit(X, Y)
    assert model.score(others, truths) > 0.5


def test_a_classifier_that_cannot_learn_from_a_part_still_has_thresholds(data):
    X, Y, _, _ = data
    neighbors = KNeighborsClassifier(80)
    for calibrate, message in (
        (True, "probabilities are not calibrated"),
        (False, "thresholds are of learned"),
    ):
        model = BayesDecisionClassifier(neighbors, cost="macro_f1", calibrate=calibrate, random_state=0)
        with pytest.warns(FitFailedWarning, match=f"{message}.* cannot learn from four fifths of the rows"):
            model.fit(X, Y)
        assert ((model.thresholds_ > 0) & (model.thresholds_ < 1)).all()


def test_an_interrupted_fit_changes_nothing(data, monkeypatch):
    X, Y, others, _ = data
    for name in DECIDE:
        model = make(name, cost="macro_f1").fit(X, Y)
        expected = model.predict(others), model.thresholds_

        def stop(*given):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(HeldOut, "prices", stop)
            with pytest.raises(KeyboardInterrupt):
                model.fit(X[:, :2], Y[:, :2])
        np.testing.assert_array_equal(model.predict(others), expected[0])
        np.testing.assert_array_equal(model.thresholds_, expected[1])


@each_name
def test_dask_is_answered_lazily(data, fitted, name):
    model, X = fitted(name, "macro_f1"), data[2]
    lazy = da.from_array(X, chunks=(7, 6))
    for cost in ("micro_f1", None):
        answer = model.decide(lazy, cost)
        assert isinstance(answer, da.Array)
        np.testing.assert_array_equal(answer.compute(scheduler="sync"), model.decide(X, cost))
    np.testing.assert_array_equal(model.predict(lazy).compute(scheduler="sync"), model.predict(X))
    assert model.expected_score(lazy) == model.expected_score(X)
    with pytest.raises(ValueError, match="no row has a cost of its own"):
        model.expected_cost(lazy).compute(scheduler="sync")


def test_rows_on_disk(data, tmp_path):
    X, Y, _, _ = data
    np.save(tmp_path / "rows.npy", X)
    on_disk = open_rows(tmp_path / "rows.npy")
    model, same = (
        CSRPEClassifier("macro_f1", n_bits=30, sources=("code", "labels"), random_state=0).fit(rows, Y)
        for rows in (on_disk, X)
    )
    np.testing.assert_array_equal(model.thresholds_, same.thresholds_)
    np.testing.assert_array_equal(model.predict(on_disk), same.predict(X))
    assert model.expected_score(on_disk) == pytest.approx(same.expected_score(X))


# ---- other tools ----


def test_pipelines_searches_and_clones(data):
    X, Y, others, truths = data
    cost = get_cost("macro_f1")
    pipeline = make_pipeline(StandardScaler(), make("CSRPEClassifier", cost=cost))
    assert clone(pipeline)[-1].cost == cost
    search = GridSearchCV(pipeline, {"csrpeclassifier__max_depth": [1, 4]}, scoring=cost, cv=2)
    search.fit(X, Y)
    assert search.score(others, truths) == cost.mean(truths, search.predict(others))
    assert 0 < search.best_score_ <= 1
    assert cost.scorer()(BinaryRelevance("tree", random_state=0).fit(X, Y), others, truths) > 0.5


@each_name
@each_measure
def test_files(data, fitted, tmp_path, name, cost):
    model, X = fitted(name, cost), data[2]
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.cost_ == get_cost(cost)
    np.testing.assert_array_equal(again.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.decide(X, "micro_jaccard"), model.decide(X, "micro_jaccard"))
    assert again.expected_score(X) == model.expected_score(X)


KEPT = "_held_out.probabilities"
PRICES = ("model", "_prices")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(KEPT, lambda a: np.full_like(a, 2)), "need probabilities from 0 to 1"),
        (changed(KEPT, lambda a: np.full_like(a, np.nan)), "need probabilities from 0 to 1"),
        (changed(KEPT, lambda a: a[:-1]), "and a weight each"),
        (changed(KEPT, lambda a: a[:, 1:].copy()), "the samples that were held out have other labels"),
        (changed(KEPT, lambda a: a.astype(np.float64)), "holds float64 and not float16"),
        (changed("_held_out.weight", lambda a: -a), "must have weights that are finite, and not all 0"),
        (changed("_held_out.weight", lambda a: 0 * a), "must have weights that are finite, and not all 0"),
        (changed("_held_out.weight", lambda a: np.full_like(a, np.nan)), "must have weights that are finite"),
        (in_header(*PRICES, value={"cost": {"name": "f1"}}), "the thresholds are none"),
        (
            in_header(*PRICES, value={"cost": {"name": "x", "false_positive": [1, 2], "false_negative": 1}}),
            "has 2 prices for 4 labels",
        ),
        (
            in_header(
                *PRICES, value={"cost": {"name": "x", "false_positive": [["a", 1]], "false_negative": 1}}
            ),
            "unknown label",
        ),
    ],
)
def test_forged_files(fitted, tmp_path, change, message):
    save(fitted("CSRPEClassifier", "macro_f1"), tmp_path / "model")
    forge(tmp_path / "model", change)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model")


# ---- rules, displays, and what needs a cost of label vectors ----


@pytest.mark.parametrize("name", DECIDE)
def test_rules_are_kept(data, fitted, name):
    X, Y, others, _ = data
    model = fitted(name, "macro_f2")
    assert (model.predict(others).sum(axis=1) > 1).any()
    assert model.decide(others, rules=[AtMost(1)]).sum(axis=1).max() == 1
    assert model.decide(others, "micro_f1", rules=[AtMost(1)]).sum(axis=1).max() == 1
    answer = model.decide(others, rules=[Implies(0, 1)])
    assert (answer[:, 0] <= answer[:, 1]).all()
    own = make(name, cost="macro_f2", rules=[AtMost(2)])
    own.fit(X[Y.sum(axis=1) <= 2], Y[Y.sum(axis=1) <= 2])
    assert own.predict(others).sum(axis=1).max() <= 2
    assert np.isfinite(own.expected_score(others))
    assert own.thresholds_.shape == (4,)


def test_lists_and_prices_of_a_model_for_a_measure(data, fitted):
    model, X = fitted("CSRPEClassifier", "macro_f1"), data[2]
    lists, _ = model.predict_top(X, 2)
    assert lists.shape == (30, 2)
    with pytest.raises(ValueError, match="cost must be one of lists"):
        model.predict_top(X, cost="macro_f1")
    rows = Cost.per_label(false_negative=np.ones((30, 4)))
    np.testing.assert_array_equal(model.decide(X, rows), model.decide(X, Cost.per_label()))


def test_what_needs_a_cost_of_label_vectors(data):
    X, Y, _, _ = data
    for model, who in (
        (make("CSRPEClassifier", cost="macro_f1", decoder="nearest"), 'decoder="nearest"'),
        (make("CondensedFilterTree", cost="macro_f1"), "CondensedFilterTree"),
    ):
        with pytest.raises(ValueError, match=f'{who} needs a cost of label vectors, such as "f1", not'):
            model.fit(X, Y)
    with pytest.raises(ValueError, match="for the cost 'macro_f1' use inference=\"sample\""):
        ProbabilisticChain("tree", cost="macro_f1", inference="exact").fit(X, Y)


def test_displays_have_no_error_of_a_measure(data, fitted):
    _, _, others, truths = data
    models = {name: fitted(name, "macro_f1") for name in DECIDE}
    display = CostComparisonDisplay.from_estimators(models, others, truths, ["macro_f1", "f1"])
    assert display.errors["macro_f1"].isna().all()
    assert display.errors["f1"].notna().all()
    for name, model in models.items():
        assert display.scores.loc[name, "macro_f1"] == model.score(others, truths)


def test_suspicious_labels_are_priced_by_their_number(data):
    X, Y, _, _ = data
    table, other = (
        suspicious_labels(make("CSRPEClassifier", cost=cost), X, Y) for cost in ("macro_f1", "hamming")
    )
    assert (table["cost"] == 1 / 4).all()
    assert list(table.columns) == list(other.columns)


def test_every_model_with_a_cost_is_tried():
    assert set(names_with("cost")) == {*DECIDE, "CondensedFilterTree"}
