"""Plots of models: calibration, code length, and a comparison under several costs."""

import tempfile
from pathlib import Path

import matplotlib as mpl

from refpair import BinaryRelevance, CSRPEClassifier
from refpair.datasets import load_dataset
from refpair.inspection import CalibrationDisplay, CodeLengthDisplay, CostComparisonDisplay

mpl.use("Agg")  # no window


def main() -> None:
    """Draw three figures, and print some of the numbers that they keep."""
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:1000], digits.Y[:1000], digits.X[1000:], digits.Y[1000:]
    model = CSRPEClassifier("f1", n_bits=640, random_state=0).fit(X, Y)
    models = {"BR": BinaryRelevance(random_state=0).fit(X, Y), "CSRPE for F1": model}

    length = CodeLengthDisplay.from_estimator(model, X_test, Y_test, lengths=[20, 80, 320, 640])
    calibration = CalibrationDisplay.from_estimator(model, X_test, Y_test, n_bins=10)
    comparison = CostComparisonDisplay.from_estimators(
        models, X_test, Y_test, costs=["f1", "rank", "hamming"]
    )
    print("F1 by bits:", dict(zip(length.sizes.tolist(), length.scores.round(2).tolist(), strict=True)))
    print("labels of probability 0.8 to 0.9:", f"{calibration.observed[8]:.0%} are true")
    for cost in comparison.scores:
        print(f"best by {cost}: {', '.join(comparison.best(cost))}")

    with tempfile.TemporaryDirectory() as folder:
        for name, display in {"length": length, "calibration": calibration, "costs": comparison}.items():
            display.figure_.savefig(Path(folder, f"{name}.png"))
        print(sorted(path.name for path in Path(folder).iterdir()))


if __name__ == "__main__":
    main()
