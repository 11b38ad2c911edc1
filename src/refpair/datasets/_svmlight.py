"""libsvm's multi-label text format: ``1,3 4:0.5 7:1`` is an instance with the labels 1 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from ._data import Matrix
from ._size import MAX_COLUMNS, check_cells

_MAX_FEATURES_PER_VALUE = 100
_TOO_LARGE = 2.0**53  # from here on, two labels may come out of the parser as one float


def read_svmlight(
    path: Path,
    labels: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    *,
    strict: bool = True,
) -> tuple[Matrix, NDArray[np.uint8] | None, list[str], list[str]]:
    """Read features, labels, the names of the features (their indices) and those of the labels.

    The format leaves out zeros, so it does not say how many features there are: ``features``, the names a
    model has, says which indices to take, with zeros for those that never occur. A label that is not in
    ``labels`` is an error if ``strict``, and otherwise there are no labels (None).
    """
    try:
        # Indices as they are in the file: whether they count from 0 or 1 is seen below.
        X, rows = load_svmlight_file(str(path), multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:  # the latter for indices beyond 32 bits
        raise ValueError(
            f"{path}: cannot read it as libsvm ({error}); a row is 'label,label index:value index:value'"
        ) from error
    if not rows:
        raise ValueError(f"{path}: the file has no rows")
    if features is None:
        names = _all_features(path, X)
        X = X[:, int(names[0]) :] if names else X[:, :0]
    else:
        names = list(features)
        X = _columns(X, [_index(path, name) for name in names])
    X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    X.sort_indices()
    found = [[_label(value, path, i) for value in row] for i, row in enumerate(rows)]
    if labels is None:
        labels = sorted({label for row in found for label in row}, key=float)
    check_cells(path, len(rows), len(labels), "labels")
    position = {label: i for i, label in enumerate(labels)}
    Y = np.zeros((len(rows), len(labels)), dtype=np.uint8)
    for i, row in enumerate(found):
        for label in row:
            if label not in position:
                if not strict:
                    return X, None, names, []
                raise ValueError(f"{path}, row {i + 1}: the label {label} is not one of {', '.join(labels)}")
            Y[i, position[label]] = 1
    return X, Y, names, list(labels)


def _all_features(path: Path, X: Matrix) -> list[str]:
    """Name all columns up to the last that occurs, unless a broken index makes that absurdly many."""
    if X.shape[1] > MAX_COLUMNS + _MAX_FEATURES_PER_VALUE * X.nnz:
        raise ValueError(
            f"{path}: the index {X.shape[1] - 1} is far beyond what {X.nnz} values need; correct the row, or "
            "number the features from 1 without gaps"
        )
    first = 0 if (X.indices == 0).any() else 1
    return [str(index) for index in range(first, X.shape[1])]


def _index(path: Path, name: str) -> int:
    if not name.isdecimal():
        raise ValueError(f"{path}: the model has a feature {name!r}, but libsvm files have only numbers")
    # Longer than the 10 digits of any index: such a column never occurs, and int() may refuse it.
    return int(name) if len(name) <= 10 else -1


def _columns(X: Matrix, indices: Sequence[int]) -> Matrix:
    """Take columns by their indices; those that never occur are zero."""
    # Only of the columns that occur, and one that does not: scipy makes room for all up to the last.
    occurring, place = np.unique(X.indices, return_inverse=True)
    few = csr_array((X.data, place, X.indptr), shape=(X.shape[0], occurring.size + 1))
    place_of = {int(index): i for i, index in enumerate(occurring)}
    return few[:, [place_of.get(index, occurring.size) for index in indices]]


def _label(value: float, path: Path, row: int) -> str:
    if not abs(value) < _TOO_LARGE:  # NaN, too
        raise ValueError(f"{path}, row {row + 1}: {value} is no name of a label; number labels from 0 or 1")
    return str(int(value)) if value.is_integer() else str(value)
