"""What must hold of the arrays of a model before kernels that check nothing may follow their indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.bits import EstimatorBank, LogisticBank, TreeBank
from refpair.bits.bags import Bags
from refpair.bits.binning import Bins
from refpair.bits.class_trees import ClassTreeBank, ClassTrees
from refpair.bits.trees import Trees
from refpair.persistence._codec import require

__all__ = [
    "check_bins",
    "check_class_tree_bank",
    "check_estimator_bank",
    "check_learners",
    "check_logistic_bank",
    "check_n_features",
    "check_tree_bank",
    "check_trees",
    "check_weights",
    "starts_in_order",
]  # fmt: skip

_LARGEST_WEIGHT = 1e100
_MAX_EDGES = 254  # a bin is a byte, and 255 stands for a missing value


def starts_in_order(start: npt.NDArray[np.int64], end: int, *, may_be_empty: bool = False) -> bool:
    """Whether parts of an array begin at its first cell, follow one another and end at its last."""
    if start.ndim != 1 or len(start) == 0 or start[0] != 0 or start[-1] != end:
        return False
    # By comparing neighbours: differences of broken numbers could wrap around and look fine.
    return bool(((start[1:] >= start[:-1]) if may_be_empty else (start[1:] > start[:-1])).all())


def check_bins(bins: Bins) -> None:
    """Check that each feature has its edges, and no more than a byte can tell apart."""
    start = bins.edge_start
    require(start.shape == (bins.n_features + 1,), "the bins have a wrong shape")
    ascends = starts_in_order(start, len(bins.edges), may_be_empty=True)
    require(
        ascends and np.diff(start).max(initial=0) <= _MAX_EDGES, "the bins have too many or too few edges"
    )
    require(np.isfinite(bins.edges).all(), "an edge of a bin is not a number")


def check_trees(trees: Trees | ClassTrees) -> None:
    """Check that every way down a tree ends, within this tree."""
    start, n_nodes = trees.start, trees.feature.size
    nodes = (trees.feature, trees.threshold, trees.missing_left, trees.left_child)
    require(all(array.shape == (n_nodes,) for array in nodes), "the trees have a wrong shape")
    require(starts_in_order(start, n_nodes), "the trees do not follow one another")
    require(trees.feature.min(initial=-1) >= -1, "a node asks for no feature")
    inner = np.flatnonzero(trees.feature >= 0)
    sizes = np.diff(start)
    tree = np.repeat(np.arange(len(sizes)), sizes)[inner]
    left = trees.left_child[inner].astype(np.int64)
    # Children after their parents: then no way down comes back to where it was.
    require((left > inner - start[tree]).all(), "a child comes before its parent")
    require((left + 1 < sizes[tree]).all(), "a child lies outside its tree")
    if isinstance(trees, Trees):
        require(trees.value.shape == (n_nodes,), "the trees have a wrong shape")
        require((np.abs(trees.value) <= 1.0).all(), "the value of a node is not from -1 to 1")
    else:
        _check_leaves(trees)


def _check_leaves(trees: ClassTrees) -> None:
    """Check that each leaf has classes, and that it is found by its number."""
    is_leaf = trees.feature < 0
    sizes = np.diff(trees.start)
    n_leaves = np.add.reduceat(is_leaf, trees.start[:-1], dtype=np.int64) if len(sizes) else sizes
    require((2 * n_leaves == sizes + 1).all(), "a tree has too few or too many leaves")
    number, most = trees.left_child[is_leaf], np.repeat(n_leaves, n_leaves)
    require(((number >= 0) & (number < most)).all(), "a leaf has a number that does not exist")
    require(trees.leaf_start.shape == (n_leaves.sum() + 1,), "the leaves have a wrong shape")
    require(starts_in_order(trees.leaf_start, len(trees.leaf_class)), "a leaf has no classes")
    require(trees.leaf_count.shape == trees.leaf_class.shape, "the leaves have a wrong shape")
    require(trees.leaf_count.min(initial=1) >= 1, "a class of a leaf has no rows")


def check_tree_bank(bank: TreeBank) -> None:
    """Check that trees ask only for features that exist."""
    require(bank.trees_.feature.max(initial=-1) < bank.bins_.n_features, "a node asks for no feature")
    _check_bags(bank.bags_, len(bank))


def check_class_tree_bank(bank: ClassTreeBank) -> None:
    """Check that trees ask only for features, and leaves tell only of classes, that exist."""
    trees, n_classes = bank.trees_, bank.n_classes_
    require(trees.feature.max(initial=-1) < bank.bins_.n_features, "a node asks for no feature")
    require(len(trees) == len(n_classes) * bank.n_trees_, "there are too few or too many trees")
    require(n_classes.min(initial=1) >= 1, "a problem has no classes")
    require(trees.leaf_class.min(initial=0) >= 0, "a leaf has a class that does not exist")
    if len(trees):
        n_leaves = (np.diff(trees.start) + 1) // 2
        first_class = trees.leaf_start[np.cumsum(n_leaves) - n_leaves]
        largest = np.maximum.reduceat(trees.leaf_class, first_class)
        require(
            (largest < np.repeat(n_classes, bank.n_trees_)).all(), "a leaf has a class that does not exist"
        )


def check_logistic_bank(bank: LogisticBank) -> None:
    """Check that weights are numbers, as many as there are features."""
    n_weights = bank.weights_.shape[1] if bank.basis_ is None else bank.basis_.shape[0]
    require(bank.weights_.shape == (len(bank.intercept_), n_weights), "the weights have a wrong shape")
    check_weights(bank.weights_)
    require(not np.isnan(bank.intercept_).any(), "an intercept is not a number")
    _check_bags(bank.bags_, len(bank))


def check_weights(weights: npt.NDArray[Any]) -> None:
    """Check that weights are numbers, and not so large that their sums are none."""
    fine = weights.dtype.kind == "f" and (np.abs(weights) <= _LARGEST_WEIGHT).all()
    require(fine, "a weight is not a number, or too large")


def check_estimator_bank(bank: EstimatorBank) -> None:
    """Check that each bit has a classifier or one of two answers."""
    fine = all(not isinstance(learnt, int) or learnt in (-1, 1) for learnt in bank.estimators_)
    require(fine, "a bit is neither -1 nor 1")
    if bank.n_features_ is not None:
        require(bank.n_features_.shape == (len(bank),), "there is not a number of features for each bit")
        require(bank.n_features_.min(initial=1) >= 1, "a bit has no features")
    _check_bags(bank.bags_, len(bank))


def check_n_features(bank: Any, n_features: int) -> None:
    """Check that a bank was learnt from so many features, as far as it tells."""
    if isinstance(bank, TreeBank | ClassTreeBank):
        require(bank.bins_.n_features == n_features, "the bins are not those of the features")
    elif isinstance(bank, LogisticBank):
        require(bank.n_features == n_features, "the weights are not those of the features")
    elif isinstance(bank, EstimatorBank):
        own = np.full(len(bank), n_features) if bank.n_features_ is None else bank.n_features_
        require(own.max(initial=1) <= n_features, "a bit has more features than there are")
        check_learners(bank.estimators_, own.tolist())


def check_learners(learners: Sequence[Any], n_features: Sequence[int]) -> None:
    """Check that classifiers were learnt from so many features each, as far as they tell."""
    for learnt, n in zip(learners, n_features, strict=True):
        require(getattr(learnt, "n_features_in_", n) == n, "a learner has other features than there are")


def _check_bags(bags: Bags | None, n_bits: int) -> None:
    if bags is not None:
        require(len(bags) == n_bits, "there is not a bag for each bit")
        require(0 < bags.n_sampled < bags.n_rows, "a bag is empty or too large")
