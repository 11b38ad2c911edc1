"""Rows as tasks of Label Studio, and the file that holds them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from refpair._files import written_whole

from ._label_studio_export import ID_FIELD

TABLE_FIELD = "refpair_row"  # all cells of a row once more, for the table that shows them
CONTROL, OBJECT = "labels", "row"  # the names that connect the configuration and the predictions


def make_task(
    row: str | int,
    cells: dict[str, Any],
    probabilities: dict[str, float],
    chosen: list[str],
    score: float,
    model_version: str,
    table: bool,
) -> dict[str, Any]:
    """Return a task as Label Studio imports it; an empty prediction has no region, as on its own pages."""
    region = {"from_name": CONTROL, "to_name": OBJECT, "type": "choices", "value": {"choices": chosen}}
    return {
        "data": {**cells, ID_FIELD: row, **({TABLE_FIELD: cells} if table else {})},
        "meta": {"refpair_probabilities": probabilities},
        "predictions": [
            {"model_version": model_version, "score": score, "result": [region] if chosen else []}
        ],
    }


def plain_cells(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns as lists of what JSON knows; what it does not know is written out as text."""
    cells: dict[str, list[Any]] = {}
    for j, column in enumerate(frame.columns):
        name = str(column)
        if name in cells or name in (ID_FIELD, TABLE_FIELD):
            why = "there are two of it" if name in cells else "refpair writes a field of that name"
            raise ValueError(f"frame: column {name!r}: {why}; rename or drop it")
        cells[name] = [_cell(value) for value in frame.iloc[:, j].tolist()]
    return cells


def _cell(value: Any) -> str | int | float | None:
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = pd.Series([value])[0]  # their own item() makes numbers of nanoseconds
    elif isinstance(value, np.generic):
        value = value.item()
    if is_empty(value):
        return None
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)


def is_empty(value: Any) -> bool:
    """Whether a cell is empty in any of the ways in which pandas says so."""
    return (
        value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    )


def write_list(path: Path, items: Iterable[dict[str, Any]]) -> None:
    """Write a JSON list, one item a line, the whole of it or nothing."""
    with written_whole(path) as file:
        file.write(b"[")
        for number, item in enumerate(items):
            file.write(((",\n" if number else "\n") + json.dumps(item, allow_nan=False)).encode())
        file.write(b"\n]\n")
