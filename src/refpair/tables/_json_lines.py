"""JSON lines: a row is an object, a column a name in it."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from refpair.tables._names import check_unique, clean_names
from refpair.tables._size import check_written_cells
from refpair.tables._source import Source
from refpair.tables._values import frame_of_cells

__all__ = ["read_json_lines"]


def read_json_lines(source: Source, encoding: str | None) -> pd.DataFrame:
    """Read a file with an object in each line; names that a row leaves out are missing there."""
    size = source.check_text(encoding)
    rows: list[dict[str, Any]] = []
    keys: dict[str, None] = {}
    with source.open_text(encoding) as text:
        for number, line in enumerate(text, start=1):
            if line.strip():
                row = _parse(line, f"{source.name}, line {number}")
                rows.append(row)
                keys.update(dict.fromkeys(row))
    if not rows:
        raise ValueError(f'{source.name}: there are no rows; each line is an object such as {{"tempo": 120}}')
    if not keys:
        raise ValueError(
            f'{source.name}: its rows are empty; each line is an object such as {{"tempo": 120}}'
        )
    check_written_cells(source.name, size.n_bytes, len(rows), len(keys))
    names = clean_names(keys)
    check_unique(source.name, names)
    columns = {name: [row.get(key) for row in rows] for name, key in zip(names, keys, strict=True)}
    return frame_of_cells(columns, source.name)


def _parse(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line, object_pairs_hook=_unique_names)
        if "\\ud" in line.lower():
            json.dumps(row, ensure_ascii=False).encode()  # refuses halves of a pair of surrogates
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: cannot read it as JSON ({error}); each line is one object") from error
    if not isinstance(row, dict):
        raise ValueError(f'{where}: it is no object; write each row as one, such as {{"tempo": 120}}')
    return row


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a name comes twice in an object")
    return row
