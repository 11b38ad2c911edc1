"""What a session is given, checked: rows, ids, labels, costs and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair.active._ids import Id, id_key, id_of_key
from refpair.active._tables import check_column_names
from refpair.active.store import AnswerStore, Label
from refpair.bits.binning import Matrix
from refpair.costs import Cost, PerLabelCost, get_cost
from refpair.features import make_features

__all__ = [
    "check_cost",
    "read_answers",
    "read_cost",
    "read_labels",
    "read_rows",
    "read_time",
    "settle",
]

_OWN = "a function"  # is noted instead of a cost that cannot be stored


def read_rows(X: Any, ids: Iterable[Hashable] | None) -> tuple[list[Id] | None, Matrix | None]:
    """Return the ids of rows and their features, scaled such that rows have the mean squared length 1."""
    if X is None:
        if ids is not None:
            raise ValueError("ids are those of the rows of X: give X, too")
        return None, None
    if isinstance(X, pd.DataFrame):
        features = make_features(X.reset_index(drop=True)).X
        ids = X.index if ids is None else ids
    else:
        features = check_array(X, accept_sparse="csr", dtype=np.float64, input_name="X")
    n = features.shape[0]
    return read_ids(range(n) if ids is None else ids, n), _scaled(features)


def read_ids(ids: Iterable[Hashable], n: int) -> list[Id]:
    """Return ids as plain strings and integers, one for each of n rows and all different."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise ValueError(f"ids must be a list of ids, one for each row of X, not {ids!r}")
    keys = [id_key(one) for one in ids]
    if len(keys) != n:
        raise ValueError(f"X has {n} rows, and there are {len(keys)} ids")
    for key, times in Counter(keys).items():
        if times > 1:
            raise ValueError(f"the id {id_of_key(key)!r} is that of {times} rows; ids must be different")
    return [id_of_key(key) for key in keys]


def _scaled(X: Matrix) -> Matrix:
    squares = X.multiply(X).sum() if sp.issparse(X) else np.square(X).sum()
    length = float(np.sqrt(squares / X.shape[0]))
    return X / length if length > 0 else X


def read_labels(labels: Sequence[str] | None) -> list[str]:
    """Return the names of labels, all different."""
    if labels is None:
        return []
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


def read_cost(cost: Any) -> Cost | None:
    """Return a cost, or None if none is given."""
    return None if cost is None else get_cost(cost)


def check_cost(cost: Cost, n_labels: int) -> None:
    """Refuse prices of other labels than there are."""
    if isinstance(cost, PerLabelCost):
        cost.prices(n_labels)


def read_answers(Y: Any, n: int, labels: Sequence[str]) -> list[list[int]]:
    """Return the places of the labels that each of n rows has, of 0 and 1 or of names.

    Examples
    --------
    >>> read_answers([[0, 1], [0, 0]], 2, ["joy", "anger"])
    [[1], []]
    >>> read_answers([["anger", "joy"], []], 2, ["joy", "anger"])
    [[0, 1], []]
    """
    if isinstance(Y, pd.DataFrame):
        Y = _columns_in_order(Y, labels)
    if sp.issparse(Y):
        Y = Y.toarray()
    if not isinstance(Y, np.ndarray) or Y.dtype == object:
        Y = list(Y)
        if all(isinstance(one, list | tuple | set | frozenset) for one in Y) and (
            any(isinstance(name, str) for one in Y for name in one) or not any(map(len, Y))
        ):
            return _places_of_names(Y, n, labels)
    try:
        table = np.asarray(Y)
        shape = f"the shape {table.shape}"
    except ValueError:  # of numpy
        table, shape = np.empty(0), "rows of different lengths"
    if table.shape != (n, len(labels)):
        raise ValueError(
            f"Y must have a row for each of {n} ids and a column for each of {len(labels)} labels, or the "
            f"names of the labels of each row; it has {shape}"
        )
    if table.dtype.kind in "US" or pd.isna(table).any() or not np.isin(table, (0, 1)).all():
        raise ValueError("Y must be 0 and 1, or names of labels; leave out rows that are not answered")
    return [np.flatnonzero(row).tolist() for row in table]


def _columns_in_order(Y: pd.DataFrame, labels: Sequence[str]) -> Any:
    missing = [name for name in labels if name not in Y.columns]
    if missing or len(Y.columns) != len(labels):
        raise ValueError(
            f"Y must have the columns {', '.join(labels)}, and has {', '.join(map(str, Y.columns))}"
        )
    return Y[list(labels)].to_numpy(dtype=object, na_value=np.nan)


def _places_of_names(Y: Sequence[Any], n: int, labels: Sequence[str]) -> list[list[int]]:
    if len(Y) != n:
        raise ValueError(f"there are {n} ids, and {len(Y)} answers")
    places = {name: place for place, name in enumerate(labels)}
    for one in Y:
        for name in one:
            if name not in places:
                raise ValueError(f"there is no label {name!r}; the labels are {', '.join(labels)}")
    return [sorted({places[name] for name in one}) for one in Y]


def read_time(at: str | None) -> str | None:
    """Return a time in ISO 8601 as it is stored: in UTC, which it is taken to be in if it does not say.

    Examples
    --------
    >>> read_time("2026-03-01T10:00:00+02:00")
    '2026-03-01T08:00:00.000+00:00'
    """
    if at is None:
        return None
    try:
        time = datetime.fromisoformat(at)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f'at must be a time such as "2026-03-01T10:00:00+00:00", not {at!r}') from None
    return time.isoformat(timespec="milliseconds")


def settle(store: AnswerStore, names: Sequence[str], cost: Cost | None) -> Cost:
    """Note labels and cost of a new session, or those that are new to one that goes on; return the cost.

    Nothing is noted if anything is wrong.
    """
    known = [label.name for label in store.labels()]
    names = _settled_names(store, known, names)
    if cost is None:
        cost = _noted_cost(store)
    check_cost(cost, len(names))
    try:
        store.note("cost", cost.to_dict())
    except ValueError:
        store.note("cost", _OWN)
    store.add_labels([Label(name, "absent") for name in names])
    return cost


def _settled_names(store: AnswerStore, known: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    if not names:
        if not known:
            raise ValueError(f"{store.path} has no labels yet: give labels=['joy', 'anger', …]")
        return known
    missing = [name for name in known if name not in names]
    if missing:
        raise ValueError(
            f"{store.path} has labels that are not named: {', '.join(missing)}. Name them too (labels can be "
            "added, not taken away), or choose another file"
        )
    if list(names[: len(known)]) != known:
        raise ValueError(
            f"{store.path} has the labels in another order, by which columns of Y and prices go: "
            f"{', '.join(known)}. Name them in that order, and new ones behind them"
        )
    check_column_names(names)
    return names


def _noted_cost(store: AnswerStore) -> Cost:
    """Return the cost of the file; "f1" for a new session."""
    noted = store.about("cost")
    if noted == _OWN:
        raise ValueError(f"{store.path} has a cost that is a Python function: give cost= again")
    return get_cost("f1") if noted is None else Cost.from_dict(noted)
