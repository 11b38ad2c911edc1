"""A random forest with thresholds that are tuned for a cost: what ``refpair demo`` compares with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, cross_val_predict

from refpair.costs import Cost

_GRID = np.arange(1, 100) / 100
_FOLDS = 5


# scikit-learn carries no types, so mypy sees a class of type Any among the bases.
class ForestWithThresholds(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Answers with the labels whose probability is at least the threshold of the label.

    The thresholds are those whose answers cost least by out-of-fold probabilities, found by coordinate
    search. It begins with the best threshold that is common to all labels, and then sets that of one label at
    a time, round after round, until none makes the cost lower. For costs that add up over labels, each label
    has its best.
    """

    def __init__(self, forest: RandomForestClassifier, cost: Cost) -> None:
        self.forest = forest
        self.cost = cost

    def fit(self, X: Any, Y: npt.NDArray[np.uint8]) -> Self:
        """Tune the thresholds by five folds, then fit the forest on all rows."""
        folds = KFold(_FOLDS, shuffle=True, random_state=0)
        p = _of_labels(cross_val_predict(self.forest, X, Y, cv=folds, method="predict_proba"))
        self.thresholds_ = tune_thresholds(p, Y, self.cost)
        self.forest_ = clone(self.forest).fit(X, Y)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.uint8]:
        """Compare probabilities with the thresholds."""
        return _answers(_of_labels(self.forest_.predict_proba(X)), self.thresholds_)


def tune_thresholds(
    p: npt.NDArray[np.float64], truths: npt.NDArray[np.uint8], cost: Cost
) -> npt.NDArray[np.float64]:
    """Return a threshold for each label, from 0.01 to 0.99, that make the mean cost low together."""

    def paid(thresholds: npt.NDArray[np.float64]) -> float:
        return float(cost.rows(truths, _answers(p, thresholds)).mean())

    n_labels = p.shape[1]
    best = min((np.full(n_labels, one) for one in _GRID), key=paid)
    least, is_better = paid(best), True
    while is_better:
        is_better = False
        for label in range(n_labels):
            for one in _GRID:
                tried = best.copy()
                tried[label] = one
                if (costs := paid(tried)) < least:
                    best, least, is_better = tried, costs, True
    return best


def _answers(p: npt.NDArray[np.float64], thresholds: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    return (p >= thresholds).astype(np.uint8)


def _of_labels(told: Any) -> npt.NDArray[np.float64]:
    """Return the probabilities of labels: a forest tells those of both classes, one label after the other."""
    return np.column_stack([of_label[:, 1] for of_label in told])
