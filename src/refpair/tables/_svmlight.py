"""libsvm's multi-label text format: ``1,3 4:0.5 7:1`` is a row with the labels 1 and 3."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from refpair.tables._matrix import Matrix
from refpair.tables._size import check_cells
from refpair.tables._source import Source

__all__ = ["read_svmlight"]

_ALWAYS_ALLOWED, _MAX_FEATURES_PER_VALUE = 50_000, 100  # a column of a table takes kilobytes
_TOO_LARGE = 2.0**53  # from here on, two labels may come out of the parser as one float


def read_svmlight(
    source: Source, labels: Sequence[str] | None
) -> tuple[Matrix, list[str], pd.DataFrame | None]:
    """Read the features, their names (the indices), and the labels as columns of 0 and 1.

    The format leaves out zeros, so it does not say how many features there are: they go up to the last index
    that occurs. By default, labels are those that occur; without any, they are None.
    """
    source.check_text("latin-1")  # any bytes may be in comments; they may only not grow too much
    try:
        with source.open() as file:
            # Indices as they are in the file: whether they count from 0 or 1 is seen below.
            X, rows = load_svmlight_file(file, multilabel=True, zero_based=True)
    except (ValueError, OverflowError) as error:  # the latter for indices beyond 32 bits
        raise ValueError(
            f"{source.name}: cannot read it as libsvm ({error}); a row is 'label,label index:value', "
            "and a table of another kind must have another ending, such as .csv"
        ) from error
    if not rows:
        raise ValueError(f"{source.name}: the file has no rows")
    first = _check_indices(source.name, X)
    X = X[:, first:]
    X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    X.sort_indices()
    names = [str(first + place) for place in range(X.shape[1])]
    found = [[_label(value, source.name, i) for value in row] for i, row in enumerate(rows)]
    if labels is None:
        labels = sorted({label for row in found for label in row}, key=float)
    return X, names, _label_columns(source, found, labels) if labels else None


def _label_columns(source: Source, found: list[list[str]], labels: Sequence[str]) -> pd.DataFrame:
    check_cells(source.name, source.n_bytes, len(found), len(labels), "labels")
    position = {label: i for i, label in enumerate(labels)}
    Y = np.zeros((len(found), len(labels)), dtype=np.uint8)
    for i, row in enumerate(found):
        for label in row:
            if label not in position:
                raise ValueError(
                    f"{source.name}, row {i + 1}: the label {label} is not one of {', '.join(labels)}; "
                    "name it, too"
                )
            Y[i, position[label]] = 1
    return pd.DataFrame(Y, columns=list(labels))


def _check_indices(source: str, X: Matrix) -> int:
    """Return the first index, 0 or 1; refuse a broken one that would make absurdly many columns."""
    if X.shape[1] > _ALWAYS_ALLOWED + _MAX_FEATURES_PER_VALUE * X.nnz:
        raise ValueError(
            f"{source}: the index {X.shape[1] - 1} is far beyond what {X.nnz} values need; correct the row, "
            "or number the features from 1 without gaps"
        )
    return 0 if (X.indices == 0).any() else 1


def _label(value: float, source: str, row: int) -> str:
    if not abs(value) < _TOO_LARGE:  # NaN, too
        raise ValueError(f"{source}, row {row + 1}: {value} is no name of a label; number labels from 0 or 1")
    return str(int(value)) if value.is_integer() else str(value)
