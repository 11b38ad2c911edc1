"""Dates: found in strings, and turned into numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair._saved import require

from ._cells import Matrix, strings_of
from ._encoders import Encoder, NumberEncoder

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
    for day in _DAYS:
        for time in _TIMES if day != "ISO8601" else ("",):
            form = day + time
            if _parsed(some, form).notna().all() and _parsed(all_of_them, form).notna().all():
                return form
    return None


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


def date_parts(times: pd.Series, first: pd.Timestamp) -> npt.NDArray[np.float64]:
    """Return the numbers of :data:`PARTS` for each time, NaN where there is none."""
    parts = [
        (times - first) / pd.Timedelta(days=1),
        times.dt.year,
        times.dt.month,
        times.dt.day_of_week,
        times.dt.hour + times.dt.minute / 60,
    ]
    return np.column_stack([np.asarray(part, np.float64) for part in parts])


@dataclass(frozen=True, eq=False)
class DateEncoder(Encoder):
    """Dates: days since the first one, year, month, weekday, and the hour if there are times."""

    form: str
    first: str
    numbers: NumberEncoder

    def _check_saved(self) -> None:
        require(not pd.isna(pd.Timestamp(self.first)), "the first date is none")
        require(set(self.numbers.columns) <= set(PARTS), "dates have other parts")
        read_dates(pd.Series(["1"], dtype=object), self.form)  # raises unless it is a form

    @classmethod
    def fit(cls, frame: pd.DataFrame, column: str) -> Self:
        """Find the form and the first date."""
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
