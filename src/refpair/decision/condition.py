"""Distributions given that rules are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from refpair.decision.draws import conditional_chances, draw_allowed, draw_forest, log_odds
from refpair.decision.merged import merged
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import (
    MOST_ENUMERATED,
    Bytes,
    Distribution,
    Floats,
    LabelDistribution,
)

Values = TypeVar("Values", Floats, Bytes)

SELDOM = 0.01  # probability that a row breaks a rule, up to which rules need not change its distribution
_N_SAMPLES = 200  # of a row of many independent labels
_NEVER = 1e-6  # no label is to have a smaller probability
_BLOCK = 1 << 22  # labels that are drawn at a time


def conditioned(
    distribution: Distribution, rules: RuleSet, *, all_rules: bool = False
) -> Iterator[tuple[slice, LabelDistribution]]:
    """Yield blocks of rows, without the label vectors that break a rule, but for rules that truths break.

    The other vectors keep their weights, in proportion. A row of which all vectors break a rule keeps all of
    them: then it is not known what the rules tell about it. Of more than 10 independent labels, 200 vectors
    are drawn for each row, given that they keep the rules, as far as these make a tree.

    If the probabilities of labels are what is known (`is_of_labels`), they were learned from truths that keep
    the rules. To leave vectors out would count a parent again for each child, so labels keep these
    probabilities, as far as the rules allow and a parent is as probable as each child: missing parents are
    added to vectors, those that break another rule are left out, and so are the smallest weights, of at most
    5 % in all; the rest is weighted anew.

    Examples
    --------
    >>> from refpair.decision import AtMost
    >>> p = LabelDistribution.from_dense([[1, 1], [1, 0], [0, 1]], [[2, 1, 1], [1, 0, 0]])
    >>> [(_, q)] = conditioned(p, RuleSet((AtMost(1),), 2))
    >>> q.marginals()
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    of_truths = rules.of_truths
    blocks = distribution.weighted()
    if of_truths is not None and distribution.is_of_labels:
        blocks = _of_labels(distribution, of_truths)
    elif of_truths is not None:
        if distribution.is_independent and distribution.n_labels > MOST_ENUMERATED:
            blocks = _drawn_given(distribution, of_truths)
        blocks = ((rows, _without_broken(part, of_truths)) for rows, part in blocks)
    for rows, part in blocks:
        yield rows, _without_broken(part, rules) if all_rules else part


def raised(values: Values, rules: RuleSet) -> Values:
    """Return probabilities in which each label is as probable as any label that needs it.

    Label vectors, of 0 and 1, get the parents that are missing.

    Examples
    --------
    >>> from refpair.decision import Implies
    >>> raised(np.array([[0.25, 0.5]]), RuleSet((Implies(1, 0),), 2))
    array([[0.5, 0.5]])
    """
    found = values.copy()
    for label in np.unique(rules.pairs[:, 1]):
        found[:, label] = values[:, rules.needs[:, label]].max(axis=1)
    return found


def chance_of_broken(distribution: Distribution, rules: RuleSet | None) -> Floats:
    """Return the probability that each row breaks a rule, or 1 where even a small one may not be neglected.

    It may be where the probabilities of labels are what is known (`is_of_labels`). Of independent labels a
    bound is returned, if all rules say that labels need another one, and 1 if not.

    Examples
    --------
    >>> from refpair.decision import Implies
    >>> from refpair.posterior import IndependentLabels
    >>> p = IndependentLabels([[0.5, 0.25]], is_of_labels=True)
    >>> chance_of_broken(p, RuleSet((Implies(1, 0),), 2))
    array([0.125])
    """
    if rules is None:
        return np.zeros(len(distribution))
    if distribution.is_of_labels and isinstance(distribution, LabelDistribution):
        broken = ~rules.allows(distribution.vectors)
        weight = distribution.weight * broken[distribution.index]
        return np.asarray(np.add.reduceat(weight, distribution.start[:-1]))
    if distribution.is_of_labels and rules.is_forest:
        child, parent = rules.pairs.T
        p = distribution.marginals()
        return np.asarray(np.minimum((p[:, child] * (1.0 - p[:, parent])).sum(axis=1), 1.0))
    return np.ones(len(distribution))


def _blocks_to_draw(distribution: Distribution) -> Iterator[tuple[slice, Floats]]:
    step = max(1, _BLOCK // (_N_SAMPLES * distribution.n_labels))
    for first in range(0, len(distribution), step):
        rows = slice(first, min(first + step, len(distribution)))
        yield rows, distribution[rows].marginals()


def _drawn_given(distribution: Distribution, rules: RuleSet) -> Iterator[tuple[slice, LabelDistribution]]:
    for rows, marginals in _blocks_to_draw(distribution):
        p = np.clip(marginals, _NEVER, 1.0 - _NEVER)
        drawn = draw_allowed(np.log(p) - np.log1p(-p), rules.tree[0], _N_SAMPLES)
        yield rows, LabelDistribution.from_samples(drawn)


def _of_labels(distribution: Distribution, rules: RuleSet) -> Iterator[tuple[slice, LabelDistribution]]:
    if distribution.is_independent and distribution.n_labels > MOST_ENUMERATED:
        for rows, marginals in _blocks_to_draw(distribution):
            yield rows, _drawn(raised(marginals, rules), rules)
        return
    for rows, part in distribution.weighted():
        vectors = raised(part.vectors, rules)
        allowed = rules.within_bounds(vectors)
        if allowed.all() and (vectors == part.vectors).all():
            yield rows, part
            continue
        targets = np.clip(raised(part.marginals(), rules), _NEVER, 1.0 - _NEVER)
        yield rows, merged(part, vectors, allowed, targets).tilted(targets)


def _drawn(marginals: Floats, rules: RuleSet) -> LabelDistribution:
    chances = conditional_chances(marginals, rules.parent)
    if rules.is_forest:
        return LabelDistribution.from_samples(draw_forest(chances, rules.parent, _N_SAMPLES))
    odds = log_odds(chances, rules.parent)
    drawn = LabelDistribution.from_samples(draw_allowed(odds, rules.tree[0], _N_SAMPLES))
    return _without_broken(drawn, rules).tilted(np.clip(marginals, _NEVER, 1.0 - _NEVER))


def _without_broken(distribution: LabelDistribution, rules: RuleSet) -> LabelDistribution:
    allowed = rules.allows(distribution.vectors)
    return distribution if allowed.all() else merged(distribution, distribution.vectors, allowed)
