"""libsvm's multi-label text format: ``1,3 4:0.5 7:1`` is an instance with the labels 1 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from ._data import Matrix


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
    except ValueError as error:
        raise ValueError(
            f"{path}: cannot read it as libsvm ({error}); a row is 'label,label index:value index:value'"
        ) from error
    if not rows:
        raise ValueError(f"{path}: the file has no rows")
    if features is None:
        first = 0 if (X.indices == 0).any() else 1
        names = [str(index) for index in range(first, X.shape[1])]
    else:
        names = list(features)
        for name in names:
            if not name.isdecimal():
                raise ValueError(
                    f"{path}: the model has a feature {name!r}, but libsvm files have only numbers"
                )
    indices = [int(name) for name in names]
    X.resize(len(rows), max([X.shape[1], *(index + 1 for index in indices)]))
    X = csr_array(X[:, indices])
    found = [[_label(value) for value in row] for row in rows]
    if labels is None:
        labels = sorted({label for row in found for label in row}, key=float)
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


def _label(value: float) -> str:
    return str(int(value)) if value.is_integer() else str(value)
