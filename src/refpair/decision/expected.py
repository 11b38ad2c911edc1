"""What a decision costs on average under a distribution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.expected import expected_costs
from refpair.costs import Cost, CountCost, Labels, PerLabelCost, check_labels
from refpair.decision.function_search import mean_costs
from refpair.decision.independent import stand_ins
from refpair.decision.linear import expected_linear_cost, needs_only_marginals
from refpair.decision.table import table_width, tabulate
from refpair.posterior import IndependentLabels, LabelDistribution

__all__ = ["expected_cost", "worst_cost"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_CELLS = 48_000_000  # of a table: 400 MB


def expected_cost(
    distribution: LabelDistribution | IndependentLabels, labels: Labels, cost: Cost
) -> npt.NDArray[np.float64]:
    """Return the expected cost of predicting labels[i] for row i.

    It is exact, except for more than 10 independent labels under a cost of any function: there it is the mean
    over 1000 label vectors drawn for each row, always with the same random numbers.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What each row's label vector may be.
    labels : array-like or sparse matrix of shape (n, n_labels)
        The decision for each row.
    cost : Cost
        What it costs to predict a label vector when another one is right.

    Returns
    -------
    ndarray of shape (n,), dtype float64

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> p = LabelDistribution.from_dense([[0, 0], [1, 1]], [[3, 1]])
    >>> expected_cost(p, [[0, 0]], get_cost("f1")), expected_cost(p, [[1, 0]], get_cost("f1")).round(3)
    (array([0.25]), array([0.833]))
    """
    checked = check_labels(labels, "labels")
    predicted = np.ascontiguousarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.uint8)
    shape = (len(distribution), distribution.n_labels)
    if predicted.shape != shape:
        raise ValueError(
            f"labels must have shape {shape} as the distribution has, got shape {predicted.shape}"
        )
    if needs_only_marginals(cost):
        return _of_linear(distribution, predicted, cost)
    if isinstance(distribution, LabelDistribution):
        return (
            _of_counts(distribution, predicted, cost)
            if isinstance(cost, CountCost)
            else mean_costs(distribution, predicted, cost)
        )
    if isinstance(cost, CountCost):
        return _of_independent_counts(distribution.marginals(), predicted, cost)
    out = np.empty(len(distribution))
    for rows, part in stand_ins(distribution):
        out[rows] = mean_costs(part, predicted[rows], cost)
    return out


def worst_cost(labels: Bytes, cost: Cost) -> Floats:
    """Return the most that predicting labels[i] can cost; infinity for costs of which that is not known.

    Parameters
    ----------
    labels : ndarray of uint8, shape (n, n_labels)
    cost : Cost

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> answers = np.uint8([[1, 0, 0], [1, 1, 0]])
    >>> worst_cost(answers, get_cost("f1")), worst_cost(answers, get_cost("rank"))
    (array([1., 1.]), array([2., 2.]))
    """
    n_labels = labels.shape[1]
    if isinstance(cost, PerLabelCost):
        false_positive, false_negative = cost.prices(n_labels)
        return np.asarray(np.where(labels, false_positive, false_negative).sum(axis=1))
    if not isinstance(cost, CountCost):
        return np.full(len(labels), np.inf)
    sizes = labels.sum(axis=1, dtype=np.int64)
    worst = np.empty(len(labels))
    for size in np.unique(sizes):
        tp, fn = (grid.astype(np.float64) for grid in np.indices((size + 1, n_labels - size + 1)))
        worst[sizes == size] = cost._of_counts(tp, tp + fn, np.full_like(tp, size), n_labels).max()
    return worst


def _of_linear(distribution: LabelDistribution | IndependentLabels, labels: Bytes, cost: Cost) -> Floats:
    p = distribution.marginals()
    if isinstance(distribution, IndependentLabels):
        mean_square = (p * (1.0 - p)).sum(axis=1) + p.sum(axis=1) ** 2
    else:
        mean_square = distribution.weights() @ (distribution.vectors.sum(axis=1, dtype=np.float64) ** 2)
    return expected_linear_cost(p, mean_square, labels, cost)


def _of_counts(distribution: LabelDistribution, labels: Bytes, cost: CountCost) -> Floats:
    sizes = distribution.vectors.sum(axis=1, dtype=np.int64)
    predicted = np.unique(labels.sum(axis=1, dtype=np.int64))
    if table_width(sizes) * len(predicted) > _CELLS:
        return mean_costs(distribution, labels, cost)
    table = tabulate(cost, sizes, predicted, labels.shape[1])
    table_row = np.zeros(labels.shape[1] + 1, np.int64)
    table_row[predicted] = np.arange(len(predicted))
    lists = distribution.labels_of_vector()
    entries = (distribution.start, distribution.index, distribution.weight)
    return np.asarray(expected_costs(*entries, *lists, table.first_cell, table.costs, table_row, labels))


def _of_independent_counts(marginals: Floats, labels: Bytes, cost: CountCost) -> Floats:
    """Return the expected costs: tp and fn are independent, each a count of independent labels."""
    n_labels = labels.shape[1]
    sizes = labels.sum(axis=1, dtype=np.int64)
    out = np.empty(len(labels))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        p, chosen = marginals[rows], labels[rows].astype(bool)
        hits = _count_distribution(p[chosen].reshape(len(rows), size))
        misses = _count_distribution(p[~chosen].reshape(len(rows), n_labels - size))
        tp, fn = (grid.astype(np.float64) for grid in np.indices((size + 1, n_labels - size + 1)))
        costs = cost._of_counts(tp, tp + fn, np.full_like(tp, size), n_labels)
        out[rows] = ((hits @ costs) * misses).sum(axis=1)
    return out


def _count_distribution(chances: Floats) -> Floats:
    """Return the probabilities (n, k + 1) that 0, 1, … k of the k independent events of a row happen."""
    counts = np.zeros((len(chances), chances.shape[1] + 1))
    counts[:, 0] = 1.0
    for chance in chances.T[:, :, None]:
        counts[:, 1:] = counts[:, 1:] * (1.0 - chance) + counts[:, :-1] * chance
        counts[:, :1] *= 1.0 - chance
    return counts
