"""Files of tables: CSV, JSON lines, Parquet, Excel, and libsvm's multi-label text."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
import zipfile
from collections.abc import Sequence
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from refpair._extras import from_extra, pd
from refpair.tables._cells import Matrix, clean_frame, frame_of_cells, with_short_indices
from refpair.tables._names import TableError, clean_names
from refpair.tables._source import Source, check_cells, check_growth

_MAX_EXCEL_ROWS = 1 << 20
_INDEX = re.compile(r"__index_level_\d+__")  # an index without a name, as pandas writes it
_ALWAYS_ALLOWED_FEATURES, _MAX_FEATURES_PER_VALUE = 50_000, 100  # a column of a table takes kilobytes
_TOO_LARGE_LABEL = 2.0**53  # from here on, two labels may come out of the parser as one float

_HEAD = 1 << 18  # characters that are looked at to find the separator
# A name and a comma take a byte or more, even when packed; nobody can wait for those who have none.
_ALWAYS_ALLOWED_COLUMNS = 10_000
_TOO_MANY = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_LEADING_ZERO = re.compile(rb"(?<![0-9.])0[0-9]")
_OPEN_QUOTE = re.compile(r"EOF inside string starting at row (\d+)")

# In this order if the first lines fit several: pipes also part the names of labels in a cell.
_USUAL = "\t;,|"
_UNUSUAL = ":^~¦/#\x01"
_ONE_COLUMN = "\x1f"  # stands for no separator at all
_ROWS_LOOKED_AT = 200
_NUMBER = re.compile(r"[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?")


def read_csv(source: Source, sep: str | None, encoding: str | None, labels: Sequence[str]) -> pd.DataFrame:
    """Read a text table; ``sep=None`` finds the separator out. ``3,5`` in a label column is no number."""
    n_bytes, n_lines = source.check_text(encoding)
    with source.open_text(encoding) as text:
        head = text.read(_HEAD) + text.readline()
        is_whole = not text.read(1)
    if not head.strip():
        raise TableError("it is empty; the first line names the columns")
    first = head[: re.search(r"[\r\n]|$", head).start()]  # type: ignore[union-attr]  # it always matches
    n_columns = 1 + max(map(first.count, _USUAL))
    if n_columns > _ALWAYS_ALLOWED_COLUMNS + source.n_bytes:
        told = f"{n_columns:,} columns are too many for a file of {source.n_bytes:,} bytes; is it broken?"
        raise TableError(told)
    if sep is not None:
        sep = {"tab": "\t", r"\t": "\t"}.get(sep, sep)
        if len(sep) != 1 or sep.isalnum() or sep in "\"'\r\n.":
            raise ValueError(f"the separator {sep!r} is not one character such as ',' ';' 'tab' or '|'")
    found = _find_separator(head, is_whole, sep, is_tsv=source.has_ending(".tsv"))
    frame = _parse(source, encoding, found, n_bytes, n_lines)
    with_comma = () if found == "," else set(frame.columns).difference(labels)
    return clean_frame(frame, written=True, decimal_comma=with_comma)


def _parse(source: Source, encoding: str | None, sep: str, n_bytes: int, n_lines: int) -> pd.DataFrame:
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
        check_cells(n_bytes, n_lines, len(names))
        options |= {"header": 0, "names": [str(i) for i in range(len(names))]}
        with source.open() as file:
            frame: pd.DataFrame = pd.read_csv(file, na_values=[""], low_memory=False, **options)
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
    numbers = [name for name, dtype in frame.dtypes.items() if pd.api.types.is_numeric_dtype(dtype)]
    with source.open() as file:
        if not numbers or not any(map(_LEADING_ZERO.search, file)):
            return
    with source.open() as file:
        texts = pd.read_csv(file, usecols=numbers, dtype=str, **options)
    for name, column in texts.items():
        if column.str.match(r"[+-]?0[0-9]").any():
            frame[name] = column


def _problem(error: str, sep: str) -> TableError:
    """Say in one sentence what pandas could not parse."""
    if too_many := _TOO_MANY.search(error):
        expected, line, seen = too_many.groups()
        told = f"{seen} cells, but the header has {expected}; name all columns, or put cells that hold "
        return TableError(f"{told}{sep!r} in quotes", f"line {line}")
    if open_quote := _OPEN_QUOTE.search(error):
        told = 'a quote is not closed; add it, or write "" for a quote inside a text'
        return TableError(told, f"row {open_quote[1]}")
    return TableError(f"cannot read it as a table ({error.strip()}); is it one?")


def _find_separator(head: str, is_whole: bool, given: str | None, is_tsv: bool) -> str:
    """Find the separator by the header and the rows below it, with respect to quotes.

    `head` are the first lines, or all if `is_whole`; what a user has `given` must fit.
    """
    sizes = {sep: list(map(len, _rows(head, sep, is_whole))) for sep in ([given] if given else _USUAL)}
    if is_tsv and not given and sizes["\t"][0] > 1:
        return "\t"
    fits = {sep: n_cells for sep, n_cells in sizes.items() if n_cells[0] > 1}
    if not fits:
        _check_one_column(head, is_whole, given)
        return given or _ONE_COLUMN
    # The share of rows that have as many cells as the header, and then the number of these.
    best = max(fits, key=lambda sep: (fits[sep].count(fits[sep][0]) / len(fits[sep]), fits[sep][0]))
    n_header, *n_cells = fits[best]
    if set(n_cells) == {1}:
        raise TableError(
            f"the header has {n_header} columns if {best!r} parts them, but rows have one "
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
            shown = {"\t": "tab"}.get(sep, repr(sep))
            raise TableError(
                f"it has one column, but {sep!r} parts all its rows into {n_cells}; give --sep {shown}"
            )
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


def read_json_lines(source: Source, encoding: str | None) -> pd.DataFrame:
    """Read a file with an object in each line; names that a row leaves out are missing there."""
    n_bytes, _ = source.check_text(encoding)
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
    check_cells(n_bytes, len(rows), len(keys))
    names = zip(clean_names(keys), keys, strict=True)
    return frame_of_cells({name: [row.get(key) for row in rows] for name, key in names})


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
    pq = from_extra("pyarrow.parquet", "parquet", f"{source.name}: reading Parquet needs pyarrow")
    try:
        with source.open() as raw, pq.ParquetFile(raw) as file:
            check_cells(source.n_bytes, file.metadata.num_rows, file.metadata.num_columns, "columns")
            frame = file.read().to_pandas(ignore_metadata=True)
    except TableError:
        raise
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise TableError(f"cannot read it as Parquet ({_first_line(error)})") from error
    frame = frame.loc[:, [not _INDEX.fullmatch(str(name)) for name in frame.columns]]
    return clean_frame(frame)


def read_excel(source: Source) -> pd.DataFrame:
    """Read the first sheet of an Excel file; the first row that is not empty names the columns."""
    openpyxl = from_extra("openpyxl", "excel", f"{source.name}: reading Excel needs openpyxl")
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
                    row = list(cells)
                    while row and row[-1] in (None, ""):
                        row.pop()
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
    columns = zip(clean_names(rows[0]), zip_longest(*rows), strict=True)
    return frame_of_cells({name: list(cells[1:]) for name, cells in columns})


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
    if X.shape[1] > _ALWAYS_ALLOWED_FEATURES + _MAX_FEATURES_PER_VALUE * X.nnz:
        raise TableError(
            f"the index {X.shape[1] - 1} is far beyond what {X.nnz} values need; correct the row, "
            "or number the features from 1 without gaps"
        )
    first = 0 if (X.indices == 0).any() else 1
    X = with_short_indices(X[:, first:])
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


def _label_name(value: float, row: int) -> str:
    if not abs(value) < _TOO_LARGE_LABEL:  # NaN, too
        raise TableError(f"{value} is no name of a label; number labels from 0 or 1", f"row {row + 1}")
    return str(int(value)) if value.is_integer() else str(value)
