"""How well rows stand for others."""

from __future__ import annotations

from refpair._kernels.jit import inline, inline_sums, kernel
from refpair._kernels.logistic import exp_of_negative
from refpair._kernels.types import Floats


@kernel
def likenesses(distances: Floats, alike: Floats) -> None:
    """Write how much rows are alike.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Squared, in units of what is usual.
    alike : ndarray of shape (n,)
        Written: from 0 to 1.
    """
    for i in range(len(distances)):
        alike[i] = _likeness(distances[i])


@kernel
def mean_new_likeness(
    inner: Floats, left: Floats, right: Floats, unit: float, known: Floats, means: Floats
) -> None:
    """Write by how much more each row is like others than is known, on average over those.

    Parameters
    ----------
    inner : ndarray of shape (n_rows, n_others)
        The inner products of rows and others.
    left, right : ndarray of shape (n_rows,), (n_others,)
        Their squared lengths.
    unit : float
        A squared distance that is usual.
    known : ndarray of shape (n_others,)
        What the others are like something that is known; only what is more counts.
    means : ndarray of shape (n_rows,)
        Written.
    """
    for row in range(len(means)):
        means[row] = _sum_of_row(inner[row], left[row], right, 1.0 / unit, known) / len(right)


@inline_sums
def _sum_of_row(inner: Floats, left: float, right: Floats, scale: float, known: Floats) -> float:
    total = 0.0
    for i in range(len(inner)):
        distance = max(left + right[i] - 2.0 * inner[i], 0.0)
        total += max(_likeness(scale * distance) - known[i], 0.0)
    return total


@inline
def _likeness(distance: float) -> float:
    """Return the mean of exp(−d), exp(−3 d) and exp(−10 d): alike from afar, and on a closer look.

    Which of them is best differs from one data set to another by more than a query could tell.
    """
    once = exp_of_negative(-distance)
    thrice = once * once * once
    five_times = thrice * once * once
    return (once + thrice + five_times * five_times) / 3.0
