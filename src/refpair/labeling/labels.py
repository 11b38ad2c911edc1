"""Labels of a session: their names, the columns of a table that have some, and answers in any form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from refpair.tables.columns import find_kinds
from refpair.tables.labels import LabelFormat, read_labels, truth_values

__all__ = ["LabelForm", "TableAnswers", "find_labels", "read_answers", "read_names", "table_answers"]


class LabelForm(NamedTuple):
    """How a table has its labels, and predictions are to have them.

    Attributes
    ----------
    column : str or None
        One column of joined names, such as "joy|calm"; None if each label has a column of 0 and 1.
    separator : str
        Between these names.
    """

    column: str | None = None
    separator: str = "|"

    def columns(self, labels: Sequence[str]) -> list[str]:
        """Return the columns that labels have in tables."""
        return list(labels) if self.column is None else [self.column]

    def check_names(self, labels: Sequence[str]) -> None:
        """Refuse names that would be several ones in a column of joined names."""
        for name in labels:
            if self.column is not None and self.separator in name:
                raise ValueError(
                    f"the label {name!r} holds {self.separator!r}, which separates the names in the column "
                    f"{self.column!r}; choose another name"
                )

    def applied_to(self, how: LabelFormat) -> LabelFormat:
        """Return a format of predictions such that they have this form."""
        if self.column is None:
            return how
        names = np.asarray(how.classes, str)
        dtype = np.dtype(np.uint8)
        return LabelFormat("names", names, dtype, None, "series", "joined", self.separator, self.column)

    def write(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return 0 and 1 of each label in this form."""
        if self.column is None:
            return answers
        names = np.asarray(answers.columns, object)
        joined = [self.separator.join(names[row]) for row in answers.to_numpy(dtype=bool)]
        return pd.DataFrame({self.column: joined}, index=answers.index)


def read_names(labels: Any) -> list[str]:
    """Return the names of labels, all different."""
    if isinstance(labels, str):
        raise ValueError(f"labels must be a list of names: {[labels]!r}")
    names = [str(name).strip() for name in labels]
    if not names or not all(names):
        raise ValueError("labels must be names, at least one, and none of them empty")
    for name, times in Counter(names).items():
        if name != name.encode(errors="ignore").decode():
            raise ValueError(f"the label {name!r} has characters that no file can hold; rename it")
        if times > 1:
            raise ValueError(f"the label {name!r} is named {times} times; remove all but one")
    return names


def find_labels(
    X: Any,
    labels: Sequence[str] | None,
    known: Sequence[str],
    form: LabelForm,
    separator: str | None = None,
) -> tuple[list[str], LabelForm]:
    """Return all labels of a session, and how its table has them.

    Parameters
    ----------
    X : DataFrame or anything else
    labels : sequence of str or None
        Labels that are named, or one column of joined names.
    known : sequence of str
        Labels that the session has already.
    form : LabelForm
        What the session remembers.
    separator : str, optional
        Between joined names; what the session remembers, or found out, by default.

    Examples
    --------
    >>> songs = pd.DataFrame({"title": ["Hey", "Oh", "So"], "mood": ["joy|calm", "anger", None]})
    >>> find_labels(songs, ["mood"], [], LabelForm())
    (['anger', 'calm', 'joy'], LabelForm(column='mood', separator='|'))
    """
    named = None if labels is None else read_names(labels)
    columns = [str(name) for name in X.columns] if isinstance(X, pd.DataFrame) else []
    if named is None or named == [form.column]:
        named = None
        column = form.column
    else:
        column = named[0] if len(named) == 1 and named[0] not in known else None
    if column in columns:
        assert column is not None
        cells = _filled(X[[column]])
        if cells.empty and not known:
            raise ValueError(
                f"the column {column!r} is empty in all rows, so it tells no labels; name them, as in "
                "labels=['joy', 'anger'] or --labels joy,anger"
            )
        if cells.empty:
            return list(known), form
        if separator is None and column == form.column:
            separator = form.separator
        names = _names_in(cells, separator)
        if names is not None:
            found, separator = names
            return [*known, *(name for name in found if name not in known)], LabelForm(column, separator)
    if named is None:
        return list(known), form
    _check_columns(named, known, columns)
    return named, form


def _check_columns(named: Sequence[str], known: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse names that are probably those of columns, but mistyped."""
    new = [name for name in named if name not in columns and name not in known]
    if any(name in columns for name in named) and new:
        raise ValueError(
            f"the table has columns of some labels, but none of {', '.join(map(repr, new))}"
            f"{_hint(new, columns)}; correct the name, or add an empty column for a new label"
        )
    if len(named) == 1 and new and _hint(new, columns):
        raise ValueError(
            f"the table has no column {named[0]!r}{_hint(new, columns)}; correct the name of the label, or "
            "rename the column"
        )


def _hint(names: Sequence[str], columns: Sequence[str]) -> str:
    close = [match for name in names for match in get_close_matches(name, columns, 1, 0.75)]
    return f" (did you mean {close[0]!r}?)" if close else ""


class TableAnswers(NamedTuple):
    """The labels that a table has already.

    Attributes
    ----------
    labels : dict of int to list of int
        Of each row that has some, by its place: the places of its labels.
    n_labels : int
        How many there were to choose from.
    """

    labels: dict[int, list[int]]
    n_labels: int


def table_answers(X: pd.DataFrame, labels: Sequence[str], form: LabelForm) -> TableAnswers:
    """Return the labels of rows all of whose cells of labels are filled.

    Labels that were added later may have no columns; if others than the last ones have none, no row counts.
    """
    columns = [name for name in form.columns(labels) if name in X.columns]
    if not columns or (form.column is None and columns != list(labels[: len(columns)])):
        return TableAnswers({}, 0)
    some = _filled(X[columns].set_axis(range(len(X)), axis=0))
    if some.empty:
        return TableAnswers({}, 0)
    if form.column is not None:
        matrix, _ = read_labels(some, classes=labels, separator=form.separator)
    else:
        _check_cells(some)
        matrix, _ = read_labels(some)
    places = [np.flatnonzero(row).tolist() for row in matrix]
    return TableAnswers(dict(zip(some.index.tolist(), places, strict=True)), matrix.shape[1])


def _names_in(cells: pd.DataFrame, separator: str | None) -> tuple[list[str], str] | None:
    """Return the names that one column of joined names has, and what separates them; None if it has none."""
    _, how = read_labels(cells, f"the column {cells.columns[0]!r}", separator=separator)
    if how.kind != "names":
        return None
    ((column, found),) = find_kinds(cells).items()
    if found.kind == "text" and not any(how.separator in str(cell) for cell in cells[column]):
        raise ValueError(
            f"the column {column!r} is a text ({found.why}), no label; name the labels, as in "
            "labels=['joy', 'anger'] or --labels joy,anger"
        )
    return [str(name) for name in how.classes], how.separator


def _filled(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows none of whose cells is empty."""
    return cells[(cells.notna() & (cells != "")).all(axis=1)]


def _check_cells(some: pd.DataFrame) -> None:
    """Refuse cells that say neither yes nor no, by their rows in the table."""
    for name in some.columns:
        if truth_values(some[name]) is None:
            cells = some[name].tolist()
            odd = (place for place, cell in enumerate(cells) if truth_values([cell]) in (None, ["no", "yes"]))
            place = next(odd, 0)
            raise ValueError(
                f"label column {name!r}, row {some.index[place] + 1}: expected 0 and 1, or yes and no, got "
                f"{cells[place]!r}"
            )


def read_answers(Y: Any, n: int, labels: Sequence[str]) -> list[list[int]]:
    """Return the places of the labels that each of n rows has; Y may have any form of labels.

    Examples
    --------
    >>> read_answers([[0, 1], [0, 0]], 2, ["joy", "anger"])
    [[1], []]
    >>> read_answers([["anger", "joy"], []], 2, ["joy", "anger"])
    [[0, 1], []]
    """
    if n == 0 and (Y.shape[0] if hasattr(Y, "shape") else len(Y)) == 0:
        return []
    matrix = LabelFormat("names", np.array(labels, object), np.dtype(np.uint8)).read_more(Y)
    if matrix.shape[0] != n:
        raise ValueError(f"there are {n} ids, and {matrix.shape[0]} answers")
    return [np.flatnonzero(row).tolist() for row in (matrix.toarray() if sp.issparse(matrix) else matrix)]
