"""F1 by the number of labeled rows, asked for by a strategy and at random."""

from __future__ import annotations

from _drawing import N_TRAIN, Numbers, digits, keep, new_figure
from matplotlib.figure import Figure

from refpair import BinaryRelevance
from refpair.active import RandomQuery, RepresentativeUncertainty, learning_curve
from refpair.datasets import load_dataset
from refpair.inspection import LearningCurveDisplay

STRATEGIES = {"RepresentativeUncertainty": RepresentativeUncertainty, "RandomQuery": RandomQuery}
N_RUNS = 3


def numbers() -> Numbers:
    """Ask for 200 rows, five at a time, in three runs."""
    X, Y, X_test = digits()
    data = X / 16, Y, X_test / 16, load_dataset("digits").Y[N_TRAIN:]
    found: Numbers = {}
    for name, strategy in STRATEGIES.items():
        curves = [
            learning_curve(
                strategy(random_state=run), BinaryRelevance("logistic"), *data,
                start=range(20), n_queries=180, batch_size=5, test_each=20,
            )
            for run in range(N_RUNS)
        ]  # fmt: skip
        shown = LearningCurveDisplay.from_curves(curves, name=name)
        assert shown.errors is not None
        found[name] = {part: getattr(shown, part).round(3).tolist() for part in ("sizes", "scores", "errors")}
    return found


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(2.8, 4.4)
    ax = figure.subplots()
    for name, parts in found.items():
        LearningCurveDisplay(**parts, name=name, cost_name="f1", greater_is_better=True).plot(ax)
    return figure


if __name__ == "__main__":
    keep("learning_curve", numbers, draw)
