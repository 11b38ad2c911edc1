"""Tables in forms of other programs: JSON lines, Parquet, Excel, and libsvm's multi-label text."""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from refpair.tables._cells import Matrix
from refpair.tables._names import TableError, clean_names
from refpair.tables._source import Source, check_cells, check_growth
from refpair.tables._values import clean_frame, frame_of_cells

_MAX_EXCEL_ROWS = 1 << 20
_INDEX = re.compile(r"__index_level_\d+__")  # an index without a name, as pandas writes it
_ALWAYS_ALLOWED_FEATURES, _MAX_FEATURES_PER_VALUE = 50_000, 100  # a column of a table takes kilobytes
_TOO_LARGE_LABEL = 2.0**53  # from here on, two labels may come out of the parser as one float


def read_json_lines(source: Source, encoding: str | None) -> pd.DataFrame:
    """Read a file with an object in each line; names that a row leaves out are missing there."""
    size = source.check_text(encoding)
    rows: list[dict[str, Any]] = []
    keys: dict[str, None] = {}
    with source.open_text(encoding) as text:
        for number, line in enumerate(text, start=1):
            if line.strip():
                row = _parse_row(line, f"line {number}")
                rows.append(row)
                keys.update(dict.fromkeys(row))
    if not rows:
        raise TableError('there are no rows; each line is an object such as {"tempo": 120}')
    if not keys:
        raise TableError('its rows are empty; each line is an object such as {"tempo": 120}')
    check_cells(size.n_bytes, len(rows), len(keys))
    names = clean_names(keys)
    columns = {name: [row.get(key) for row in rows] for name, key in zip(names, keys, strict=True)}
    return frame_of_cells(columns)


def _parse_row(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=_unique_names)
        if "\\ud" in line.lower():
            json.dumps(row, ensure_ascii=False).encode()  # refuses halves of a pair of surrogates
    except (ValueError, RecursionError) as error:
        raise TableError(f"cannot read it as JSON ({error}); each line is one object", where) from error
    if not isinstance(row, dict):
        raise TableError('it is no object; write each row as one, such as {"tempo": 120}', where)
    return row


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a name comes twice in an object")
    return row


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
            check_cells(source.n_bytes, n_rows, n_columns, "columns")
            frame = file.read().to_pandas(ignore_metadata=True)
    except TableError:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise TableError(f"cannot read it as Parquet ({_first_line(error)})") from error
    frame = frame.loc[:, [not _INDEX.fullmatch(str(name)) for name in frame.columns]]
    return clean_frame(frame)


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
            check_growth(source.n_bytes, n_unpacked)
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
                    check_cells(n_unpacked, 1, n_cells)
                    if number >= _MAX_EXCEL_ROWS:
                        raise ValueError("it has more rows than Excel allows")
    except (FileNotFoundError, TableError):
        raise
    except Exception as error:  # openpyxl lets out whatever a broken file leads to
        raise TableError(f"cannot read it as Excel ({_first_line(error)})") from error
    if len(rows) < 2:
        raise TableError("there are no rows below the header in the first sheet")
    width = max(map(len, rows))
    check_cells(n_unpacked, len(rows), width)
    if width > len(rows[0]):
        place = next(place for place, cells in enumerate(rows) if len(cells) > len(rows[0]))
        told = f"{len(rows[place])} cells, but the header has {len(rows[0])}; name all columns"
        raise TableError(told, f"row {place}")
    names = clean_names(rows[0])
    columns = {
        name: [cells[place] if place < len(cells) else None for cells in rows[1:]]
        for place, name in enumerate(names)
    }
    return frame_of_cells(columns)


def _without_tail(cells: list[Any]) -> list[Any]:
    while cells and (cells[-1] is None or cells[-1] == ""):
        cells.pop()
    return cells


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def read_svmlight(
    source: Source, labels: Sequence[str] | None
) -> tuple[Matrix, list[str], pd.DataFrame | None]:
    """Read the features, their names (the indices), and the labels as columns of 0 and 1.

    In ``1,3 4:0.5 7:1``, 1 and 3 are labels. Zeros are left out, so features go up to the last index that
    occurs. By default, labels are those that occur; without any, they are None.
    """
    source.check_text("latin-1")  # any bytes may be in comments; they may only not grow too much
    try:
        with source.open() as file:
            # Indices as they are in the file: whether they count from 0 or 1 is seen below.
            X, rows = load_svmlight_file(file, multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:  # the latter for indices beyond 32 bits
        raise TableError(
            f"cannot read it as libsvm ({error}); a row is 'label,label index:value', "
            "and a table of another kind must have another ending, such as .csv"
        ) from error
    if not rows:
        raise TableError("the file has no rows")
    first = _check_indices(X)
    X = X[:, first:]
    X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    X.sort_indices()
    names = [str(first + place) for place in range(X.shape[1])]
    found = [[_label_name(value, i) for value in row] for i, row in enumerate(rows)]
    if labels is None:
        labels = sorted({label for row in found for label in row}, key=float)
    return X, names, _label_columns(source, found, labels) if labels else None


def _label_columns(source: Source, found: list[list[str]], labels: Sequence[str]) -> pd.DataFrame:
    check_cells(source.n_bytes, len(found), len(labels), "labels")
    position = {label: i for i, label in enumerate(labels)}
    Y = np.zeros((len(found), len(labels)), dtype=np.uint8)
    for i, row in enumerate(found):
        for label in row:
            if label not in position:
                told = f"the label {label} is not one of {', '.join(labels)}; name it, too"
                raise TableError(told, f"row {i + 1}")
            Y[i, position[label]] = 1
    return pd.DataFrame(Y, columns=list(labels))


def _check_indices(X: Matrix) -> int:
    """Return the first index, 0 or 1; refuse a broken one that would make absurdly many columns."""
    if X.shape[1] > _ALWAYS_ALLOWED_FEATURES + _MAX_FEATURES_PER_VALUE * X.nnz:
        raise TableError(
            f"the index {X.shape[1] - 1} is far beyond what {X.nnz} values need; correct the row, "
            "or number the features from 1 without gaps"
        )
    return 0 if (X.indices == 0).any() else 1


def _label_name(value: float, row: int) -> str:
    if not abs(value) < _TOO_LARGE_LABEL:  # NaN, too
        raise TableError(f"{value} is no name of a label; number labels from 0 or 1", f"row {row + 1}")
    return str(int(value)) if value.is_integer() else str(value)
