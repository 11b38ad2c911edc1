"""Distributions given that rules are kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from refpair.decision.draws import draw_allowed
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import MOST_ENUMERATED, Distribution, LabelDistribution

_N_SAMPLES = 1000  # of a row of many independent labels
_NEVER = 1e-6  # no label is to have a smaller probability
_BLOCK = 1 << 22  # labels that are drawn at a time


def conditioned(
    distribution: Distribution, rules: RuleSet, *, all_rules: bool = False
) -> Iterator[tuple[slice, LabelDistribution]]:
    """Yield blocks of rows, without the label vectors that break a rule, but for rules that truths break.

    The other vectors keep their weights, in proportion. A row of which all vectors break a rule keeps all of
    them: then it is not known what the rules tell about it. Of more than 10 independent labels, 1000 vectors
    are drawn for each row: of those that the rules allow, as far as these make a tree, and of the vectors
    drawn those are left out that break another rule. They are weighted so that each label keeps its
    probability, as far as the rules allow: these probabilities know of the rules already, and to condition
    their product as well would count parents again for each child.

    Examples
    --------
    >>> from refpair.decision import AtMost
    >>> p = LabelDistribution.from_dense([[1, 1], [1, 0], [0, 1]], [[2, 1, 1], [1, 0, 0]])
    >>> [(_, q)] = conditioned(p, RuleSet((AtMost(1),), 2))
    >>> q.marginals()
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    if not all_rules:
        if rules.of_truths is None:
            yield from distribution.weighted()
            return
        rules = rules.of_truths
    if not distribution.is_independent or distribution.n_labels <= MOST_ENUMERATED:
        for rows, part in distribution.weighted():
            yield rows, _without_broken(part, rules)
        return
    step = max(1, _BLOCK // (_N_SAMPLES * distribution.n_labels))
    for first in range(0, len(distribution), step):
        rows = slice(first, min(first + step, len(distribution)))
        marginals = distribution[rows].marginals()
        drawn = LabelDistribution.from_samples(draw_allowed(marginals, rules.tree[0], _N_SAMPLES))
        yield rows, _without_broken(drawn, rules).tilted(np.clip(marginals, _NEVER, 1.0 - _NEVER))


def _without_broken(distribution: LabelDistribution, rules: RuleSet) -> LabelDistribution:
    allowed = rules.allows(distribution.vectors)
    if allowed.all() or len(distribution) == 0:
        return distribution
    n_weights = np.diff(distribution.start)
    kept = allowed[distribution.index]
    mass = np.add.reduceat(np.where(kept, distribution.weight, 0.0), distribution.start[:-1])
    is_lost = mass <= 0.0
    if is_lost.any():
        kept |= np.repeat(is_lost, n_weights)
        mass[is_lost] = 1.0
    n_kept = np.add.reduceat(kept, distribution.start[:-1], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(n_kept)])
    weight = distribution.weight[kept] / np.repeat(mass, n_kept)
    left = LabelDistribution(distribution.vectors, start, distribution.index[kept], weight)
    vars(left)["_label_lists"] = distribution._label_lists  # found once for all
    return left
