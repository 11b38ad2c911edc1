"""Writing tables, completely or not at all."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from refpair._extras import from_extra, pd
from refpair._files import check_output, written_whole

_ENDINGS = (".csv", ".tsv", ".csv.gz", ".jsonl", ".parquet")
# Also as wide characters, which some spreadsheets take for the same.
_FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
_PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def check_table_path(path: Path, *, for_spreadsheets: bool = False) -> None:
    """Raise an error if no table can be written to a path."""
    check_output(path)
    if not path.name.lower().endswith(_ENDINGS):
        raise ValueError(f"{path}: the name of a table ends in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}")
    if for_spreadsheets and path.name.lower().endswith(_ENDINGS[3:]):
        raise ValueError(f"{path}: for spreadsheets, choose a name that ends in .csv or .tsv")


def write_table(frame: pd.DataFrame, path: Path, *, for_spreadsheets: bool = False) -> None:
    """Write a table, without its index, in the format of the file name.

    Lists of texts are joined by ``|`` in CSV and TSV, and stay lists in JSON lines and Parquet.

    Parameters
    ----------
    frame : DataFrame
        The table.
    path : Path
        A file ending in .csv, .tsv, .csv.gz, .jsonl (JSON lines) or .parquet.
    for_spreadsheets : bool, default=False
        Whether to put a ``'`` before cells and column names of CSV or TSV that a spreadsheet would take for
        formulas: texts that begin with ``=``, ``+``, ``-``, ``@``, a tab or an end of line, and are no
        numbers. Use it if the texts are from others and the file is opened in a spreadsheet. It changes the
        data: do not use it for files that programs read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> from refpair.tables import read_table, write_table
    >>> with TemporaryDirectory() as folder:
    ...     write_table(pd.DataFrame({"tempo": [120, 90]}), Path(folder, "songs.jsonl"))
    ...     read_table(Path(folder, "songs.jsonl"))
    Table('songs.jsonl': 2 rows, 1 columns, no labels)
    """
    path = Path(path)
    check_table_path(path, for_spreadsheets=for_spreadsheets)
    name = path.name.lower()
    if name.endswith(".parquet"):
        content = _parquet(frame, path)
    elif name.endswith(".jsonl"):
        content = _json_lines(frame).encode()
    else:
        sep = "\t" if name.endswith(".tsv") else ","
        content = csv_text(frame, sep, for_spreadsheets=for_spreadsheets).encode()
    if name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    with written_whole(path) as file:
        file.write(content)


def csv_text(frame: pd.DataFrame, sep: str = ",", *, for_spreadsheets: bool = False) -> str:
    """Return a table as CSV with one line for each row."""
    frame = _map_columns(frame, lambda column: column.map(_joined) if column.dtype == object else column)
    if for_spreadsheets:
        frame = _map_columns(frame, _no_formulas).rename(columns=_no_formula)
    text: str = frame.to_csv(index=False, sep=sep)
    if "\r" in text:  # it is quoted only if it may end a line
        text = frame.to_csv(index=False, sep=sep, lineterminator="\r\n")
    return text


def _map_columns(frame: pd.DataFrame, change: Callable[[pd.Series], pd.Series]) -> pd.DataFrame:
    return pd.DataFrame({name: change(frame[name]) for name in frame.columns}, index=frame.index)


def _no_formulas(column: pd.Series) -> pd.Series:
    is_plain = pd.api.types.is_numeric_dtype(column) or isinstance(column.dtype, pd.SparseDtype)
    return column if is_plain else column.astype(object).map(_no_formula)


def _no_formula(cell: Any) -> Any:
    is_formula = isinstance(cell, str) and _FORMULA.match(cell) and not _PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def _joined(cell: Any) -> Any:
    return "|".join(map(str, cell)) if isinstance(cell, list | tuple | set | frozenset) else cell


def _json_lines(frame: pd.DataFrame) -> str:
    names = [str(name) for name in frame.columns]
    columns = [[_json_value(cell) for cell in frame.iloc[:, place].tolist()] for place in range(len(names))]
    rows = (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _json_value(cell: Any) -> Any:
    if isinstance(cell, list | tuple | set | frozenset):
        return [_json_value(one) for one in cell]
    if pd.isna(cell):
        return None
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def _parquet(frame: pd.DataFrame, path: Path) -> bytes:
    from_extra("pyarrow", "parquet", f"{path}: writing Parquet needs pyarrow")
    stream = io.BytesIO()
    _map_columns(frame, _of_one_kind).to_parquet(stream, engine="pyarrow", index=False)
    return stream.getvalue()


def _of_one_kind(column: pd.Series) -> pd.Series:
    """Return a column that Parquet takes: numbers and texts in one, and numbers beyond 64 bits, as texts."""
    if isinstance(column.dtype, pd.SparseDtype):
        return pd.Series(np.asarray(column), index=column.index)
    if column.dtype != object:
        return column
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "mixed" and all(isinstance(cell, list) for cell in column.dropna()):
        return column
    if kind.startswith("mixed") or kind == "integer":
        return column.map(lambda cell: cell if pd.isna(cell) else str(cell))
    return column
