"""Bets against a mean: the capital of a bettor who wins what losses stay below a limit.

A bet is on the next loss, and may depend on all before it. If the mean is not below the limit, no way to bet
makes capital grow on average, so that it ever becomes 1/δ times what it was with probability δ at most.
"""

from __future__ import annotations

import math

import numpy as np

from refpair._kernels.jit import Floats, helper, kernel

_MOST = 0.75  # of the capital may be lost at once,
_ALL = 0.999  # unless less could not reach what is wanted
_MORE = 1e-9  # than that is aimed at, so that rounding does not decide


@helper
def log_growth(losses: Floats, limit: float, delta: float) -> float:
    """Return the logarithm of the largest capital, and stop as soon as it is log(1/δ)."""
    n, wanted = losses.shape[0], -math.log(delta)
    n_seen, total, squares = 1.0, 0.5, 0.25  # a loss of 1/2 before all others, as far off as can be
    log_capital = largest = 0.0
    for i in range(n):
        n_left, missing = n - i, wanted - log_capital + _MORE
        # What reaches what is missing soonest, if losses go on to vary as they did.
        bet = math.sqrt(2.0 * missing / max(squares / n_seen * n_left, 1e-300))
        # The least that reaches it if all that follow are 0.
        least = math.expm1(missing / n_left) / limit
        bet = min(max(min(bet, _MOST / (1.0 - limit)), least), _ALL / (1.0 - limit))
        log_capital += math.log1p(bet * (limit - losses[i]))
        if log_capital > largest:
            largest = log_capital
            if largest >= wanted:
                break
        n_seen += 1.0
        total += losses[i]
        squares += (losses[i] - total / n_seen) ** 2
    return largest


@kernel
def p_value_by_bets(losses: Floats, limit: float, delta: float) -> float:
    """Return a p-value for losses, from 0 to 1 and in random order, having a mean above the limit."""
    return 0.0 if limit >= 1.0 else math.exp(-log_growth(losses, limit, delta))


@kernel
def first_not_rejected(losses: Floats, limits: Floats, delta: float) -> int:
    """Return the index of the first limit that the mean may be above of, at level δ."""
    for k in range(len(limits)):
        if log_growth(losses, limits[k], delta) < -np.log(delta):
            return k
    return len(limits)
