"""Label vectors drawn of independent labels, given that they keep the rules of a tree.

The weights of all label vectors that the tree allows are summed from the leaves to the root, one sum for each
number of labels below a node as in ``_kernels/rule_tree.py``. From the root down, numbers are then drawn.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.rule_tree import Tree, write_forest
from refpair.posterior.distribution import Bytes, Floats, Longs

_NEVER = 1e-9  # no label is taken for less likely than this, nor for surer than 1 minus this
_SEED = 20260  # the same draws each time


def conditional_chances(marginals: Floats, parent: Longs) -> Floats:
    """Return the probability of each label given its parent, or its own if it has none.

    Examples
    --------
    >>> conditional_chances(np.array([[0.5, 0.25]]), np.array([-1, 0]))
    array([[0.5, 0.5]])
    """
    above = np.where(parent < 0, 1.0, marginals[:, parent])
    return np.asarray(np.clip(marginals / np.maximum(above, _NEVER), _NEVER, 1.0 - _NEVER))


def log_odds(chances: Floats, parent: Longs) -> Floats:
    """Return log odds by which vectors of independent labels that keep the rules have these chances.

    A vector without a parent has none of its children, so a parent's odds are lower by what children add.

    Examples
    --------
    >>> np.exp(log_odds(np.array([[0.5, 0.5]]), np.array([-1, 0])))  # [0, 0]: 1, [1, 0]: 0.5, [1, 1]: 0.5
    array([[0.5, 1. ]])
    """
    absent = np.log1p(-chances)
    odds = np.log(chances) - absent
    for child in np.flatnonzero(parent >= 0):
        odds[:, parent[child]] += absent[:, child]
    return np.asarray(odds)


def draw_forest(chances: Floats, parent: Longs, n_samples: int) -> Bytes:
    """Return label vectors (n, n_samples, n_labels), given the chances of labels if their parents are there.

    Examples
    --------
    >>> drawn = draw_forest(np.array([[0.5, 0.4]]), np.array([-1, 0]), 3000)
    >>> drawn.mean(axis=(0, 1)).round(1)
    array([0.5, 0.2])
    """
    rng = np.random.default_rng(_SEED)
    n_labels = len(parent)
    # Of each label, as many equal parts of its probability as samples, in random order.
    parts = rng.permuted(np.tile(np.arange(n_samples), (n_labels, 1)), axis=1)
    uniform = (parts + rng.random((n_labels, 1))) / n_samples
    drawn = np.empty((len(chances), n_labels, n_samples), np.uint8)
    depth = np.zeros(n_labels, np.int64)
    above = parent.copy()
    while (is_below := above >= 0).any():
        depth += is_below
        above = np.where(is_below, parent[above], -1)
    write_forest(chances, parent, np.argsort(depth, kind="stable"), uniform, drawn)
    return np.ascontiguousarray(drawn.swapaxes(1, 2))


def draw_allowed(odds: Floats, tree: Tree, n_samples: int) -> Bytes:
    """Return label vectors (n, n_samples, n_labels) that the rules of the tree allow, given their log odds.

    What is drawn for a row depends on no other row.

    Examples
    --------
    >>> from refpair.decision import AtMost
    >>> from refpair.decision.rule_set import RuleSet
    >>> tree, _ = RuleSet((AtMost(1),), 2).tree
    >>> drawn = draw_allowed(np.zeros((1, 2)), tree, 3000)  # [0, 0], [0, 1] and [1, 0]
    >>> int(drawn.sum(axis=2).max()), drawn.mean(axis=(0, 1)).round(1)
    (1, array([0.3, 0.3]))
    """
    values, before = _climb(odds, tree)
    rng = np.random.default_rng(_SEED)
    n, n_nodes = len(odds), len(tree.label)
    drawn = np.zeros((n, n_samples, odds.shape[1]), np.uint8)
    left = np.zeros((n_nodes, n, n_samples), np.int64)  # labels to be drawn below; −1 where there are none
    for v in range(n_nodes - 1, -1, -1):
        above, mine = tree.parent[v], values[v]
        chance = rng.random(n_samples)
        if above < 0 or tree.is_free[above]:
            number = _draw(mine[:, None, :], np.zeros((n, n_samples), np.int64), chance)
        else:
            old = before[v]
            ways = np.full((n, old.shape[1] + mine.shape[1] - 1, mine.shape[1]), -np.inf)
            for t in range(mine.shape[1]):
                ways[:, t : t + old.shape[1], t] = old + mine[:, t : t + 1]
            number = _draw(ways, np.maximum(left[above], 0), chance)
        if above >= 0:
            number = np.where(left[above] < 0, 0, number)
            if not tree.is_free[above]:
                left[above] -= np.where(left[above] < 0, 0, number)
        if tree.label[v] >= 0:
            drawn[:, :, tree.label[v]] = number > 0
            left[v] = np.where(number > 0, 0 if tree.is_free[v] else number - 1, -1)
        else:
            left[v] = np.where(left[above] < 0, -1, number) if above >= 0 else number
    return drawn


def _climb(odds: Floats, tree: Tree) -> tuple[list[Floats], list[Floats]]:
    """Return the logarithms of the sums of each node, and those of its parent before it was merged."""
    n, n_nodes = len(odds), len(tree.label)
    values = [np.zeros((n, 1)) for _ in range(n_nodes)]
    before = [np.zeros((n, 1)) for _ in range(n_nodes)]
    none = np.zeros((n_nodes, n))  # no labels at and below a node
    for v, (label, above) in enumerate(zip(tree.label, tree.parent, strict=True)):
        width, mine = tree.start[v + 1] - tree.start[v], values[v]
        if label >= 0:
            mine = np.column_stack([none[v], mine + odds[:, [label]]])[:, :width]
        else:
            mine = mine[:, :width].copy()
            mine[:, : tree.low[v]] = -np.inf
            if tree.low[v] > 0:
                none[v] = -np.inf
        values[v] = mine
        if above >= 0:
            none[above] += none[v]
            before[v] = values[above]
            values[above] = _merged(values[above], mine, is_free=bool(tree.is_free[above]))
    return values, before


def _merged(old: Floats, mine: Floats, *, is_free: bool) -> Floats:
    if is_free:
        return old + np.logaddexp.reduce(mine, axis=1, keepdims=True)
    merged = np.full((len(old), old.shape[1] + mine.shape[1] - 1), -np.inf)
    for t in range(mine.shape[1]):
        part = slice(t, t + old.shape[1])
        merged[:, part] = np.logaddexp(merged[:, part], old + mine[:, t : t + 1])
    return merged


def _draw(ways: Floats, which: Longs, chance: Floats) -> Longs:
    """Draw a number for each row and sample by the weights ``ways[row, which[row, sample]]``."""
    largest = ways.max(axis=2, keepdims=True)
    weights = np.exp(ways - np.where(largest > -np.inf, largest, 0.0)).cumsum(axis=2)
    rows = np.arange(len(ways))[:, None]
    number = np.zeros(which.shape, np.int64)
    limit = chance * weights[rows, which, -1]
    for t in range(ways.shape[2] - 1):
        number += limit >= weights[rows, which, t]
    return number
