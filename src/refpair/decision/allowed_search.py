"""Local search that never leaves what rules allow, for costs that no exact way is known for.

A step sets a label and all that it needs, clears one and all that needs it, or does both. The step that
lowers the expected cost most is taken, until none lowers it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from refpair._kernels.expected import sum_costs
from refpair.costs import Cost, CountCost
from refpair.decision.expected import CostTable, bounded_table
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import Bytes, Floats, LabelDistribution

N_LIKELY = 8  # how many of a row's most probable vectors are starts
_NOISE = 1e-12  # what differs by less is the same but for rounding

Judge: TypeAlias = Callable[[Bytes], Floats]


def search_allowed(distribution: LabelDistribution, cost: Cost, rules: RuleSet, starts: Bytes) -> Bytes:
    """Return allowed labels whose expected cost no step lowers.

    Parameters
    ----------
    distribution : LabelDistribution
    cost : Cost
    rules : RuleSet
    starts : array of shape (n, n_starts, n_labels)
        Allowed labels to start from, besides the most probable vectors of each row.
    """
    likely = distribution.most_likely(N_LIKELY)[0]
    table = None
    if isinstance(cost, CountCost):
        sizes = distribution.vectors.sum(axis=1, dtype=np.int64)
        table = bounded_table(cost, sizes, distribution.n_labels)
    best = np.empty((len(distribution), distribution.n_labels), np.uint8)
    for row in range(len(distribution)):
        own = slice(int(distribution.start[row]), int(distribution.start[row + 1]))
        judge = _judge(distribution, own, cost, table)
        first = np.concatenate([starts[row], likely[row]])
        first = first[rules.allows(first)]
        costs = judge(first)
        best[row] = _descend(
            first[costs.argmin()], float(costs.min()), judge, rules, with_swaps=table is not None
        )
    return best


def _judge(distribution: LabelDistribution, own: slice, cost: Cost, table: CostTable | None) -> Judge:
    """Return what finds the expected cost of each of some label vectors, for one row."""
    index, weight = distribution.index[own], distribution.weight[own]
    vectors = distribution.vectors[index]
    if table is None:
        return lambda labels: np.asarray(weight @ cost.matrix(vectors, labels))
    as_columns, first_cell = vectors.T.astype(np.float32), table.first_cell[index]

    def judge(labels: Bytes) -> Floats:
        size = labels.sum(axis=1, dtype=np.int64)
        fits = size < len(table.costs)
        tp = (labels.astype(np.float32) @ as_columns).astype(np.int64)
        cells = first_cell + tp
        rows = np.minimum(size, len(table.costs) - 1)
        return np.where(fits, sum_costs(cells, rows, weight, table.costs), np.inf)

    return judge


def _descend(z: Bytes, cost: float, judge: Judge, rules: RuleSet, *, with_swaps: bool) -> Bytes:
    while True:
        steps = _allowed_steps(z, rules, with_swaps=with_swaps)
        costs = judge(steps) if len(steps) else np.zeros(0)
        if costs.min(initial=np.inf) >= cost - _NOISE * (1.0 + abs(cost)):
            return z
        z, cost = steps[costs.argmin()], float(costs.min())


def _allowed_steps(z: Bytes, rules: RuleSet, *, with_swaps: bool) -> Bytes:
    """Return the allowed label vectors that are a step away; those of two steps if there are no others."""
    needs = rules.needs
    is_there = z.astype(bool)
    there, absent = np.flatnonzero(is_there), np.flatnonzero(~is_there)
    fewer = is_there & ~needs.T[there]
    more = is_there | needs[absent]
    steps = np.concatenate([fewer, more]).view(np.uint8)
    steps = steps[rules.allows(steps)]
    if with_swaps or len(steps) == 0:
        swaps = (fewer[:, None] | needs[absent]).reshape(-1, len(z)).view(np.uint8)
        steps = np.concatenate([steps, swaps[rules.allows(swaps)]])
    return steps
