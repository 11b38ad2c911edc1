"""Distances between rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.bits.binning import Matrix
from refpair.bits.logistic import products

__all__ = ["filled", "squared_distances", "squared_lengths"]


def squared_distances(left: Matrix, right: Matrix) -> npt.NDArray[np.float64]:
    """Return the squared Euclidean distances of the rows of one matrix to those of another.

    Parameters
    ----------
    left, right : ndarray or CSR matrix
        A missing value (NaN) is as far from any other as 0 is: scale the features first, if they have some.

    Examples
    --------
    >>> squared_distances(np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 0.0]]))
    array([[1.],
           [4.]])
    """
    left, right = filled(left), filled(right)
    distances = -2.0 * products(left, right)
    distances += squared_lengths(left)[:, None]
    distances += squared_lengths(right)
    # Rounding leaves a little of what should be nothing: rows that are the same have no distance.
    scale = np.maximum(squared_lengths(left)[:, None], squared_lengths(right))
    distances[distances <= 1e-12 * scale] = 0.0
    return distances


def filled(X: Matrix) -> Matrix:
    """Return rows with 0 for what is missing."""
    if sp.issparse(X):
        if np.isnan(X.data).any():
            X = X.copy()
            X.data = np.nan_to_num(X.data)
        return X
    return np.nan_to_num(X) if np.isnan(X).any() else X


def squared_lengths(X: Matrix) -> npt.NDArray[np.float64]:
    """Return the squared lengths of rows."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
