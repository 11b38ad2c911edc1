"""What a :class:`CostGuarantee` is to promise: a mean cost, or the recall or precision of a label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable, require
from refpair.costs import Cost
from refpair.decision.promises import Promise, find_thresholds
from refpair.posterior.distribution import Bytes, Floats
from refpair.tables._names import unknown_name

_DIGITS, _STEP = 3, 1.05  # of what could be promised
_ROUNDING = 1e-9  # of a cost


class Told(NamedTuple):
    """What a model says of rows: its answers, and what promises need to know of these."""

    labels: Bytes
    expected: Floats | None  # cost
    p: Floats | None


@dataclass(frozen=True)
class Wanted(Savable):
    """What is promised of answered rows: that costs are at most a value, or that it is reached."""

    what: Literal["cost", "recall", "precision"]
    value: float
    largest: float = 1.0  # cost
    label: int = 0
    label_name: str = ""

    def _check_saved(self) -> None:
        require(self.label >= 0, "a promise is about a label that there cannot be")

    @property
    def name(self) -> str:
        """What the promise is called."""
        return self.what if self.what == "cost" else f"{self.what} of {self.label_name}"

    def score(self, told: Told) -> Floats:
        """Return the expected cost of rows, or the probability that the label is missed or given wrongly."""
        if self.what == "cost":
            assert told.expected is not None
            return told.expected
        there, given = self._of_label(told)
        return np.asarray(there * ~given if self.what == "recall" else (1.0 - there) * given)

    def promise(self, told: Told, truths: Bytes, cost: Cost) -> Promise:
        """Return the promise in terms of losses from 0 to 1, of rows whose labels are known."""
        score = self.score(told)
        if self.what == "cost":
            losses, everywhere = self._losses(truths, told.labels, cost), np.ones(len(score))
            return Promise(self.limit, losses, score, everywhere > 0, everywhere, self.largest)
        there, given = self._of_label(told)
        true = truths[:, self.label] == 1
        if self.what == "recall":
            return Promise(self.limit, 1.0 - given, score, true, there)
        return Promise(self.limit, 1.0 - true, score, given, given.astype(np.float64))

    def value_of(self, limit: float) -> float:
        """Return the cost, recall or precision that a limit of losses stands for."""
        return limit * self.largest if self.what == "cost" else 1.0 - limit

    def told(self) -> str:
        """Say what is promised."""
        return f"{self.name} {self.value:g}"

    def weaker(self, factor: float) -> Wanted:
        """Return the promise with a larger limit of losses, rounded."""
        value = self.value_of(factor * self.limit)
        if value <= 0.0:
            return replace(self, value=0.0)
        scale = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(value)))
        rounded = (math.ceil if self.what == "cost" else math.floor)(value * scale) / scale
        return replace(self, value=rounded)

    @property
    def limit(self) -> float:
        """The mean loss that is promised, from 0 to 1."""
        return self.value / self.largest if self.what == "cost" else 1.0 - self.value

    def _of_label(self, told: Told) -> tuple[Floats, Any]:
        assert told.p is not None
        return told.p[:, self.label], told.labels[:, self.label] == 1

    def _losses(self, truths: Bytes, labels: Bytes, cost: Cost) -> Floats:
        losses = cost.rows(truths, labels) / self.largest
        if losses.min() < 0.0 or losses.max() > 1.0 + _ROUNDING:
            wrong = losses.min() if losses.min() < 0.0 else losses.max()
            raise ValueError(
                f"the cost {cost.name!r} is {wrong * self.largest:g} for a row of calibration: promises need "
                f"costs from 0 to largest_cost, which is {self.largest:g}"
            )
        return np.asarray(np.minimum(losses, 1.0))


def of_labels(what: Any, wanted: Mapping[Any, float] | None, names: Sequence[Any]) -> list[Wanted]:
    """Return what is wanted of labels by name."""
    found = []
    for label, least in (wanted or {}).items():
        if label not in names:
            raise ValueError(f"{what}: {unknown_name('label', str(label), map(str, names))}")
        found.append(Wanted(what, float(least), label=names.index(label), label_name=str(label)))
    return found


def refusal(
    wanted: Sequence[Wanted], promises: Sequence[Promise], delta: float, order: npt.NDArray[np.intp]
) -> str:
    """Say that promises cannot be made, and which weaker ones can be, by the same test."""
    asked = " and ".join(
        f"to cost at most {one.value:g}"
        if one.what == "cost"
        else f"to have a {one.name} of at least {one.value:g}"
        for one in wanted
    )
    told = ", ".join(
        f"{' and '.join(one.told() if len(wanted) > 1 else f'{one.value:g}' for one in weaker)} on {share}"
        for weaker, share in _possible(wanted, promises, delta, order)
    )
    return (
        f"no share of rows can be promised {asked} with confidence {1.0 - delta:g}. "
        f"What can be promised: {told or 'nothing'} ({len(order):,} rows of calibration)"
    )


def _possible(
    wanted: Sequence[Wanted], promises: Sequence[Promise], delta: float, order: npt.NDArray[np.intp]
) -> Iterator[tuple[list[Wanted], str]]:
    """Yield the first weaker promises that can be made at all, about half of the rows, and about all."""
    n_answered, factor = 0, _STEP
    while n_answered < len(order):
        weaker = [one.weaker(factor) for one in wanted]
        if max(one.limit for one in weaker) >= 1.0:
            return
        changed = [replace(one, limit=other.limit) for one, other in zip(promises, weaker, strict=True)]
        found = find_thresholds(changed, delta, order)
        factor *= _STEP
        if found is None:
            continue
        n = int(np.all([one.scores <= at for one, at in zip(promises, found, strict=True)], axis=0).sum())
        if n == len(order) or 2 * n > len(order) > 2 * n_answered or n_answered == 0 < n:
            n_answered = n
            share = n / len(order)
            yield weaker, "all" if share == 1.0 else f"{share:.0%} of the rows"
