"""How often labels are there, by their predicted probability."""

from __future__ import annotations

import numpy as np
from _drawing import N_TRAIN, Numbers, digits, keep, new_figure
from matplotlib.figure import Figure

from refpair import CSRPEClassifier
from refpair.datasets import load_dataset
from refpair.inspection import CalibrationDisplay


def numbers() -> Numbers:
    """Compare probabilities with the labels of new pictures."""
    X, Y, X_test = digits()
    model = CSRPEClassifier("f1", n_bits=300, random_state=0).fit(X, Y)
    truth = load_dataset("digits").Y[N_TRAIN:]
    found = CalibrationDisplay.from_predictions(truth, model.predict_proba(X_test), n_bins=10)
    parts = {name: getattr(found, name) for name in ("predicted", "observed", "counts")}
    return {name: np.round(values, 3).tolist() for name, values in parts.items()}


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.4, 4.4)
    CalibrationDisplay(**found, name="CSRPE").plot(figure.subplots())
    return figure


if __name__ == "__main__":
    keep("calibration", numbers, draw)
