"""Banks of trees on the same binned features: a weighted tree for each of thousands of bits, or forests."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from refpair._kernels.class_features import SparseRows, with_bits
from refpair._kernels.class_split import Copies, Times
from refpair._kernels.dense import DenseBins
from refpair._kernels.grow import ALIKE, grow_trees, n_copies_of
from refpair._kernels.grow_classes import ALIKE as ALL_ONCE
from refpair._kernels.grow_classes import grow_class_trees
from refpair._kernels.packed import Limits, field_widths
from refpair._kernels.rng import draw_rows
from refpair._kernels.walk import MOST_FEATURES, ask_trees, class_votes, find_leaves, most_voted
from refpair._parallel import chunks_of, even_chunks, run_chunks
from refpair._saved import Savable, require
from refpair.bits.binning import Bins, Features, Matrix, bin_for_training, find_bins
from refpair.bits.nodes import ClassTrees, Trees
from refpair.bits.problem import (
    ALL,
    Bags,
    BitLearner,
    BitProblems,
    ClassProblems,
    MaxFeatures,
    choose_max_features,
    resolve_max_features,
    resolve_share,
)
from refpair.bits.weights import in_copies, in_whole_copies
from refpair.on_disk import RowsOnDisk

_TREES_A_CALL = 50
_CELLS_A_CALL = 1 << 24  # rows × trees of classes: bounds the memory that a call asks for
_FEW = 4  # if a bit has no more than one row of so many, it is given these alone
_ROWS_A_CALL = 256  # binned, they stay in the second-level cache
_MOST_COPIES = 1 << 29, 1 << 19  # of rows in sums without, and with, their number (see `packed`)
_ANY_DEPTH = np.iinfo(np.int32).max


class _TreeBank(Savable):
    """What banks of trees share, whatever their leaves say: the parameters, the bins and the way down.

    `max_features` may be "auto" or "forest", see `choose_max_features`. 0.632 as `max_samples` is about what
    a bootstrap sample holds. A feature with fewer values than `max_bins` is kept exactly.
    """

    bins_: Bins
    trees_: Any
    _what = "bits"  # that are learned

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | Literal["auto", "forest"] = None,
        max_samples: int | float | None = None,
        max_bins: int = 64,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _grow(self, grow: Callable[[slice], Any], n_trees: int, at_once: int) -> list[Any]:
        """Grow the trees, some at a time."""
        chunks = chunks_of(n_trees, at_once)
        return run_chunks(
            grow, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title=f"learning {self._what}"
        )

    def _walk(self, X: Matrix, ask: Callable[[npt.NDArray[np.uint8], slice], None]) -> None:
        """Ask the trees about the binned rows of X, some at a time."""

        def walk(rows: slice) -> None:
            for block, codes in self.bins_.blocks(X[rows]):
                ask(codes, slice(rows.start + block.start, rows.start + block.stop))

        run_chunks(
            walk, even_chunks(X.shape[0], _ROWS_A_CALL, self.n_jobs), n_jobs=self.n_jobs,
            verbose=self.verbose, title=f"predicting {self._what}", in_place=True,
        )  # fmt: skip

    def _check_saved(self) -> None:
        super()._check_saved()
        require(self.trees_.feature.max(initial=-1) < self.bins_.n_features, "a node asks for no feature")

    def check_n_features(self, n_features: int) -> None:
        """Refuse a bank that was learned from other features."""
        require(self.bins_.n_features == n_features, "the bins are not those of the features")


class TreeBank(_TreeBank, BitLearner):
    """Learn every bit by a weighted decision tree on binned features."""

    trees_: Trees

    def fit(self, X: Matrix, problems: BitProblems, bins: Bins | None = None) -> Self:
        """Grow the trees; the bins of the features are found in X unless they are given."""
        n_rows, n_features = X.shape
        if n_rows != len(problems.vector_of_row):
            raise ValueError(f"{n_rows} rows of X are given, but targets of {len(problems.vector_of_row)}")
        if n_features > MOST_FEATURES:
            raise ValueError(
                f"X has {n_features:,} features, and trees can ask for {MOST_FEATURES:,} at most"
            )
        row_weight = problems.row_weight
        self.bins_ = find_bins(X, self.max_bins, row_weight) if bins is None else bins
        n_sampled = resolve_share(self.max_samples, n_rows)
        # A leaf counts a row as often as the whole part of its weight says, but at least once.
        weights = ALIKE
        if row_weight is not None:
            weights = in_copies(row_weight, _MOST_COPIES[self.min_samples_leaf > 1])
        n_copies = n_copies_of(weights, n_sampled)
        max_depth = _ANY_DEPTH if self.max_depth is None else self.max_depth
        limits = Limits(max_depth, self.min_samples_leaf, *field_widths(n_copies, self.min_samples_leaf))
        limit = n_features if problems.n_features is None else problems.n_features
        allowed = np.full(problems.n_bits, limit, np.int64)

        bits = _Bits(problems, weights, allowed, self._n_drawn(allowed), limits, n_sampled)
        if isinstance(X, RowsOnDisk) or n_sampled * _FEW <= n_rows:
            grow = partial(_grow_on_own_rows, X, self.bins_, bits)
        else:
            grow = partial(_grow_bits, bin_for_training(X, self.bins_), bits)
        self.trees_ = Trees.join(self._grow(grow, problems.n_bits, _TREES_A_CALL))
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
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit."""
        return self._ask(X, bits, len(self))[0]

    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: the weighted mean of −1 and +1 in the leaf that a row reaches."""
        return self._ask(X, bits, 0)[1]

    def predict_and_values(
        self, X: Matrix, n_signs: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Return the first bits as by `predict` and the others as by `values`: X is binned only once."""
        return self._ask(X, ALL, n_signs)

    def _ask(
        self, X: Matrix, bits: slice, n_signs: int
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
        """Return the signs of the first of some bits, and the values of the others."""
        first, last, _ = bits.indices(len(self))
        n_bits = max(last - first, 0)
        start, n_signs = self.trees_.start[first : first + n_bits + 1], min(n_signs, n_bits)
        signs = np.empty((X.shape[0], n_signs), np.int8)
        values = np.empty((X.shape[0], n_bits - n_signs), np.float32)
        trees = start, self.trees_.words, self.trees_.value, n_signs
        self._walk(X, lambda codes, rows: ask_trees(codes, *trees, signs[rows], values[rows]))
        return signs, values

    def cut(self, depth: int) -> Self:
        """Return the same bank with its trees cut off at a depth."""
        bank = copy(self)
        bank.trees_ = self.trees_.cut(depth)
        return bank

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return the bank of some of the bits, as they were learned."""
        bank = super().take(bits)
        bank.trees_ = self.trees_.take(bits)
        return bank

    def with_more(self, other: Self) -> Self:
        """Return a bank of its bits and then those of another, learned from the same rows."""
        bank = super().with_more(other)
        bank.trees_ = Trees.join([self.trees_, other.trees_])
        return bank

    def __len__(self) -> int:
        return len(self.trees_)


@dataclass(frozen=True, eq=False)
class _Bits:
    """What the trees of bits need to know besides the features."""

    problems: BitProblems
    row_weight: npt.NDArray[np.float64]  # as `grow_trees` takes them
    n_features: npt.NDArray[np.int64]
    n_drawn: npt.NDArray[np.int64]
    limits: Limits
    n_sampled: int

    def grow(
        self,
        features: Features,
        vector_of_row: npt.NDArray[np.int32],
        row_weight: npt.NDArray[np.float64],
        differences: npt.NDArray[np.float64],
        bits: slice,
    ) -> Trees:
        """Grow the trees of some bits."""
        nodes, value = grow_trees(
            features, self.n_features[bits], self.n_drawn[bits], vector_of_row, differences, self.n_sampled,
            self.problems.seeds[bits], self.limits, row_weight,
        )  # fmt: skip
        return Trees(*nodes, value)


# Not methods of the banks: another process is given their names, and finds them and the compiled kernels by
# itself.


def _grow_bits(features: Features, bits: _Bits, some: slice) -> Trees:
    """Grow some trees on features that are at hand."""
    differences = _by_bit(bits.problems, some)
    return bits.grow(features, bits.problems.vector_of_row, bits.row_weight, differences, some)


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
        weights = bits.row_weight[rows] if len(bits.row_weight) else ALIKE
        parts.append(bits.grow(features, problems.vector_of_row[rows], weights, difference[None], one))
    return Trees.join(parts)


def _by_bit(problems: BitProblems, bits: slice) -> npt.NDArray[np.float64]:
    """Return what bits have to learn, one row a bit."""
    return np.ascontiguousarray(problems.differences(bits).T)


class ClassTreeBank(_TreeBank):
    """Learn every problem of several classes by a forest of trees on binned features."""

    _what = "forests"
    trees_: ClassTrees
    n_classes_: npt.NDArray[np.int64]
    n_trees_: int

    def fit(self, X: Matrix, problems: ClassProblems, bins: Bins | None = None) -> Self:
        """Grow the trees; the bins of the features are found in X unless they are given."""
        n_rows, n_features = X.shape
        if n_rows != len(problems.classes):
            raise ValueError(f"{n_rows} rows of X are given, but classes of {len(problems.classes)}")
        row_weight = problems.row_weight
        self.bins_ = find_bins(X, self.max_bins, row_weight) if bins is None else bins
        times: Times = ALL_ONCE
        unit = 1
        if row_weight is not None:
            copies, unit = in_whole_copies(row_weight)
            times = Copies(copies)
        binned = bin_for_training(X, self.bins_)
        self.n_classes_ = np.asarray(problems.n_classes, dtype=np.int64)
        self.n_trees_ = problems.n_trees
        grow = partial(
            _grow_classes,
            binned if isinstance(binned, DenseBins) else with_bits(binned),
            n_features,
            np.ascontiguousarray(problems.classes.T, dtype=np.int32),
            problems,
            resolve_share(self.max_samples, n_rows),
            _ANY_DEPTH if self.max_depth is None else self.max_depth,
            unit * self.min_samples_leaf,
            resolve_max_features(choose_max_features(self.max_features, self.bins_.n_bins), n_features),
            times,
        )
        at_once = max(1, min(_TREES_A_CALL, _CELLS_A_CALL // n_rows))
        self.trees_ = ClassTrees.join(self._grow(grow, len(problems.seeds), at_once))
        return self

    def predict_proba(self, X: Matrix, problem: int) -> npt.NDArray[np.float64]:
        """Return the mean over a problem's trees of the class frequencies in the leaves, a column a class."""
        if not 0 <= problem < len(self.n_classes_):
            raise ValueError(f"problem must be from 0 to {len(self.n_classes_) - 1}, not {problem}")
        trees = self.n_trees_, self.trees_.nodes, self.trees_.held
        votes = np.empty((X.shape[0], self.n_classes_[problem]))
        self._walk(X, lambda codes, rows: class_votes(codes, problem, *trees, votes[rows]))
        return votes

    def find_leaves(self, X: Matrix) -> npt.NDArray[np.int32]:
        """Return which of all nodes each row reaches in each tree."""
        leaves = np.empty((X.shape[0], len(self.trees_)), np.int32)
        self._walk(X, lambda codes, rows: find_leaves(codes, self.trees_.nodes, leaves[rows]))
        return leaves

    def predict(self, X: Matrix) -> npt.NDArray[np.int32]:
        """Return the most probable class of each row in each problem, the first one if they are several."""
        trees = self.n_trees_, self.trees_.nodes, self.trees_.held
        chosen = np.empty((X.shape[0], len(self.n_classes_)), np.int32)
        self._walk(X, lambda codes, rows: most_voted(codes, self.n_classes_, *trees, chosen[rows]))
        return chosen

    def _check_saved(self) -> None:
        """Check that trees ask only for features, and leaves tell only of classes, that exist."""
        super()._check_saved()
        trees, n_classes = self.trees_, self.n_classes_
        fits = n_classes.ndim == 1 and len(trees) == len(n_classes) * self.n_trees_ and self.n_trees_ > 0
        require(fits, "there are too few or too many trees")
        require(n_classes.min(initial=1) >= 1, "a problem has no classes")
        exist = trees.classes.min(initial=0) >= 0
        if len(trees):
            largest = np.maximum.reduceat(trees.classes, trees.count_start[trees.start[:-1]])
            exist &= bool((largest < np.repeat(n_classes, self.n_trees_)).all())
        require(exist, "a leaf has a class that does not exist")


def _grow_classes(
    features: DenseBins | SparseRows,
    n_features: int,
    classes: npt.NDArray[np.int32],
    problems: ClassProblems,
    n_sampled: int,
    max_depth: int,
    min_samples_leaf: int,
    max_features: int,
    times: Times,
    trees: slice,
) -> ClassTrees:
    """Grow some of the trees."""
    problem_of_tree = (np.arange(trees.start, trees.stop) // problems.n_trees).astype(np.int32)
    nodes, held = grow_class_trees(
        features, n_features, classes, int(np.max(problems.n_classes, initial=1)), problem_of_tree,
        n_sampled, problems.seeds[trees], max_depth, min_samples_leaf, max_features,
        times,
    )  # fmt: skip
    return ClassTrees(*nodes, *held)
