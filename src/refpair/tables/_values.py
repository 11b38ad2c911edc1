"""Cells as they are meant: texts, numbers, truths, dates and lists, the same from every format."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from refpair.tables._names import TableError, clean_names

# Spellings of a missing number; in a column of texts they are texts.
_MISSING_WORDS = frozenset(
    [
        *("#N/A", "#NA", "<NA>", "N/A", "NA", "n/a", "na", "NULL", "null", "None", "none"),
        *("NaN", "nan", "-NaN", "-nan", "-", ".", "?"),
    ]
)
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.I)
_NAME_OF_DIGITS = re.compile(r"[+-]?0[0-9]")  # no number is written so
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CLEAN = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(bool))
_SCALARS = (str, bool, int, float, dt.date, dt.time, dt.timedelta)  # a datetime is a date


def frame_of_cells(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Make a table of columns of Python values."""
    cleaned = {name: _column(_plain(cells, name)) for name, cells in columns.items()}
    return pd.DataFrame(cleaned)


def clean_frame(
    frame: pd.DataFrame, *, written: bool = False, decimal_comma: Collection[str] = ()
) -> pd.DataFrame:
    """Return a table that a library has read with the same types, whatever format it comes from.

    Blanks around texts go, empty texts are missing. Numbers are int64, or float64 if some are missing;
    columns of texts and numbers are texts. If the cells are `written`, as in CSV, texts may stand for numbers
    and truths, and in columns of `decimal_comma` ``3,5`` for a number, if all cells are so.
    """
    names = clean_names(frame.columns)
    if not len(frame):
        raise TableError("there are no rows below the header")
    if all(dtype in _CLEAN for dtype in frame.dtypes.unique()):
        return frame.set_axis(names, axis=1).reset_index(drop=True)
    cleaned: dict[str, Any] = {}
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        if isinstance(column.dtype, pd.CategoricalDtype):
            column = column.astype(column.dtype.categories.dtype)
        cleaned[name] = _by_dtype(column)
        if cleaned[name] is None:
            cells = _plain(column.tolist(), name)
            cleaned[name] = _written(cells, name in decimal_comma) if written else _column(cells)
    return pd.DataFrame(cleaned)


def _by_dtype(column: pd.Series) -> Any:
    """Return columns of numbers, truths and times as numpy has them; None if cells must be looked at."""
    dtype = column.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return column.array
    if pd.api.types.is_bool_dtype(dtype):
        return None if column.hasnans else column.to_numpy(dtype=bool)
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        return None
    is_whole = pd.api.types.is_integer_dtype(dtype) and not column.hasnans
    if is_whole and column.max() < 1 << 63:
        return column.to_numpy(dtype=np.int64)
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _plain(cells: Iterable[Any], name: str) -> list[Any]:
    """Return cells as Python's own values; None where one is missing."""
    plain: list[Any] = []
    for cell in cells:
        if isinstance(cell, str):
            cell = cell.strip() or None
        elif isinstance(cell, np.ndarray | tuple | set | frozenset):
            cell = [one.item() if isinstance(one, np.generic) else one for one in cell]
        elif isinstance(cell, Decimal):
            cell = float(cell)
        elif isinstance(cell, np.generic):
            cell = cell.item()
        if cell is not None and not isinstance(cell, list):
            if isinstance(cell, dict) or not (isinstance(cell, _SCALARS) or pd.isna(cell)):
                raise TableError(
                    f"column {name!r}, row {len(plain) + 1}: a cell cannot be "
                    f"{type(cell).__name__} ({str(cell)[:40]}); make it text, a number or a list"
                )
            if pd.isna(cell):
                cell = None
        plain.append(cell)
    return plain


def _written(cells: list[str | Any], decimal_comma: bool) -> Any:
    """Make a column of texts that may stand for numbers and truths."""
    filled = [cell for cell in cells if cell is not None]
    if filled and all(isinstance(cell, str) for cell in filled):
        if all(cell in _TRUTH for cell in filled):
            return _column([None if cell is None else _TRUTH[cell] for cell in cells])
        numbers = [cell for cell in filled if cell not in _MISSING_WORDS]
        if not numbers:
            return _column(cells)
        if any(_NAME_OF_DIGITS.match(cell) for cell in numbers):
            return _column(cells)
        if all(_NUMBER.fullmatch(cell) for cell in numbers):
            return _floats(cells)
        if decimal_comma and all(_COMMA_NUMBER.fullmatch(cell) for cell in numbers):
            return _floats([cell if cell is None else cell.replace(",", ".") for cell in cells])
    return _column(cells)


def _floats(cells: Sequence[Any]) -> Any:
    return np.array([np.nan if one is None or one in _MISSING_WORDS else _float(one) for one in cells])


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an int of hundreds of digits
        return np.inf if number > 0 else -np.inf


def _column(cells: list[Any]) -> Any:
    """Make a column of Python values, None where one is missing."""
    kinds = {type(cell) for cell in cells if cell is not None}
    has_gaps = any(cell is None for cell in cells)
    if not kinds:
        return np.full(len(cells), np.nan)
    if list in kinds:  # a single value among lists is a list of one
        return _objects([cell if cell is None or isinstance(cell, list) else [cell] for cell in cells])
    if kinds == {bool}:
        return _objects(cells) if has_gaps else np.array(cells, dtype=bool)
    if kinds <= {int, float}:
        if has_gaps or float in kinds or not all(-(1 << 63) <= cell < 1 << 63 for cell in cells):
            return _floats(cells)
        return np.array(cells, dtype=np.int64)
    if all(issubclass(kind, dt.date) for kind in kinds):
        try:
            return pd.to_datetime(pd.Series(cells, dtype=object)).array
        except (ValueError, TypeError, OverflowError):  # of several time zones, or too far away
            pass
    texts = [cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell) for cell in cells]
    return pd.Series([np.nan if one is None else text for one, text in zip(cells, texts, strict=True)]).array


def _objects(cells: list[Any]) -> Any:
    column = np.empty(len(cells), dtype=object)
    column[:] = [np.nan if cell is None else cell for cell in cells]
    return column
