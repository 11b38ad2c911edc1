"""Prices of labels that differ from row to row."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair.costs import _counts
from refpair.costs._counts import LARGEST_COST, FloatArray, NamedPrices, Prices
from refpair.tables._names import unknown_name

Rows: TypeAlias = slice | npt.NDArray[np.integer] | npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class RowPrices:
    """The prices of labels for each row: an array of its own, which nobody can write to.

    Parameters
    ----------
    array : array-like of shape (n, n_labels) or (n, 1)
        Finite and not negative. A single column without a name is for all labels.
    names : tuple, optional
        The labels of the columns; by default they are all labels, in their order.
    default : float, default=1.0
        The price of labels that have no column.

    Examples
    --------
    >>> prices = RowPrices([[5.0], [20.0]], ("fraud",))
    >>> prices
    <prices of 2 rows>
    >>> prices.resolve(["spam", "fraud"]).array
    array([[ 1.,  5.],
           [ 1., 20.]])
    """

    array: FloatArray
    names: tuple[Hashable, ...] | None = None
    default: float = 1.0

    def __post_init__(self) -> None:
        array = np.array(self.array, np.float64, order="C")
        array.flags.writeable = False
        object.__setattr__(self, "array", array)
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(f"prices of rows have shape (n, n_labels) or (n, 1), not {array.shape}")
        if self.names is not None and not len(set(self.names)) == len(self.names) == array.shape[1]:
            raise ValueError("each column of prices needs a name of its own")
        fine = (array >= 0) & (array <= LARGEST_COST)  # NaN is not
        if not fine.all():
            row, column = (int(at) for at in np.unravel_index(fine.argmin(), array.shape))
            raise ValueError(
                f"the price of {self._label(column)} in row {row} is {array[row, column]}: make it finite "
                f"and not negative, at most {LARGEST_COST:g}"
            )

    def __repr__(self) -> str:
        return f"<prices of {len(self)} rows>"

    def __len__(self) -> int:
        return len(self.array)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowPrices):
            return NotImplemented
        same = (self.names, self.default) == (other.names, other.default)
        return same and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return RowPrices, (self.array, self.names, self.default)  # a copy, too, is one that nobody writes to

    @cached_property
    def _hash(self) -> int:
        return hash((self.array.shape, (self.array + 0.0).tobytes(), self.names, self.default))  # −0 is 0

    @property
    def n_columns(self) -> int:
        """The number of labels that have prices, 1 if all of them have the same."""
        return int(self.array.shape[1])

    def _label(self, column: int) -> str:
        if self.names is None:
            return "all labels" if self.array.shape[1] == 1 else f"label {column}"
        return f"label {self.names[column]!r}"

    def take(self, rows: Rows) -> RowPrices:
        """Return the prices of some rows."""
        return replace(self, array=self.array[rows])

    def resolve(self, names: list[Hashable]) -> RowPrices:
        """Return the prices of the labels with these names, in this order."""
        if self.names is None:
            return self
        place = {name: column for column, name in enumerate(self.names)}
        for name in self.names:
            if name not in set(names):
                raise ValueError(f"prices: {unknown_name('label', str(name), map(str, names))}")
        array = np.full((len(self), len(names)), self.default)
        there = [at for at, name in enumerate(names) if name in place]
        array[:, there] = self.array[:, [place[names[at]] for at in there]]
        return RowPrices(array)

    def mean(self, weights: FloatArray | None = None) -> Prices:
        """Return the mean price of each label, which may be weighted."""
        if len(self) == 0:
            raise ValueError("prices of no rows have no mean")
        means = tuple(np.average(self.array, axis=0, weights=weights).tolist())
        if self.names is not None:
            return NamedPrices(tuple(zip(self.names, means, strict=True)), self.default)
        return means if len(means) > 1 else float(means[0])


def read_prices(what: str, given: Any, default: float) -> Prices | RowPrices:
    """Return prices as a cost keeps them: of two dimensions, or by name with several each, they are of rows.

    A DataFrame is a dictionary of its columns.
    """
    try:
        if hasattr(given, "columns"):
            array = given.to_numpy()
            return _row_prices(array, tuple(_plain(name) for name in given.columns), default)
        if isinstance(given, Mapping):
            if any(_dimensions(prices) for prices in given.values()):
                return _named_prices(given, default)
        elif _dimensions(given) == 2:
            return _row_prices(given, None, 1.0)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what}: {error}") from error
    return _counts.read_prices(what, given, default)


def _named_prices(given: Mapping[Any, Any], default: float) -> RowPrices:
    sizes = {name: np.shape(prices) for name, prices in given.items() if np.ndim(prices)}
    first, shape = next(iter(sizes.items()))
    for name, other in sizes.items():
        if len(other) != 1:
            raise ValueError(f"label {name!r} needs one price, or one for each row, not shape {other}")
        if other != shape:
            raise ValueError(f"label {first!r} has prices of {shape[0]} rows, and {name!r} of {other[0]}")
    columns = [np.broadcast_to(_numbers(prices), shape) for prices in given.values()]
    return _row_prices(np.column_stack(columns), tuple(_plain(name) for name in given), default)


def _row_prices(array: Any, names: tuple[Hashable, ...] | None, default: float) -> RowPrices:
    for_others = _counts.read_prices("default", default, 1.0)
    if not isinstance(for_others, float):
        raise ValueError("default must be one price")
    return RowPrices(_numbers(array), names, for_others)


def _numbers(given: Any) -> FloatArray:
    """Return prices as floats; what is masked or empty is NaN, which is refused with its row."""
    array = np.ma.filled(np.ma.asarray(given, np.float64), np.nan) if np.ma.isMA(given) else np.asarray(given)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"prices must be numbers, not values of dtype {array.dtype}")
    with np.errstate(over="ignore"):  # of longer floats: they become infinite, which is refused
        return array.astype(np.float64)


def _dimensions(given: Any) -> int:
    """Return the number of dimensions, 0 of lists of unequal lengths: it is told later what these are not."""
    try:
        return np.ndim(given)
    except ValueError:
        return 0


def _plain(name: Any) -> Hashable:
    plain: Hashable = name.item() if isinstance(name, np.generic) else name
    return plain
