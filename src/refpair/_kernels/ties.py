"""Differences of costs, of which those that are due to rounding are ties."""

from __future__ import annotations

from refpair._kernels.jit import inline, kernel
from refpair._kernels.types import Floats, SignedBytes

# Costs that differ by less than this part of themselves are equal but for rounding. The named costs round
# equal fractions to equal floats and need no tolerance; sums of prices such as 0.1 + 0.2 and 0.3 do. Costs
# that truly differ are far apart: two F1 values of K labels by 1/(2K)² or more, 1e-8 at K = 5,000.
_TIE = 1e-12


@kernel
def write_differences(costs: Floats, differences: Floats) -> None:
    """Write C(y, β) − C(y, α) of each row y and pair; 0 for a tie.

    Parameters
    ----------
    costs : ndarray of shape (n, 2 m)
        Those of m first vectors α, then those of m second ones β.
    differences : ndarray of shape (n, m)
        Written; need not be contiguous.
    """
    n_rows, n_pairs = differences.shape
    for row in range(n_rows):
        for pair in range(n_pairs):
            differences[row, pair] = _difference(costs[row, pair], costs[row, n_pairs + pair])


@kernel
def write_signs(costs: Floats, signs: SignedBytes) -> None:
    """Write only the signs of the differences; see `write_differences`."""
    n_rows, n_pairs = signs.shape
    for row in range(n_rows):
        for pair in range(n_pairs):
            difference = _difference(costs[row, pair], costs[row, n_pairs + pair])
            signs[row, pair] = (difference > 0.0) - (difference < 0.0)


@inline
def _difference(of_alpha: float, of_beta: float) -> float:
    difference = of_beta - of_alpha
    return 0.0 if abs(difference) <= _TIE * max(abs(of_alpha), abs(of_beta)) else difference
