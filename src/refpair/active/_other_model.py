"""Classifiers of other libraries, asked as those of this one are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from refpair.active._classifier import Classifier

__all__ = ["OtherModel"]

Floats = npt.NDArray[np.float64]


class OtherModel(Classifier):
    """A fitted classifier whose probabilities are a matrix, whatever form they had.

    It is not asked for a label that all rows have, or none: the probability of that is 1 or 0. There must be
    another label.

    Parameters
    ----------
    estimator : multi-label classifier
    X : ndarray or CSR matrix of shape (n, n_features)
    labels : ndarray of uint8, shape (n, n_labels)

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> labels = np.uint8([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]])
    >>> OtherModel(KNeighborsClassifier(2), X, labels).predict_proba([[8.5]])
    array([[1., 0., 0.]])
    """

    def __repr__(self) -> str:
        return repr(self.model)

    @property
    def name(self) -> str:
        """Of the class of the classifier."""
        return type(self.model).__name__

    @available_if(lambda self: hasattr(self.model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        found: Any = self.model.predict_proba(X)
        if isinstance(found, list):  # for each label, the probabilities of 0 and 1
            found = np.column_stack([one[:, 1] for one in found])
        found = found.toarray() if sp.issparse(found) else np.asarray(found)
        p = np.tile(self.first.astype(np.float64), (len(found), 1))
        p[:, self.learnt] = found[:, -len(self.learnt) :]  # of a single label, those of 0 may stand before it
        return p

    @available_if(lambda self: hasattr(self.model, "expected_cost"))  # type: ignore[untyped-decorator]
    def expected_cost(self, X: Any) -> Floats:
        """Return what the predictions are expected to cost, of shape (n,)."""
        return np.asarray(self.model.expected_cost(X), np.float64)
