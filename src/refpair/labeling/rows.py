"""The rows of a session: what they are called, what is in them, and features that another program made.

Rows are never called by their positions in a table, which may grow or be sorted anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair._extras import is_dataframe, pd
from refpair._sparse import check_sparse
from refpair.bits.binning import Matrix
from refpair.tables._names import unknown_name
from refpair.tables.columns import Kind, find_kinds

Id = str | int


class Rows:
    """The rows of a session, by their ids; None if it is not known which there are: any id may be one, then.

    The `cells` are those of the table, `without` the columns of labels; arrays have none. `keys` are the ids
    as they are stored. `id_column` is what a column with the ids is called in files; None if they are among
    the cells, or follow from them. `kinds` are those of columns that are not to be guessed.
    """

    def __init__(
        self,
        ids: Sequence[Id] | None,
        table: pd.DataFrame | None = None,
        without: Sequence[str] = (),
        folder: Path | None = None,
        id_column: str | None = "id",
        kinds: Mapping[str, Any] | None = None,
    ) -> None:
        self.are_known = ids is not None
        self.ids = list(ids or [])
        self.keys = [id_key(one) for one in self.ids]
        self.places = {key: place for place, key in enumerate(self.keys)}
        self.folder = folder
        self.cells: pd.DataFrame | None = None
        self.kinds: dict[str, Kind] = {}
        self._table = table
        self._without = list(without)
        self._id_column = id_column
        if table is not None:
            self.cells = table.drop(columns=[name for name in without if name in table.columns])
            # A column that is not learned from is shown as what it is.
            asked = {name: kind for name, kind in (kinds or {}).items() if kind != "ignored"}
            self.kinds = {name: kind for name, (kind, _) in find_kinds(self.cells, asked, folder).items()}

    def keys_of(self, ids: Iterable[Id]) -> list[str]:
        """Return ids as they are stored, and refuse those of no row."""
        if isinstance(ids, str) or not isinstance(ids, Iterable):
            raise ValueError(f"ids must be a list of ids: [{ids!r}]")
        keys = [id_key(one) for one in ids]
        for key in keys:
            if key not in self:
                raise ValueError(f"there is no row with the id {id_of_key(key)!r}")
        return keys

    def __contains__(self, key: str) -> bool:
        return not self.are_known or key in self.places

    def ranked(self, order: Iterable[int]) -> Iterator[str]:
        """Yield the keys of the rows at these places, then those of all others."""
        first = dict.fromkeys(self.keys[place] for place in order)
        yield from first
        yield from (key for key in self.keys if key not in first)

    def with_labels(self, labels: pd.DataFrame) -> pd.DataFrame:
        """Return the cells of rows, and columns of labels, given by id; unknown ids are left out."""
        keys = [id_key(one) for one in labels.index]
        known = [place for place, key in enumerate(keys) if key in self]
        ids = [labels.index[place] for place in known]
        labels = labels.iloc[known].reset_index(drop=True)
        if self._table is None:
            return pd.concat([pd.Series(ids, name="id", dtype=object).infer_objects(), labels], axis=1)
        found = self._table.iloc[[self.places[keys[place]] for place in known]].reset_index(drop=True)
        if self._id_column is not None and self._id_column not in found.columns:
            found.insert(0, self._id_column, pd.Series(ids, dtype=object).infer_objects())
        for name in labels.columns:
            if name in found and name not in self._without:
                raise ValueError(
                    f"the label {name!r} needs a column, and the table has another one of that name; rename "
                    "that column"
                )
            found[name] = labels[name]
        return found.drop(columns=[one for one in self._without if one in found and one not in labels])


def id_key(one: object) -> str:
    """Return an id as it is stored: as JSON, so that 1 and "1" stay apart."""
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
    """Return the id of what is stored."""
    found = json.loads(key)
    assert isinstance(found, str | int)
    return found


class IdRule(NamedTuple):
    """Where the ids of rows come from, and the column, if it is one."""

    source: Literal["given", "column", "index", "cells", "numbers"]  # numbers: 0, 1, 2, …
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

    It is as `ids` or `id_column` say, else as `remembered`, else the first that there is of a column ``id``
    whose cells are filled and different, an index other than 0, 1, 2, …, and checksums of the cells `without`
    labels. Rows of arrays are called 0, 1, 2, …
    """
    if ids is not None:
        return _checked(ids, X.shape[0]), IdRule("given")
    if not is_dataframe(X):
        if id_column is not None:
            raise ValueError(f"id_column {id_column!r}: X has no named columns; give ids=")
        return list(range(X.shape[0])), IdRule("numbers")
    cells = X.drop(columns=[name for name in without if name in X.columns])
    rule = IdRule("column", id_column) if id_column is not None else remembered
    if rule is None or rule.source == "given":
        rule = _default_rule(cells)
    if rule.column is not None:
        return _column(cells, rule.column), rule
    if rule.source == "index":
        return _checked(cells.index, len(cells)), rule
    return (_checksums(cells) if rule.source == "cells" else list(range(len(cells)))), rule


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
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


def read_features(source: Any, n_rows: int) -> Matrix:
    """Return features that take the place of a table's cells, such as embeddings, a row for each of its rows.

    A file ending in .npy has a matrix of numbers, one in .npz a sparse one of ``scipy.sparse.save_npz``;
    nothing is unpickled.
    """
    name = "features"
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        name = str(source)
        readers = {".npy": _read_dense, ".npz": _read_sparse}
        if path.suffix.lower() not in readers:
            raise ValueError(f"{path}: cannot tell the format by the name; features are .npy or .npz files")
        source = readers[path.suffix.lower()](path)
        if source.dtype.kind not in "biuf":
            raise ValueError(f"{path}: must hold numbers, not {source.dtype}; save it with X.astype(float)")
    check_sparse(source, name)
    X = check_array(source, accept_sparse="csr", dtype=np.float64, input_name=name)
    if X.shape[0] != n_rows:
        raise ValueError(
            f"{name}: has {X.shape[0]:,} rows, and the table {n_rows:,}; save the features of each row of "
            "the table, in its order"
        )
    return X


def _read_dense(path: Path) -> Matrix:
    try:
        # Mapped, not read: a header may lie about how much follows.
        given: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"{path}: cannot read it as an array of numbers ({str(error).strip()}); save it with "
            "np.save(path, X.astype(float))"
        ) from error
    if not isinstance(given, np.ndarray):
        given.close()
        raise ValueError(f"{path}: it is an .npz file; save the array alone with np.save(path, X)")
    return given


def _read_sparse(path: Path) -> Matrix:
    try:
        given = sp.load_npz(path)
        check_sparse(given, "the matrix")
    except (ValueError, EOFError, KeyError, TypeError, BadZipFile, MemoryError) as error:
        raise ValueError(
            f"{path}: cannot read it as a sparse matrix ({str(error).strip()}); save it with "
            "scipy.sparse.save_npz(path, X), or a dense one with np.save as .npy"
        ) from error
    return given
