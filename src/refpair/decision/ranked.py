"""The best list of labels for each row, given a distribution over label vectors.

The gain of a list z is Σ_i d_i · y_{z_i} · v(|y|): d_i are the discounts of its places, which do not rise,
and v(s) is what one of s labels is worth. Its mean is Σ_i d_i r_{z_i} with r_j = E[y_j v(|y|)], so the best
list has the labels of largest r, in this order. Of independent labels these are the most probable ones: with
n others there, r_i − r_j is the mean of (P_i − P_j) v(n + 1).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.ranked import mean_values_of_independent
from refpair.costs import RankedCost
from refpair.posterior.distribution import Bytes, Distribution, Floats, LabelDistribution

_DIGITS = 12  # that tell two means apart
_TAIL = 40.0  # sizes beyond one with a smaller probability than exp(−40) are left out


def top_labels(distribution: Distribution, cost: RankedCost, k: int | None = None) -> npt.NDArray[np.int64]:
    """Return the list of labels of least expected cost for each row, out of all lists.

    It is exact. Of labels that are worth the same, the more probable ones come first, then those of lower
    numbers.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        The distribution of the label vector of each row.
    cost : RankedCost
        The cost of a list.
    k : int, optional
        The number of labels to list, by default that of the cost; at most all.

    Returns
    -------
    ndarray of shape (n, k), dtype int64
        The numbers of the labels, in order.

    Examples
    --------
    The first label is a little less probable, but it is all there is to find where it applies.

    >>> from refpair.costs import get_cost
    >>> from refpair.posterior import LabelDistribution
    >>> p = LabelDistribution.from_dense([[1, 0, 0], [0, 1, 1]], [[0.45, 0.55]])
    >>> top_labels(p, get_cost("precision@1")), top_labels(p, get_cost("recall@1"))
    (array([[1]]), array([[0]]))
    """
    order = np.argsort(-distribution.marginals(), axis=1, kind="stable")
    if isinstance(distribution, LabelDistribution) and cost.gain != "precision":
        values = np.take_along_axis(mean_values(distribution, cost), order, axis=1).round(_DIGITS)
        order = np.take_along_axis(order, np.argsort(-values, axis=1, kind="stable"), axis=1)
    return order[:, : cost.k if k is None else k]


def best_sets(distribution: Distribution, cost: RankedCost) -> Bytes:
    """Return the labels of the best list of each row, as label vectors."""
    labels = np.zeros((len(distribution), distribution.n_labels), np.uint8)
    np.put_along_axis(labels, top_labels(distribution, cost), 1, axis=1)
    return labels


def expected_cost_of_sets(distribution: Distribution, labels: Bytes, cost: RankedCost) -> Floats:
    """Return the expected cost of lists of the labels of a vector, each in the best order of these labels."""
    length = cost.length(distribution.n_labels)
    if not (labels.sum(axis=1, dtype=np.int64) == length).all():
        raise ValueError(f"the cost {cost.name!r} is of lists of {length} labels: labels must have so many")
    values = mean_values(distribution, cost)
    listed = -np.sort(-np.where(labels, values, -1.0), axis=1)[:, :length]
    gains = listed @ cost.discounts(length)
    if cost.of_nothing:
        gains += cost.of_nothing * _chance_of_nothing(distribution)
    return np.asarray(np.maximum(1.0 - gains, 0.0))  # less only by rounding


def mean_values(distribution: Distribution, cost: RankedCost) -> Floats:
    """Return what each label is worth on average: what a list gains by it in the first place."""
    length = cost.length(distribution.n_labels)
    if cost.gain == "precision":
        return distribution.marginals() / length
    if isinstance(distribution, LabelDistribution):
        sizes = distribution.vectors.sum(axis=1, dtype=np.int64)
        of_vectors = sp.csr_array(distribution.vectors * cost.value_of_size(sizes, length)[:, None])
        return np.asarray((distribution.weights() @ of_vectors).toarray())
    marginals = distribution.marginals()
    value_of_size = cost.value_of_size(np.arange(_largest_size(marginals) + 1), length)
    return np.asarray(mean_values_of_independent(marginals, value_of_size))


def _largest_size(marginals: Floats) -> int:
    """Return a size that is exceeded as good as never, by Bernstein's inequality."""
    mean, step = float(marginals.sum(axis=1).max(initial=0.0)), _TAIL / 3
    n_labels: int = marginals.shape[1]
    return min(n_labels, math.ceil(mean + step + math.sqrt(step**2 + 2 * _TAIL * mean)))


def _chance_of_nothing(distribution: Distribution) -> Floats:
    if isinstance(distribution, LabelDistribution):
        return np.asarray(distribution.weights() @ (~distribution.vectors.any(axis=1)).astype(np.float64))
    return np.asarray((1.0 - distribution.marginals()).prod(axis=1))
