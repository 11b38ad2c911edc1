"""When a source has learnt enough: further trees no longer lower the cost of decisions out of bag."""

from __future__ import annotations

import numpy as np

from refpair.decision.decide import quick_decision
from refpair.decision.expected import needs_only_marginals
from refpair.decision.decide import decide
from refpair.posterior.distribution import Floats, IndependentLabels, LabelDistribution
from refpair.posterior.source import Training

_PART = 0.005  # of the cost: what more trees are worth at least
_ERRORS = 1.0  # standard errors that they must be worth besides


def still_improves(before: Floats | None, weights: Floats, training: Training) -> tuple[Floats, bool]:
    """Return what decisions by weights of label vectors cost, and whether that is less than before.

    It is if the mean falls by more than its error, and by more than a small part of the cost.
    """
    cost, vectors = training.cost, training.vectors
    if needs_only_marginals(cost):
        decided = decide(IndependentLabels(np.clip(weights @ vectors, 0.0, 1.0)), cost)
    else:
        decided = quick_decision(vectors, cost)(LabelDistribution.from_dense(vectors, weights))
    costs = cost.rows(training.truths, decided)
    if before is None:
        return costs, True
    gain = before - costs
    error = float(gain.std()) / len(gain) ** 0.5
    least = max(_PART * abs(float(before.mean())), _ERRORS * error)
    return costs, bool(gain.mean() > least)
