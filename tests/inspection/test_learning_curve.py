import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from refpair.inspection import LearningCurveDisplay
from tests.inspection.results import DIRECTIONS, legend_of


def curve(*scores, step=10):
    return pd.DataFrame({"n_labeled": 20 + step * np.arange(len(scores)), "score": scores})


def results(strategy="MMC", n_runs=3):
    rows = [
        ("emotions", "rank", strategy, n, run, 2.0 - n / 100 + run / 10)
        for n in (20, 40, 60)
        for run in range(n_runs)
    ]
    return pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_labeled", "split", "score"])


def test_curves_of_several_runs_have_a_band():
    display = LearningCurveDisplay.from_curves([curve(0.1, 0.3), curve(0.3, 0.5)], cost="f1", name="MMC")
    np.testing.assert_allclose(display.scores, [0.2, 0.4])
    np.testing.assert_allclose(display.errors, [0.1, 0.1])
    assert display.ax_.get_xlabel() == "labeled rows"
    assert display.ax_.get_ylabel() == "f1 (higher is better)"
    assert display.band_ is not None
    assert display.area == pytest.approx(0.3)


def test_only_numbers_of_rows_that_all_runs_have_count():
    display = LearningCurveDisplay.from_curves([curve(0.1, 0.3, 0.4), curve(0.3, 0.5)])
    assert display.sizes.tolist() == [20, 30]
    with pytest.raises(ValueError, match="some number of labeled rows in common"):
        LearningCurveDisplay.from_curves([curve(0.1), curve(0.2).assign(n_labeled=5)])
    with pytest.raises(ValueError, match="curves must not be empty"):
        LearningCurveDisplay.from_curves([])


def test_one_run_has_no_band_and_several_strategies_share_axes():
    _, ax = plt.subplots()
    first = LearningCurveDisplay.from_curves([curve(0.1, 0.3)], cost="hamming", name="random", ax=ax)
    second = LearningCurveDisplay.from_curves([curve(0.2, 0.1)], cost="hamming", name="MMC", ax=ax)
    assert first.band_ is None
    assert first.errors is None
    assert legend_of(ax) == ["random", "MMC"]
    assert first.line_.get_color() != second.line_.get_color()
    assert ax.get_ylabel() == "hamming (lower is better)"


def test_results_of_a_simulation():
    how = {"algorithm": "MMC", "greater_is_better": DIRECTIONS}
    display = LearningCurveDisplay.from_results(results(), "emotions", "rank", **how)
    np.testing.assert_allclose(display.scores, [1.9, 1.7, 1.5])
    assert display.name == "MMC on emotions"
    with pytest.raises(ValueError, match="results have no algorithm 'CSRPE', but 'MMC'"):
        LearningCurveDisplay.from_results(
            results(), "emotions", "rank", algorithm="CSRPE", greater_is_better=DIRECTIONS
        )
    with pytest.raises(ValueError, match=r"results must have the columns .*n_labeled.* lack \['n_labeled'\]"):
        LearningCurveDisplay.from_results(results().drop(columns="n_labeled"), "emotions", "rank", **how)


def test_the_area_goes_by_the_distance_of_points():
    def area(n, scores):
        how = {"name": "x", "cost_name": "f1", "greater_is_better": True}
        return LearningCurveDisplay(n, scores, **how).area

    assert area([20, 30, 50], [0.2, 0.4, 0.6]) == pytest.approx((10 * 0.3 + 20 * 0.5) / 30)
    assert area([20], [0.2]) == 0.2
    with pytest.raises(ValueError, match=r"scores must have one number for each of n_labeled"):
        area([20, 30], [0.2])
