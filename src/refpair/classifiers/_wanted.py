"""What a :class:`CostGuarantee` is to promise: a mean cost, or the recall or precision of a label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from refpair._saved import Savable, require
from refpair.costs import Cost
from refpair.decision.promises import Promise
from refpair.posterior.distribution import Bytes, Floats
from refpair.tables._names import unknown_name

SHARES = {0.1: "10 % of the rows", 0.5: "half", 1.0: "all"}  # of which is told what could be promised
_DIGITS = 3
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
            return Promise(self.value / self.largest, losses, score, everywhere > 0, everywhere, self.largest)
        there, given = self._of_label(told)
        true = truths[:, self.label] == 1
        if self.what == "recall":
            return Promise(1.0 - self.value, 1.0 - given, score, true, there)
        return Promise(1.0 - self.value, 1.0 - true, score, given, given.astype(np.float64))

    def value_of(self, limit: float) -> float:
        """Return the cost, recall or precision that a limit of losses stands for."""
        return limit * self.largest if self.what == "cost" else 1.0 - limit

    def told(self, limit: float) -> str:
        """Say what can be promised, rounded to what still can be."""
        value = self.value_of(limit)
        scale = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(value))) if value > 0.0 else 1.0
        rounded = (math.ceil if self.what == "cost" else math.floor)(value * scale) / scale
        return f"{self.name} {rounded:.{_DIGITS}g}"

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


def refusal(wanted: Sequence[Wanted], limits: Floats, confidence: float, n_rows: int) -> str:
    """Say that promises cannot be made, and which ones can be: `limits` are those of SHARES of rows."""
    asked = " and ".join(
        f"to cost at most {one.value:g}"
        if one.what == "cost"
        else f"to have a {one.name} of at least {one.value:g}"
        for one in wanted
    )
    possible = [
        " and ".join(one.told(limit) for one, limit in zip(wanted, of_share, strict=True) if limit < 1.0)
        for of_share in limits
    ]
    told = ", ".join(f"{one} on {share}" for one, share in zip(possible, SHARES.values(), strict=True) if one)
    if len(wanted) == 1:
        told = told.replace(f"{wanted[0].name} ", "")
    return (
        f"no share of rows can be promised {asked} with confidence {confidence:g}. "
        f"What can be promised: {told or 'nothing'} ({n_rows:,} rows of calibration)"
    )
