"""What the label codes share: words of bits, votes over copies, and checks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.costs import Labels, check_labels

__all__ = ["Bits", "Indices", "check_length", "checked_bits", "dense_labels", "vote"]

Bits: TypeAlias = npt.NDArray[np.uint8]
Indices: TypeAlias = npt.NDArray[np.intp]

_MOST_BITS = 1 << 22


def check_length(n_labels: int, code_length: int, capacity: int, shortest: int) -> None:
    """Refuse a code whose bits cannot hold every label once."""
    if n_labels < 1:
        raise ValueError(f"n_labels is {n_labels}: give at least 1")
    if code_length > _MOST_BITS:
        raise ValueError(f"code_length is {code_length}, too long: give at most {_MOST_BITS}")
    if capacity < n_labels:
        raise ValueError(
            f"code_length is {code_length}, too short for {n_labels} labels: give at least {shortest}"
        )


def vote(copies: Bits, labels: Indices, n_labels: int) -> Bits:
    """Return which labels have a 1 in more than half of their copies; column i is a copy of ``labels[i]``."""
    ones = np.ones(len(labels), np.int32)
    sums = sp.csr_array((ones, (labels, np.arange(len(labels)))), shape=(n_labels, len(labels)))
    votes = (sums @ copies.T.astype(np.int32)).T
    return np.ascontiguousarray(2 * votes > np.bincount(labels, minlength=n_labels), np.uint8)


def dense_labels(Y: Labels, n_labels: int) -> Bits:
    matrix = check_labels(Y, "Y")
    if matrix.shape[1] != n_labels:
        raise ValueError(f"Y has {matrix.shape[1]} labels (columns), but the code has {n_labels}")
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.uint8)


def checked_bits(bits: npt.ArrayLike, n_bits: int) -> Bits:
    words: npt.NDArray[Any] = np.asarray(bits)
    if words.ndim != 2 or words.shape[1] != n_bits:
        raise ValueError(f"bits must be words of shape (n, {n_bits}), got shape {words.shape}")
    if not ((words == 0) | (words == 1)).all():
        raise ValueError("bits must be 0 and 1 only: round probabilities first")
    return words.astype(np.uint8, copy=False)
