"""Tests and upper bounds of the mean of losses from 0 to 1, valid for any number of them.

They bet that losses are below a limit: see Waudby-Smith and Ramdas, "Estimating means of bounded random
variables by betting" (2024). How much is bet is found anew before each loss, from what is still missing to
the capital that is wanted, as by Voráček and Orabona, "STaR-Bets" (2025). On average over many losses, that
needs about as few of them as a test that knows their distribution.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.bets import first_not_rejected, p_value_by_bets
from refpair.posterior.distribution import Floats

_STEP, _LEAST = 0.995, 1e-6  # limits that are tried are 0.5 % apart
_LIMITS = _STEP ** np.arange(1, int(np.log(_LEAST) / np.log(_STEP)) + 1)


def mean_p_value(losses: Floats, limit: float, delta: float) -> float:
    """Return a p-value for the hypothesis that the mean of losses is above a limit.

    It is at most δ with probability δ at most if the hypothesis is true, for any δ; power is best for the one
    that is given. It is not made smaller than that δ.

    Parameters
    ----------
    losses : array of shape (n,)
        Independent, from 0 to 1, and in random order.
    limit : float
        At least 0.
    delta : float
        The level that is wanted, between 0 and 1.

    Returns
    -------
    float

    Examples
    --------
    >>> losses = np.random.default_rng(0).random(200) < 0.1
    >>> [round(mean_p_value(losses, limit, 0.05), 2) for limit in (0.1, 0.12, 0.15)]
    [0.93, 0.91, 0.14]
    """
    return p_value_by_bets(_checked(losses, delta), limit, delta)


def mean_is_at_most(losses: Floats, limit: float, delta: float) -> bool:
    """Tell whether the mean is shown to be at most a limit, which is wrong with probability δ at most.

    Examples
    --------
    >>> losses = np.random.default_rng(0).random(200) < 0.1
    >>> mean_is_at_most(losses, 0.12, 0.05), mean_is_at_most(losses, 0.2, 0.05)
    (False, True)
    """
    return mean_p_value(losses, limit, delta) <= delta * (1.0 + 1e-12)  # for rounding


def mean_upper_bound(losses: Floats, delta: float) -> float:
    """Return what the mean is at most, but for a probability of δ.

    Limits are tested from 1 downwards, each 0.5 % below the one before, up to the first that the mean may be
    above. No other is tested, so that the only error that counts is that of the first limit below the mean:
    the order of limits makes the bound valid, not that lower ones are harder to show.

    Parameters
    ----------
    losses : array of shape (n,)
        As in :func:`mean_p_value`.
    delta : float
        Between 0 and 1.

    Returns
    -------
    float
        1 if nothing can be said.

    Examples
    --------
    >>> losses = np.random.default_rng(0).random(200) < 0.1
    >>> round(mean_upper_bound(losses, 0.05), 3)
    0.155
    """
    k = first_not_rejected(_checked(losses, delta), _LIMITS, delta)
    return 1.0 if k == 0 else float(_LIMITS[k - 1])


def _checked(losses: Floats, delta: float) -> Floats:
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta must be a number between 0 and 1, not {delta!r}")
    found = np.ascontiguousarray(losses, np.float64)
    if found.ndim != 1 or not ((found >= 0.0) & (found <= 1.0)).all():
        raise ValueError("losses must be an array of numbers from 0 to 1: divide costs by the largest one")
    return found
