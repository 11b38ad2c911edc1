"""What unknown labels of training rows may be: the probabilities of label vectors that agree with known ones.

    Q_i(y)  ∝  n_y · Π_k [P_k(x_i) / f_k]^y_k · [(1 − P_k(x_i)) / (1 − f_k)]^(1 − y_k)

over the unknown labels k, for the vectors y that agree with all that is known of row i. P_k(x_i) is what
sources of single labels say, learned from rows where label k is known, and without row i. n_y is how often y
occurs, and f_k how often label k: by the sums of Q over all rows, so that Q and n are found in turns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._parallel import chunks_of
from refpair.posterior.distinct_labels import DistinctLabels, distinct_labels
from refpair.posterior.distribution import Bytes, Floats
from refpair.tables.labels import UNKNOWN

_ROUNDS = 4
_LEAST = 0.01  # P is kept from this to 1 minus this
_KEPT = 0.02  # vectors of a smaller part of a row's largest probability are left out
_CELLS = 1 << 23  # rows × vectors, at a time


def agreeing(observed: Bytes, vectors: Bytes) -> npt.NDArray[np.bool_]:
    """Return which vectors have all labels that are known of which rows, and none that is known absent."""
    there, absent = ((observed == value).astype(np.float32) for value in (1, 0))
    of_vectors = vectors.astype(np.float32)
    return np.asarray(there @ (1.0 - of_vectors).T + absent @ of_vectors.T == 0.0)


def complete(
    observed: Bytes, marginals: Floats, rng: np.random.Generator, row_weight: Floats | None = None
) -> DistinctLabels:
    """Return the label vectors that rows may have, and their probabilities.

    The vectors are the likeliest one of each row and another that is drawn: the likeliest ones alone would
    have too few of the labels that are seldom likelier than not.

    Parameters
    ----------
    observed : array of shape (n, n_labels)
        0, 1 and UNKNOWN.
    marginals : array of shape (n, n_labels)
        The probability of each label, by what was learned without the row.
    rng : Generator
    row_weight : array of shape (n,), optional
    """
    n, unknown = len(observed), observed == UNKNOWN
    weights = np.ones(n) if row_weight is None else row_weight
    thresholds = np.concatenate([np.full(marginals.shape, 0.5), rng.random(marginals.shape)])
    twice = np.tile(observed, (2, 1))
    drawn = np.where(twice == UNKNOWN, np.tile(marginals, (2, 1)) > thresholds, twice)
    distinct = distinct_labels(drawn.astype(np.uint8), np.tile(weights / 2.0, 2))
    vectors, counts = distinct.vectors, distinct.counts

    open_rows = np.flatnonzero(unknown.any(axis=1))
    p = np.clip(marginals[open_rows], _LEAST, 1.0 - _LEAST)
    whole_rows = np.flatnonzero(~unknown.any(axis=1))
    vector_of_whole = distinct.of_row[whole_rows]
    base = np.bincount(vector_of_whole, weights[whole_rows], minlength=len(vectors))
    for _ in range(_ROUNDS):
        frequencies = np.clip(counts @ vectors / counts.sum(), _LEAST, 1.0 - _LEAST)
        log_counts = np.log(np.maximum(counts, _LEAST))
        parts = []
        for some in chunks_of(len(open_rows), max(1, _CELLS // len(vectors))):
            rows = open_rows[some]
            there = np.log(p[some] / frequencies)
            absent = np.log((1.0 - p[some]) / (1.0 - frequencies))
            scores = np.where(unknown[rows], there - absent, 0.0) @ vectors.T + log_counts
            scores[~agreeing(observed[rows], vectors)] = -np.inf
            of_rows = np.exp(scores - scores.max(axis=1, keepdims=True))
            of_rows[of_rows < _KEPT] = 0.0
            parts.append(sp.csr_array(of_rows / of_rows.sum(axis=1, keepdims=True)))
        of_open = sp.vstack(parts, format="csr")
        counts = base + weights[open_rows] @ of_open
    ones = np.ones(len(whole_rows)), vector_of_whole, np.arange(len(whole_rows) + 1)
    of_whole = sp.csr_array(ones, shape=(len(whole_rows), len(vectors)))
    order = np.argsort(np.concatenate([whole_rows, open_rows]))
    shares = sp.csr_array(sp.vstack([of_whole, of_open], format="csr")[order])
    kept = counts > 0.0
    return DistinctLabels(
        vectors[kept], np.arange(n, dtype=np.int32), counts[kept], row_weight, observed, shares[:, kept]
    )
