"""The levels of a condensed filter tree while they are trained, one after the other, several times."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair._kernels.rng import draw_rows
from refpair._kernels.walk import vote
from refpair.bits.binning import Bins, Matrix, find_bins
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.nodes import Trees
from refpair.bits.problem import BitProblems, choose_max_features, resolve_share
from refpair.bits.trees import TreeBank
from refpair.classifiers._base_learners import BinaryLearners, Bytes, Floats, Rows, Targets, as_base_learner
from refpair.classifiers._links import EstimatorLinks, TreeLinks, append_labels
from refpair.classifiers.base_estimators import Forest, classifiers_of

Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

N_DRAFT_TREES = 32  # of the forests of all rounds but the last
_ALL_LABELS = np.uint64(2**64 - 1)
_DRAWN = 0.02  # the share of the examples that a tree should be given at least, before bags


def bit_of(label: int) -> np.uint64:
    """Return the word that stands for a label; with more than 64 labels, some share one."""
    return np.uint64(1 << (label & 63))


class EstimatorLevels:
    """Levels that are clones of a classifier of scikit-learn, or logistic regressions."""

    def __init__(
        self,
        estimator: Any,
        X: Matrix,
        n_levels: int,
        rng: np.random.Generator,
        row_weight: Floats | None = None,
    ) -> None:
        self.estimator = estimator
        self.X = X
        self.row_weight = row_weight
        self.seeds = rng.integers(2**63, size=n_levels)
        self.estimators: list[Any] = [0] * n_levels

    def learn(self, k: int, row: Rows, paths: Bytes, gain: Floats, *, draft: bool) -> None:
        """Train a level anew, on examples of a training row and a path each.

        A positive gain says that the label should be set; the size is the weight, and 0 leaves the example
        out. A draft will be trained once more.
        """
        kept = np.flatnonzero(gain)
        if len(kept) == 0:
            self.estimators[k] = 0
            return
        weight = None if self.row_weight is None else self.row_weight[row[kept]]
        targets = Targets(np.arange(len(kept), dtype=np.int32), _scaled(gain[kept], weight)[:, None])
        features = append_labels(self.X[row[kept]], paths[kept])
        rng = np.random.default_rng(self.seeds[k])
        bank = BinaryLearners(self.estimator).fit(features, targets, rng, weight).bank_
        if isinstance(bank, LogisticBank):
            n_features = np.array([features.shape[1]], np.int32)
            (self.estimators[k],) = classifiers_of(bank, as_base_learner(self.estimator), n_features)
        else:
            assert isinstance(bank, EstimatorBank)
            self.estimators[k] = bank.estimators_[0]

    def decide(self, k: int, row: Rows, paths: Bytes) -> tuple[Bytes, Words]:
        """Return whether a level sets its label for training rows that come by some paths.

        And which labels that depends on, all in one word (see `bit_of`); here it may be any.
        """
        return self.links().labels(k, self.X, row, paths), np.full(len(row), _ALL_LABELS)

    def links(self) -> EstimatorLinks:
        """Return the levels as they are now, as links of a chain."""
        return EstimatorLinks(list(self.estimators))


class TreeLevels:
    """Levels that are forests of the tree bank, or single trees, all on the same bins of the features.

    Trees that have seen a row know its labels, and would never learn to go on from a wrong path. Hence bags
    are drawn by training row, the same for all levels, and a row asks only the trees that have not seen it;
    all, if there are none. Trees that grow until their leaves are pure do not care for weights. Hence, where
    trees have bags of their own, each is given the examples of its bag by a draw, by weight.
    """

    def __init__(
        self,
        estimator: Any,
        X: Matrix,
        n_levels: int,
        rng: np.random.Generator,
        n_jobs: int | None,
        row_weight: Floats | None = None,
    ) -> None:
        forest = as_base_learner(estimator)
        n = X.shape[0]
        self.X = X
        self.row_weight = row_weight
        self.n_levels = n_levels
        self.n_jobs = n_jobs
        self.n_trees = forest.n_trees
        self.settings = forest.bank_parameters()
        n_sampled = resolve_share(self.settings.pop("max_samples"), n)
        self.draws_examples = self.n_trees > 1 and n_sampled < n
        self.seeds = rng.integers(2**64, size=(n_levels, self.n_trees), dtype=np.uint64)
        self.in_bag = np.zeros((self.n_trees, n), bool)
        for bag in self.in_bag:
            bag[draw_rows(n, n_sampled, rng.integers(2**64, dtype=np.uint64))] = True
        self.bins = find_bins(X, forest.max_bins, row_weight)
        # Settled by the features alone: the labels, which come after them, are always two-valued.
        self.settings["max_features"] = choose_max_features(self.settings["max_features"], self.bins.n_bins)
        self.codes = self._chain(self._bank()).prepare(X)
        self.trees: list[Trees | None] = [None] * n_levels
        self.voters: dict[int, tuple[Bools, Rows]] = {}

    def learn(self, k: int, row: Rows, paths: Bytes, gain: Floats, *, draft: bool) -> None:
        """Grow the trees of a level, fewer for a draft."""
        n_trees = min(N_DRAFT_TREES, self.n_trees) if draft else self.n_trees
        kept = np.flatnonzero(gain)
        if len(kept) == 0:  # a tree needs rows; one without a weight makes it a leaf that has no opinion
            kept = np.zeros(1, np.int64)
        gain, in_bag = gain[kept], self.in_bag[:, row[kept]]
        weight = None if self.row_weight is None else self.row_weight[row[kept]]
        if self.draws_examples:
            gain = _scaled(gain if weight is None else gain * weight)
            differences, weight = partial(_draw, gain, in_bag, self.seeds[k]), None
        else:
            differences = partial(_all, _scaled(gain, weight), in_bag)
        vector_of_row = np.arange(len(kept), dtype=np.int32)
        problems = BitProblems(
            vector_of_row, n_trees, differences, self.seeds[k, :n_trees], row_weight=weight
        )
        features = append_labels(self.X[row[kept]], paths[kept])
        self.trees[k] = self._bank().fit(features, problems, bins=_with_labels(self.bins, k)).trees_

    def decide(self, k: int, row: Rows, paths: Bytes) -> tuple[Bytes, Words]:
        """Return the vote of the trees that have not seen a row, and which labels these have looked at."""
        trees = self.trees[k]
        assert trees is not None, "levels are trained from the last one up"
        asked, n_asked = self._voters(len(trees))
        votes, looked_at = np.empty(len(row), np.uint8), np.empty(len(row), np.uint64)
        own = np.ascontiguousarray(paths)
        vote(self.codes, row, own, asked, n_asked, trees.nodes, trees.value, votes, looked_at)
        return votes, looked_at

    def links(self) -> TreeLinks:
        """Return all trees in one bank."""
        bank = self._bank()
        bank.trees_ = Trees.join([trees for trees in self.trees if trees is not None])
        return self._chain(bank)

    def _bank(self) -> TreeBank:
        return TreeBank(**self.settings, n_jobs=self.n_jobs)

    def _chain(self, bank: TreeBank) -> TreeLinks:
        bank.bins_, bank.bags_ = _with_labels(self.bins, self.n_levels), None
        return TreeLinks(bank, self.n_trees, self.n_levels, self.n_jobs)

    def _voters(self, n_trees: int) -> tuple[Bools, Rows]:
        """Return which of the first trees have not seen a row, and their number; all, if all have seen it."""
        if n_trees not in self.voters:
            asked = ~self.in_bag[:n_trees]
            asked[:, ~asked.any(axis=0)] = True
            self.voters[n_trees] = asked, asked.sum(axis=0)
        return self.voters[n_trees]


Levels: TypeAlias = EstimatorLevels | TreeLevels


def levels_of(
    estimator: Any,
    X: Matrix,
    n_levels: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    row_weight: Floats | None = None,
) -> Levels:
    """Return levels that learn by a base learner; each has its own seed, the same in all rounds."""
    if isinstance(as_base_learner(estimator), Forest):
        return TreeLevels(estimator, X, n_levels, rng, n_jobs, row_weight)
    return EstimatorLevels(estimator, X, n_levels, rng, row_weight)


def _scaled(gain: Floats, weight: Floats | None = None) -> Floats:
    """Return gains whose mean size is 1: how much a learner regularizes often depends on it."""
    size = np.average(np.abs(gain), weights=weight) if len(gain) else 0.0
    return gain / size if size > 0.0 else gain


def _draw(gain: Floats, in_bag: Bools, seeds: Words, bits: slice) -> Floats:
    """Return what the trees of a forest have to learn: some of the examples of their bags, drawn by weight.

    The heaviest are always drawn. Should fewer than one in fifty be, then lighter ones are drawn as if they
    were as heavy, and the heaviest keep what they weigh more.

    Not a closure: other processes are given it.
    """
    weight = np.abs(gain)
    full = weight.max()
    while full > 0.0 and np.minimum(weight, full).mean() < _DRAWN * full:
        full /= 2.0
    heavy = np.copysign(np.maximum(weight, full), gain)
    drawn = np.zeros((len(gain), bits.stop - bits.start))
    for column, bag, seed in zip(drawn.T, in_bag[bits], seeds[bits], strict=True):
        chance = np.random.default_rng(seed).random(len(gain))
        taken = bag & (chance * full < weight)
        column[taken] = heavy[taken]
    return drawn


def _all(gain: Floats, in_bag: Bools, bits: slice) -> Floats:
    """Return what trees have to learn: all examples of their bags. Not a closure, as `_draw`."""
    return np.ascontiguousarray(np.where(in_bag[bits].T, gain[:, None], 0.0))


def _with_labels(bins: Bins, n_labels: int) -> Bins:
    """Return the bins of features and of labels after them, which are cut at 0.5."""
    return Bins(
        np.concatenate([bins.edges, np.full(n_labels, 0.5)]),
        np.concatenate([bins.edge_start, bins.edge_start[-1] + 1 + np.arange(n_labels)]),
        np.concatenate([bins.has_missing, np.zeros(n_labels, bool)]),
    )
