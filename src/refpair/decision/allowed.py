"""The best label vectors that keep rules, for rows whose best label vector does not.

Linear costs are sums over labels, and so is F-beta for each number of labels. Rules that make a tree are kept
by dynamic programming; if others are broken then, by multipliers and integer programs.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from refpair._kernels.rule_tree import best_by_gains, best_f_beta
from refpair.costs import Cost, CountCost, PerLabelCost, _counts
from refpair.decision.allowed_search import search_allowed
from refpair.decision.draws import conditional_chances, log_odds
from refpair.decision.expected import is_rank, needs_only_marginals
from refpair.decision.multipliers import Problems
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import (
    MOST_ENUMERATED,
    Bytes,
    Floats,
    LabelDistribution,
    Longs,
    all_vectors,
)

_NOISE = 1e-12  # what differs by less is the same but for rounding
_TIE = 1e-9  # of the largest gain
_BLOCK = 1 << 22  # numbers in a temporary array: 32 MB


def best_allowed(distribution: LabelDistribution, cost: Cost, rules: RuleSet) -> Bytes:
    """Return the allowed label vector of lowest expected cost for each row."""
    if distribution.n_labels <= MOST_ENUMERATED and not rules.tree[1]:
        return _by_trying_all(distribution, cost, rules)
    if needs_only_marginals(cost):
        return best_by_marginals(distribution.marginals(), cost, rules)
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


def best_by_marginals(p: Floats, cost: Cost, rules: RuleSet) -> Bytes:
    """Return the same for a cost that needs the probabilities of labels only."""
    return by_gains(gains_of(p, cost), rules)


def likeliest_allowed(p: Floats, rules: RuleSet) -> Bytes:
    """Return the likeliest allowed label vector of labels that depend on nothing but their parents."""
    return by_gains(log_odds(conditional_chances(p, rules.parent), rules.parent), rules)


def gains_of(p: Floats, cost: Cost) -> Floats:
    """Return what each label lowers a linear cost by if it is there, given the probabilities of labels."""
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1])
        return np.asarray(p * fn - (1.0 - p) * fp)
    return np.asarray(p - p.mean(axis=1, keepdims=True) if is_rank(cost) else 2.0 * p - 1.0)


def by_gains(gains: Floats, rules: RuleSet) -> Bytes:
    """Return the allowed labels of the largest sum of gains for each row; of the same sums, fewest labels."""
    tree, is_whole = rules.tree
    largest = float(np.abs(gains).max(initial=0.0))
    best = (gains > _NOISE * largest).astype(np.uint8)  # without rules
    broken = np.flatnonzero(~rules.allows(best))
    if len(broken):
        best[broken] = best_by_gains(gains[broken], tree, _NOISE * largest)
    if not is_whole:
        broken = broken[~rules.allows(best[broken])]
        if len(broken):
            less = gains[broken] - _TIE * largest  # so that a label is left out rather than not
            problems = Problems(less, np.arange(len(broken)), None, np.zeros(len(broken)), rules)
            best[broken] = problems.solve()
    return best


def _by_f_beta(distribution: LabelDistribution, square: float, rules: RuleSet) -> Bytes:
    tree, is_whole = rules.counted_tree
    n_labels = distribution.n_labels
    best = np.asarray(best_f_beta(distribution.entries(), n_labels, square, tree))
    broken = np.zeros(0, np.int64) if is_whole else np.flatnonzero(~rules.allows(best))
    step = max(1, _BLOCK // (n_labels * (n_labels + 1)))
    for first in range(0, len(broken), step):
        rows = broken[first : first + step]
        best[rows] = _f_beta_problems(distribution, rows, square, rules).solve()
    return best


def _f_beta_problems(distribution: LabelDistribution, rows: Longs, square: float, rules: RuleSet) -> Problems:
    """Return a problem for each row and each size of the answer: in each, F-beta is a sum over labels."""
    tree = rules.counted_tree[0]
    size = np.arange(tree.low[-1], tree.start[-1] - tree.start[-2])  # those that the rules allow
    gains = np.empty((len(rows), len(size), distribution.n_labels))
    offset = np.zeros((len(rows), len(size)))
    for i, row in enumerate(rows):
        own = slice(int(distribution.start[row]), int(distribution.start[row + 1]))
        vectors, weight = distribution.vectors[distribution.index[own]], distribution.weight[own]
        truth, which = np.unique(vectors.sum(axis=1, dtype=np.int64), return_inverse=True)
        of_size = sp.csr_array((weight, (which, np.arange(len(which)))), shape=(len(truth), len(which)))
        joint = of_size @ vectors.astype(np.float64)
        shares = (1.0 + square) / np.maximum(size[:, None] + square * truth, 1e-300)
        gains[i] = np.where(size[:, None] > 0, shares * (truth > 0), 0.0) @ joint
        offset[i, size == 0] = weight[truth[which] == 0].sum()
    which = np.repeat(np.arange(len(rows)), len(size))
    flat = gains.reshape(-1, distribution.n_labels)
    return Problems(flat, which, np.tile(size, len(rows)), offset.ravel(), rules)


def _by_trying_all(distribution: LabelDistribution, cost: Cost, rules: RuleSet) -> Bytes:
    candidates = all_vectors(distribution.n_labels)
    candidates = candidates[rules.allows(candidates)]
    used, index = np.unique(distribution.index, return_inverse=True)
    costs = cost.matrix(distribution.vectors[used], candidates)
    entries = (distribution.weight, index.ravel(), distribution.start)
    expected = sp.csr_array(entries, shape=(len(distribution), len(used))) @ costs
    least = expected.min(axis=1, keepdims=True) + _NOISE * np.abs(costs).max(initial=0.0)
    return np.asarray(candidates[(expected <= least).argmax(axis=1)])
