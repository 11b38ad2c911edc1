"""The cells of one column, read as numbers or as text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

__all__ = ["Floats", "Matrix", "Strings", "listed", "numbers_of", "parsed_numbers", "row_name", "strings_of"]

Floats = npt.NDArray[np.float64]
Strings = npt.NDArray[np.object_]

Matrix = Any
"""A float64 ``ndarray`` or a ``scipy.sparse.csr_array`` (scipy has no types to say so)."""


def numbers_of(column: pd.Series) -> Floats | None:
    """Return the numbers of a column, NaN where there is none, or None if it does not hold numbers.

    Spans of time are seconds. What is infinite, or too large for a float, is missing.

    >>> numbers_of(pd.Series([1, None, float("inf")]))
    array([ 1., nan, nan])
    >>> numbers_of(pd.Series(["1", "2"])) is None
    True
    """
    values = _raw_numbers(column)
    if values is not None:
        values[~np.isfinite(values)] = np.nan
    return values


def _raw_numbers(column: pd.Series) -> Floats | None:
    kind = pd.api.types.infer_dtype(column) if column.dtype == object else ""
    if getattr(column.dtype, "kind", "") == "m" or kind in ("timedelta", "timedelta64"):
        return np.array(pd.to_timedelta(column).dt.total_seconds(), np.float64)
    if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_complex_dtype(column):
        return None
    if pd.api.types.is_datetime64_any_dtype(column):
        return None
    if pd.api.types.is_numeric_dtype(column):  # bools count as numbers here
        with np.errstate(over="ignore"):  # a long double may be too large
            return np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return _objects_as_numbers(column)


def _objects_as_numbers(column: pd.Series) -> Floats | None:
    """Numbers that pandas keeps as objects: bools with empty cells, decimals, whole numbers of any size."""
    missing = column.isna().to_numpy(dtype=bool)
    values = np.full(len(column), np.nan)
    for i, value in enumerate(column):
        if missing[i]:
            continue
        if not isinstance(value, (Real, Decimal, np.bool_)):
            return None
        values[i] = _float(value)
    return values


def _float(value: Any) -> float:
    try:
        return float(value)
    except (OverflowError, ValueError):  # 10 ** 400, or a signalling NaN
        return np.nan


def parsed_numbers(column: pd.Series) -> Floats:
    """Return the numbers of a column that is said to hold numbers, be they written as text."""
    values = numbers_of(column)
    if values is not None:
        return values
    strings = strings_of(column)
    values = np.array(pd.to_numeric(pd.Series(strings, dtype=object), errors="coerce"), np.float64)
    for row in np.flatnonzero(np.isnan(values)):
        text = strings[row]
        if text is not None and text.lower() != "nan":
            raise ValueError(
                f"column {column.name!r} must hold numbers, and row {row_name(column.index, int(row))} is "
                f"{text!r}; make it a number or an empty cell, or fit with another kind of the column"
            )
    values[~np.isfinite(values)] = np.nan
    return values


def strings_of(column: pd.Series) -> Strings:
    """Return the cells of a column as text without blanks around it, None where there is none.

    Whole numbers are the same text be there gaps in the column, which makes them floats, or not.

    >>> strings_of(pd.Series(["a ", " ", None, 1.0], dtype=object))
    array(['a', None, None, '1'], dtype=object)
    """
    missing = column.isna().to_numpy(dtype=bool)
    strings = np.empty(len(column), dtype=object)
    for i, value in enumerate(column):
        is_whole = isinstance(value, float | np.floating) and value % 1 == 0
        strings[i] = None if missing[i] else str(int(value) if is_whole else value).strip() or None
    return strings


def row_name(index: pd.Index, place: int) -> str:
    """Return what a row is called in an error: its number from 1 on, or its name if rows have names.

    >>> row_name(pd.RangeIndex(2000, 4000), 0), row_name(pd.Index(["x", "y"]), 1)
    ('2001', 'y')
    """
    return str(index[place] + 1 if isinstance(index, pd.RangeIndex) else index[place])


def listed(names: Sequence[str], most: int = 4) -> str:
    """Name columns, not too many of them.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
