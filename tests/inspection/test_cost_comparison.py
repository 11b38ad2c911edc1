from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.text import Text
from sklearn.tree import DecisionTreeClassifier

from refpair import BinaryRelevance, Cost, get_cost
from refpair.inspection import CostComparisonDisplay
from tests.inspection.results import ALGORITHMS, DIRECTIONS, N_TRAIN, made_results


def test_models_are_compared_under_each_cost(model, data, test_rows):
    X, Y = test_rows
    others = {"BR": BinaryRelevance(), "sklearn's": DecisionTreeClassifier(random_state=0)}
    models = {name: other.fit(data[0][:N_TRAIN], data[1][:N_TRAIN]) for name, other in others.items()}
    models["CSRPE"] = model
    own = Cost.per_label(false_negative=3, name="mine")
    display = CostComparisonDisplay.from_estimators(models, X, Y, ["f1", "hamming", own], name="my data")
    assert list(display.scores.index) == ["BR", "sklearn's", "CSRPE"]
    assert list(display.scores.columns) == ["f1", "hamming", "mine"]
    for name, fitted in models.items():
        for cost in (get_cost("f1"), get_cost("hamming"), own):
            assert display.scores.loc[name, cost.name] == pytest.approx(cost.mean(Y, fitted.predict(X)))
    costs = get_cost("f1").rows(Y, model.predict(X))
    assert display.errors.loc["CSRPE", "f1"] == pytest.approx(costs.std(ddof=1) / np.sqrt(len(Y)))
    assert display.best("f1") == [display.scores["f1"].idxmax()]
    assert display.best("hamming") == [display.scores["hamming"].idxmin()]
    assert display.figure_.get_suptitle() == "my data"
    assert len(display.axes_) == len(display.figure_.axes) == 3, "no empty panels"


def comparison_results():
    rng = np.random.default_rng(0)
    frames = []
    for cost in DIRECTIONS:
        scores = {
            name: dict(enumerate(rng.random(20 if name.startswith("CSRPE") else 5))) for name in ALGORITHMS
        }
        frames.append(made_results(scores, cost=cost))
    return pd.concat(frames, ignore_index=True)


def test_results_are_compared_on_the_splits_that_all_have():
    results = comparison_results()
    display = CostComparisonDisplay.from_results(results, "emotions", greater_is_better=DIRECTIONS)
    assert list(display.scores.index) == ALGORITHMS
    assert list(display.scores.columns) == list(DIRECTIONS)
    shared = results[results["split"] < 5].groupby(["algorithm", "cost"])["score"]
    for (algorithm, cost), of_splits in shared:
        assert display.scores.loc[algorithm, cost] == pytest.approx(of_splits.mean())
        assert display.errors.loc[algorithm, cost] == pytest.approx(of_splits.sem())
    assert display.figure_.get_suptitle() == "emotions, splits: 5"
    some = CostComparisonDisplay.from_results(
        results, "emotions", ["rank"], ["CSRPE-posterior", "CSRPE-nearest"], greater_is_better=DIRECTIONS
    )
    assert list(some.scores.index) == ["CSRPE-posterior", "CSRPE-nearest"]
    assert some.figure_.get_suptitle() == "emotions, splits: 20"


def test_the_longest_code_counts_and_an_algorithm_may_miss_under_a_cost():
    results = pd.concat(
        [
            made_results({"BR": {0: 0.4, 1: 0.6}}),
            made_results({"CSRPE": {0: 0.1, 1: 0.1}}, n_bits=10),
            made_results({"CSRPE": {0: 0.7, 1: 0.9}}, n_bits=300),
            made_results({"BR": {0: 2.0}}, cost="rank"),
        ]
    )
    display = CostComparisonDisplay.from_results(results, "emotions", greater_is_better=DIRECTIONS)
    np.testing.assert_allclose(display.scores, [[0.5, 2.0], [0.8, np.nan]])
    np.testing.assert_allclose(display.errors, [[0.1, np.nan], [0.1, np.nan]])
    assert display.best("rank") == ["BR"]
    assert display.figure_.get_suptitle() == "emotions, splits: 1 to 2"
    display.figure_.canvas.draw()


def test_the_best_is_filled_and_the_others_are_not():
    scores = pd.DataFrame({"f1": {"a": 0.5, "b": 0.7, "c": 0.7}, "rank": {"a": 1.5, "b": 2.0, "c": 3.0}})
    display = CostComparisonDisplay(scores, greater_is_better=DIRECTIONS, name="x").plot()
    for ax, places, best in zip(display.axes_, [[1, 2], [0]], ["0.700", "1.50"], strict=True):
        everyone, marked = ax.lines[0], ax.lines[-1]
        assert to_rgba(everyone.get_markerfacecolor()) == to_rgba("white")
        assert marked.get_ydata().tolist() == places
        assert marked.get_marker() != everyone.get_marker()
        assert ax.get_xlabel().endswith(f"best: {best}")
    assert [ax.get_xlabel().splitlines()[:2] for ax in display.axes_] == [
        ["f1", "(higher is better)"],
        ["rank", "(lower is better)"],
    ]


def test_it_is_drawn_where_asked_for():
    scores = pd.DataFrame({"f1": {"a": 0.5, "b": 0.7}, "rank": {"a": 1.5, "b": 2.0}})
    display = CostComparisonDisplay(scores, greater_is_better=DIRECTIONS, name="x")
    figure, axes = plt.subplots(1, 2)
    assert display.plot(axes) is display
    assert display.axes_.tolist() == axes.tolist()
    assert display.figure_ is figure
    assert axes[0].get_title() == "x"
    _, single = plt.subplots()
    with pytest.raises(ValueError, match="ax must have 2 Axes, one for each panel, not 1"):
        display.plot(single)
    CostComparisonDisplay(scores[["f1"]], greater_is_better=DIRECTIONS, name="x").plot(single)
    assert single.lines


@pytest.mark.parametrize("width", [4, 6.4])
def test_no_text_covers_another_or_is_cut_off(width, monkeypatch):
    display = CostComparisonDisplay.from_results(
        comparison_results(), "emotions", greater_is_better=DIRECTIONS
    )
    display.figure_.set_size_inches(width, 6)
    display.figure_.draw_without_rendering()  # lays it out
    drawn = []
    monkeypatch.setattr(Text, "draw", lambda text, renderer: drawn.append(text))
    display.figure_.canvas.draw()
    boxes = {
        f"{number}: {text.get_text()}": text.get_window_extent()
        for number, text in enumerate(drawn)
        if text.get_visible() and text.get_text()
    }
    assert sum("CSRPE-posterior" in name for name in boxes) == 2, "the names are in the first column only"
    whole = display.figure_.bbox
    for (name, box), (other, beside) in combinations(boxes.items(), 2):
        assert not box.overlaps(beside), (name, other)
    for name, box in boxes.items():
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1, name
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1, name


def test_bad_comparisons_are_refused(model, test_rows):
    scores = pd.DataFrame({"f1": {"a": 0.5}})
    with pytest.raises(ValueError, match=r"greater_is_better must say .* cost 'f1'"):
        CostComparisonDisplay(scores, greater_is_better={}, name="x")
    with pytest.raises(ValueError, match="errors must have the rows and columns of scores"):
        CostComparisonDisplay(scores, scores.rename(index={"a": "b"}), greater_is_better=DIRECTIONS, name="x")
    with pytest.raises(ValueError, match="scores must have a row"):
        CostComparisonDisplay.from_estimators({}, *test_rows, ["f1"])
    with pytest.raises(ValueError, match="costs must have different names"):
        CostComparisonDisplay.from_estimators({"m": model}, *test_rows, ["f1", "f1"])
    with pytest.raises(ValueError, match="no algorithm 'XX', but 'BR'"):
        CostComparisonDisplay.from_results(
            comparison_results(), "emotions", algorithms=["XX"], greater_is_better=DIRECTIONS
        )
