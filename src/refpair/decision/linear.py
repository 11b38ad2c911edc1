"""Costs that are linear in the prediction: what matters of a distribution is the probability of each label.

Hamming and per-label costs add up over the labels. So does the rank loss for a given truth y: of the pairs of
a label that is there and one that is not, Σ (1 − z_k + z_j) / 2 are in the wrong order, which is

    |y| (K − |y|) / 2 + Σ_k z_k (|y| − K y_k) / 2.

The products of labels in it are not multiplied by z, so they move the expected cost but not the decision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost, CountCost, PerLabelCost, _counts

__all__ = ["decide_from_marginals", "expected_linear_cost", "needs_only_marginals"]

Floats = npt.NDArray[np.float64]

_NOISE = 1e-12  # sides of a comparison whose ratio is this near to 1 are the same but for rounding


def needs_only_marginals(cost: Cost) -> bool:
    """Tell whether the best decision depends on nothing but the probability of each label.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> needs_only_marginals(get_cost("rank")), needs_only_marginals(get_cost("f1"))
    (True, False)
    """
    if isinstance(cost, CountCost):
        return cost.counts is _counts.hamming or cost.counts is _counts.rank
    return isinstance(cost, PerLabelCost)


def decide_from_marginals(marginals: npt.ArrayLike, cost: Cost) -> npt.NDArray[np.uint8]:
    """Return the labels of least expected cost, for a cost that needs only marginals.

    Parameters
    ----------
    marginals : array-like of shape (n, n_labels)
        The probability of each label.
    cost : Cost
        One that is linear in the prediction: hamming, rank or per label. Others raise ValueError.

    Returns
    -------
    ndarray of shape (n, n_labels), dtype uint8
        A label that may be there or not at the same cost is left out.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> decide_from_marginals([[0.5, 0.3, 0.1]], get_cost("hamming"))
    array([[0, 0, 0]], dtype=uint8)
    >>> decide_from_marginals([[0.5, 0.3, 0.1]], get_cost("rank"))
    array([[1, 0, 0]], dtype=uint8)
    """
    p = np.asarray(marginals, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] == 0:
        raise ValueError(f"marginals must have shape (n, n_labels), got shape {p.shape}")
    if not needs_only_marginals(cost):
        raise ValueError(f"the cost {cost.name!r} needs more than marginals: use decide()")
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1])
        present, absent = p * fn, (1.0 - p) * fp
    elif _is_rank(cost):
        present, absent = p, p.mean(axis=1, keepdims=True)
    else:
        present, absent = p, 1.0 - p
    return np.asarray(present > absent * (1.0 + _NOISE)).astype(np.uint8)


def expected_linear_cost(
    marginals: Floats, mean_square: Floats, labels: npt.NDArray[np.uint8], cost: Cost
) -> Floats:
    """Return the expected costs of labels, given also E|y|² of each row, which the rank loss needs."""
    n_labels = labels.shape[1]
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(n_labels)
        wrong = np.where(labels, (1.0 - marginals) * fp, marginals * fn)
        return np.asarray(wrong.sum(axis=1))
    if _is_rank(cost):
        size = marginals.sum(axis=1)
        pairs = n_labels * size - mean_square
        moved = size * labels.sum(axis=1) - n_labels * (marginals * labels).sum(axis=1)
        return np.asarray((pairs + moved) / 2)
    return np.asarray(np.where(labels, 1.0 - marginals, marginals).mean(axis=1))


def _is_rank(cost: Cost) -> bool:
    return isinstance(cost, CountCost) and cost.counts is _counts.rank
