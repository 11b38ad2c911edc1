"""Rules as a tree, where they make one: label sets of the largest sum of gains are then found soon.

A node is a label or a set of labels. A label is below its parent and below the smallest set that it is in.
That is a tree if each label needs one other label at most, and sets have all labels that need one of theirs,
have one parent in common, and are within each other or apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from refpair._kernels.rule_tree import Tree
from refpair.posterior.distribution import Bytes, Longs


class Bounds(NamedTuple):
    """How many labels of each of some sets there are: from `low` to `high`."""

    members: Bytes  # (n_sets, n_labels)
    low: Longs
    high: Longs


@dataclass(frozen=True)
class _Set:
    labels: frozenset[int]
    low: int
    high: int


class _Forest:
    """What each label needs, and what is below it."""

    def __init__(self, n_labels: int) -> None:
        self.parent = [-1] * n_labels
        self.below = [{label} for label in range(n_labels)]  # and itself

    def above(self, label: int) -> list[int]:
        """Return a label and all that it needs."""
        line = [label]
        while self.parent[line[-1]] >= 0:
            line.append(self.parent[line[-1]])
        return line

    def add(self, child: int, parent: int) -> bool:
        """Add a pair if it makes no circle and no second parent; tell whether it is kept now."""
        if parent in self.above(child):
            return True
        if self.parent[child] >= 0 or child in self.above(parent):
            return False
        self.parent[child] = parent
        for one in self.above(parent):
            self.below[one] |= self.below[child]
        return True

    def tops(self, labels: frozenset[int]) -> frozenset[int]:
        """Return those labels whose parent is not among them."""
        return frozenset(label for label in labels if self.parent[label] not in labels)

    def is_branch(self, labels: frozenset[int]) -> bool:
        """Tell whether all that needs one of the labels is among them, and whether they hang together."""
        whole = all(self.below[label] <= labels for label in labels)
        return whole and len({self.parent[label] for label in self.tops(labels)}) == 1


def tree_of(n_labels: int, pairs: Longs, bounds: Bounds, *, counted: bool) -> tuple[Tree, bool]:
    """Return the tree of rules, or of some of them, and whether all of them are in it.

    Parameters
    ----------
    n_labels : int
    pairs : array of shape (n_pairs, 2)
        The labels that need another one, and that one.
    bounds : Bounds
    counted : bool
        Whether the sums for each number of labels will be asked for.

    Examples
    --------
    >>> at_most_one = Bounds(np.ones((1, 2), np.uint8), np.array([0]), np.array([1]))
    >>> tree, is_whole = tree_of(2, np.array([[0, 1]]), at_most_one, counted=False)
    >>> tree.label.tolist(), tree.parent.tolist(), is_whole
    ([0, 1, -1], [1, 2, -1], True)
    """
    forest, is_whole = _Forest(n_labels), True
    # Pairs that follow from longer ways come last, so that they find them kept.
    for child, parent in _by_length(pairs):
        is_whole &= forest.add(child, parent)
    everything = frozenset(range(n_labels))
    sets = [_Set(everything, 0, n_labels)]
    for row, low, high in zip(*bounds, strict=True):
        one = _Set(frozenset(np.flatnonzero(row).tolist()), int(low), int(high))
        if one.labels == everything:
            sets[0] = one
            continue
        apart = all(
            other.labels <= one.labels or one.labels <= other.labels or not other.labels & one.labels
            for other in sets
        )
        if apart and forest.is_branch(one.labels):
            sets.append(one)
        else:
            is_whole = False
    return _Layout(forest, sets, counted).tree(), is_whole


def _by_length(pairs: Longs) -> list[tuple[int, int]]:
    """Return pairs without those that others imply, as far as these make no circles."""
    needs: dict[int, set[int]] = {}
    for child, parent in pairs.tolist():
        needs.setdefault(child, set()).add(parent)

    def reached(start: int, goal: int) -> bool:
        """Tell whether a longer way leads to the goal."""
        seen, left = {start}, [one for one in needs[start] if one != goal]
        while left:
            label = left.pop()
            if label == goal:
                return True
            if label not in seen:
                seen.add(label)
                left.extend(needs.get(label, ()))
        return False

    found = [(child, parent) for child, parent in pairs.tolist()]
    return sorted(found, key=lambda pair: reached(*pair))


class _Layout:
    """Puts nodes in an order in which children come before parents, and finds how wide they are."""

    def __init__(self, forest: _Forest, sets: Sequence[_Set], counted: bool) -> None:
        self.forest, self.counted, self.n_labels = forest, counted, len(forest.parent)
        self.sets = sorted(sets, key=lambda one: len(one.labels))
        self.tops = [forest.tops(one.labels) for one in self.sets]

    def tree(self) -> Tree:
        """Return the tree for the kernels; nodes of sets come after those of labels, and are sorted below."""
        n, parent = self.n_labels + len(self.sets), self._parents()
        size = [len(self.forest.below[label]) for label in range(self.n_labels)]
        size += [len(one.labels) for one in self.sets]
        low, high = [0] * n, list(size)
        for node, one in enumerate(self.sets, self.n_labels):
            low[node], high[node] = one.low, one.high
        order = self._below_first(parent)
        limit, is_free = list(high), [False] * n
        for node in reversed(order):  # from the root down
            limit[node] = min(high[node], size[node])
            is_bounded = node >= self.n_labels and (low[node] > 0 or high[node] < size[node])
            above = parent[node]
            is_free[node] = not is_bounded and (not self.counted if above < 0 else is_free[above])
            if above >= 0 and not is_free[above]:
                limit[node] = min(limit[node], limit[above])
        width = [
            (2 if node < self.n_labels else 1) if is_free[node] else limit[node] + 1 for node in range(n)
        ]
        place = {node: at for at, node in enumerate(order)}
        to = [parent[node] for node in order]
        return Tree(
            label=np.array([node if node < self.n_labels else -1 for node in order], np.int64),
            parent=np.array([-1 if above < 0 else place[above] for above in to], np.int64),
            low=np.array([low[node] for node in order], np.int64),
            is_free=np.array([is_free[node] for node in order], np.uint8),
            start=np.cumsum([0, *(width[node] for node in order)]).astype(np.int64),
            choice_start=np.cumsum([0, *(0 if above < 0 else width[above] for above in to)]).astype(np.int64),
        )

    def _parents(self) -> list[int]:
        """Return the node above each node; the root, which is the set of all labels, has −1."""
        found = []
        for label in range(self.n_labels):
            around = [i for i, tops in enumerate(self.tops) if label in tops]
            found.append(self.n_labels + around[0] if around else self.forest.parent[label])
        for i, one in enumerate(self.sets):
            top = next(iter(self.tops[i]))
            around = [
                j
                for j in range(i + 1, len(self.sets))
                if top in self.tops[j] and one.labels < self.sets[j].labels
            ]
            found.append(self.n_labels + around[0] if around else self.forest.parent[top])
        return found

    @staticmethod
    def _below_first(parent: list[int]) -> list[int]:
        children: list[list[int]] = [[] for _ in parent]
        for node, above in enumerate(parent):
            if above >= 0:
                children[above].append(node)
        order, left = [], [parent.index(-1)]
        while left:
            order.append(node := left.pop())
            left.extend(children[node])
        return order[::-1]
