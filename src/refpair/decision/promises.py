"""Promises about the rows that are answered: how many can be, so that the mean of their losses is bounded.

This is "Learn then test" (Angelopoulos et al., 2021) with one fixed sequence of tests. A row is answered if
its scores, which its labels have no part in, are at most thresholds. A small part of the calibration rows
proposes pairs of thresholds, from few rows to all, and where to begin. On the others these are tested in this
order, each at level δ, up to the first that fails. Only the first of them that breaks the promise counts, and
it passes with probability δ at most. Losses need not grow with scores for that.

Several promises hold together if each of them passes at δ, since a wrong one is one that passed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair.decision.mean_bounds import mean_is_at_most, mean_upper_bound
from refpair.posterior.distribution import Floats

Rows = npt.NDArray[np.intp]

_SMALL = 0.1  # of the calibration rows propose
_LEVELS = 200
_USUAL = 20.0  # rows as expected, before it is believed that a model expects too little or too much


@dataclass(frozen=True, eq=False)
class Promise:
    """That the mean loss of rows is at most a limit; arrays have a number for each calibration row.

    Parameters
    ----------
    limit : float
        Between 0 and 1.
    losses : array of float
        From 0 to 1.
    scores : array of float
        What the model expects of losses, times the chance that they count: rows of low scores are answered.
    counts : array of bool
        Whether the loss of a row counts.
    chance : array of float
        The probability of that, according to the model.
    unit : float
        What scores are divided by to be those of losses from 0 to 1.
    """

    limit: float
    losses: Floats
    scores: Floats
    counts: npt.NDArray[np.bool_]
    chance: Floats
    unit: float = 1.0

    def losses_of(self, rows: Rows) -> Floats:
        """Return the losses that count among some rows."""
        return self.losses[rows[self.counts[rows]]]


def find_thresholds(promises: Sequence[Promise], delta: float, order: Rows) -> Floats | None:
    """Return thresholds of scores that answer as many rows as can be.

    Parameters
    ----------
    promises : sequence of Promise
    delta : float
        The probability with which one of them may be broken.
    order : array of int
        All rows, in random order.

    Returns
    -------
    array of shape (n_promises,), or None
        A row is answered if no score is above its threshold. None if no promise can be made.

    Examples
    --------
    Rows of high scores are wrong half of the time, the others hardly ever.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(1000)
    >>> losses = rng.random(1000) < np.where(scores > 0.6, 0.5, 0.01)
    >>> everywhere = np.ones(1000)
    >>> promise = Promise(0.1, losses * 1.0, scores, everywhere > 0, everywhere)
    >>> find_thresholds([promise], 0.05, rng.permutation(1000)).round(2)
    array([0.68])
    """
    small, tested = _parts(order)
    levels = _levels(promises, small)
    place = _places(promises, levels, tested)
    found = None
    for level in range(_start(promises, levels, small), len(levels)):
        answered = tested[place <= level]
        if not all(mean_is_at_most(one.losses_of(answered), one.limit, delta) for one in promises):
            break
        found = levels[level]
    return found


def limit_of_share(promise: Promise, share: float, delta: float, order: Rows) -> tuple[float, float]:
    """Return the threshold that answers a share of the rows, and the lowest limit that holds for them.

    The threshold is just below the lowest score that is left out: given this score, those of the answered
    rows are random ones below it. Of rows with equal scores either all are answered or none.
    """
    n_answered = int(share * len(order) + 1e-9)
    threshold = np.inf
    if n_answered < len(order):
        threshold = np.nextafter(np.partition(promise.scores, n_answered)[n_answered], -np.inf)
    answered = order[promise.scores[order] <= threshold]
    return float(threshold), mean_upper_bound(promise.losses_of(answered), delta)


def _parts(order: Rows) -> tuple[Rows, Rows]:
    """Return the small part of the rows, and the tested ones."""
    n_small = max(1, round(_SMALL * len(order)))
    return order[:n_small], order[n_small:]


def _levels(promises: Sequence[Promise], small: Rows) -> Floats:
    """Return thresholds, a row for each level: ranks among the small part make scores comparable."""
    shares = np.linspace(0.0, 1.0, _LEVELS)
    levels = np.column_stack([np.quantile(one.scores[small], shares) for one in promises])
    return np.vstack([np.unique(levels, axis=0), np.full(len(promises), np.inf)])


def _places(promises: Sequence[Promise], levels: Floats, rows: Rows) -> Rows:
    """Return the first level at which each row is answered."""
    found = [np.searchsorted(at, one.scores[rows]) for at, one in zip(levels.T, promises, strict=True)]
    return np.asarray(np.max(found, axis=0))


def _start(promises: Sequence[Promise], levels: Floats, small: Rows) -> int:
    """Return the level at which tests have most power, by the small part and what the model expects of it."""
    place, power = _places(promises, levels, small), np.full(len(levels), np.inf)

    def up_to(what: Floats) -> Floats:
        return np.bincount(place, what[small], len(levels)).cumsum()

    for one in promises:
        lost, expected = one.losses * one.counts, one.scores / one.unit
        usual = _USUAL * one.limit
        ratio = (lost[small].sum() + usual) / (expected[small].sum() + usual)
        n = up_to(one.counts + one.chance) / 2.0
        mean = up_to(lost + ratio * expected) / np.maximum(2.0 * n, 1e-12)
        # In standard errors, but for a constant, of a mean that is at the limit.
        power = np.minimum(power, (one.limit - mean) * np.sqrt(n / one.limit))
    return int(power.argmax())
