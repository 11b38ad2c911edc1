"""What the columns of a table are: numbers, categories, text, pictures, or nothing to learn from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from refpair.datasets._data import unknown_name

from ._cells import numbers_of, parsed_numbers, strings_of
from .images import are_file_names, find_pictures, is_pixel_name, leads_to_pictures

__all__ = ["UNSPACED", "Judgement", "Kind", "checked_frame", "guess_kinds", "judge"]

Kind = Literal["number", "category", "text", "image", "ignored"]

UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""A letter of a script that has no blanks between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""

_MOST_CATEGORIES = 50
_FEW_CATEGORIES = 10
_ALMOST_ALL = 0.9


class Judgement(NamedTuple):
    """What a column is, and if it is ignored, why."""

    kind: Kind
    why: str = ""


def guess_kinds(frame: pd.DataFrame, folder: Path | None = None) -> dict[str, Kind]:
    """Guess what each column of a table is.

    Parameters
    ----------
    frame : DataFrame
        The table, without labels.
    folder : Path, optional
        Where the paths of pictures start. Without it no column holds paths of pictures.

    Returns
    -------
    dict of str to {"number", "category", "text", "image", "ignored"}
        For each column, by its name:

        - "number": numbers, bools and times, unless all are missing or the same.
        - "category": text of few different values: at most 50, each for ten rows on average, or at most
          10, each for two rows. Columns of pandas' categorical type have at most 50 values.
        - "image": paths of pictures of which some are in the folder, or a column of a picture whose pixels
          are columns, see :func:`find_picture`.
        - "ignored": no value or only one; text without blanks that is different in nine of ten rows, as
          ids, addresses and hashes are; names of pictures that are not there.
        - "text": all other text.

    Raises
    ------
    ValueError
        If there are no rows, or two columns of the same name.

    Examples
    --------
    >>> import pandas as pd
    >>> from refpair.features import guess_kinds
    >>> guess_kinds(pd.DataFrame({"id": ["x1", "x2"], "said": ["a lot", "very little"], "age": [7, 8]}))
    {'id': 'ignored', 'said': 'text', 'age': 'number'}
    """
    return {name: judgement.kind for name, judgement in judge(checked_frame(frame), {}, folder).items()}


def checked_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with names that are text, each one unique, and with rows from 0 on."""
    names = [str(name) for name in frame.columns]
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"{times} columns are named {name!r}; rename all but one")
    if not len(frame):
        raise ValueError("the table has no rows; there is nothing to label")
    return frame.set_axis(pd.Index(names, dtype=object), axis=1).reset_index(drop=True)


def judge(frame: pd.DataFrame, asked: Mapping[str, Kind], folder: Path | None) -> dict[str, Judgement]:
    """Say for each column what it is: what was asked for, else what it looks like."""
    _check_asked(asked, list(frame.columns))
    if folder is not None and not folder.is_dir():
        raise ValueError(f"folder must be the directory of the pictures, and {str(folder)!r} is none")
    pixels = _pixels(frame, asked)
    return {name: pixels.get(name) or _judge_column(frame[name], asked, folder) for name in frame.columns}


def _check_asked(asked: Mapping[str, Kind], names: list[str]) -> None:
    for name, kind in asked.items():
        if name not in names:
            raise ValueError(f"kinds: {unknown_name('column', name, names)}")
        if kind not in get_args(Kind):
            raise ValueError(f"kinds: {unknown_name('kind', str(kind), get_args(Kind))}")


def _pixels(frame: pd.DataFrame, asked: Mapping[str, Kind]) -> dict[str, Judgement]:
    """Judge the columns that are pixels of a picture; a column that is asked to be something else is none."""
    # The names come first: to read all columns of a table as numbers only to find no picture would be slow.
    free = [name for name in frame.columns if asked.get(name, "image") == "image" and is_pixel_name(name)]
    numeric = [name for name in free if numbers_of(frame[name]) is not None]
    judged = {}
    for picture in find_pictures(numeric):
        names = [name for row in picture for name in row]
        differ = any(len(np.unique(parsed_numbers(frame[name]))) > 1 for name in names)
        judgement = Judgement("image") if differ else Judgement("ignored", "all pictures are the same")
        judged.update(dict.fromkeys(names, judgement))
    return judged


def _judge_column(column: pd.Series, asked: Mapping[str, Kind], folder: Path | None) -> Judgement:
    kind = asked.get(str(column.name))
    if kind == "ignored":
        return Judgement("ignored", "as asked for")
    holds_numbers = numbers_of(column) is not None
    if kind == "number" or (kind is None and holds_numbers):
        return _judge_numbers(column)
    if kind == "image":
        _check_image(column, holds_numbers, folder)
    return _judge_strings(column, kind, folder)


def _check_image(column: pd.Series, holds_numbers: bool, folder: Path | None) -> None:
    if holds_numbers:
        raise ValueError(
            f"column {column.name!r} cannot be an image: it holds numbers, and is no pixel of a full "
            "rectangle of columns named like pixel_0_0; choose the kind 'number'"
        )
    if folder is None:
        raise ValueError(
            f"column {column.name!r} cannot be an image without a folder; give that of the pictures"
        )


def _judge_numbers(column: pd.Series) -> Judgement:
    values = parsed_numbers(column)
    if np.isnan(values).all():
        return Judgement("ignored", "no values")
    if len(np.unique(values)) == 1:  # NaN would be a second value: that a cell is empty may tell something
        return Judgement("ignored", "all values are the same")
    return Judgement("number")


def _judge_strings(column: pd.Series, kind: Kind | None, folder: Path | None) -> Judgement:
    filled = [text for text in strings_of(column) if text is not None]
    different = sorted(set(filled))
    if not filled:
        return Judgement("ignored", "no values")
    # Pictures come before constants: that a path leads out of the folder is an error even then.
    if kind == "image" or (kind is None and folder is not None and leads_to_pictures(different, folder)):
        return Judgement("image")
    if len(different) == 1 and len(filled) == len(column):
        return Judgement("ignored", "all values are the same")
    return Judgement(kind) if kind is not None else _guess_strings(column, filled, different, folder)


def _guess_strings(
    column: pd.Series, filled: list[str], different: list[str], folder: Path | None
) -> Judgement:
    if _are_categories(column, len(different), len(filled)):
        return Judgement("category")
    if are_file_names(different):
        where = "and no folder is given" if folder is None else f"and none of them is in {folder}"
        return Judgement("ignored", f"names of pictures, {where}")
    if len(different) >= _ALMOST_ALL * len(filled) and not any(map(_has_words, different)):
        return Judgement("ignored", "a different value without blanks in each row, as ids have")
    return Judgement("text")


def _are_categories(column: pd.Series, n_different: int, n_filled: int) -> bool:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return n_different <= _MOST_CATEGORIES
    if n_different <= _FEW_CATEGORIES:
        return 2 * n_different <= n_filled
    return n_different <= _MOST_CATEGORIES and 10 * n_different <= n_filled


def _has_words(text: str) -> bool:
    return UNSPACED.search(text) is not None or len(text.split()) > 1
