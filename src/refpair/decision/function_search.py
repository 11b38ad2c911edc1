"""Costs that are any function of the labels: local search with calls of the function."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost
from refpair.decision.f_measure import best_f_beta
from refpair.posterior import LabelDistribution

__all__ = ["function_search_rule", "mean_costs"]

_BLOCK = 1 << 20  # labels that the function is called on at once
_N_LIKELY = 8  # how many of a row's most probable vectors are starts
_NOISE = 1e-12  # relative: expected costs that differ by less are the same but for rounding


def mean_costs(
    distribution: LabelDistribution, labels: npt.NDArray[np.uint8], cost: Cost
) -> npt.NDArray[np.float64]:
    """Return the expected cost of labels[i] for each row i, by calls on blocks of the non-zero weights."""
    row = np.repeat(np.arange(len(distribution)), np.diff(distribution.start))
    costs = np.empty(len(row))
    step = max(1, _BLOCK // labels.shape[1])
    for first in range(0, len(row), step):
        part = slice(first, first + step)
        costs[part] = cost.rows(distribution.vectors[distribution.index[part]], labels[row[part]])
    weighted = np.bincount(row, distribution.weight * costs, minlength=len(distribution))
    return weighted.astype(np.float64, copy=False)  # of no weights bincount makes whole numbers


def function_search_rule(cost: Cost) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]]:
    """Return a function that decides on distributions; no flip of one label lowers the expected cost.

    Swaps of two labels are not tried: there are as many as pairs of labels, each a call.
    """

    def rule(distribution: LabelDistribution) -> npt.NDArray[np.uint8]:
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


def _best_start(
    distribution: LabelDistribution, cost: Cost
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
    """Return the cheapest of the starts that ``local_search.py`` takes, and its expected cost."""
    best = best_f_beta(distribution, 1.0)
    least = mean_costs(distribution, best, cost)
    for start in _starts(distribution):
        costs = mean_costs(distribution, start, cost)
        better = costs < least - _NOISE * (1.0 + np.abs(least))
        best[better], least[better] = start[better], costs[better]
    return best, least


def _starts(distribution: LabelDistribution) -> Iterator[npt.NDArray[np.uint8]]:
    likely, _ = distribution.most_likely(_N_LIKELY)
    yield from likely.swapaxes(0, 1)
    marginals = distribution.marginals()
    order = np.argsort(-marginals, axis=1, kind="stable")
    start = np.zeros(marginals.shape, np.uint8)
    yield start
    for m in range(int(np.count_nonzero(marginals, axis=1).max(initial=0))):
        np.put_along_axis(start, order[:, m : m + 1], 1, axis=1)
        yield start


def _best_flips(
    distribution: LabelDistribution, labels: npt.NDArray[np.uint8], cost: Cost
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
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
