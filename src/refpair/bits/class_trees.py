"""The bank of class trees: forests for many problems of several classes, all on the same binned features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from refpair._kernels.class_forms import SparseRows, with_bits
from refpair._kernels.class_trees import grow_class_trees
from refpair._kernels.class_votes import class_votes, most_voted
from refpair._kernels.dense import DenseBins
from refpair._parallel import run_chunks
from refpair._saved import Savable, require, starts_in_order
from refpair.bits.binning import Bins, Matrix, bin_for_training, find_bins
from refpair.bits.problem import chunks_of
from refpair.bits.sizes import MaxFeatures, choose_max_features, resolve_max_features, resolve_share
from refpair.bits.trees import check_nodes

__all__ = ["ClassProblems", "ClassTreeBank", "ClassTrees"]

_ROWS_A_CALL = 2048
_TREES_A_CALL = 50
_CELLS_A_CALL = 1 << 24  # rows × trees: bounds the memory that a call asks for


@dataclass(frozen=True, eq=False)
class ClassProblems:
    """B problems of several classes on the same rows, to be learnt by a forest each.

    Attributes
    ----------
    classes : ndarray of int32, shape (n, B)
        The class of each row in each problem, from 0.
    n_classes : ndarray of int, shape (B,)
        The number of classes of each problem.
    n_trees : int
        The number of trees of each problem.
    seeds : ndarray of uint64, shape (B * n_trees,)
        One a tree, problem by problem: whatever a tree draws comes from its seed alone.

    Examples
    --------
    >>> classes = np.int32([[0, 1], [2, 0], [1, 1]])
    >>> ClassProblems(classes, np.array([3, 2]), 5, np.arange(10, dtype=np.uint64)).n_problems
    2
    >>> ClassProblems(classes, np.array([2, 2]), 5, np.arange(10, dtype=np.uint64))
    Traceback (most recent call last):
        ...
    ValueError: problem 0 has the class 2, but its classes are 0 to 1
    """

    classes: npt.NDArray[np.int32]
    n_classes: npt.NDArray[np.int64]
    n_trees: int
    seeds: npt.NDArray[np.uint64]

    def __post_init__(self) -> None:
        """Refuse what kernels would read or write beyond the end of an array for."""
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

    @property
    def n_problems(self) -> int:
        """Return the number of problems."""
        return int(self.classes.shape[1])


@dataclass(frozen=True, eq=False)
class ClassTrees(Savable):
    """Many trees of classes, their nodes and the classes of their leaves in flat arrays, tree by tree.

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
        Counted from the tree's first node; the right child is the next one. Of a leaf, its number among the
        leaves of its tree; before the leaves of tree t there are ``(start[t] + t) / 2``, as a tree has a leaf
        more than it has inner nodes.
    leaf_start : ndarray of int64, shape (n_leaves + 1,)
        Where the classes of each leaf begin.
    leaf_class, leaf_count : ndarray of int32
        The classes of a leaf's training rows, ascending, and how many rows have them.
    """

    start: npt.NDArray[np.int64]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.uint8]
    missing_left: npt.NDArray[np.bool_]
    left_child: npt.NDArray[np.int32]
    leaf_start: npt.NDArray[np.int64]
    leaf_class: npt.NDArray[np.int32]
    leaf_count: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start) - 1

    def _check_saved(self) -> None:
        """Check that every way down a tree ends at a leaf that has classes and is found by its number."""
        nodes = (self.feature, self.threshold, self.missing_left, self.left_child)
        require(all(array.shape == (self.feature.size,) for array in nodes), "the trees have a wrong shape")
        check_nodes(self.start, self.feature, self.left_child)
        is_leaf, sizes = self.feature < 0, np.diff(self.start)
        n_leaves = np.add.reduceat(is_leaf, self.start[:-1], dtype=np.int64) if len(sizes) else sizes
        require((2 * n_leaves == sizes + 1).all(), "a tree has too few or too many leaves")
        number, most = self.left_child[is_leaf], np.repeat(n_leaves, n_leaves)
        require(((number >= 0) & (number < most)).all(), "a leaf has a number that does not exist")
        require(self.leaf_start.shape == (n_leaves.sum() + 1,), "the leaves have a wrong shape")
        require(starts_in_order(self.leaf_start, self.leaf_class.size), "a leaf has no classes")
        same = self.leaf_class.ndim == 1 and self.leaf_count.shape == self.leaf_class.shape
        require(same, "the leaves have a wrong shape")
        require(self.leaf_count.min(initial=1) >= 1, "a class of a leaf has no rows")

    @classmethod
    def join(cls, parts: list[ClassTrees]) -> ClassTrees:
        """Lay several banks one after the other."""
        joined = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)
        }
        for name in ("start", "leaf_start"):
            offsets = np.cumsum([0, *(getattr(part, name)[-1] for part in parts)])
            joined[name] = np.concatenate(
                [
                    *(getattr(part, name)[:-1] + at for part, at in zip(parts, offsets[:-1], strict=True)),
                    offsets[-1:],
                ]
            )
        return cls(**joined)


class ClassTreeBank(Savable):
    """Learn every problem by a forest of class trees on binned features.

    Parameters
    ----------
    max_depth : int, optional
        Trees grow until their leaves are pure if it is None.
    min_samples_leaf : int, default=1
    max_features : int, float, "sqrt", "log2", "auto" or "forest", default="sqrt"
        How many features a split looks at: a number, a share, or all if it is None.
    max_samples : int or float, optional
        How many rows, drawn without replacement, a tree is grown on: a number, a share, or all if it is None.
        0.632 is about what a bootstrap sample holds.
    max_bins : int, default=64
        How finely numeric features are cut; a feature with fewer values is kept exactly.
    n_jobs : int, optional
        Threads.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    bins_ : Bins
    trees_ : ClassTrees
    n_classes_ : ndarray of int64, shape (n_problems,)
    n_trees_ : int
        Of each problem.
    """

    bins_: Bins
    trees_: ClassTrees
    n_classes_: npt.NDArray[np.int64]
    n_trees_: int

    def __init__(
        self,
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        max_features: MaxFeatures | Literal["auto", "forest"] = "sqrt",
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

    def fit(self, X: Matrix, problems: ClassProblems) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
        problems : ClassProblems

        Examples
        --------
        >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
        >>> classes = np.int32([[0, 1], [2, 1], [1, 0], [1, 0]])
        >>> problems = ClassProblems(classes, np.array([3, 2]), 2, np.arange(4, dtype=np.uint64))
        >>> bank = ClassTreeBank().fit(X, problems)
        >>> bank.predict(X)
        array([[0, 1],
               [2, 1],
               [1, 0],
               [1, 0]], dtype=int32)
        """
        n_rows, n_features = X.shape
        if n_rows != len(problems.classes):
            raise ValueError(f"{n_rows} rows of X are given, but classes of {len(problems.classes)}")
        self.bins_ = find_bins(X, self.max_bins)
        binned = bin_for_training(X, self.bins_)
        features = binned if isinstance(binned, DenseBins) else with_bits(binned)
        self.n_classes_ = np.asarray(problems.n_classes, dtype=np.int64)
        self.n_trees_ = problems.n_trees
        n_trees = problems.n_problems * problems.n_trees
        grow = partial(
            _grow,
            features,
            np.ascontiguousarray(problems.classes.T, dtype=np.int32),
            problems,
            resolve_share(self.max_samples, n_rows),
            np.iinfo(np.int32).max if self.max_depth is None else self.max_depth,
            self.min_samples_leaf,
            resolve_max_features(choose_max_features(self.max_features, self.bins_.n_bins), n_features),
        )
        chunks = chunks_of(n_trees, max(1, min(_TREES_A_CALL, _CELLS_A_CALL // n_rows)))
        grown = run_chunks(grow, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title="growing trees")
        self.trees_ = ClassTrees.join(grown)
        return self

    def predict_proba(self, X: Matrix, problem: int) -> npt.NDArray[np.float64]:
        """Return the mean over a problem's trees of the class frequencies in the leaves.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
        problem : int

        Returns
        -------
        probabilities : ndarray of shape (n, n_classes_[problem])

        Examples
        --------
        >>> X = np.array([[0.0], [0.0], [0.0], [3.0]])
        >>> classes = np.int32([[0], [2], [2], [1]])
        >>> problems = ClassProblems(classes, np.array([3]), 1, np.uint64([7]))
        >>> ClassTreeBank().fit(X, problems).predict_proba(X[2:], 0).round(2)
        array([[0.33, 0.  , 0.67],
               [0.  , 1.  , 0.  ]])
        """
        if not 0 <= problem < len(self.n_classes_):
            raise ValueError(f"problem must be from 0 to {len(self.n_classes_) - 1}, not {problem}")
        votes = np.empty((X.shape[0], self.n_classes_[problem]))
        self._traverse(X, class_votes, problem, votes)
        return votes

    def predict(self, X: Matrix) -> npt.NDArray[np.int32]:
        """Return the most probable class of each row in each problem, the first one if they are several.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)

        Returns
        -------
        classes : ndarray of int32, shape (n, n_problems)
        """
        chosen = np.empty((X.shape[0], len(self.n_classes_)), np.int32)
        self._traverse(X, most_voted, self.n_classes_, chosen)
        return chosen

    def _check_saved(self) -> None:
        """Check that trees ask only for features, and leaves tell only of classes, that exist."""
        trees, n_classes = self.trees_, self.n_classes_
        require(trees.feature.max(initial=-1) < self.bins_.n_features, "a node asks for no feature")
        fits = n_classes.ndim == 1 and len(trees) == len(n_classes) * self.n_trees_ and self.n_trees_ > 0
        require(fits, "there are too few or too many trees")
        require(n_classes.min(initial=1) >= 1, "a problem has no classes")
        exist = trees.leaf_class.min(initial=0) >= 0
        if len(trees):
            n_leaves = (np.diff(trees.start) + 1) // 2
            first_class = trees.leaf_start[np.cumsum(n_leaves) - n_leaves]
            largest = np.maximum.reduceat(trees.leaf_class, first_class)
            exist &= bool((largest < np.repeat(n_classes, self.n_trees_)).all())
        require(exist, "a leaf has a class that does not exist")

    def check_n_features(self, n_features: int) -> None:
        """Refuse a bank that was learnt from other features."""
        require(self.bins_.n_features == n_features, "the bins are not those of the features")

    def _traverse(self, X: Matrix, kernel: Callable[..., None], what: Any, out: npt.NDArray[Any]) -> None:
        arrays = [getattr(self.trees_, field.name) for field in fields(self.trees_)]

        def traverse(rows: slice) -> None:
            for block, codes in self.bins_.blocks(X[rows]):
                kernel(codes, what, self.n_trees_, *arrays, out[rows][block])

        run_chunks(
            traverse, chunks_of(X.shape[0], _ROWS_A_CALL), n_jobs=self.n_jobs, verbose=self.verbose,
            title="predicting", in_place=True,
        )  # fmt: skip


def _grow(
    features: DenseBins | SparseRows,
    classes: npt.NDArray[np.int32],
    problems: ClassProblems,
    n_sampled: int,
    max_depth: int,
    min_samples_leaf: int,
    max_features: int,
    trees: slice,
) -> ClassTrees:
    """Grow some of the trees.

    Not a method: another process is given its name, and finds it and the compiled kernels by itself.
    """
    problem_of_tree = (np.arange(trees.start, trees.stop) // problems.n_trees).astype(np.int32)
    n_bins = features.n_bins if isinstance(features, DenseBins) else features.bins.n_bins
    grown = grow_class_trees(
        features, len(n_bins), classes, int(np.max(problems.n_classes, initial=1)), problem_of_tree,
        n_sampled, problems.seeds[trees], max_depth, min_samples_leaf, max_features,
    )  # fmt: skip
    return ClassTrees(*grown)
