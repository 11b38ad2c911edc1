"""What strategies and sessions learn: multi-label classifiers of any library, and a base learner a label."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from refpair._saved import Savable, require
from refpair.active._pool import Floats, Labels
from refpair.bits.binning import Matrix
from refpair.bits.logistic import LogisticBank
from refpair.classifiers import BinaryRelevance
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._base_learners import BinaryLearners, Targets
from refpair.tables.labels import LabelFormat, read_labels

__all__ = ["LabelLearners", "WrappedClassifier", "check_classifier"]

_SURE = 1.0  # the decision on a label on which all rows agree: the edge of a support vector machine's margin
_NEVER = 1e-9  # no probability is thought less than this, nor more than 1 minus this


def check_classifier(estimator: Any) -> None:
    """Refuse what is neither None nor a classifier."""
    if isinstance(estimator, type):
        raise ValueError(f"estimator must be an instance, {estimator.__name__}(), not the class")
    if estimator is not None and not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(f"estimator must be a multi-label classifier or None, not {estimator!r}")


def _can(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", None), method))


class WrappedClassifier(Savable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A multi-label classifier of any library, whose probabilities are a matrix, whatever form they had.

    Some classifiers fail on a label that all rows or no rows have: they are not asked for it, and without any
    rows no label is predicted. None is ``BinaryRelevance("logistic")``; a ``FrozenEstimator`` is fitted
    already, to all labels.
    """

    estimator_: Any
    _label_format: LabelFormat
    _first: npt.NDArray[np.uint8]  # the labels of a row of training, which are the constant ones of all
    _learnt: npt.NDArray[np.integer]  # which labels the classifier is asked for

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit a clone of the classifier."""
        labels, self._label_format = read_labels(Y)
        self._first = labels[0] if len(labels) else np.zeros(labels.shape[1], np.uint8)
        model = BinaryRelevance("logistic") if self.estimator is None else clone(self.estimator)
        varies = (labels != self._first).any(axis=0)
        if isinstance(model, MultiLabelClassifier | FrozenEstimator) and varies.any():
            varies[:] = True
        self._learnt = np.flatnonzero(varies)
        if len(self._learnt):
            self.estimator_ = model.fit(X, labels[:, self._learnt])
        return self

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The names of the labels."""
        return self._label_format.classes

    def predict(self, X: Any) -> Any:
        """Return the predicted labels, in the form in which labels were given."""
        n_rows = _num_samples(X)
        labels = np.tile(self._first, (n_rows, 1))
        if len(self._learnt):
            labels[:, self._learnt] = _dense(self.estimator_.predict(X)).reshape(n_rows, len(self._learnt))
        return self._label_format.write(labels, X)

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        found: Any = self.estimator_.predict_proba(X)
        if isinstance(found, list):  # for each label, the probabilities of 0 and 1
            found = np.column_stack([one[:, 1] for one in found])
        found = _dense(found)
        p = np.tile(self._first.astype(np.float64), (len(found), 1))
        p[:, self._learnt] = found[:, -len(self._learnt) :]  # of one label, those of 0 may stand before it
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


class LabelLearners:
    """Binary relevance as strategies look at it: how sure a base learner is of each label."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Matrix, labels: Labels, rng: np.random.Generator) -> Self:
        """Learn each label."""
        targets = Targets.of_bits(np.arange(len(labels), dtype=np.int32), labels)
        self.learners_ = BinaryLearners(self.estimator).fit(X, targets, rng)
        self.agreed_ = np.where((labels == labels[0]).all(axis=0), np.where(labels[0], _SURE, -_SURE), 0.0)
        return self

    def probabilities(self, X: Matrix) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        return self.learners_.probabilities(X)

    def decisions(self, X: Matrix) -> Floats:
        """Return the log odds of each label; −1 or 1 for a label on which all rows agree."""
        bank = self.learners_.bank_
        if isinstance(bank, LogisticBank):
            odds = bank.decisions(X)
        else:
            p = np.clip(self.probabilities(X), _NEVER, 1.0 - _NEVER)
            odds = np.log(p / (1.0 - p))
        return np.where(self.agreed_ == 0.0, odds, self.agreed_)


def _dense(found: Any) -> npt.NDArray[Any]:
    return found.toarray() if sp.issparse(found) else np.asarray(found)
