"""Which character parts the cells of a text table."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice

__all__ = ["ONE_COLUMN", "check_separator", "find_separator"]

ONE_COLUMN = "\x1f"
"""Stands for no separator at all: the table has one column."""

# In this order if the first lines fit several: pipes also part the names of labels in a cell.
_TAB = "\t"
_USUAL = _TAB + ";,|"
_UNUSUAL = ":^~¦/#\x01"
_ROWS = 200
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?")


def check_separator(sep: str) -> str:
    r"""Return the one character that a user means; ``tab`` and ``\t`` are tabs."""
    sep = {"tab": "\t", r"\t": "\t"}.get(sep, sep)
    if len(sep) != 1 or sep.isalnum() or sep in "\"'\r\n.":
        raise ValueError(f"the separator {sep!r} is not one character such as ',' ';' 'tab' or '|'")
    return sep


def find_separator(source: str, head: str, is_whole: bool, given: str | None, is_tsv: bool) -> str:
    """Find the separator by the header and the rows below it, with respect to quotes.

    Parameters
    ----------
    source : str
        The file, for messages.
    head : str
        The first lines.
    is_whole : bool
        Whether that is the whole file.
    given : str or None
        The separator, if the user has said it.
    is_tsv : bool
        Whether the name of the file says that it is a tab.
    """
    tables = {sep: _rows(head, sep, is_whole) for sep in ([given] if given else _USUAL)}
    if is_tsv and not given and len(tables["\t"][0]) > 1:
        return "\t"
    fits = {sep: rows for sep, rows in tables.items() if len(rows[0]) > 1}
    if not fits:
        _check_one_column(source, head, is_whole, given)
        return given or ONE_COLUMN
    best = max(fits, key=lambda sep: (_evenness(fits[sep]), len(fits[sep][0])))
    rows = fits[best]
    if len(rows) > 1 and all(len(row) == 1 for row in rows[1:]):
        raise ValueError(
            f"{source}: the header has {len(rows[0])} columns if {best!r} parts them, but rows have one "
            "cell; give the separator, for example --sep ';', or put the header in quotes"
        )
    return best


def _rows(head: str, sep: str, is_whole: bool) -> list[list[str]]:
    """Split the first lines into rows that are not empty; there is at least one, the header."""
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=sep)
    rows: list[list[str]] = []
    try:
        rows.extend(islice((row for row in lines if row), _ROWS))
    except csv.Error:  # a cell of more than 131,072 characters: what was read before it is enough
        pass
    else:
        if not is_whole and 1 < len(rows) < _ROWS:
            rows.pop()  # it may go on
    return rows or [[head]]


def _evenness(rows: list[list[str]]) -> float:
    """Return the share of rows that have as many cells as the header."""
    n_cells = len(rows[0])
    return sum(len(row) == n_cells for row in rows) / len(rows)


def _check_one_column(source: str, head: str, is_whole: bool, given: str | None) -> None:
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
            raise ValueError(
                f"{source}: it has one column, but {sep!r} parts all its rows into {n_cells}; {remedy}"
            )
        raise ValueError(
            f"{source}: the header has one name, but {sep!r} parts all rows into {n_cells} cells; name all "
            "columns, or put texts that hold it in quotes"
        )
    header, *rows = (row[0].split() for row in _rows(head, ONE_COLUMN, is_whole))
    if (
        len(header) > 1
        and rows
        and all(len(row) == len(header) for row in rows)
        and all(_NUMBER.fullmatch(cell) for row in rows for cell in row)
    ):
        raise ValueError(
            f"{source}: it has one column, but blanks part all its rows into {len(header)}; give --sep ' '"
        )


def _is_prose(rows: list[list[str]], sep: str) -> bool:
    """Whether a blank follows each comma, as in free text."""
    return sep in ",;:" and all(cell.startswith(" ") for row in rows for cell in row[1:])
