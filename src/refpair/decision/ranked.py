"""The best list of labels for each row, given a distribution over label vectors.

The gain of a list z is Σ_i d_i · y_{z_i} · v(|y|): d_i are the discounts of its places, which do not rise, and
v(s) is what one of s labels is worth. Its mean is Σ_i d_i r_{z_i} with r_j = E[y_j v(|y|)], so the best list has
the labels of largest r, in this order.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.ranked import mean_values_of_independent
from refpair._parallel import even_chunks, run_chunks
from refpair.costs import RankedCost
from refpair.posterior.distribution import Bytes, Distribution, Floats, LabelDistribution

_DIGITS = 12  # that tell two means apart
_ROWS = 256  # at a time
_TAIL = 40.0  # sizes beyond one with a smaller probability than exp(−40) are left out


def top_labels(
    distribution: Distribution, cost: RankedCost, k: int | None = None, *, n_jobs: int | None = None
) -> npt.NDArray[np.int64]:
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
    n_jobs : int, optional
        Number of threads, as in joblib. The lists do not depend on it.

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
    marginals = distribution.marginals()
    values = mean_values(distribution, cost, n_jobs=n_jobs)
    order = np.lexsort((-marginals, -values.round(_DIGITS)), axis=1)
    return order[:, : cost.k if k is None else k]


def best_sets(distribution: Distribution, cost: RankedCost, *, n_jobs: int | None = None) -> Bytes:
    """Return the labels of the best list of each row, as label vectors."""
    labels = np.zeros((len(distribution), distribution.n_labels), np.uint8)
    np.put_along_axis(labels, top_labels(distribution, cost, n_jobs=n_jobs), 1, axis=1)
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


def mean_values(distribution: Distribution, cost: RankedCost, *, n_jobs: int | None = None) -> Floats:
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

    def some(rows: slice) -> Floats:
        return np.asarray(mean_values_of_independent(marginals[rows], value_of_size))

    chunks = even_chunks(len(marginals), _ROWS, n_jobs)
    return np.concatenate(run_chunks(some, chunks, n_jobs=n_jobs, title="ranking", in_place=True))


def _largest_size(marginals: Floats) -> int:
    """Return a size that is exceeded as good as never, by Bernstein's inequality."""
    mean, step = float(marginals.sum(axis=1).max(initial=0.0)), _TAIL / 3
    return min(marginals.shape[1], math.ceil(mean + step + math.sqrt(step**2 + 2 * _TAIL * mean)))


def _chance_of_nothing(distribution: Distribution) -> Floats:
    if isinstance(distribution, LabelDistribution):
        return np.asarray(distribution.weights() @ (~distribution.vectors.any(axis=1)).astype(np.float64))
    return np.asarray((1.0 - distribution.marginals()).prod(axis=1))
