"""Cells: the same types from every format of files, then read as numbers, as text, or as yes and no."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._extras import pd

from ._names import TableError, clean_names

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a float64 ndarray or a csr_array, which carries no types

_WORDS = (("0", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("0.0", "1.0"), ("-1", "1"))
# Spellings of a missing number; in a column of texts they are texts.
_MISSING_WORDS = {
    *("#N/A", "#NA", "<NA>", "N/A", "NA", "n/a", "na", "NULL", "null", "None", "none"),
    *("NaN", "nan", "-NaN", "-nan", "-", ".", "?"),
}
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)", re.I)
_NAME_OF_DIGITS = re.compile(r"[+-]?0[0-9]")  # no number is written so
_COMMA_NUMBER = re.compile(r"[+-]?[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CLEAN = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(bool))
_NUMBERS_AND_TIMES = (float, complex, Decimal, np.inexact, np.datetime64, np.timedelta64)
_SCALARS = (str, bool, int, float, dt.date, dt.time, dt.timedelta)  # a datetime is a date


def numbers_of(column: pd.Series) -> Floats | None:
    """Return the numbers of a column, NaN where there is none, or None if it does not hold numbers.

    Spans of time are seconds. What is infinite, or too large for a float, is missing.
    """
    values = _raw_numbers(column)
    return None if values is None else np.where(np.isfinite(values), values, np.nan)


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
    # pandas keeps some numbers as objects: bools with empty cells, decimals, whole numbers of any size.
    missing = column.isna().to_numpy(dtype=bool)
    if not all(isinstance(value, (Real, Decimal, np.bool_)) for value in column[~missing]):
        return None
    return np.array([np.nan if gap else _float(value) for value, gap in zip(column, missing, strict=True)])


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


def strings_of(column: pd.Series) -> npt.NDArray[np.object_]:
    """Return the cells of a column as text without blanks around it, None where there is none.

    Whole numbers are the same text be there gaps in the column, which makes them floats, or not.
    """
    missing = column.isna().to_numpy(dtype=bool)
    strings = np.empty(len(column), dtype=object)
    for i, value in enumerate(column):
        is_whole = isinstance(value, float | np.floating) and value % 1 == 0
        strings[i] = None if missing[i] else str(int(value) if is_whole else value).strip() or None
    return strings


def is_missing(column: pd.Series) -> npt.NDArray[np.bool_]:
    """Tell which cells are empty, or hold nothing but blanks, or a number that is none."""
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_complex_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return np.asarray(~np.isfinite(values))
    missing = column.isna().to_numpy(dtype=bool)
    blank = [isinstance(cell, str) and not cell.strip() for cell in column]
    return np.asarray(missing | np.asarray(blank, bool))


def from_polars(given: Any) -> Any:
    """Return a DataFrame or Series of polars as one of pandas, whose cells are those of lists."""
    if not type(given).__module__.startswith("polars."):
        return given
    if not hasattr(given, "columns"):
        return pd.Series(given.to_list(), name=given.name)
    return pd.DataFrame({name: given[name].to_list() for name in given.columns})


def dense(matrix: Matrix) -> npt.NDArray[Any]:
    """Return a matrix as an ndarray."""
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def frame_of_matrix(matrix: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """Make a table of a matrix, with sparse columns if it is sparse."""
    columns = pd.Index(list(names), dtype=object)
    make: Any = pd.DataFrame.sparse.from_spmatrix if sp.issparse(matrix) else pd.DataFrame  # type: ignore[attr-defined]
    frame: pd.DataFrame = make(matrix, columns=columns)
    return frame


def with_short_indices(matrix: sp.csr_array) -> sp.csr_array:
    """Return a matrix with sorted indices of 32 bits: scikit-learn's trees take no others."""
    indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    matrix = sp.csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    matrix.sort_indices()
    return matrix


def row_name(index: pd.Index, place: int) -> str:
    """Return what a row is called in an error: its number from 1 on, or its name if rows have names."""
    return str(index[place] + 1 if isinstance(index, pd.RangeIndex) else index[place])


def listed(names: Sequence[str], most: int = 4) -> str:
    """Name columns, not too many of them."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def truth_values(column: Iterable[Any]) -> list[Any] | None:
    """Return how a column says that a label is absent and present, or None if it says something else."""
    written = {_word(cell): cell for cell in column}
    for words in _WORDS:
        if written and written.keys() <= set(words):
            return [_spelled(written, words, i) for i in (0, 1)]
    return None


def is_present(cell: Any, values: list[Any]) -> bool:
    """Whether a cell says that a label is present, by what :func:`truth_values` found."""
    return _word(cell) == _word(values[1])


def not_a_truth(column: Iterable[Any]) -> int:
    """Return the place of the first cell that, with those before it, does not say yes or no."""
    seen: set[str | None] = set()
    for place, word in enumerate(map(_word, column)):
        if word not in seen:
            seen.add(word)
            if not any(seen <= set(words) for words in _WORDS):
                return place
    raise ValueError("all cells say yes or no")


def is_empty(cell: Any) -> bool:
    """Whether a cell is missing; a list is not, even if nothing is in it."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # of pandas
        return True
    return isinstance(cell, _NUMBERS_AND_TIMES) and bool(cell != cell)


def is_unknown(cell: Any) -> bool:
    """Whether a cell of a label says neither yes nor no: it is missing or blank."""
    return is_empty(cell) or (isinstance(cell, str) and not cell.strip())


def _word(cell: Any) -> str | None:
    """Return a cell as a word in small letters; 1 and 1.0 are "1", True is "true"."""
    if isinstance(cell, str):
        return cell.strip().lower()
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    is_number = isinstance(cell, int | float | np.integer | np.floating)
    return str(int(cell)) if is_number and cell in (-1, 0, 1) else None


def _spelled(written: dict[Any, Any], words: tuple[str, str], which: int) -> Any:
    """Return a word as the column spells it; one that does not occur, as the other one is spelled."""
    if words[which] in written:
        found = written[words[which]]
        return found.item() if isinstance(found, np.generic) else found
    other = next(iter(written.values()))
    if isinstance(other, str):
        same = str.upper if other.isupper() else str.title if other.istitle() else str
        return same(words[which])
    return which == 1 if isinstance(other, bool | np.bool_) else int(words[which])


def frame_of_cells(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Make a table of columns of Python values."""
    return pd.DataFrame({name: _column(_plain(cells, name)) for name, cells in columns.items()})


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
        if not numbers or any(_NAME_OF_DIGITS.match(cell) for cell in numbers):
            return _column(cells)
        if all(_NUMBER.fullmatch(cell) for cell in numbers):
            return _floats(cells)
        if decimal_comma and all(_COMMA_NUMBER.fullmatch(cell) for cell in numbers):
            return _floats([cell if cell is None else cell.replace(",", ".") for cell in cells])
    return _column(cells)


def _floats(cells: Sequence[Any]) -> Any:
    return np.array([np.nan if one is None or one in _MISSING_WORDS else _float_or_inf(one) for one in cells])


def _float_or_inf(number: Any) -> float:
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
