import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib import pyplot as plt

from refpair import CSRPEClassifier
from refpair.inspection import (
    AskingCurveDisplay,
    CalibrationDisplay,
    CodeLengthDisplay,
    CostComparisonDisplay,
)
from tests.inspection.results import N_TRAIN


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
        np.testing.assert_array_equal(
            AskingCurveDisplay.from_estimator(fitted, new, labels, ask=[0.1, 0.3]).realised,
            AskingCurveDisplay.from_estimator(model, new, Y[N_TRAIN:], ask=[0.1, 0.3]).realised,
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
    curve = AskingCurveDisplay.from_estimator(model, new, truth, ask=[0.0, 9.0])
    assert curve.realised.tolist() == [0, pytest.approx(wrong * len(new))]
