"""Text tables: a header and rows of cells, parted by commas, semicolons, tabs or pipes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import pandas as pd

from refpair.tables._names import TableError, clean_names
from refpair.tables._source import Source, TextSize, check_cells, check_columns
from refpair.tables._values import clean_frame

_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_LEADING_ZERO = re.compile(rb"(?<![0-9.])0[0-9]")
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")

# In this order if the first lines fit several: pipes also part the names of labels in a cell.
_TAB = "\t"
_USUAL = _TAB + ";,|"
_UNUSUAL = ":^~¦/#\x01"
_ONE_COLUMN = "\x1f"  # stands for no separator at all
_ROWS_LOOKED_AT = 200
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?")


def read_csv(source: Source, sep: str | None, encoding: str | None, labels: Sequence[str]) -> pd.DataFrame:
    """Read a text table; ``sep=None`` finds the separator out. ``3,5`` in a label column is no number."""
    size = source.check_text(encoding)
    head, is_whole = source.head(encoding)
    if not head.strip():
        raise TableError("it is empty; the first line names the columns")
    first = head[: re.search(r"[\r\n]|$", head).start()]  # type: ignore[union-attr]  # it always matches
    check_columns(source.n_bytes, 1 + max(first.count(one) for one in ",;\t|"))
    given = None if sep is None else _check_separator(sep)
    found = _find_separator(head, is_whole, given, is_tsv=source.has_ending(".tsv"))
    frame = _parse(source, encoding, found, size)
    with_comma = () if found == "," else set(frame.columns).difference(labels)
    return clean_frame(frame, written=True, decimal_comma=with_comma)


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
        check_cells(size.n_bytes, size.n_lines, len(names))
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
        raise _problem(str(error), sep) from error
    except pd.errors.EmptyDataError as error:
        raise TableError("it is empty; the first line names the columns") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise TableError(
            f"rows have more cells than the header; name all columns, or put cells that hold "
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


def _problem(error: str, sep: str) -> TableError:
    """Say in one sentence what pandas could not parse."""
    if too_many := _TOO_MANY.search(error):
        expected, line, seen = too_many.groups()
        told = (
            f"{seen} cells, but the header has {expected}; name all columns, or put cells that hold {sep!r}"
        )
        return TableError(f"{told} in quotes", f"line {line}")
    if open_quote := _OPEN_QUOTE.search(error):
        told = 'a quote is not closed; add it, or write "" for a quote inside a text'
        return TableError(told, f"row {open_quote[1]}")
    return TableError(f"cannot read it as a table ({error.strip()}); is it one?")


def _check_separator(sep: str) -> str:
    r"""Return the one character that a user means; ``tab`` and ``\t`` are tabs."""
    sep = {"tab": "\t", r"\t": "\t"}.get(sep, sep)
    if len(sep) != 1 or sep.isalnum() or sep in "\"'\r\n.":
        raise ValueError(f"the separator {sep!r} is not one character such as ',' ';' 'tab' or '|'")
    return sep


def _find_separator(head: str, is_whole: bool, given: str | None, is_tsv: bool) -> str:
    """Find the separator by the header and the rows below it, with respect to quotes.

    `head` are the first lines, or all if `is_whole`; what a user has `given` must fit.
    """
    tables = {sep: _rows(head, sep, is_whole) for sep in ([given] if given else _USUAL)}
    if is_tsv and not given and len(tables["\t"][0]) > 1:
        return "\t"
    fits = {sep: rows for sep, rows in tables.items() if len(rows[0]) > 1}
    if not fits:
        _check_one_column(head, is_whole, given)
        return given or _ONE_COLUMN
    best = max(fits, key=lambda sep: (_evenness(fits[sep]), len(fits[sep][0])))
    rows = fits[best]
    if len(rows) > 1 and all(len(row) == 1 for row in rows[1:]):
        raise TableError(
            f"the header has {len(rows[0])} columns if {best!r} parts them, but rows have one "
            "cell; give the separator, for example --sep ';', or put the header in quotes"
        )
    return best


def _rows(head: str, sep: str, is_whole: bool) -> list[list[str]]:
    """Split the first lines into rows that are not empty; there is at least one, the header."""
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=sep)
    rows: list[list[str]] = []
    try:
        rows.extend(islice((row for row in lines if row), _ROWS_LOOKED_AT))
    except csv.Error:  # a cell of more than 131,072 characters: what was read before it is enough
        pass
    else:
        if not is_whole and 1 < len(rows) < _ROWS_LOOKED_AT:
            rows.pop()  # it may go on
    return rows or [[head]]


def _evenness(rows: list[list[str]]) -> float:
    """Return the share of rows that have as many cells as the header."""
    n_cells = len(rows[0])
    return sum(len(row) == n_cells for row in rows) / len(rows)


def _check_one_column(head: str, is_whole: bool, given: str | None) -> None:
    """Refuse a table that has one column only because another separator was meant."""
    for sep in (*_USUAL, *_UNUSUAL):
        if sep == given:
            continue
        header, *rows = _rows(head, sep, is_whole)
        n_cells = len(rows[0]) if rows else len(header)
        # Times and addresses hold unusual separators: there, the header must have them, too.
        known_by_rows = sep in _USUAL and given is None
        if (
            n_cells == 1
            or any(len(row) != n_cells for row in rows)
            or (len(header) != n_cells and not known_by_rows)
            or _is_prose([header, *rows] if len(header) > 1 else rows, sep)
        ):
            continue
        if len(header) == n_cells:
            remedy = f"give --sep {'tab' if sep == _TAB else repr(sep)}"
            raise TableError(f"it has one column, but {sep!r} parts all its rows into {n_cells}; {remedy}")
        raise TableError(
            f"the header has one name, but {sep!r} parts all rows into {n_cells} cells; name all "
            "columns, or put texts that hold it in quotes"
        )
    header, *rows = (row[0].split() for row in _rows(head, _ONE_COLUMN, is_whole))
    if (
        len(header) > 1
        and rows
        and all(len(row) == len(header) for row in rows)
        and all(_NUMBER.fullmatch(cell) for row in rows for cell in row)
    ):
        raise TableError(
            f"it has one column, but blanks part all its rows into {len(header)}; give --sep ' '"
        )


def _is_prose(rows: list[list[str]], sep: str) -> bool:
    """Whether a blank follows each comma, as in free text."""
    return sep in ",;:" and all(cell.startswith(" ") for row in rows for cell in row[1:])
