"""A distribution over label vectors for each row, stored by its non-zero weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.costs import check_labels

__all__ = ["LabelDistribution"]

_SUM = 1e-6  # how far from 1 the weights of a row may sum


@dataclass(frozen=True, eq=False, repr=False)
class LabelDistribution:
    """A distribution over label vectors for each of n rows, sparse.

    All rows share one set of label vectors, the support, and each row puts weight on some of them:
    row i puts ``weight[j]`` on ``vectors[index[j]]`` for j from ``start[i]`` to ``start[i + 1]``.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_labels), dtype uint8
        The support: label vectors of 0 and 1, no two the same.
    start : ndarray of shape (n + 1,), dtype int64
        Where each row's weights begin; no row is without any.
    index : ndarray of shape (n_weights,), dtype int32
        Which vector a weight belongs to.
    weight : ndarray of shape (n_weights,), dtype float64
        The probabilities; they sum to 1 in each row.

    Examples
    --------
    >>> p = LabelDistribution.from_dense([[0, 0], [1, 0], [1, 1]], [[0, 3, 1], [1, 1, 2]])
    >>> p
    <LabelDistribution of 2 rows on 3 vectors of 2 labels>
    >>> p.weight
    array([0.75, 0.25, 0.25, 0.25, 0.5 ])
    >>> p.marginals()
    array([[1.  , 0.25],
           [0.75, 0.5 ]])
    """

    vectors: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]
    index: npt.NDArray[np.int32]
    weight: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        kinds = {
            "vectors": (2, np.uint8),
            "start": (1, np.int64),
            "index": (1, np.int32),
            "weight": (1, np.float64),
        }
        for name, (ndim, dtype) in kinds.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != ndim or array.dtype != dtype:
                raise ValueError(f"{name} must be an array of {ndim} dimensions and dtype {np.dtype(dtype)}")
        if self.vectors.shape[1] == 0 or self.vectors.max(initial=0) > 1:
            raise ValueError("vectors must be label vectors of 0 and 1 with at least one label")
        if len(self.index) != len(self.weight):
            raise ValueError(f"index has {len(self.index)} entries and weight has {len(self.weight)}")
        if len(self.start) == 0 or self.start[0] != 0 or self.start[-1] != len(self.index):
            raise ValueError("start must begin with 0 and end with the number of weights")
        if (np.diff(self.start) < 1).any():
            raise ValueError(f"row {int(np.argmax(np.diff(self.start) < 1))} has no weights")
        if len(self.index) and not (self.index.min() >= 0 and self.index.max() < len(self.vectors)):
            raise ValueError(f"index must be from 0 to {len(self.vectors) - 1}, the last vector")
        if len(self) and not (self.weight.min() >= 0 and np.abs(self._row_sums() - 1).max() <= _SUM):
            raise ValueError("weight must not be negative, and must sum to 1 in each row")

    @classmethod
    def from_dense(cls, vectors: npt.ArrayLike, weights: npt.ArrayLike) -> LabelDistribution:
        """Make a distribution of a matrix of weights, which are divided by their sum in each row.

        Parameters
        ----------
        vectors : array-like of shape (n_vectors, n_labels)
            Label vectors of 0 and 1, no two the same.
        weights : array-like of shape (n, n_vectors)
            Not negative, in no row all zero.

        Examples
        --------
        >>> LabelDistribution.from_dense([[0, 1], [1, 1]], [[2, 6]]).weight
        array([0.25, 0.75])
        """
        labels, matrix = _dense_labels(vectors, "vectors"), np.asarray(weights, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != len(labels):
            raise ValueError(f"weights must have shape (n, {len(labels)}), got shape {matrix.shape}")
        if not (np.isfinite(matrix) & (matrix >= 0)).all():
            raise ValueError("weights must be finite and not negative")
        largest = matrix.max(axis=1, initial=0.0)
        if not largest.all():
            raise ValueError(f"weights are all zero in row {int(largest.argmin())}")
        # By the largest first: the sum of tiny or huge weights might not be a number to divide by.
        matrix = matrix / largest[:, None]
        matrix /= matrix.sum(axis=1, keepdims=True)
        row, index = np.nonzero(matrix)
        start = _starts(np.bincount(row, minlength=len(matrix)))
        return cls(labels, start, index.astype(np.int32), matrix[row, index])

    @classmethod
    def from_samples(cls, samples: npt.ArrayLike) -> LabelDistribution:
        """Make a distribution of sampled label vectors: the weights are their frequencies.

        Parameters
        ----------
        samples : array-like of shape (n, n_samples, n_labels)
            As many label vectors of 0 and 1 for each row.

        Examples
        --------
        >>> p = LabelDistribution.from_samples([[[0, 1], [1, 1], [0, 1], [0, 1]]])
        >>> p.vectors, p.weight
        (array([[0, 1],
               [1, 1]], dtype=uint8), array([0.75, 0.25]))
        """
        array = np.asarray(samples)
        if array.ndim != 3 or array.shape[1] == 0:
            raise ValueError(f"samples must have shape (n, n_samples, n_labels), got shape {array.shape}")
        n, n_samples, n_labels = array.shape
        flat = _dense_labels(array.reshape(n * n_samples, n_labels), "samples")
        packed = np.packbits(flat, axis=1)
        # One number or one string of bytes a vector: far faster to sort than np.unique(axis=0) is.
        if packed.shape[1] <= 8:
            wide = np.zeros((len(packed), 8), np.uint8)
            wide[:, : packed.shape[1]] = packed
            keys: npt.NDArray[Any] = wide.view(">u8").ravel().astype(np.uint64)
        else:
            keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        row = np.repeat(np.arange(n), n_samples)
        cells, counts = np.unique(row * len(first) + which.ravel(), return_counts=True)
        start = _starts(np.bincount(cells // max(1, len(first)), minlength=n))
        index = (cells % max(1, len(first))).astype(np.int32)
        return cls(np.ascontiguousarray(flat[first]), start, index, counts / n_samples)

    @classmethod
    def join(cls, parts: Sequence[LabelDistribution]) -> LabelDistribution:
        """Lay distributions on the same label vectors one after the other.

        Examples
        --------
        >>> p = LabelDistribution.from_dense([[0, 1], [1, 1]], [[2, 6]])
        >>> len(LabelDistribution.join([p, p]))
        2
        """
        return cls(
            parts[0].vectors,
            _starts(np.concatenate([np.diff(part.start) for part in parts])),
            np.concatenate([part.index for part in parts]),
            np.concatenate([part.weight for part in parts]),
        )

    def __repr__(self) -> str:
        n_vectors, n_labels = self.vectors.shape
        return f"<LabelDistribution of {len(self)} rows on {n_vectors} vectors of {n_labels} labels>"

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def n_labels(self) -> int:
        """The number of labels of a vector.

        Examples
        --------
        >>> LabelDistribution.from_dense([[0, 1, 1]], [[1]]).n_labels
        3
        """
        return int(self.vectors.shape[1])

    def __getitem__(self, rows: slice) -> LabelDistribution:
        first, last, step = rows.indices(len(self))
        if step != 1:
            raise ValueError("only slices of consecutive rows are possible")
        last = max(first, last)
        cut = slice(int(self.start[first]), int(self.start[last]))
        start = self.start[first : last + 1] - self.start[first]
        part = LabelDistribution(self.vectors, start, self.index[cut], self.weight[cut])
        vars(part)["_label_lists"] = self._label_lists  # found once for all parts
        return part

    def weights(self) -> Any:
        """Return the weights as a SciPy CSR array of shape (n, n_vectors).

        Examples
        --------
        >>> LabelDistribution.from_dense([[0, 1], [1, 1]], [[1, 0], [1, 1]]).weights().toarray()
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        return sp.csr_array((self.weight, self.index, self.start), shape=(len(self), len(self.vectors)))

    def marginals(self) -> npt.NDArray[np.float64]:
        """Return the probability of each label, of shape (n, n_labels).

        Examples
        --------
        >>> LabelDistribution.from_dense([[0, 1], [1, 1]], [[1, 3]]).marginals()
        array([[0.75, 1.  ]])
        """
        start, index = self.labels_of_vector()
        labels = sp.csr_array((np.ones(len(index)), index, start), shape=self.vectors.shape)
        marginals = np.asarray((self.weights() @ labels).toarray())
        return np.asarray(np.minimum(marginals, 1.0))  # a sum of weights may be 1 + 2e-16

    def most_likely(self, k: int) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
        """Return each row's k most probable label vectors by falling probability, ties by their index.

        Parameters
        ----------
        k : int
            How many; a row that has fewer is filled up with zeros.

        Returns
        -------
        labels : ndarray of shape (n, k, n_labels), dtype uint8
        probabilities : ndarray of shape (n, k), dtype float64

        Examples
        --------
        >>> p = LabelDistribution.from_dense([[0, 1], [1, 1]], [[1, 3], [1, 0]])
        >>> labels, probabilities = p.most_likely(1)
        >>> labels[:, 0], probabilities
        (array([[1, 1],
               [0, 1]], dtype=uint8), array([[0.75],
               [1.  ]]))
        """
        row = np.repeat(np.arange(len(self)), np.diff(self.start))
        order = np.lexsort((self.index, -self.weight, row))
        place = np.arange(len(order)) - self.start[row]  # row is in order already: the first key of the sort
        chosen = order[place < k]
        row, place = row[place < k], place[place < k]
        labels = np.zeros((len(self), k, self.vectors.shape[1]), np.uint8)
        probabilities = np.zeros((len(self), k))
        labels[row, place] = self.vectors[self.index[chosen]]
        probabilities[row, place] = self.weight[chosen]
        return labels, probabilities

    def labels_of_vector(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return the labels of the vectors as lists: where each vector's list starts, and the lists.

        Examples
        --------
        >>> LabelDistribution.from_dense([[0, 1], [1, 1]], [[1, 3]]).labels_of_vector()
        (array([0, 1, 3]), array([1, 0, 1], dtype=int32))
        """
        return self._label_lists

    @cached_property
    def _label_lists(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        row, label = np.nonzero(self.vectors)
        return _starts(np.bincount(row, minlength=len(self.vectors))), label.astype(np.int32)

    def _row_sums(self) -> npt.NDArray[np.float64]:
        return np.asarray(np.add.reduceat(self.weight, self.start[:-1]))


def _dense_labels(labels: npt.ArrayLike, name: str) -> npt.NDArray[np.uint8]:
    checked = check_labels(labels, name)
    return np.ascontiguousarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.uint8)


def _starts(counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
