"""What the page shows of a row, as plain JSON: nothing in it is ever read as HTML."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from refpair._extras import pd
from refpair.labeling.rows import Id, Rows, id_key
from refpair.tables._images import OutsideError, find_file, find_picture

# What browsers show and cannot run; no SVG, which may have scripts.
IMAGE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".webp": "image/webp",
}
_MOST_FIELDS = 200
_LONGEST = 100_000  # characters of a text
_DIGITS = 6


class ShownRows:
    """Rows of a session as the page shows them."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._cells = pd.DataFrame(index=range(len(rows.ids))) if rows.cells is None else rows.cells
        types = self._cells.dtypes
        numbers = [
            str(name)
            for name, kind in types.items()
            if pd.api.types.is_numeric_dtype(kind) and rows.kinds.get(str(name)) == "image"
        ]
        self._picture = find_picture(numbers)
        self._pixels = {name for row in self._picture or () for name in row}
        if self._picture:
            values = self._cells[[name for row in self._picture for name in row]].to_numpy(dtype=np.float64)
            finite = values[np.isfinite(values)]
            self._darkest = float(np.abs(finite).max()) if finite.size else 1.0
        self._is_uniform = types.nunique() == 1
        self._many = self._cells.shape[1] > _MOST_FIELDS

    def show(self, row: Id) -> dict[str, Any]:
        """Return a row: its fields, each with name, kind and value, and the picture, if its cells are one."""
        cells = self._cells_of(self.rows.places[id_key(row)])
        fields = [self._field(row, name, cell) for name, cell in cells.items() if name not in self._pixels]
        if self._many:  # of very wide tables, such as counts of words, only what is there
            fields = [field for field in fields if field["value"] not in (None, 0, "")]
        picture = None
        if self._picture:
            pixels = [[_number(cells[name]) or 0.0 for name in line] for line in self._picture]
            picture = {"pixels": pixels, "darkest": self._darkest or 1.0}
        return {"id": row, "fields": _most_telling(fields), "picture": picture}

    def _cells_of(self, place: int) -> dict[str, Any]:
        if self._is_uniform:
            return {str(name): value for name, value in self._cells.iloc[place].items()}
        # One cell at a time: a row as a whole would have one type, and round large numbers.
        return {str(name): column.iloc[place] for name, column in self._cells.items()}

    def image(self, row: Id, column: str) -> Path | None:
        """Return the file of an image, or None if there is none that may be shown."""
        if self.rows.folder is None or self.rows.kinds.get(column) != "image":
            return None
        value = self._cells[column].iloc[self.rows.places[id_key(row)]]
        if not isinstance(value, str):
            return None
        try:
            path = find_file(value, self.rows.folder)
        except OutsideError:
            return None
        return path if path is not None and path.suffix.lower() in IMAGE_TYPES else None

    def _field(self, row: Id, name: str, value: Any) -> dict[str, Any]:
        kind: str = self.rows.kinds.get(name, "ignored")
        shown = _plain(value)
        if self.image(row, name):
            shown = f"/image?row={quote(id_key(row), safe='')}&column={quote(name, safe='')}"
        elif kind == "image":
            kind = "number"
        return {"name": name, "kind": kind, "value": shown}


def column_sentences(columns: pd.DataFrame, most: int = 8) -> list[str]:
    """Say what became of columns, those together of which the same is true."""
    told: dict[str, list[str]] = {}
    for name, kind, why, missing in columns[["kind", "why", "missing"]].itertuples(name=None):
        sentence = f"{kind} ({why})" if why else str(kind)
        if missing:
            sentence += f", {missing:,} empty"
        told.setdefault(sentence, []).append(str(name))
    return [
        f"{', '.join(names[:most])}{f' and {len(names) - most:,} more' if len(names) > most else ''}: {what}"
        for what, names in told.items()
    ]


def _most_telling(fields: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return not more fields than can be looked at: texts and images, then the first ones."""
    more = len(fields) - _MOST_FIELDS
    if more <= 0:
        return fields
    fields = sorted(fields, key=lambda field: field["kind"] not in ("text", "image"))[:_MOST_FIELDS]
    return [*fields, {"name": "…", "kind": "ignored", "value": f"{more:,} more columns are not shown"}]


def _plain(value: Any) -> str | float | int | None:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + " …"
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    number = _number(value)
    return str(value) if number is None else number


def _number(value: Any) -> float | int | None:
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) < 2**53 else None  # as text: JavaScript would round it
    if isinstance(value, float | np.floating):
        number = float(value)
        if not math.isfinite(number):
            return None
        return int(number) if number.is_integer() and abs(number) < 2**53 else float(f"{number:.{_DIGITS}g}")
    return None
