"""What bits have to learn and from which rows, and what a learner of bits is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair._kernels.rng import draw_rows, write_out_of_bag
from refpair._saved import Savable, require
from refpair.bits.binning import Matrix
from refpair.bits.weights import check_row_weight

ALL = slice(None)  # bits
MaxFeatures: TypeAlias = int | float | Literal["sqrt", "log2"] | None


@dataclass(frozen=True, eq=False)
class BitProblems:
    """M weighted binary problems on the same rows (section 3.2 of the paper).

    Targets are given by distinct label vector, not by row: rows of the same label vector have the same bits
    and weights.

    Whatever a learner draws for a bit comes from the bit's seed alone.
    """

    vector_of_row: npt.NDArray[np.int32]  # which of the distinct label vectors each training row carries
    n_bits: int
    # Gives C(y, β) − C(y, α) of the bits in a slice, one row a distinct vector. The sign is the bit, the size
    # is its weight, and 0 leaves the row out.
    differences: Callable[[slice], npt.NDArray[np.float64]]
    seeds: npt.NDArray[np.uint64]  # (n_bits,)
    n_features: npt.NDArray[np.int32] | None = None  # how many of the first ones each bit may use; None: all
    row_weight: npt.NDArray[np.float64] | None = None  # (n,): how often each training row counts; None: once

    def __post_init__(self) -> None:
        """Refuse weights of rows that kernels cannot count with."""
        if self.row_weight is not None:
            check_row_weight(self.row_weight, len(self.vector_of_row))

    def at_hand(self) -> BitProblems:
        """Return the same problems with the differences of all bits computed, once."""
        return replace(self, differences=partial(_columns, self.differences(slice(0, self.n_bits))))

    def take(self, bits: npt.NDArray[np.intp]) -> BitProblems:
        """Return some of the problems, free to use all features that there are."""
        return BitProblems(
            self.vector_of_row, len(bits), partial(_taken, self.differences, bits), self.seeds[bits],
            row_weight=self.row_weight,
        )  # fmt: skip


# Not closures: other processes are given them.


def _columns(differences: npt.NDArray[np.float64], bits: slice) -> npt.NDArray[np.float64]:
    return differences[:, bits]


def _taken(
    differences: Callable[[slice], npt.NDArray[np.float64]], bits: npt.NDArray[np.intp], some: slice
) -> npt.NDArray[np.float64]:
    own = bits[some]
    first = int(own.min(initial=0))
    return differences(slice(first, int(own.max(initial=0)) + 1))[:, own - first]


@dataclass(frozen=True, eq=False)
class ClassProblems:
    """Problems of several classes on the same rows, to be learned by a forest each."""

    classes: npt.NDArray[np.int32]  # (n, n_problems): the class of each row in each problem, from 0
    n_classes: npt.NDArray[np.int64]  # (n_problems,)
    n_trees: int  # of each problem
    seeds: npt.NDArray[np.uint64]  # one a tree, problem by problem: whatever a tree draws comes from it alone
    row_weight: npt.NDArray[np.float64] | None = None  # (n,): how often each row counts; None: once

    def __post_init__(self) -> None:
        """Refuse what kernels would read or write beyond the end of an array for."""
        if self.row_weight is not None:
            check_row_weight(self.row_weight, len(self.classes))
        n_problems = self.classes.shape[1]
        if len(self.n_classes) != n_problems:
            raise ValueError(f"{len(self.n_classes)} numbers of classes are given for {n_problems} problems")
        if self.n_trees < 1:
            raise ValueError(f"n_trees must be 1 or more, not {self.n_trees}")
        if len(self.seeds) != n_problems * self.n_trees:
            raise ValueError(
                f"{len(self.seeds)} seeds are given for {n_problems} problems of {self.n_trees} trees"
            )
        if not len(self.classes):
            raise ValueError("there are no rows to learn from")
        wrong = (self.classes < 0) | (self.classes >= np.asarray(self.n_classes)[None, :])
        if wrong.any():
            row, problem = np.argwhere(wrong)[0]
            raise ValueError(
                f"problem {problem} has the class {self.classes[row, problem]}, "
                f"but its classes are 0 to {self.n_classes[problem] - 1}"
            )


@dataclass(frozen=True, eq=False)
class Bags(Savable):
    """The rows that bits drew, without replacement, of all training rows.

    They are not kept: a bit draws them from its seed, and draws them again whenever they are asked for.
    """

    seeds: npt.NDArray[np.uint64]  # (n_bits,)
    n_rows: int  # of the training data
    n_sampled: int  # of these, for each bit

    @classmethod
    def of(cls, seeds: npt.NDArray[np.uint64], n_rows: int, n_sampled: int) -> Bags | None:
        """Return the bags, or None if each bit has all rows."""
        return cls(seeds, n_rows, n_sampled) if n_sampled < n_rows else None

    def rows(self, bit: int) -> npt.NDArray[np.int32]:
        """Return the rows of a bit, in the order in which it drew them."""
        return np.asarray(draw_rows(self.n_rows, self.n_sampled, self.seeds[bit]))

    def leave_out(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        """Return which bits were learned without which of some training rows, of shape (n_asked, n_bits)."""
        asked, which = np.unique(rows, return_inverse=True)
        place = np.full(self.n_rows, -1, np.int32)
        place[asked] = np.arange(len(asked), dtype=np.int32)
        out = np.empty((len(asked), len(self.seeds)), bool)
        write_out_of_bag(self.n_rows, self.n_sampled, self.seeds, place, out)
        return out[which]

    def __len__(self) -> int:
        return len(self.seeds)

    def _check_saved(self) -> None:
        fine = self.seeds.ndim == 1 and 0 < self.n_sampled < self.n_rows < 2**31
        require(fine, "a bag is empty or too large")


class BitLearner(Savable, ABC):
    """Learns all bits, then predicts them."""

    bags_: Bags | None  # which rows each bit was learned from; None: from all
    n_jobs: int | None  # how many threads learn the bits and predict them

    @abstractmethod
    def fit(self, X: Matrix, problems: BitProblems) -> Self:
        """Learn every bit from the rows of X."""

    @abstractmethod
    def predict(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.int8]:
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit."""

    @abstractmethod
    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: from −1 to +1, with the sign of the predicted bit."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of bits."""

    @abstractmethod
    def check_n_features(self, n_features: int) -> None:
        """Raise a ValueError if the bits were learned from another number of features."""

    def predict_and_values(
        self, X: Matrix, n_signs: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Return the first bits as by `predict` and the others as by `values`."""
        return self.predict(X, slice(0, n_signs)), self.values(X, slice(n_signs, None))

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return a learner of some of the bits, as they were learned."""
        bank = copy(self)
        bank.bags_ = None if self.bags_ is None else replace(self.bags_, seeds=self.bags_.seeds[bits])
        return bank

    def with_more(self, other: Self) -> Self:
        """Return a learner of its bits and then those of another, learned from the same rows."""
        bank = copy(self)
        if self.bags_ is not None and other.bags_ is not None:
            seeds = np.concatenate([self.bags_.seeds, other.bags_.seeds])
            bank.bags_ = replace(self.bags_, seeds=seeds)
        return bank

    def _check_saved(self) -> None:
        require(self.bags_ is None or len(self.bags_) == len(self), "there is not a bag for each bit")


def choose_max_features(
    max_features: MaxFeatures | Literal["auto", "forest"], n_bins: npt.NDArray[np.integer]
) -> MaxFeatures:
    """Return how many features a split looks at, where that is to depend on their numbers of bins.

    "auto" and "forest" take the square root if most features have more than two values. Among many that are
    there or not (words, say) only few tell anything, and a small draw would miss them: then "auto" takes all,
    and "forest" a third, which for a forest is as good, and quicker.
    """
    if max_features != "auto" and max_features != "forest":
        return max_features
    if len(n_bins) == 0 or (n_bins > 2).mean() > 0.5:
        return "sqrt"
    return None if max_features == "auto" else 1 / 3


def resolve_max_features(max_features: MaxFeatures, n_features: int) -> int:
    """Return how many features a split looks at."""
    if max_features == "sqrt":
        return max(1, math.isqrt(n_features))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    return resolve_share(max_features, n_features)


def resolve_share(amount: int | float | None, n: int) -> int:
    """Return a number of things out of `n`, given as a number, a share, or None for all."""
    if amount is None:
        return n
    if isinstance(amount, int | np.integer):
        return min(int(amount), n)
    return max(1, round(amount * n))
