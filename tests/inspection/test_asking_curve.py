import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from refpair import BinaryRelevance, Cost, get_cost
from refpair.inspection import AskingCurveDisplay
from tests.inspection.results import legend_of


def own(Y, Z):
    """A cost that even right answers have."""
    return 0.1 * Y.sum(axis=1) + (Y != Z).sum(axis=1)


ROW_PRICES = Cost.per_label(false_negative=np.random.default_rng(0).random((40, 1)))


@pytest.mark.parametrize("cost", ["f1", "hamming", own, ROW_PRICES], ids=["f1", "hamming", "own", "prices"])
def test_totals_are_those_of_asking_at_each_price(model, test_rows, cost):
    X, Y = test_rows[0][:40], test_rows[1][:40]
    judged = get_cost(cost)

    @settings(deadline=None, max_examples=8)
    @given(st.lists(st.floats(0, 1.5), min_size=1, max_size=3))
    def check(prices):
        display = AskingCurveDisplay.from_estimator(model, X, Y, ask=prices, cost=cost)
        plt.close(display.figure_)
        np.testing.assert_array_equal(display.prices, np.unique(prices))
        for at, price in enumerate(display.prices):
            answers, asked = found = model.predict_or_ask(X, price, cost=cost)
            assert display.expected[at] == pytest.approx(found.expected_total)
            filled = np.where(asked[:, None], Y, answers)
            assert display.realised[at] == pytest.approx(judged.rows(Y, filled).sum() + price * asked.sum())
        free = model.predict_or_ask(X, 0.0, cost=cost)
        assert display.answer_all == pytest.approx(model.expected_cost(X, cost=cost).sum())
        np.testing.assert_allclose(display.ask_all, 40 * display.prices + free.expected_total)

    check()


def test_the_curve_is_below_both_constant_policies(model, test_rows):
    display = AskingCurveDisplay.from_estimator(model, *test_rows)
    assert len(display.prices) > 10
    assert display.expected[-1] == pytest.approx(display.answer_all)
    assert (display.expected <= display.answer_all + 1e-9).all()
    assert (display.expected <= display.ask_all + 1e-9).all()
    assert (display.expected < 0.9 * np.minimum(display.answer_all, display.ask_all)).any()
    paid = get_cost("f1").rows(test_rows[1], model.predict(test_rows[0]))
    assert display.realised[-1] == pytest.approx(paid.sum())


def test_what_is_drawn(model, test_rows):
    X, Y = test_rows
    display = AskingCurveDisplay.from_estimator(model, X, Y, ask=[0.1, 0.3, 5.0], cost="rank", name="CSRPE")
    ax = display.ax_
    assert ax.get_title() == "CSRPE"
    lines = ["CSRPE: expected", "CSRPE: realised", "answer everything: expected", "ask everything"]
    assert legend_of(ax) == lines
    assert "total rank of answers" in ax.get_ylabel()
    assert ax.get_xlabel() == "price of a question"
    np.testing.assert_array_equal(display.line_.get_xdata(), display.prices)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.expected)
    np.testing.assert_array_equal(display.realised_line_.get_ydata(), display.realised)
    np.testing.assert_array_equal(display.ask_all_line_.get_ydata(), display.ask_all)
    assert set(display.answer_all_line_.get_ydata()) == {display.answer_all}
    assert display.answer_all < ax.get_ylim()[1] < display.ask_all.max()
    before = ax.get_ylim()[1]
    small = AskingCurveDisplay.from_estimator(model, X[:5], ax=ax, name="few")
    assert small.realised is None
    assert small.realised_line_ is None
    assert ax.get_ylim()[1] == before
    assert len(legend_of(ax)) == 7


def test_prices_of_labels_are_multiplied(model, test_rows):
    X, Y = test_rows[0][:30], test_rows[1][:30]
    prices = {k: 0.02 * (k + 1) for k in range(5)}
    display = AskingCurveDisplay.from_estimator(model, X, ask=prices)
    curve = model.asking_curve(X, prices)
    np.testing.assert_array_equal(display.prices, curve["multiple"])
    np.testing.assert_array_equal(display.expected, curve["expected_total"])
    np.testing.assert_allclose(display.ask_all, 30 * sum(prices.values()) * display.prices)
    assert display.ax_.get_xlabel() == "multiple of the prices of labels"
    some = AskingCurveDisplay.from_estimator(model, X, ask={0: 0.1})
    assert some.ask_all is None
    assert some.ask_all_line_ is None
    assert some.answer_all == display.answer_all
    with pytest.raises(ValueError, match="y is for prices of rows"):
        AskingCurveDisplay.from_estimator(model, X, Y, ask=prices)


def test_what_has_no_curve_is_refused(model, test_rows):
    X, Y = test_rows
    plot = AskingCurveDisplay.from_estimator
    with pytest.raises(ValueError, match="that has asking_curve"):
        plot(BinaryRelevance("tree").fit(X, Y), X)
    with pytest.raises(ValueError, match=r"needs a cost of label vectors, such as .*not 'macro_f1'"):
        plot(model, X, cost="macro_f1")
    with pytest.raises(ValueError, match="a number from 0 up"):
        plot(model, X, ask=[-1.0])
    with pytest.raises(ValueError, match="one number for each price"):
        AskingCurveDisplay([0.1, 0.2], [1.0], 2.0)
    with pytest.raises(ValueError, match="one number for each price"):
        AskingCurveDisplay([0.1], [1.0], 2.0, realised=[1.0, 2.0])
