"""Numbers of rows and features, given as numbers or as shares."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

__all__ = ["resolve_max_features", "resolve_share"]


def resolve_max_features(max_features: int | float | Literal["sqrt", "log2"] | None, n_features: int) -> int:
    """Return how many features a split looks at.

    Examples
    --------
    >>> resolve_max_features("sqrt", 103), resolve_max_features(0.5, 10), resolve_max_features(None, 10)
    (10, 5, 10)
    """
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    return resolve_share(max_features, n_features)


def resolve_share(amount: int | float | None, n: int) -> int:
    """Return a number of things out of `n`, given as a number, a share, or None for all.

    Examples
    --------
    >>> resolve_share(0.63, 100), resolve_share(7, 100), resolve_share(None, 100)
    (63, 7, 100)
    """
    if amount is None:
        return n
    if isinstance(amount, int | np.integer):
        return min(int(amount), n)
    return max(1, round(amount * n))
