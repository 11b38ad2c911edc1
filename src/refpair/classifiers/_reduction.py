"""Base of the classifiers that reduce multi-label learning to many problems of a base learner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from refpair._fitting import all_or_nothing
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._base_learners import Floats, allowed_input, check_base_learner
from refpair.classifiers._checks import check_running
from refpair.classifiers.base_estimators import Forest
from refpair.tables.labels import LabelMatrix


class ReductionClassifier(MultiLabelClassifier):
    """A classifier with the parameters ``estimator``, ``n_jobs``, ``random_state`` and ``verbose``.

    A subclass defines ``_learn``. It may have a parameter ``cost``; without one, ``cost_`` is the zero-one
    loss, by which ``score`` is that of scikit-learn's classifiers.
    """

    def __init__(
        self,
        estimator: Any = "forest",
        *,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Sparse, or with missing values (NaN), if the base estimator takes such; trees and forests do.
        y : array, sparse matrix or DataFrame of shape (n, n_labels), or names of labels
            The labels, 0/1, boolean or yes/no; or lists of names, or joined names such as "joy|calm". A
            one-dimensional y of two classes is taken as a single label.
        sample_weight : array of shape (n,), optional
            How often each row counts: one of weight 2 as if it were there twice, one of weight 0 as if it
            were not there. Forests draw rows without regard to weights. Where all weights are whole numbers,
            ``min_samples_leaf`` counts a row as often as it counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, labels, weight, self.cost_ = self._read(X, y, sample_weight)
        state = check_random_state(self.random_state)
        self._learn(X, labels, weight, np.random.default_rng(state.randint(2**31, size=4, dtype=np.int64)))
        self.cost_ = self.cost_.with_mean_prices(weight)  # that of new rows, whose prices are not known
        return self

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        raise TypeError(f"{type(self).__name__} defines no _learn")

    def _running(self) -> dict[str, Any]:
        return {"n_jobs": self.n_jobs, "verbose": self.verbose}

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        check_base_learner(self.estimator)
        check_running(n_jobs=self.n_jobs, random_state=self.random_state, verbose=self.verbose)

    def _tells_probabilities(self) -> bool:
        if isinstance(self.estimator, str | Forest) or hasattr(self.estimator, "predict_proba"):
            return True
        raise AttributeError(f"the base learner {self.estimator!r} has no predict_proba")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.allow_nan = allowed_input(self.estimator)
        return tags
