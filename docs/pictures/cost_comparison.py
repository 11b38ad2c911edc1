"""Three models, each scored by three costs."""

from __future__ import annotations

import pandas as pd
from _drawing import N_TRAIN, Numbers, digits, keep, new_figure
from matplotlib.figure import Figure

from refpair import BinaryRelevance, CSRPEClassifier
from refpair.datasets import load_dataset
from refpair.inspection import CostComparisonDisplay


def numbers() -> Numbers:
    """Score a forest for each label, and models for two costs, on new pictures."""
    X, Y, X_test = digits()
    models = {
        "forest": BinaryRelevance("forest", random_state=0).fit(X, Y),
        "for F1": CSRPEClassifier("f1", n_bits=300, random_state=0).fit(X, Y),
        "for rank": CSRPEClassifier("rank", n_bits=300, random_state=0).fit(X, Y),
    }
    truth = load_dataset("digits").Y[N_TRAIN:]
    found = CostComparisonDisplay.from_estimators(models, X_test, truth, ["f1", "hamming", "rank"])
    assert found.errors is not None
    return {
        "scores": found.scores.round(4).to_dict(),
        "errors": found.errors.round(4).to_dict(),
        "greater_is_better": dict(found.greater_is_better),
    }


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(2.2, 6.4)
    tables = pd.DataFrame(found["scores"]), pd.DataFrame(found["errors"])
    shown = CostComparisonDisplay(
        *tables, greater_is_better=found["greater_is_better"], name="1500 new pictures"
    )
    shown.plot(figure.subplots(1, 3, sharey=True))
    return figure


if __name__ == "__main__":
    keep("cost_comparison", numbers, draw)
