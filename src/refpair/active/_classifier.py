"""The classifier that is to be improved, f_t."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from refpair.active._pool import Indices, Pool
from refpair.classifiers import BinaryRelevance
from refpair.classifiers._base import MultiLabelClassifier

__all__ = ["Classifier", "check_classifier"]

Bytes = npt.NDArray[np.uint8]


def check_classifier(estimator: Any) -> None:
    """Refuse what is neither None nor a classifier."""
    if isinstance(estimator, type):
        raise ValueError(f"estimator must be an instance, {estimator.__name__}(), not the class")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(f"estimator must be a multi-label classifier or None, not {estimator!r}")


class Classifier:
    """A multi-label classifier, fitted on the rows with labels.

    Some classifiers fail on a label that all rows or no rows have: they are not asked for it.

    Parameters
    ----------
    estimator : multi-label classifier or None
        ``BinaryRelevance("logistic")`` if it is None.
    pool : Pool
    """

    def __init__(self, estimator: Any, pool: Pool) -> None:
        model = BinaryRelevance("logistic") if estimator is None else clone(estimator)
        self.pool = pool
        self.first = pool.labels[0]
        varies = (pool.labels != self.first).any(axis=0)
        if isinstance(model, MultiLabelClassifier):
            varies[:] = True
        self.learnt = np.flatnonzero(varies)
        self.model = model.fit(pool.rows(pool.labelled), pool.labels[:, self.learnt])

    def predict(self, rows: Indices) -> Bytes:
        """Return the predicted labels of some rows of the pool."""
        answer = self.model.predict(self.pool.rows(rows))
        dense = answer.toarray() if sp.issparse(answer) else np.asarray(answer)
        labels = np.tile(self.first, (len(rows), 1))
        labels[:, self.learnt] = dense.reshape(len(rows), len(self.learnt))
        return labels
