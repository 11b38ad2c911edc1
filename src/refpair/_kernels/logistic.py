"""The logistic loss and its derivatives."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import inline, inline_sums
from refpair._kernels.types import Floats

# exp by its series near 0, then squared ten times; log(1 + x) by Chebyshev's polynomial on 0 … 1. Calls of
# the mathematical library cannot be vectorised, and took three times as long.
_EXP = 1.0 / np.cumprod(np.r_[1.0, np.arange(1.0, 14.0)])
_NODES = np.cos(np.pi * (np.arange(19) + 0.5) / 19)
_LOG = np.linalg.solve(np.vander(_NODES, increasing=True), np.log1p(0.5 * (_NODES + 1.0)))


@inline_sums
def logistic_terms(
    decisions: Floats, targets: Floats, loss: Floats, slope: Floats, curvature: Floats
) -> float:
    """Write each row's loss, and its two derivatives by the decision; return the sum of the losses.

    The loss is |t| log(1 + exp(−sign(t) f)) with decision f and target t: the sign of a target is the bit,
    its size the weight. All arrays have shape (n,).
    """
    for row in range(len(decisions)):
        target = targets[row]
        decision = decisions[row]
        weight = abs(target)
        margin = decision if target > 0.0 else -decision
        small = exp_of_negative(-abs(margin))
        sure = 1.0 / (1.0 + small)
        wrong = small * sure if margin > 0.0 else sure
        loss[row] = weight * (log_of_one_plus(small) + max(-margin, 0.0))
        slope[row] = -target * wrong
        curvature[row] = weight * sure * sure * small
    total = 0.0
    for row in range(len(decisions)):
        total += loss[row]
    return total


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
