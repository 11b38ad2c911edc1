"""Numbers that users give as costs: the check at the door."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.costs._labels import FloatArray

__all__ = ["LARGEST_COST", "check_costs", "check_prices"]

LARGEST_COST = 1e100
"""Up to here, no sum and no square of costs overflows, so that nobody else has to think of it."""


def check_costs(
    returned: npt.ArrayLike, shape: tuple[int, ...], name: str, case: Callable[[tuple[Any, ...]], str]
) -> FloatArray:
    """Return what a function gave as costs of the shape, or say what is wrong with it.

    Parameters
    ----------
    returned : object
        What the user's function returned.
    shape : tuple of int
        The shape that it must have.
    name : str
        The cost to name in the ValueError.
    case : callable
        Makes words of the place of a wrong number.
    """
    try:
        array = _as_array(returned)
    except (ValueError, TypeError, OverflowError) as error:  # such as rows of unequal lengths
        raise ValueError(f"the cost {name!r} must return an array of shape {shape} ({error})") from error
    if array.dtype.kind not in "biuf":
        problem = f"must return real numbers, not values of dtype {array.dtype}"
    elif array.shape != shape:
        problem = f"must return an array of shape {shape}, not {array.shape}"
    else:
        costs = _as_floats(array)
        fine = np.abs(costs) <= LARGEST_COST  # NaN is not
        if fine.all():
            return costs
        at = np.unravel_index(fine.argmin(), shape)
        problem = f"is {array[at]} for {case(at)}: make it a finite number, at most {LARGEST_COST:g}"
    raise ValueError(f"the cost {name!r} {problem}")


def _as_array(returned: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(returned)
    if isinstance(returned, np.ma.MaskedArray) and array.dtype.kind in "biuf":
        # A masked number is an unknown one, whatever stands behind the mask.
        array = np.where(np.ma.getmaskarray(returned), np.nan, _as_floats(array))
    return array


def check_prices(what: str, prices: npt.ArrayLike) -> float | tuple[float, ...]:
    """Return one price as a float or one for each label as a tuple; refuse what is not a price."""
    try:
        given = _as_array(prices)
        array = _as_floats(given) if given.dtype.kind in "biufO" else np.array(np.nan)
    except (ValueError, TypeError, OverflowError):  # lists of unequal lengths, integers of 400 digits
        array = np.array(np.nan)
    if array.ndim > 1 or not ((array >= 0) & (array <= LARGEST_COST)).all():
        raise ValueError(
            f"{what} must be one price or one for each label, finite and not negative, at most "
            f"{LARGEST_COST:g}"
        )
    return tuple(array.tolist()) if array.ndim else float(array)


def _as_floats(numbers: npt.NDArray[Any]) -> FloatArray:
    with np.errstate(over="ignore"):  # of longer floats: they become infinite, which is refused
        return numbers.astype(np.float64, copy=False)
