"""Classifier chains as distributions over label vectors: P(y | x) = Π P(y_k | x, y_1 … y_{k−1})."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

__all__ = ["ChainSamples"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_ROWS = 1024  # in a block
_CELLS = 4_000_000  # of features given to a link of the chain at once: 32 MB


@dataclass(frozen=True, eq=False)
class ChainSamples:
    """Draws from the distribution of a fitted chain.

    Attributes
    ----------
    chain : ClassifierChain
    n_samples : int
        How many label vectors to draw for a row. If there are no more label vectors than that, nothing is
        drawn: the distribution is exact.
    uniforms : ndarray of shape (n_labels,)
        All the random numbers there are, one for each link. Rows share them, so that what is drawn for a row
        does not depend on the others.
    """

    chain: Any
    n_samples: int
    uniforms: Floats

    def draw(self, X: Any) -> Iterator[tuple[Bytes, npt.NDArray[np.int64], Floats]]:
        """Yield for blocks of rows: label vectors, the row in the block of each, and its probability.

        They are in the order of the rows, and a row has no vector twice.
        """
        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite=False)
        if sp.issparse(X):
            X = sp.csr_array(X)
        for first in range(0, X.shape[0], _ROWS):
            yield self._draw(X[first : first + _ROWS])

    def _draw(self, X: Any) -> tuple[Bytes, npt.NDArray[np.int64], Floats]:
        n_labels = len(self.chain.estimators_)
        exact = 2**n_labels <= self.n_samples
        # The draws of a row that agree so far are one path with a weight: what comes next is asked only once.
        row = np.arange(X.shape[0])
        paths = np.zeros((X.shape[0], n_labels), np.uint8)
        weight = np.full(X.shape[0], 1.0 if exact else self.n_samples)
        for k, link in enumerate(self.chain.estimators_):
            ones = weight * _chance(link, X, row, paths[:, :k])
            if not exact:
                ones = np.minimum(_rounded(ones, row, self.uniforms[k]), weight)
            branches = np.column_stack([weight - ones, ones]).ravel()
            taken = np.flatnonzero(branches)
            row, paths, weight = row[taken // 2], paths[taken // 2], branches[taken]
            paths[:, k] = taken % 2
        labels = np.empty_like(paths)
        labels[:, np.asarray(self.chain.order_)] = paths
        return labels, row, weight / np.bincount(row, weights=weight)[row]


def _chance(link: Any, X: Any, row: npt.NDArray[np.int64], paths: Bytes) -> Floats:
    """Return the probability that a link gives to its label after each path."""
    step = max(1, _CELLS // (X.shape[1] + paths.shape[1]))
    out = np.empty(len(row))
    for first in range(0, len(row), step):
        part = slice(first, first + step)
        both = (X[row[part]], paths[part])
        features = sp.hstack(both, format="csr") if sp.issparse(X) else np.hstack(both)
        out[part] = link.predict_proba(features)[:, 1]
    return np.clip(out, 0.0, 1.0)


def _rounded(expected: Floats, row: npt.NDArray[np.int64], uniform: float) -> Floats:
    """Round the expected numbers of a row's draws at random, each up or down, and so that its mean is right.

    This is systematic sampling: also the sum over the paths of a row is rounded up or down, so that the draws
    tell far more of the chance of a label than as many that know nothing of each other.
    """
    ends = np.cumsum(expected)
    is_first = np.diff(row, prepend=-1) > 0
    before = np.concatenate([[0.0], ends[:-1]])
    of_row = before[is_first][np.cumsum(is_first) - 1]
    upto = np.floor(ends - of_row + uniform)
    return np.asarray(upto - np.where(is_first, 0.0, np.concatenate([[0.0], upto[:-1]])))
