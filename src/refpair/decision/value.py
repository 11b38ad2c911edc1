"""What it is worth to know a label of a row, or all of them, before its label vector is decided on.

V_k = min_z E[C(y, z)] − Σ_v P(y_k = v) · min_z E[C(y, z) | y_k = v]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost, CountCost, PerLabelCost
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import Distribution, Floats
from refpair.tables.labels import UNKNOWN


def least_expected_cost(distribution: Distribution, cost: Cost, rules: RuleSet | None = None) -> Floats:
    """Return what the best answers are expected to cost."""
    return expected_cost(distribution, decide(distribution, cost, rules=rules), cost)


def cost_of_truths(distribution: Distribution, cost: Cost) -> Floats:
    """Return what true label vectors are expected to cost as answers: 0, but for costs of one's own.

    Examples
    --------
    >>> from refpair.posterior import IndependentLabels
    >>> p = IndependentLabels([[0.25, 0.5]])
    >>> cost_of_truths(p, Cost.from_counts(lambda tp, fp, fn, tn: 2 * fn + fp + tp))
    array([0.75])
    """
    sizes = np.arange(distribution.n_labels + 1, dtype=np.float64)
    if isinstance(cost, PerLabelCost) or (
        isinstance(cost, CountCost) and not cost._of_counts(sizes, sizes, sizes, len(sizes) - 1).any()
    ):
        return np.zeros(len(distribution))
    parts = (part for _, part in distribution.weighted())
    costs = [part.weights() @ cost.rows(part.vectors, part.vectors) for part in parts]
    return np.concatenate([np.zeros(0), *costs])


def values_of_labels(
    distribution: Distribution,
    wanted: npt.NDArray[np.bool_],
    cost: Cost,
    rules: RuleSet | None = None,
) -> Floats:
    """Return by how much each label's answer is expected to lower the cost of the row.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
    wanted : array of bool, shape (n, n_labels)
        Which values to compute; others are 0.
    cost : Cost
    rules : RuleSet, optional
        What answers keep.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> from refpair.posterior import IndependentLabels
    >>> p = IndependentLabels([[0.9, 0.5]])
    >>> values_of_labels(p, np.ones((1, 2), bool), get_cost("hamming"))
    array([[0.05, 0.25]])
    """
    values, marginals = np.zeros(wanted.shape), distribution.marginals()
    wanted = wanted & (marginals > 0.0) & (marginals < 1.0)
    before = least_expected_cost(distribution, cost, rules)
    for label in np.flatnonzero(wanted.any(axis=0)):
        rows = np.flatnonzero(wanted[:, label])
        twice = np.concatenate([rows, rows])
        observed = np.full((len(twice), wanted.shape[1]), UNKNOWN, np.uint8)
        observed[:, label] = np.repeat([0, 1], len(rows))
        told = distribution.taken(twice).given(observed)
        absent, present = least_expected_cost(told, cost.for_rows(twice), rules).reshape(2, -1)
        p = marginals[rows, label]
        values[rows, label] = before[rows] - (1.0 - p) * absent - p * present
    return np.maximum(values, 0.0)  # below 0 by rounding, or where the decision is not exact
