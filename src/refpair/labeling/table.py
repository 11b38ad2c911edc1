"""How a session reads its table, anew or as its file remembers it: columns of labels, ids, features."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair._extras import is_dataframe, pd
from refpair._sparse import check_sparse
from refpair.labeling.rows import IdRule, Rows, make_ids, read_features
from refpair.labeling.store import AnswerStore, labels_of
from refpair.tables._cells import truth_values
from refpair.tables._names import check_unique, unknown_name
from refpair.tables.columns import find_kinds
from refpair.tables.labels import UNKNOWN, LabelFormat, read_labels

_TABLE = "table"  # what the settings are noted under, and who said what the table has already


class Answer(NamedTuple):
    """What is said of a row: the places of the labels that it has, and of those that it is about."""

    yes: list[int]
    asked: list[int]


class LabelColumns(NamedTuple):
    """How a table has its labels: in one column of joined names ("joy|calm"), or 0 and 1 in one for each."""

    joined: str | None = None
    separator: str = "|"

    def of(self, labels: Sequence[str]) -> list[str]:
        """Return the columns that labels have in tables."""
        return list(labels) if self.joined is None else [self.joined]

    def check_names(self, labels: Sequence[str]) -> None:
        """Refuse names that would be several ones in a column of joined names."""
        for name in labels:
            if self.joined is not None and self.separator in name:
                raise ValueError(
                    f"the label {name!r} holds {self.separator!r}, which separates the names in the column "
                    f"{self.joined!r}; choose another name"
                )

    def applied_to(self, how: LabelFormat) -> LabelFormat:
        """Return a format of predictions such that they have this form."""
        return how if self.joined is None else self._joined_names(how.classes, "series")

    def write(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return 0 and 1 of each label in this form; if some are unknown, in one column for each label."""
        if self.joined is None or answers.isna().any(axis=None):
            return answers
        how = self._joined_names(answers.columns, "frame")
        return pd.DataFrame(how.write(answers.to_numpy(dtype=np.uint8), answers))

    def _joined_names(self, labels: Any, within: Literal["series", "frame"]) -> LabelFormat:
        names, dtype = np.asarray(labels, str), np.dtype(np.uint8)
        return LabelFormat("names", names, dtype, None, within, "joined", self.separator, self.joined)


@dataclass(frozen=True)
class Settings:
    """How a session reads its table, as its file remembers it; paths are relative to the session's folder."""

    ids: IdRule | None = None
    labels: LabelColumns = field(default_factory=LabelColumns)
    drop: tuple[str, ...] = ()
    kinds: dict[str, Any] = field(default_factory=dict)
    folder: str | None = None
    features: str | None = None

    @classmethod
    def read(cls, store: AnswerStore | None) -> Settings:
        """Return what is noted in a file, or the defaults."""
        noted = None if store is None else store.about(_TABLE)
        if noted is None:
            return cls()
        ids = None if noted["ids"] is None else IdRule(*noted["ids"])
        labels, drop = LabelColumns(*noted["labels"]), tuple(noted["drop"])
        return cls(**{**noted, "ids": ids, "labels": labels, "drop": drop})

    def note(self, store: AnswerStore) -> None:
        """Note it in the file of a session."""
        store.note(_TABLE, asdict(self) | {"ids": self.ids, "labels": self.labels})

    def changed(
        self,
        path: Path,
        *,
        drop: Sequence[str],
        kinds: Mapping[str, Any] | None,
        folder: str | os.PathLike[str] | None,
        features: Any,
    ) -> Settings:
        """Return it with what is given anew; what is not given stays as it is."""
        is_file = isinstance(features, str | os.PathLike)
        return replace(
            self,
            drop=tuple(drop) or self.drop,
            kinds=self.kinds if kinds is None else dict(kinds),
            folder=self.folder if folder is None else os.path.relpath(folder, path.parent),
            features=os.path.relpath(features, path.parent) if is_file else self.features,
        )


def with_text_names(X: Any) -> Any:
    """Return a table whose columns have names that are texts, all different; anything else as it is."""
    if is_dataframe(X):
        names = [str(name) for name in X.columns]
        check_unique(names, "X")
        X = X.set_axis(pd.Index(names, dtype=object), axis=1)
    return X


def read_rows(
    X: Any,
    labels: Sequence[str],
    settings: Settings,
    path: Path,
    ids: Iterable[Hashable] | None,
    id_column: str | None,
    features: Any,
) -> tuple[Rows, Any, dict[str, Any] | None, Settings]:
    """Return the rows, what models see of them, kinds of its columns, and the settings with the rule of ids.

    Kinds are those that are not to be guessed, None if features are taken as they are.
    """
    if X is None:
        if ids is not None or id_column is not None or features is not None:
            raise ValueError("ids are those of the rows of X: give X, too")
        return Rows(None), None, None, settings
    if not is_dataframe(X):
        check_sparse(X, "X")
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    without = settings.labels.of(labels)
    found, rule = make_ids(X, ids=ids, id_column=id_column, without=without, remembered=settings.ids)
    settings = replace(settings, ids=rule)
    if features is None and settings.features is not None:
        features = path.parent / settings.features
    rows, kinds = Rows(found), None
    if is_dataframe(X):
        folder = None if settings.folder is None else path.parent / settings.folder
        named = {"given": "id", "index": str(X.index.name or "id")}.get(rule.source)
        columns = [name for name in X.columns if name not in without]
        for name in (*settings.drop, *settings.kinds):
            if name not in columns:
                raise ValueError(unknown_name("column", name, columns))
        rows = Rows(found, X, without, folder, named, settings.kinds)
        assert rows.cells is not None
        X, kinds = rows.cells, dict(settings.kinds)
        kinds.update(dict.fromkeys(settings.drop, "ignored"))
        if rule.column is not None:
            kinds[rule.column] = "ignored"
    if features is not None:
        return rows, read_features(features, len(found)), {}, settings
    return rows, X, kinds, settings


def session_labels(
    path: Path, X: Any, labels: Sequence[str] | None, separator: str | None = None
) -> list[str]:
    """Return the labels that a session would have, in their order; those that are named may be in any."""
    known: list[str] = []
    columns = LabelColumns()
    if path.exists():
        with closing(AnswerStore(path)) as store:
            known, columns = store.names, Settings.read(store).labels
    names, _ = _find_labels(X, labels, known, columns, separator)
    return [*(name for name in known if name in names), *(name for name in names if name not in known)]


def session_names(
    path: Path,
    store: AnswerStore | None,
    X: Any,
    labels: Sequence[str] | None,
    separator: str | None,
    columns: LabelColumns,
) -> tuple[list[str], LabelColumns]:
    """Return all labels, those first that the session has, and how the table has them."""
    known = [] if store is None else store.names
    names, columns = _find_labels(X, labels, known, columns, separator)
    if not names:
        raise ValueError(f"{path} has no labels yet: give labels=['joy', 'anger', …]")
    missing = [name for name in known if name not in names]
    if missing:
        raise ValueError(
            f"{path} has labels that are not named: {', '.join(missing)}. Name them too (labels can be "
            "added, not taken away), or choose another file"
        )
    if names[: len(known)] != known:
        raise ValueError(
            f"{path} has the labels in another order, by which columns of Y and prices go: "
            f"{', '.join(known)}. Name them in that order, and new ones behind them"
        )
    check_column_names(names)
    columns.check_names(names)
    return names, columns


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


def check_column_names(labels: Sequence[str]) -> None:
    """Refuse labels whose columns in the table of all rows would have the names of others."""
    own = {label: [label, f"{label}_predicted", f"{label}_probability"] for label in labels}
    times = Counter(["id", "skipped", "who", "at", "expected_cost", *chain(*own.values())])
    for label, columns in reversed(own.items()):  # names that are there already stay
        for column in columns:
            if times[column] > 1:
                raise ValueError(
                    f"the label {label!r} needs a column {column!r} in tables, where another one has that "
                    "name; choose another name"
                )


def _find_labels(
    X: Any,
    labels: Sequence[str] | None,
    known: Sequence[str],
    columns: LabelColumns,
    separator: str | None = None,
) -> tuple[list[str], LabelColumns]:
    """Return all labels, and how the table has them; `known` and `columns` are what the session has."""
    named = None if labels is None else read_names(labels)
    there = [str(name) for name in X.columns] if is_dataframe(X) else []
    if named is None or named == [columns.joined]:
        named, column = None, columns.joined
    else:
        column = named[0] if len(named) == 1 and named[0] not in known else None
    if column is not None and column in there:
        cells = _filled(X[[column]])
        if cells.empty and not known:
            raise ValueError(
                f"the column {column!r} is empty in all rows, so it tells no labels; name them, as in "
                "labels=['joy', 'anger'] or --labels joy,anger"
            )
        if cells.empty:
            return list(known), columns
        if separator is None and column == columns.joined:
            separator = columns.separator
        names = _names_in(cells, separator)
        if names is not None:
            found, separator = names
            return list(dict.fromkeys([*known, *found])), LabelColumns(column, separator)
    if named is None:
        return list(known), columns
    _check_columns(named, known, there)
    return named, columns


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


def table_answers(X: Any, labels: Sequence[str], columns: LabelColumns) -> dict[int, Answer]:
    """Return what a table tells of its rows, by the row's place: cell by cell, and nothing of empty ones.

    A cell of joined names tells about all labels that occur in its column.
    """
    there = [name for name in columns.of(labels) if is_dataframe(X) and name in X.columns]
    cells = X[there].set_axis(range(len(X)), axis=0) if there else pd.DataFrame()
    if columns.joined is not None:
        cells = _filled(cells)
        if cells.empty:
            return {}
        matrix, _ = read_labels(cells, classes=labels, separator=columns.separator)
        asked = np.tile(matrix.any(axis=0), (len(matrix), 1))
        places = list(range(len(labels)))
    else:
        cells = cells[[name for name in there if len(_filled(cells[[name]]))]]
        if cells.empty:
            return {}
        _check_cells(cells)
        matrix, _ = read_labels(cells, may_miss=True)
        asked = matrix != UNKNOWN
        places = [labels.index(name) for name in cells.columns]
    return {
        row: _answer(places, yes, about)
        for row, yes, about in zip(cells.index.tolist(), matrix == 1, asked, strict=True)
        if about.any()
    }


def _answer(places: Sequence[int], yes: npt.NDArray[np.bool_], asked: npt.NDArray[np.bool_]) -> Answer:
    return Answer(*([places[one] for one in np.flatnonzero(some).tolist()] for some in (yes, asked)))


def _filled(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows none of whose cells is empty."""
    return cells[(cells.notna() & (cells != "")).all(axis=1)]


def _check_cells(some: pd.DataFrame) -> None:
    """Refuse cells that say neither yes nor no, by their rows in the table."""
    for name in some.columns:
        filled = _filled(some[[name]])[name]
        if truth_values(filled) is None:
            cells = filled.tolist()
            odd = (place for place, cell in enumerate(cells) if truth_values([cell]) in (None, ["no", "yes"]))
            place = next(odd, 0)
            raise ValueError(
                f"label column {name!r}, row {filled.index[place] + 1}: expected 0 and 1, or yes and no, got "
                f"{cells[place]!r}"
            )


def read_answers(Y: Any, n: int, labels: Sequence[str]) -> list[Answer]:
    """Return what is said of each of n rows; Y may have any form of labels, or be a mapping for each row."""
    if n == 0 and (Y.shape[0] if hasattr(Y, "shape") else len(Y)) == 0:
        return []
    if isinstance(Y, Sequence) and any(isinstance(one, Mapping) for one in Y):
        Y = np.array([_by_place(one, labels) for one in Y], object)
    matrix = LabelFormat("names", np.array(labels, object), np.dtype(np.uint8)).read_more(Y, may_miss=True)
    if matrix.shape[0] != n:
        raise ValueError(f"there are {n} ids, and {matrix.shape[0]} answers")
    matrix = matrix.toarray() if sp.issparse(matrix) else matrix
    return [_answer(range(len(labels)), row == 1, row != UNKNOWN) for row in matrix]


def _by_place(answer: Any, labels: Sequence[str]) -> list[Any]:
    if not isinstance(answer, Mapping):
        raise ValueError(
            f"Y has mappings for some rows and {answer!r:.100} for another: give one for each row"
        )
    row = [None] * len(labels)
    for name, is_there in answer.items():
        row[label_place(name, labels)] = is_there
    return row


def label_place(name: str, labels: Sequence[str]) -> int:
    """Return which label a name is of."""
    if not isinstance(name, str):
        raise ValueError(f"a label is called by its name, such as {labels[0]!r}, not {name!r}")
    if name not in labels:
        raise ValueError(unknown_name("label", name, labels))
    return labels.index(name)


def refuse_strangers(store: AnswerStore | None, rows: Rows, settings: Settings) -> None:
    """Refuse a table if there are answers, and none is of its rows."""
    if store is None:
        return
    words = store.last_words()
    if words and rows.are_known and not any(word.row in rows for word in words):
        raise ValueError(
            f"{store.path} has {len(words):,} answers, and none is of a row of this table, whose rows are "
            f"called by {settings.ids}; give the table that was labeled, the column with its ids (--id or "
            "id_column=), or another session"
        )


def take_over(store: AnswerStore, rows: Rows, answers: dict[int, Answer]) -> int:
    """Note what a table tells of labels that were neither answered nor skipped; of how many rows it does."""
    new: dict[str, Answer] = {}
    for row, (yes, asked) in answers.items():
        key = rows.keys[row]
        if asked := [place for place in asked if store.is_open(key, place)]:
            new[key] = Answer([place for place in yes if place in asked], asked)
    labels, asked = [one.yes for one in new.values()], [labels_of(one.asked) for one in new.values()]
    store.say("labels", list(new), labels, asked, who=_TABLE, said_in=None, holder=_TABLE)
    return len(new)
