"""Distributions over the label vectors of samples: weights of vectors, or independent labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels import f_measure
from refpair._kernels.posterior import add_entries, tilt_to_marginals
from refpair.costs import Labels, check_labels
from refpair.tables.labels import UNKNOWN

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Entries: TypeAlias = "tuple[Longs, Ints, Floats, Longs, Ints]"

MOST_ENUMERATED = 10  # labels up to which all label vectors are looked at
_SUM = 1e-6  # how far from 1 the weights of a row may sum
_N_SAMPLES, _SEED = 1000, 20260  # drawn of each row of many independent labels, always the same
_SWEEPS, _NEAR = 10, 1e-4  # that weights are fitted to marginals in, and how near is near enough
_BLOCK = 1 << 24  # labels, or weights, in a block of rows


@dataclass(frozen=True, eq=False, repr=False)
class LabelDistribution:
    """A distribution over label vectors for each of n rows, stored by its non-zero weights.

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
    is_of_labels : bool
        Whether what is known are the probabilities of labels, and the vectors only tell how labels go
        together. Rules then change the latter, and the probabilities as little as they can.

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

    is_independent: ClassVar[bool] = False

    vectors: Bytes
    start: Longs
    index: Ints
    weight: Floats
    is_of_labels: bool = False

    def __post_init__(self) -> None:
        kinds = {
            "vectors": (2, "uint8"),
            "start": (1, "int64"),
            "index": (1, "int32"),
            "weight": (1, "float64"),
        }
        for name, (ndim, dtype) in kinds.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != ndim or array.dtype != dtype:
                raise ValueError(f"{name} must be an array of {ndim} dimensions and dtype {dtype}")
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
        sums = np.add.reduceat(self.weight, self.start[:-1]) if len(self) else np.ones(1)
        if not (self.weight.min(initial=0) >= 0 and np.abs(sums - 1).max() <= _SUM):
            raise ValueError("weight must not be negative, and must sum to 1 in each row")

    @classmethod
    def from_dense(cls, vectors: npt.ArrayLike, weights: npt.ArrayLike) -> LabelDistribution:
        """Make a distribution from a matrix of weights, which are normalized in each row.

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
        labels, matrix = dense_labels(vectors, "vectors"), np.asarray(weights, dtype=np.float64)
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
        """Make a distribution from sampled label vectors, weighted by frequency.

        Parameters
        ----------
        samples : array-like of shape (n, n_samples, n_labels)
            The same number of label vectors of 0 and 1 for each row.

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
        flat = dense_labels(array.reshape(n * n_samples, n_labels), "samples")
        keys = np.sort(vector_keys(flat).reshape(n, n_samples), axis=1)  # row by row: faster than all at once
        is_new = np.ones(keys.shape, np.bool_)
        is_new[:, 1:] = keys[:, 1:] != keys[:, :-1]
        place = np.flatnonzero(is_new)
        counts = np.diff(np.append(place, keys.size))
        distinct, index = np.unique(keys.ravel()[place], return_inverse=True)
        start = np.searchsorted(place, n_samples * np.arange(n + 1))
        return cls(_unpacked(distinct, n_labels), start, index.astype(np.int32), counts / n_samples)

    @classmethod
    def join(cls, parts: Sequence[LabelDistribution]) -> LabelDistribution:
        """Concatenate the rows of distributions on the same label vectors."""
        return cls(
            parts[0].vectors,
            _starts(np.concatenate([np.diff(part.start) for part in parts])),
            np.concatenate([part.index for part in parts]),
            np.concatenate([part.weight for part in parts]),
            all(part.is_of_labels for part in parts),
        )

    @classmethod
    def mix(cls, parts: Sequence[LabelDistribution], shares: Sequence[float]) -> LabelDistribution:
        """Mix distributions of the same rows, on any label vectors; the shares sum to 1.

        Examples
        --------
        >>> one, other = (LabelDistribution.from_dense([[0, 1], last], [[1, 3]]) for last in ([1, 1], [1, 0]))
        >>> mixed = LabelDistribution.mix([one, other], [0.5, 0.5])
        >>> mixed.vectors.tolist(), mixed.weight
        ([[0, 1], [1, 0], [1, 1]], array([0.25 , 0.375, 0.375]))
        """
        vectors = np.concatenate([part.vectors for part in parts])
        _, first, which = np.unique(vector_keys(vectors), return_index=True, return_inverse=True)
        offsets = np.cumsum([0, *(len(part.vectors) for part in parts)])
        mixed = sum(
            sp.csr_array(
                (share * part.weight, which.ravel()[offset + part.index], part.start),
                shape=(len(part), len(first)),
            )
            for part, share, offset in zip(parts, shares, offsets, strict=False)
        )
        mixed.sum_duplicates()
        index, start = mixed.indices.astype(np.int32), mixed.indptr.astype(np.int64)
        return cls(np.ascontiguousarray(vectors[first]), start, index, mixed.data)

    def __repr__(self) -> str:
        n_vectors, n_labels = self.vectors.shape
        return f"<LabelDistribution of {len(self)} rows on {n_vectors} vectors of {n_labels} labels>"

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def n_labels(self) -> int:
        """The number of labels of a vector."""
        return int(self.vectors.shape[1])

    def __getitem__(self, rows: slice) -> LabelDistribution:
        first, last, step = rows.indices(len(self))
        if step != 1:
            raise ValueError("only slices of consecutive rows are possible")
        last = max(first, last)
        if last - first == len(self):
            return self
        cut = slice(int(self.start[first]), int(self.start[last]))
        start = self.start[first : last + 1] - self.start[first]
        return self._of_same_vectors(start, self.index[cut], self.weight[cut])

    def _of_same_vectors(self, start: Longs, index: Ints, weight: Floats) -> LabelDistribution:
        part = LabelDistribution(self.vectors, start, index, weight, self.is_of_labels)
        vars(part)["_label_lists"] = self._label_lists  # found once for all parts
        return part

    def taken(self, rows: Longs) -> LabelDistribution:
        """Return some rows, with no vectors but theirs.

        Examples
        --------
        >>> p = LabelDistribution.from_dense([[0, 0], [1, 0], [1, 1]], [[0, 3, 1], [1, 1, 2], [1, 0, 0]])
        >>> q = p.taken(np.array([2, 0]))
        >>> q, q.weight
        (<LabelDistribution of 2 rows on 3 vectors of 2 labels>, array([1.  , 0.75, 0.25]))
        """
        start = _starts(np.diff(self.start)[rows])
        place = np.arange(start[-1]) + np.repeat(self.start[rows] - start[:-1], np.diff(start))
        index = self.index[place]
        is_used = np.zeros(len(self.vectors), np.bool_)
        is_used[index] = True
        number = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
        vectors = self.vectors[is_used]
        return LabelDistribution(vectors, start, number[index], self.weight[place], self.is_of_labels)

    def weights(self) -> Any:
        """Return the weights as a SciPy CSR array of shape (n, n_vectors)."""
        return sp.csr_array((self.weight, self.index, self.start), shape=(len(self), len(self.vectors)))

    def marginals(self) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        marginals = np.zeros((len(self), self.n_labels))
        add_entries(*self.entries(), marginals)
        return np.minimum(marginals, 1.0, out=marginals)  # a sum of weights may be 1 + 2e-16

    def mean_square_size(self) -> Floats:
        """Return the mean of |y|² of each row."""
        return np.asarray(self.weights() @ (self.vectors.sum(axis=1, dtype=np.float64) ** 2))

    def most_likely(self, k: int) -> tuple[Bytes, Floats]:
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

    def mode(self) -> Bytes:
        """Return each row's most probable label vector, the one of lowest index where several are."""
        return np.ascontiguousarray(self.most_likely(1)[0][:, 0])

    def best_f_beta(self, beta: float) -> Bytes:
        """Return the labels of largest expected F-beta for each row; of ties the smallest set."""
        return np.asarray(f_measure.best_sets(self.entries(), self.n_labels, beta**2))

    def weighted(self) -> Iterator[tuple[slice, LabelDistribution]]:
        """Yield all rows, in one block."""
        yield slice(0, len(self)), self

    def tilted(self, targets: Floats) -> LabelDistribution:
        """Return the nearest distribution on the same vectors whose labels have other probabilities.

        Of all distributions with these marginals it is the one of least relative entropy to this one. If none
        on the vectors of a row has them, it comes close.

        Parameters
        ----------
        targets : array of shape (n, n_labels)
            Between 0 and 1, exclusively.

        Examples
        --------
        >>> p = LabelDistribution.from_dense([[0, 0], [0, 1], [1, 1]], [[1, 1, 2]])
        >>> p.tilted(np.array([[0.2, 0.5]])).weight.round(2)
        array([0.5, 0.3, 0.2])
        """
        if targets.shape != (len(self), self.n_labels) or not ((targets > 0) & (targets < 1)).all():
            raise ValueError("targets must be probabilities between 0 and 1, one for each row and label")
        weight = self.weight.copy()
        lists = self._label_lists
        tilt_to_marginals(self.start, self.index, weight, *lists, targets, _SWEEPS, _NEAR)
        tilted = LabelDistribution(self.vectors, self.start, self.index, weight, is_of_labels=True)
        vars(tilted)["_label_lists"] = lists
        return tilted

    def given(self, observed: Bytes) -> LabelDistribution:
        """Return the distributions of rows of which some labels are known.

        Parameters
        ----------
        observed : array of shape (n, n_labels), dtype uint8
            0, 1, or UNKNOWN (2). If no vector of a row agrees with what is known of it, what is known tells
            nothing about its other labels.

        Examples
        --------
        >>> p = LabelDistribution.from_dense([[0, 0], [0, 1], [1, 1]], [[2, 1, 1]])
        >>> p.given(np.array([[2, 1]], np.uint8)).marginals()
        array([[0.5, 1. ]])
        """
        row = np.repeat(np.arange(len(self)), np.diff(self.start))
        is_known = np.flatnonzero((observed != UNKNOWN).any(axis=0))
        told = observed[:, is_known][row]
        agrees = ((told == UNKNOWN) | (told == self.vectors[:, is_known][self.index])).all(axis=1)
        mass = np.bincount(row, np.where(agrees, self.weight, 0.0), minlength=len(self))
        kept = agrees | (mass[row] == 0.0)
        row, index = row[kept], self.index[kept]
        weight = self.weight[kept] / np.where(mass == 0.0, 1.0, mass)[row]
        if (mass > 0.0).all():
            return self._of_same_vectors(_starts(np.bincount(row, minlength=len(self))), index, weight)
        vectors = np.where(observed[row] == UNKNOWN, self.vectors[index], observed[row])
        _, first, which = np.unique(vector_keys(vectors), return_index=True, return_inverse=True)
        found = sp.coo_array((weight, (row, which.ravel())), shape=(len(self), len(first))).tocsr()
        index, start = found.indices.astype(np.int32), found.indptr.astype(np.int64)
        return LabelDistribution(np.ascontiguousarray(vectors[first]), start, index, found.data)

    def entries(self) -> Entries:
        """Return start, index and weight, and the labels of vectors as :func:`label_lists` has them."""
        return self.start, self.index, self.weight, *self._label_lists

    @cached_property
    def _label_lists(self) -> tuple[Longs, Ints]:
        return label_lists(self.vectors)


class IndependentLabels:
    """The distribution over label vectors of n rows whose labels are independent of each other.

    Parameters
    ----------
    marginals : array-like of shape (n, n_labels)
        The probability of each label, from 0 to 1.
    is_of_labels : bool, default=False
        As in :class:`LabelDistribution`: whether these probabilities are what is known, and that labels are
        independent is taken for lack of better.

    Examples
    --------
    >>> p = IndependentLabels([[0.5, 1.0]])
    >>> p
    <IndependentLabels of 1 rows and 2 labels>
    >>> p.most_likely(2)[0]
    array([[[0, 1],
            [1, 1]]], dtype=uint8)
    """

    is_independent: ClassVar[bool] = True

    def __init__(self, marginals: npt.ArrayLike, *, is_of_labels: bool = False) -> None:
        array = np.ascontiguousarray(marginals, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] == 0:
            raise ValueError(f"marginals must have shape (n, n_labels), got shape {array.shape}")
        if not ((array >= 0) & (array <= 1)).all():
            raise ValueError("marginals must be probabilities, from 0 to 1")
        self._marginals = array
        self.is_of_labels = is_of_labels

    def __repr__(self) -> str:
        return f"<IndependentLabels of {len(self)} rows and {self._marginals.shape[1]} labels>"

    def __len__(self) -> int:
        return len(self._marginals)

    @property
    def n_labels(self) -> int:
        """The number of labels of a vector."""
        return int(self._marginals.shape[1])

    def __getitem__(self, rows: slice) -> IndependentLabels:
        return IndependentLabels(self._marginals[rows], is_of_labels=self.is_of_labels)

    def taken(self, rows: Longs) -> IndependentLabels:
        """Return some rows."""
        return IndependentLabels(self._marginals[rows], is_of_labels=self.is_of_labels)

    def marginals(self) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        return self._marginals.copy()

    def mean_square_size(self) -> Floats:
        """Return the mean of |y|² of each row."""
        p = self._marginals
        return np.asarray((p * (1.0 - p)).sum(axis=1) + p.sum(axis=1) ** 2)

    def most_likely(self, k: int) -> tuple[Bytes, Floats]:
        """Return the k most probable label vectors, as :meth:`LabelDistribution.most_likely` does."""
        # They differ from the likeliest in a set of labels; the cheaper a label by the logarithm of its odds,
        # the earlier it may be in one. Those after the first k − 1 cannot be in any of the k cheapest sets.
        n, n_labels = self._marginals.shape
        likeliest = self._marginals > 0.5
        chance = np.where(likeliest, self._marginals, 1.0 - self._marginals)
        with np.errstate(divide="ignore"):
            price = np.log(chance) - np.log1p(-chance)  # infinite where the label is certain
        order = np.argsort(price, axis=1, kind="stable")[:, : min(k - 1, n_labels)]
        cheapest = np.full((n, k), np.inf)
        cheapest[:, 0] = 0.0
        flipped = np.zeros((n, k, n_labels), bool)
        for label in order.T:
            more = cheapest + price[np.arange(n), label][:, None]
            candidates = np.column_stack([cheapest, more])
            best = np.argsort(candidates, axis=1, kind="stable")[:, :k]
            cheapest = np.take_along_axis(candidates, best, axis=1)
            flipped = flipped[np.arange(n)[:, None], best % k]
            row, place = np.nonzero(best >= k)
            flipped[row, place, label[row]] ^= True
        probabilities = np.exp(np.log(chance).sum(axis=1, keepdims=True) - cheapest)
        labels = (likeliest[:, None, :] ^ flipped) & (probabilities > 0.0)[:, :, None]
        return labels.astype(np.uint8), probabilities

    def given(self, observed: Bytes) -> IndependentLabels:
        """Return the distributions of rows of which some labels are known: 0, 1, or UNKNOWN (2)."""
        known = np.where(observed == UNKNOWN, self._marginals, observed)
        return IndependentLabels(known, is_of_labels=self.is_of_labels)

    def drawn(self, n_samples: int) -> LabelDistribution:
        """Return random label vectors of each row, in which each label is as frequent as it is probable.

        What is drawn for a row depends on no other row, and is the same each time: label by label, the
        samples fall into as many equal parts of its probability, in random order.
        """
        rng = np.random.default_rng(_SEED)
        parts = rng.permuted(np.tile(np.arange(n_samples), (self.n_labels, 1)), axis=1).T
        draws = (parts + rng.random((1, self.n_labels))) / n_samples
        return LabelDistribution.from_samples((draws < self._marginals[:, None]).view(np.uint8))

    def mode(self) -> Bytes:
        """Return each row's most probable label vector; of those that tie the one with fewest labels."""
        return (self._marginals > 0.5).astype(np.uint8)

    def best_f_beta(self, beta: float) -> Bytes:
        """Return the labels of largest expected F-beta for each row; of ties the smallest set."""
        return np.asarray(f_measure.best_sets_of_independent(self._marginals, beta**2))

    def weighted(self) -> Iterator[tuple[slice, LabelDistribution]]:
        """Yield blocks of rows as weights: of all label vectors if there are few, else of a sample.

        What is drawn for a row depends on no other row, and is the same each time.
        """
        few = self.n_labels <= MOST_ENUMERATED
        step = max(1, _BLOCK // (1 << self.n_labels if few else _N_SAMPLES * self.n_labels))
        for first in range(0, len(self), step):
            rows = slice(first, min(first + step, len(self)))
            yield rows, (all_weights if few else _drawn)(self._marginals[rows])


Distribution: TypeAlias = LabelDistribution | IndependentLabels  # whatever a decision asks, both answer


def label_lists(vectors: Bytes) -> tuple[Longs, Ints]:
    """Return the labels of all vectors, one vector after the other: where each begins, and the labels."""
    n, n_labels = vectors.shape
    place = np.flatnonzero(vectors.view(np.bool_))  # faster than of numbers, or of rows and columns
    return np.searchsorted(place, n_labels * np.arange(n + 1)), (place % n_labels).astype(np.int32)


def all_vectors(n_labels: int) -> Bytes:
    """Return all 2^K label vectors, those with fewer labels first."""
    vectors = np.array(list(product((1, 0), repeat=n_labels)), np.uint8)
    return vectors[np.argsort(vectors.sum(axis=1), kind="stable")]


def all_weights(marginals: Floats) -> LabelDistribution:
    """Return the weights of all label vectors if labels are independent."""
    vectors = all_vectors(marginals.shape[1])
    weights = np.ones((len(marginals), len(vectors)))
    for label, p in zip(vectors.T, marginals.T, strict=True):
        weights *= np.where(label, p[:, None], 1.0 - p[:, None])
    return LabelDistribution.from_dense(vectors, weights)


def _drawn(marginals: Floats) -> LabelDistribution:
    draws = np.random.default_rng(_SEED).random((_N_SAMPLES, marginals.shape[1]))
    return LabelDistribution.from_samples((draws < marginals[:, None]).view(np.uint8))


def vector_keys(vectors: Bytes) -> npt.NDArray[Any]:
    """Return one number or one string of bytes a vector: far faster to sort than np.unique(axis=0) is."""
    packed = np.packbits(vectors, axis=1)
    if packed.shape[1] > 8:
        return packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    wide = np.zeros((len(packed), 8), np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view(">u8").ravel().astype(np.uint64)


def _unpacked(keys: npt.NDArray[Any], n_labels: int) -> Bytes:
    """Return the vectors of keys."""
    packed = keys if keys.dtype.kind == "V" else keys.astype(">u8")
    return np.unpackbits(packed.view(np.uint8).reshape(len(keys), packed.itemsize), axis=1, count=n_labels)


def dense_labels(labels: Labels, name: str) -> Bytes:
    """Check a matrix of labels and return it as an array."""
    checked = check_labels(labels, name)
    return np.ascontiguousarray(checked.toarray() if sp.issparse(checked) else checked, dtype=np.uint8)


def _starts(counts: npt.NDArray[np.integer[Any]]) -> Longs:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
