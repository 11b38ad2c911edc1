"""What answers about records cost, were expected to cost, and could be promised, by the share answered."""

from __future__ import annotations

import numpy as np
from _drawing import Numbers, keep, new_figure
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

from refpair import BayesDecisionClassifier, Cost
from refpair.inspection import CostCoverageDisplay

PARTS = ("shares", "costs", "expected", "promised")


def numbers() -> Numbers:
    """Compare the costs of new records, made up as on the page, with what was expected."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    Y = (X + 0.5 * rng.normal(size=X.shape) > [1.4, 0.6, 0.8, 1.0]).astype(int)
    cost = Cost.per_label(false_negative={0: 10})
    model = BayesDecisionClassifier(LogisticRegression(), cost=cost, random_state=0).fit(X[:4000], Y[:4000])
    found = CostCoverageDisplay.from_estimator(model, X[4000:], Y[4000:])
    return {name: np.round(getattr(found, name), 3).tolist() for name in PARTS}


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.2)
    display = CostCoverageDisplay(**found, cost_name="cost", confidence=0.95, name="2000 records")
    display.plot(figure.subplots())
    return figure


if __name__ == "__main__":
    keep("cost_coverage", numbers, draw)
