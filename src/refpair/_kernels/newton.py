"""Logistic regressions of many bits at once. A row of an array is a bit, unless it is the rows' Z.

What goes on is kept in front: a bit that is done leaves its place to the last one that is not. So products of
matrices are of those bits alone, and nothing else is moved.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import helper, inline, inline_sums, kernel
from refpair._kernels.logistic import logistic_terms
from refpair._kernels.products import Csr, onto_columns, onto_rows
from refpair._kernels.types import Bools, Floats, Longs

_DIRECTION_STEPS = 50  # of conjugate gradients, for one direction
_HALVINGS = 30
_REST = 0.1, 1e-4  # of a gradient, where conjugate gradients stop far away from the minimum and near it
_SUFFICIENT = 1e-4  # of the decrease that the slope promises
_ROUNDING = 1e-11  # of a sum of losses
_DAMPING = 0.03  # of its slope, as which the intercept's curvature counts at least: where a bit is sure of
_TINY = 1e-10  # all its rows, nothing curves, and nothing else would hold the intercept back
_LOG_2 = np.log(2.0)


@kernel
def minimise_logistic_losses(
    Z: Floats,
    singles: Floats,
    sparse: Csr,
    sparse_singles: Csr,
    targets: Floats,
    weights: Floats,
    tol: float,
    max_iter: int,
    done: Bools,
) -> None:
    """Minimise ½|v|² + Σ |t| log(1 + exp(−sign(t) f)) for each bit, f = v·z + b, by Newton's method.

    Parameters
    ----------
    Z, singles : ndarray of shape (n, r + 1)
        The rows, a 1 behind each, as float64 and as float32: directions need not be exact, and half as long
        numbers are multiplied twice as fast. Of shape (0, 0) if they are sparse.
    sparse, sparse_singles : (data, indices, indptr)
        The same as a CSR matrix; empty arrays if they are dense.
    targets : ndarray of shape (n_bits, n)
        The sign is the bit, the size the weight. Overwritten.
    weights : ndarray of shape (n_bits, r + 1)
        Where to begin; overwritten with the minimum. The last one is the intercept, which is free.
    tol : float
        A bit is done once its gradient is no longer than this, or than this part of Σ |t| if that is less.
    max_iter : int
        How many steps at most.
    done : ndarray of bool, shape (n_bits,)
        Written.
    """
    n_bits, n_rows = targets.shape
    width = weights.shape[1]
    squares, sparse_squares = singles * singles, (sparse_singles[0] ** 2, sparse[1], sparse[2])
    at = weights.copy()
    decisions, ahead = np.empty((n_bits, n_rows)), np.empty((n_bits, n_rows))
    slope, curvature = np.empty((n_bits, n_rows)), np.empty((n_bits, n_rows))
    gradient, direction = np.empty((n_bits, width)), np.empty((n_bits, width))
    objective, limit, bit_of = np.empty(n_bits), np.empty(n_bits), np.arange(n_bits)
    loss, kept = np.empty(n_rows), np.empty(width)
    onto_rows(at, Z, sparse, decisions)
    for place in range(n_bits):
        objective[place], total = begin(
            at[place], decisions[place], targets[place], loss, slope[place], curvature[place]
        )
        limit[place] = tol * min(1.0, total)
    n_going = n_bits
    for iteration in range(max_iter + 1):
        onto_columns(slope[:n_going], Z, sparse, gradient[:n_going])
        for place in range(n_going - 1, -1, -1):
            if add_penalty(gradient[place], at[place]) <= limit[place]:
                weights[bit_of[place]], done[bit_of[place]] = at[place], True
                n_going -= 1
                fill_place(
                    n_going, place, at, decisions, slope, curvature, targets, gradient,
                    objective, limit, bit_of,
                )  # fmt: skip
        if n_going == 0 or iteration == max_iter:
            break
        find_directions(
            singles, squares, sparse_singles, sparse_squares,
            curvature[:n_going], gradient[:n_going], direction,
        )  # fmt: skip
        onto_rows(direction[:n_going], Z, sparse, ahead[:n_going])
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
                fill_place(
                    n_going, place, at, decisions, slope, curvature, targets, gradient,
                    objective, limit, bit_of,
                )  # fmt: skip
    for place in range(n_going):
        weights[bit_of[place]], done[bit_of[place]] = at[place], False


@inline_sums
def begin(
    at: Floats, decisions: Floats, targets: Floats, loss: Floats, slope: Floats, curvature: Floats
) -> tuple[float, float]:
    """Look at where a bit is to begin, and let it begin at 0 instead if that is lower.

    Parameters
    ----------
    at, decisions : ndarray of shape (r + 1,), (n,)
        Set to 0 if it is.
    targets, loss, slope, curvature : ndarray of shape (n,)
        As in `logistic_terms`.

    Returns
    -------
    objective : float
    total : float
        Of the sizes of the targets.
    """
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
def fill_place(
    last: int,
    place: int,
    at: Floats,
    decisions: Floats,
    slope: Floats,
    curvature: Floats,
    targets: Floats,
    gradient: Floats,
    objective: Floats,
    limit: Floats,
    bit_of: Longs,
) -> None:
    """Put the last bit in the place of another."""
    for array in (at, decisions, slope, curvature, targets, gradient):
        copy_row(array, last, place)
    objective[place], limit[place], bit_of[place] = objective[last], limit[last], bit_of[last]


@inline
def copy_row(array: Floats, source: int, target: int) -> None:
    """Write a row of an array over another one."""
    for i in range(array.shape[1]):
        array[target, i] = array[source, i]


@helper
def find_directions(
    Z: Floats,
    squares: Floats,
    sparse: Csr,
    sparse_squares: Csr,
    curvatures: Floats,
    gradients: Floats,
    directions: Floats,
) -> None:
    """Solve each bit's Newton equations, roughly, by conjugate gradients in half as long numbers.

    Parameters
    ----------
    Z, squares : ndarray of float32, shape (n, r + 1)
        The rows, and the squares of their entries.
    sparse, sparse_squares : (data, indices, indptr)
        The same as CSR matrices.
    curvatures : ndarray of shape (n_bits, n)
        Of the losses by the decisions.
    gradients : ndarray of shape (n_bits, r + 1)
    directions : ndarray of shape (at least n_bits, r + 1)
        Written: a row for each of the gradients.
    """
    n_bits, width = gradients.shape
    curvature = curvatures.astype(np.float32)
    diagonal = np.empty((n_bits, width), np.float32)
    onto_columns(curvature, squares, sparse_squares, diagonal)
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
                held = np.float32(_TINY + max(0.0, _DAMPING * abs(gradients[bit, i]) - diagonal[bit, i]))
                damping[bit] = held
            diagonal[bit, i] += held
            r = np.float32(-gradients[bit, i])
            residual[bit, i], search[bit, i] = r, r / diagonal[bit, i]
            power[bit] += r * search[bit, i]
            length += r * r
        end[bit] = length * min(max(length, np.float32(_REST[1] ** 2)), np.float32(_REST[0] ** 2))
    n_going = n_bits
    for _ in range(_DIRECTION_STEPS):
        onto_rows(search[:n_going], Z, sparse, ahead[:n_going])
        for place in range(n_going):
            for row in range(ahead.shape[1]):
                ahead[place, row] *= curvature[place, row]
        onto_columns(ahead[:n_going], Z, sparse, curved[:n_going])
        for place in range(n_going - 1, -1, -1):
            power[place], left = conjugate_step(
                search[place], curved[place], damping[place], diagonal[place],
                residual[place], solution[place], power[place],
            )  # fmt: skip
            if left <= end[place]:
                directions[bit_of[place]] = solution[place]
                n_going -= 1
                search[place], residual[place], solution[place] = (
                    search[n_going], residual[n_going], solution[n_going],
                )  # fmt: skip
                curvature[place], diagonal[place] = curvature[n_going], diagonal[n_going]
                power[place], end[place], damping[place] = power[n_going], end[n_going], damping[n_going]
                bit_of[place] = bit_of[n_going]
        if n_going == 0:
            return
    for place in range(n_going):
        directions[bit_of[place]] = solution[place]


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
    """Take a step of conjugate gradients for a bit, and find the next one's direction.

    Parameters
    ----------
    search : ndarray of shape (r + 1,)
        The direction p; overwritten with the next one.
    curved : ndarray of shape (r + 1,)
        The matrix times p, but for the penalty, which is 1 on the diagonal of all but the last.
    damping : float
        What is added there to the last.
    diagonal : ndarray of shape (r + 1,)
        Of the matrix, to divide by.
    residual, solution : ndarray of shape (r + 1,)
        Overwritten.
    power : float
        The product of the residual and the residual over the diagonal.

    Returns
    -------
    power : float
        Of the new residual.
    left : float
        Its length, squared.
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

    Parameters
    ----------
    at : ndarray of shape (r + 1,)
        The weights; overwritten.
    decisions : ndarray of shape (n,)
        Overwritten, as the weights are.
    direction, ahead : ndarray
        What to add to them, at most.
    gradient : ndarray of shape (r + 1,)
    targets : ndarray of shape (n,)
    objective : float
        Where the bit is.
    loss, slope, curvature : ndarray of shape (n,)
        Written, as by `logistic_terms`.

    Returns
    -------
    objective : float
        Where it is now.
    has_moved : bool
        Whether that is lower; if not, all that was overwritten is of no use.
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
