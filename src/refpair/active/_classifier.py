"""What strategies and sessions learn: multi-label classifiers of any library, and features of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from refpair._fitting import all_or_nothing
from refpair._saved import Savable, require
from refpair._sparse import check_sparse
from refpair.active._coverage import squared_distances
from refpair.active._pool import Floats, Labels
from refpair.bits.binning import Matrix
from refpair.bits.logistic import LogisticBank
from refpair.classifiers import BinaryRelevance
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._base_learners import BinaryLearners, Targets
from refpair.tables.labels import LabelFormat, read_labels, with_gaps

_SURE = 1.0  # the decision on a label on which all rows agree: the edge of a support vector machine's margin
_NEVER = 1e-9  # no probability is thought less than this, nor more than 1 minus this
_MOST_FEATURES = 500  # of more, linear models see enough without a kernel
_LOOKED_AT = 500  # rows, to estimate a usual distance


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

    @all_or_nothing
    def fit(self, X: Any, Y: Any) -> Self:
        """Fit a clone of the classifier."""
        model = BinaryRelevance("logistic") if self.estimator is None else clone(self.estimator)
        takes = getattr(model, "_takes_unknown_labels", False) is True
        labels, self._label_format = read_labels(Y, may_miss=takes)
        self._first = labels[0] if len(labels) else np.zeros(labels.shape[1], np.uint8)
        varies = (labels != self._first).any(axis=0)
        self._first = np.minimum(self._first, 1)  # where it is unknown, the label is learned
        if isinstance(model, MultiLabelClassifier | FrozenEstimator) and varies.any():
            varies[:] = True
        self._learnt = np.flatnonzero(varies)
        self.__dict__.pop("estimator_", None)  # of an earlier fit
        if len(self._learnt):
            self.estimator_ = model.fit(X, with_gaps(labels[:, self._learnt]))
        return self

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The names of the labels."""
        return self._label_format.classes

    def predict(self, X: Any) -> Any:
        """Return the predicted labels, in the form in which labels were given."""
        check_is_fitted(self)
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_label_format")

    def _check_saved(self) -> None:
        if hasattr(self, "_label_format"):
            n = self._label_format.n_labels
            require(self._first.shape == (n,) and (self._first <= 1).all(), "a label has no value")
            places = self._learnt
            fits = places.ndim == 1 and len(places) and places.min() >= 0 and places.max() < n
            require(fits and hasattr(self.estimator_, "predict"), "a label that was learned is not there")


def _dense(found: Any) -> npt.NDArray[Any]:
    return found.toarray() if sp.issparse(found) else np.asarray(found)


class KernelFeatures(Savable, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Features of an RBF kernel instead of few dense ones; sparse and many features are only scaled.

    Numbers and pixels seldom tell labels along straight lines. The kernel's width is the median distance of
    rows; it is approximated by the likeness to some of them (Nyström). No labels are needed for that. Rows of
    the table that it is fitted to have the mean squared length 1.
    """

    n_features_in_: int
    scale_: float  # that features are multiplied by
    gamma_: float  # of the kernel of scaled features; 0 if there is none
    components_: Floats  # scaled rows that others are compared with
    weights_: Floats  # that their likenesses to these are multiplied by

    def __init__(self, n_components: int = 300, *, random_state: int = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the scale, the width of the kernel and the rows to compare with."""
        X = self._read(X, reset=True)
        n_rows, n_features = X.shape
        self.scale_ = 1.0 / (_length(X) or 1.0)
        self.gamma_, self.components_, self.weights_ = 0.0, np.empty((0, n_features)), np.empty((0, 0))
        if sp.issparse(X) or n_features > _MOST_FEATURES:
            return self
        scaled = X * self.scale_
        some = scaled[np.random.default_rng(self.random_state).permutation(n_rows)[:_LOOKED_AT]]
        distances = squared_distances(some, some)
        usual = distances[distances > 0.0]
        if not len(usual):
            return self
        self.gamma_ = 1.0 / float(np.median(usual))
        kernel = Nystroem(
            gamma=self.gamma_, n_components=min(self.n_components, n_rows), random_state=self.random_state
        ).fit(scaled)
        self.components_, self.weights_ = kernel.components_, kernel.normalization_.T
        self.weights_ = self.weights_ / _length(self._likenesses(scaled))
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the features of rows."""
        check_is_fitted(self)
        scaled = self._read(X, reset=False) * self.scale_
        return self._likenesses(scaled) if self.gamma_ else scaled

    def _likenesses(self, scaled: Floats) -> Floats:
        return np.asarray(rbf_kernel(scaled, self.components_, gamma=self.gamma_) @ self.weights_)

    def _read(self, X: Any, *, reset: bool) -> Matrix:
        check_sparse(X, "X")
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_saved(self) -> None:
        if not hasattr(self, "scale_"):
            return
        k, n = len(self.components_), self.n_features_in_
        fits = self.components_.shape == (k, n) and self.weights_.shape == (k, k)
        require(n > 0 and fits and (self.gamma_ > 0) == (k > 0), "kernel features do not fit together")
        numbers = (self.scale_, self.gamma_, self.components_, self.weights_)
        require(all(np.isfinite(one).all() for one in numbers), "a kernel feature is not a number")


def _length(X: Matrix) -> float:
    """Return the root of the mean squared length of rows."""
    squares = X.multiply(X).sum() if sp.issparse(X) else np.square(X).sum()
    return float(np.sqrt(squares / X.shape[0]))


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

    def decisions(self, X: Matrix) -> Floats:
        """Return the log odds of each label; −1 or 1 for a label on which all rows agree."""
        bank = self.learners_.bank_
        if isinstance(bank, LogisticBank):
            odds = bank.decisions(X)
        else:
            p = np.clip(self.learners_.probabilities(X), _NEVER, 1.0 - _NEVER)
            odds = np.log(p / (1.0 - p))
        return np.where(self.agreed_ == 0.0, odds, self.agreed_)
