"""Numbers of rows and features, given as numbers or as shares."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MaxFeatures", "choose_max_features", "resolve_max_features", "resolve_share"]

MaxFeatures: TypeAlias = int | float | Literal["sqrt", "log2"] | None


def choose_max_features(
    max_features: MaxFeatures | Literal["auto", "forest"], n_bins: npt.NDArray[np.integer]
) -> MaxFeatures:
    """Return how many features a split looks at, where that is to depend on their numbers of bins.

    "auto" and "forest" take the square root if most features have more than two values. Among many that are
    there or not (words, say) only few tell anything, and a small draw would miss them: then "auto" takes all,
    and "forest" a third, which for a forest is as good, and quicker.

    Examples
    --------
    >>> choose_max_features("forest", np.array([64, 64, 2])), choose_max_features("auto", np.array([2, 2]))
    ('sqrt', None)
    """
    if max_features != "auto" and max_features != "forest":
        return max_features
    if len(n_bins) == 0 or (n_bins > 2).mean() > 0.5:
        return "sqrt"
    return None if max_features == "auto" else 1 / 3


def resolve_max_features(max_features: MaxFeatures, n_features: int) -> int:
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
