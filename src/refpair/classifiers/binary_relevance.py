"""Binary relevance: each label is learned on its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._saved import require
from refpair.classifiers._base_learners import BinaryLearners, Floats, Targets
from refpair.classifiers._reduction import ReductionClassifier
from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import LabelMatrix


class BinaryRelevance(ReductionClassifier):
    """Learn each label independently, with a base learner for each.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"forest", "tree", "logistic"}, default="forest"
        The base learner of a label: a classifier, which is cloned, or trees or logistic regressions that are
        learned together; see :class:`Forest`.
    n_jobs : int, optional
        Number of threads or processes, as in joblib. The model does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    learners_ : BinaryLearners
        One problem for each label.
    classes_, n_features_in_, feature_names_in_
        The names of the labels, and of the features as in scikit-learn.

    Notes
    -----
    A label that is constant in training is predicted as this constant. There are no probabilities if the
    base learner has no ``predict_proba``.

    Labels may be unknown: where a cell of y is empty (NaN, None, blank), the row is left out for this label.

    Examples
    --------
    >>> from refpair import BinaryRelevance
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> model = BinaryRelevance("forest", random_state=0).fit(digits.X[:1500], digits.Y[:1500])
    >>> model.predict_proba(digits.X[1500:1501]).round(1)
    array([[0. , 0.1, 0. , 0. , 0. , 0. , 0.6, 0. , 0.1, 0. ]])
    """

    learners_: BinaryLearners
    _takes_unknown_labels = True

    def _learn(
        self, X: Any, labels: LabelMatrix, row_weight: Floats | None, rng: np.random.Generator
    ) -> None:
        distinct = distinct_labels(labels)
        targets = Targets.of_bits(distinct.of_row, distinct.vectors)
        self.learners_ = BinaryLearners(self.estimator, **self._running()).fit(X, targets, rng, row_weight)

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        require(self.learners_.n_problems_ == n_labels, "there is not a problem for each label")
        self.learners_.check_n_features(n_features)

    def _predict_labels(self, X: Any) -> npt.NDArray[np.uint8]:
        return self.learners_.labels(X)

    def _marginals(self, X: Any) -> npt.NDArray[np.float64]:
        return self.learners_.probabilities(X)
