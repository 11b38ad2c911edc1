"""Text tables: a header and rows of cells, parted by commas, semicolons, tabs or pipes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from refpair.tables._names import clean_names
from refpair.tables._separator import check_separator, find_separator
from refpair.tables._size import check_columns, check_written_cells
from refpair.tables._source import Source, TextSize
from refpair.tables._values import clean_frame

__all__ = ["read_csv"]

_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_LEADING_ZERO = re.compile(rb"(?<![0-9.])0[0-9]")
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")


def read_csv(source: Source, sep: str | None, encoding: str | None, labels: Sequence[str]) -> pd.DataFrame:
    """Read a text table; ``sep=None`` finds the separator out. ``3,5`` in a label column is no number."""
    size = source.check_text(encoding)
    head, is_whole = source.head(encoding)
    if not head.strip():
        raise ValueError(f"{source.name}: it is empty; the first line names the columns")
    first = head[: re.search(r"[\r\n]|$", head).start()]  # type: ignore[union-attr]  # it always matches
    check_columns(source.name, source.n_bytes, 1 + max(first.count(one) for one in ",;\t|"))
    given = None if sep is None else check_separator(sep)
    found = find_separator(source.name, head, is_whole, given, is_tsv=source.has_ending(".tsv"))
    frame = _parse(source, encoding, found, size)
    with_comma = () if found == "," else set(frame.columns).difference(labels)
    return clean_frame(frame, source.name, written=True, decimal_comma=with_comma)


def _parse(source: Source, encoding: str | None, sep: str, size: TextSize) -> pd.DataFrame:
    # Only the empty cell is missing for now: "NA" may be a text, such as a country.
    options: Any = {
        "sep": r"\s+" if sep == " " else sep,
        "keep_default_na": False,
        "skipinitialspace": True,
        "encoding": encoding or "utf-8-sig",
    }
    try:
        # The header by itself and as text: pandas would rename the second of two equal names in silence,
        # and a copy of a label column would pass as a feature. And the first row: if it has more cells,
        # pandas would take the first column for the index, in silence if that counts from 0.
        with source.open() as file:
            header = pd.read_csv(file, header=None, nrows=2, dtype=str, **options)
        names = clean_names(header.iloc[0])
        check_written_cells(source.name, size.n_bytes, size.n_lines, len(names))
        with source.open() as file:
            frame: pd.DataFrame = pd.read_csv(
                file,
                header=0,
                names=[str(i) for i in range(len(names))],
                na_values=[""],
                low_memory=False,
                **options,
            )
    except pd.errors.ParserError as error:
        raise ValueError(f"{source.name}{_problem(str(error), sep)}") from error
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{source.name}: it is empty; the first line names the columns") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(
            f"{source.name}: rows have more cells than the header; name all columns, or put cells that hold "
            f"{sep!r} in quotes"
        )
    _keep_leading_zeros(source, frame, options)
    frame.columns = pd.Index(names)
    return frame


def _keep_leading_zeros(source: Source, frame: pd.DataFrame, options: Any) -> None:
    """Read columns of numbers again as texts if one is written with zeros before it: 007 is a name."""
    numbers = [i for i, dtype in enumerate(frame.dtypes) if pd.api.types.is_numeric_dtype(dtype)]
    with source.open() as file:
        if not numbers or not any(map(_LEADING_ZERO.search, file)):
            return
    with source.open() as file:
        texts = pd.read_csv(
            file,
            header=0,
            names=list(frame.columns),
            usecols=[str(i) for i in numbers],
            dtype=str,
            **options,
        )
    for name, column in texts.items():
        if column.str.match(r"[+-]?0[0-9]").any():
            frame[name] = column


def _problem(error: str, sep: str) -> str:
    """Say in one sentence what pandas could not parse."""
    if too_many := _TOO_MANY.search(error):
        expected, line, seen = too_many.groups()
        return (
            f", line {line}: {seen} cells, but the header has {expected}; name all columns, or put cells "
            f"that hold {sep!r} in quotes"
        )
    if open_quote := _OPEN_QUOTE.search(error):
        return f', row {open_quote[1]}: a quote is not closed; add it, or write "" for a quote inside a text'
    return f": cannot read it as a table ({error.strip()}); is it one?"
