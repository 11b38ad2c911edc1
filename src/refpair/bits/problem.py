"""What the bits have to learn, and what a learner of bits is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from refpair.bits.bags import Bags
from refpair.bits.binning import Matrix

__all__ = ["ALL", "BitLearner", "BitProblems", "chunks_of"]

ALL = slice(None)  # bits


@dataclass(frozen=True, eq=False)
class BitProblems:
    """M weighted binary problems on the same rows (section 3.2 of the paper).

    Targets are given by distinct label vector, not by row: rows of the same label vector have the same bits
    and weights.

    Attributes
    ----------
    vector_of_row : ndarray of shape (n,)
        Which of the distinct label vectors each training row carries.
    n_bits : int
    differences : callable
        ``differences(slice)`` gives C(y, β) − C(y, α) of the bits in the slice, one row a distinct vector.
        The sign is the bit, the size is its weight, and 0 leaves the row out.
    seeds : ndarray of uint64
        One a bit: whatever a learner draws for a bit comes from its seed alone.
    n_features : ndarray of int32, optional
        How many of the first features of X each bit may use, at least one; all, if it is None.
    """

    vector_of_row: npt.NDArray[np.int32]
    n_bits: int
    differences: Callable[[slice], npt.NDArray[np.float64]]
    seeds: npt.NDArray[np.uint64]
    n_features: npt.NDArray[np.int32] | None = None

    def at_hand(self) -> BitProblems:
        """Return the same problems with the differences of all bits computed, once."""
        return replace(self, differences=partial(_columns, self.differences(slice(0, self.n_bits))))

    def take(self, bits: npt.NDArray[np.intp]) -> BitProblems:
        """Return some of the problems, free to use all features that there are."""
        return BitProblems(
            self.vector_of_row, len(bits), partial(_taken, self.differences, bits), self.seeds[bits]
        )


@runtime_checkable
class BitLearner(Protocol):
    """Learns all bits, then predicts them."""

    def fit(self, X: Matrix, problems: BitProblems) -> Self:
        """Learn every bit from the rows of X."""

    bags_: Bags | None

    def predict(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.int8]:
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit."""

    def predict_and_values(
        self, X: Matrix, n_signs: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Return the first bits as by `predict` and the others as by `values`."""

    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: from −1 to +1, with the sign of the predicted bit."""

    def __len__(self) -> int:
        """Return the number of bits."""

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return a learner of some of the bits, as they were learnt."""

    def check_n_features(self, n_features: int) -> None:
        """Raise a ValueError if the bits were learnt from another number of features."""


def _columns(differences: npt.NDArray[np.float64], bits: slice) -> npt.NDArray[np.float64]:
    return differences[:, bits]


def _taken(
    differences: Callable[[slice], npt.NDArray[np.float64]], bits: npt.NDArray[np.intp], some: slice
) -> npt.NDArray[np.float64]:
    """Return what some of the taken bits have to learn. Not a closure: other processes are given it."""
    own = bits[some]
    first = int(own.min(initial=0))
    return differences(slice(first, int(own.max(initial=0)) + 1))[:, own - first]


def chunks_of(n: int, size: int) -> list[slice]:
    """Cut 0 … n−1 into slices of at most `size`; at least one, if an empty one.

    Examples
    --------
    >>> chunks_of(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]
