"""Costs of lists: k labels in order, of which the first ones should be those that apply."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from refpair.costs import _counts
from refpair.costs._counts import FloatArray, LabelMatrix, Labels
from refpair.costs._lists import LabelNumbers, lists_of, read_lists
from refpair.costs.cost import FAMILIES, Cost
from refpair.tables.labels import has_unknown, read_truths, with_gaps

Gain: TypeAlias = Literal["precision", "recall", "ndcg"]


@dataclass(frozen=True, repr=False)
class RankedCost(Cost):
    """The cost of a list of k labels, in order: 1 − precision@k, recall@k or nDCG@k.

    Predictions are lists: an array of shape (n, k) that names in row i the labels listed for row i of Y, the
    first one first. Labels are numbers of columns, or the names of columns where Y is a DataFrame, as
    ``predict_top`` returns them. Of longer lists the first k labels count. Where there are fewer than k
    labels, a list has all of them.

    Parameters
    ----------
    gain : {"precision", "recall", "ndcg"}
        "precision" is the share of the list that applies. "recall" is the share of what applies that is
        listed. "ndcg" is the sum of 1 / log2(i + 1) over the places i = 1, 2, … of labels that apply, as a
        share of the largest such sum. The last two are 1 for a row without labels.
    k : int
        The length of a list.

    Examples
    --------
    >>> from refpair import get_cost
    >>> Y, lists = [[1, 0, 1, 1], [0, 1, 0, 0]], [[2, 1], [3, 1]]
    >>> [round(get_cost(name).mean(Y, lists), 3) for name in ("precision@2", "recall@2", "ndcg@2")]
    [0.5, 0.667, 0.622]
    """

    name: str = field(init=False)
    greater_is_better: bool = field(init=False)
    gain: Gain
    k: int

    def __post_init__(self) -> None:
        if self.gain not in get_args(Gain):
            raise ValueError(f'gain must be "precision", "recall" or "ndcg", not {self.gain!r}')
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 1:
            raise ValueError(f"k must be a whole number of at least 1, not {self.k!r}")
        object.__setattr__(self, "name", f"{self.gain}@{self.k}")
        object.__setattr__(self, "greater_is_better", True)

    def __repr__(self) -> str:
        return f"get_cost({self.name!r})"

    @property
    def compares_vectors(self) -> bool:
        """False: it compares lists with label vectors."""
        return False

    def to_dict(self) -> dict[str, Any]:
        """Return the name."""
        return {"name": self.name}

    def length(self, n_labels: int) -> int:
        """Return the length of lists of labels of which there are so many."""
        return min(self.k, n_labels)

    def discounts(self, length: int) -> FloatArray:
        """Return what a label that applies counts at each place of a list."""
        places = np.arange(1, length + 1)
        return 1.0 / np.log2(places + 1.0) if self.gain == "ndcg" else np.ones(length)

    def value_of_size(self, sizes: npt.NDArray[np.integer[Any]], length: int) -> FloatArray:
        """Return what a label that applies is worth if so many do; 0 if none does.

        The gain of a list is the sum of this over its labels that apply, times their discounts; where no
        label applies, it is :attr:`of_nothing`.

        Examples
        --------
        >>> RankedCost("recall", 3).value_of_size(np.array([0, 1, 2]), length=3)
        array([0. , 1. , 0.5])
        """
        if self.gain == "precision":
            best = np.full(len(sizes), float(length))
        elif self.gain == "recall":
            best = sizes.astype(np.float64)
        else:
            best = np.append(0.0, self.discounts(length).cumsum())[np.minimum(sizes, length)]
        return np.where(sizes > 0, 1.0 / np.where(best > 0, best, 1.0), 0.0)

    @property
    def of_nothing(self) -> float:
        """The gain of any list where no label applies."""
        return 0.0 if self.gain == "precision" else 1.0

    def rows(self, Y: Labels, Z: npt.ArrayLike) -> FloatArray:
        """Return the n costs of the lists in the rows of Z for the truths in those of Y.

        Labels that are not known (NaN) are taken out of the truths and of the lists: what follows in a list
        moves up. The cost is NaN where no label is known, and for precision where none is listed.

        Examples
        --------
        >>> cost = RankedCost("recall", 2)
        >>> cost.rows([[1, 1, 0], [0, 1, np.nan]], [[0, 2], [2, 0]])
        array([0.5, 1. ])
        """
        given, known = _counts.split_unknown(Y)
        truths = _counts.check_labels(given, "Y")
        lists = read_lists(Z, Y, truths.shape, self)
        costs = np.empty(len(lists))
        for block in _counts.blocks(len(lists), truths.shape[1]):
            some = None if known is None else known[block]
            costs[block] = self._of_lists(_counts.dense(truths[block]), lists[block], some)
        return costs

    def _of_lists(
        self, truths: npt.NDArray[Any], lists: LabelNumbers, known: _counts.Known | None
    ) -> FloatArray:
        length = self.length(truths.shape[1])
        if known is not None:
            is_known = np.take_along_axis(known, lists, axis=1)
            order = np.argsort(~is_known, axis=1, kind="stable")
            lists = np.take_along_axis(lists, order, axis=1)
        lists = lists[:, :length]
        sizes = truths.sum(axis=1, dtype=np.int64)
        found = np.take_along_axis(truths, lists, axis=1) @ self.discounts(length)
        gains = found * self.value_of_size(sizes, length)
        gains[sizes == 0] = self.of_nothing
        if known is not None:
            n_listed = np.take_along_axis(known, lists, axis=1).sum(axis=1)
            if self.gain == "precision":
                gains *= length / np.where(n_listed > 0, n_listed, np.nan)
            gains[~known.any(axis=1)] = np.nan
        return np.maximum(1.0 - gains, 0.0)  # less only by rounding

    def matrix(self, Y: Labels, Z: npt.ArrayLike) -> FloatArray:
        """Refuse: lists are compared with the truths of their own rows, by :meth:`rows`."""
        raise ValueError(f"{self.name!r} is a cost of lists, which rows(Y, Z) compares with their own truths")

    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
        return self.matrix(Y, Z)

    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        return self.rows(Y, Z)

    def __call__(
        self, estimator: Any, X: Any = None, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Score the lists of a fitted model: those of ``predict_top``, or else by ``predict_proba``.

        See :meth:`Cost.scorer`. Where some of y is unknown, labels that follow in the model's order take the
        places of those that are not known.
        """
        self._check_called_with(estimator)
        truths = read_truths(estimator, y)
        n_labels = truths.shape[1]
        k = n_labels if has_unknown(truths) else self.length(n_labels)
        lists = lists_of(estimator, X, self, k, of_one=n_labels == 1)
        return self.mean(with_gaps(truths), lists, sample_weight)

    def lists_of(self, estimator: Any, X: Any) -> LabelNumbers:
        """Return the lists of a fitted classifier, as numbers of labels: for each row the best that it knows.

        A classifier without ``predict_top`` lists labels by their probabilities, those of ``predict_proba``.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> model = KNeighborsClassifier(2).fit([[0], [1], [9]], [[1, 1, 0], [0, 1, 0], [0, 0, 1]])
        >>> RankedCost("recall", 2).lists_of(model, [[0.2], [9]])
        array([[1, 0],
               [1, 2]])
        """
        return lists_of(estimator, X, self, self.k)


def _ranked(gain: Gain, k: str) -> RankedCost:
    return RankedCost(gain, int(k))


for _gain in get_args(Gain):
    FAMILIES[f"{_gain}@<k>"] = (re.compile(rf"{_gain}@([1-9]\d{{0,8}})", re.ASCII), partial(_ranked, _gain))
