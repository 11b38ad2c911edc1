import sys
from importlib import import_module
from itertools import combinations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.text import Text
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import refpair
from refpair import BinaryRelevance, Cost, CSRPEClassifier, get_cost, inspection
from refpair.inspection import CalibrationDisplay, CodeLengthDisplay, CostComparisonDisplay

ALGORITHMS = ["BR", "RAkEL", "HAMR", "CC", "PCC", "CFT", "CSRPE-nearest", "CSRPE-posterior"]
DIRECTIONS = {"f1": True, "accuracy": True, "hamming": False, "rank": False}
N_TRAIN = 80


@pytest.fixture(autouse=True)
def _no_windows():
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 6))
    scores = X @ rng.standard_normal((6, 5)) + 0.3 * rng.standard_normal((200, 5))
    return X, (scores > 0.5).astype(int)


@pytest.fixture(scope="module")
def model(data):
    X, Y = data
    return CSRPEClassifier("f1", n_bits=120, random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])


@pytest.fixture(scope="module")
def test_rows(data):
    return data[0][N_TRAIN:], data[1][N_TRAIN:]


def made_results(scores, n_bits=0, cost="f1", data="emotions"):
    """Results of a data set by algorithm (or by length), each with the score of each split."""
    rows = [
        {"data": data, "cost": cost, "algorithm": algorithm, "n_bits": n_bits, "split": split, "score": score}
        for algorithm, of_split in scores.items()
        for split, score in of_split.items()
    ]
    return pd.DataFrame(rows)


def lengths_frame(by_length, algorithm="CSRPE-posterior", cost="f1"):
    frames = [made_results({algorithm: scores}, n_bits, cost) for n_bits, scores in by_length.items()]
    return pd.concat(frames, ignore_index=True)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# ---- without matplotlib ----


def test_the_module_is_imported_without_matplotlib(monkeypatch):
    monkeypatch.setattr(refpair, "inspection", inspection)  # puts it back afterwards
    for name in [name for name in sys.modules if name.startswith("refpair.inspection")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    again = import_module("refpair.inspection")
    assert again is not inspection
    assert set(again.__all__) == {"CalibrationDisplay", "CodeLengthDisplay", "CostComparisonDisplay"}


def test_plotting_without_matplotlib_names_the_extra(monkeypatch, model, test_rows):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    results = made_results({"BR": {0: 0.5}, "CSRPE-posterior": {0: 0.6}})
    scores = pd.DataFrame({"f1": {"BR": 0.5}})
    for plot in (
        CodeLengthDisplay([1, 2], [0.1, 0.2], name="m", cost_name="f1", greater_is_better=True).plot,
        CalibrationDisplay([0.1], [0.2], [3], name="m").plot,
        CostComparisonDisplay(scores, greater_is_better=DIRECTIONS, name="m").plot,
        lambda: CodeLengthDisplay.from_estimator(model, *test_rows),
        lambda: CodeLengthDisplay.from_results(results, "emotions", "f1", greater_is_better=DIRECTIONS),
        lambda: CalibrationDisplay.from_estimator(model, *test_rows),
        lambda: CalibrationDisplay.from_predictions([1, 0], [0.5, 0.5]),
        lambda: CostComparisonDisplay.from_estimators({"m": model}, *test_rows, ["f1"]),
        lambda: CostComparisonDisplay.from_results(results, "emotions", greater_is_better=DIRECTIONS),
    ):
        with pytest.raises(ImportError, match=r"plotting needs matplotlib: pip install 'refpair\[plot\]'"):
            plot()


# ---- the length of the code ----


def test_a_model_is_scored_at_each_length(model, test_rows):
    X, Y = test_rows
    display = CodeLengthDisplay.from_estimator(model, X, Y, lengths=[100, 3, 20, 3])
    assert display.n_bits.tolist() == [3, 20, 100]
    expected = [model.shorten(n).score(X, Y) for n in (3, 20, 100)]
    np.testing.assert_allclose(display.scores, expected)
    rows = 1 - model.cost_.rows(Y, model.shorten(20).predict(X))
    assert display.errors[1] == pytest.approx(rows.std(ddof=1) / np.sqrt(len(Y)))
    assert display.ax_.get_ylabel() == "f1 (higher is better)"
    assert display.ax_.get_xlabel() == "bits of the code"
    assert display.ax_.get_title() == "CSRPEClassifier"
    assert display.figure_ is display.ax_.figure
    np.testing.assert_array_equal(display.line_.get_xdata(), [3, 20, 100])
    np.testing.assert_array_equal(display.line_.get_ydata(), display.scores)


def test_costs_are_shown_as_they_are_reported(data, test_rows):
    X, Y = data
    model = CSRPEClassifier("rank", n_bits=30, random_state=0).fit(X[:N_TRAIN], Y[:N_TRAIN])
    display = CodeLengthDisplay.from_estimator(model, *test_rows, lengths=[30])
    assert display.scores[0] == pytest.approx(-model.score(*test_rows))
    assert display.scores[0] > 0
    assert display.ax_.get_ylabel() == "rank (lower is better)"


def test_lengths_are_a_dozen_up_to_the_whole_code(model, test_rows):
    found = CodeLengthDisplay.from_estimator(model, *test_rows).n_bits
    assert (found[0], found[-1], len(found)) == (10, 120, 12)


@pytest.mark.parametrize(
    ("lengths", "match"), [([], "lengths"), ([0], "lengths"), ([10, 121], "lengths.*120")]
)
def test_lengths_that_there_are_not_are_refused(model, test_rows, lengths, match):
    with pytest.raises(ValueError, match=match):
        CodeLengthDisplay.from_estimator(model, *test_rows, lengths=lengths)


def test_a_model_without_bits_is_refused(data, test_rows):
    X, Y = data
    with pytest.raises(ValueError, match="model must be a CSRPEClassifier"):
        CodeLengthDisplay.from_estimator(BinaryRelevance(), *test_rows)
    with pytest.raises(NotFittedError):
        CodeLengthDisplay.from_estimator(CSRPEClassifier(), *test_rows)
    always_the_same = CSRPEClassifier(n_bits=5).fit(X[:9], np.repeat(Y[:1], 9, axis=0))
    with pytest.raises(ValueError, match="model has no bits"):
        CodeLengthDisplay.from_estimator(always_the_same, *test_rows)


def test_results_are_averaged_over_the_splits_that_all_lengths_have():
    results = lengths_frame({1000: {0: 0.7, 2: 0.9}, 10: {0: 0.3, 1: 0.0, 2: 0.4}})
    results = pd.concat(
        [results, lengths_frame({10: {0: 9.0}}, "other"), lengths_frame({10: {0: 9.0}}, cost="rank")]
    )
    display = CodeLengthDisplay.from_results(results, "emotions", "f1", greater_is_better=DIRECTIONS)
    assert display.n_bits.tolist() == [10, 1000]
    np.testing.assert_allclose(display.scores, [0.35, 0.8])
    np.testing.assert_allclose(display.errors, [0.05, 0.1])
    assert display.ax_.get_title() == "CSRPE-posterior on emotions"
    assert display.ax_.get_xscale() == "log"
    (path,) = display.band_.get_paths()
    assert {round(y, 9) for y in path.vertices[:, 1]} == {0.3, 0.4, 0.7, 0.9}


def test_a_single_split_has_no_band_and_near_lengths_no_logarithm():
    results = lengths_frame({100: {4: 0.3}, 900: {4: 0.4}}, "mine")
    display = CodeLengthDisplay.from_results(
        results, "emotions", "f1", algorithm="mine", greater_is_better=DIRECTIONS
    )
    assert display.errors is display.band_ is display.flat_line_ is display.flat_from is None
    assert display.ax_.get_xscale() == "linear"


def test_bad_results_are_refused():
    def plot(results, data="emotions", cost="f1", directions=DIRECTIONS):
        CodeLengthDisplay.from_results(results, data, cost, greater_is_better=directions)

    results = lengths_frame({10: {0: 0.3}, 20: {0: 0.4}})
    with pytest.raises(ValueError, match="no data 'scene', but 'emotions'"):
        plot(results, data="scene")
    with pytest.raises(ValueError, match="no cost 'rank', but 'f1'"):
        plot(results, cost="rank")
    with pytest.raises(ValueError, match=r"greater_is_better must say .* cost 'f1'"):
        plot(results, directions={})
    with pytest.raises(ValueError, match=r"lack \['split'\]"):
        plot(results.drop(columns="split"))
    with pytest.raises(ValueError, match="twice"):
        plot(pd.concat([results, results]))
    with pytest.raises(ValueError, match="no split that every n_bits has"):
        plot(lengths_frame({10: {0: 0.3}, 20: {1: 0.4}}))


@pytest.mark.parametrize("greater_is_better", [True, False])
@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.5, 0.79, 0.8], 30),
        ([0.79, 0.5, 0.78, 0.8], 30),
        ([0.8, 0.79, 0.79, 0.8], 10),
        ([0.1, 0.5, 0.6, 0.8], None),
        ([0.1, 0.8, 0.76, 0.79], None),  # only the last one, after which nothing is known
    ],
)
def test_where_the_curve_flattens(scores, expected, greater_is_better):
    sign = 1 if greater_is_better else -1
    display = CodeLengthDisplay(
        [10, 20, 30, 40], sign * np.array(scores), [0.021] * 4, name="m", cost_name="c",
        greater_is_better=greater_is_better,
    ).plot()  # fmt: skip
    assert display.flat_from == expected
    assert (display.flat_line_ is None) == (expected is None)
    if expected is not None:
        assert f"flat from {expected} bits" in legend_of(display.ax_)


def test_lengths_are_put_in_order_with_their_scores():
    display = CodeLengthDisplay([30, 10], [3, 1], [0.3, 0.1], name="m", cost_name="c", greater_is_better=True)
    assert (display.n_bits.tolist(), display.scores.tolist()) == ([10, 30], [1, 3])
    assert display.errors.tolist() == [0.1, 0.3]
    for scores, errors, match in [([1, 2, 3], None, "scores"), ([1, 2], [1], "errors")]:
        with pytest.raises(ValueError, match=f"{match} must have one number for each of n_bits"):
            CodeLengthDisplay([1, 2], scores, errors, name="m", cost_name="c", greater_is_better=True)


def test_curves_in_one_axes_are_told_apart():
    _, ax = plt.subplots()
    displays = [
        CodeLengthDisplay([1, 2], [1, 2], name=name, cost_name="f1", greater_is_better=True).plot(ax)
        for name in ("one", "two")
    ]
    colours, styles = zip(*[(d.line_.get_color(), d.line_.get_linestyle()) for d in displays], strict=True)
    assert len(set(colours)) == len(set(styles)) == 2, "not by colour alone"
    assert legend_of(ax) == ["one", "two"]
    assert ax.get_title() == "", "neither of them names the picture"
    ax.set_title("of my own")
    displays[0].plot(ax, color="black")
    assert ax.get_title() == "of my own"
    assert displays[0].line_.get_color() == "black"


# ---- several models and costs ----


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
            assert display.scores.loc[name, cost.name] == pytest.approx(cost.score(Y, fitted.predict(X)))
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
    with pytest.raises(ValueError, match="ax must have one Axes for each of the 2 costs, not 1"):
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


# ---- calibration ----


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_bins_are_those_of_the_formula(n_bins, seed):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.0, 0.25, 1 / 3, 0.5, 1.0, *rng.random(9)], (12, 3))
    y = (rng.random((12, 3)) < p).astype(int)
    display = CalibrationDisplay.from_predictions(y, p, n_bins=n_bins)
    plt.close(display.figure_)
    bins = {}
    for probability, label in zip(p.ravel(), y.ravel(), strict=True):
        bins.setdefault(min(int(probability * n_bins), n_bins - 1), []).append((probability, label))
    expected = [np.mean(bins[place], axis=0) for place in sorted(bins)]
    np.testing.assert_allclose(np.column_stack([display.predicted, display.observed]), expected)
    assert display.counts.tolist() == [len(bins[place]) for place in sorted(bins)]
    error = sum(abs(sum(q - label for q, label in found)) for found in bins.values()) / p.size
    assert display.calibration_error == pytest.approx(error)


def test_the_calibration_of_a_model(model, test_rows):
    X, Y = test_rows
    display = CalibrationDisplay.from_estimator(model, X, Y, n_bins=4)
    same = CalibrationDisplay.from_predictions(Y, model.predict_proba(X), n_bins=4, name="CSRPEClassifier")
    for name in ("predicted", "observed", "counts"):
        np.testing.assert_array_equal(getattr(display, name), getattr(same, name))
    assert display.counts.sum() == Y.size
    error = f"CSRPEClassifier:\ncalibration error {display.calibration_error:.3f}"
    assert legend_of(display.ax_) == ["perfectly calibrated", error]
    assert display.ax_.get_title() == "CSRPEClassifier"
    assert "nearer to the diagonal is better" in display.ax_.get_ylabel()
    np.testing.assert_array_equal(display.line_.get_xdata(), display.predicted)
    sizes = display.markers_.get_sizes()
    assert (np.argsort(sizes) == np.argsort(display.counts)).all(), "the more predictions, the larger"
    other = CalibrationDisplay.from_predictions(Y, np.full(Y.shape, 0.5), name="guess", ax=display.ax_)
    assert legend_of(other.ax_).count("perfectly calibrated") == 1
    assert len(legend_of(other.ax_)) == 3


def test_bad_probabilities_are_refused():
    plot = CalibrationDisplay.from_predictions
    with pytest.raises(ValueError, match=r"proba must have .* \(2, 1\), not \(2, 2\)"):
        plot([1, 0], [[0.5, 0.5], [0.5, 0.5]])
    for wrong in (1.1, -0.1, np.nan):
        with pytest.raises(ValueError, match="proba must be probabilities"):
            plot([1, 0], [0.5, wrong])
    with pytest.raises(ValueError, match="y_true must be 0/1"):
        plot([1, 2], [0.5, 0.5])
    with pytest.raises(ValueError, match="n_bins must be an integer of at least 1"):
        plot([1, 0], [0.5, 0.5], n_bins=0)
    with pytest.raises(ValueError, match="one number for each bin"):
        CalibrationDisplay([0.1], [0.1, 0.2], [1], name="x")
    with pytest.raises(ValueError, match="counts must be 1 or more"):
        CalibrationDisplay([0.1], [0.1], [0], name="x")


# ---- labels as people have them ----


@pytest.mark.parametrize(
    "form",
    [
        sp.csr_array,
        sp.csc_matrix,
        lambda Y: pd.DataFrame(Y, columns=list("abcde")),
        lambda Y: Y.astype(bool),
        lambda Y: Y.astype(float),
    ],
    ids=["csr_array", "csc_matrix", "pandas", "bool", "float"],
)
def test_labels_of_any_form(model, data, form):
    X, Y = data
    new, labels = X[N_TRAIN:], form(Y[N_TRAIN:])
    again = CSRPEClassifier("f1", n_bits=120, random_state=0).fit(X[:N_TRAIN], form(Y[:N_TRAIN]))
    for fitted in (model, again):
        np.testing.assert_array_equal(
            CodeLengthDisplay.from_estimator(fitted, new, labels, lengths=[9, 90]).scores,
            CodeLengthDisplay.from_estimator(model, new, Y[N_TRAIN:], lengths=[9, 90]).scores,
        )
        np.testing.assert_array_equal(
            CalibrationDisplay.from_estimator(fitted, new, labels).observed,
            CalibrationDisplay.from_estimator(model, new, Y[N_TRAIN:]).observed,
        )
        np.testing.assert_array_equal(
            CostComparisonDisplay.from_estimators({"m": fitted}, new, labels, ["rank"]).scores,
            CostComparisonDisplay.from_estimators({"m": model}, new, Y[N_TRAIN:], ["rank"]).scores,
        )
        plt.close("all")


def test_one_dimensional_labels(data):
    X, Y = data
    y = np.where(Y[:, 0] == 1, "yes", "no")
    model = CSRPEClassifier("hamming", n_bits=1, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    new, truth = X[N_TRAIN:], y[N_TRAIN:]
    wrong = (model.predict(new) != truth).mean()
    assert CodeLengthDisplay.from_estimator(model, new, truth).scores.tolist() == [pytest.approx(wrong)]
    display = CalibrationDisplay.from_estimator(model, new, truth, n_bins=1)
    assert display.observed.tolist() == [pytest.approx((truth == "yes").mean())]
    assert display.predicted.tolist() == [pytest.approx(model.predict_proba(new)[:, 1].mean())]
    found = CostComparisonDisplay.from_estimators({"m": model}, new, truth, ["zero_one"])
    assert found.scores.iloc[0, 0] == pytest.approx(wrong)
