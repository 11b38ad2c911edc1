"""Label powerset: every label vector is a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._parallel import chunks_of
from refpair._saved import require
from refpair.classifiers._base_learners import ClassLearners, Floats
from refpair.classifiers._reduction import ReductionClassifier
from refpair.costs import Cost
from refpair.posterior import LabelDistribution
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import LabelMatrix

_CELLS = 4_000_000  # of probabilities, kept at a time: 32 MB


class LabelPowerset(ReductionClassifier):
    """Learn each distinct label vector as a class of one multi-class problem.

    It minimizes zero-one loss and predicts only label vectors of the training set. ``decide`` uses their
    probabilities to predict for other costs.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner: a classifier, or a :class:`Forest`. "logistic" learns each vector against the
        others.
    n_jobs : int, optional
        Number of threads. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    vectors_ : ndarray of uint8, shape (n_vectors, n_labels)
        The label vectors of the training set: the classes.
    learners_ : ClassLearners
        The single problem.
    cost_ : Cost
        The zero-one loss, which ``expected_cost`` estimates.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    Notes
    -----
    There are no probabilities if the base learner has no ``predict_proba``.

    Examples
    --------
    >>> from refpair import LabelPowerset
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")  # pictures with up to three digits on top of each other
    >>> model = LabelPowerset(random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> round(model.score(digits.X[1500:], digits.Y[1500:]), 2)  # the share of rows with all labels right
    0.62
    >>> model.predict(digits.X[1501:1502])  # it shows a 1 and a 4
    array([[0, 0, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    >>> model.decide(digits.X[1501:1502], "f1")
    array([[0, 1, 0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    """

    vectors_: npt.NDArray[np.uint8]
    learners_: ClassLearners

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        distinct = distinct_labels(labels)
        self.vectors_ = distinct.vectors
        learners = ClassLearners(self.estimator, **self._running())
        self.learners_ = learners.fit(X, distinct.of_row[:, None], rng, row_weight)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        right = self.vectors_.ndim == 2 and self.vectors_.shape[1] == n_labels
        require(right, "the label vectors are those of other labels")
        one_each = self.learners_.n_classes_.tolist() == [len(self.vectors_)]
        require(one_each, "there is not a class for each label vector")
        self.learners_.check_n_features(n_features)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return self.vectors_[self.learners_.labels(X)[:, 0]]

    def _expected_cost(self, X: Any, labels: Any, cost: Cost) -> npt.NDArray[np.float64]:
        # Not every base learner predicts what it holds for the most probable.
        if labels is None and cost is self.cost_:
            labels = self._predict_labels(X)
        return super()._expected_cost(X, labels, cost)

    def _distributions(self, X: Any, cost: Cost | None) -> Iterator[tuple[slice, LabelDistribution]]:
        for rows in chunks_of(X.shape[0], max(1, _CELLS // len(self.vectors_))):
            probabilities = self.learners_.probabilities(X[rows], 0)
            yield rows, LabelDistribution.from_dense(self.vectors_, probabilities)
