"""The rows of X in coordinates along their principal axes: as few as there are rows or features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import assert_all_finite

from refpair.bits.binning import Matrix

__all__ = ["Axes", "check_finite", "find_axes", "products"]

_MOST_AXES = 1500  # finding more takes longer than they spare
_NEGLIGIBLE = 1e-10  # of the largest variance

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Axes:
    """Coordinates of some rows, and the way from weights of coordinates back to weights of the features.

    Attributes
    ----------
    coordinates : ndarray or CSR matrix of shape (n, r)
        Z, with Z Zᵀ = X Xᵀ: a penalty on weights of coordinates is the same on those of the features.
    basis : ndarray or CSR matrix of shape (m, n_features), or None
        The rows that weights of features are sums of, the rows of X; None stands for single features.
    back : ndarray of shape (m, r), or None
        Takes weights of coordinates to weights of the rows of the basis; None where they are the same.
    """

    coordinates: Matrix
    basis: Matrix | None
    back: Floats | None


def find_axes(X: Matrix) -> Axes:
    """Return the principal axes of the rows of X through 0, by the smaller of the two products X Xᵀ and Xᵀ X.

    Where both are too large, the features are taken as they are.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)

    Examples
    --------
    >>> X = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0]])  # one direction: one axis
    >>> axes = find_axes(X)
    >>> np.abs(axes.coordinates).round(6)
    array([[ 5.],
           [10.]])
    >>> np.abs(axes.basis.T @ axes.back).round(6)  # which is along (3, 4, 0)
    array([[0.6],
           [0.8],
           [0. ]])
    """
    n_rows, n_features = X.shape
    if min(n_rows, n_features) > _MOST_AXES:
        return Axes(X, None, None)
    by_rows = n_rows <= n_features
    variances, axes = np.linalg.eigh(products(X, X) if by_rows else products(X.T, X.T))
    kept = variances > _NEGLIGIBLE * max(variances[-1], np.finfo(float).tiny)
    lengths, axes = np.sqrt(variances[kept]), np.ascontiguousarray(axes[:, kept])
    if by_rows:
        return Axes(axes * lengths, X, axes / lengths)
    return Axes(np.asarray(X @ axes), None, axes)


def products(left: Matrix, right: Matrix) -> Floats:
    """Return the inner products of rows with rows, dense."""
    both = left @ right.T
    return np.asarray(both.toarray() if sp.issparse(both) else both, dtype=np.float64)


def check_finite(X: Matrix) -> None:
    """Refuse missing and infinite values, of which logistic regressions cannot make anything."""
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        assert_all_finite(X, input_name="X")  # says what is wrong and what to do
