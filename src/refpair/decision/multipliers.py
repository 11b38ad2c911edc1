"""The best label vectors where some rules are not in the tree: by Lagrange multipliers, and integer programs.

Rules A z ≤ b that are broken are made dear: max_z g·z − λ·(A z − b), over what the tree allows, bounds the
best allowed sum for any λ ≥ 0, and a few steps along A z − b make the bound small. Most often z is allowed
then and reaches the bound. Only where none does, an integer program is solved.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refpair._kernels.rule_tree import best_by_gains, best_of_sizes
from refpair.decision.rule_set import RuleSet
from refpair.posterior.distribution import Bytes, Floats, Longs

_ROUNDS = 40
_NOTHING = -1e300  # what a row gains as long as no allowed label vector of it is known
_NOISE = 1e-12  # of the largest gain: what differs by less is the same but for rounding
_FIRST_STEP = 0.3  # of the largest gain, as long as no allowed label vector is known


@dataclass(eq=False)
class Problems:
    """Problems of some rows: row ``row[i]`` gains ``gains[i] @ z + offset[i]`` by z, of ``size[i]`` labels.

    Without sizes, z may have any number of labels. Problems of a row come one after the other.
    """

    gains: Floats
    row: Longs
    size: Longs | None
    offset: Floats
    rules: RuleSet
    best: Bytes = field(init=False)  # (n_rows, n_labels): the best allowed label vectors so far
    value: Floats = field(init=False)  # (n_rows,): what they gain
    bound: Floats = field(init=False)  # (n,): what a problem gains at most

    def __post_init__(self) -> None:
        n_rows = int(self.row.max(initial=-1)) + 1
        self.best = np.zeros((n_rows, self.gains.shape[1]), np.uint8)
        self.value = np.full(n_rows, _NOTHING)
        self.bound = np.full(len(self.gains), np.inf)
        self.slack = _NOISE * float(np.abs(self.gains).max(initial=0.0))

    def solve(self) -> Bytes:
        """Return the best label vector of each row; of those that gain the same, one of few labels."""
        self._bound_all()
        for i in np.argsort(-self.bound, kind="stable"):
            if self._is_open(np.array([i]))[0]:
                z = self.rules.best(self.gains[i], None if self.size is None else int(self.size[i]))
                if z is not None:
                    self._note(np.array([i]), z[None])
        return self.best

    def _bound_all(self) -> None:
        A, b = self.rules.inequalities
        dear = np.zeros((len(self.gains), len(b)))
        scale = np.abs(self.gains).max(axis=1, initial=0.0)
        left = np.arange(len(self.gains))
        for _ in range(_ROUNDS):
            changed = self.gains[left] - dear[left] @ A
            z, is_there = self._best_of_tree(changed, left)
            reached = (changed * z).sum(axis=1) + dear[left] @ b + self.offset[left]
            self.bound[left] = np.where(is_there, np.minimum(self.bound[left], reached), -np.inf)
            kept = is_there & self.rules.allows(z)
            self._note(left[kept], z[kept])
            still = self._is_open(left)
            left, z, reached = left[still], z[still], reached[still]
            if len(left) == 0:
                break
            over = z @ A.T - b
            over[(over < 0) & (dear[left] == 0)] = 0.0
            known = self.value[self.row[left]]
            goal = np.where(known > _NOTHING, known, reached - _FIRST_STEP * scale[left])
            step = (reached - goal) / np.maximum((over**2).sum(axis=1), 1.0)
            dear[left] = np.maximum(dear[left] + step[:, None] * over, 0.0)

    def _best_of_tree(self, gains: Floats, which: Longs) -> tuple[Bytes, npt.NDArray[np.bool_]]:
        """Return the best label vectors that the tree allows, and whether it allows any."""
        if self.size is None:
            found = best_by_gains(gains, self.rules.tree[0], self.slack)
            return np.asarray(found), np.ones(len(gains), np.bool_)
        sums = np.empty(len(gains))
        found = best_of_sizes(gains, self.size[which], self.rules.counted_tree[0], sums)
        return np.asarray(found), sums > -np.inf

    def _note(self, which: Longs, z: Bytes) -> None:
        """Keep allowed label vectors that are better than the best so far, or as good and smaller."""
        values = (self.gains[which] * z).sum(axis=1) + self.offset[which]
        for row, one, value in zip(self.row[which], z, values, strict=True):
            gain = value - self.value[row]
            if gain > self.slack or (gain > -self.slack and one.sum() < self.best[row].sum()):
                self.best[row], self.value[row] = one, value

    def _is_open(self, which: Longs) -> npt.NDArray[np.bool_]:
        """Tell whether problems may have a better label vector, or one as good and smaller."""
        above = self.bound[which] - self.value[self.row[which]]
        if self.size is None:
            return np.asarray(above > self.slack)
        is_smaller = self.size[which] < self.best[self.row[which]].sum(axis=1)
        return np.asarray((above > self.slack) | ((above > -self.slack) & is_smaller))
