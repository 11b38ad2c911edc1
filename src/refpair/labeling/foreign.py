"""Classifiers of other libraries, asked as those of this one are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from refpair.active._classifier import Classifier
from refpair.tables.labels import read_labels

__all__ = ["ForeignClassifier"]

Floats = npt.NDArray[np.float64]


def _can(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator_, method))


class ForeignClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit a clone of the classifier."""
        labels, self._label_format = read_labels(Y)
        self.classes_ = self._label_format.classes
        self._classifier = Classifier(self.estimator, X, labels)
        return self

    @property
    def estimator_(self) -> Any:
        """The fitted classifier."""
        return self._classifier.model

    def predict(self, X: Any) -> Any:
        """Return the predicted labels, in the form in which labels were given."""
        return self._label_format.write(self._classifier.predict(X), X)

    @_can("predict_proba")
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        found: Any = self.estimator_.predict_proba(X)
        if isinstance(found, list):  # for each label, the probabilities of 0 and 1
            found = np.column_stack([one[:, 1] for one in found])
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        learnt = self._classifier.learnt
        p = np.tile(self._classifier.first.astype(np.float64), (len(found), 1))
        p[:, learnt] = found[:, -len(learnt) :]  # of a single label, those of 0 may stand before it
        return p

    @_can("expected_cost")
    def expected_cost(self, X: Any) -> Floats:
        """Return what the predictions are expected to cost, of shape (n,)."""
        return np.asarray(self.estimator_.expected_cost(X), np.float64)
