"""How well rows stand for others."""

from __future__ import annotations

from refpair._kernels.jit import inline_sums, kernel
from refpair._kernels.logistic import exp_of_negative
from refpair._kernels.types import Floats


@kernel
def mean_new_likeness(
    inner: Floats, left: Floats, right: Floats, scale: float, known: Floats, means: Floats
) -> None:
    """Write by how much more each row is like others than is known, on average over those.

    Parameters
    ----------
    inner : ndarray of shape (n_rows, n_others)
        The inner products of rows and others.
    left, right : ndarray of shape (n_rows,), (n_others,)
        Their squared lengths.
    scale : float
        Likeness is exp(−scale d²), with the distance d.
    known : ndarray of shape (n_others,)
        What the others are like something that is known; only what is more counts.
    means : ndarray of shape (n_rows,)
        Written.
    """
    for row in range(len(means)):
        means[row] = _sum_of_row(inner[row], left[row], right, scale, known) / len(right)


@inline_sums
def _sum_of_row(inner: Floats, left: float, right: Floats, scale: float, known: Floats) -> float:
    total = 0.0
    for i in range(len(inner)):
        distance = max(left + right[i] - 2.0 * inner[i], 0.0)
        total += max(exp_of_negative(-scale * distance) - known[i], 0.0)
    return total
