"""How a session reads its table, anew or as its file remembers it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array

from refpair.costs import Cost, PerLabelCost, get_cost
from refpair.labeling.label_columns import LabelColumns, check_column_names, find_labels
from refpair.labeling.rows import IdRule, Rows, make_ids, read_features
from refpair.labeling.store import AnswerStore
from refpair.tables._names import check_unique, unknown_name

__all__ = [
    "Settings",
    "check_cost",
    "note_cost",
    "read_rows",
    "refuse_strangers",
    "session_cost",
    "session_labels",
    "session_names",
    "take_over",
    "with_text_names",
]

_TABLE = "table"  # what the settings are noted under, and who said what the table has already
_OWN = "a function"  # is noted instead of a cost that cannot be stored


@dataclass(frozen=True)
class Settings:
    """How a session reads its table, as its file remembers it.

    `folder`, where paths of images start, and the file with `features` are as seen from the folder of the
    session.
    """

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
    if not isinstance(X, pd.DataFrame):
        return X
    names = [str(name) for name in X.columns]
    check_unique("X", names)
    return X.set_axis(pd.Index(names, dtype=object), axis=1)


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
    if not isinstance(X, pd.DataFrame):
        X = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    without = settings.labels.of(labels)
    found, rule = make_ids(X, ids=ids, id_column=id_column, without=without, remembered=settings.ids)
    settings = replace(settings, ids=rule)
    if features is None and settings.features is not None:
        features = path.parent / settings.features
    rows, kinds = Rows(found), None
    if isinstance(X, pd.DataFrame):
        folder = None if settings.folder is None else path.parent / settings.folder
        named = {"given": "id", "index": str(X.index.name or "id")}.get(rule.source)
        rows = Rows(found, X, without, folder, named)
        assert rows.cells is not None
        X, kinds = rows.cells, dict(settings.kinds)
        for name in (*settings.drop, *settings.kinds):
            if name not in X.columns:
                raise ValueError(unknown_name("column", name, X.columns))
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
        with AnswerStore(path) as store:
            known, columns = store.names, Settings.read(store).labels
    names, _ = find_labels(X, labels, known, columns, separator)
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
    names, columns = find_labels(X, labels, known, columns, separator)
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


def session_cost(cost: Any, store: AnswerStore | None, n_labels: int) -> Cost:
    """Return the cost that is given, or that of the file; "f1" for a new session."""
    if cost is not None:
        found = get_cost(cost)
    else:
        noted = None if store is None else store.about("cost")
        if store is not None and noted == _OWN:
            raise ValueError(f"{store.path} has a cost that is a Python function: give cost= again")
        found = get_cost("f1") if noted is None else Cost.from_dict(noted)
    check_cost(found, n_labels)
    return found


def check_cost(cost: Cost, n_labels: int) -> None:
    """Refuse prices of other labels than there are."""
    if isinstance(cost, PerLabelCost):
        cost.prices(n_labels)


def note_cost(store: AnswerStore, cost: Cost) -> None:
    """Note the cost in the file of a session, as far as it can be stored."""
    try:
        store.note("cost", cost.to_dict())
    except ValueError:
        store.note("cost", _OWN)


def refuse_strangers(store: AnswerStore | None, rows: Rows, settings: Settings) -> None:
    """Refuse a table if there are answers, and none is of its rows."""
    if store is None:
        return
    words = store.last_words()
    if words and rows.are_known and not any(word.row in rows for word in words):
        raise ValueError(
            f"{store.path} has {len(words):,} answers, and none is of a row of this table, whose rows are "
            f"called by {settings.ids}; give the table that was labelled, the column with its ids (--id or "
            "id_column=), or another session"
        )


def take_over(store: AnswerStore, rows: Rows, answers: dict[int, list[int]], n_labels: int) -> int:
    """Note the labels that a table has already, of rows that were neither answered nor skipped; how many."""
    new = {rows.keys[place]: labels for place, labels in answers.items()}
    new = {key: labels for key, labels in new.items() if store.last_word(key) is None}
    store.say(
        "labels", list(new), list(new.values()), n_labels=n_labels, who=_TABLE, said_in=None, holder=_TABLE
    )
    return len(new)
