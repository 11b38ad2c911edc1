import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from refpair import BinaryRelevance, CSRPEClassifier
from refpair.inspection import CodeLengthDisplay
from tests.inspection.results import DIRECTIONS, N_TRAIN, legend_of, lengths_frame


def test_a_model_is_scored_at_each_length(model, test_rows):
    X, Y = test_rows
    display = CodeLengthDisplay.from_estimator(model, X, Y, lengths=[100, 3, 20, 3])
    assert display.sizes.tolist() == [3, 20, 100]
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
    found = CodeLengthDisplay.from_estimator(model, *test_rows).sizes
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
    assert display.sizes.tolist() == [10, 1000]
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
    assert (display.sizes.tolist(), display.scores.tolist()) == ([10, 30], [1, 3])
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
