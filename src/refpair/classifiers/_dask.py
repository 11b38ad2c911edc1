"""Lazy answers: a model is asked about each block of a Dask array or DataFrame once that is computed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from refpair._extras import pd
from refpair._parallel import Pickled, is_lazy
from refpair._sparse import sparse_kind


@dataclass(frozen=True, eq=False)
class _Form:
    """What an answer looks like: the shape of that to one row, its dtype, its kind and names of columns."""

    shape: tuple[int, ...]
    dtype: Any
    kind: str = "array"
    columns: Any = None
    make: Any = np.asarray  # of an answer that is no DataFrame

    @property
    def empty(self) -> Any:
        """The answer to no rows."""
        if self.kind == "frame":
            return pd.DataFrame(np.empty((0, *self.shape), self.dtype), columns=self.columns)
        return self.make(np.empty((0, *self.shape), self.dtype))

    def of(self, answer: Any, block: Any) -> Any:
        """Return an answer in this form; labels with names may be a DataFrame of another library."""
        if self.kind == "frame":
            return pd.DataFrame(np.asarray(answer), columns=self.columns, index=block.index)
        return self.make(answer)


def answer_lazily(model: Any, method: str, X: Any, Y: Any = None, **how: Any) -> Any:
    """Return what a method of a fitted model says of X, a Dask collection, as a Dask array.

    It is a Dask DataFrame where the labels and the features have names. `how` are the method's other
    arguments, and Y is cut into the same blocks as X.
    """
    if getattr(how.get("cost"), "n_rows", None) is not None:
        raise ValueError(
            "prices of rows need rows in memory, and X is a Dask collection: give X.compute(), or one block "
            "after the other, each with its own prices"
        )
    delayed = import_module("dask").delayed
    blocks, n_rows = row_blocks(X)
    # Whatever can be told without the rows is checked now.
    like = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(model, like, reset=False, skip_check_array=True)
    forms = _forms(model, method, is_frame(X), **how)
    # A task of its own: the model is sent once, not along with each block.
    question = delayed(_itself, pure=False)(Pickled((model, method, how, forms)))
    ask = delayed(_ask, pure=False, nout=len(forms))
    given = [{}] * len(blocks) if Y is None else [{"Y": labels} for labels in _label_blocks(Y, n_rows)]
    answers = [ask(question, block, more) for block, more in zip(blocks, given, strict=True)]
    parts = [_joined([one[i] for one in answers], form, n_rows, X) for i, form in enumerate(forms)]
    return tuple(parts) if len(parts) > 1 else parts[0]


def _forms(
    model: Any, method: str, of_frame: bool, *, k: int = 0, as_frame: bool = False, **_: Any
) -> tuple[_Form, ...]:
    """Return the forms of what a method returns."""
    labels, classes = model._label_format, model.classes_
    n_labels = 1 if labels.kind == "classes" else len(classes)
    if method in ("predict", "decide"):
        if labels.kind == "classes":
            return (_Form((), classes.dtype),)
        named = labels.kind in ("pandas", "polars") and of_frame
        # Workers have a configuration of their own: the kind is that of this one.
        make = sparse_kind() if labels.kind == "sparse" else np.asarray
        kind = "frame" if named else "array"
        return (_Form((n_labels,), labels.dtype, kind, classes if named else None, make),)
    if method == "predict_proba":
        if as_frame and not of_frame:
            raise ValueError("as_frame=True is for a Dask DataFrame: the rows of a Dask array have no index")
        return (_Form((len(classes),), np.dtype(np.float64), "frame" if as_frame else "array", classes),)
    if method == "predict_top":
        return _Form((min(k, labels.n_labels),), classes.dtype), _Form(
            (min(k, labels.n_labels),), np.dtype(np.float64)
        )
    if method == "predict_set_proba":
        return _Form((k, n_labels), np.dtype(np.uint8)), _Form((k,), np.dtype(np.float64))
    if method == "predict_code":
        return (_Form((len(model.code_),), np.dtype(np.int8)),)
    return (_Form((), np.dtype(np.float64)),)  # expected_cost


def _joined(parts: list[Any], form: _Form, n_rows: list[float], X: Any) -> Any:
    if form.kind == "frame":
        frames = import_module("dask.dataframe")
        return frames.from_delayed(parts, meta=form.empty, divisions=X.divisions, verify_meta=False)
    arrays, how = import_module("dask.array"), {"dtype": form.dtype, "meta": form.empty}
    sized = zip(parts, n_rows, strict=True)
    return arrays.concatenate([arrays.from_delayed(part, (n, *form.shape), **how) for part, n in sized])


def _label_blocks(Y: Any, n_rows: list[float]) -> list[Any]:
    """Return the labels of each block of rows."""
    is_known = not np.isnan(n_rows).any()
    if is_lazy(Y):
        if is_known and not is_frame(Y) and not np.isnan(Y.shape[0]) and Y.shape[0] == sum(n_rows):
            Y = Y.rechunk({0: tuple(n_rows)})
        blocks, n_labeled = row_blocks(Y, "Y")
        both = zip(n_labeled, n_rows, strict=False)
        if len(blocks) != len(n_rows) or not all(np.isnan(n + own) or n == own for n, own in both):
            raise ValueError("Y must be cut into blocks of the same rows as X")
        return blocks
    if not is_known or sum(n_rows) != (Y.shape[0] if hasattr(Y, "shape") else len(Y)):
        raise ValueError(
            "Y must have as many rows as X: give a Dask collection that is cut into blocks as X is, or call "
            "X.compute_chunk_sizes() first, if it is unknown how many rows these have"
        )
    ends = np.cumsum([0, *n_rows]).astype(int)
    return [_safe_indexing(Y, slice(first, last)) for first, last in pairwise(ends)]


def is_frame(X: Any) -> bool:
    """Whether a Dask collection is a DataFrame."""
    return hasattr(X, "map_partitions") and getattr(X, "ndim", 0) == 2


def row_blocks(X: Any, name: str = "X") -> tuple[list[Any], list[float]]:
    """Return a Dask collection as blocks of whole rows, and how many rows each has; NaN if nobody knows yet.

    An array that is cut by columns, too, is put together first. The error names the argument.
    """
    if is_frame(X):
        blocks = X.to_delayed()
        return blocks, [np.nan] * len(blocks)
    if not hasattr(X, "rechunk") or X.ndim != 2:
        raise ValueError(f"{name} must be a Dask array of shape (n, n_columns) or a Dask DataFrame")
    whole = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return whole.to_delayed().ravel().tolist(), list(whole.chunks[0])


def _itself(question: Pickled) -> Pickled:
    return question


def _ask(question: Pickled, block: Any, more: dict[str, Any]) -> tuple[Any, ...]:
    """Return the answers for the rows of a block."""
    model, method, how, forms = question.content()
    if block.shape[0] == 0:  # a filter may have left none, and models refuse that
        return tuple(form.empty for form in forms)
    answer = getattr(model, method)(block, **how, **more)
    answers = answer if isinstance(answer, tuple) else (answer,)
    return tuple(form.of(one, block) for form, one in zip(forms, answers, strict=True))
