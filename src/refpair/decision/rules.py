"""Rules that answers keep: how many labels there are, and which labels need another one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from refpair._saved import Savable, require
from refpair.tables._names import unknown_name

Label: TypeAlias = str | int  # a label by its name, or by the number of its column


class Bound(NamedTuple):
    """The least and the largest number of some labels; None are all labels, or no limit."""

    labels: tuple[Label, ...] | None
    low: int
    high: int | None


class Rule(Savable, ABC):
    """A rule that answers keep; the classes derived from it say which. A list of rules means all of them."""

    @abstractmethod
    def map_labels(self, change: Callable[[Label], Label]) -> Self:
        """Return the same rule about labels that are called otherwise."""

    def bounds(self) -> list[Bound]:
        """Return how many of which labels there may be."""
        return []

    def pairs(self) -> list[tuple[Label, Label]]:
        """Return the labels that need another one, each with that one."""
        return []


@dataclass(frozen=True, repr=False)
class _Size(Rule):
    k: int
    labels: tuple[Label, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", _whole(self.k, type(self).__name__))
        if self.labels is not None:
            object.__setattr__(self, "labels", _labels(self.labels, type(self).__name__))

    def __repr__(self) -> str:
        more = "" if self.labels is None else f", {list(self.labels)}"
        return f"{type(self).__name__}({self.k}{more})"

    def map_labels(self, change: Callable[[Label], Label]) -> Self:
        return self if self.labels is None else type(self)(self.k, tuple(map(change, self.labels)))

    def _check_enough(self) -> None:
        if self.labels is not None and self.k > len(self.labels):
            raise ValueError(f"{self!r} cannot be kept: it names {_count(len(self.labels), 'label')} only")

    def _text(self, how: str) -> str:
        return f"{how} {self.k}" + ("" if self.labels is None else f" of {_joined(self.labels)}")


@dataclass(frozen=True, repr=False)
class AtMost(_Size):
    """At most k labels, or at most k of some labels.

    Parameters
    ----------
    k : int
    labels : sequence of str or int, optional
        The labels that count, by name or number; by default all.

    Examples
    --------
    >>> from refpair.decision import AtMost, decide
    >>> from refpair.costs import get_cost
    >>> from refpair.posterior import LabelDistribution
    >>> p = LabelDistribution.from_dense([[1, 1, 1], [1, 0, 0], [0, 1, 1]], [[5, 2, 1]])
    >>> decide(p, get_cost("f1"), rules=[AtMost(2)])
    array([[1, 0, 0]], dtype=uint8)
    """

    def __str__(self) -> str:
        return self._text("at most")

    def bounds(self) -> list[Bound]:
        """Return how many of which labels there may be."""
        return [Bound(self.labels, 0, self.k)]


@dataclass(frozen=True, repr=False)
class AtLeast(_Size):
    """At least k labels, or at least k of some labels.

    Parameters
    ----------
    k : int
    labels : sequence of str or int, optional
        The labels that count, by name or number; by default all.

    Examples
    --------
    >>> AtLeast(1, ["joy", "anger"])
    AtLeast(1, ['joy', 'anger'])
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_enough()

    def __str__(self) -> str:
        return self._text("at least")

    def bounds(self) -> list[Bound]:
        """Return how many of which labels there may be."""
        return [Bound(self.labels, self.k, None)]


@dataclass(frozen=True, repr=False)
class Exactly(_Size):
    """Exactly k labels, or exactly k of some labels.

    Parameters
    ----------
    k : int
    labels : sequence of str or int, optional
        The labels that count, by name or number; by default all.

    Examples
    --------
    >>> Exactly(1, ["draft", "final"])
    Exactly(1, ['draft', 'final'])
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_enough()

    def __str__(self) -> str:
        return self._text("exactly")

    def bounds(self) -> list[Bound]:
        """Return how many of which labels there may be."""
        return [Bound(self.labels, self.k, self.k)]


@dataclass(frozen=True, repr=False)
class Exclusive(Rule):
    """At most one of some labels.

    Parameters
    ----------
    labels : sequence of str or int
        At least two labels, by name or number.

    Examples
    --------
    >>> Exclusive(["day", "night"])
    Exclusive(['day', 'night'])
    """

    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", _labels(self.labels, "Exclusive"))
        if len(self.labels) < 2:
            raise ValueError("Exclusive needs at least two labels")

    def __repr__(self) -> str:
        return f"Exclusive({list(self.labels)})"

    def __str__(self) -> str:
        return f"one of {_joined(self.labels)}"

    def map_labels(self, change: Callable[[Label], Label]) -> Self:
        """Return the same rule about labels that are called otherwise."""
        return type(self)(tuple(map(change, self.labels)))

    def bounds(self) -> list[Bound]:
        """Return how many of which labels there may be."""
        return [Bound(self.labels, 0, 1)]


@dataclass(frozen=True, repr=False)
class Implies(Rule):
    """A label that is there only if another one is.

    Parameters
    ----------
    child : str or int
        The label that needs the other one, by name or number.
    parent : str or int
        The label that it needs.

    Examples
    --------
    >>> Implies("raster", "image")
    Implies('raster', 'image')
    """

    child: Label
    parent: Label

    def __post_init__(self) -> None:
        child, parent = _labels((self.child,), "Implies"), _labels((self.parent,), "Implies")
        object.__setattr__(self, "child", child[0])
        object.__setattr__(self, "parent", parent[0])
        if child == parent:
            raise ValueError(f"Implies: {self.child!r} cannot be its own parent")

    def __repr__(self) -> str:
        return f"Implies({self.child!r}, {self.parent!r})"

    def __str__(self) -> str:
        return f"{self.child} -> {self.parent}"

    def map_labels(self, change: Callable[[Label], Label]) -> Self:
        """Return the same rule about labels that are called otherwise."""
        return type(self)(change(self.child), change(self.parent))

    def pairs(self) -> list[tuple[Label, Label]]:
        """Return the labels that need another one, each with that one."""
        return [(self.child, self.parent)]


@dataclass(frozen=True, repr=False)
class Taxonomy(Rule):
    """Labels in a tree, or several: each is there only if its parent is.

    Parameters
    ----------
    parents : mapping of str or int to str or int
        The parent of each label that has one.

    Examples
    --------
    >>> Taxonomy({"dog": "mammal", "cat": "mammal", "mammal": "animal"})
    Taxonomy({'dog': 'mammal', 'cat': 'mammal', 'mammal': 'animal'})
    """

    parents: Mapping[Any, Label]

    def __post_init__(self) -> None:
        if not isinstance(self.parents, Mapping) or not self.parents:
            raise ValueError(f"Taxonomy takes the parent of each label as a dict, not {self.parents!r:.60}")
        names = _labels(self.parents, "Taxonomy"), _labels(self.parents.values(), "Taxonomy", unique=False)
        parents = dict(zip(*names, strict=True))
        object.__setattr__(self, "parents", parents)
        for label in parents:
            line = [label]
            while (above := parents.get(line[-1])) is not None and above not in line:
                line.append(above)
            if above == label:
                raise ValueError(f"Taxonomy goes in a circle: {' -> '.join(map(str, [*line, label]))}")

    def __hash__(self) -> int:
        return hash(frozenset(self.parents.items()))

    def __repr__(self) -> str:
        return f"Taxonomy({self.parents})"

    def __str__(self) -> str:
        return ", ".join(f"{child} -> {parent}" for child, parent in self.parents.items())

    def map_labels(self, change: Callable[[Label], Label]) -> Self:
        """Return the same rule about labels that are called otherwise."""
        changed = [(change(child), change(parent)) for child, parent in self.parents.items()]
        _labels([child for child, _ in changed], "Taxonomy")
        return type(self)(dict(changed))

    def pairs(self) -> list[tuple[Label, Label]]:
        """Return the labels that need another one, each with that one."""
        return list(self.parents.items())

    def _get_saved(self) -> dict[str, Any]:
        return {"parents": [list(pair) for pair in self.parents.items()]}

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        pairs = saved.get("parents")
        right = saved.keys() == {"parents"} and isinstance(pairs, list)
        require(right, "a Taxonomy has other fields than it should")
        right = all(isinstance(pair, list) and len(pair) == 2 for pair in saved["parents"])
        require(right, "a Taxonomy is not made of labels and their parents")
        _labels([child for child, _ in saved["parents"]], "Taxonomy")
        return cls(dict(saved["parents"]))


def check_rules(rules: Any) -> list[Rule]:
    """Refuse what is not a list of rules."""
    if isinstance(rules, Sequence) and all(isinstance(rule, Rule) for rule in rules):
        return list(rules)
    raise ValueError(f"rules must be a list of rules, such as [AtMost(3)], not {rules!r:.100}")


def to_dicts(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Return rules as plain values for JSON.

    Examples
    --------
    >>> to_dicts([AtMost(2, ["joy", "anger"])])
    [{'rule': 'AtMost', 'k': 2, 'labels': ['joy', 'anger']}]
    """
    found = []
    for rule in rules:
        fields = {
            name: list(part) if isinstance(part, tuple) else part for name, part in rule._get_saved().items()
        }
        found.append({"rule": type(rule).__name__, **fields})
    return found


def from_dicts(stored: Any) -> list[Rule]:
    """Return the rules that :func:`to_dicts` made plain values of.

    Examples
    --------
    >>> from_dicts(to_dicts([Exactly(1), Implies("raster", "image")]))
    [Exactly(1), Implies('raster', 'image')]
    """
    rules: list[Rule] = []
    for one in stored if isinstance(stored, list) else [stored]:
        kind = _KINDS.get(one.get("rule")) if isinstance(one, dict) else None
        if kind is None:
            raise ValueError(f"{one!r:.60} is no rule")
        fields = {name: part for name, part in one.items() if name != "rule"}
        if isinstance(fields.get("labels"), list):
            fields["labels"] = tuple(fields["labels"])
        rules.append(kind._from_saved(fields))
    return rules


_KINDS: dict[Any, type[Rule]] = {
    kind.__name__: kind for kind in (AtMost, AtLeast, Exactly, Exclusive, Implies, Taxonomy)
}


def number_of(label: Label, names: Sequence[Any]) -> int:
    """Return the number of a label's column."""
    if isinstance(label, int):
        if not 0 <= label < len(names):
            raise ValueError(
                f"rules: there is no label {label}: labels have numbers from 0 to {len(names) - 1}"
            )
        return label
    if label not in names:
        raise ValueError(f"rules: {unknown_name('label', label, map(str, names))}")
    return list(names).index(label)


def _whole(k: Any, rule: str) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
        raise ValueError(f"{rule}: k must be a whole number of at least 0, not {k!r:.60}")
    return int(k)


def _labels(labels: Any, rule: str, *, unique: bool = True) -> tuple[Label, ...]:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ValueError(f"{rule}: labels must be a list of names or numbers, not {labels!r:.60}")
    found = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    for label in found:
        if isinstance(label, bool) or not isinstance(label, str | int):
            raise ValueError(f"{rule}: a label is a name or the number of a column, not {label!r:.60}")
    if not found:
        raise ValueError(f"{rule}: labels are missing")
    twice = [label for label in dict.fromkeys(found) if found.count(label) > 1] if unique else []
    if twice:
        raise ValueError(f"{rule}: {twice[0]!r} is there twice")
    return found


def _joined(labels: Iterable[Label]) -> str:
    return ", ".join(map(str, labels))


def _count(n: int, thing: str) -> str:
    return f"{n} {thing}" + "s" * (n != 1)
