"""What rows are called: never by their positions in a table that may grow or be sorted anew."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from refpair.tables._names import unknown_name

__all__ = ["Id", "IdRule", "digest", "id_key", "id_of_key", "make_ids"]

Id = str | int


class IdRule(NamedTuple):
    """Where the ids of rows come from.

    Attributes
    ----------
    source : {"given", "column", "index", "cells", "numbers"}
        Given by the caller, a column, the index of a DataFrame, checksums of the cells, or 0, 1, 2, …
    column : str or None
        The column, if it is one.
    """

    source: Literal["given", "column", "index", "cells", "numbers"]
    column: str | None = None

    def __str__(self) -> str:
        told = {
            "given": "ids that were given",
            "column": f"the column {self.column!r}",
            "index": "the index",
            "cells": "checksums of their cells",
            "numbers": "their positions",
        }
        return told[self.source]


def make_ids(
    X: Any,
    *,
    ids: Iterable[Hashable] | None,
    id_column: str | None,
    without: Sequence[str],
    remembered: IdRule | None,
) -> tuple[list[Id], IdRule]:
    """Return what rows are called, and by which rule.

    `ids` if they are given, else the column `id_column`; else by the rule that the session remembers. Without
    such a one: a column called ``id`` whose cells are filled and different, an index other than 0, 1, 2, …,
    or checksums of the cells. Rows of arrays are called 0, 1, 2, …

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, n_features)
    ids : iterable of str or int, or None
    id_column : str or None
    without : sequence of str
        Columns of labels, which name no rows.
    remembered : IdRule or None

    Examples
    --------
    >>> make_ids(pd.DataFrame({"Id": ["a", "b"], "size": [1, 2]}), ids=None, id_column=None, without=[],
    ...          remembered=None)
    (['a', 'b'], IdRule(source='column', column='Id'))
    """
    if ids is not None:
        return _checked(ids, X.shape[0]), IdRule("given")
    if not isinstance(X, pd.DataFrame):
        if id_column is not None:
            raise ValueError(f"id_column {id_column!r}: X has no named columns; give ids=")
        return list(range(X.shape[0])), IdRule("numbers")
    cells = X.drop(columns=[name for name in without if name in X.columns])
    rule = IdRule("column", id_column) if id_column is not None else remembered
    if rule is None or rule.source == "given":
        rule = _default_rule(cells)
    if rule.source == "column":
        assert rule.column is not None
        return _column(cells, rule.column), rule
    if rule.source == "index":
        return _checked(cells.index, len(cells)), rule
    return (_checksums(cells), rule) if rule.source == "cells" else (list(range(len(cells))), rule)


def _default_rule(cells: pd.DataFrame) -> IdRule:
    for name in cells.columns:
        if str(name).lower() == "id":
            values = _plain(cells[name])
            if None not in values and len(set(values)) == len(values):
                return IdRule("column", str(name))
    if not cells.index.equals(pd.RangeIndex(len(cells))):
        return IdRule("index")
    if any(isinstance(kind, pd.SparseDtype) for kind in cells.dtypes):
        return IdRule("numbers")  # counts of words: too many cells to go through
    return IdRule("cells")


def _column(cells: pd.DataFrame, name: str) -> list[Id]:
    if name not in cells.columns:
        raise ValueError(f"the ids of rows: {unknown_name('column', name, cells.columns)}")
    values = _plain(cells[name])
    if None in values:
        raise ValueError(f"row {values.index(None) + 1} has no id in the column {name!r}; fill it in")
    twice = next((one for one, times in Counter(values).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"several rows have the id {twice!r} in the column {name!r}; choose another column")
    return [one for one in values if one is not None]


def _plain(column: pd.Series) -> list[Id | None]:
    """Return ids as whole numbers, if they are, or as text."""
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        return [int(value) for value in column]
    return [None if pd.isna(value) else str(value) for value in column]


def _checked(ids: Iterable[Hashable], n: int) -> list[Id]:
    """Return ids as plain strings and integers, one for each of n rows and all different."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise ValueError(f"ids must be a list of ids, one for each row of X, not {ids!r}")
    keys = [id_key(one) for one in ids]
    if len(keys) != n:
        raise ValueError(f"X has {n} rows, and there are {len(keys)} ids")
    for key, times in Counter(keys).items():
        if times > 1:
            raise ValueError(f"the id {id_of_key(key)!r} is that of {times} rows; ids must be different")
    return [id_of_key(key) for key in keys]


def _checksums(cells: pd.DataFrame) -> list[Id]:
    """Return names of rows that do not depend on their order."""
    seen: Counter[str] = Counter()
    ids: list[Id] = []
    for row in cells.astype(object).where(cells.notna(), None).itertuples(index=False, name=None):
        text = "\x1f".join(map(_told, row))
        checksum = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
        seen[checksum] += 1
        ids.append(checksum if seen[checksum] == 1 else f"{checksum}-{seen[checksum]}")
    return ids


def _told(cell: Any) -> str:
    """Return a cell as text; whole numbers are floats as soon as another row of the table has none."""
    if cell is None:
        return ""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return str(cell)


def id_key(one: object) -> str:
    """Return an id as it is stored: as JSON, so that 1 and "1" stay apart.

    Examples
    --------
    >>> id_key("Hey"), id_key(7)
    ('"Hey"', '7')
    """
    if isinstance(one, str):
        key = json.dumps(one, ensure_ascii=False)
        try:
            key.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the id {one!r} has characters that no file can hold; rename it") from None
        return key
    if isinstance(one, int | np.integer) and not isinstance(one, bool):
        return str(int(one))
    raise ValueError(f"an id must be a str or an int, not {one!r}; for others, give ids=[str(one) for …]")


def id_of_key(key: str) -> Id:
    """Return the id of what is stored.

    Examples
    --------
    >>> id_of_key('"Hey"'), id_of_key("7")
    ('Hey', 7)
    """
    found = json.loads(key)
    assert isinstance(found, str | int)
    return found


def digest(keys: Iterable[str]) -> str:
    """Return a few characters that stand for these keys."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]
