"""Rows and labels of any number, shaped like bibtex: many rare words, few labels a row, some of them akin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Synthetic", "draw_like_bibtex"]

_DENSITY = 0.037  # of the features of bibtex
_MORE_LABELS = 0.58  # the chance of another label: 2.4 of them on average, a single one in four of ten rows
_AKIN, _FROM_AKIN = 12, 0.8  # labels that go with a label, and how often a further label is one of them
_OWN_WORDS, _FROM_LABEL = 40, 0.5  # features that tell a label, and how often a feature is one of them


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Rows with labels.

    Attributes
    ----------
    X : csr_array of shape (n, n_features)
    Y : csr_array of uint8, shape (n, n_labels)
    """

    X: sp.csr_array
    Y: sp.csr_array


def draw_like_bibtex(n_rows: int, n_features: int = 1836, n_labels: int = 159, *, seed: int = 0) -> Synthetic:
    """Draw rows of 0/1 features; what tells a label is the same for any number of rows.

    Examples
    --------
    >>> data = draw_like_bibtex(1000)
    >>> round(data.X.nnz / 1000), round(data.Y.nnz / 1000, 1)
    (62, 2.2)
    """
    world = np.random.default_rng(0)  # the same whatever the rows
    akin = world.integers(n_labels, size=(n_labels, _AKIN))
    own_words = world.integers(n_features, size=(n_labels, _OWN_WORDS))
    common_words = world.permutation(n_features)
    rng = np.random.default_rng(seed)

    n_more = rng.geometric(1 - _MORE_LABELS, n_rows) - 1
    first = _zipf(rng, n_labels, n_rows, 0.7)
    row = np.repeat(np.arange(n_rows), n_more)
    beside = akin[first[row], _zipf(rng, _AKIN, len(row), 1.0)]
    further = np.where(rng.random(len(row)) < _FROM_AKIN, beside, _zipf(rng, n_labels, len(row), 0.7))
    label_rows, labels = np.concatenate([np.arange(n_rows), row]), np.concatenate([first, further])
    order = np.argsort(label_rows, kind="stable")
    label_rows, labels = label_rows[order], labels[order]
    starts = np.searchsorted(label_rows, np.arange(n_rows + 1))

    lengths = rng.gamma(3.0, _DENSITY * n_features / 3.0, n_rows)  # texts are short and long
    n_words = np.maximum(1, rng.poisson(lengths * 1.2))  # some are drawn twice
    row = np.repeat(np.arange(n_rows, dtype=np.int32), n_words)
    one_label = labels[starts[row] + (rng.random(len(row)) * np.diff(starts)[row]).astype(np.int64)]
    of_label = own_words[one_label, _zipf(rng, _OWN_WORDS, len(row), 0.8)]
    word = np.where(
        rng.random(len(row)) < _FROM_LABEL, of_label, common_words[_zipf(rng, n_features, len(row), 0.6)]
    )
    return Synthetic(
        _zeros_and_ones(row, word, (n_rows, n_features), np.float32),
        _zeros_and_ones(label_rows, labels, (n_rows, n_labels), np.uint8),
    )


def _zipf(rng: np.random.Generator, n: int, size: int, power: float) -> npt.NDArray[np.int64]:
    """Draw numbers below n, the first ones the most often."""
    weights = np.arange(1, n + 1) ** -power
    return np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(size)).clip(max=n - 1)


def _zeros_and_ones(
    row: npt.NDArray[np.integer],
    column: npt.NDArray[np.integer],
    shape: tuple[int, int],
    dtype: type[np.generic],
) -> sp.csr_array:
    """Return a matrix of ones at these cells, each once however often it is named."""
    matrix = sp.csr_array((np.ones(len(row), dtype), (row, column)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
