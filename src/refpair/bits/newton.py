"""Many weighted logistic regressions on the same rows at once, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.logistic import conjugate_step, logistic_terms
from refpair.bits.binning import Matrix

__all__ = ["minimise_logistic"]

_DIRECTION_STEPS = 50  # of conjugate gradients, for one direction
_HALVINGS = 30
_STILL_WORTH = 0.8  # of the bits: as long as more go on, to leave out the others takes longer than it spares
_REST = 0.1, 1e-4  # of a gradient, where conjugate gradients stop far away from the minimum and near it
_SUFFICIENT = 1e-4  # of the decrease that the slope promises
_ROUNDING = 1e-11  # of a sum of losses
_TINY = np.float32(1e-10)  # a bit may be so sure of all its rows that nothing curves

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


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
        A bit is done once its gradient is no longer than this. The weights are then no farther than this from
        the best ones for their intercept, since the problem curves by 1 at least.
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
    Z = _with_ones(Z)
    penalty = np.ones(Z.shape[1])
    penalty[-1] = 0.0
    # Directions need not be exact, and half as long numbers are multiplied twice as fast.
    singles, squares = Z.astype(np.float32), (Z**2).astype(np.float32)
    weights, done = start.copy(), np.zeros(len(start), bool)
    bits = np.arange(len(start))
    at = _Points.at(weights, weights @ Z.T, targets, penalty)
    for _ in range(max_iter + 1):
        gradient = at.weights * penalty + at.slope @ Z
        length = np.sqrt(np.einsum("ij,ij->i", gradient, gradient))
        going = length > tol
        if not going.all():
            weights[bits[~going]], done[bits[~going]] = at.weights[~going], True
            if not going.any():
                return weights, done
            bits, targets, gradient, length = bits[going], targets[going], gradient[going], length[going]
            at = at.take(going)
        direction = _directions(
            singles, squares, at.curvature.astype(np.float32), penalty.astype(np.float32),
            gradient.astype(np.float32),
        ).astype(np.float64)  # fmt: skip
        slope = np.einsum("ij,ij->i", gradient, direction)
        at = _step(at, direction, direction @ Z.T, slope, targets, penalty)
    weights[bits] = at.weights
    return weights, done


@dataclass(frozen=True, eq=False)
class _Points:
    """Where the bits are, and what their losses look like from there; one row a bit."""

    weights: Floats
    decisions: Floats
    objective: Floats
    slope: Floats
    curvature: Floats

    @classmethod
    def at(cls, weights: Floats, decisions: Floats, targets: Floats, penalty: Floats) -> Self:
        loss, slope, curvature = (np.empty_like(decisions) for _ in range(3))
        logistic_terms(decisions, targets, loss, slope, curvature)
        objective = loss.sum(axis=1) + 0.5 * np.einsum("ij,ij,j->i", weights, weights, penalty)
        return cls(weights, decisions, objective, slope, curvature)

    def take(self, bits: npt.NDArray[np.bool_]) -> Self:
        return type(self)(*(getattr(self, field.name)[bits] for field in fields(self)))


def _directions(
    Z: Matrix, squares: Matrix, curvature: Singles, penalty: Singles, gradient: Singles
) -> Singles:
    """Solve each bit's Newton equations, roughly, by conjugate gradients."""
    diagonal = penalty + curvature @ squares + _TINY
    directions = np.zeros_like(gradient)
    bits, solution = np.arange(len(gradient)), np.zeros_like(gradient)
    residual = -gradient
    search = residual / diagonal
    power = np.einsum("ij,ij->i", residual, search)
    length = np.einsum("ij,ij->i", residual, residual)
    end = length * np.clip(length, np.float32(_REST[1] ** 2), np.float32(_REST[0] ** 2))
    going = np.ones(len(bits), bool)
    for _ in range(_DIRECTION_STEPS):
        ahead = search @ Z.T
        ahead *= curvature
        n_going = conjugate_step(search, ahead @ Z, penalty, diagonal, residual, solution, power, end, going)
        if n_going == 0:
            break
        if n_going < _STILL_WORTH * len(bits):
            directions[bits] = solution
            bits, solution, residual, search = bits[going], solution[going], residual[going], search[going]
            curvature, diagonal, power, end = curvature[going], diagonal[going], power[going], end[going]
            going = np.ones(n_going, bool)
    directions[bits] = solution
    return directions


def _step(
    at: _Points, direction: Floats, ahead: Floats, slope: Floats, targets: Floats, penalty: Floats
) -> _Points:
    """Go along the directions, half as far where that would not pay off, and so on."""
    there = _Points.at(at.weights + direction, at.decisions + ahead, targets, penalty)
    size = 1.0
    for _ in range(_HALVINGS):
        allowed = at.objective + _SUFFICIENT * size * slope + _ROUNDING * np.abs(at.objective)
        far = there.objective > allowed
        if not far.any():
            break
        size /= 2.0
        weights, decisions = at.weights[far] + size * direction[far], at.decisions[far] + size * ahead[far]
        nearer = _Points.at(weights, decisions, targets[far], penalty)
        for field in fields(there):
            getattr(there, field.name)[far] = getattr(nearer, field.name)
    return there


def _with_ones(Z: Matrix) -> Matrix:
    """Return the rows with a 1 behind each, for the intercept."""
    ones = np.ones((Z.shape[0], 1))
    return sp.hstack([Z, ones], format="csr") if sp.issparse(Z) else np.hstack([Z, ones])
