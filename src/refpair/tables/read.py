"""Reading tables from files and from standard input."""

from __future__ import annotations

import codecs
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refpair._extras import pd
from refpair.tables._arff import arff_frame, labels_beside, parse_arff
from refpair.tables._cells import frame_of_matrix
from refpair.tables._formats import read_csv, read_excel, read_json_lines, read_parquet, read_svmlight
from refpair.tables._names import TableError, check_known, clean_names, naming
from refpair.tables._source import Source, check_cells, open_source
from refpair.tables.columns import Kind

_ENDINGS = {
    "csv": (".csv", ".tsv"),
    "json": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "excel": (".xlsx",),
    "arff": (".arff",),
    "libsvm": (".svm", ".libsvm", ".txt"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table with or without labels.

    Attributes
    ----------
    name : str
        The name of the file or data set, or "standard input".
    X : DataFrame
        All other columns, unchanged: texts, numbers, missing cells. Sparse formats give sparse columns.
    Y : DataFrame or None
        The label columns, unchanged, or None if there are none.
    folder : Path or None
        The folder of the file, which image paths are relative to.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.tables import Table
    >>> Table("songs.csv", pd.DataFrame({"tempo": [120, 90]}), None, None)
    Table('songs.csv': 2 rows, 1 columns, no labels)
    """

    name: str
    X: pd.DataFrame
    Y: pd.DataFrame | None
    folder: Path | None

    def __repr__(self) -> str:
        n_rows, n_columns = self.X.shape
        labels = "no labels" if self.Y is None else f"{self.Y.shape[1]} label columns"
        return f"Table({self.name!r}: {n_rows} rows, {n_columns} columns, {labels})"


@dataclass(frozen=True)
class TableOptions:
    """Options for reading a table.

    Attributes
    ----------
    labels : tuple of str or None
        The label columns, or the column of joined names; None if the file defines them.
    label_sep : str, optional
        The separator of joined names; detected by default.
    drop : tuple of str
        Columns to leave out.
    kinds : tuple of (str, kind)
        Kinds of columns, see :class:`refpair.TableVectorizer`.
    sep, encoding : str, optional
        Format of text files, see :func:`refpair.tables.read_table`.

    Examples
    --------
    >>> TableOptions(labels=("joy", "anger")).reading
    {'drop': (), 'sep': None, 'encoding': None}
    """

    labels: tuple[str, ...] | None = None
    label_sep: str | None = None
    drop: tuple[str, ...] = ()
    kinds: tuple[tuple[str, Kind], ...] = ()
    sep: str | None = None
    encoding: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """The options for `read_table`, except labels."""
        return {"drop": self.drop, "sep": self.sep, "encoding": self.encoding}


def read_table(
    source: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    drop: Sequence[str] = (),
    sep: str | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a table from a file or from standard input.

    Parameters
    ----------
    source : path-like
        A file ending in .csv, .tsv, .jsonl, .ndjson (JSON lines), .arff, or .svm, .libsvm, .txt for libsvm's
        multi-label format, each also as .gz; or .parquet, .xlsx (Excel: the first sheet). ``-`` is standard
        input: JSON lines if it starts with ``{``, else CSV.
    labels : sequence of str, optional
        The names of the label columns. By default, ARFF files have them in the XML file of the same name,
        libsvm files in their rows (names are the numbers, such as "3").
    drop : sequence of str, default=()
        Columns to leave out.
    sep : str, optional
        The separator of CSV cells; comma, semicolon, tab or pipe are detected by default.
    encoding : str, optional
        The encoding of text, such as "latin-1". By default UTF-8, with or without a byte order mark.

    Returns
    -------
    Table
        Cells are unchanged: texts, numbers, booleans, dates (Parquet and Excel), lists (Parquet
        and JSON). Empty cells are missing, in columns of numbers also "NA", "null" and the like. In semicolon
        and tab files, columns of ``3,5`` are numbers. In libsvm files columns are named by their indices.

    Raises
    ------
    ValueError
        If a column is unknown, named twice, or a label that is dropped; if the file is damaged, has only one
        column because its separator is unknown, or a few bytes of it would need gigabytes.
    ImportError
        If the file is Parquet or Excel and the library to read it is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "songs.csv")
    ...     _ = path.write_text("title;tempo;moods\nHey;120,5;joy|calm\nOh;;anger\n")
    ...     table = read_table(path, ["moods"])
    >>> table
    Table('songs.csv': 2 rows, 2 columns, 1 label columns)
    >>> table.X
      title  tempo
    0   Hey  120.5
    1    Oh    NaN
    >>> table.Y
          moods
    0  joy|calm
    1     anger
    """
    found = open_source(source)
    labels, drop = _asked_for(labels, "label"), _asked_for(drop, "column to drop") or []
    with suppress(LookupError):  # told when it is used
        if encoding is not None and codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
            encoding = None
    with naming(found.name):
        form = _format(found)
        if form == "libsvm":
            X, names, Y = read_svmlight(found, labels)
            return replace(_split(found, frame_of_matrix(X, names), [], drop), Y=Y)
        if both := set(labels or ()) & set(drop):
            raise TableError(f"{min(both)!r} is named as a label and to be dropped; choose one")
        if form == "arff":
            return _from_arff(found, labels, drop, encoding)
        if form == "csv":
            frame = read_csv(found, sep, encoding, labels or ())
        elif form == "json":
            frame = read_json_lines(found, encoding)
        else:
            frame = read_parquet(found) if form == "parquet" else read_excel(found)
        return _split(found, frame, labels or [], drop)


def _asked_for(names: Sequence[str] | None, what: str) -> list[str] | None:
    if names is None:
        return None
    asked = [names.strip()] if isinstance(names, str) else [str(name).strip() for name in names]
    for name, times in Counter(asked).items():
        if times > 1:
            raise ValueError(f"the {what} {name!r} is named twice; remove one")
    return asked


def is_table_name(name: str) -> bool:
    """Whether a file is called as a table that `read_table` reads."""
    return name.lower().removesuffix(".gz").endswith(tuple(sum(_ENDINGS.values(), ())))


def _format(source: Source) -> str:
    if source.path is None:
        with source.open() as file:
            start = file.read(1000).removeprefix(codecs.BOM_UTF8).lstrip()
        return "json" if start.startswith(b"{") else "csv"
    for form, endings in _ENDINGS.items():
        if source.has_ending(*endings):
            if source.is_packed and form in ("parquet", "excel"):
                raise TableError(f"{form} files are packed already; unpack it first")
            return form
    known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
    raise TableError(f"cannot tell the format by the name; known endings are {known}, also with .gz")


def _split(source: Source, frame: pd.DataFrame, labels: list[str], drop: list[str]) -> Table:
    """Part a table into labels and the rest."""
    try:
        check_known([*labels, *drop], list(frame.columns))
    except TableError as error:
        if len(frame.columns) > 1:
            raise
        told = str(error).removeprefix(": ")
        raise TableError(f"{told}. The file has one column; if it should have more, give --sep") from None
    gone = {*labels, *drop}
    rest = [name for name in frame.columns if name not in gone]
    if not rest:
        raise TableError("no columns are left besides labels and dropped ones")
    Y = frame[labels] if labels else None
    if Y is not None and any(isinstance(kind, pd.SparseDtype) for kind in Y.dtypes):
        check_cells(source.n_bytes, *Y.shape, "labels")
        Y = Y.astype({name: kind.subtype for name, kind in Y.dtypes.items() if hasattr(kind, "subtype")})
    X = frame if len(rest) == frame.shape[1] else frame[rest]
    name, folder = (source.name, None) if source.path is None else (source.path.name, source.path.parent)
    return Table(name, X, Y, folder)


def _from_arff(source: Source, labels: list[str] | None, drop: list[str], encoding: str | None) -> Table:
    assert source.path is not None
    if labels is None:
        labels = _asked_for(labels_beside(source.path), "label")
    source.check_text(encoding)
    with source.open_text(encoding) as text:
        file = parse_arff(text.read(), source.n_bytes)
    for label in labels or ():
        if label in file.repeated:
            raise TableError(f"several attributes are named {label!r}; rename all but the label")
    frame = arff_frame(file)
    frame.columns = pd.Index(clean_names(frame.columns))
    return _split(source, frame, labels or [], drop)
