"""DATA and MODEL, as a user names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from refpair.classifiers import CSRPEClassifier
from refpair.datasets import Table, match_columns, read_table
from refpair.datasets._data import Matrix
from refpair.datasets.find import data_set, is_file

__all__ = [
    "label_names",
    "named_columns",
    "predict_labels",
    "read_for",
    "split_names",
]


def read_for(model: CSRPEClassifier, data: str, *, require_labels: bool) -> Table:
    """Read a table with the features of a model, and its labels if they are there."""
    features = list(model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    if is_file(data):
        table = read_table(data, label_names(model), features=features, require_labels=False)
    else:
        table = data_set(data)
        table = table if features is None else match_columns(table, features)
    if require_labels and table.label_names != label_names(model):
        wanted = ", ".join(label_names(model))
        raise ValueError(f"{data}: it has not all labels of the model to compare with, which are {wanted}")
    return table


def predict_labels(model: CSRPEClassifier, table: Table) -> npt.NDArray[np.uint8]:
    """Return the predictions as a 0/1 array, in whatever kind the model gives them."""
    named = hasattr(model, "feature_names_in_")
    predicted = model.predict(named_columns(table.X, table.feature_names) if named else table.X)
    if np.ndim(predicted) == 1 and not sp.issparse(predicted):
        raise ValueError("the model predicts one class a row, not labels; use it in Python")
    return np.asarray(predicted.toarray() if sp.issparse(predicted) else predicted).astype(np.uint8)


def label_names(model: CSRPEClassifier) -> list[str]:
    """Return the names of a model's labels, as they are in files."""
    return [str(name) for name in model.classes_]


def named_columns(X: Matrix, names: Sequence[str]) -> pd.DataFrame:
    """Return features with their names, so that models learn them and check them."""
    if sp.issparse(X):
        frame: pd.DataFrame = cast(Any, pd.DataFrame).sparse.from_spmatrix(X, columns=list(names))
        return frame
    return pd.DataFrame(X, columns=list(names))


def split_names(listed: str | None) -> list[str] | None:
    """Split a list such as ``joy,anger``.

    >>> split_names("joy, anger")
    ['joy', 'anger']
    """
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]
