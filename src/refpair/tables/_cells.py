"""The cells of one column, read as numbers, as text, or as yes and no."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

Floats = npt.NDArray[np.float64]
Strings = npt.NDArray[np.object_]

Matrix: TypeAlias = Any  # a float64 ndarray or a csr_array, which carries no types

_WORDS = (("0", "1"), ("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("0.0", "1.0"), ("-1", "1"))


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


def strings_of(column: pd.Series) -> Strings:
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
    if sp.issparse(matrix):
        frame: pd.DataFrame = pd.DataFrame.sparse.from_spmatrix(  # type: ignore[attr-defined]
            matrix, columns=columns
        )
        return frame
    return pd.DataFrame(matrix, columns=columns)


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
    """Return how a column says that a label is absent and present, or None if it says something else.

    >>> truth_values(["no", "yes", "no"]), truth_values([True, False]), truth_values(["joy", "calm"])
    (['no', 'yes'], [False, True], None)
    """
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
    return cell is None or (pd.api.types.is_scalar(cell) and bool(pd.isna(cell)))


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
