"""The names of labels and how they were given."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from refpair.persistence._codec import Reader, Schema, Writer, require
from refpair.persistence._fields import Maybe, Text, plain
from refpair.tables.labels import Kind, LabelFormat

__all__ = ["LABEL_FORMAT", "Names", "n_labels_of"]

_NUMBERS = {np.dtype(code).str for code in "?bBhHiIlLqQefd"}


class Names:
    """Strings or numbers, in an array of their own type."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        kind = value.dtype.str if value.dtype.str in _NUMBERS else value.dtype.kind
        return {"dtype": kind, "values": [plain(name, "the name of a label") for name in value]}

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, dict) and stored.keys() == {"dtype", "values"}, f"{place} has no names")
        dtype, values = stored["dtype"], stored["values"]
        is_list = isinstance(values, list) and all(
            name is None or isinstance(name, str | int | float) for name in values
        )
        require(is_list and dtype in {*_NUMBERS, "U", "O"}, f"{place}: the names of the labels are broken")
        return np.array(values, dtype=dtype)


def n_labels_of(labels: LabelFormat) -> int:
    """Return how many labels a model has: one column for one or two classes."""
    return 1 if labels.kind == "classes" else len(labels.classes)


def _take(labels: LabelFormat, names: list[str]) -> dict[str, Any]:
    own_dtype = None if labels.kind == "classes" else labels.dtype.str
    return {"kind": labels.kind, "classes": labels.classes, "dtype": own_dtype}


def _make(cls: type, values: dict[str, Any]) -> LabelFormat:
    kind, classes, dtype = values["kind"], values["classes"], values["dtype"]
    if kind == "classes":
        require(len(classes) in (1, 2) and dtype is None, "labels lack names")
        return LabelFormat(kind, classes, classes.dtype)
    require(len(classes) > 0, "labels lack names")
    require(dtype in _NUMBERS, f"labels of the type {dtype!r} are unknown")
    distinct = len({name for name in classes if isinstance(name, str)})
    require(kind != "polars" or distinct == len(classes), "polars has no columns of such names")
    return LabelFormat(kind, classes, np.dtype(dtype))


LABEL_FORMAT = Schema(
    LabelFormat,
    {"kind": Text(get_args(Kind)), "classes": Names(), "dtype": Maybe(Text())},
    take=_take,
    make=_make,
)
