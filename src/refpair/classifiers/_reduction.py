"""Base of the classifiers that reduce multi-label learning to many problems of a base learner."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from refpair.classifiers._base import MultiLabelClassifier, check_running
from refpair.classifiers._base_learners import allowed_input, check_base_learner
from refpair.classifiers.forest import Forest
from refpair.costs import get_cost

__all__ = ["ReductionClassifier"]


class ReductionClassifier(MultiLabelClassifier):
    """A classifier with the parameters ``estimator``, ``n_jobs``, ``random_state`` and ``verbose``.

    A subclass may have a parameter ``cost``, and then sets ``cost_`` in ``fit``; without one, ``score`` is
    that of scikit-learn's classifiers.
    """

    estimator: Any
    n_jobs: int | None
    random_state: Any
    verbose: int

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        check_base_learner(self.estimator)
        check_running(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)

    def _rng(self) -> np.random.Generator:
        """Return a generator of all that is random in ``fit``."""
        state = check_random_state(self.random_state)
        return np.random.default_rng(state.randint(2**31, size=4, dtype=np.int64))

    def _has_predict_proba(self) -> bool:
        """Return True, or raise an AttributeError: the base learner tells no probabilities."""
        if isinstance(self.estimator, str | Forest) or hasattr(self.estimator, "predict_proba"):
            return True
        raise AttributeError(f"the base learner {self.estimator!r} has no predict_proba")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return how well the labels of rows are predicted.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The true labels.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        score : float
            By the parameter ``cost``, if the model has one: the greater the better. Else the share of rows
            whose labels are all right, as scikit-learn's classifiers have it.
        """
        check_is_fitted(self)
        if hasattr(self, "cost"):
            return super().score(X, y, sample_weight)
        predicted: npt.NDArray[np.uint8] = self._predict_labels(self._read_features(X, reset=False))
        return 1.0 - get_cost("zero_one").mean(self._label_format.read_more(y), predicted, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = allowed_input(self.estimator)
        return tags
