"""CSV and Parquet tables: from columns with names to arrays of numbers."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._size import TableSizeError, check_columns, check_growth

_TRUTH = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}
_UNNAMED = "Unnamed: "


def read_frame(path: Path) -> pd.DataFrame:
    """Read a CSV, TSV (either may be gzipped) or Parquet file; all column names are unique."""
    frame = _read_parquet(path) if _is_parquet(path) else _read_csv(path)
    for name, times in Counter(frame.columns).items():
        if times > 1:
            raise ValueError(f"{path}: {times} columns are named {name!r}; rename all but one")
    if not len(frame):
        raise ValueError(f"{path}: there are no rows below the header")
    return frame


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except ImportError as error:
        raise ImportError(f"{path}: reading Parquet needs pyarrow: pip install 'refpair[parquet]'") from error
    except ValueError as error:
        raise ValueError(f"{path}: cannot read it as Parquet ({error})") from error
    frame.columns = pd.Index([str(name) for name in frame.columns])
    return frame.reset_index(drop=True)


def _read_csv(path: Path) -> pd.DataFrame:
    separator = "\t" if ".tsv" in path.name.lower() else ","
    too_many = f"{path}: rows have more cells than the header; name all columns, quote commas"
    try:
        _check_size(path, separator.encode())
        # The header by itself and as text: pandas would rename the second of two equal names in silence,
        # and a copy of a label column would pass as a feature. And the first row: if it has more cells,
        # pandas would take the first column for the index, in silence if that counts from 0.
        header = pd.read_csv(
            path,
            sep=separator,
            header=None,
            nrows=2,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
        )
        names = [str(name).strip() or f"{_UNNAMED}{i}" for i, name in enumerate(header.iloc[0])]
        frame = pd.read_csv(
            path,
            sep=separator,
            header=0,
            names=[str(i) for i in range(len(names))],
            skipinitialspace=True,
            low_memory=False,
        )
    except pd.errors.ParserError as error:
        if re.search(r"Expected \d+ fields in line 2, saw", str(error)):
            raise ValueError(too_many) from error
        raise ValueError(f"{path}: cannot read it as a table ({str(error).strip()})") from error
    except TableSizeError:
        raise
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:  # errors of pandas are ValueErrors
        raise ValueError(f"{path}: cannot read it as a table ({str(error).strip()})") from error
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(too_many)
    frame.columns = pd.Index(names)
    return frame


def _check_size(path: Path, separator: bytes) -> None:
    """Refuse files that would take minutes and gigabytes for what a few bytes claim."""
    is_packed = path.suffix.lower() == ".gz"
    with gzip.open(path) if is_packed else path.open("rb") as file:
        if is_packed:
            while file.read(1 << 20):
                check_growth(path, file.tell())
            file.seek(0)
        check_columns(path, file.readline().count(separator) + 1)


def feature_array(frame: pd.DataFrame, source: Path) -> NDArray[np.float64]:
    """Turn number and bool columns into float64; empty cells become NaN."""
    X = np.empty(frame.shape)
    for i, name in enumerate(frame.columns):
        if name.startswith(_UNNAMED):
            raise ValueError(
                f"{source}: column {i + 1} has no name (often row numbers, which are no feature); name it "
                f"or drop it with --drop {name!r}"
            )
        X[:, i] = _floats(frame[name], name, source)
    return X


def _floats(column: pd.Series, name: str, source: Path) -> NDArray[np.float64]:
    if pd.api.types.is_numeric_dtype(column):  # bools count as numbers here
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    filled = column.dropna()
    if all(isinstance(value, bool) for value in filled):  # bools with empty cells
        return np.array([np.nan if pd.isna(value) else float(value) for value in column])
    numbers = pd.to_numeric(filled.astype(str), errors="coerce")
    is_text = numbers.isna()
    if not is_text.any() and not _is_parquet(source):
        # Text only to pandas, because one of the numbers is an integer of more than 64 bits.
        return numbers.reindex(column.index).to_numpy(dtype=np.float64)
    row = (filled[is_text] if is_text.any() else filled).index[0]
    raise ValueError(
        f"{source}: column {name!r} does not hold numbers (row {row + 1}: {column[row]!r}); encode it as "
        f"numbers or drop it with --drop {name!r}"
    )


def label_array(frame: pd.DataFrame, labels: Sequence[str], source: Path) -> NDArray[np.uint8]:
    """Turn columns of 0, 1, true and false into 0 and 1; nothing else may be in them."""
    Y = np.empty((len(frame), len(labels)), dtype=np.uint8)
    for i, name in enumerate(labels):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column):
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.array([_TRUTH.get(str(value).strip().lower(), np.nan) for value in column])
        bad = np.flatnonzero((values != 0) & (values != 1))
        if bad.size:
            value = column.iloc[[bad[0]]].tolist()[0]  # a plain Python value, as the user wrote it
            got = "an empty cell" if pd.isna(value) else repr(value)
            raise ValueError(
                f"{source}: label column {name!r}, row {bad[0] + 1}: expected 0, 1, true or false, got {got}"
            )
        Y[:, i] = values
    return Y
