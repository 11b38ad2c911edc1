"""``refpair predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd
import typer

from refpair._files import check_output
from refpair.cli.data import label_names, predict_labels, read_for
from refpair.datasets._data import unknown_name
from refpair.persistence import load

__all__ = ["run"]


def run(*, model: Path, data: str, output: Path | None, id_column: str | None) -> None:
    """Write the predicted labels as a table."""
    if output is not None:
        check_output(output)
        if output.suffix.lower() not in (".csv", ".parquet"):
            raise ValueError(f"{output}: the name of the output ends in .csv or .parquet")
    fitted = load(model)
    table = read_for(fitted, data, require_labels=False)
    predicted = pd.DataFrame(predict_labels(fitted, table), columns=label_names(fitted))
    if id_column is not None:
        if id_column in predicted:
            raise ValueError(f"the id column {id_column!r} is a label of the model; choose another one")
        predicted.insert(0, id_column, _read_column(data, id_column))
    if output is None:
        predicted.to_csv(sys.stdout, index=False)
        return
    if output.suffix.lower() == ".parquet":
        _write_parquet(predicted, output)
    else:
        predicted.to_csv(output, index=False)
    typer.echo(f"{len(predicted):,} rows, {len(fitted.classes_)} labels; {output}", err=True)


def _read_column(data: str, name: str) -> npt.NDArray[Any]:
    """Read a column as it is written: an id such as 007 is no number."""
    path = Path(data)
    if path.name.lower().endswith((".parquet", ".pq")):
        frame = pd.read_parquet(path)
    elif path.name.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
        separator = "\t" if ".tsv" in path.name.lower() else ","
        frame = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, skipinitialspace=True)
    else:
        raise ValueError(f"{data}: only CSV and Parquet files have columns to copy; leave out --id")
    frame.columns = frame.columns.astype(str).str.strip()
    if name not in frame:
        raise ValueError(f"{data}: {unknown_name('column', name, frame.columns)}")
    return frame[name].to_numpy()  # without the index that Parquet may bring, which is not that of the rows


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    try:
        frame.to_parquet(path, engine="pyarrow", index=False)
    except ImportError as error:
        raise ImportError(f"{path}: writing Parquet needs pyarrow: pip install 'refpair[parquet]'") from error
