"""The links of a chain: link k tells the chance of its label from the features and the labels before it.

Both kinds of links are asked alike: ``prepare(X)`` once, then ``chance(k, prepared, row, paths)`` and
``labels(k, prepared, row, paths)`` many times. Path i has the features of row ``row[i]`` (ascending) and the
labels ``paths[i]``, of shape (n_paths, k), of the links before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels.walk import sum_values
from refpair._parallel import chunks_of, run_chunks
from refpair._saved import Savable, require
from refpair.bits.binning import Bins, Matrix
from refpair.bits.estimator import check_features, is_answer
from refpair.bits.logistic import LogisticBank
from refpair.bits.trees import TreeBank
from refpair.classifiers._base_learners import BinaryLearners, Bytes, Floats, Rows, Targets, as_base_learner
from refpair.classifiers.base_estimators import classifiers_of
from refpair.posterior.distinct_labels import DistinctLabels

_CELLS = 4_000_000  # of features given to a classifier at once: 32 MB
_PATHS = 4096  # that one thread follows at a time


def append_labels(X: Matrix, labels: Bytes) -> Matrix:
    """Return the features with labels after them, as link k is given them."""
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([X, sp.csr_array(labels)], format="csr"))
    return np.hstack([X, labels.astype(X.dtype)])


@dataclass(frozen=True, eq=False)
class EstimatorLinks(Savable):
    """A classifier of scikit-learn for each link; without ``predict_proba`` it is certain of what it says."""

    estimators: Sequence[Any]  # fitted, or 0 or 1 for a label that never or always is there

    def __len__(self) -> int:
        return len(self.estimators)

    def _check_saved(self) -> None:
        require(all(map(is_answer, self.estimators)), "a link is neither a classifier, 0 nor 1")

    def check_n_features(self, n_features: int) -> None:
        """Refuse links of other features, as far as they tell."""
        check_features(self.estimators, range(n_features, n_features + len(self)))

    @property
    def n_open(self) -> int:
        """How many links do not always say the same."""
        return sum(not isinstance(link, int) for link in self.estimators)

    def prepare(self, X: Matrix) -> Matrix:
        """Return X itself."""
        return X

    def chance(self, k: int, prepared: Matrix, row: Rows, paths: Bytes) -> Floats:
        """Ask the classifier for probabilities."""
        if hasattr(self.estimators[k], "predict_proba"):
            chances = self._ask(k, prepared, row, paths, lambda link, X: link.predict_proba(X)[:, 1])
            if np.isnan(chances).any():  # both branches of a path would be followed, and so on
                raise ValueError(f"the classifier of link {k} predicts NaN as the probability of a label")
            return np.clip(chances, 0.0, 1.0)
        return self._ask(k, prepared, row, paths, _says_one)

    def labels(self, k: int, prepared: Matrix, row: Rows, paths: Bytes) -> Bytes:
        """Ask the classifier to predict, which need not be what it thinks more probable."""
        return self._ask(k, prepared, row, paths, _says_one).astype(np.uint8)

    def _ask(
        self, k: int, prepared: Matrix, row: Rows, paths: Bytes, question: Callable[[Any, Matrix], Any]
    ) -> Floats:
        """Ask about blocks of paths: they have a copy of the features each."""
        link = self.estimators[k]
        if isinstance(link, int):
            return np.full(len(row), float(link > 0))
        out = np.empty(len(row))
        if len(row):
            for part in chunks_of(len(row), max(1, _CELLS // (prepared.shape[1] + k))):
                out[part] = question(link, append_labels(prepared[row[part]], paths[part]))
        return out


def _says_one(link: Any, X: Matrix) -> Any:
    return link.predict(X) > 0


@dataclass(frozen=True, eq=False)
class TreeLinks(Savable):
    """A tree or a forest of the tree bank for each link.

    The bank learned from the features with all labels after them, in the order of the chain; the trees of a
    link use only the labels before it.
    """

    bank: TreeBank
    n_trees: int
    n_links: int
    n_jobs: int | None = None

    def __len__(self) -> int:
        return self.n_links

    def _check_saved(self) -> None:
        trees, n_links, n_trees = self.bank.trees_, self.n_links, self.n_trees
        fits = n_links > 0 and n_trees > 0 and len(trees) == n_links * n_trees
        require(fits, "there are not as many trees as the links have")
        n_features = self.bank.bins_.n_features - n_links
        require(n_features >= 1, "there are fewer features than links")
        # A link knows only the labels before it, which come after the features.
        largest = np.maximum.reduceat(trees.feature, trees.start[:-1])
        allowed = n_features + np.repeat(np.arange(n_links), n_trees)
        require((largest < allowed).all(), "a link asks for a label that comes after it")

    def check_n_features(self, n_features: int) -> None:
        """Refuse links of other features."""
        self.bank.check_n_features(n_features + self.n_links)

    @property
    def n_open(self) -> int:
        """How many links do not always say the same."""
        trees = self.bank.trees_
        first, is_inner = trees.start[:-1][:: self.n_trees], trees.feature >= 0
        low = np.minimum.reduceat(np.where(is_inner, np.float32(1), trees.value), first)
        high = np.maximum.reduceat(np.where(is_inner, np.float32(-1), trees.value), first)
        return int(((low != 1) & (high != -1)).sum())

    def prepare(self, X: Matrix) -> Bytes:
        """Return the bins of the features."""
        of_all, n = self.bank.bins_, X.shape[1]
        edge_start = of_all.edge_start[: n + 1]
        bins = Bins(of_all.edges[: edge_start[-1]], edge_start, of_all.has_missing[:n])
        codes = np.empty(X.shape, np.uint8)
        for block, part in bins.blocks(X):
            codes[block] = part
        return codes

    def chance(self, k: int, prepared: Bytes, row: Rows, paths: Bytes) -> Floats:
        """Send the paths down the trees of the link."""
        trees = self.bank.trees_
        nodes = trees.nodes._replace(start=trees.start[k * self.n_trees : (k + 1) * self.n_trees + 1])
        sums = np.empty(len(row))

        def follow(part: slice) -> None:
            own = np.ascontiguousarray(paths[part])
            sum_values(prepared, row[part], own, nodes, trees.value, sums[part])

        parts = chunks_of(len(row), _PATHS)
        run_chunks(follow, parts, n_jobs=self.n_jobs, title="following chains", in_place=True)
        return np.clip((1.0 + sums / self.n_trees) / 2.0, 0.0, 1.0)

    def labels(self, k: int, prepared: Bytes, row: Rows, paths: Bytes) -> Bytes:
        """Return what is more probable."""
        return (self.chance(k, prepared, row, paths) > 0.5).astype(np.uint8)


Links: TypeAlias = TreeLinks | EstimatorLinks


def read_order(order: Any, n_labels: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return which label each link is for, given the parameter `order`."""
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str) and order == "random":
        return rng.permutation(n_labels)
    with suppress(ValueError):  # of lists of several lengths, of a number
        given = np.asarray(order)
        if np.issubdtype(given.dtype, np.integer) and np.array_equal(np.sort(given), np.arange(n_labels)):
            return given.astype(np.int64)
    raise ValueError(
        f'order must be None, "random" or the numbers from 0 to {n_labels - 1} in any order, not {order!r}'
    )


def check_chain(order: npt.NDArray[np.int64], links: Links, n_features: int, n_labels: int) -> None:
    """Raise a ValueError unless a chain has a link for each label, learned from so many features."""
    require(len(links) == n_labels, "there is not a link for each label")
    check_order(order, n_labels)
    links.check_n_features(n_features)


def check_order(order: npt.NDArray[np.integer], n_labels: int) -> None:
    """Raise a ValueError unless an order has each label once."""
    require(np.array_equal(np.sort(order), np.arange(n_labels)), "the order of the chain is broken")


def fit_links(
    estimator: Any,
    X: Matrix,
    distinct: DistinctLabels,
    order: Rows,
    rng: np.random.Generator,
    row_weight: Floats | None = None,
    **how: Any,
) -> Links:
    """Learn the links of a chain; `how` are `n_jobs` and `verbose`.

    A link is learned from the true labels of the links before it, not from what they would say. So they need
    not wait for each other: all are problems on the same rows, of which each may use more features.
    """
    vectors = distinct.vectors[:, order]
    n_links = len(order)
    n_features = (X.shape[1] + np.arange(n_links)).astype(np.int32)
    targets = Targets.of_bits(distinct.of_row, vectors, n_features)
    learners = BinaryLearners(estimator, **how)
    learners.fit(append_labels(X, vectors[distinct.of_row]), targets, rng, row_weight)
    bank = learners.bank_
    if isinstance(bank, TreeBank):
        return TreeLinks(bank, learners.n_trees_, n_links, learners.n_jobs)
    if isinstance(bank, LogisticBank):
        return EstimatorLinks(classifiers_of(bank, as_base_learner(estimator), n_features))
    return EstimatorLinks(bank.estimators_)
