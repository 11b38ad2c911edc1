"""Decisions for costs without a rule of their own: by trying all label vectors, or by a search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels import local_search
from refpair._kernels.expected import best_prefixes, best_prefixes_of_independent
from refpair.costs import Cost, CountCost
from refpair.decision.expected import CostTable, bounded_table, mean_costs
from refpair.posterior.distribution import Distribution, LabelDistribution, all_vectors

__all__ = [
    "N_LIKELY",
    "exhaustive_rule",
    "function_search_rule",
    "independent_rule",
    "likeliest_labels_rule",
    "local_search_rule",
]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Rule = Callable[[LabelDistribution], Bytes]

N_LIKELY = 8  # how many of a row's most probable vectors are starts of a search
_BLOCK = 1 << 22  # numbers in a temporary array: 32 MB
_NOISE = 1e-12  # relative: expected costs that differ by less are the same but for rounding
_TAIL = 40.0  # sizes with a smaller probability than exp(−40) are left out


def exhaustive_rule(vectors: Bytes, cost: Cost) -> Rule:
    """Return a function that decides on distributions over the vectors, exactly: it tries all label vectors.

    Ties go to the smallest number of labels, and of as many to the labels that come first.
    """
    candidates = all_vectors(vectors.shape[1])
    support, merged = np.unique(vectors, axis=0, return_inverse=True)
    costs = cost.matrix(support, candidates)
    slack = _NOISE * np.abs(costs).max(initial=0.0)
    merged = merged.ravel()

    def rule(distribution: LabelDistribution) -> Bytes:
        n = len(distribution)
        entries = (distribution.weight, merged[distribution.index], distribution.start)
        weights = sp.csr_array(entries, shape=(n, len(support)))
        best = np.empty(n, np.int64)
        step = max(1, _BLOCK // len(candidates))
        for first in range(0, n, step):
            expected = weights[first : first + step].toarray() @ costs
            least = expected.min(axis=1, keepdims=True)
            best[first : first + step] = (expected <= least + slack).argmax(axis=1)
        return candidates[best]

    return rule


def local_search_rule(vectors: Bytes, cost: CountCost) -> Rule:
    """Return a function that decides on distributions over the vectors.

    No flip of a label and no swap of two lowers the expected cost of the decision, and it costs no more than
    the best for F1, the row's most probable labels however many are taken, and its most probable vectors.

    Where the table of costs would grow beyond 50 MB (it is there twice), only decisions with fewer labels
    than it has room for are looked at, though never fewer than the largest vector has.
    """
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), vectors.shape[1])
    if table is None:
        return function_search_rule(cost)
    likeliest_labels = _likeliest_labels(table, vectors.shape[1])

    def rule(distribution: LabelDistribution) -> Bytes:
        starts = np.stack([distribution.best_f_beta(1.0), likeliest_labels(distribution)])
        searched = (table.first_cell, table.costs, starts, N_LIKELY, table.slack)
        return np.asarray(local_search.search(distribution.entries(), *searched))

    return rule


def likeliest_labels_rule(vectors: Bytes, cost: CountCost) -> Rule | None:
    """Return a function that takes as many of a row's most probable labels as cost least.

    None where there would be too many costs to keep in a table.
    """
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), vectors.shape[1])
    return None if table is None else _likeliest_labels(table, vectors.shape[1])


def _likeliest_labels(table: CostTable, n_labels: int) -> Rule:
    # Not the table itself, so that the other copy of its costs may go.
    costs = (table.first_cell, table.by_cell, table.size_of_vector, table.least, table.slack)
    return lambda distribution: np.asarray(best_prefixes(distribution.entries(), *costs, n_labels))


def independent_rule(labels: Distribution, cost: CountCost) -> Callable[[Distribution], Bytes] | None:
    """Return a function that decides on rows of independent labels: the likeliest, as many as cost least.

    That is the best of all decisions if the cost never rises with tp while |y| and |z| stay; for other costs,
    and where there is no room for a table of the costs, there is no such rule and None is returned. Where
    there is room for a part of the table only, it is the best of the decisions of no more labels than that.
    """
    sizes = np.arange(_largest_size(labels) + 1)
    table = bounded_table(cost, sizes, labels.n_labels)
    if table is None or table.rises_with_tp():
        return None
    costs = (table.first_cell, table.costs, table.slack)
    return lambda rows: np.asarray(best_prefixes_of_independent(rows.marginals(), *costs))


def _largest_size(labels: Distribution) -> int:
    """Return a size that is exceeded as good as never: by Chernoff's bound, P(|y| ≥ s) ≤ e^(s−μ) (μ/s)^s."""
    mean = float(labels.marginals().sum(axis=1).max(initial=0.0))
    size = math.ceil(mean)
    while size < labels.n_labels and (mean > 0) and size * math.log(size / mean) - size + mean < _TAIL:
        size += 1
    return size


def function_search_rule(cost: Cost) -> Rule:
    """Return a function that decides by calls of the cost; no flip of one label lowers the expected cost.

    Swaps of two labels are not tried: there are as many as pairs of labels, each a call.
    """

    def rule(distribution: LabelDistribution) -> Bytes:
        labels, costs = _best_start(distribution, cost)
        left = np.arange(len(distribution))
        while len(left):
            flip, after = _best_flips(_take(distribution, left), labels[left], cost)
            better = after < costs[left] - _NOISE * (1.0 + np.abs(costs[left]))
            left, flip = left[better], flip[better]
            labels[left, flip] ^= 1
            costs[left] = after[better]
        return labels

    return rule


def _best_start(distribution: LabelDistribution, cost: Cost) -> tuple[Bytes, Floats]:
    """Return the cheapest of the starts that a local search takes, and its expected cost."""
    best = distribution.best_f_beta(1.0)
    least = mean_costs(distribution, best, cost)
    for start in _starts(distribution):
        costs = mean_costs(distribution, start, cost)
        better = costs < least - _NOISE * (1.0 + np.abs(least))
        best[better], least[better] = start[better], costs[better]
    return best, least


def _starts(distribution: LabelDistribution) -> Iterator[Bytes]:
    likely, _ = distribution.most_likely(N_LIKELY)
    yield from likely.swapaxes(0, 1)
    marginals = distribution.marginals()
    order = np.argsort(-marginals, axis=1, kind="stable")
    start = np.zeros(marginals.shape, np.uint8)
    yield start
    for m in range(int(np.count_nonzero(marginals, axis=1).max(initial=0))):
        np.put_along_axis(start, order[:, m : m + 1], 1, axis=1)
        yield start


def _best_flips(
    distribution: LabelDistribution, labels: Bytes, cost: Cost
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the flip of least expected cost for each row, and this cost."""
    best, least = np.zeros(len(labels), np.int64), np.full(len(labels), np.inf)
    for k in range(labels.shape[1]):
        flipped = labels.copy()
        flipped[:, k] ^= 1
        costs = mean_costs(distribution, flipped, cost)
        better = costs < least
        best[better], least[better] = k, costs[better]
    return best, least


def _take(distribution: LabelDistribution, rows: npt.NDArray[np.int64]) -> LabelDistribution:
    if len(rows) == len(distribution):
        return distribution
    weights = distribution.weights()[rows]
    return LabelDistribution(
        distribution.vectors, weights.indptr.astype(np.int64), weights.indices.astype(np.int32), weights.data
    )
