"""A table to be labelled: what its rows are called, what the page shows of them, what models see."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from refpair.datasets._data import unknown_name
from refpair.datasets._frames import label_array, read_frame
from refpair.datasets.files import read_table
from refpair.datasets.find import data_set, is_file
from refpair.features import Kind, TableFeatures, guess_kinds, make_features, read_features

__all__ = ["LabelPool", "read_pool"]

_FRAMES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class LabelPool:
    """Rows to be labelled.

    Attributes
    ----------
    name : str
        The file or data set.
    frame : DataFrame
        The cells that people see, without labels.
    ids : list of str or int
        What rows are called.
    features : TableFeatures
        What models see.
    kinds : dict of str to str
        What kind each column is, as it is shown.
    folder : Path or None
        Where images are.
    answered : DataFrame
        Labels that the table has already: a row for each row that has all of them, by id.
    labels : list of str
    """

    name: str
    frame: pd.DataFrame
    ids: list[Any]
    features: TableFeatures
    kinds: dict[str, Kind]
    folder: Path | None
    answered: pd.DataFrame
    labels: list[str]


def read_pool(
    data: str,
    labels: Sequence[str] | None,
    *,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    features: Path | None = None,
    verbose: int = 0,
) -> LabelPool:
    """Read a table that is to be labelled.

    Parameters
    ----------
    data : str
        A file, or the name of a data set, whose labels are then taken as unknown.
    labels : sequence of str or None
        The labels; a data set has its own.
    id_column : str, optional
        The column with the names of rows. By default one that is called ``id``; without such a one, rows of
        CSV and Parquet files are called by a checksum of their cells, others by their numbers.
    drop : sequence of str
        Columns that are shown, but not learnt from.
    features : Path, optional
        An .npy or .npz file with the features, instead of those made of the cells.
    verbose : int, default=0
        1 shows progress.
    """
    folder: Path | None
    if is_file(data) and data.lower().endswith(_FRAMES):
        frame, ids, id_column, answered, names, folder = _read_frame(Path(data), labels, id_column)
    else:
        frame, ids, answered, names, folder = _read_other(data, labels, id_column)
    for name in drop:
        if name not in frame.columns:
            raise ValueError(f"{data}: {unknown_name('column', name, frame.columns)}")
    kinds = guess_kinds(frame, folder)
    if features is not None:
        made = read_features(features, len(frame))
    else:
        without: dict[str, Kind] = dict.fromkeys((*drop, *([id_column] if id_column else [])), "ignored")
        try:
            made = make_features(frame, kinds=without, folder=folder, verbose=verbose)
        except ValueError as error:
            raise ValueError(f"{data}: {error}") from None
    return LabelPool(Path(data).name, frame, ids, made, kinds, folder, answered, names)


def _read_frame(
    path: Path, labels: Sequence[str] | None, id_column: str | None
) -> tuple[pd.DataFrame, list[Any], str | None, pd.DataFrame, list[str], Path]:
    if not labels:
        raise ValueError(f"{path}: what are the labels? For example --labels joy,anger,calm")
    frame = read_frame(path)
    present = [name for name in labels if name in frame.columns]
    ids, id_column = _ids_of(frame.drop(columns=present), path, id_column)
    answered = pd.DataFrame(columns=list(labels))
    if len(present) == len(labels):
        known = frame[present].notna().all(axis=1).to_numpy()
        filled = pd.DataFrame({name: _zero_unless(frame[name], known) for name in present})
        Y = label_array(filled, present, path)
        answered = pd.DataFrame(
            Y[known], columns=present, index=_index([ids[i] for i in np.flatnonzero(known)])
        )
    return frame.drop(columns=present), ids, id_column, answered, list(labels), path.parent


def _zero_unless(column: pd.Series, known: npt.NDArray[np.bool_]) -> pd.Series:
    """Return the labels of rows that have all of them, 0 for others: messages then name the right rows."""
    is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    return (column if is_number else column.astype(object)).where(known, 0)


def _index(ids: list[Any]) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(np.array([*ids, None], dtype=object)[:-1])
    return index


def _read_other(
    data: str, labels: Sequence[str] | None, id_column: str | None
) -> tuple[pd.DataFrame, list[Any], pd.DataFrame, list[str], Path | None]:
    if id_column is not None:
        raise ValueError(f"{data}: only CSV and Parquet files have columns of ids; leave out --id")
    table = read_table(data, labels, require_labels=False) if is_file(data) else data_set(data)
    names = list(labels or table.label_names)
    if not names:
        raise ValueError(f"{data}: what are the labels? For example --labels joy,anger,calm")
    X = table.X.toarray() if sp.issparse(table.X) else table.X
    frame = pd.DataFrame(X, columns=table.feature_names)
    return frame, list(range(len(frame))), pd.DataFrame(columns=names), names, None


def _ids_of(frame: pd.DataFrame, path: Path, id_column: str | None) -> tuple[list[Any], str | None]:
    """Return what rows are called, and the column that says so, if one does."""
    if id_column is not None:
        if id_column not in frame.columns:
            raise ValueError(f"{path}: {unknown_name('column', id_column, frame.columns)}")
        ids = _cells(frame[id_column])
        if None in ids:
            raise ValueError(f"{path}: row {ids.index(None) + 1} has no id in the column {id_column!r}")
        twice = next((one for one, times in Counter(ids).items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"{path}: several rows have the id {twice!r}; choose another column with --id")
        return ids, id_column
    for name in frame.columns:
        if name.lower() == "id":
            ids = _cells(frame[name])
            if None not in ids and len(set(ids)) == len(ids):
                return ids, name
    return _checksums(frame), None


def _cells(column: pd.Series) -> list[Any]:
    """Return ids as whole numbers, if they are, or as text."""
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        return [int(value) for value in column]
    return [None if pd.isna(value) else str(value) for value in column]


def _checksums(frame: pd.DataFrame) -> list[str]:
    """Return names of rows that do not depend on their order: checksums of the cells."""
    seen: Counter[str] = Counter()
    ids = []
    for cells in frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None):
        text = "\x1f".join(map(_told, cells))
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
