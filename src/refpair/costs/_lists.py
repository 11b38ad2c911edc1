"""Lists of labels: checked, with names as numbers, and asked of any fitted classifier."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.costs._counts import FloatArray
from refpair.tables.labels import label_format_of

LabelNumbers: TypeAlias = npt.NDArray[np.int64]  # (n, k): the labels listed for each row, the first one first


class OfLists(Protocol):
    """A cost of lists, as far as lists are concerned."""

    @property
    def name(self) -> str: ...

    def length(self, n_labels: int) -> int: ...


def read_lists(Z: Any, Y: Any, shape: tuple[int, int], cost: OfLists) -> LabelNumbers:
    """Return lists of labels as numbers of columns; if Y is a DataFrame, they are names of its columns."""
    n, n_labels = shape
    what = f"the cost {cost.name!r} is of lists of labels, as predict_top returns them, but"
    if sp.issparse(Z):
        raise ValueError(f"{what} Z is a sparse matrix")
    try:
        lists = np.asarray(Z)
    except ValueError as error:
        raise ValueError(f"{what} those in Z are not of one length ({error})") from error
    if lists.ndim != 2 or len(lists) != n:
        raise ValueError(f"{what} Z has the shape {lists.shape}, not that of {n} rows and k columns")
    if hasattr(Y, "columns"):
        lists = _numbers_of(lists, list(Y.columns))
    elif lists.dtype.kind not in "iu" or not ((lists >= 0) & (lists < n_labels)).all():
        raise ValueError(f"{what} Z is not of column numbers of Y, from 0 to {n_labels - 1}")
    lists = lists.astype(np.int64, copy=False)
    if lists.shape[1] < cost.length(n_labels):
        raise ValueError(f"{what} those in Z have {lists.shape[1]} labels, not {cost.length(n_labels)}")
    in_order = np.sort(lists, axis=1)
    if twice := (in_order[:, 1:] == in_order[:, :-1]).any(axis=1).nonzero()[0].tolist():
        raise ValueError(f"{what} row {twice[0]} of Z has a label twice: is Z a matrix of 0 and 1?")
    return lists


def _numbers_of(lists: npt.NDArray[Any], names: list[Any]) -> LabelNumbers:
    numbers = {name: number for number, name in enumerate(names)}
    try:
        found = [numbers[name] for name in lists.ravel().tolist()]
    except KeyError as error:
        raise ValueError(f"Z lists the label {error.args[0]!r}, and Y has no such column") from None
    return np.array(found, np.int64).reshape(lists.shape)


def lists_of(estimator: Any, X: Any, cost: OfLists, k: int, *, of_one: bool = False) -> LabelNumbers:
    """Return the k labels that a fitted classifier puts first for each row, in the best order for a cost.

    One of another library than this one is asked for the probability of each label; those of classes are that
    `of_one` label.
    """
    if label_format_of(estimator) is None:
        p = _probabilities(estimator, X, cost)
        p = p[:, -1:] if of_one else p
        return np.argsort(-p, axis=1, kind="stable")[:, :k]
    model = estimator
    while not hasattr(model, "_label_format"):
        if hasattr(model, "steps"):
            X, model = (model[:-1].transform(X) if len(model) > 1 else X), model[-1]
        else:
            model = model.best_estimator_
    if not hasattr(model, "predict_top"):
        raise _no_order(model, cost)
    numbers: LabelNumbers = model._top(X, k, cost)[0]
    return numbers


def _probabilities(model: Any, X: Any, cost: OfLists) -> FloatArray:
    if not hasattr(model, "predict_proba"):
        raise _no_order(model, cost)
    told = model.predict_proba(X)
    if isinstance(told, list):  # one array a label, which has a column for each of its classes
        is_there = [len(classes) > 1 or classes[-1] == 1 for classes in model.classes_]
        columns = [np.asarray(one)[:, -1] * there for one, there in zip(told, is_there, strict=True)]
        return np.column_stack(columns)
    return np.asarray(told.toarray() if sp.issparse(told) else told, dtype=np.float64)


def _no_order(model: Any, cost: OfLists) -> ValueError:
    return ValueError(
        f"the cost {cost.name!r} needs an order of labels, and {type(model).__name__} has no probabilities"
    )
