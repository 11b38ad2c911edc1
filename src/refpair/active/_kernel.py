"""Features by which linear models see more than straight lines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem

from refpair.active._distances import squared_distances
from refpair.bits.binning import Matrix

__all__ = ["with_kernel"]

_MOST_FEATURES = 500  # of more, linear models see enough
_N_LANDMARKS = 300
_LOOKED_AT = 500  # rows, to tell what distance is usual

Floats = npt.NDArray[np.float64]


def with_kernel(X: Matrix, random_state: int) -> Matrix:
    """Return features of an RBF kernel instead of few dense ones; sparse and many features as they are.

    Numbers and pixels seldom tell labels along straight lines. The kernel's width is the median distance of
    rows; it is approximated by the likeness to 300 of them (Nyström). No labels are needed for that.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    random_state : int
        Draws these rows.

    Returns
    -------
    ndarray or CSR matrix
        Rows have the mean squared length 1.

    Examples
    --------
    >>> with_kernel(np.random.default_rng(0).random((40, 2)), random_state=0).shape
    (40, 40)
    """
    n_rows, n_features = X.shape
    if sp.issparse(X) or n_features > _MOST_FEATURES or n_rows < 2:
        return X
    some = X[np.random.default_rng(random_state).permutation(n_rows)[:_LOOKED_AT]]
    distances = squared_distances(some, some)
    usual = distances[distances > 0.0]
    if not len(usual):
        return X
    kernel = Nystroem(
        gamma=1.0 / float(np.median(usual)), n_components=min(_N_LANDMARKS, n_rows), random_state=random_state
    )
    mapped: Floats = kernel.fit_transform(X)
    mapped /= np.sqrt(np.square(mapped).sum() / n_rows)
    return mapped
