"""What the columns of a table are: numbers, dates, categories, texts, images, or nothing to learn from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np

from refpair._extras import pd

from ._cells import Floats, numbers_of, parsed_numbers, strings_of, truth_values
from ._encoders import date_format
from ._images import PIXEL_NAME, are_file_names, find_pictures, leads_to_pictures
from ._names import unknown_name

Kind = Literal["number", "boolean", "date", "category", "string", "text", "image", "ignored"]

UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""A letter of a script that has no blanks between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""

_MOST_CATEGORIES, _ROWS_A_CATEGORY = 100, 10
_FEW_CATEGORIES, _ROWS_IF_FEW = 10, 2
_ALMOST_ALL = 0.9
_HEX = re.compile(r"[0-9a-f-]{8,}", re.IGNORECASE)
_PART = re.compile(r"[^\W\d_]{3,}")
# So many strings share a part with others: of 50 package names 0.4, of random ids less than 0.05.
_RECUR = 0.25
_ID_NAME = re.compile(r"(^|[_ .-])(id|uuid|guid)$|^Unnamed: \d+$", re.IGNORECASE)


class ColumnKind(NamedTuple):
    """What a column is, and why."""

    kind: Kind
    why: str


def check_kinds(kinds: Mapping[str, Kind], columns: Sequence[str]) -> None:
    """Refuse kinds of columns that do not exist, and kinds that do not exist."""
    for name, kind in kinds.items():
        if name not in columns:
            raise ValueError(f"kinds: {unknown_name('column', str(name), columns)}")
        if kind not in get_args(Kind):
            raise ValueError(f"kinds: {unknown_name('kind', str(kind), get_args(Kind))}")


def find_kinds(
    frame: pd.DataFrame, kinds: Mapping[str, Kind] | None = None, folder: Path | None = None
) -> dict[str, ColumnKind]:
    """Find out what each column of a table is, but for those whose kinds are known.

    Categories are strings of few different values; other strings without blanks are "string" if their parts
    recur (names, addresses, codes), else ids. Images are paths of which some are in the folder, or pixels.
    """
    asked = dict(kinds or {})
    check_kinds(asked, list(frame.columns))
    if folder is not None and not folder.is_dir():
        raise ValueError(f"folder must be the directory of the images, and {str(folder)!r} is none")
    pixels = _pixels(frame, asked)
    return {n: pixels.get(n) or _find_kind(frame[n], asked.get(n), folder) for n in map(str, frame.columns)}


def _pixels(frame: pd.DataFrame, asked: Mapping[str, Kind]) -> dict[str, ColumnKind]:
    """Find the columns that are pixels of a picture; a column that is said to be something else is none."""
    # The names come first: to read all columns of a table as numbers only to find no picture would be slow.
    names = [str(name) for name in frame.columns if PIXEL_NAME.fullmatch(str(name))]
    free = [name for name in names if asked.get(name, "image") == "image"]
    numeric = [name for name in free if numbers_of(frame[name]) is not None]
    return {
        name: ColumnKind("image", f"a pixel of {len(picture)} x {len(picture[0])}")
        for picture in find_pictures(numeric)
        for row in picture
        for name in row
    }


def _find_kind(column: pd.Series, asked: Kind | None, folder: Path | None) -> ColumnKind:
    is_bool = pd.api.types.is_bool_dtype(column)
    is_number = pd.api.types.is_numeric_dtype(column) and not is_bool
    if asked is None and is_number and (values := numbers_of(column)) is not None:
        return _of_numbers(str(column.name), values)
    if asked == "ignored":
        return ColumnKind("ignored", "as asked for")
    if asked == "image" and numbers_of(column) is not None:
        raise ValueError(
            f"column {column.name!r} cannot be an image: it holds numbers, and is no pixel of a full "
            "rectangle of columns named like pixel_0_0; choose the kind 'number'"
        )
    if asked == "image" and folder is None:
        raise ValueError(
            f"column {column.name!r} cannot be an image without a folder; give that of the images"
        )
    if asked == "number":
        parsed_numbers(column)  # raises if there are others
    if asked == "date" and date_format(column, fewest=1) is None:
        raise ValueError(
            f"column {column.name!r} cannot be a date: not all of its cells are in one of the usual forms, "
            "such as 2024-03-01 or 1.3.2024; choose another kind"
        )
    if asked == "boolean" and truth_values(column.dropna()) is None:
        raise ValueError(
            f"column {column.name!r} cannot be a boolean: its cells are not all yes or no, true or false, 1 "
            "or 0; choose another kind"
        )
    if not column.notna().any():
        return ColumnKind("ignored", "no values")
    if asked is not None:
        return ColumnKind(asked, "as asked for")
    if is_bool or all(isinstance(cell, bool | np.bool_) for cell in column.dropna()):
        return ColumnKind("boolean", "true or false")
    values = numbers_of(column)
    return _of_strings(column, folder) if values is None else _of_numbers(str(column.name), values)


def _of_numbers(name: str, values: Floats) -> ColumnKind:
    filled = values[~np.isnan(values)]
    if not len(filled):
        return ColumnKind("ignored", "no values")
    if len(filled) == len(values) and (filled == filled[0]).all():
        return ColumnKind("ignored", "all values are the same")
    whole = len(filled) == len(values) and len(values) > 2 and (np.mod(filled, 1) == 0).all()
    count_up = whole and (filled[1:] == filled[:-1] + 1).all()
    if count_up or (whole and _ID_NAME.search(name) and len(np.unique(filled)) == len(filled)):
        return ColumnKind("ignored", "row numbers or ids")
    return ColumnKind("number", "numbers")


def _of_strings(column: pd.Series, folder: Path | None) -> ColumnKind:
    if date_format(column) is not None:
        return ColumnKind("date", "dates")
    filled = [text for text in strings_of(column) if text is not None]
    counts = Counter(filled)
    different = sorted(counts)
    if not filled:
        return ColumnKind("ignored", "no values")
    # Images come before constants: that a path leads out of the folder is an error even then.
    if folder is not None and leads_to_pictures(different, folder):
        return ColumnKind("image", "paths of images")
    if len(different) == 1 and len(filled) == len(column):
        return ColumnKind("ignored", "all values are the same")
    if truth_values(filled) is not None and len(different) <= 2:
        return ColumnKind("boolean", " or ".join(different))
    if _are_categories(column, len(different), len(filled)):
        return ColumnKind("category", f"{len(different):,} different values")
    if are_file_names(different):
        where = "and no folder is given" if folder is None else f"and none of them is in {folder}"
        return ColumnKind("ignored", f"names of images, {where}")
    n_with_words = sum(UNSPACED.search(text) is not None or len(text.split()) > 1 for text in filled)
    if n_with_words >= 0.5 * len(filled):
        return ColumnKind("text", "strings of several words")
    if len(different) >= _ALMOST_ALL * len(filled) and not _parts_recur(different):
        return ColumnKind("ignored", "ids: different in each row, and without parts that recur")
    return ColumnKind("string", f"{len(different):,} different values")


def _are_categories(column: pd.Series, n_different: int, n_filled: int) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return n_different <= _MOST_CATEGORIES
    if n_different <= _FEW_CATEGORIES:
        return _ROWS_IF_FEW * n_different <= n_filled
    return n_different <= _MOST_CATEGORIES and _ROWS_A_CATEGORY * n_different <= n_filled


def _parts_recur(different: list[str]) -> bool:
    """Whether many strings share a part of three letters or more with others, but not with most."""
    if all(map(_HEX.fullmatch, different)):
        return False
    parts = [set(_PART.findall(text.lower())) for text in different]
    times = Counter(part for own in parts for part in own)
    recur = {part for part, n in times.items() if 2 <= n <= len(different) / 2}
    return sum(not own.isdisjoint(recur) for own in parts) >= _RECUR * len(different)
