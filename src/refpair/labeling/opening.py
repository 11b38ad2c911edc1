"""What a session is made of: a new file, or one that goes on with the table that it knows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from refpair.active._strategy import QueryStrategy
from refpair.costs import Cost, PerLabelCost, get_cost
from refpair.labeling.events import Label
from refpair.labeling.frames import check_column_names
from refpair.labeling.labels import LabelForm, TableAnswers, find_labels, table_answers
from refpair.labeling.model import SessionModel
from refpair.labeling.rows import Rows, read_rows
from refpair.labeling.settings import Settings
from refpair.labeling.store import AnswerStore
from refpair.tables._names import check_unique

__all__ = ["Opened", "check_cost", "open_session", "session_labels"]

_TABLE = "table"  # who said what the table has already
_OWN = "a function"  # is noted instead of a cost that cannot be stored


@dataclass(frozen=True, eq=False)
class Opened:
    """The parts of a session.

    Attributes
    ----------
    store : AnswerStore
    cost : Cost
    form : LabelForm
    rows : Rows
    model : SessionModel or None
        None if the rows are not known.
    n_taken_over : int
        How many answers were taken from the table.
    """

    store: AnswerStore
    cost: Cost
    form: LabelForm
    rows: Rows
    model: SessionModel | None
    n_taken_over: int


def open_session(
    path: Path,
    X: Any,
    labels: Sequence[str] | None,
    cost: Any,
    *,
    separator: str | None,
    ids: Iterable[Hashable] | None,
    id_column: str | None,
    drop: Sequence[str],
    kinds: Mapping[str, Any] | None,
    folder: str | PathLike[str] | None,
    features: Any,
    strategy: QueryStrategy | None,
    estimator: Any,
    random_state: int,
    verbose: int,
) -> Opened:
    """Open the file of a session and read its table, as :meth:`Session.open` says.

    Nothing is written, and no file is made, if anything is wrong.
    """
    if not path.exists() and labels is None:
        raise ValueError(f"{path} is a new session: what are the labels? Give labels=['joy', 'anger', …]")
    X = _with_names(X)
    store = AnswerStore(path) if path.exists() else None
    try:
        settings = Settings.read(store).changed(
            path, drop=drop, kinds=kinds, folder=folder, features=features
        )
        names, form = _names(path, store, X, labels, separator, settings.labels)
        cost = _cost(cost, store, len(names))
        rows, seen, forced, settings = read_rows(
            X, names, replace(settings, labels=form), path=path, ids=ids, id_column=id_column,
            features=features,
        )  # fmt: skip
        if store is not None:
            _refuse_strangers(store, rows, settings)
        answered = table_answers(X, names, form) if isinstance(X, pd.DataFrame) else None
        model = None
        if seen is not None:
            model = SessionModel(
                seen, kinds=forced, folder=rows.folder, cost=cost, estimator=estimator, strategy=strategy,
                random_state=random_state, verbose=verbose,
            )  # fmt: skip
        if store is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            store = AnswerStore(path)
        _note_cost(store, cost)
        settings.note(store)
        store.add_labels([Label(name, "absent") for name in names])
        n_taken_over = 0 if answered is None else _take_over(store, rows, answered)
        return Opened(store, cost, form, rows, model, n_taken_over)
    except BaseException:
        if store is not None:
            store.close()
        raise


def _with_names(X: Any) -> Any:
    """Return a table whose columns have names, all different; anything else as it is."""
    if not isinstance(X, pd.DataFrame):
        return X
    names = [str(name) for name in X.columns]
    check_unique(names, "X")
    return X.set_axis(pd.Index(names, dtype=object), axis=1)


def session_labels(
    path: Path, X: Any, labels: Sequence[str] | None, separator: str | None = None
) -> list[str]:
    """Return the labels that a session would have, in their order; those that are named may be in any.

    Parameters
    ----------
    path : Path
        Of the session, which may be new.
    X : DataFrame or array
    labels : sequence of str or None
    separator : str, optional
        Between joined names.
    """
    known: list[str] = []
    form = LabelForm()
    if path.exists():
        with AnswerStore(path) as store:
            known, form = store.names, Settings.read(store).labels
    names, _ = find_labels(X, labels, known, form, separator)
    return [*(name for name in known if name in names), *(name for name in names if name not in known)]


def _names(
    path: Path,
    store: AnswerStore | None,
    X: Any,
    labels: Sequence[str] | None,
    separator: str | None,
    form: LabelForm,
) -> tuple[list[str], LabelForm]:
    """Return all labels, those first that the session has, and how the table has them."""
    known = [] if store is None else store.names
    names, form = find_labels(X, labels, known, form, separator)
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
    form.check_names(names)
    return names, form


def _cost(cost: Any, store: AnswerStore | None, n_labels: int) -> Cost:
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


def _note_cost(store: AnswerStore, cost: Cost) -> None:
    try:
        store.note("cost", cost.to_dict())
    except ValueError:
        store.note("cost", _OWN)


def _refuse_strangers(store: AnswerStore, rows: Rows, settings: Settings) -> None:
    """Refuse a table if there are answers, and none is of its rows."""
    words = store.settled()
    if words and rows.are_known and not any(word.row in rows for word in words):
        raise ValueError(
            f"{store.path} has {len(words):,} answers, and none is of a row of this table, whose rows are "
            f"called by {settings.ids}; give the table that was labelled, the column with its ids (--id or "
            "id_column=), or another session"
        )


def _take_over(store: AnswerStore, rows: Rows, answered: TableAnswers) -> int:
    """Note the labels that a table has already, of rows that were neither answered nor skipped."""
    new = {rows.keys[place]: labels for place, labels in answered.labels.items()}
    new = {key: labels for key, labels in new.items() if store.answers.of(key) is None}
    store.say(
        "labels", list(new), list(new.values()), n_labels=answered.n_labels, who=_TABLE, said_in=None,
        holder=_TABLE,
    )  # fmt: skip
    return len(new)
