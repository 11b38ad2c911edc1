"""Costs as users might write them: prices of any kind, returned in any form, with side effects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array

from fuzz.choices import Choices

FloatArray: TypeAlias = npt.NDArray[np.float64]

LARGEST = 1e100
"""The largest price that refpair takes."""

_PRICES = (
    0.0,
    1.0,
    2.0,
    0.5,
    -1.0,
    3.0,
    1e-300,
    1e99,
    -1e99,
    5e-324,
    math.nan,
    math.inf,
    -math.inf,
    1e300,
    1.7e308,
)
_N_USUAL = 6

_RIGHT_FORMS: tuple[Callable[[FloatArray], Any], ...] = (
    lambda costs: costs,
    lambda costs: costs.tolist(),
    np.asfortranarray,
    lambda costs: costs[::-1][::-1],
    lambda costs: costs.astype(np.longdouble),
    lambda costs: costs.astype(">f8"),
    lambda costs: pd.Series(costs) if costs.ndim == 1 else pd.DataFrame(costs),
    np.ma.masked_array,
    lambda costs: costs.view(type("Mine", (np.ndarray,), {})),
)
_WRONG_FORMS: tuple[Callable[[FloatArray], Any], ...] = (
    lambda costs: costs[..., None],
    lambda costs: costs[None],
    lambda costs: costs[1:],
    lambda costs: np.append(costs, costs),
    lambda costs: costs.astype(complex),
    lambda costs: costs.astype(str),
    lambda costs: costs.astype(object),
    lambda costs: [10**400] * costs.size,
    lambda costs: [Decimal(1), Fraction(1, 3)],
    lambda costs: [[1.0], [1.0, 2.0]],
    lambda costs: np.full(costs.shape, np.longdouble("1e4000")),
    lambda costs: np.ma.masked_array(costs, mask=True),
    lambda costs: csr_array(np.atleast_2d(costs)),
    lambda costs: None,
    lambda costs: "dear",
    lambda costs: (cost for cost in costs),
    lambda costs: {"cost": costs},
    lambda costs: np.array(1.0),
    lambda costs: np.zeros(costs.shape, dtype="datetime64[s]"),
    lambda costs: np.zeros(costs.shape, dtype="V3"),
)


class PluginError(Exception):
    """What a user's own function raises."""


@dataclass
class Plugin:
    """A function of counts or labels that looks its prices up in a short list.

    ``form`` makes what it returns of the right costs; ``is_right`` tells if that is a form that refpair must
    take. ``error`` is what it raises instead, if anything.
    """

    prices: tuple[float, ...]
    form: Callable[[FloatArray], Any]
    is_right: bool
    error: BaseException | None
    writes: bool
    was_called: bool = False

    @classmethod
    def chosen(cls, choices: Choices) -> Plugin:
        """Let bytes make one; about half of them are costs that refpair must take."""
        known = _PRICES if choices.below(4) == 3 else _PRICES[:_N_USUAL]
        prices = tuple(choices.one_of(known) for _ in range(1 + choices.below(8)))
        is_right = choices.below(4) != 3
        form = choices.one_of(_RIGHT_FORMS if is_right else _WRONG_FORMS)
        errors = (PluginError("mine"), KeyError("mine"), ZeroDivisionError("mine"), ValueError("mine"))
        error = choices.one_of(errors) if choices.rarely() else None
        return cls(prices, form, is_right, error, choices.flag())

    def is_fine(self) -> bool:
        """Whether all that it may return is a cost."""
        right = self.is_right and self.error is None and not self.writes
        return right and all(abs(price) <= LARGEST for price in self.prices)

    def of_counts(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> Any:
        """Price counts: not symmetric, and right answers may cost as well."""
        return self._returned(3 * tp + fp + 2 * fn, tp, fp, fn, tn)

    def of_labels(self, Y: npt.NDArray[np.int64], Z: npt.NDArray[np.int64]) -> Any:
        """Price rows of labels by the same counts."""
        assert Y.dtype == Z.dtype == np.int64
        return self._returned((Y * (Z + 2)).sum(axis=1) + (Z * (1 - Y)).sum(axis=1), Y, Z)

    def expected(self, Y: npt.NDArray[np.uint8], Z: npt.NDArray[np.uint8]) -> FloatArray:
        """Return the costs of rows, one pair at a time."""
        keys = [
            int(3 * (y & z).sum() + (z & ~y & 1).sum() + 2 * (y & ~z & 1).sum())
            for y, z in zip(Y, Z, strict=True)
        ]
        return np.array([self.prices[key % len(self.prices)] for key in keys], dtype=np.float64)

    def _returned(self, keys: npt.NDArray[Any], *arguments: npt.NDArray[Any]) -> Any:
        costs = np.array(self.prices)[keys.astype(np.int64) % len(self.prices)]
        self.was_called = True
        if self.writes:
            for argument in arguments:
                argument[...] = 7
        if self.error is not None:
            raise self.error
        return self.form(costs)
