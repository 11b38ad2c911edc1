"""Stopping rules, each with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refpair.costs import get_cost, vector_cost


@dataclass(frozen=True, eq=False)
class Round:
    """The state after a round of labeling.

    Attributes
    ----------
    n_labeled : int
        Number of labeled rows.
    predictions : ndarray of shape (n_rows, n_labels), optional
        Predictions of the classifier of this round for some rows, the same in all rounds.
    expected_cost : float, optional
        The mean of ``expected_cost`` of the classifier on such rows.
    """

    n_labeled: int
    predictions: npt.NDArray[Any] | None = None
    expected_cost: float | None = None


class StoppingRule(Protocol):
    """Base class of stopping rules."""

    def reason(self, rounds: Sequence[Round]) -> str | None:
        """Return a sentence that says why to stop after the last round, or None to continue."""


@dataclass(frozen=True)
class Budget:
    """Stop at a number of labeled rows.

    Attributes
    ----------
    n_labeled : int

    Examples
    --------
    >>> Budget(200).reason([Round(200)])
    'The budget is used up: 200 of 200 rows have labels.'
    """

    n_labeled: int

    def __post_init__(self) -> None:
        if self.n_labeled < 1:
            raise ValueError(f"n_labeled must be at least 1, not {self.n_labeled!r}")

    def reason(self, rounds: Sequence[Round]) -> str | None:
        """Return why to stop, or None."""
        if not rounds or rounds[-1].n_labeled < self.n_labeled:
            return None
        return f"The budget is used up: {rounds[-1].n_labeled} of {self.n_labeled} rows have labels."


@dataclass(frozen=True)
class StablePredictions:
    """Stop when further labels hardly change the predictions.

    Attributes
    ----------
    cost : str, Cost or callable
        The cost of the predictions of a round, if those of the round before are taken as true.
    tolerance : float
        The largest mean of this cost over the last `n_rounds` rounds.
    n_rounds : int

    Examples
    --------
    >>> same = [Round(n, np.array([[0, 1], [1, 1]])) for n in range(20, 31)]
    >>> StablePredictions("hamming", tolerance=0.01, n_rounds=10).reason(same)
    'Predictions are stable: in the last 10 rounds they changed by 0 (hamming), at most 0.01 was allowed.'
    """

    cost: Any = "hamming"
    tolerance: float = field(default=0.01, kw_only=True)
    n_rounds: int = field(default=10, kw_only=True)

    def __post_init__(self) -> None:
        vector_cost(self.cost, type(self).__name__)
        _check(self.tolerance, self.n_rounds)

    def reason(self, rounds: Sequence[Round]) -> str | None:
        """Return why to stop, or None."""
        last = [one.predictions for one in rounds[-self.n_rounds - 1 :]]
        known = [predictions for predictions in last if predictions is not None]
        if len(known) <= self.n_rounds:
            return None
        cost = get_cost(self.cost)
        pairs = pairwise(known)
        change = float(np.mean([cost.rows(before, after).mean() for before, after in pairs]))
        if change > self.tolerance:
            return None
        return (
            f"Predictions are stable: in the last {self.n_rounds} rounds they changed by {change:.2g} "
            f"({cost.name}), at most {self.tolerance:g} was allowed."
        )


@dataclass(frozen=True)
class LowGain:
    """Stop when further labels hardly lower the expected cost.

    Means of several rounds are compared, because single rounds differ by chance.

    Attributes
    ----------
    tolerance : float
        The smallest relative decrease from the mean of the `n_rounds` rounds before to that of the last
        `n_rounds` rounds.
    n_rounds : int

    Examples
    --------
    >>> slow = [Round(n, expected_cost=0.5 - n / 1e5) for n in range(20, 41)]
    >>> LowGain(0.01, n_rounds=10).reason(slow)
    'There is little to gain: in the last 10 rounds the expected cost fell by 0.02 %, where a fall of 1 %...'
    """

    tolerance: float = 0.01
    n_rounds: int = field(default=20, kw_only=True)

    def __post_init__(self) -> None:
        _check(self.tolerance, self.n_rounds)

    def reason(self, rounds: Sequence[Round]) -> str | None:
        """Return why to stop, or None."""
        costs = [one.expected_cost for one in rounds[-2 * self.n_rounds :]]
        known = [cost for cost in costs if cost is not None]
        if len(known) < 2 * self.n_rounds:
            return None
        before, now = float(np.mean(known[: self.n_rounds])), float(np.mean(known[self.n_rounds :]))
        gain = (before - now) / before if before > 0 else 0.0
        if gain >= self.tolerance:
            return None
        change = f"fell by {100 * gain:.2g} %" if gain >= 0 else f"rose by {-100 * gain:.2g} %"
        return (
            f"There is little to gain: in the last {self.n_rounds} rounds the expected cost {change}, where "
            f"a fall of {100 * self.tolerance:g} % was hoped for."
        )


def reason_to_stop(rules: Iterable[StoppingRule], rounds: Sequence[Round]) -> str | None:
    """Return the reason of the first rule that applies, or None.

    Examples
    --------
    >>> reason_to_stop([LowGain(), Budget(30)], [Round(20), Round(30)])
    'The budget is used up: 30 of 30 rows have labels.'
    """
    return next((reason for rule in rules if (reason := rule.reason(rounds)) is not None), None)


def _check(tolerance: float, n_rounds: int) -> None:
    if not tolerance >= 0:
        raise ValueError(f"tolerance must be at least 0, not {tolerance!r}")
    if n_rounds < 1:
        raise ValueError(f"n_rounds must be at least 1, not {n_rounds!r}")
