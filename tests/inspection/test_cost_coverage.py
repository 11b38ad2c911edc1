import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from refpair import BinaryRelevance, CostGuarantee, get_cost
from refpair.inspection import CostCoverageDisplay
from tests.inspection.results import legend_of


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 130), st.integers(0, 2**32 - 1))
def test_means_are_those_of_the_rows_of_lowest_expected_cost(n, seed):
    rng = np.random.default_rng(seed)
    expected = rng.choice([0.0, 0.5, *rng.random(60)], n)
    costs = 3 * rng.random(n)
    display = CostCoverageDisplay.from_predictions(costs, expected, largest_cost=3)
    plt.close(display.figure_)
    assert len(display.shares) <= 50
    assert display.shares[-1] == 1
    for share, mean, hoped in zip(display.shares, display.costs, display.expected, strict=True):
        answered = expected <= np.sort(expected)[round(share * n) - 1]
        assert answered.mean() == pytest.approx(share)
        assert costs[answered].mean() == pytest.approx(mean)
        assert expected[answered].mean() == pytest.approx(hoped)


def test_of_different_rows_there_are_50_shares():
    expected = np.random.default_rng(0).random(1000)
    display = CostCoverageDisplay.from_predictions(np.zeros(1000), expected)
    np.testing.assert_allclose(display.shares, np.arange(1, 51) / 50)
    assert display.promised[0] > display.promised[-1] > 0
    assert display.promised[-1] < 0.01


def test_what_is_promised_is_above_the_mean_cost_of_all_such_rows():
    broken = np.zeros(50)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        expected = rng.random(200)
        costs = rng.random(200) < expected
        display = CostCoverageDisplay.from_predictions(costs, expected, confidence=0.8)
        plt.close(display.figure_)
        broken += display.promised < display.shares / 2  # the mean up to a share, which is its threshold
    assert broken.max() / 200 <= 0.2 + 2.5 * np.sqrt(0.2 * 0.8 / 200)


def test_the_costs_of_a_model(model, test_rows):
    X, Y = test_rows
    display = CostCoverageDisplay.from_estimator(model, X, Y, cost="rank", confidence=0.9)
    cost = get_cost("rank")
    paid = cost.rows(Y, model.decide(X, cost))
    expected = model.expected_cost(X, cost=cost)
    same = CostCoverageDisplay.from_predictions(
        paid, expected, largest_cost=6, confidence=0.9, cost_name="rank", name="CSRPEClassifier"
    )
    for name in ("shares", "costs", "expected", "promised"):
        np.testing.assert_array_equal(getattr(display, name), getattr(same, name))
    assert display.costs[-1] == pytest.approx(paid.mean())
    assert display.ax_.get_title() == "CSRPEClassifier"
    assert legend_of(display.ax_) == [
        "CSRPEClassifier",
        "CSRPEClassifier: expected",
        "CSRPEClassifier: promised with confidence 0.9",
    ]
    assert "mean rank of answered rows" in display.ax_.get_ylabel()
    np.testing.assert_array_equal(display.line_.get_xdata(), display.shares)
    np.testing.assert_array_equal(display.expected_line_.get_ydata(), display.expected)
    assert display.band_.get_paths()[0].vertices[:, 1].max() == pytest.approx(display.promised.max())
    own = CostCoverageDisplay.from_estimator(model, X, Y, ax=display.ax_)
    assert own.cost_name == "f1"
    assert len(legend_of(own.ax_)) == 6


def test_the_promise_at_a_share_is_that_of_a_guarantee(model, test_rows):
    X, Y = test_rows
    display = CostCoverageDisplay.from_estimator(model, X, Y)
    made = CostGuarantee(model, coverage=1).calibrate(X, Y)  # the same but for the order of rows
    assert made.promise_["cost"] == pytest.approx(display.promised[-1], rel=0.25)


def test_bad_costs_are_refused(model, test_rows):
    plot = CostCoverageDisplay.from_predictions
    with pytest.raises(ValueError, match="costs and expected must have one number for each row"):
        plot([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="from 0 to largest_cost, which is 1"):
        plot([0.1, 1.2], [0.1, 0.1])
    with pytest.raises(ValueError, match="expected must be finite"):
        plot([0.1], [np.nan])
    with pytest.raises(ValueError, match="confidence a number between 0 and 1"):
        plot([0.1], [0.1], confidence=95)
    with pytest.raises(ValueError, match="one number for each share"):
        CostCoverageDisplay([0.1], [0.1, 0.2], [1], [1], cost_name="f1", confidence=0.9, name="x")
    X, Y = test_rows
    with pytest.raises(ValueError, match="that has expected_cost"):
        CostCoverageDisplay.from_estimator(BinaryRelevance("tree").fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="'macro_f1' is no cost of label vectors"):
        CostCoverageDisplay.from_estimator(model, X, Y, cost="macro_f1")
