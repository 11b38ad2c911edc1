"""Trees and forests as distributions over label vectors: those of the training rows in the same leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair._kernels.walk import sum_leaves
from refpair._parallel import chunks_of, run_chunks
from refpair._saved import Savable, require, starts_in_order
from refpair.posterior import LabelDistribution
from refpair.posterior.distinct_labels import DistinctLabels

_WEIGHTS = 8_000_000  # about so many in a block of rows: 100 MB
_MOST_ROWS = 8192  # in a block
_ROWS = 256  # that one job sends down the trees
_TREES = 8  # that one job reads the leaves of


@dataclass(frozen=True, eq=False)
class LeafVectors(Savable):
    """The label vectors in the leaves of trees.

    Node j, if it is a leaf, has ``weight[start[j] : start[j + 1]]`` on these vectors of ``index``.
    """

    trees: list[Any]  # asked directly: the checks of an estimator take longer than a few rows
    vectors: npt.NDArray[np.uint8]  # the distinct ones of training
    tree_start: npt.NDArray[np.int64]  # the first of all nodes that is of a tree
    start: npt.NDArray[np.int64]
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]
    rows_at_once: int

    def _check_saved(self) -> None:
        """Check that these are the leaves of the trees."""
        sizes = [int(tree.node_count) for tree in self.trees]
        same = self.tree_start.tolist() == _starts(sizes).tolist()
        same &= len({int(tree.n_features) for tree in self.trees}) == 1
        require(same, "the leaves are those of other trees")
        right = self.start.shape == (sum(sizes) + 1,) and self.vectors.ndim == 2
        ascends = right and starts_in_order(self.start, self.index.size, may_be_empty=True)
        require(ascends and 0 < self.rows_at_once <= _MOST_ROWS, "the leaves have a wrong shape")
        is_leaf = np.concatenate([tree.children_left < 0 for tree in self.trees])
        require((np.diff(self.start)[is_leaf] > 0).all(), "a leaf has no label vector")
        exist = self.index.min(initial=0) >= 0 and self.index.max(initial=-1) < len(self.vectors)
        fits = exist and self.index.ndim == 1 and self.weight.shape == self.index.shape
        require(fits, "a leaf has a label vector that does not exist")
        shares = (self.weight > 0) & (self.weight <= 1)
        require(shares.all(), "the weight of a label vector in a leaf is not a share")

    def distributions(self, X: Any, n_jobs: int | None) -> Iterator[LabelDistribution]:
        """Yield the distributions of blocks of rows: for a row, the mean over the trees."""
        X = _as_trees_take_it(X)
        expected = int(self.trees[0].n_features)
        if X.shape[1] != expected:  # a pipeline from a file may give too few, and trees do not look
            raise ValueError(f"X has {X.shape[1]} features, but the trees were grown on {expected}")
        for first in range(0, X.shape[0], self.rows_at_once):
            yield self._distribution(X[first : first + self.rows_at_once], n_jobs)

    def _distribution(self, X: Any, n_jobs: int | None) -> LabelDistribution:
        work, chunks = partial(self._sum, X), chunks_of(X.shape[0], _ROWS)
        parts = run_chunks(work, chunks, n_jobs=n_jobs, title="Leaves", in_place=True)
        starts, index, weight = zip(*parts, strict=True)
        start = _starts(np.concatenate([np.diff(start) for start in starts]))
        return LabelDistribution(self.vectors, start, np.concatenate(index), np.concatenate(weight))

    def _sum(self, X: Any, rows: slice) -> tuple[npt.NDArray[Any], ...]:
        nodes = self._leaves(X[rows])
        return sum_leaves(nodes, self.start, self.index, self.weight, len(self.vectors))

    def _leaves(self, X: Any) -> npt.NDArray[np.int64]:
        return np.column_stack(
            [first + tree.apply(X) for first, tree in zip(self.tree_start, self.trees, strict=False)]
        )

    def out_of_bag(self, X: Any, drawn: npt.NDArray[np.bool_]) -> LabelDistribution:
        """Return the distributions of training rows: for a row, the mean over the trees that did not draw it.

        `drawn`, of shape (n, n_trees), tells which trees drew a row: not all.
        """
        start = np.append(self.start, self.start[-1])  # one more node, which holds nothing
        nodes = np.where(drawn, len(self.start) - 1, self._leaves(_as_trees_take_it(X)))
        told: Any = sum_leaves(nodes, start, self.index, self.weight, len(self.vectors))
        return LabelDistribution(self.vectors, *told)


def read_leaves(
    model: Any,
    X: Any,
    distinct: DistinctLabels,
    row_weight: npt.NDArray[np.float64] | None = None,
    *,
    n_jobs: int | None,
    verbose: int,
) -> LeafVectors:
    """Find the label vectors in the leaves of a tree or forest of scikit-learn, fitted on these rows.

    A row counts as often as the bootstrap of the tree drew it, if there was one, times its weight, unless
    rows were drawn by their weights.
    """
    trees = [tree.tree_ for tree in getattr(model, "estimators_", [model])]
    samples = model.estimators_samples_ if getattr(model, "bootstrap", False) else None
    X, weight = _as_trees_take_it(X), np.ones(len(distinct.of_row)) if row_weight is None else row_weight
    usual = int(np.bincount(distinct.of_row, weight).argmax())
    if samples is not None and hasattr(model, "_sample_weight"):  # as of scikit-learn 1.9
        weight = np.ones(len(weight))

    def read(chunk: slice) -> list[tuple[npt.NDArray[Any], ...]]:
        return [
            _read_tree(trees[i], X, distinct.of_row, weight, usual, None if samples is None else samples[i])
            for i in range(chunk.start, chunk.stop)
        ]

    chunks = chunks_of(len(trees), _TREES)
    read_chunks = run_chunks(read, chunks, n_jobs=n_jobs, verbose=verbose, title="Leaves", in_place=True)
    per_tree = [tree for chunk in read_chunks for tree in chunk]
    lengths, index, weight = (np.concatenate(parts) for parts in zip(*per_tree, strict=True))
    # What a row has at most is what its leaves hold, which for a training row is about Σ length² / Σ length.
    typical = sum(float((part.astype(float) ** 2).sum() / part.sum()) for part, _, _ in per_tree)
    typical = min(typical, len(distinct.vectors))
    rows_at_once = int(np.clip(_WEIGHTS / typical, _ROWS, _MOST_ROWS))
    tree_start = _starts([len(part) for part, _, _ in per_tree])
    return LeafVectors(
        trees, distinct.vectors, tree_start, _starts(lengths), index, weight, rows_at_once=rows_at_once
    )


def _starts(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _read_tree(
    tree: Any,
    X: Any,
    vector_of_row: npt.NDArray[np.int32],
    row_weight: npt.NDArray[np.float64],
    usual: int,
    drawn: npt.NDArray[np.integer[Any]] | None,
) -> tuple[npt.NDArray[Any], ...]:
    """Return for each node how many vectors it holds, and the vectors and weights of all nodes in order."""
    leaf = tree.apply(X)
    times = row_weight if drawn is None else row_weight * np.bincount(drawn, minlength=len(leaf))
    n_nodes, n_vectors = int(tree.node_count), int(vector_of_row.max()) + 1
    rows = np.flatnonzero(times)
    # A pipeline may transform training rows in another way while it is fitted (TargetEncoder does), so that a
    # leaf has none of them now. It gets the most frequent vector.
    empty = np.setdiff1d(np.flatnonzero(tree.children_left < 0), leaf[rows])
    nodes = np.concatenate([leaf[rows], empty])
    held = np.concatenate([vector_of_row[rows], np.full(len(empty), usual)])
    # Node and vector as one number, for np.unique to sort by the node, then by the vector.
    cell, which = np.unique(nodes * n_vectors + held, return_inverse=True)
    node, index = cell // n_vectors, (cell % n_vectors).astype(np.int32)
    weight = np.bincount(which, weights=np.concatenate([times[rows], np.ones(len(empty))]))
    in_node = np.bincount(node, weights=weight, minlength=n_nodes)
    return np.bincount(node, minlength=n_nodes), index, weight / in_node[node]


def _as_trees_take_it(X: Any) -> Any:
    """Return X as scikit-learn's trees take it unchecked: they know NaN, but not in sparse matrices."""
    finite = True if sp.issparse(X) else "allow-nan"
    X = check_array(X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=finite, input_name="X")
    if sp.issparse(X):
        X = sp.csr_array((X.data, X.indices.astype(np.intc), X.indptr.astype(np.intc)), shape=X.shape)
    return X
