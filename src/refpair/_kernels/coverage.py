"""How much rows are alike."""

from __future__ import annotations

from refpair._kernels.jit import Floats, inline, inline_sums, kernel
from refpair._kernels.newton import exp_of_negative


@kernel
def products_to_likenesses(inner: Floats, left: Floats, right: Floats, unit: float) -> None:
    """Turn the inner products of rows with others into how much they are alike, from 0 to 1.

    `left` and `right` are the squared lengths of rows and others, `unit` a squared distance that is usual.
    """
    for row in range(len(left)):
        _row_to_likenesses(inner[row], left[row], right, 1.0 / unit)


@inline_sums
def _row_to_likenesses(inner: Floats, left: float, right: Floats, scale: float) -> None:
    for i in range(len(inner)):
        inner[i] = _likeness(scale * max(left + right[i] - 2.0 * inner[i], 0.0))


@inline
def _likeness(distance: float) -> float:
    """Return the mean of exp(−d), exp(−3 d) and exp(−10 d): which is best differs by the data set."""
    once = exp_of_negative(-distance)
    thrice = once * once * once
    five_times = thrice * once * once
    return (once + thrice + five_times * five_times) / 3.0
