"""The best label vectors that keep rules, for rows whose best label vector does not.

Rules that make a tree are kept by dynamic programming. If others are broken then, it is integer programming
that finds the best label vector of linear costs, and of F-beta the best one of each size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from refpair._kernels.rule_tree import best_by_gains, best_f_beta, best_of_sizes
from refpair.costs import Cost, CountCost, PerLabelCost, _counts
from refpair.decision.allowed_search import search_allowed
from refpair.decision.expected import is_rank, needs_only_marginals
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import MOST_ENUMERATED, Bytes, Floats, LabelDistribution, all_vectors

_NOISE = 1e-12  # what differs by less is the same but for rounding


def best_allowed(distribution: LabelDistribution, cost: Cost, rules: RuleSet) -> Bytes:
    """Return the allowed label vector of lowest expected cost for each row."""
    if needs_only_marginals(cost):
        return by_gains(gains_of(distribution.marginals(), cost), rules)
    counts = cost.counts if isinstance(cost, CountCost) else None
    if isinstance(counts, _counts.FBeta):
        return _by_f_beta(distribution, counts.beta**2, rules)
    if counts is _counts.zero_one:
        # All that is allowed is impossible here: fewest labels, the likeliest ones.
        marginals = distribution.marginals()
        return by_gains(marginals / (1 + distribution.n_labels) - 1.0, rules)
    if distribution.n_labels <= MOST_ENUMERATED:
        return _by_trying_all(distribution, cost, rules)
    starts = [
        _by_f_beta(distribution, 1.0, rules),
        by_gains(2.0 * distribution.marginals() - 1.0, rules),
    ]
    return search_allowed(distribution, cost, rules, np.stack(starts, axis=1))


def gains_of(p: Floats, cost: Cost) -> Floats:
    """Return what each label lowers a linear cost by if it is there, given the probabilities of labels."""
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1])
        return np.asarray(p * fn - (1.0 - p) * fp)
    return np.asarray(p - p.mean(axis=1, keepdims=True) if is_rank(cost) else 2.0 * p - 1.0)


def by_gains(gains: Floats, rules: RuleSet) -> Bytes:
    """Return the allowed labels of the largest sum of gains for each row; of the same sums, fewest labels."""
    tree, is_whole = rules.tree
    slack = _NOISE * float(np.abs(gains).max(initial=0.0))
    best = np.asarray(best_by_gains(np.ascontiguousarray(gains), tree, slack))
    if not is_whole:
        for row in np.flatnonzero(~rules.allows(best)):
            best[row] = rules.best(gains[row], None)
    return best


def _by_f_beta(distribution: LabelDistribution, square: float, rules: RuleSet) -> Bytes:
    tree, is_whole = rules.counted_tree
    best = np.asarray(best_f_beta(distribution.entries(), distribution.n_labels, square, tree))
    if not is_whole:
        broken = np.flatnonzero(~rules.allows(best))
        for row, (vectors, weight) in zip(broken, _rows(distribution, broken), strict=True):
            best[row] = _best_f_beta_of_row(vectors, weight, square, rules)
    return best


def _best_f_beta_of_row(vectors: Bytes, weight: Floats, square: float, rules: RuleSet) -> Bytes:
    """Return the best of the best label vectors of all sizes, of which the most promising come first."""
    n_labels, truth = vectors.shape[1], vectors.sum(axis=1)
    sizes = np.arange(n_labels + 1)
    shares = weight * (1.0 + square) / np.maximum(sizes[:, None] + square * truth, 1e-300)
    gains = np.where(sizes[:, None] > 0, shares @ vectors, 0.0)
    values = np.empty(len(sizes))
    found = np.asarray(best_of_sizes(gains, sizes, rules.counted_tree[0], values))
    values[0] += weight[truth == 0].sum()
    is_allowed = rules.allows(found) & (values > -np.inf)
    best, value = -1, -np.inf
    for m in np.argsort(-values, kind="stable"):
        if (
            values[m] == -np.inf
            or values[m] <= value - _NOISE
            or (m > best >= 0 and values[m] <= value + _NOISE)
        ):
            continue
        if not is_allowed[m]:
            exact = rules.best(gains[m], int(m))
            if exact is None:
                continue
            found[m], values[m] = exact, gains[m] @ exact + (values[m] if m == 0 else 0.0)
        if values[m] > value + _NOISE or (values[m] > value - _NOISE and m < best):
            best, value = int(m), values[m]
    return found[best]


def _by_trying_all(distribution: LabelDistribution, cost: Cost, rules: RuleSet) -> Bytes:
    candidates = all_vectors(distribution.n_labels)
    candidates = candidates[rules.allows(candidates)]
    used, index = np.unique(distribution.index, return_inverse=True)
    costs = cost.matrix(distribution.vectors[used], candidates)
    entries = (distribution.weight, index.ravel(), distribution.start)
    expected = sp.csr_array(entries, shape=(len(distribution), len(used))) @ costs
    least = expected.min(axis=1, keepdims=True) + _NOISE * np.abs(costs).max(initial=0.0)
    return np.asarray(candidates[(expected <= least).argmax(axis=1)])


def _rows(distribution: LabelDistribution, rows: np.ndarray) -> Iterator[tuple[Bytes, Floats]]:
    """Yield the label vectors of rows, and their weights."""
    for row in rows:
        own = slice(int(distribution.start[row]), int(distribution.start[row + 1]))
        yield distribution.vectors[distribution.index[own]], distribution.weight[own]
