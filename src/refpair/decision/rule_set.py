"""Rules about numbered labels, together: what they allow, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import LinearConstraint, milp

from refpair._kernels.rule_tree import Tree
from refpair._saved import Savable, require
from refpair.decision.rule_tree import Bounds, tree_of
from refpair.decision.rules import Rule, check_rules, number_of
from refpair.posterior.distribution import Bytes, Floats, Longs

_INFEASIBLE = 2  # the status of milp
_SCALE = 1e4  # of gains, since the solver takes what differs by 1e-6 for the same
_SECONDS = 5.0  # for the search for a label vector that rules allow


@dataclass(frozen=True, eq=False)
class RuleSet(Savable):
    """Rules about labels by their numbers, of which all are kept.

    Parameters
    ----------
    rules : tuple of rules
        With numbers for labels.
    n_labels : int
    exceptions : tuple of int
        The numbers of rules that answers must keep, but truths often do not: nothing follows from them about
        what is true.

    Examples
    --------
    >>> from refpair.decision import AtMost, Implies
    >>> rules = RuleSet.resolve([AtMost(1), Implies("b", "a")], ["a", "b"])
    >>> rules
    RuleSet([AtMost(1), Implies(1, 0)])
    >>> rules.allows(np.array([[1, 0], [0, 1]], np.uint8))
    array([ True, False])
    """

    rules: tuple[Rule, ...]
    n_labels: int
    exceptions: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        require(self.n_labels > 0, "rules are about no labels")
        known = all(0 <= number < len(self.rules) for number in self.exceptions)
        require(known, "an exception is from a rule that is not there")
        for rule in check_rules(self.rules):
            rule.map_labels(lambda label: number_of(label, range(self.n_labels)))

    def __repr__(self) -> str:
        return f"RuleSet({list(self.rules)})"

    @classmethod
    def resolve(cls, rules: Any, names: Sequence[Any]) -> Self | None:
        """Return rules with numbers instead of names, None if there are none; refuse contradictions."""
        given = check_rules(rules)
        if not given:
            return None
        numbered = tuple(rule.map_labels(lambda label: number_of(label, names)) for rule in given)
        made = cls(numbered, len(names))
        if not made._is_possible():
            kept = list(range(len(given)))
            for left_out in list(kept):
                fewer = [one for one in kept if one != left_out]
                if not cls(tuple(numbered[one] for one in fewer), len(names))._is_possible():
                    kept = fewer
            named = " and ".join(repr(given[one]) for one in kept)
            if len(kept) == 1:
                raise ValueError(f"rules: no answer of {len(names)} labels keeps {named}; change it")
            raise ValueError(f"rules: no answer keeps both {named}; leave one of them out")
        return made

    def allows(self, labels: Bytes) -> npt.NDArray[np.bool_]:
        """Tell of each row of labels, 0 and 1, whether it keeps all rules."""
        kept = self.within_bounds(labels)
        child, parent = self.pairs.T
        for one, above in zip(child, parent, strict=True):
            kept &= labels[:, one] <= labels[:, above]
        return kept

    def within_bounds(self, labels: Bytes) -> npt.NDArray[np.bool_]:
        """Tell of each row of labels, 0 and 1, whether it has as many labels of each set as there may be."""
        members, low, high = self.bounds
        if len(members) == 0:
            return np.ones(len(labels), np.bool_)
        counts = labels.astype(np.float32) @ members.T.astype(np.float32)
        return np.asarray(((counts >= low) & (counts <= high)).all(axis=1))

    def sentences(self, names: Sequence[Any]) -> list[str]:
        """Return the rules as texts, with the names of labels."""
        return [str(rule.map_labels(lambda label: str(names[int(label)]))) for rule in self.rules]

    def broken(self, labels: Any) -> npt.NDArray[np.bool_]:
        """Tell of each row and each rule whether it is broken, whatever UNKNOWN labels are: (n, n_rules)."""
        dense = labels.toarray() if sp.issparse(labels) else labels
        least, most = (dense == 1).astype(np.uint8), (dense != 0).astype(np.uint8)
        found = np.zeros((len(dense), len(self.rules)), np.bool_)
        for i, rule in enumerate(self.rules):
            alone = RuleSet((rule,), self.n_labels)
            members, low, high = alone.bounds
            sets = members.T.astype(np.int64)
            found[:, i] = (least @ sets > high).any(axis=1) | (most @ sets < low).any(axis=1)
            child, parent = alone.pairs.T
            found[:, i] |= (least[:, child] > most[:, parent]).any(axis=1)
        return found

    @cached_property
    def of_truths(self) -> RuleSet | None:
        """The rules that truths keep, too, None if there are none."""
        kept = tuple(rule for number, rule in enumerate(self.rules) if number not in self.exceptions)
        return RuleSet(kept, self.n_labels) if kept else None

    @cached_property
    def bounds(self) -> Bounds:
        """How many labels there may be of each set that a rule is about; no set is there twice."""
        limits: dict[tuple[int, ...], tuple[int, int]] = {}
        for rule in self.rules:
            for labels, low, high in rule.bounds():
                which = tuple(sorted(map(int, range(self.n_labels) if labels is None else labels)))
                most = len(which) if high is None else min(high, len(which))
                known = limits.get(which, (0, len(which)))
                limits[which] = max(low, known[0]), min(most, known[1])
        members = np.zeros((len(limits), self.n_labels), np.uint8)
        for row, labels in zip(members, limits, strict=True):
            row[list(labels)] = 1
        low_high = np.array(list(limits.values()), np.int64).reshape(-1, 2)
        return Bounds(members, low_high[:, 0].copy(), low_high[:, 1].copy())

    @cached_property
    def pairs(self) -> Longs:
        """The labels that need another one, and that one, each pair once, of shape (n_pairs, 2)."""
        found = dict.fromkeys(pair for rule in self.rules for pair in rule.pairs())
        return np.array(list(found), np.int64).reshape(-1, 2)

    @cached_property
    def needs(self) -> npt.NDArray[np.bool_]:
        """Whether each label needs each other one, or is it: (n_labels, n_labels)."""
        needs = np.eye(self.n_labels, dtype=bool)
        child, parent = self.pairs.T
        needs[child, parent] = True
        while (further := needs @ needs).sum() > needs.sum():
            needs = further
        return needs

    @cached_property
    def tree(self) -> tuple[Tree, bool]:
        """The rules that make a tree, and whether these are all."""
        return tree_of(self.n_labels, self.pairs, self.bounds, counted=False)

    @cached_property
    def counted_tree(self) -> tuple[Tree, bool]:
        """The same with sums for each number of labels."""
        return tree_of(self.n_labels, self.pairs, self.bounds, counted=True)

    @cached_property
    def parent(self) -> Longs:
        """The label that each one needs, as far as that makes a tree, −1 for the others: (n_labels,)."""
        tree = self.tree[0]
        found = np.full(self.n_labels, -1)
        nearest = np.full(len(tree.label), -1)  # the label at or above each node
        for node in range(len(tree.label) - 1, -1, -1):
            label, above = tree.label[node], tree.parent[node]
            nearest[node] = nearest[above] if above >= 0 else -1
            if label >= 0:
                found[label], nearest[node] = nearest[node], label
        return found

    @property
    def is_forest(self) -> bool:
        """Whether all rules are that labels need another one, and none needs two."""
        return self.tree[1] and len(self.bounds.low) == 0

    def best(self, gains: Floats, size: int | None = None) -> Bytes | None:
        """Return the allowed label vector of the largest sum of gains, or None; of a size, if it is given."""
        exact = [] if size is None else [LinearConstraint(np.ones((1, self.n_labels)), size, size)]
        found = milp(
            -gains * (_SCALE / (float(np.abs(gains).max(initial=0.0)) or 1.0)),
            integrality=np.ones(self.n_labels),
            bounds=(0, 1),
            constraints=[self.constraint, *exact],
            options={"mip_rel_gap": 0.0},
        )
        return None if found.x is None else (found.x > 0.5).astype(np.uint8)

    @cached_property
    def constraint(self) -> LinearConstraint:
        """All rules as low ≤ A z ≤ high."""
        members, low, high = self.bounds
        n = len(self.pairs)
        signs = np.tile([1.0, -1.0], n)
        needs = sp.csr_array(
            (signs, (np.repeat(np.arange(n), 2), self.pairs.ravel())), shape=(n, self.n_labels)
        )
        rows = sp.csc_array(sp.vstack([sp.csr_array(members.astype(np.float64)), needs]))
        limits = np.concatenate([low, np.full(n, -1)]), np.concatenate([high, np.zeros(n)])
        return LinearConstraint(rows, *limits)

    @cached_property
    def inequalities(self) -> tuple[Floats, Floats]:
        """All rules as A z ≤ b."""
        members, low, high = self.bounds
        needs = np.zeros((len(self.pairs), self.n_labels))
        np.put_along_axis(needs, self.pairs, [[1.0, -1.0]], axis=1)
        A = np.concatenate([members, -members.astype(np.float64), needs])
        return A, np.concatenate([high, -low, np.zeros(len(needs))])

    def _is_possible(self) -> bool:
        _, low, high = self.bounds
        if (low > high).any():
            return False
        if self.allows(np.zeros((1, self.n_labels), np.uint8))[0]:
            return True
        found = milp(
            np.zeros(self.n_labels),
            integrality=np.ones(self.n_labels),
            bounds=(0, 1),
            constraints=self.constraint,
            options={"time_limit": _SECONDS},
        )
        return bool(found.status != _INFEASIBLE)


def as_rule_set(rules: Any, n_labels: int) -> RuleSet | None:
    """Return rules with the numbers of labels as one set, None if there are none."""
    if not isinstance(rules, RuleSet):
        return RuleSet.resolve(rules, range(n_labels))
    if rules.n_labels != n_labels:
        raise ValueError(f"rules are about {rules.n_labels} labels, and there are {n_labels}")
    return rules
