"""Logistic regressions of many bits at once: all but the products of matrices. A row of an array is a bit."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import inline, kernel
from refpair._kernels.types import Bools, Floats

# exp by its series near 0, then squared ten times; log(1 + x) by Chebyshev's polynomial on 0 … 1. Calls of
# the mathematical library cannot be vectorised, and took three times as long.
_EXP = 1.0 / np.cumprod(np.r_[1.0, np.arange(1.0, 14.0)])
_NODES = np.cos(np.pi * (np.arange(19) + 0.5) / 19)
_LOG = np.linalg.solve(np.vander(_NODES, increasing=True), np.log1p(0.5 * (_NODES + 1.0)))


@inline
def exp_of_negative(x: float) -> float:
    """Return exp(x) of x ≤ 0; of less than −700, exp(−700)."""
    x = max(x, -700.0) / 1024.0
    y: float = _EXP[13]
    for i in range(12, -1, -1):
        y = y * x + _EXP[i]
    for _ in range(10):
        y *= y
    return y


@inline
def log_of_one_plus(x: float) -> float:
    """Return log(1 + x) of x from 0 to 1."""
    u = 2.0 * x - 1.0
    y: float = _LOG[18]
    for i in range(17, -1, -1):
        y = y * u + _LOG[i]
    return y


@kernel
def logistic_terms(
    decisions: Floats, targets: Floats, loss: Floats, slope: Floats, curvature: Floats
) -> None:
    """Write each row's loss, and its two derivatives by the decision.

    The loss is |t| log(1 + exp(−sign(t) f)) with decision f and target t: the sign of a target is the bit,
    its size the weight.

    Parameters
    ----------
    decisions, targets : ndarray of shape (n_bits, n_rows)
    loss, slope, curvature : ndarray of shape (n_bits, n_rows)
        Written.
    """
    n_bits, n_rows = decisions.shape
    for bit in range(n_bits):
        for row in range(n_rows):
            target = targets[bit, row]
            decision = decisions[bit, row]
            weight = abs(target)
            margin = decision if target > 0.0 else -decision
            small = exp_of_negative(-abs(margin))
            sure = 1.0 / (1.0 + small)
            wrong = small * sure if margin > 0.0 else sure
            loss[bit, row] = weight * (log_of_one_plus(small) + max(-margin, 0.0))
            slope[bit, row] = -target * wrong
            curvature[bit, row] = weight * sure * sure * small


@kernel
def conjugate_step(
    search: Floats,
    curved: Floats,
    penalty: Floats,
    diagonal: Floats,
    residual: Floats,
    solution: Floats,
    power: Floats,
    end: Floats,
    going: Bools,
) -> int:
    """Take a step of conjugate gradients for each bit, find the next one's direction; return how many go on.

    Parameters
    ----------
    search : ndarray of shape (n_bits, n)
        The direction p; overwritten with the next one.
    curved : ndarray of shape (n_bits, n)
        The matrix times p, but for the penalty.
    penalty : ndarray of shape (n,)
        Of each unknown: a further part of the diagonal of the matrix.
    diagonal : ndarray of shape (n_bits, n)
        Of the matrix, to divide by.
    residual, solution : ndarray of shape (n_bits, n)
        Overwritten.
    power : ndarray of shape (n_bits,)
        The product of the residual and the residual over the diagonal; overwritten.
    end : ndarray of shape (n_bits,)
        A bit is done once its residual is no longer than the root of this.
    going : ndarray of bool, shape (n_bits,)
        Which bits are not done; the others are left alone. Overwritten.
    """
    n_bits, n = search.shape
    zero = search.dtype.type(0.0)
    n_going = 0
    for bit in range(n_bits):
        if not going[bit]:
            continue
        curvature = zero
        for i in range(n):
            curvature += search[bit, i] * (curved[bit, i] + penalty[i] * search[bit, i])
        size = power[bit] / curvature
        left, next_power = zero, zero
        for i in range(n):
            p = search[bit, i]
            solution[bit, i] += size * p
            r = residual[bit, i] - size * (curved[bit, i] + penalty[i] * p)
            residual[bit, i] = r
            left += r * r
            next_power += r * r / diagonal[bit, i]
        ratio = next_power / power[bit]
        for i in range(n):
            search[bit, i] = residual[bit, i] / diagonal[bit, i] + ratio * search[bit, i]
        power[bit] = next_power
        going[bit] = left > end[bit]
        n_going += going[bit]
    return n_going
