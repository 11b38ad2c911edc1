"""Label matrices as people have them: read into 0/1, written back in the same kind."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

__all__ = ["DistinctLabels", "LabelFormat", "distinct_labels", "read_labels"]

Kind = Literal["classes", "array", "sparse", "pandas", "polars"]


@dataclass(frozen=True, eq=False)
class LabelFormat:
    """How Y was given, so that predictions can be given back in the same way.

    Attributes
    ----------
    kind : {"classes", "array", "sparse", "pandas", "polars"}
        "classes" is a one-dimensional y of one or two classes.
    classes : ndarray
        The names of the labels; the classes themselves if the kind is "classes".
    dtype : numpy dtype
    """

    kind: Kind
    classes: npt.NDArray[Any]
    dtype: np.dtype[Any]

    def write(self, labels: npt.NDArray[np.uint8], X: object) -> Any:
        """Return a 0/1 matrix in this format; rows of a pandas frame are named as those of X."""
        if self.kind == "classes":
            return self.classes[labels[:, 0] if len(self.classes) > 1 else np.zeros(len(labels), np.intp)]
        if self.kind == "sparse":
            return sp.csr_array(labels.astype(self.dtype))
        matrix = labels.astype(self.dtype)
        if self.kind == "pandas":
            index = X.index if isinstance(X, pd.DataFrame) else None
            return pd.DataFrame(matrix, columns=self.classes, index=index)
        if self.kind == "polars":
            return sys.modules["polars"].DataFrame(matrix, schema=list(self.classes))
        return matrix


def read_labels(Y: Any) -> tuple[npt.NDArray[np.uint8] | sp.csr_array, LabelFormat]:
    """Read Y into a 0/1 matrix, dense or CSR, and note how it was given.

    Parameters
    ----------
    Y : array, sparse matrix or DataFrame of shape (n, n_labels), or array of shape (n,)
        0/1 or boolean; a one-dimensional y may hold any two classes.

    Examples
    --------
    >>> matrix, how = read_labels(pd.DataFrame({"joy": [True, False], "calm": [True, True]}))
    >>> matrix
    array([[1, 1],
           [0, 1]], dtype=uint8)
    >>> how.kind, list(how.classes)
    ('pandas', ['joy', 'calm'])
    """
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if sp.issparse(Y):
        matrix = sp.csr_array(Y)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        if not (matrix.data == 1).all():
            raise ValueError("Y must be 0/1: a stored entry is not 1")
        dtype = matrix.dtype
        return matrix.astype(np.uint8), LabelFormat("sparse", np.arange(matrix.shape[1]), dtype)
    kind: Kind = "array"
    names = getattr(Y, "columns", None)
    if names is not None:
        kind = "pandas" if isinstance(Y, pd.DataFrame) else "polars"
        Y = Y.to_numpy()
    if (np.ndim(Y) == 1 and not hasattr(Y[0], "__len__")) or (np.ndim(Y) == 1 and isinstance(Y[0], str)):
        return _read_classes(Y)
    array = check_array(Y, dtype=None, ensure_all_finite=True, input_name="Y", ensure_min_samples=0)
    if array.shape[1] == 0:
        raise ValueError("Y has no columns: at least one label is needed")
    if array.dtype == object:
        array = array.astype(np.float64)
    if not ((array == 0) | (array == 1)).all():
        row, column = np.argwhere((array != 0) & (array != 1))[0]
        what = f"column {names[column]!r}" if names is not None else f"column {column}"
        raise ValueError(f"Y must be 0/1 or boolean: {what} has {array[row, column]!r} in row {row}")
    classes = np.asarray(names if names is not None else np.arange(array.shape[1]))
    return np.ascontiguousarray(array, dtype=np.uint8), LabelFormat(kind, classes, array.dtype)


def _read_classes(y: Any) -> tuple[npt.NDArray[np.uint8], LabelFormat]:
    """Read a one-dimensional y of one or two classes; the second one is the label."""
    y = column_or_1d(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(y)}. "
            "Give several labels as a 0/1 matrix with one column each."
        )
    return codes.astype(np.uint8)[:, None], LabelFormat("classes", classes, classes.dtype)


@dataclass(frozen=True, eq=False)
class DistinctLabels:
    """The distinct rows of a label matrix, in an order that does not depend on that of its rows.

    Attributes
    ----------
    vectors : ndarray of uint8, shape (n_distinct, n_labels)
    of_row : ndarray of int32, shape (n,)
        Which of them each row is.
    counts : ndarray of int64
        How many rows each of them has.
    """

    vectors: npt.NDArray[np.uint8]
    of_row: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


def distinct_labels(labels: npt.NDArray[np.uint8] | sp.csr_array) -> DistinctLabels:
    """Find the distinct rows of a 0/1 matrix; a sparse one is never made dense.

    Examples
    --------
    >>> found = distinct_labels(np.uint8([[1, 0], [0, 1], [1, 0]]))
    >>> found.vectors.tolist(), found.of_row.tolist(), found.counts.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1], [1, 2])
    """
    if sp.issparse(labels):
        labels.sort_indices()
        keys = [
            labels.indices[a:b].tobytes() for a, b in zip(labels.indptr[:-1], labels.indptr[1:], strict=True)
        ]
        _, first, of_row = np.unique(np.array(keys, dtype=object), return_index=True, return_inverse=True)
        vectors = labels[first].toarray()
    else:
        packed = np.packbits(labels, axis=1)
        _, first, of_row = np.unique(
            packed.view(f"V{packed.shape[1]}"), return_index=True, return_inverse=True
        )
        vectors = labels[first]
    order = np.lexsort(vectors.T[::-1])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    of_row = rank[of_row.ravel()]
    return DistinctLabels(
        np.ascontiguousarray(vectors[order]), of_row, np.bincount(of_row, minlength=len(order))
    )
