"""The classifier that is to be improved, f_t."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import _num_samples

from refpair.classifiers import BinaryRelevance
from refpair.classifiers._base import MultiLabelClassifier

__all__ = ["Classifier", "check_classifier", "predict_learnt"]

Bytes = npt.NDArray[np.uint8]


def check_classifier(estimator: Any) -> None:
    """Refuse what is neither None nor a classifier."""
    if isinstance(estimator, type):
        raise ValueError(f"estimator must be an instance, {estimator.__name__}(), not the class")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(f"estimator must be a multi-label classifier or None, not {estimator!r}")


class Classifier:
    """A multi-label classifier, fitted on the rows with labels.

    Some classifiers fail on a label that all rows or no rows have: they are not asked for it. Without any
    rows, no label is predicted.

    Parameters
    ----------
    estimator : multi-label classifier or None
        ``BinaryRelevance("logistic")`` if it is None. A ``FrozenEstimator`` is fitted already, to all labels.
    X : array, sparse matrix or DataFrame of shape (n, n_features)
    labels : ndarray of uint8, shape (n, n_labels)
    """

    def __init__(self, estimator: Any, X: Any, labels: Bytes) -> None:
        self.first = labels[0] if len(labels) else np.zeros(labels.shape[1], np.uint8)
        model = BinaryRelevance("logistic") if estimator is None else clone(estimator)
        varies = (labels != self.first).any(axis=0)
        if isinstance(model, MultiLabelClassifier | FrozenEstimator) and varies.any():
            varies[:] = True
        self.learnt = np.flatnonzero(varies)
        if len(self.learnt):
            self.model = model.fit(X, labels[:, self.learnt])

    def predict(self, X: Any) -> Bytes:
        """Return the predicted labels of rows."""
        return predict_learnt(getattr(self, "model", None), self.first, self.learnt, X)


def predict_learnt(model: Any, first: Bytes, learnt: npt.NDArray[np.integer], X: Any) -> Bytes:
    """Return the predicted labels of rows: those of a model where it has learnt them, else the constant.

    Parameters
    ----------
    model : multi-label classifier or None
    first : ndarray of uint8, shape (n_labels,)
        The labels of a row of training.
    learnt : ndarray of int
        Which labels the model has learnt.
    X : array, sparse matrix or DataFrame of shape (n, n_features)
    """
    n_rows = _num_samples(X)
    labels = np.tile(first, (n_rows, 1))
    if len(learnt):
        answer = model.predict(X)
        dense = answer.toarray() if sp.issparse(answer) else np.asarray(answer)
        labels[:, learnt] = dense.reshape(n_rows, len(learnt))
    return labels
