"""Learning a chain: its order, and its links all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._saved import require
from refpair.bits import LogisticBank, TreeBank
from refpair.bits.binning import Matrix
from refpair.classifiers._base_learners import BinaryLearners, Targets, as_base_learner
from refpair.classifiers._distinct_labels import DistinctLabels
from refpair.classifiers._links import EstimatorLinks, TreeLinks, append_labels
from refpair.classifiers.logistic import classifiers_of

__all__ = ["check_chain", "fit_links", "read_order"]


def read_order(order: Any, n_labels: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return which label each link is for, given the parameter `order`.

    Examples
    --------
    >>> read_order(None, 3, np.random.default_rng(0)), read_order([2, 0, 1], 3, np.random.default_rng(0))
    (array([0, 1, 2]), array([2, 0, 1]))
    """
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str):
        if order == "random":
            return rng.permutation(n_labels)
    else:
        try:
            given = np.asarray(order)
        except ValueError:  # lists of several lengths
            given = np.empty((0, 0))
        is_list = given.ndim == 1 and np.issubdtype(given.dtype, np.integer)
        if is_list and np.array_equal(np.sort(given), np.arange(n_labels)):
            return given.astype(np.int64)
    raise ValueError(
        f'order must be None, "random" or the numbers from 0 to {n_labels - 1} in any order, not {order!r}'
    )


def check_chain(
    order: npt.NDArray[np.int64], links: TreeLinks | EstimatorLinks, n_features: int, n_labels: int
) -> None:
    """Raise a ValueError unless a chain has a link for each label, learnt from so many features."""
    require(len(links) == n_labels, "there is not a link for each label")
    require(np.array_equal(np.sort(order), np.arange(n_labels)), "the order of the chain is broken")
    links.check_n_features(n_features)


def fit_links(
    estimator: Any,
    X: Matrix,
    distinct: DistinctLabels,
    order: npt.NDArray[np.int64],
    rng: np.random.Generator,
    *,
    n_jobs: int | None,
    verbose: int,
) -> TreeLinks | EstimatorLinks:
    """Learn the links of a chain.

    A link is learnt from the true labels of the links before it, not from what they would say. So they need
    not wait for each other: all are problems on the same rows, of which each may use more features.
    """
    vectors = distinct.vectors[:, order]
    n_links = len(order)
    n_features = (X.shape[1] + np.arange(n_links)).astype(np.int32)
    targets = Targets.of_bits(distinct.of_row, vectors, n_features)
    learners = BinaryLearners(estimator, n_jobs=n_jobs, verbose=verbose)
    learners.fit(append_labels(X, vectors[distinct.of_row]), targets, rng)
    bank = learners.bank_
    if isinstance(bank, TreeBank):
        return TreeLinks(bank, learners.n_trees_, n_links, n_jobs)
    if isinstance(bank, LogisticBank):
        return EstimatorLinks(classifiers_of(bank, as_base_learner(estimator), n_features))
    return EstimatorLinks(bank.estimators_)
