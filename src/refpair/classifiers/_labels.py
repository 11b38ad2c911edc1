"""Label matrices as people have them: read into 0/1, written back in the same kind."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from refpair._saved import Savable, require

__all__ = ["DistinctLabels", "LabelFormat", "LabelMatrix", "distinct_labels", "read_labels"]

Kind = Literal["classes", "array", "sparse", "spmatrix", "pandas", "polars"]
LabelMatrix: TypeAlias = Any  # an ndarray of uint8 or a csr_array of ones, which carries no types


@dataclass(frozen=True, eq=False)
class LabelFormat(Savable):
    """How Y was given, so that predictions can be given back in the same way.

    Attributes
    ----------
    kind : {"classes", "array", "sparse", "spmatrix", "pandas", "polars"}
        "classes" is a one-dimensional y of one or two classes; "sparse" and "spmatrix" are SciPy's two kinds
        of sparse matrices.
    classes : ndarray
        The names of the labels; the classes themselves if the kind is "classes".
    dtype : numpy dtype
    """

    kind: Kind
    classes: npt.NDArray[Any]
    dtype: np.dtype[Any]

    @property
    def n_labels(self) -> int:
        """The number of labels: one for the classes of a one-dimensional y."""
        return 1 if self.kind == "classes" else len(self.classes)

    def _check_saved(self) -> None:
        names = self.classes
        right = len(names) in (1, 2) if self.kind == "classes" else len(names) and self.dtype.kind in "biuf"
        require(names.ndim == 1 and right, "labels lack names, or a type of numbers")
        distinct = len({name for name in names if isinstance(name, str)})
        require(self.kind != "polars" or distinct == len(names), "polars has no columns of such names")

    def write(self, labels: npt.NDArray[np.uint8], X: object) -> Any:
        """Return a 0/1 matrix in this format; rows of a pandas frame are named as those of X."""
        if self.kind == "classes":
            return self.classes[labels[:, 0]]
        matrix = labels.astype(self.dtype)
        if self.kind == "sparse":
            return sp.csr_array(matrix)
        if self.kind == "spmatrix":
            return sp.csr_matrix(matrix)
        if self.kind == "pandas":
            index = X.index if isinstance(X, pd.DataFrame) else None
            return pd.DataFrame(matrix, columns=self.classes, index=index)
        if self.kind == "polars":
            return import_module("polars").DataFrame(matrix, schema=self.classes.tolist(), orient="row")
        return matrix

    def write_probabilities(self, marginals: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probabilities of labels; of a one-dimensional y, those of its classes."""
        if self.kind != "classes":
            return marginals
        if len(self.classes) == 1:
            return np.ones((len(marginals), 1))
        return np.column_stack([1.0 - marginals, marginals])

    def read_more(self, Y: Any, name: str = "Y") -> LabelMatrix:
        """Read more labels, which must be those that this format was made of.

        Parameters
        ----------
        Y : array, sparse matrix or DataFrame of shape (n, n_labels), or array of shape (n,)
        name : str
            The argument to name in the ValueError.
        """
        if self.kind == "classes":
            return self._read_more_classes(Y)
        if not sp.issparse(Y) and np.asarray(Y).ndim == 1:  # a single label
            Y = np.asarray(Y)[:, None]
        labels, given = read_labels(Y, name)
        if labels.shape[1] != len(self.classes):
            raise ValueError(
                f"{name} has {labels.shape[1]} labels (columns), but the model has {len(self.classes)}"
            )
        named = ("pandas", "polars")
        if given.kind in named and self.kind in named and list(given.classes) != list(self.classes):
            raise ValueError(
                f"the columns of {name} are {list(given.classes)}, but the labels of the model are "
                f"{list(self.classes)}, in this order"
            )
        return labels

    def _read_more_classes(self, y: Any) -> npt.NDArray[np.uint8]:
        y = column_or_1d(np.asarray(y))
        if len(self.classes) == 2 and not (known := np.isin(y, self.classes)).all():
            raise ValueError(f"y has the class {y[known.argmin()]!r}, but the model knows {self.classes}")
        # A model of a single class knows no other: whatever else y holds is not that class.
        return np.asarray(y != self.classes[0], np.uint8)[:, None]


def read_labels(Y: Any, name: str = "Y") -> tuple[LabelMatrix, LabelFormat]:
    """Read Y into a 0/1 matrix, dense or CSR, and note how it was given.

    Parameters
    ----------
    Y : array, sparse matrix or DataFrame of shape (n, n_labels), or array of shape (n,)
        0/1 or boolean; a one-dimensional y may hold any two classes.
    name : str
        The argument to name in the ValueError.

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
        return _read_sparse(Y, name)
    kind: Kind = "array"
    if isinstance(Y, pd.DataFrame):
        kind = "pandas"
    elif type(Y).__module__.startswith("polars.") and hasattr(Y, "columns"):
        kind = "polars"
    array = Y.to_numpy() if kind != "array" else np.asarray(Y)
    if array.ndim == 1:
        return _read_classes(array)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name} must have a row for each sample and a column for each label")
    names = np.arange(array.shape[1]) if kind == "array" else np.asarray(Y.columns)
    zero, one, dtype = _zeros_and_ones(array)
    if not (zero | one).all():
        row, column = np.argwhere(~(zero | one))[0]
        raise ValueError(_not_a_label(name, array[row, column], row, names[column]))
    return np.ascontiguousarray(one, dtype=np.uint8), LabelFormat(kind, names, dtype)


def _zeros_and_ones(
    array: npt.NDArray[Any],
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], np.dtype[Any]]:
    """Return which entries are 0 and which are 1, and the dtype to write labels in."""
    if array.dtype.kind in "biuf":
        return array == 0, array == 1, array.dtype
    # Columns of several types, or with pandas' own missing values, which are neither equal nor unequal to 0.
    known = ~pd.isna(array)
    zero, one = np.zeros(array.shape, bool), np.zeros(array.shape, bool)
    values = array[known].astype(object)
    zero[known], one[known] = values == 0, values == 1
    return zero, one, np.dtype(np.int64)


def _not_a_label(name: str, value: object, row: int, column: object) -> str:
    return f"{name} must be 0/1 or boolean: column {column!s} has {value!s} in row {row}"


def _read_sparse(Y: Any, name: str) -> tuple[sp.csr_array, LabelFormat]:
    kind: Kind = "sparse" if isinstance(Y, sp.sparray) else "spmatrix"
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise ValueError(f"{name} must have a row for each sample and a column for each label")
    matrix = sp.csr_array(Y, copy=True)  # what follows works in place
    matrix.sum_duplicates()
    wrong = (matrix.data != 0) & (matrix.data != 1)
    if wrong.any():
        entry = int(wrong.argmax())
        row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise ValueError(_not_a_label(name, matrix.data[entry], row, matrix.indices[entry]))
    matrix.eliminate_zeros()
    return matrix.astype(np.uint8), LabelFormat(kind, np.arange(matrix.shape[1]), matrix.dtype)


def _read_classes(y: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], LabelFormat]:
    """Read a one-dimensional y of one or two classes; the second one is the label."""
    assert_all_finite(y, input_name="y")
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


def distinct_labels(labels: LabelMatrix) -> DistinctLabels:
    """Find the distinct rows of a 0/1 matrix; of a sparse one, only they are made dense.

    Parameters
    ----------
    labels : ndarray of uint8, or csr_array without zeros and in canonical format

    Examples
    --------
    >>> found = distinct_labels(np.uint8([[1, 0], [0, 1], [1, 0]]))
    >>> found.vectors.tolist(), found.of_row.tolist(), found.counts.tolist()
    ([[0, 1], [1, 0]], [1, 0, 1], [1, 2])
    """
    if sp.issparse(labels):
        first, of_row = _alike(labels)
        vectors = labels[first].toarray()
        # Numbered as below, so that the same labels give the same model in either form.
        _, order, rank = np.unique(_as_bytes(vectors), return_index=True, return_inverse=True)
        vectors, of_row = vectors[order], rank[of_row]
    else:
        _, first, of_row = np.unique(_as_bytes(labels), return_index=True, return_inverse=True)
        vectors = labels[first]
    return DistinctLabels(
        np.ascontiguousarray(vectors), of_row.astype(np.int32), np.bincount(of_row, minlength=len(vectors))
    )


def _alike(labels: sp.csr_array) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find rows that have the same labels: return the first of each kind, and the kind of each row.

    Each label has a random number, and a row the sum of those of its labels: the same for the same labels,
    and hardly ever for others. That is looked at, and new numbers are drawn if it ever happens.
    """
    n_rows, n_labels = labels.shape
    start, sizes = labels.indptr[:-1].astype(np.int64), np.diff(labels.indptr)
    rng = np.random.default_rng(0)
    while True:
        numbers = rng.integers(2**64, size=n_labels, dtype=np.uint64)
        keys = np.zeros(n_rows, np.uint64)
        filled = sizes > 0  # reduceat has no empty sums
        if filled.any():
            keys[filled] = np.add.reduceat(numbers[labels.indices], start[filled])
        _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
        same = first[of_row]
        if (sizes == sizes[same]).all():
            theirs = np.repeat(start[same] - start, sizes) + np.arange(len(labels.indices))
            if (labels.indices == labels.indices[theirs]).all():
                return first, of_row


def _as_bytes(labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.void]:
    """Return each row as one item, which sorts by the first label, then by the second, and so on."""
    packed = np.ascontiguousarray(np.packbits(labels, axis=1))
    return packed.view(f"V{packed.shape[1]}").ravel()
