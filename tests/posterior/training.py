"""What sources learn from, for tests."""

import numpy as np

from refpair.bits.trees import TreeBank
from refpair.costs import get_cost
from refpair.posterior.distinct_labels import distinct_labels
from refpair.posterior.source import Training


def make_training(
    X, Y, rows=None, *, vectors=None, cost="f1", max_samples=0.632, learn=None, n_jobs=None, seed=0
) -> Training:
    """Return the training of trees of bits; all samples are asked about, in random order, unless told."""
    distinct = distinct_labels(np.uint8(Y))
    order = np.argsort(-distinct.counts, kind="stable")
    relevant, counts = distinct.vectors[order], distinct.counts[order]
    if vectors is not None:
        known = {vector.tobytes(): count for vector, count in zip(relevant, counts, strict=True)}
        relevant = np.uint8(vectors)
        counts = np.array([known.get(vector.tobytes(), 0) for vector in relevant])
    if rows is None:
        rows = np.random.default_rng(seed).permutation(len(Y))

    def learn_trees(X, problems):
        return TreeBank(max_samples=max_samples, n_jobs=n_jobs).fit(X, problems)

    return Training(
        X, distinct, relevant, counts, np.int64(rows), get_cost(cost), learn or learn_trees, n_jobs
    )


def some_samples(n=120, n_labels=4, seed=0):
    """Return samples whose labels depend on their features, more or less."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (X[:, :n_labels] + 0.7 * rng.normal(size=(n, n_labels)) > 0.4).astype(np.uint8)
