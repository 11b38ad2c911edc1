"""The source of leaves: training samples that share leaves with a sample vote by their label vectors.

Each tree learns which of some reference vectors, drawn from the training samples, is nearest to a sample's
label vector. That is one problem of several classes, whatever the number of labels: as good as a tree that
learns all labels at once, and several times faster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from refpair._kernels.walk import leaf_votes
from refpair._saved import require
from refpair.bits.binning import Bins, Matrix, find_bins
from refpair.bits.nodes import ClassTrees
from refpair.bits.problem import Bags, ClassProblems
from refpair.bits.trees import ClassTreeBank
from refpair.costs import get_cost
from refpair.posterior.distribution import Floats
from refpair.posterior.source import Source, Training, in_threads

N_REFERENCES = 32  # of a tree
BATCHES = (100, 100, 200)  # trees
_BAG, _LARGEST_BAG = 0.8, 20_000  # of the samples, for each tree; leaves hold all of them
_POOL, _CELLS = 512, 1 << 24  # vectors that references are drawn from; costs that are kept of them
_PARTS = 64  # of a sample, that leaves count
_TIES = 1e-6  # costs that differ by less are told apart at random, for each vector


class LeafSource(Source):
    """The mean over trees of the frequencies of label vectors in the leaf that a sample reaches."""

    name = "leaves"
    tells_vectors: ClassVar[bool] = True

    trees: ClassTreeBank  # a single problem, whose classes are the label vectors of the relevant set

    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Grow trees in batches."""
        n_vectors = len(training.vectors)
        bins = find_bins(training.X, ClassTreeBank().max_bins, training.distinct.row_weight)
        nearest = _NearestReference(training, rng)
        bank = ClassTreeBank(max_features="sqrt", max_samples=_BAG, n_jobs=training.n_jobs)
        bank.bins_, bank.n_classes_ = bins, np.array([n_vectors])
        self.trees = bank
        parts: list[ClassTrees] = []
        votes, n_votes = np.zeros((len(training.rows), n_vectors)), np.zeros(len(training.rows))
        for n_more in BATCHES:
            grown, bags = self._grow(n_more, training, bins, nearest, rng)
            trees = grown.trees_
            leaves = grown.find_leaves(training.X[training.rows])
            unknown = bags.leave_out(training.rows)
            leaf_votes(leaves, unknown, trees.held, votes)
            n_votes += unknown.sum(axis=1)
            parts.append(trees)
            bank.trees_ = ClassTrees.join(parts)
            bank.n_trees_ = len(bank.trees_)
            yield _normed(votes, n_votes, training.counts)

    def _grow(
        self,
        n_trees: int,
        training: Training,
        bins: Bins,
        nearest: _NearestReference,
        rng: np.random.Generator,
    ) -> tuple[ClassTreeBank, Bags]:
        """Grow a batch of trees; return them with label vectors in their leaves, and what they know."""
        n = training.X.shape[0]
        classes = np.column_stack([nearest.draw(rng) for _ in range(n_trees)])
        seeds = rng.integers(2**63, size=n_trees, dtype=np.uint64)
        n_sampled = max(1, min(round(_BAG * n), _LARGEST_BAG, n - 1))
        n_classes = classes.max(axis=0).astype(np.int64) + 1
        problems = ClassProblems(classes, n_classes, 1, seeds, training.distinct.row_weight)
        bank = ClassTreeBank(
            max_features="sqrt", max_samples=n_sampled, n_jobs=training.n_jobs, verbose=training.verbose
        ).fit(training.X, problems, bins)
        bags = Bags(seeds, n, n_sampled)
        leaves = bank.find_leaves(training.X)
        bank.trees_ = _with_vectors(bank.trees_, leaves, bags, training)
        return bank, bags

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the weights of label vectors."""
        return in_threads(self.trees, n_jobs).predict_proba(X, 0)

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse trees of other features, or leaves of other vectors."""
        require(self.trees.n_classes_.tolist() == [n_vectors], "the leaves are those of other label vectors")
        self.trees.check_n_features(n_features)


class _NearestReference:
    """Draws references of a tree, and tells which of them is nearest to each sample by Jaccard's cost."""

    def __init__(self, training: Training, rng: np.random.Generator) -> None:
        vectors, counts = training.distinct.vectors, training.distinct.counts
        n_pool = int(max(min(len(vectors), _POOL, _CELLS // len(vectors)), min(len(vectors), 2)))
        pool = rng.choice(len(vectors), n_pool, replace=False, p=counts / counts.sum())
        costs = get_cost("jaccard").matrix(vectors, vectors[pool])
        shares = training.distinct.shares
        self.costs = (costs if shares is None else shares @ costs).astype(np.float32)
        self.of_row = training.distinct.of_row

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.int32]:
        """Return the class of each sample."""
        n_pool = self.costs.shape[1]
        chosen = rng.choice(n_pool, min(N_REFERENCES, n_pool), replace=False)
        costs = self.costs[:, chosen]
        costs += rng.random(costs.shape, np.float32) * np.float32(_TIES)
        return np.asarray(costs.argmin(axis=1)[self.of_row], np.int32)


def _with_vectors(
    trees: ClassTrees, leaves: npt.NDArray[np.int32], bags: Bags, training: Training
) -> ClassTrees:
    """Return the trees with the label vectors of their samples in the leaves, instead of classes.

    A leaf whose samples have no vector of the relevant set gets the most frequent one. Leaves count whole
    numbers: parts of the mean sample, if samples count differently or their vectors are not known.
    """
    n_vectors, is_plain = len(training.vectors), training.distinct.is_plain
    cells = [np.flatnonzero(trees.feature < 0).astype(np.int64) * n_vectors]
    amounts = [np.zeros(len(cells[0]))]  # they are put in for leaves not to be empty
    shares = training.shares_of(np.arange(len(leaves)))
    shares.data *= 1.0 if is_plain else _PARTS * len(leaves) / shares.sum()
    for tree in range(len(trees)):
        of_rows = shares[bags.rows(tree)]
        leaf = np.repeat(leaves[bags.rows(tree), tree].astype(np.int64), np.diff(of_rows.indptr))
        cells.append(leaf * n_vectors + of_rows.indices)
        amounts.append(of_rows.data)
    cell, which = np.unique(np.concatenate(cells), return_inverse=True)
    counts = np.rint(np.bincount(which, np.concatenate(amounts))).astype(np.int64)
    node = cell // n_vectors
    empty = np.bincount(node, counts, minlength=len(trees.feature)) == 0
    kept = (counts > 0) | (empty[node] & (cell % n_vectors == 0))
    cell, node, counts = cell[kept], node[kept], np.maximum(counts[kept], 1)
    start = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=len(trees.feature)))])
    nodes = (trees.start, trees.feature, trees.threshold, trees.missing_left, trees.left_child)
    return ClassTrees(*nodes, start, (cell % n_vectors).astype(np.int32), counts.astype(np.int32))


def _normed(votes: Floats, n_votes: Floats, counts: npt.NDArray[Any]) -> Floats:
    """Return the mean votes; of a sample that all trees know, the frequencies of the vectors."""
    with np.errstate(invalid="ignore"):
        return np.where(n_votes[:, None] > 0, votes / n_votes[:, None], counts / counts.sum())
