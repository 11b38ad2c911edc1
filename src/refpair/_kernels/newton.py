"""Logistic regressions of many bits at once. A row of an array is a bit, unless it is the rows' Z.

What goes on is kept in front: a bit that is done leaves its place to the last one that is not. So products of
matrices are of those bits alone, and nothing else is moved.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import Bools, Floats, Longs, helper, inline, inline_sums, kernel

STEPS = 50  # of conjugate gradients, for one direction
_HALVINGS = 30
_REST = 0.1, 1e-4  # of a gradient, where conjugate gradients stop far away from the minimum and near it
_ENOUGH = 0.5  # of the gradient that a bit is done with: less would be of no use
_SUFFICIENT = 1e-4  # of the decrease that the slope promises
_ROUNDING = 1e-11  # of a sum of losses
_DAMPING = 0.03  # of its slope, as which the intercept's curvature counts at least: where a bit is sure of
_TINY = 1e-10  # all its rows, nothing curves, and nothing else would hold the intercept back
_LOG_2 = np.log(2.0)

# exp by its series near 0, then squared ten times; log(1 + x) by Chebyshev's polynomial on 0 … 1. Calls of
# the mathematical library cannot be vectorised, and took three times as long.
_EXP = 1.0 / np.cumprod(np.r_[1.0, np.arange(1.0, 14.0)])
_NODES = np.cos(np.pi * (np.arange(19) + 0.5) / 19)
_LOG = np.linalg.solve(np.vander(_NODES, increasing=True), np.log1p(0.5 * (_NODES + 1.0)))


@kernel
def minimise_logistic_losses(
    Z: Floats, targets: Floats, weights: Floats, tol: float, max_iter: int, done: Bools
) -> None:
    """Minimise ½|v|² + Σ |t| log(1 + exp(−sign(t) f)) for each bit, f = v·z + b, by Newton's method.

    `Z` (n, r + 1) has a 1 behind each row. The `targets` (n_bits, n) are overwritten, and so are `weights`
    (n_bits, r + 1), the last of which is the intercept: from where to begin to the minimum.
    A bit is done once its gradient is no longer than `tol`, or than this part of Σ |t| if that is less.
    """
    n_bits, n_rows = targets.shape
    width = weights.shape[1]
    # Directions need not be exact, and half as long numbers are multiplied twice as fast.
    singles = Z.astype(np.float32)
    squares = singles * singles
    at = weights.copy()
    decisions, ahead = np.empty((n_bits, n_rows)), np.empty((n_bits, n_rows))
    slope, curvature = np.empty((n_bits, n_rows)), np.empty((n_bits, n_rows))
    gradient, direction = np.empty((n_bits, width)), np.empty((n_bits, width))
    objective, limit, bit_of = np.empty(n_bits), np.empty(n_bits), np.arange(n_bits)
    loss, kept = np.empty(n_rows), np.empty(width)
    np.dot(at, Z.T, decisions)
    for place in range(n_bits):
        objective[place], total = begin(
            at[place], decisions[place], targets[place], loss, slope[place], curvature[place]
        )
        limit[place] = tol * min(1.0, total)
    n_going = n_bits
    for iteration in range(max_iter + 1):
        np.dot(slope[:n_going], Z, gradient[:n_going])
        for place in range(n_going - 1, -1, -1):
            if add_penalty(gradient[place], at[place]) <= limit[place]:
                weights[bit_of[place]], done[bit_of[place]] = at[place], True
                n_going -= 1
                for array in (at, decisions, slope, curvature, targets, gradient):
                    copy_row(array, n_going, place)
                copy_number(objective, limit, bit_of, n_going, place)
        if n_going == 0 or iteration == max_iter:
            break
        find_directions(singles, squares, curvature[:n_going], gradient[:n_going], limit, direction)
        np.dot(direction[:n_going], Z.T, ahead[:n_going])
        for place in range(n_going - 1, -1, -1):
            kept[:] = at[place]
            there, has_moved = go_ahead(
                at[place], decisions[place], direction[place], ahead[place], gradient[place], targets[place],
                objective[place], loss, slope[place], curvature[place],
            )  # fmt: skip
            objective[place] = there
            if not has_moved:  # nor would it the next time
                weights[bit_of[place]], done[bit_of[place]] = kept, False
                n_going -= 1
                for array in (at, decisions, slope, curvature, targets, gradient):
                    copy_row(array, n_going, place)
                copy_number(objective, limit, bit_of, n_going, place)
    for place in range(n_going):
        weights[bit_of[place]], done[bit_of[place]] = at[place], False


@inline_sums
def begin(
    at: Floats, decisions: Floats, targets: Floats, loss: Floats, slope: Floats, curvature: Floats
) -> tuple[float, float]:
    """Let a bit begin at 0 if that is lower; return the objective there and the total size of the targets."""
    total = 0.0
    for row in range(len(targets)):
        total += abs(targets[row])
    objective = logistic_terms(decisions, targets, loss, slope, curvature) + penalty(at)
    if not objective <= _LOG_2 * total:  # NaN is not, either
        for i in range(len(at)):
            at[i] = 0.0
        for row in range(len(decisions)):
            decisions[row] = 0.0
        objective = logistic_terms(decisions, targets, loss, slope, curvature)
    return objective, total


@inline_sums
def add_penalty(gradient: Floats, at: Floats) -> float:
    """Add the gradient of ½|v|² to that of the losses, and return its length."""
    for i in range(len(at) - 1):
        gradient[i] += at[i]
    square = 0.0
    for i in range(len(at)):
        square += gradient[i] * gradient[i]
    return float(np.sqrt(square))


@inline
def copy_row(array: Floats, source: int, target: int) -> None:
    """Write a row of an array over another one."""
    for i in range(array.shape[1]):
        array[target, i] = array[source, i]


@inline
def copy_number(objective: Floats, limit: Floats, bit_of: Longs, source: int, target: int) -> None:
    """Write what is known of a bit over that of another."""
    objective[target], limit[target], bit_of[target] = objective[source], limit[source], bit_of[source]


@helper
def find_directions(
    Z: Floats, squares: Floats, curvatures: Floats, gradients: Floats, limits: Floats, out: Floats
) -> None:
    """Solve each bit's Newton equations, roughly, by conjugate gradients in half as long numbers."""
    n_bits, width = gradients.shape
    curvature = curvatures.astype(np.float32)
    diagonal = np.empty((n_bits, width), np.float32)
    np.dot(curvature, squares, diagonal)
    residual, search = np.empty_like(diagonal), np.empty_like(diagonal)
    solution = np.zeros_like(diagonal)
    ahead, curved = np.empty_like(curvature), np.empty_like(diagonal)
    power, end, damping = np.empty((3, n_bits), np.float32)
    bit_of = np.arange(n_bits)
    for bit in range(n_bits):
        power[bit], length = np.float32(0.0), np.float32(0.0)
        for i in range(width):
            held = np.float32(1.0)
            if i == width - 1:
                held = damp(gradients[bit, i], diagonal[bit, i])
                damping[bit] = held
            diagonal[bit, i] += held
            r = np.float32(-gradients[bit, i])
            residual[bit, i], search[bit, i] = r, r / diagonal[bit, i]
            power[bit] += r * search[bit, i]
            length += r * r
        end[bit] = when_to_end(float(length), limits[bit])
    n_going = n_bits
    for _ in range(STEPS):
        np.dot(search[:n_going], Z.T, ahead[:n_going])
        for place in range(n_going):
            for row in range(ahead.shape[1]):
                ahead[place, row] *= curvature[place, row]
        np.dot(ahead[:n_going], Z, curved[:n_going])
        for place in range(n_going - 1, -1, -1):
            power[place], left = conjugate_step(
                search[place], curved[place], damping[place], diagonal[place],
                residual[place], solution[place], power[place],
            )  # fmt: skip
            if left <= end[place]:
                out[bit_of[place]] = solution[place]
                n_going -= 1
                for array in (search, residual, solution, curvature, diagonal):
                    copy_row(array, n_going, place)
                copy_number(power, end, bit_of, n_going, place)
                damping[place] = damping[n_going]
        if n_going == 0:
            return
    for place in range(n_going):
        out[bit_of[place]] = solution[place]


@inline
def damp(slope: float, curvature: float) -> np.float32:
    """Return what to add to the curvature of the intercept."""
    return np.float32(_TINY + max(0.0, _DAMPING * abs(slope) - curvature))


@inline
def when_to_end(square: float, limit: float) -> np.float32:
    """Return the squared length of a residual that is short enough, given that of the gradient."""
    rest = min(max(square, _REST[1] ** 2), _REST[0] ** 2)
    return np.float32(max(square * rest, (_ENOUGH * limit) ** 2))


@inline_sums
def conjugate_step(
    search: Floats,
    curved: Floats,
    damping: np.float32,
    diagonal: Floats,
    residual: Floats,
    solution: Floats,
    power: np.float32,
) -> tuple[np.float32, np.float32]:
    """Take a step of conjugate gradients for a bit; return the power and squared length of the new residual.

    `curved` is the matrix times the direction `search`, but for the penalty, which is 1 on the diagonal of
    all but the last, where it is the `damping`. The power is residual · (residual / diagonal).
    """
    width = len(search)
    zero = np.float32(0.0)
    for i in range(width - 1):
        curved[i] += search[i]
    curved[width - 1] += damping * search[width - 1]
    curvature = zero
    for i in range(width):
        curvature += search[i] * curved[i]
    size = power / curvature
    for i in range(width):
        solution[i] += size * search[i]
        residual[i] -= size * curved[i]
        curved[i] = residual[i] / diagonal[i]
    left, next_power = zero, zero
    for i in range(width):
        left += residual[i] * residual[i]
        next_power += residual[i] * curved[i]
    ratio = next_power / power
    for i in range(width):
        search[i] = curved[i] + ratio * search[i]
    return next_power, left


@inline_sums
def go_ahead(
    at: Floats,
    decisions: Floats,
    direction: Floats,
    ahead: Floats,
    gradient: Floats,
    targets: Floats,
    objective: float,
    loss: Floats,
    slope: Floats,
    curvature: Floats,
) -> tuple[float, bool]:
    """Go along a bit's direction, half as far where that would not pay off, and so on.

    `direction` and `ahead` are what to add to `at` and `decisions` at most. Returns the objective and whether
    it is lower than it was: if not, what was overwritten is of no use.
    """
    promised = 0.0
    for i in range(len(at)):
        promised += gradient[i] * direction[i]
        at[i] += direction[i]
    for row in range(len(decisions)):
        decisions[row] += ahead[row]
    size = 1.0
    there = logistic_terms(decisions, targets, loss, slope, curvature) + penalty(at)
    for _ in range(_HALVINGS):
        if there <= objective + _SUFFICIENT * size * promised + _ROUNDING * abs(objective):
            return there, True
        size *= 0.5
        for i in range(len(at)):
            at[i] -= size * direction[i]
        for row in range(len(decisions)):
            decisions[row] -= size * ahead[row]
        there = logistic_terms(decisions, targets, loss, slope, curvature) + penalty(at)
    return there, False


@inline_sums
def penalty(at: Floats) -> float:
    """Return ½|v|², of all weights but the last one, which is the intercept."""
    total = 0.0
    for i in range(len(at) - 1):
        total += at[i] * at[i]
    return 0.5 * total


@inline_sums
def logistic_terms(
    decisions: Floats, targets: Floats, loss: Floats, slope: Floats, curvature: Floats
) -> float:
    """Write each row's loss, and its two derivatives by the decision; return the sum of the losses."""
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
