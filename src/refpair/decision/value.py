"""What it is worth to know a label of a row, or all of them, before its label vector is decided on.

V_k = min_z E[C(y, z)] − Σ_v P(y_k = v) · min_z E[C(y, z) | y_k = v]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import add_entries_given
from refpair.costs import Cost, CountCost, PerLabelCost
from refpair.decision.decide import decide
from refpair.decision.expected import expected_cost
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import (
    Bytes,
    Distribution,
    Floats,
    IndependentLabels,
    LabelDistribution,
    Longs,
    all_weights,
)
from refpair.tables.labels import UNKNOWN

_INDEPENDENT = 0.2  # probability that labels are
_MOST_MIXED = 6  # labels up to which that is mixed in as weights of all label vectors


class LabelsGiven:
    """What labels may be by what is known of their row.

    Weights of label vectors tell more surely how labels go together than is known: few vectors are left once
    some labels are. So with a probability of 20 % labels are independent. What is known of a row makes either
    more or less probable.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
    independent : float, optional
        The probability that labels are independent before anything is known, if not 20 %.

    Examples
    --------
    Both labels or none, but with a probability of 20 % one does not tell of the other.

    >>> from refpair.posterior import LabelDistribution
    >>> given = LabelsGiven(LabelDistribution.from_dense([[0, 0], [1, 1]], [[1, 1]]))
    >>> given(np.array([0]), np.array([[1, UNKNOWN]], np.uint8)).marginals()
    array([[1. , 0.9]])
    """

    def __init__(self, distribution: Distribution, independent: float | None = None) -> None:
        independent = _INDEPENDENT if independent is None else independent
        self._is_mixed = False
        if isinstance(distribution, LabelDistribution) and independent > 0:
            self._independent, self._marginals = independent, distribution.marginals()
            self._is_mixed = distribution.n_labels > _MOST_MIXED
            if not self._is_mixed:
                parts = [distribution, all_weights(self._marginals)]
                distribution = LabelDistribution.mix(parts, [1.0 - independent, independent])
        self._distribution = distribution

    def __call__(self, rows: Longs, observed: Bytes) -> Distribution:
        """Return the distributions of some rows; of more than 6 labels their probabilities only."""
        if not self._is_mixed:
            return self._distribution.taken(rows).given(observed)
        assert isinstance(self._distribution, LabelDistribution)
        mass, told = np.zeros(len(rows)), np.zeros(observed.shape)
        add_entries_given(rows, observed, *self._distribution.entries(), mass, told)
        is_known, p = observed != UNKNOWN, self._marginals[rows]
        by_labels = self._independent * np.where(is_known, np.where(observed == 1, p, 1.0 - p), 1.0).prod(
            axis=1
        )
        both = by_labels + (1.0 - self._independent) * mass
        told = (1.0 - self._independent) * told + by_labels[:, None] * p
        told /= np.where(both > 0, both, 1.0)[:, None]
        told = np.where((both > 0)[:, None], told, p)
        return IndependentLabels(np.where(is_known, observed, np.clip(told, 0.0, 1.0)))


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
    given: LabelsGiven,
    rows: Longs,
    observed: Bytes,
    wanted: npt.NDArray[np.bool_],
    cost: Cost,
    rules: RuleSet | None = None,
) -> Floats:
    """Return by how much each label's answer is expected to lower the cost of its row.

    Parameters
    ----------
    given : LabelsGiven
    rows : array of shape (n,)
        Rows of its distribution.
    observed : array of shape (n, n_labels), dtype uint8
        What is known of them: 0, 1, or UNKNOWN (2).
    wanted : array of bool, shape (n, n_labels)
        Which values to compute; others are 0.
    cost : Cost
        In which prices of rows are those of these rows.
    rules : RuleSet, optional
        What answers keep.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> given = LabelsGiven(IndependentLabels([[0.9, 0.5]]))
    >>> nothing = np.full((1, 2), UNKNOWN, np.uint8)
    >>> values_of_labels(given, np.array([0]), nothing, nothing == UNKNOWN, get_cost("hamming"))
    array([[0.05, 0.25]])
    """
    now = given(rows, observed)
    p, least = now.marginals(), least_expected_cost(now, cost, rules)
    values = np.zeros(p.shape)
    wanted = wanted & (p > 0.0) & (p < 1.0)
    for label in np.flatnonzero(wanted.any(axis=0)):
        some = np.flatnonzero(wanted[:, label])
        known = np.tile(observed[some], (2, 1))
        known[:, label] = np.repeat([0, 1], len(some))
        twice = np.tile(some, 2)
        after = least_expected_cost(given(rows[twice], known), cost.for_rows(twice), rules)
        absent, present = after.reshape(2, -1)
        chance = p[some, label]
        values[some, label] = least[some] - (1.0 - chance) * absent - chance * present
    return np.maximum(values, 0.0)  # below 0 by rounding, or where decisions are not exact
