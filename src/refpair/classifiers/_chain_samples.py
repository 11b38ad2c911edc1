"""Classifier chains as distributions over label vectors: P(y | x) = Π P(y_k | x, y_1 … y_{k−1})."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils import check_array

from refpair._kernels.walk import round_draws
from refpair._saved import Savable, require
from refpair.classifiers._distinct_labels import distinct_labels
from refpair.classifiers._links import Links
from refpair.posterior import LabelDistribution

__all__ = ["MOST_SAMPLES", "ChainSamples"]

MOST_SAMPLES = 1 << 20  # that a file may ask for: more would be a way to fill the memory

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_ROWS = 1024  # in a block, and less if their paths would be more than these:
_PATHS = 1 << 20


@dataclass(frozen=True, eq=False)
class ChainSamples(Savable):
    """Draws from the distribution of a fitted chain.

    Attributes
    ----------
    links : Links
    order : ndarray of shape (n_labels,)
        Which label each link is for.
    n_samples : int
        How many label vectors to draw for a row. If there are no more label vectors than that, nothing is
        drawn: the distribution is exact.
    uniforms : ndarray of shape (n_labels,)
        All the random numbers there are, one for each link. Rows share them, so that what is drawn for a row
        does not depend on the others.
    exact : bool, default=False
        Whether there are no more than `n_samples` label vectors for another reason: some labels are constant.
    """

    links: Links
    order: npt.NDArray[np.integer]
    n_samples: int
    uniforms: Floats
    exact: bool = False

    def _check_saved(self) -> None:
        require(0 < self.n_samples <= MOST_SAMPLES, f"{self.n_samples} label vectors cannot be drawn")
        inside = (self.uniforms >= 0.0) & (self.uniforms < 1.0)
        fits = self.uniforms.shape == (len(self.links),) and inside.all()
        require(fits, "the draws of the chain are broken")
        is_order = np.array_equal(np.sort(self.order), np.arange(len(self.links)))
        require(is_order, "the order of the chain is broken")

    def distributions(self, X: Any) -> Iterator[LabelDistribution]:
        """Yield the distributions over label vectors of blocks of rows."""
        for labels, row, weight in self.draw(X):
            found = distinct_labels(labels)
            start = np.concatenate([[0], np.cumsum(np.bincount(row))]).astype(np.int64)
            yield LabelDistribution(found.vectors, start, found.of_row, weight)

    def draw(self, X: Any) -> Iterator[tuple[Bytes, npt.NDArray[np.int64], Floats]]:
        """Yield for blocks of rows: label vectors, the row in the block of each, and its probability.

        They are in the order of the rows, and a row has no vector twice.
        """
        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite=False)
        if sp.issparse(X):
            X = sp.csr_array(X)
        step = max(1, min(_ROWS, _PATHS // min(self.n_samples, 2 ** len(self.links))))
        for first in range(0, X.shape[0], step):
            yield self._draw(X[first : first + step])

    def _draw(self, X: Any) -> tuple[Bytes, npt.NDArray[np.int64], Floats]:
        n_labels = len(self.links)
        prepared = self.links.prepare(X)
        exact = self.exact or 2**n_labels <= self.n_samples
        # The draws of a row that agree so far are one path with a weight: what comes next is asked only once.
        row = np.arange(X.shape[0])
        paths = np.zeros((X.shape[0], n_labels), np.uint8)
        weight = np.full(X.shape[0], 1.0 if exact else self.n_samples)
        for k in range(n_labels):
            ones = weight * self.links.chance(k, prepared, row, paths[:, :k])
            if not exact:
                ones = np.minimum(round_draws(ones, row, self.uniforms[k]), weight)
            branches = np.column_stack([weight - ones, ones]).ravel()
            taken = np.flatnonzero(branches)
            row, paths, weight = row[taken // 2], paths[taken // 2], branches[taken]
            paths[:, k] = taken % 2
        labels = np.empty_like(paths)
        labels[:, self.order] = paths
        return labels, row, weight / np.bincount(row, weights=weight)[row]
