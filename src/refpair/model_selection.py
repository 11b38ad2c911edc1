"""Splits of multi-label data that keep the frequencies of labels and of pairs of labels.

Use them like scikit-learn's, for example as ``cv=`` of ``GridSearchCV`` and ``cross_val_score``.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.model_selection import BaseCrossValidator, ShuffleSplit
from sklearn.utils import check_consistent_length, check_random_state

from refpair._kernels import splits as kernels
from refpair.tables.labels import UNKNOWN, LabelMatrix, has_unknown, read_labels

__all__ = ["MultilabelStratifiedKFold", "MultilabelStratifiedShuffleSplit"]

Rows = npt.NDArray[np.intp]

_FEW_PAIRS, _PAIRS_A_SAMPLE = 150_000, 10  # entries that are looked at; of more, those of rare labels
_FEW_FOLDS = 10  # with more of them, fewer pairs
_TRIED = 8
_EXCHANGES = 2_000_000  # items that are looked at, shared by five folds or more; and as many as there are


class _Splits(BaseCrossValidator):  # type: ignore[misc]  # scikit-learn has no types
    """What the two kinds of splits share."""

    n_splits: int

    def __init__(self, n_splits: Any, least: int) -> None:
        if not isinstance(n_splits, Integral) or n_splits < least:
            raise ValueError(f"n_splits must be a whole number, {least} or more, not {n_splits!r}")
        self.n_splits = int(n_splits)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits; the arguments are not used."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to train with and those to test with.

        Parameters
        ----------
        X : array-like or None
            Not used; it must have as many rows as `y`.
        y : labels in any form that classifiers take
            Some may be unknown: where they are there, where they are not, and where they are unknown are all
            spread evenly.
        groups : None
            Groups cannot be kept together, and are refused.

        Yields
        ------
        train, test : ndarray of int
            Those of folds in ascending order, those of random splits in random order.
        """
        if groups is not None:
            raise ValueError(
                "groups cannot be kept together here: use GroupKFold or GroupShuffleSplit of scikit-learn, "
                "or leave groups out"
            )
        check_consistent_length(X, y)
        yield from self._split(_known_or_not(read_labels(y, "y", may_miss=True)[0]))

    def _split(self, labels: LabelMatrix) -> Iterator[tuple[Rows, Rows]]:
        raise NotImplementedError


class MultilabelStratifiedKFold(_Splits):
    """K folds that keep the frequencies of labels and of pairs of labels.

    Each sample is in the test set of one fold. The sizes of folds differ by one sample at most.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds, at least 2.
    shuffle : bool, default=False
        Whether folds are random; otherwise those of a data set are always the same.
    random_state : int, RandomState instance or None, default=None
        Only with `shuffle`.

    Notes
    -----
    Samples of the same label vector are spread over the folds first. The rest are placed one by one, those
    with many labels first, in the fold that lacks their labels and pairs most; then samples of two folds are
    swapped while that makes folds more even. A label weighs as much as three pairs. If samples have very many
    labels, only pairs of the rarer ones are used.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair.model_selection import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 1], [1, 0], [0, 0], [1, 1], [0, 0], [1, 0]])
    >>> for train, test in MultilabelStratifiedKFold(n_splits=2).split(Y, Y):
    ...     print(Y[test].sum(axis=0), len(train))
    [2 1] 3
    [2 1] 3
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        super().__init__(n_splits, 2)
        if shuffle not in (True, False):
            raise ValueError(f"shuffle must be True or False, not {shuffle!r}")
        if random_state is not None and not shuffle:
            raise ValueError("random_state draws nothing without shuffle=True")
        self.shuffle = shuffle
        self.random_state = random_state

    def _split(self, labels: LabelMatrix) -> Iterator[tuple[Rows, Rows]]:
        n = labels.shape[0]
        if self.n_splits > n:
            raise ValueError(f"there are {n} samples, too few for n_splits={self.n_splits} folds")
        sizes = n // self.n_splits + (np.arange(self.n_splits) < n % self.n_splits)
        rng = check_random_state(self.random_state if self.shuffle else 0)
        folds = _Spreader(labels, self.n_splits).spread(sizes, rng)
        for fold in range(self.n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


class MultilabelStratifiedShuffleSplit(_Splits):
    """Random splits that keep the frequencies of labels and of pairs of labels.

    Splits are independent: test sets may overlap.

    Parameters
    ----------
    n_splits : int, default=10
    test_size, train_size : float, int or None, default=None
        A share of the samples, or their number. Each defaults to the complement of the other; if neither is
        given, the test set has a tenth. Sizes are exactly those of scikit-learn's ``ShuffleSplit``.
    random_state : int, RandomState instance or None, default=None

    See Also
    --------
    MultilabelStratifiedKFold : How samples are spread.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair.model_selection import MultilabelStratifiedShuffleSplit
    >>> Y = [["joy"], ["joy", "calm"], [], ["joy"], ["joy", "calm"], [], ["joy"], ["joy"]]
    >>> splits = MultilabelStratifiedShuffleSplit(n_splits=1, test_size=0.5, random_state=0)
    >>> train, test = next(splits.split(None, Y))
    >>> sorted(Y[i] for i in test)
    [[], ['joy'], ['joy'], ['joy', 'calm']]
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_splits, 1)
        self.test_size = test_size
        self.train_size = train_size
        self.random_state = random_state

    def _split(self, labels: LabelMatrix) -> Iterator[tuple[Rows, Rows]]:
        n = labels.shape[0]
        plain = ShuffleSplit(1, test_size=self.test_size, train_size=self.train_size, random_state=0)
        n_train, n_test = map(len, next(plain.split(np.empty((n, 1)))))
        sizes = np.array([n_train, n_test, n - n_train - n_test])
        sizes = sizes[: 2 + (sizes[2] > 0)]
        spreader = _Spreader(labels, len(sizes))
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            folds = spreader.spread(sizes, rng)
            order = rng.permutation(n)
            yield order[folds[order] == 0], order[folds[order] == 1]


def _known_or_not(labels: LabelMatrix) -> LabelMatrix:
    """Add a column for each label of three values: with two of them, the third is spread evenly as well."""
    if not has_unknown(labels):
        return labels
    unknown, absent = labels == UNKNOWN, labels == 0
    fewer = np.where(unknown.sum(axis=0) <= absent.sum(axis=0), unknown, absent)
    matrix = np.hstack([labels == 1, fewer[:, unknown.any(axis=0)]])
    return matrix.astype(np.uint8)


class _Spreader:
    """Label vectors as lists of labels and pairs of labels, made once for any number of splits."""

    def __init__(self, labels: LabelMatrix, n_folds: int) -> None:
        n, n_labels = labels.shape
        # A random number for each label: two vectors have the same sum once in 2⁶⁴, and are then one.
        words = np.random.RandomState(0).randint(2**64 - 1, size=n_labels, dtype=np.uint64)
        if sp.issparse(labels):
            order = np.argsort(np.bincount(labels.indices, minlength=n_labels), kind="stable")
            ranks = np.argsort(order).astype(np.int32)[labels.indices]
            ranked = sp.csr_array((words[ranks], ranks, labels.indptr), shape=(n, n_labels))
            ranked.sort_indices()
            sums = ranked.sum(axis=1)
        else:
            n_of = np.count_nonzero(labels, axis=0)
            starts, sums = np.zeros(n + 1, np.int64), np.empty(n, np.uint64)
            ranks = np.empty(n_of.sum() + 1, np.int32)
            order = np.argsort(n_of, kind="stable")
            kernels.rank_labels(labels, order, words, starts, ranks, sums)
            ranks = ranks[:-1]
            ranked = sp.csr_array((ranks, ranks, starts), shape=(n, n_labels))
        _, first, self.vector_of, self.counts = np.unique(
            sums, return_index=True, return_inverse=True, return_counts=True
        )
        vectors = ranked[first]
        most = max(_FEW_PAIRS, _PAIRS_A_SAMPLE * n) * _FEW_FOLDS // max(n_folds, _FEW_FOLDS)
        self.lists = kernels.list_items(vectors.indptr, vectors.indices, self.counts, n_labels, most)
        # Many labels go first. NumPy sorts numbers of 16 bits in no time.
        self.turn = -np.minimum(np.diff(self.lists[0]), 2**15 - 1).astype(np.int16)

    def spread(self, sizes: Rows, rng: np.random.RandomState) -> Rows:
        """Return the fold of each sample, in folds of these sizes."""
        n, n_folds = len(self.vector_of), len(sizes)
        # What each fold has of a vector for sure: by its size, and a half, so that two go to either half.
        often = np.flatnonzero(self.counts * (2 * sizes.max() + 1) >= 2 * n)
        counts = self.counts[often]
        sure = counts[:, None] * (2 * sizes + 1) // (2 * n)
        too_many = sure.sum(axis=1) > counts
        sure[too_many] = counts[too_many, None] * sizes // n
        is_often = np.zeros(len(self.counts), bool)
        is_often[often] = True
        order = rng.permutation(n)
        among = is_often[self.vector_of[order]]
        alike = order[among]
        alike = alike[np.argsort(self.vector_of[alike], kind="stable")]
        place_among = np.arange(len(alike)) - np.repeat(np.cumsum(counts) - counts, counts)
        is_sure = place_among < np.repeat(sure.sum(axis=1), counts)
        folds = np.empty(n, np.intp)
        folds[alike[is_sure]] = np.repeat(np.tile(np.arange(n_folds), len(often)), sure.ravel())
        free = rng.permutation(np.concatenate([order[~among], alike[~is_sure]]))
        free = free[np.argsort(self.turn[self.vector_of[free]], kind="stable")]
        n_in = sure.sum(axis=0)
        bounds = np.concatenate([[0], np.cumsum(sizes - n_in)])
        excess = kernels.count_excess(self.lists, often, sure, sizes)
        placed = kernels.place(self.lists, self.vector_of[free], sizes, n_in, excess)
        free = free[np.argsort(placed.astype(np.min_scalar_type(n_folds)), kind="stable")]
        starts, items, weights = self.lists
        by_step, budget = (starts, items, 2 * n * weights), _EXCHANGES // max(n_folds, 5) + len(items)
        kernels.exchange(by_step, free, self.vector_of[free], bounds, excess, _TRIED, budget)
        folds[free] = np.repeat(np.arange(n_folds), np.diff(bounds))
        return folds
