"""When a source has learnt enough: further trees no longer lower the cost of decisions out of bag."""

from __future__ import annotations

import numpy as np

from refpair.decision.decide import decide, quick_decision
from refpair.decision.expected import needs_only_marginals
from refpair.posterior.distribution import Floats, IndependentLabels, LabelDistribution
from refpair.posterior.source import Training

_PART = 0.005  # of the cost: what more trees are worth at least
_ERRORS = 1.0  # standard errors that they must be worth besides


def still_improves(before: Floats | None, weights: Floats, training: Training) -> tuple[Floats, bool]:
    """Return what decisions by weights of vectors cost, and whether that is clearly less than before."""
    cost, vectors = training.cost, training.vectors
    if needs_only_marginals(cost):
        decided = decide(IndependentLabels(np.clip(weights @ vectors, 0.0, 1.0)), cost)
    else:
        decided = quick_decision(vectors, cost)(LabelDistribution.from_dense(vectors, weights))
    costs = cost.rows(training.truths, decided)
    return costs, before is None or is_clearly_less(costs, before)


def is_clearly_less(after: Floats, before: Floats) -> bool:
    """Whether the mean falls by more than its error, and by more than a small part."""
    gain = before - after
    least = max(_PART * abs(float(before.mean())), _ERRORS * float(gain.std()) / len(gain) ** 0.5)
    return bool(gain.mean() > least)
