"""What decisions cost on average under a distribution.

Hamming, per-label and rank costs are linear in the prediction: what matters of a distribution is the
probability of each label. Of the rank loss that holds for a given truth y: of the pairs of a label that is
there and one that is not, Σ (1 − z_k + z_j) / 2 are in the wrong order, which is

    |y| (K − |y|) / 2 + Σ_k z_k (|y| − K y_k) / 2.

The products of labels in it are not multiplied by z, so they move the expected cost but not the decision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._kernels.expected import expected_costs, write_counts
from refpair.costs import Cost, CountCost, Labels, PerLabelCost, RankedCost, _counts
from refpair.decision.ranked import expected_cost_of_sets
from refpair.posterior.distribution import Bytes, Distribution, Floats, LabelDistribution, Longs, dense_labels

_NOISE = 1e-12  # of the largest cost
_TAIL = 40.0  # numbers of events with a smaller probability than exp(−40) are left out
_LARGE_TABLE = 48_000_000  # cells that are filled once, at most: 400 MB
_TABLE = 6_000_000  # cells of one that is kept: about 50 MB
_CELLS_AT_ONCE = 1 << 18
_LABELS_AT_ONCE = 1 << 20  # that a cost of any function is called on


def needs_only_marginals(cost: Cost) -> bool:
    """Tell whether the best decision depends on nothing but the probability of each label."""
    if isinstance(cost, CountCost):
        return cost.counts is _counts.hamming or cost.counts is _counts.rank
    return isinstance(cost, PerLabelCost)


def is_rank(cost: Cost) -> bool:
    """Tell whether a cost is the rank loss."""
    return isinstance(cost, CountCost) and cost.counts is _counts.rank


def expected_cost(distribution: Distribution, labels: Labels, cost: Cost) -> Floats:
    """Return the expected cost of predicting labels[i] for row i.

    It is exact, except for more than 10 independent labels under a cost of any function: there it is the mean
    over 1000 label vectors drawn for each row, always with the same random numbers. Under a cost of lists, it
    is that of the best list of exactly these labels.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What each row's label vector may be.
    labels : array-like or sparse matrix of shape (n, n_labels)
        The decision for each row.
    cost : Cost
        What it costs to predict a label vector when another one is right. Prices of rows must be of these
        rows.

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
    predicted = dense_labels(labels, "labels")
    shape = (len(distribution), distribution.n_labels)
    if predicted.shape != shape:
        raise ValueError(
            f"labels must have shape {shape} as the distribution has, got shape {predicted.shape}"
        )
    if isinstance(cost, RankedCost):
        return expected_cost_of_sets(distribution, predicted, cost)
    if needs_only_marginals(cost):
        return _of_linear(distribution, predicted, cost)
    if isinstance(cost, CountCost) and distribution.is_independent:
        return _of_independent_counts(distribution.marginals(), predicted, cost)
    of_part: Any = _of_counts if isinstance(cost, CountCost) else mean_costs
    costs = [of_part(part, predicted[rows], cost) for rows, part in distribution.weighted()]
    return np.concatenate([np.zeros(0), *costs])


def mean_costs(distribution: LabelDistribution, labels: Bytes, cost: Cost) -> Floats:
    """Return the expected cost of labels[i] for each row i, by calls on blocks of the non-zero weights."""
    row = np.repeat(np.arange(len(distribution)), np.diff(distribution.start))
    costs = np.empty(len(row))
    step = max(1, _LABELS_AT_ONCE // labels.shape[1])
    for first in range(0, len(row), step):
        part = slice(first, first + step)
        costs[part] = cost.rows(distribution.vectors[distribution.index[part]], labels[row[part]])
    weighted = np.bincount(row, distribution.weight * costs, minlength=len(distribution))
    return weighted.astype(np.float64, copy=False)  # of no weights bincount makes whole numbers


def _of_linear(distribution: Distribution, labels: Bytes, cost: Cost) -> Floats:
    p, n_labels = distribution.marginals(), labels.shape[1]
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(n_labels, len(p))
        return np.asarray(np.where(labels, (1.0 - p) * fp, p * fn).sum(axis=1))
    if is_rank(cost):
        size = p.sum(axis=1)
        pairs = n_labels * size - distribution.mean_square_size()
        moved = size * labels.sum(axis=1) - n_labels * (p * labels).sum(axis=1)
        return np.asarray((pairs + moved) / 2)
    return np.asarray(np.where(labels, 1.0 - p, p).mean(axis=1))


def _of_counts(distribution: LabelDistribution, labels: Bytes, cost: CountCost) -> Floats:
    n_labels = labels.shape[1]
    sizes = distribution.vectors.sum(axis=1, dtype=np.int64)
    predicted = np.unique(labels.sum(axis=1, dtype=np.int64))
    if _table_width(sizes) * len(predicted) > _LARGE_TABLE:
        return mean_costs(distribution, labels, cost)
    table = CostTable.of(cost, sizes, predicted, n_labels)
    table_row = np.zeros(n_labels + 1, np.int64)
    table_row[predicted] = np.arange(len(predicted))
    return np.asarray(
        expected_costs(distribution.entries(), table.first_cell, table.costs, table_row, labels)
    )


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
        most = hits.shape[1] - 1, misses.shape[1] - 1
        out[rows] = ((hits @ _costs_of_size(cost, size, n_labels, *most)) * misses).sum(axis=1)
    return out


def _costs_of_size(cost: CountCost, size: int, n_labels: int, most_tp: int, most_fn: int) -> Floats:
    """Return what it costs to predict so many labels, by tp and fn."""
    tp, fn = (grid.astype(np.float64) for grid in np.indices((most_tp + 1, most_fn + 1)))
    return cost._of_counts(tp, tp + fn, np.full_like(tp, size), n_labels)


def largest_count(means: Floats, n_events: int) -> int:
    """Return a number of independent events that happens as good as never, by what happens on average.

    By Chernoff's bound, P(|y| ≥ s) ≤ e^(s−μ) (μ/s)^s.
    """
    mean = float(means.max(initial=0.0))
    size = math.ceil(mean)
    while size < n_events and (mean > 0) and size * math.log(size / mean) - size + mean < _TAIL:
        size += 1
    return size


def _count_distribution(chances: Floats) -> Floats:
    """Return the probabilities that 0, 1, 2, … of the independent events of a row happen.

    Numbers that happen as good as never are left out.
    """
    counts = np.empty((len(chances), largest_count(chances.sum(axis=1), chances.shape[1]) + 1))
    write_counts(chances, counts)
    return counts


@dataclass(frozen=True, eq=False)
class CostTable:
    """Costs of the counts by |z|, |y| and tp for the kernels, laid out as ``_kernels/expected.py`` says.

    ``costs[i]`` are those of the i-th |z|, ``first_cell[v]`` is where those of the size of vector v are, and
    ``tp`` and ``possible`` say what each cell stands for, and whether its counts are possible.
    """

    costs: Floats
    first_cell: Longs
    tp: Longs
    possible: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, cost: CountCost, sizes: Longs, predicted: Longs, n_labels: int) -> CostTable:
        """Make the table for truths whose sizes are given by vector, and for predictions of given sizes."""
        distinct, which = np.unique(sizes, return_inverse=True)
        first = np.concatenate([[0], np.cumsum(distinct + 1)]).astype(np.int64)
        truth = np.repeat(distinct, distinct + 1)
        tp = np.arange(len(truth)) - np.repeat(first[:-1], distinct + 1)
        costs = np.zeros((len(predicted), len(truth)))
        possible = np.empty(costs.shape, np.bool_)
        step = max(1, _CELLS_AT_ONCE // max(1, len(truth)))
        for begin in range(0, len(predicted), step):
            size = predicted[begin : begin + step, None]
            possible[begin : begin + step] = (tp <= size) & (size - tp <= n_labels - truth)
            row, cell = np.nonzero(possible[begin : begin + step])
            tps, truths, sizes_at = (
                part.astype(np.float64) for part in (tp[cell], truth[cell], size[row, 0])
            )
            # The cost's own check of what the function gives: it names the counts that it fails for.
            costs[begin + row, cell] = cost._of_counts(tps, truths, sizes_at, n_labels)
        return cls(costs, first[which.ravel()], tp, possible)

    @cached_property
    def slack(self) -> float:
        """What expected costs may differ by and still be the same, but for rounding."""
        return _NOISE * float(np.abs(self.costs).max(initial=0.0))

    def rises_with_tp(self) -> bool:
        """Tell whether one more right label ever costs more, |y| and |z| being the same."""
        pairs = self.possible[:, 1:] & self.possible[:, :-1] & (self.tp[1:] > 0)
        return bool((pairs & (self.costs[:, 1:] > self.costs[:, :-1] + self.slack)).any())


def bounded_table(cost: CountCost, sizes: Longs, n_labels: int) -> CostTable | None:
    """Make the table for predictions of 0, 1, 2, … labels, up to as many as there are or it has room for.

    There is room for at least as many labels as the largest truth has, or else for no table at all.
    """
    width = _table_width(sizes)
    largest = min(n_labels, max(int(sizes.max(initial=0)), _TABLE // max(1, width) - 1))
    if width * (largest + 1) > 8 * _TABLE:  # many hundreds of labels a vector
        return None
    return CostTable.of(cost, sizes, np.arange(largest + 1), n_labels)


def _table_width(sizes: Longs) -> int:
    """Return the number of cells that a table for truths of these sizes has for each |z|."""
    return int((np.unique(sizes) + 1).sum())
