"""Labels as names: each sample has a list of them, or one string of joined names such as ``"joy|calm"``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from refpair._extras import is_series, pd

from ._cells import from_polars, is_empty, is_unknown, listed, row_name, truth_values

Container = Literal["list", "tuple", "set", "frozenset", "joined"]
CONTAINERS: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}

_SEPARATORS = ("|", ";", ",", "\t")  # what may stand between names, the first one that occurs
_LONGEST_LIST = 10_000  # characters that are read as a list
_ROWS_TO_TELL = 20  # from so many rows on, labels that occur once are a mistake


def partial_labels(names: Any, looked_at: Any, classes: Sequence[Any] | None = None) -> pd.DataFrame:
    """Make a matrix of labels that are not all known, from names of labels.

    Parameters
    ----------
    names : sequence of lists of names or of joined names
        The labels that apply to each sample, as ``fit`` takes them.
    looked_at : sequence of lists of names or of joined names
        The labels that somebody looked at, for each sample; the others are unknown, and do not apply.
    classes : sequence, optional
        The names of all labels, in the order of the columns. By default those that occur, sorted.

    Returns
    -------
    Y : DataFrame
        A row for each sample, and a column for each label: 1 where it applies, 0 where somebody looked at it
        and it does not, NaN where it is unknown.

    Examples
    --------
    >>> from refpair.tables import partial_labels
    >>> partial_labels([["joy"], [], ["calm"]], looked_at=[["joy"], ["joy", "calm"], ["calm"]])
       calm  joy
    0   NaN  1.0
    1   0.0  0.0
    2   1.0  NaN
    """
    given = {"names": from_polars(names), "looked_at": from_polars(looked_at)}
    index = getattr(given["names"], "index", None)
    rows = {what: _lists_of_names(labels, what) for what, labels in given.items()}
    if len(rows["names"]) != len(rows["looked_at"]):
        raise ValueError(
            f"names has {len(rows['names'])} rows and looked_at has {len(rows['looked_at'])}: they must be "
            "those of the same samples"
        )
    if classes is None:
        classes = names_matrix(rows["names"] + rows["looked_at"], None, None, "names")[1].tolist()
    index = None if callable(index) else index
    applies, seen = (names_matrix(own, classes, index, what)[0] for what, own in rows.items())
    if (applies > seen).any():
        place, label = np.argwhere(applies > seen)[0]
        number = place if index is None else row_name(index, place)
        raise ValueError(
            f"names, row {number}: the label {classes[label]!r} applies, but is not in looked_at; add it "
            "there"
        )
    return pd.DataFrame(np.where(seen, applies, np.nan), index, list(classes))


def _lists_of_names(labels: Any, what: str) -> list[list[Any]]:
    """Return the names of labels of each sample."""
    rows = list(labels.iloc[:, 0] if getattr(labels, "ndim", 1) == 2 else labels)
    filled = [row for row in rows if not is_empty(row)]
    joined = {isinstance(row, str) for row in filled}
    if len(joined) > 1 or not all(isinstance(row, (str, *CONTAINERS.values(), np.ndarray)) for row in filled):
        raise ValueError(f"{what} must be lists of names of labels, or joined names such as 'joy|calm'")
    return split_rows(rows, None)[0] if filled else [[] for _ in rows]


def rows_of_names(
    Y: Any,
    classes: Sequence[Any] | None = None,
    separator: str | None = None,
    *,
    of_frame: bool = False,
    names_first: bool = False,
) -> list[Any] | None:
    """Return Y, or the only column of a table, as a list if its samples are (joined) names, else None.

    With `names_first`, lists such as [[0, 1], [1, 0]] are names if `classes` has all of them, not a matrix.
    """
    if not isinstance(Y, list | tuple | np.ndarray) and not is_series(Y):
        return None
    if is_series(Y) and pd.api.types.is_numeric_dtype(Y):
        return None
    rows = list(Y)
    filled = [row for row in rows if not is_empty(row)]
    if not filled:
        return None
    if all(isinstance(row, str) for row in filled):
        if separator is None and (lists := _written_lists(rows)) is not None:
            return lists
        known = _known(filled)
        is_truth = truth_values(known) is not None
        if is_truth and of_frame and not names_first:
            return None
        separators = _SEPARATORS if separator is None else (separator,)
        if classes is not None or any(one in row for row in filled for one in separators):
            return rows
        if is_truth and (of_frame or len(set(known)) <= 2):
            return None
        return rows if of_frame or len(filled) < len(rows) or len(set(filled)) > 2 else None
    if not all(isinstance(row, (*CONTAINERS.values(), np.ndarray)) for row in filled):
        return None
    are_classes = names_first and classes is not None and {*classes} >= _different(filled)
    return rows if are_classes or len(filled) < len(rows) or not _are_table(filled) else None


def _written_lists(rows: list[Any]) -> list[Any] | None:
    """Return the lists that texts such as ``"['joy', 'calm']"`` are in files; None if one is no such list."""
    lists: list[Any] = []
    for row in rows:
        text = "" if is_empty(row) else row.strip()
        if not text:
            lists.append(None)
            continue
        if text[0] != "[" or text[-1] != "]" or len(text) > _LONGEST_LIST:
            return None
        try:
            lists.append(ast.literal_eval(text))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        if not all(isinstance(name, str) for name in lists[-1]):
            return None
    return lists if any(lists) else None


def _are_table(rows: list[Any]) -> bool:
    """Whether lists of the same length are a matrix: columns of yes and no, or numbers that are no names."""
    if (
        any(isinstance(row, set | frozenset) for row in rows)
        or len({*map(len, rows)}) > 1
        or not len(rows[0])
    ):
        return False
    if all(truth_values(_known(column)) is not None for column in zip(*rows, strict=True)):
        return True
    # A matrix with a mistake in it. Numbers of labels are whole, and each is in a sample once.
    cells = [cell for row in rows for cell in row]
    if not all(is_empty(cell) or isinstance(cell, int | float | np.number | np.bool_) for cell in cells):
        return False
    return any(is_empty(cell) or cell % 1 for cell in cells) or any(len(set(row)) < len(row) for row in rows)


def _known(cells: Sequence[Any]) -> list[Any]:
    return [cell for cell in cells if not is_unknown(cell)]


def _different(rows: list[Any]) -> set[Any]:
    """Return the names of all samples; None is among them if something else is, such as lists in lists."""
    try:
        return {name for row in rows for name in row}
    except TypeError:
        return {None}


def container_of(rows: Sequence[Any]) -> Container:
    """Return what the names of the first sample that has some are in."""
    first = next(row for row in rows if not is_empty(row))
    kind: Any = type(first).__name__
    return "joined" if isinstance(first, str) else kind if kind in CONTAINERS else "list"


def split_rows(rows: Sequence[Any], separator: str | None) -> tuple[list[list[Any]], str]:
    """Return the names of each sample, and what stands between them if they are joined."""
    filled = [row for row in rows if not is_empty(row)]
    if not isinstance(filled[0], str):
        names = [[] if is_empty(row) else row.tolist() if hasattr(row, "tolist") else row for row in rows]
        return [[one for one in row if not is_empty(one)] for row in names], separator or "|"
    if separator is None:
        separator = next((one for one in _SEPARATORS if any(one in row for row in filled)), "|")
    parts = [[] if is_empty(row) else row.split(separator) for row in rows]
    return [[part.strip() for part in row if part.strip()] for row in parts], separator


def names_matrix(
    names: list[list[Any]], classes: Sequence[Any] | None, index: Any, what: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    """Return the 0/1 matrix of names, and the labels, sorted as MultiLabelBinarizer sorts them.

    Names beyond `classes` are refused, as those of `what`, in a row called as in `index` if that is an Index.
    """
    different = _different(names)
    if None in different:
        raise ValueError(
            f"{what} must have a row for each sample and a column for each label, or names of labels"
        )
    if not different and classes is None:
        raise ValueError(f"{what} names no label in any row; there is nothing to learn")
    try:
        known = sorted(different) if classes is None else list(classes)
    except TypeError:
        raise ValueError(f"{what} has names of labels of several types; make them all strings") from None
    place = {one: i for i, one in enumerate(known)}
    matrix = np.zeros((len(names), len(known)), np.uint8)
    for i, row in enumerate(names):
        for one in row:
            if one not in place:
                number = i if index is None or callable(index) else row_name(index, i)
                raise ValueError(
                    f"{what}, row {number}: there is no label {one!r}; the labels are "
                    + listed(list(map(str, known)), most=8)
                )
            matrix[i, place[one]] = 1
    if classes is None and len(names) >= _ROWS_TO_TELL and matrix.sum(axis=0).max() == 1:
        raise ValueError(
            f"{what}: no label is that of two rows, so there is nothing to learn; are these ids or texts? "
            "Labels are names such as 'joy' in lists, or in strings such as 'joy|calm'"
        )
    labels = np.array([*known, None], object)[:-1]
    return matrix, labels.astype(str) if all(isinstance(one, str) for one in known) else labels
