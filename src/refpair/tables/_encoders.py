"""Columns of one kind as numbers: each encoder is fitted to a table, and then turns others into features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp

from refpair._extras import pd
from refpair._saved import Savable, require

from ._cells import Floats, Matrix, dense, is_missing, parsed_numbers, strings_of

_MOSTLY_ZERO = 0.2  # of the values are not zero: the column is not centered, so that it stays sparse
_BEND = 3.0  # standard deviations, from which on values count less and less
_FARTHEST = 1e7
_SPREAD = 1.349  # from the first to the third quartile of a normal distribution
_YES = {"1", "1.0", "yes", "y", "true", "t"}
_MOST_CATEGORIES = 100

PARTS = ("days since the first", "year", "month", "weekday", "hour")

_DAYS = (
    "ISO8601", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d", "%d.%m.%y", "%m/%d/%y",
    "%d/%m/%y", "%d %b %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y", "%a, %d %b %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %H:%M:%S %z")
_TIMED = "timed"  # the format of what pandas knows as times already
_LOOKS = re.compile(r"\d.*[-./\s].*\d")
_FEWEST = 3  # dates, to be sure that they are some
_LOOKED_AT = 200  # cells, to find the formats that may be it


@dataclass(frozen=True, eq=False)
class Encoder(Savable):
    """What turns columns of one kind, mostly a single one, into features."""

    columns: list[str]

    @property
    def column(self) -> str:
        """The only column."""
        require(len(self.columns) == 1, "an encoder has not one column")
        return self.columns[0]

    def transform(self, frame: pd.DataFrame) -> Matrix:
        """Return the features of a table that has these columns."""
        raise NotImplementedError

    def feature_names(self) -> list[str]:
        """Return their names."""
        return self.columns


@dataclass(frozen=True, eq=False)
class NumberEncoder(Encoder):
    """Numbers, centered and scaled by median and quartiles, with a bend for outliers; missing ones are 0.

    A column that is mostly zero keeps its zeros.
    """

    centre: Floats
    scale: Floats

    def _check_saved(self) -> None:
        n = (len(self.columns),)
        fits = self.centre.shape == n and self.scale.shape == n
        require(fits and np.isfinite(self.centre).all(), "numbers have no center")
        require((self.scale > 0).all(), "numbers have no scale")

    @classmethod
    def fit(cls, frame: pd.DataFrame, columns: list[str]) -> Self:
        return cls(columns, *_centre_and_scale(_number_matrix(frame, columns)))

    def transform(self, frame: pd.DataFrame) -> Matrix:
        values = _number_matrix(frame, self.columns)
        if sp.issparse(values) and (self.centre == 0).all():
            with np.errstate(over="ignore"):
                values.data = _bent(values.data / self.scale[values.indices])
            return values
        with np.errstate(over="ignore", invalid="ignore"):
            return _bent((dense(values) - self.centre) / self.scale)


@dataclass(frozen=True, eq=False)
class PixelEncoder(Encoder):
    """The pixels of a picture, all on one scale."""

    largest: float

    def _check_saved(self) -> None:
        require(0 < self.largest < np.inf, "pixels have no scale")

    @classmethod
    def fit(cls, frame: pd.DataFrame, columns: list[str]) -> Self:
        return cls(columns, float(np.abs(_pixels(frame, columns)).max()) or 1.0)

    def transform(self, frame: pd.DataFrame) -> Matrix:
        with np.errstate(over="ignore"):
            return np.clip(_pixels(frame, self.columns) / self.largest, -_FARTHEST, _FARTHEST)


@dataclass(frozen=True, eq=False)
class DateEncoder(Encoder):
    """Dates: days since the first one, year, month, weekday, and the hour if there are times."""

    form: str
    first: str
    numbers: NumberEncoder

    def _check_saved(self) -> None:
        require(not pd.isna(pd.Timestamp(self.first)), "the first date is none")
        require(set(self.numbers.columns) <= set(PARTS), "dates have other parts")
        require(self.form == _TIMED or self.form in _forms(), "dates have no form")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str) -> Self:
        form = date_format(frame[column], fewest=1)
        assert form is not None  # that is why it is a date
        times = read_dates(frame[column], form)
        parts = pd.DataFrame(date_parts(times, times.min()), columns=list(PARTS))
        varied = [str(name) for name in parts if parts[name].nunique() > 1] or [PARTS[0]]
        return cls([column], form, times.min().isoformat(), NumberEncoder.fit(parts, varied))

    def transform(self, frame: pd.DataFrame) -> Matrix:
        times = read_dates(frame[self.column], self.form)
        parts = pd.DataFrame(date_parts(times, pd.Timestamp(self.first)), columns=list(PARTS))
        return self.numbers.transform(parts)

    def feature_names(self) -> list[str]:
        return [f"{self.column}: {part}" for part in self.numbers.columns]


@dataclass(frozen=True, eq=False)
class BooleanEncoder(Encoder):
    """Yes and no as 1 and 0, however they are written."""

    def transform(self, frame: pd.DataFrame) -> Matrix:
        cells = strings_of(frame[self.column])
        return np.array([[float(cell is not None and cell.lower() in _YES)] for cell in cells])


@dataclass(frozen=True, eq=False)
class CategoryEncoder(Encoder):
    """A 0/1 column for each value; values of a single row, and beyond the first 100, share one."""

    values: list[str]
    has_others: bool

    def _check_saved(self) -> None:
        require(len(set(self.values)) == len(self.values), "a value is there twice")

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str) -> Self:
        cells = strings_of(frame[column])
        counts = pd.Series([cell for cell in cells if cell is not None], dtype=object).value_counts()
        kept = counts[counts > 1].index[:_MOST_CATEGORIES] if (counts > 1).any() else counts.index
        return cls([column], sorted(map(str, kept)), len(kept) < len(counts))

    def transform(self, frame: pd.DataFrame) -> Matrix:
        place = {value: i for i, value in enumerate(self.values)}
        others = len(self.values) if self.has_others else -1
        cells = strings_of(frame[self.column])
        codes = np.array([-1 if cell is None else place.get(cell, others) for cell in cells], np.int64)
        rows = np.flatnonzero(codes >= 0)
        shape = (len(cells), len(self.values) + self.has_others)
        return sp.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=shape)

    def feature_names(self) -> list[str]:
        others = [f"{self.column} = another value"] if self.has_others else []
        return [f"{self.column} = {value}" for value in self.values] + others


@dataclass(frozen=True, eq=False)
class MissingEncoder(Encoder):
    """A 1 where a cell is empty, for each column that had empty cells."""

    def transform(self, frame: pd.DataFrame) -> Matrix:
        return sp.csr_array(np.column_stack([is_missing(frame[name]) for name in self.columns]).astype(float))

    def feature_names(self) -> list[str]:
        return [f"{name} is missing" for name in self.columns]


def _number_matrix(frame: pd.DataFrame, columns: Sequence[str]) -> Matrix:
    """Return columns as numbers, NaN where there is none; sparse if all of them are."""
    chosen = frame[list(columns)]
    kinds = chosen.dtypes
    if all(isinstance(kind, pd.SparseDtype) and kind.fill_value == 0 for kind in kinds):
        matrix = sp.csr_array(cast(Any, chosen).sparse.to_coo(), dtype=np.float64)
        matrix.data[~np.isfinite(matrix.data)] = np.nan
        return matrix
    if all(kind == np.float64 for kind in kinds):
        values = chosen.to_numpy(copy=True)
        values[~np.isfinite(values)] = np.nan
        return values
    return np.column_stack([parsed_numbers(chosen[name]) for name in columns])


def _pixels(frame: pd.DataFrame, columns: Sequence[str]) -> Floats:
    """Return dense numbers, 0 where there is none."""
    pixels: Floats = np.nan_to_num(dense(_number_matrix(frame, columns)))
    return pixels


def _centre_and_scale(values: Matrix) -> tuple[Floats, Floats]:
    n_rows, n_columns = values.shape
    centre, scale = np.zeros(n_columns), np.ones(n_columns)
    by_column = sp.csc_array(values) if sp.issparse(values) else None
    for i in range(n_columns):
        own = values[:, i] if by_column is None else by_column.data[slice(*by_column.indptr[i : i + 2])]
        own = own[np.isfinite(own)]
        filled = own[own != 0]
        if not len(filled):
            continue
        if len(filled) < _MOSTLY_ZERO * n_rows or by_column is not None:
            scale[i] = np.sqrt(np.mean(np.square(filled / np.abs(filled).max()))) * np.abs(filled).max()
        else:
            centre[i], scale[i] = np.median(own / 2) * 2, _spread(own)  # the mean of two could be too large
    return centre, np.maximum(scale, np.finfo(float).tiny)


def _spread(values: Floats) -> float:
    with np.errstate(over="ignore"):
        low, high = np.percentile(values, [25, 75])
        spread = (high - low) / _SPREAD or float(np.std(values / np.abs(values).max())) * np.abs(values).max()
    return float(spread) if 0 < spread < np.inf else float(np.abs(values).max())


def _bent(z: Floats) -> Floats:
    """Return values that grow ever more slowly beyond the bend, and 0 for missing ones."""
    z = np.clip(np.nan_to_num(z, nan=0.0), -_FARTHEST, _FARTHEST)
    bent: Floats = z / np.sqrt(1.0 + np.square(z / _BEND))
    return bent


def _are_times(column: pd.Series) -> bool:
    """Whether the cells are dates or times already, not texts."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    kind = pd.api.types.infer_dtype(column, skipna=True) if column.dtype == object else ""
    return kind in ("datetime", "date", "datetime64")


def date_format(column: pd.Series, fewest: int = _FEWEST) -> str | None:
    """Return the form of the dates in a column, or None if it does not hold dates, at least so many.

    Of days and months that could be either, the month comes first in 3/4/2024 and the day in 3.4.2024.
    """
    if _are_times(column):
        return _TIMED
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return None
    filled = [text for text in strings_of(column) if text is not None]
    if len(filled) < fewest or not all(_LOOKS.search(text) and len(text) < 40 for text in filled):
        return None
    some, all_of_them = pd.Series(filled[:_LOOKED_AT], dtype=object), pd.Series(filled, dtype=object)
    for form in _forms():
        if _parsed(some, form).notna().all() and _parsed(all_of_them, form).notna().all():
            return form
    return None


def _forms() -> list[str]:
    return [day + time for day in _DAYS for time in (_TIMES if day != "ISO8601" else ("",))]


def read_dates(column: pd.Series, form: str) -> pd.Series:
    """Return a column of dates in a form as times; what is not one is missing."""
    if _are_times(column):
        times = pd.to_datetime(column, utc=True, errors="coerce")
    else:  # texts in a table that is to hold times are as a CSV file writes these
        form = "ISO8601" if form == _TIMED else form
        times = _parsed(pd.Series(strings_of(column), dtype=object), form)
    return times.reset_index(drop=True).dt.tz_localize(None)


def _parsed(texts: pd.Series, form: str) -> pd.Series:
    return pd.to_datetime(texts, format=form, errors="coerce", utc=True)


def date_parts(times: pd.Series, first: pd.Timestamp) -> Floats:
    """Return the numbers of :data:`PARTS` for each time, NaN where there is none."""
    parts = [
        (times - first) / pd.Timedelta(days=1),
        times.dt.year,
        times.dt.month,
        times.dt.day_of_week,
        times.dt.hour + times.dt.minute / 60,
    ]
    return np.column_stack([np.asarray(part, np.float64) for part in parts])
