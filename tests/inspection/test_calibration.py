import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from refpair.inspection import CalibrationDisplay
from tests.inspection.results import legend_of


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
