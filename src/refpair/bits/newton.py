"""Many weighted logistic regressions on the same rows at once, by Newton's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.newton import minimise_logistic_losses
from refpair._kernels.products import Csr
from refpair.bits.binning import Matrix

__all__ = ["minimise_logistic"]

Floats = npt.NDArray[np.float64]


def minimise_logistic(
    Z: Matrix, targets: Floats, start: Floats, *, tol: float, max_iter: int
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Find the weights v and the intercept b that minimise ½|v|² + Σ |t| log(1 + exp(−sign(t) f)).

    The sum is over the rows, f = v·z + b is what is decided on row z, and t is its target. All bits go on at
    once, by products of matrices; those that are done drop out.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n, r)
        The rows. Conjugate gradients need the fewer steps the less its columns have to do with each other.
    targets : ndarray of shape (n_bits, n)
        The sign is the bit, the size the weight.
    start : ndarray of shape (n_bits, r + 1)
        Where to begin: the weights, then the intercept.
    tol : float
        A bit is done once its gradient is no longer than this, or than this part of Σ |t| if that is less;
        that is by the coordinates of dense rows from their mean. The weights are then no farther than this
        from the best ones for their mean decision, since the problem curves by 1 at least.
    max_iter : int
        How many Newton steps at most.

    Returns
    -------
    weights : ndarray of shape (n_bits, r + 1)
    done : ndarray of bool, shape (n_bits,)

    Examples
    --------
    >>> Z, targets = np.array([[-1.0], [1.0], [2.0]]), np.array([[-1.0, 1.0, 1.0]])
    >>> weights, _ = minimise_logistic(Z, targets, np.zeros((1, 2)), tol=1e-6, max_iter=50)
    >>> weights.round(3)
    array([[0.848, 0.289]])
    """
    weights, done = np.array(start, np.float64, order="C"), np.empty(len(start), bool)
    middle = np.zeros(Z.shape[1])
    if not sp.issparse(Z) and len(Z):  # far from 0, the intercept would be all but one of the coordinates
        middle = Z.mean(axis=0)
        Z = Z - middle
    weights[:, -1] += weights[:, :-1] @ middle
    rows, csr = _split(_with_ones(Z))
    singles, csr_singles = rows.astype(np.float32), (csr[0].astype(np.float32), *csr[1:])
    asked = np.array(targets, np.float64, order="C")
    minimise_logistic_losses(rows, singles, csr, csr_singles, asked, weights, tol, max_iter, done)
    weights[:, -1] -= weights[:, :-1] @ middle
    return weights, done


def _split(rows: Matrix) -> tuple[Floats, Csr]:
    """Return rows as a dense array and as the arrays of a CSR matrix; the form they do not have is empty."""
    if sp.issparse(rows):
        return np.empty((0, 0)), (rows.data, rows.indices, rows.indptr)
    return np.ascontiguousarray(rows), (np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32))


def _with_ones(Z: Matrix) -> Matrix:
    """Return the rows with a 1 behind each, for the intercept."""
    ones = np.ones((Z.shape[0], 1))
    return sp.hstack([Z, ones], format="csr") if sp.issparse(Z) else np.hstack([Z, ones])
