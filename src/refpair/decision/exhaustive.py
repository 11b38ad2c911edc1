"""Any cost of few labels: all label vectors are tried."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.costs import Cost
from refpair.posterior import LabelDistribution

__all__ = ["MOST_LABELS", "all_vectors", "exhaustive_rule"]

MOST_LABELS = 10
_BLOCK = 1 << 22  # numbers in a temporary array: 32 MB
_NOISE = 1e-12  # of the largest cost: expected costs that differ by less are the same but for rounding


def exhaustive_rule(
    vectors: npt.NDArray[np.uint8], cost: Cost
) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]]:
    """Return a function that decides on distributions over the vectors, exactly.

    Ties go to the smallest number of labels, and of as many to the labels that come first.
    """
    candidates = all_vectors(vectors.shape[1])
    support, merged = np.unique(vectors, axis=0, return_inverse=True)
    costs = cost.matrix(support, candidates)
    slack = _NOISE * np.abs(costs).max(initial=0.0)
    merged = merged.ravel()

    def rule(distribution: LabelDistribution) -> npt.NDArray[np.uint8]:
        n = len(distribution)
        entries = (distribution.weight, merged[distribution.index], distribution.start)
        weights = sp.csr_array(entries, shape=(n, len(support)))
        best = np.empty(n, np.int64)
        step = max(1, _BLOCK // len(candidates))
        for first in range(0, n, step):
            expected = weights[first : first + step].toarray() @ costs
            least = expected.min(axis=1, keepdims=True)
            best[first : first + step] = (expected <= least + slack).argmax(axis=1)
        return candidates[best]

    return rule


def all_vectors(n_labels: int) -> npt.NDArray[np.uint8]:
    """Return all 2^K label vectors, those with fewer labels first."""
    vectors = np.zeros((1 << n_labels, n_labels), np.uint8)
    sets = (chosen for size in range(n_labels + 1) for chosen in combinations(range(n_labels), size))
    for row, chosen in enumerate(sets):
        vectors[row, list(chosen)] = 1
    return vectors
