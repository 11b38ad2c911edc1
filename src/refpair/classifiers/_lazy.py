"""Lazy answers: a model is asked about each block of a Dask array or DataFrame once that is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import update_wrapper, wraps
from importlib import import_module
from itertools import pairwise
from types import MethodType
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from refpair._cluster import Envelope
from refpair.classifiers._dask_blocks import is_frame, is_lazy, row_blocks
from refpair.classifiers._parameters import check_count

__all__ = ["BY_BLOCKS", "by_blocks"]

BY_BLOCKS = ("predict", "predict_proba", "predict_set_proba", "expected_cost", "decide", "predict_code")

Method = TypeVar("Method", bound=Callable[..., Any])


class _ByBlocks:
    """A method of a classifier, ``method(X, …)``, which answers lazily if X is lazy."""

    def __init__(self, method: Any) -> None:
        self.method = method
        update_wrapper(cast(Any, self), method)

        @wraps(method)
        def ask(model: Any, X: Any, *given: Any, **named: Any) -> Any:
            asked = method.__get__(model, type(model))
            if not is_lazy(X):
                return asked(X, *given, **named)
            how = inspect.signature(asked).bind(X, *given, **named)
            how.apply_defaults()
            return _ask_lazily(model, method.__name__, **how.arguments)

        self.ask = ask

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        found = self.method.__get__(model, owner)  # raises an AttributeError if the model has no such method
        return found if model is None else MethodType(self.ask, model)


def by_blocks(method: Method) -> Method:
    """Let a method take Dask collections, too."""
    return cast(Method, method if isinstance(method, _ByBlocks) else _ByBlocks(method))


@dataclass(frozen=True, eq=False)
class _Form:
    """What an answer looks like: the shape of that to one row, its dtype, its kind and names of columns."""

    shape: tuple[int, ...]
    dtype: Any
    kind: str = "array"
    columns: Any = None

    @property
    def empty(self) -> Any:
        """The answer to no rows."""
        if self.kind == "frame":
            return pd.DataFrame(np.empty((0, *self.shape), self.dtype), columns=self.columns)
        if self.kind in ("sparse", "spmatrix"):
            matrix = sp.csr_array if self.kind == "sparse" else sp.csr_matrix
            return matrix((0, *self.shape), dtype=self.dtype)
        return np.empty((0, *self.shape), self.dtype)

    def of(self, answer: Any, block: Any) -> Any:
        """Return an answer in this form; labels with names may be a DataFrame of another library."""
        if self.kind in ("sparse", "spmatrix"):
            return answer
        if self.kind == "frame":
            return pd.DataFrame(np.asarray(answer), columns=self.columns, index=block.index)
        return np.asarray(answer)


def _forms(model: Any, method: str, X: Any, k: int) -> tuple[_Form, ...]:
    """Return the forms of what a method returns."""
    labels, classes = model._label_format, model.classes_
    n_labels = 1 if labels.kind == "classes" else len(classes)
    if method in ("predict", "decide"):
        if labels.kind == "classes":
            return (_Form((), classes.dtype),)
        named = labels.kind in ("pandas", "polars") and is_frame(X)
        kind = "frame" if named else labels.kind if "sp" in labels.kind else "array"
        return (_Form((n_labels,), labels.dtype, kind, classes if named else None),)
    if method == "predict_proba":
        return (_Form((len(classes),), np.dtype(np.float64)),)
    if method == "predict_set_proba":
        return _Form((k, n_labels), np.dtype(np.uint8)), _Form((k,), np.dtype(np.float64))
    if method == "predict_code":
        return (_Form((len(model.code_),), np.dtype(np.int8)),)
    return (_Form((), np.dtype(np.float64)),)  # expected_cost


class _Question:
    """A model, and what it is asked of each block."""

    def __init__(self, model: Any, method: str, how: dict[str, Any], forms: Sequence[_Form]) -> None:
        self.model = model
        self.method = method
        self.how = how
        self.forms = forms

    def ask(self, block: Any, more: dict[str, Any]) -> tuple[Any, ...]:
        """Return the answers for the rows of a block."""
        if block.shape[0] == 0:  # a filter may have left none, and models refuse that
            return tuple(form.empty for form in self.forms)
        answer = getattr(self.model, self.method)(block, **self.how, **more)
        answers = answer if isinstance(answer, tuple) else (answer,)
        return tuple(form.of(one, block) for form, one in zip(self.forms, answers, strict=True))


def _ask_lazily(model: Any, method: str, X: Any, Y: Any = None, **how: Any) -> Any:
    """Return the answer as a Dask array, or as a Dask DataFrame where labels and features have names."""
    check_is_fitted(model)
    delayed = import_module("dask").delayed
    blocks, n_rows = row_blocks(X)
    # Whatever can be told without the rows is checked now.
    like = X._meta if is_frame(X) else np.empty((0, X.shape[1]))
    validate_data(model, like, reset=False, skip_check_array=True)
    if "cost" in how:
        how["cost"] = model._check_cost(how["cost"])
    if "k" in how:
        check_count("k", how["k"])
    forms = _forms(model, method, X, how.get("k", 0))
    # A task of its own: the model is sent once, not along with each block.
    question = delayed(_itself, pure=False)(Envelope(_Question(model, method, how, forms)))
    ask = delayed(_ask, pure=False, nout=len(forms))
    given = [{}] * len(blocks) if Y is None else [{"Y": labels} for labels in _label_blocks(Y, n_rows)]
    answers = [ask(question, block, more) for block, more in zip(blocks, given, strict=True)]
    parts = [
        _joined([answer[place] for answer in answers], form, n_rows, X) for place, form in enumerate(forms)
    ]
    return tuple(parts) if len(parts) > 1 else parts[0]


def _joined(parts: list[Any], form: _Form, n_rows: list[float], X: Any) -> Any:
    if form.kind == "frame":
        frames = import_module("dask.dataframe")
        return frames.from_delayed(parts, meta=form.empty, divisions=X.divisions, verify_meta=False)
    arrays = import_module("dask.array")
    return arrays.concatenate(
        [
            arrays.from_delayed(part, shape=(n, *form.shape), dtype=form.dtype, meta=form.empty)
            for part, n in zip(parts, n_rows, strict=True)
        ]
    )


def _label_blocks(Y: Any, n_rows: list[float]) -> list[Any]:
    """Return the labels of each block of rows."""
    is_known = not np.isnan(n_rows).any()
    if is_lazy(Y):
        if is_known and not is_frame(Y) and not np.isnan(Y.shape[0]) and Y.shape[0] == sum(n_rows):
            Y = Y.rechunk({0: tuple(n_rows)})
        blocks, n_labelled = row_blocks(Y, "Y")
        both = zip(n_labelled, n_rows, strict=False)
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


def _itself(question: Envelope) -> Envelope:
    return question


def _ask(question: Envelope, block: Any, more: dict[str, Any]) -> tuple[Any, ...]:
    answers: tuple[Any, ...] = question.open().ask(block, more)
    return answers
