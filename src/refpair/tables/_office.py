"""Tables that other programs keep in forms of their own: Parquet and Excel files."""

from __future__ import annotations

import re
import warnings
import zipfile
from typing import Any

import pandas as pd

from refpair.tables._names import check_unique, clean_names
from refpair.tables._size import check_cells, check_growth, check_written_cells
from refpair.tables._source import Source
from refpair.tables._values import clean_frame, frame_of_cells

__all__ = ["read_excel", "read_parquet"]

_MAX_EXCEL_ROWS = 1 << 20
_INDEX = re.compile(r"__index_level_\d+__")  # an index without a name, as pandas writes it


def read_parquet(source: Source) -> pd.DataFrame:
    """Read a Parquet file; an index that has a name is a column."""
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(
            f"{source.name}: reading Parquet needs pyarrow: pip install 'refpair[parquet]'"
        ) from error
    try:
        with source.open() as raw, pq.ParquetFile(raw) as file:
            n_rows, n_columns = file.metadata.num_rows, file.metadata.num_columns
            check_cells(source.name, source.n_bytes, n_rows, n_columns, "columns")
            frame = file.read().to_pandas(ignore_metadata=True)
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        if str(error).startswith(source.name):
            raise
        raise ValueError(f"{source.name}: cannot read it as Parquet ({_first_line(error)})") from error
    frame = frame.loc[:, [not _INDEX.fullmatch(str(name)) for name in frame.columns]]
    return clean_frame(frame, source.name)


def read_excel(source: Source) -> pd.DataFrame:
    """Read the first sheet of an Excel file; the first row that is not empty names the columns."""
    try:
        import openpyxl  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(
            f"{source.name}: reading Excel needs openpyxl: pip install 'refpair[excel]'"
        ) from error
    rows: list[list[Any]] = []
    n_cells, n_unpacked = 0, 0
    try:
        with source.open() as raw:
            with zipfile.ZipFile(raw) as packed:
                n_unpacked = sum(part.file_size for part in packed.infolist())
            check_growth(source.name, source.n_bytes, n_unpacked)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what is in the file besides cells
                book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
                sheet = book.worksheets[0]
                sheet.reset_dimensions()  # those in the file may be wrong
                for number, cells in enumerate(sheet.iter_rows(values_only=True)):
                    row = _without_tail(list(cells))
                    if row:
                        rows.append(row)
                    n_cells += len(row)
                    check_written_cells(source.name, n_unpacked, 1, n_cells)
                    if number >= _MAX_EXCEL_ROWS:
                        raise ValueError("it has more rows than Excel allows")
    except FileNotFoundError:
        raise
    except Exception as error:  # openpyxl lets out whatever a broken file leads to
        if str(error).startswith(source.name):
            raise
        raise ValueError(f"{source.name}: cannot read it as Excel ({_first_line(error)})") from error
    if len(rows) < 2:
        raise ValueError(f"{source.name}: there are no rows below the header in the first sheet")
    width = max(map(len, rows))
    check_written_cells(source.name, n_unpacked, len(rows), width)
    if width > len(rows[0]):
        place = next(place for place, cells in enumerate(rows) if len(cells) > len(rows[0]))
        raise ValueError(
            f"{source.name}, row {place}: {len(rows[place])} cells, but the header has {len(rows[0])}; "
            "name all columns"
        )
    names = clean_names(rows[0])
    check_unique(source.name, names)
    columns = {
        name: [cells[place] if place < len(cells) else None for cells in rows[1:]]
        for place, name in enumerate(names)
    }
    return frame_of_cells(columns, source.name)


def _without_tail(cells: list[Any]) -> list[Any]:
    while cells and (cells[-1] is None or cells[-1] == ""):
        cells.pop()
    return cells


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
