"""The tree bank: a weighted binary tree for each of thousands of bits, all on the same binned features."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from refpair._kernels.grow import grow_trees
from refpair._kernels.packed import field_widths
from refpair._kernels.rng import draw_rows
from refpair._kernels.split import Limits
from refpair._kernels.traverse import leaf_signs, leaf_values
from refpair._parallel import run_chunks
from refpair._saved import Savable, require, starts_in_order
from refpair.bits.bags import Bags
from refpair.bits.binning import Bins, Features, Matrix, bin_for_training, find_bins
from refpair.bits.problem import ALL, BitProblems, chunks_of
from refpair.bits.sizes import MaxFeatures, choose_max_features, resolve_max_features, resolve_share
from refpair.on_disk import RowsOnDisk

__all__ = ["TreeBank", "Trees", "check_nodes"]

_BITS_A_CALL = 50
_FEW = 4  # if a bit has no more than one row of so many, it is given these alone
_ROWS_A_CALL = 2048


@dataclass(frozen=True, eq=False)
class Trees(Savable):
    """Many binary trees, their nodes in flat arrays, one tree after the other.

    Attributes
    ----------
    start : ndarray of int64, shape (n_trees + 1,)
        Where each tree's nodes begin.
    feature : ndarray of int32
        The feature a node asks for; −1 at a leaf.
    threshold : ndarray of uint8
        Bins up to this one go left.
    missing_left : ndarray of bool
    left_child : ndarray of int32
        Counted from the tree's first node; the right child is the next one.
    value : ndarray of float32
        The mean of ±1 over the node's training rows by weight; its sign is the predicted bit.
    """

    start: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.uint8]
    missing_left: npt.NDArray[np.bool_]
    left_child: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.start) - 1

    def cut(self, depth: int) -> Trees:
        """Return the trees cut off at a depth: a node there is a leaf, and answers by its own value.

        Examples
        --------
        >>> two = Trees(
        ...     np.int64([0, 3]), np.int32([0, -1, -1]), np.uint8([1, 0, 0]), np.zeros(3, bool),
        ...     np.int32([1, 0, 0]), np.float32([0.1, -1, 1]),
        ... )
        >>> two.cut(0).value
        array([0.1], dtype=float32)
        """
        root = np.repeat(self.start[:-1], np.diff(self.start))  # of the tree that a node is in
        level, kept = self.start[:-1], [self.start[:-1]]
        for _ in range(depth):
            inner = level[self.feature[level] >= 0]
            left = root[inner] + self.left_child[inner]
            level = np.concatenate([left, left + 1])
            kept.append(level)
        nodes = np.sort(np.concatenate(kept))
        place = np.zeros(len(self.feature), np.int64)
        place[nodes] = np.arange(len(nodes))
        feature = self.feature.copy()
        feature[level] = -1
        is_inner = feature[nodes] >= 0
        left = np.where(is_inner, place[root[nodes] + self.left_child[nodes]] - place[root[nodes]], 0)
        return Trees(
            np.append(place[self.start[:-1]], len(nodes)),
            feature[nodes],
            self.threshold[nodes],
            self.missing_left[nodes],
            left.astype(np.int32),
            self.value[nodes],
        )

    def take(self, trees: npt.NDArray[np.intp]) -> Trees:
        """Return some of the trees.

        Examples
        --------
        >>> leaves = Trees(
        ...     np.arange(4), np.int32([-1, -1, -1]), np.zeros(3, np.uint8), np.zeros(3, bool),
        ...     np.zeros(3, np.int32), np.float32([0.5, -1, 1]),
        ... )
        >>> leaves.take(np.array([2, 0])).value
        array([1. , 0.5], dtype=float32)
        """
        sizes = np.diff(self.start)[trees]
        start = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.arange(start[-1]) + np.repeat(self.start[trees] - start[:-1], sizes)
        return Trees(start, *(getattr(self, field.name)[nodes] for field in fields(self)[1:]))

    def _check_saved(self) -> None:
        nodes = [getattr(self, field.name) for field in fields(self)[1:]]
        require(all(array.shape == (self.feature.size,) for array in nodes), "the trees have a wrong shape")
        check_nodes(self.start, self.feature, self.left_child)
        require((np.abs(self.value) <= 1.0).all(), "the value of a node is not from -1 to 1")

    @classmethod
    def join(cls, parts: list[Trees]) -> Trees:
        """Lay several banks one after the other."""
        offsets = np.cumsum([0, *(part.start[-1] for part in parts)])
        starts = [part.start[:-1] + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
        names = [field.name for field in fields(cls)[1:]]
        return cls(
            np.concatenate([*starts, offsets[-1:]]),
            *(np.concatenate([getattr(part, name) for part in parts]) for name in names),
        )


def check_nodes(
    start: npt.NDArray[np.int64], feature: npt.NDArray[np.int32], left_child: npt.NDArray[np.int32]
) -> None:
    """Check that every way down a tree ends, within this tree."""
    require(starts_in_order(start, len(feature)), "the trees do not follow one another")
    require(feature.min(initial=-1) >= -1, "a node asks for no feature")
    inner = np.flatnonzero(feature >= 0)
    sizes = np.diff(start)
    tree = np.repeat(np.arange(len(sizes)), sizes)[inner]
    left = left_child[inner].astype(np.int64)
    # Children after their parents: then no way down comes back to where it was.
    require((left > inner - start[tree]).all(), "a child comes before its parent")
    require((left + 1 < sizes[tree]).all(), "a child lies outside its tree")


class TreeBank(Savable):
    """Learn every bit by a weighted decision tree on binned features.

    Parameters
    ----------
    max_depth : int, optional
        Trees grow until their leaves are pure if it is None.
    min_samples_leaf : int, default=1
    max_features : int, float, "sqrt", "log2", "auto" or "forest", optional
        How many features a split looks at: a number, a share, or all if it is None. "auto" and "forest" go by
        the features, as :func:`choose_max_features` says.
    max_samples : int or float, optional
        How many rows, drawn without replacement, a bit is learnt from: a number, a share, or all if it is
        None.
    max_bins : int, default=64
        How finely numeric features are cut; a feature with fewer values is kept exactly.
    n_jobs : int, optional
        Threads.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    bins_ : Bins
    trees_ : Trees
    bags_ : Bags or None
        Which rows each bit was learnt from; None if from all.
    """

    bins_: Bins
    trees_: Trees
    bags_: Bags | None

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | Literal["auto", "forest"] = None,
        max_samples: int | float | None = None,
        max_bins: int = 64,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, problems: BitProblems, bins: Bins | None = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
        problems : BitProblems
        bins : Bins, optional
            Of these features, where they are known; else they are found in X.

        Examples
        --------
        >>> from refpair.bits import BitProblems, TreeBank
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> targets = np.array([[-1.0], [2.0]])  # of two distinct label vectors
        >>> problems = BitProblems(np.int32([0, 0, 1, 1]), 1, lambda bits: targets[:, bits], np.uint64([7]))
        >>> TreeBank().fit(X, problems).predict(X).ravel()
        array([-1, -1,  1,  1], dtype=int8)
        """
        n_rows, n_features = X.shape
        self.bins_ = find_bins(X, self.max_bins) if bins is None else bins
        n_sampled = resolve_share(self.max_samples, n_rows)
        weight_bits, count_bits = field_widths(n_sampled, self.min_samples_leaf)
        limits = Limits(
            max_depth=np.iinfo(np.int32).max if self.max_depth is None else self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            weight_bits=weight_bits,
            count_bits=count_bits,
        )
        limit = n_features if problems.n_features is None else problems.n_features
        allowed = np.full(problems.n_bits, limit, np.int64)

        bits = _Bits(problems, allowed, self._n_drawn(allowed), limits, n_sampled)
        if isinstance(X, RowsOnDisk) or n_sampled * _FEW <= n_rows:
            grow = partial(_grow_on_own_rows, X, self.bins_, bits)
        else:
            grow = partial(_grow, bin_for_training(X, self.bins_), bits)
        chunks = chunks_of(problems.n_bits, _BITS_A_CALL)
        grown = run_chunks(grow, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title="learning bits")
        self.trees_ = Trees.join(grown)
        self.bags_ = Bags.of(problems.seeds, n_rows, n_sampled)
        return self

    def _n_drawn(self, allowed: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many features a split looks at, of each bit, given how many the bit may use."""
        # The features of all bits decide on the kind of draw: those that only some may use are labels.
        n_shared = int(allowed.min()) if len(allowed) else None
        wanted = choose_max_features(self.max_features, self.bins_.n_bins[:n_shared])
        distinct, which = np.unique(allowed, return_inverse=True)
        return np.array([resolve_max_features(wanted, int(n)) for n in distinct], np.int64)[which]

    def predict(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.int8]:
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
        bits : slice, optional
            Which of the bits, without a step.
        """
        signs = np.empty((X.shape[0], self._n_bits(bits)), np.int8)
        self._traverse(X, (leaf_signs, bits, signs))
        return signs

    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: the weighted mean of −1 and +1 in the leaf that a row reaches."""
        values = np.empty((X.shape[0], self._n_bits(bits)), np.float32)
        self._traverse(X, (leaf_values, bits, values))
        return values

    def predict_and_values(
        self, X: Matrix, n_signs: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Return the first bits as by `predict` and the others as by `values`: X is binned only once."""
        first, rest = slice(0, n_signs), slice(n_signs, None)
        signs = np.empty((X.shape[0], self._n_bits(first)), np.int8)
        values = np.empty((X.shape[0], self._n_bits(rest)), np.float32)
        self._traverse(X, (leaf_signs, first, signs), (leaf_values, rest, values))
        return signs, values

    def cut(self, depth: int) -> Self:
        """Return the same bank with its trees cut off at a depth."""
        bank = copy(self)
        bank.trees_ = self.trees_.cut(depth)
        return bank

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return the bank of some of the bits, as they were learnt."""
        bank = copy(self)
        bank.trees_ = self.trees_.take(bits)
        bank.bags_ = None if self.bags_ is None else self.bags_.take(bits)
        return bank

    def __len__(self) -> int:
        return len(self.trees_)

    def _check_saved(self) -> None:
        require(self.trees_.feature.max(initial=-1) < self.bins_.n_features, "a node asks for no feature")
        require(self.bags_ is None or len(self.bags_) == len(self), "there is not a bag for each bit")

    def check_n_features(self, n_features: int) -> None:
        """Refuse a bank that was learnt from other features."""
        require(self.bins_.n_features == n_features, "the bins are not those of the features")

    def _n_bits(self, bits: slice) -> int:
        return len(range(*bits.indices(len(self.trees_))))

    def _traverse(self, X: Matrix, *tasks: tuple[Callable[..., None], slice, npt.NDArray[Any]]) -> None:
        trees = self.trees_

        def traverse(rows: slice) -> None:
            for block, codes in self.bins_.blocks(X[rows]):
                for kernel, bits, out in tasks:
                    first, last, _ = bits.indices(len(trees))
                    kernel(
                        codes, trees.start[first : last + 1], trees.feature, trees.threshold,
                        trees.missing_left, trees.left_child, trees.value, out[rows][block],
                    )  # fmt: skip

        chunks = chunks_of(X.shape[0], _ROWS_A_CALL)
        run_chunks(
            traverse, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title="predicting bits", in_place=True
        )


@dataclass(frozen=True, eq=False)
class _Bits:
    """What a tree needs to know besides the features."""

    problems: BitProblems
    n_features: npt.NDArray[np.int64]
    n_drawn: npt.NDArray[np.int64]
    limits: Limits
    n_sampled: int

    def grow(
        self,
        features: Features,
        vector_of_row: npt.NDArray[np.int32],
        differences: npt.NDArray[np.float64],
        bits: slice,
    ) -> Trees:
        """Grow the trees of some bits."""
        grown = grow_trees(
            features, self.n_features[bits], self.n_drawn[bits], vector_of_row, differences, self.n_sampled,
            self.problems.seeds[bits], self.limits,
        )  # fmt: skip
        return Trees(*grown)


# Not methods of the bank: another process is given their names, and finds them and the compiled kernels by
# itself.


def _grow(features: Features, bits: _Bits, some: slice) -> Trees:
    """Grow some trees on features that are at hand."""
    return bits.grow(features, bits.problems.vector_of_row, _by_bit(bits.problems, some), some)


def _grow_on_own_rows(X: Matrix, bins: Bins, bits: _Bits, some: slice) -> Trees:
    """Grow some trees, each on its own rows, which alone are read and binned: the same trees.

    Rows stay in the order in which a bit draws them: so the sum of their weights is rounded as ever.
    """
    problems, n_rows = bits.problems, X.shape[0]
    parts = []
    for bit, difference in zip(range(some.start, some.stop), _by_bit(problems, some), strict=True):
        rows = draw_rows(n_rows, bits.n_sampled, problems.seeds[bit])
        features = bin_for_training(X[rows], bins)
        one = slice(bit, bit + 1)
        parts.append(bits.grow(features, problems.vector_of_row[rows], difference[None], one))
    return Trees.join(parts)


def _by_bit(problems: BitProblems, bits: slice) -> npt.NDArray[np.float64]:
    """Return what bits have to learn, one row a bit."""
    return np.ascontiguousarray(problems.differences(bits).T)
