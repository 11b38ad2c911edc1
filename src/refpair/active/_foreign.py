"""Classifiers of other libraries, asked as those of this one are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from refpair._saved import Savable, require
from refpair.active._classifier import Classifier, predict_learnt
from refpair.tables.labels import LabelFormat, read_labels

__all__ = ["ForeignClassifier"]

Floats = npt.NDArray[np.float64]


def _can(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator_, method))


class ForeignClassifier(Savable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A multi-label classifier of another library, whose probabilities are a matrix, whatever form they had.

    It is not asked for a label that all rows have, or none: the probability of that is 1 or 0. There must be
    another label.

    Parameters
    ----------
    estimator : multi-label classifier

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> labels = np.uint8([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]])
    >>> ForeignClassifier(KNeighborsClassifier(2)).fit(X, labels).predict_proba([[8.5]])
    array([[1., 0., 0.]])
    """

    estimator_: Any
    _label_format: LabelFormat
    _first: npt.NDArray[np.uint8]
    _learnt: npt.NDArray[np.integer]

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit a clone of the classifier."""
        labels, self._label_format = read_labels(Y)
        found = Classifier(self.estimator, X, labels)
        self.estimator_, self._first, self._learnt = found.model, found.first, found.learnt
        return self

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The names of the labels."""
        return self._label_format.classes

    def predict(self, X: Any) -> Any:
        """Return the predicted labels, in the form in which labels were given."""
        return self._label_format.write(predict_learnt(self.estimator_, self._first, self._learnt, X), X)

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        found: Any = self.estimator_.predict_proba(X)
        if isinstance(found, list):  # for each label, the probabilities of 0 and 1
            found = np.column_stack([one[:, 1] for one in found])
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        p = np.tile(self._first.astype(np.float64), (len(found), 1))
        p[:, self._learnt] = found[
            :, -len(self._learnt) :
        ]  # of a single label, those of 0 may stand before it
        return p

    @_can("expected_cost")  # type: ignore[untyped-decorator]
    def expected_cost(self, X: Any) -> Floats:
        """Return what the predictions are expected to cost, of shape (n,)."""
        return np.asarray(self.estimator_.expected_cost(X), np.float64)

    def _check_saved(self) -> None:
        if hasattr(self, "_label_format"):
            n = self._label_format.n_labels
            require(self._first.shape == (n,) and (self._first <= 1).all(), "a label has no value")
            places = self._learnt
            fits = places.ndim == 1 and len(places) and places.min() >= 0 and places.max() < n
            require(fits and hasattr(self.estimator_, "predict"), "a label that was learnt is not there")
