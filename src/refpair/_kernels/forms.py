"""The forms that binned features come in, dense and sparse, and what growing trees asks of them.

Which body a function has is chosen by the type of `features` when numba compiles: ``dense`` and ``sparse``
each implement the seven functions that have none here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from numba import types
from numba.extending import overload

from refpair._kernels.jit import helper
from refpair._kernels.split import Limits
from refpair._kernels.types import Ints, Longs

if TYPE_CHECKING:
    from refpair._kernels.dense import DenseBins, DenseWork
    from refpair._kernels.sparse import SparseBins, SparseWork

# Gain, feature, threshold, side of missing values, packed sum of the left child.
Split: TypeAlias = tuple[float, int, int, int, int]
Implementation = TypeVar("Implementation", bound=Callable[..., object])

# Up to this many rows, a node's sums are collected anew; above it, its histogram is kept, and the larger
# child's is the parent's minus the smaller child's. Measured on the paper's sets: sparse data like 12 a
# little better than 24 (enron 0.80 against 0.87 ms a bit), dense data do not care.
SMALL_NODE = 16


class Order(NamedTuple):
    """A random order of the features that a tree may use, which are the first ones."""

    order: Ints  # (allowed,): the feature at each place
    place: Ints  # (allowed,): its inverse, if all features are drawn
    n_drawn: int  # how many of them, from the front, a split looks at


def implements(function: Callable[..., object], form: type) -> Callable[[Implementation], Implementation]:
    """Decorate what `function` does where the first argument, the features, has the given form."""

    def decorate(implementation: Implementation) -> Implementation:
        @wraps(implementation)  # numba compares the names of the parameters
        def choose(features: types.Type, *_: types.Type) -> Implementation | None:
            return implementation if getattr(features, "instance_class", None) is form else None

        overload(function)(choose)
        return implementation

    return decorate


@helper
def n_histograms(n_rows: int) -> int:
    """Return how many histograms are kept at once.

    The smaller one of two children is split first, so a node with k larger ones waiting has at most n/2ᵏ
    rows; and it has more than `SMALL_NODE`, or its histogram would not be kept.
    """
    n_kept = 0
    while (SMALL_NODE + 1) << n_kept <= n_rows:
        n_kept += 1
    return n_kept


def first_features(features: DenseBins | SparseBins, n_features: int) -> DenseBins | SparseBins:
    """Return the features without those from `n_features` on, as far as the form can without a copy."""
    raise NotImplementedError


def make_workspace(
    features: DenseBins | SparseBins, n_rows: int, keep_histograms: bool, any_drawn: bool
) -> DenseWork | SparseWork:
    """Allocate what one call needs, if some trees keep histograms, and if some draw features."""
    raise NotImplementedError


def start_tree(
    features: DenseBins | SparseBins, work: DenseWork | SparseWork, rows: Ints, n_kept: int, by_row: Longs
) -> None:
    """Note which rows a new tree is grown on."""
    raise NotImplementedError


def make_histogram(
    features: DenseBins | SparseBins,
    work: DenseWork | SparseWork,
    slot: int,
    rows: Ints,
    by_row: Longs,
    start: int,
    end: int,
) -> None:
    """Fill the histogram in `slot` with the rows ``start … end``."""
    raise NotImplementedError


def search(
    features: DenseBins | SparseBins,
    work: DenseWork | SparseWork,
    slot: int,
    rows: Ints,
    by_row: Longs,
    start: int,
    end: int,
    total: int,
    order: Order,
    turn: int,
    limits: Limits,
) -> Split:
    """Return the best split of a node: ``(gain, feature, threshold, side of missing values, left)``.

    The feature is −1 if no split is allowed; the side is 1 (left), 0 (right) or −1 (none is missing).
    """
    raise NotImplementedError


def part_rows(
    features: DenseBins | SparseBins,
    work: DenseWork | SparseWork,
    split: Split,
    rows: Ints,
    start: int,
    end: int,
) -> int:
    """Move the rows of the left child to the front; return where the right child starts."""
    raise NotImplementedError


def hand_down(
    features: DenseBins | SparseBins,
    work: DenseWork | SparseWork,
    slot: int,
    small_slot: int,
    rows: Ints,
    by_row: Longs,
    start: int,
    end: int,
) -> None:
    """Turn a node's histogram into its larger child's.

    The rows ``start … end`` of the smaller child are subtracted. If `small_slot` is not −1, the smaller
    child's histogram is kept there.
    """
    raise NotImplementedError
