"""What it is worth to know a label of a row before its label vector is decided on.

V_k = min_z E[C(y, z)] − Σ_v P(y_k = v) · min_z E[C(y, z) | y_k = v]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost, CountCost, PerLabelCost, get_cost
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.posterior.distribution import MOST_ENUMERATED, Distribution, Floats, IndependentLabels


def least_expected_cost(distribution: Distribution, cost: Cost) -> Floats:
    """Return what the best answers are expected to cost."""
    return expected_cost(distribution, decide(distribution, cost), cost)


def values_of_labels(marginals: Floats, wanted: npt.NDArray[np.bool_], cost: Cost) -> Floats:
    """Return by how much each answer is expected to lower the cost, if labels are independent.

    Of more than 10 labels under a cost of any function, it is their value under the Hamming loss.

    Parameters
    ----------
    marginals : array of shape (n, n_labels)
        The probability of each label.
    wanted : array of bool, shape (n, n_labels)
        Which values to compute; others are 0.
    cost : Cost

    Examples
    --------
    >>> values_of_labels(np.array([[0.9, 0.5]]), np.ones((1, 2), bool), get_cost("hamming"))
    array([[0.05, 0.25]])
    """
    values = np.zeros(marginals.shape)
    if not isinstance(cost, CountCost | PerLabelCost) and marginals.shape[1] > MOST_ENUMERATED:
        cost = get_cost("hamming")
    before = least_expected_cost(IndependentLabels(marginals), cost)
    for label in np.flatnonzero(wanted.any(axis=0)):
        rows = np.flatnonzero(wanted[:, label])
        p, known = marginals[rows, label], marginals[rows]
        after = np.zeros(len(rows))
        for value, chance in ((0.0, 1.0 - p), (1.0, p)):
            known[:, label] = value
            after += chance * least_expected_cost(IndependentLabels(known), cost)
        values[rows, label] = np.maximum(before[rows] - after, 0.0)  # below 0 by rounding only
    return values
