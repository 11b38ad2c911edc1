"""Distributions on other label vectors than they were: changed ones, of which equal ones become one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import merge_weights
from refpair.posterior.distribution import Bytes, Floats, LabelDistribution, label_lists, vector_keys

_SMALL = 0.05  # share of a row's weights that may be left out


def merged(
    distribution: LabelDistribution,
    vectors: Bytes,
    allowed: npt.NDArray[np.bool_],
    targets: Floats | None = None,
) -> LabelDistribution:
    """Return the distribution with other vectors instead of its own.

    Parameters
    ----------
    distribution : LabelDistribution
    vectors : array of shape (n_vectors, n_labels), dtype uint8
        What each vector becomes; they may be the distribution's own array.
    allowed : array of shape (n_vectors,), dtype bool
        Those that are not allowed are left out, unless all of a row are not.
    targets : array of shape (n, n_labels), optional
        The probabilities that labels are to have. If they are told, the smallest weights of a row are left
        out, too, 5 % in all at most; a label of a probability from 5 to 95 % is not left to none, or to all.

    Examples
    --------
    >>> p = LabelDistribution.from_dense([[0, 0], [0, 1], [1, 1]], [[1, 1, 2]])
    >>> q = merged(p, np.array([[0, 0], [1, 1], [1, 1]], np.uint8), np.ones(3, bool))
    >>> q.vectors, q.weight
    (array([[0, 0],
           [1, 1]], dtype=uint8), array([0.25, 0.75]))
    """
    lists, which = distribution._label_lists, np.arange(len(vectors))
    if vectors is not distribution.vectors:
        _, first, inverse = np.unique(vector_keys(vectors), return_index=True, return_inverse=True)
        vectors, which = np.ascontiguousarray(vectors[first]), inverse.ravel()
        lists = label_lists(vectors)
    start = np.zeros_like(distribution.start)
    index, weight = np.empty_like(distribution.index), np.empty_like(distribution.weight)
    merge_weights(
        distribution.start, distribution.index, distribution.weight, which, allowed, *lists,
        0.0 if targets is None else _SMALL, np.zeros((0, 0)) if targets is None else targets,
        np.full(len(vectors), -1), start, index, weight,
    )  # fmt: skip
    used = slice(int(start[-1]))
    found = replace(
        distribution, vectors=vectors, start=start, index=index[used].copy(), weight=weight[used].copy()
    )
    vars(found)["_label_lists"] = lists  # found once for all
    return found
