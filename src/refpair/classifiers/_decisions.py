"""Classifiers that know a distribution over label vectors, and answer with what costs least under it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from refpair.classifiers._dask_blocks import in_memory
from refpair.classifiers._lazy import by_blocks
from refpair.classifiers._parameters import check_count
from refpair.costs import Cost
from refpair.decision import (
    decide,
    decide_from_marginals,
    expected_cost,
    needs_only_marginals,
    worst_cost,
)
from refpair.posterior import IndependentLabels, LabelDistribution

if TYPE_CHECKING:
    from refpair.classifiers._base import MultiLabelClassifier as _Base
else:
    _Base = object

__all__ = ["DecisionMixin"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

_NEVER = 1e-6  # no label is thought less likely than this, nor more likely than 1 minus this


Method = TypeVar("Method", bound=Callable[..., Any])


def _if_it_tells_probabilities(method: Method) -> Method:
    return cast(Method, available_if(lambda model: model._tells_probabilities())(method))


class DecisionMixin(_Base):
    """Predictions, probabilities and expected costs of a :class:`MultiLabelClassifier`.

    A subclass has a parameter ``n_jobs``, sets ``cost_`` in ``fit``, and defines ``_distributions``; also
    ``_marginals``, if it has a faster way to them. Both take X as ``_read_features`` returns it.
    """

    n_jobs: int | None
    _cost_scale = 1.0  # what costs were found to be, over what was expected

    def _tells_probabilities(self) -> bool:
        """Return True, or raise an AttributeError that says what to do."""
        return True

    def _distributions(self, X: Any) -> Iterator[tuple[slice, LabelDistribution | IndependentLabels]]:
        """Yield blocks of rows, in order, and the distributions over their label vectors."""
        raise TypeError(f"{type(self).__name__} defines no _distributions")

    def _marginals(self, X: Any) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        return np.concatenate([distribution.marginals() for _, distribution in self._distributions(X)])

    def _predict_labels(self, X: Any) -> Bytes:
        return self._decide(X, self.cost_)

    def _decide(self, X: Any, cost: Cost) -> Bytes:
        if needs_only_marginals(cost):
            return decide_from_marginals(self._marginals(X), cost)
        blocks = self._distributions(X)
        return np.concatenate([decide(distribution, cost, n_jobs=self.n_jobs) for _, distribution in blocks])

    @by_blocks
    @_if_it_tells_probabilities
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Of Dask, the answer is a Dask array.

        Returns
        -------
        probabilities : ndarray of shape (n, n_labels)
            From 0.000001 to 0.999999: a model that has never seen a label somewhere cannot rule it out. If y
            was one-dimensional in ``fit``, a column for each of its classes.
        """
        check_is_fitted(self)
        marginals = self._marginals(self._read_features(X, reset=False))
        return self._label_format.write_probabilities(np.clip(marginals, _NEVER, 1.0 - _NEVER))

    @by_blocks
    @_if_it_tells_probabilities
    def predict_set_proba(self, X: Any, k: int = 5) -> tuple[Bytes, Floats]:
        """Return the most probable label vectors of each row and their probabilities.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Of Dask, the answer is a Dask array.
        k : int, default=5
            How many label vectors. A row that has fewer is filled up with empty ones of probability 0.

        Returns
        -------
        labels : ndarray of uint8, shape (n, k, n_labels)
        probabilities : ndarray of float64, shape (n, k)
            Falling in each row.
        """
        check_is_fitted(self)
        check_count("k", k)
        parts = [
            distribution.most_likely(k)
            if isinstance(distribution, LabelDistribution)
            else _most_likely(distribution.marginals(), k)
            for _, distribution in self._distributions(self._read_features(X, reset=False))
        ]
        labels, probabilities = zip(*parts, strict=True)
        return np.concatenate(labels), np.concatenate(probabilities)

    @by_blocks
    @_if_it_tells_probabilities
    def expected_cost(self, X: Any, Y: Any = None) -> Floats:
        """Return what the predictions are expected to cost: the less, the surer is the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Of Dask, the answer is a Dask array.
        Y : array, sparse matrix or DataFrame of shape (n, n_labels), optional
            Label vectors to predict for these rows; by default what ``predict`` gives.

        Returns
        -------
        costs : ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = self._read_features(X, reset=False)
        given = None if Y is None else self._label_format.read_more(in_memory(Y))
        if given is not None:
            check_consistent_length(X, given)
        return self._expected_cost(X, given)

    def _expected_cost(self, X: Any, labels: Any) -> Floats:
        """Return the expected cost of labels, or of the own answer if they are None."""
        costs = []
        for rows, p in self._distributions(X):
            answer = labels[rows] if labels is not None else decide(p, self.cost_, n_jobs=self.n_jobs)
            costs.append(self._scaled(expected_cost(p, answer, self.cost_), answer))
        return np.concatenate(costs)

    def _scaled(self, costs: Floats, answer: Any) -> Floats:
        """Return expected costs of an answer as they were found to be, but no more than it can cost."""
        if self._cost_scale == 1.0:
            return costs
        labels = answer.toarray() if sp.issparse(answer) else np.asarray(answer)
        return np.minimum(self._cost_scale * costs, worst_cost(labels.astype(np.uint8), self.cost_))

    @by_blocks
    @_if_it_tells_probabilities
    def decide(self, X: Any, cost: Any) -> Any:
        """Predict the label vectors that are best for another cost, without fitting again.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        cost : str, Cost or callable
            As the parameter of this class.

        Returns
        -------
        Y : of shape (n, n_labels)
            In the kind that the labels had in ``fit``, as from ``predict``.
        """
        check_is_fitted(self)
        cost = self._check_cost(cost)
        return self._label_format.write(self._decide(self._read_features(X, reset=False), cost), X)


def _most_likely(marginals: Floats, k: int) -> tuple[Bytes, Floats]:
    """Return the k most probable vectors of independent labels, as LabelDistribution.most_likely does.

    They differ from the likeliest in a set of labels; the cheaper a label by the logarithm of its odds, the
    earlier it may be in one. Those after the first k − 1 cannot be in any of the k cheapest sets.
    """
    n, n_labels = marginals.shape
    likeliest = marginals > 0.5
    chance = np.where(likeliest, marginals, 1.0 - marginals)
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
