"""Label matrices: the check at the door, and the few things costs ask of them, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

FloatArray: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.ArrayLike | sp.sparray | sp.spmatrix
LabelMatrix: TypeAlias = Any  # an ndarray of uint8 or a csr_array, which carries no types

_BLOCK = 1 << 18  # numbers in a temporary array: 2 MB as float64, so a chain of them stays in cache
_SPARSE_STEP = (
    50  # a step of a sparse-sparse product takes as long as this many of a sparse-dense one (measured)
)


def check_labels(labels: Labels, name: str) -> LabelMatrix:
    """Return label vectors, one a row, as a uint8 array or a CSR array; refuse what is not 0/1.

    Parameters
    ----------
    labels : array-like or sparse matrix of shape (n, n_labels)
        Zeros and ones of any real dtype.
    name : str
        The argument to name in the ValueError.

    Examples
    --------
    >>> check_labels([[False, True]], "Y")
    array([[0, 1]], dtype=uint8)
    >>> check_labels([[0, 1], [2, 0]], "Y")
    Traceback (most recent call last):
    ValueError: Y must be a label matrix of 0 and 1 only
    """
    if _is_usual(labels):
        return labels  # asked so often that the rest would be felt
    matrix: LabelMatrix = labels if sp.issparse(labels) else _as_array(labels, name)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{name} must be a label matrix of shape (n, n_labels), got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a label matrix of 0 and 1, got values of dtype {matrix.dtype}")
    if sp.issparse(matrix):
        matrix = sp.csr_array(matrix)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    values: Any = matrix.data if sp.issparse(matrix) else matrix
    whole = values.dtype.kind in "bu"  # cannot be negative or broken: one pass will do
    if not (values.max(initial=0) <= 1 if whole else ((values == 0) | (values == 1)).all()):
        raise ValueError(f"{name} must be a label matrix of 0 and 1 only")
    return matrix.astype(np.float32 if sp.issparse(matrix) else np.uint8, copy=False)


def _is_usual(labels: Labels) -> bool:
    """Whether labels are a uint8 array of zeros and ones, as the package's own nearly always are."""
    if type(labels) is not np.ndarray or labels.dtype != np.uint8 or labels.ndim != 2:
        return False
    return bool(labels.size > 0 and labels.max() <= 1)


def _as_array(labels: Labels, name: str) -> npt.NDArray[Any]:
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} must be a label matrix with rows of one length ({error})") from error
    if np.ma.is_masked(labels):
        raise ValueError(f"{name} must be a label matrix of 0 and 1 only, without masked cells")
    return array


def check_pair(Y: Labels, Z: Labels) -> tuple[LabelMatrix, LabelMatrix]:
    """Check truths and predictions, and that they have the same labels."""
    truths, predictions = check_labels(Y, "Y"), check_labels(Z, "Z")
    if truths.shape[1] != predictions.shape[1]:
        raise ValueError(f"Y has {truths.shape[1]} labels (columns) and Z has {predictions.shape[1]}")
    return truths, predictions


def intersections(Y: LabelMatrix, Z: LabelMatrix) -> npt.NDArray[np.floating]:
    """Return |Y[i] ∩ Z[j]| for all i and j: one matrix product, of whichever kind is cheapest."""
    dtype = (
        np.float32 if Y.shape[1] < 1 << 24 else np.float64
    )  # float32 is exact for whole numbers below 2^24
    Y, Z = Y.astype(dtype), Z.astype(dtype)
    if not sp.issparse(Y):
        product = (Z @ Y.T).T if sp.issparse(Z) else Y @ Z.T
    elif sp.issparse(Z) and _sizes_of_labels(Y) @ _sizes_of_labels(Z) * _SPARSE_STEP < Y.nnz * Z.shape[0]:
        product = (Y @ Z.T).toarray()
    else:
        product = Y @ dense(Z).T
    return np.asarray(product)


def row_intersections(Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
    """Return |Y[i] ∩ Z[i]| for all i."""
    if sp.issparse(Z):
        Y, Z = Z, Y
    return sizes(Y.multiply(Z) if sp.issparse(Y) else Y & Z)


def sizes(labels: LabelMatrix) -> FloatArray:
    """Return the number of labels of each row."""
    return np.asarray(labels.sum(axis=1, dtype=np.float64))


def dense(labels: LabelMatrix) -> npt.NDArray[Any]:
    """Return the labels as an ndarray."""
    return np.asarray(labels.toarray() if sp.issparse(labels) else labels)


def blocks(n: int, width: int) -> Iterator[slice]:
    """Cut n rows of a width into slices of about _BLOCK numbers."""
    step = max(1, _BLOCK // max(1, width))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def mean_over_rows(costs: FloatArray, sample_weight: npt.ArrayLike | None) -> float:
    """Return the mean cost of rows, weighted if there are weights."""
    if costs.size == 0:
        raise ValueError("Y has no rows: there is nothing to score")
    if sample_weight is None:
        return float(costs.mean())
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != costs.shape:
        raise ValueError(
            f"sample_weight must hold one number for each of {costs.size} rows; its shape is {weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("sample_weight must be finite, not negative, and not zero for all rows")
    return float(np.average(costs, weights=weights / weights.max()))


def _sizes_of_labels(labels: LabelMatrix) -> FloatArray:
    return np.asarray(labels.sum(axis=0, dtype=np.float64))
