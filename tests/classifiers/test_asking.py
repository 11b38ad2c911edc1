"""Questions to a person, as models ask them."""

import numpy as np
import pandas as pd
import pytest

from refpair import AtMost, BayesDecisionClassifier, BinaryRelevance, Cost, CSRPEClassifier, Forest
from refpair.classifiers import _asking
from refpair.datasets import load_dataset


@pytest.fixture(scope="module")
def digits():
    data = load_dataset("digits")
    return data.X[:700], data.Y[:700]


@pytest.fixture(scope="module")
def model(digits):
    X, Y = digits
    return CSRPEClassifier("f1", n_bits=60, random_state=0).fit(X[:400], Y[:400])


@pytest.fixture(scope="module")
def named(digits):
    X, Y = digits
    frame = pd.DataFrame(Y[:400, :3], columns=["zero", "one", "two"])
    return CSRPEClassifier("hamming", n_bits=60, random_state=0).fit(X[:400], frame)


def test_rows_that_cost_more_than_a_question_are_asked_about(model, digits):
    X, _ = digits
    found = model.predict_or_ask(X[400:], 0.15)
    costs = model.expected_cost(X[400:])
    np.testing.assert_array_equal(found.asked, costs > 0.15)
    np.testing.assert_array_equal(found.answers, model.predict(X[400:]))
    np.testing.assert_allclose(found.expected_costs, costs)
    assert 0 < found.asked.sum() < 300
    assert found.expected_total == pytest.approx(np.minimum(costs, 0.15).sum())
    assert found.expected_questions == found.asked.sum() == len(found.questions)
    order = np.flatnonzero(found.asked)[np.argsort(-costs[found.asked], kind="stable")]
    np.testing.assert_array_equal(found.questions["row"], order)
    np.testing.assert_allclose(found.questions["gain"], costs[order] - 0.15)
    assert (found.questions["price"] == 0.15).all()
    n_asked = len(found.questions)
    assert repr(found).startswith(f"<answers to 300 rows and about {n_asked} questions: ")
    answers, asked = found
    assert answers is found.answers
    assert asked is found.asked


def test_decide_with_a_price_asks_for_another_cost(model, digits):
    X, _ = digits
    found, same = (ask(X[400:500]) for ask in (
        lambda rows: model.decide(rows, "hamming", ask=0.05),
        lambda rows: model.predict_or_ask(rows, 0.05, cost="hamming"),
    ))  # fmt: skip
    np.testing.assert_array_equal(found.asked, model.expected_cost(X[400:500], cost="hamming") > 0.05)
    np.testing.assert_array_equal(found.asked, same.asked)
    np.testing.assert_array_equal(found.answers, model.decide(X[400:500], "hamming"))


def test_each_row_may_have_a_price_of_its_own(model, digits):
    X, _ = digits
    prices = np.linspace(0, 0.5, 300)
    found = model.predict_or_ask(X[400:], prices)
    np.testing.assert_array_equal(found.asked, model.expected_cost(X[400:]) > prices)
    np.testing.assert_allclose(found.questions["price"], prices[found.questions["row"]])


def test_prices_of_mistakes_by_row(model, digits):
    X, _ = digits
    missed = np.linspace(0.1, 5, 300)[:, None]
    cost = Cost.per_label(false_negative=missed)
    found = model.predict_or_ask(X[400:], 0.5, cost=cost)
    np.testing.assert_array_equal(found.asked, model.expected_cost(X[400:], cost=cost) > 0.5)
    p = model.predict_proba(X[400:])
    by_label = model.predict_or_ask(X[400:], {3: 0.1}, cost=cost, known=np.full((300, 10), np.nan))
    worth = np.minimum(p[:, 3] * missed[:, 0], 1 - p[:, 3])
    # What is known of one label tells about others, so that it is worth at least that.
    assert by_label.asked[worth > 0.1001, 3].all()
    assert not by_label.asked[:, np.arange(10) != 3].any()


def test_labels_are_asked_one_after_the_other_until_it_is_not_worth_it(model, digits):
    X, Y = digits
    X, Y = X[400:500], Y[400:500]
    ask = dict.fromkeys(range(10), 0.01)
    known, n_asked = np.full(Y.shape, np.nan), 0
    first = found = model.predict_or_ask(X, ask)
    while len(found.questions):
        next_ones = found.questions.drop_duplicates("row")
        row, label = next_ones["row"].to_numpy(), next_ones["label"].to_numpy(int)
        assert np.isnan(known[row, label]).all()
        known[row, label] = Y[row, label]
        n_asked += len(row)
        found = model.predict_or_ask(X, ask, known=known)
    costs = model.cost_.rows(Y, found.answers)
    total = costs.sum() + 0.01 * n_asked
    assert total < 0.8 * model.cost_.rows(Y, model.predict(X)).sum()
    assert total == pytest.approx(first.expected_total, rel=0.25)
    assert n_asked == pytest.approx(first.expected_questions, rel=0.25)
    is_known = ~np.isnan(known)
    np.testing.assert_array_equal(found.answers[is_known], known[is_known])


def test_names_of_labels_are_those_of_the_training_table(named, digits):
    X, _ = digits
    found = named.predict_or_ask(X[400:450], {"two": 0.01, "zero": 0.02})
    assert list(found.answers.columns) == ["zero", "one", "two"]
    assert set(found.questions["label"]) == {"two", "zero"}
    assert found.asked.shape == (50, 3)
    assert not found.asked[:, 1].any()
    by_row = found.questions.groupby("row", sort=False)["gain"]
    assert (by_row.diff().dropna() <= 0).all()
    assert by_row.max().is_monotonic_decreasing
    prices = {"two": 0.01, "zero": 0.02}
    assert (found.questions["price"] == found.questions["label"].map(prices)).all()


def test_totals_of_many_rows_are_told_from_some(model, digits, monkeypatch):
    X, _ = digits
    ask = dict.fromkeys(range(10), 0.01)
    every = model.predict_or_ask(X[:100], ask)
    monkeypatch.setattr(_asking, "_FOLLOWED", 40)
    some = model.predict_or_ask(X[:100], ask)
    np.testing.assert_array_equal(every.asked, some.asked)
    assert some.expected_total != every.expected_total
    assert some.expected_total == pytest.approx(every.expected_total, rel=0.3)


def test_rules_hold_for_answers_and_what_they_cost(model, digits):
    X, _ = digits
    found = model.predict_or_ask(X[400:450], 0.3, rules=[AtMost(1)])
    assert found.answers.sum(axis=1).max() == 1
    np.testing.assert_array_equal(found.answers, model.decide(X[400:450], rules=[AtMost(1)]))
    by_label = model.predict_or_ask(X[400:450], {3: 0.01}, rules=[AtMost(1)])
    np.testing.assert_array_equal(by_label.answers, found.answers)
    assert by_label.asked[:, 3].any()


def test_curves_fall_to_asking_all_and_rise_to_asking_none(model, digits):
    X, _ = digits
    curve = model.asking_curve(X[400:])
    assert curve["expected_total"].is_monotonic_increasing
    assert curve["expected_questions"].is_monotonic_decreasing
    assert curve["expected_total"].iloc[0] == pytest.approx(0.0, abs=1e-9)
    assert curve["expected_total"].iloc[-1] == pytest.approx(model.expected_cost(X[400:]).sum())
    for price in (0.05, 0.2):
        own = model.asking_curve(X[400:], [price]).iloc[0]
        found = model.predict_or_ask(X[400:], price)
        assert own["expected_total"] == pytest.approx(found.expected_total)
        assert own["expected_questions"] == found.expected_questions
    ask = {3: 0.02, 4: 0.02}
    by_label = model.asking_curve(X[400:450], ask).set_index("multiple")
    found = model.predict_or_ask(X[400:450], ask)
    assert by_label.loc[1.0, "expected_total"] == pytest.approx(found.expected_total)
    assert by_label["expected_questions"].is_monotonic_decreasing


def test_a_truth_may_cost_something_as_an_answer(digits):
    X, Y = digits
    # Each label that is given is work, whoever gives it.
    cost = Cost.from_counts(lambda tp, fp, fn, tn: 0.5 * tp + 1.5 * fp + 2 * fn)
    forest = BayesDecisionClassifier(BinaryRelevance(Forest(n_trees=20)), cost=cost, random_state=0)
    forest.fit(X[:400], Y[:400])
    found = forest.predict_or_ask(X[400:450], 0.2)
    truths = 0.5 * forest.predict_proba(X[400:450]).sum(axis=1)
    worth = forest.expected_cost(X[400:450]) - truths
    np.testing.assert_allclose(found.questions["gain"], worth[found.questions["row"]] - 0.2, atol=2e-3)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (-0.1, "from 0 up"),
        (np.nan, "from 0 up"),
        (np.inf, "from 0 up"),
        ([0.1, 0.2], "one for each of the 50 rows"),
        ("much", "a number from 0 up, not 'much'"),
        ({}, "ask has no labels"),
        ({"twoo": 1.0}, "unknown label 'twoo'; did you mean 'two'"),
        ({"two": -1.0}, "a question about 'two' is a number from 0 up"),
    ],
)
def test_bad_prices(named, digits, ask, error):
    with pytest.raises(ValueError, match=error):
        named.predict_or_ask(digits[0][400:450], ask)


@pytest.mark.parametrize("cost", ["macro_f1", "recall@3"])
def test_costs_that_rows_do_not_have(named, digits, cost):
    with pytest.raises(ValueError, match="a question to a person needs a cost of label vectors"):
        named.predict_or_ask(digits[0][400:450], 0.1, cost=cost)


def test_what_is_known_must_fit(named, digits):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        named.predict_or_ask(digits[0][400:450], 0.1, known=np.full((3, 3), np.nan))


def test_lazy_rows(model, digits):
    array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"by X\.compute\(\)"):
        model.predict_or_ask(array.from_array(digits[0][:50], chunks=10), 0.1)


def test_models_without_probabilities_do_not_ask(digits):
    X, Y = digits
    nearest = CSRPEClassifier("f1", n_bits=20, decoder="nearest", random_state=0).fit(X[:100], Y[:100])
    assert not hasattr(nearest, "predict_or_ask")
