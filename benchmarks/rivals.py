"""What people use today, each with the best decisions for a cost that its probabilities allow.

`refpair compare --algorithm benchmarks.rivals:forest` and so on; one fit answers for all costs.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import Tags

from refpair import BayesDecisionClassifier

Floats = npt.NDArray[np.float64]

N_TREES = 500
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # that C is chosen from
N_FOLDS = 3


def forest(random_state: int | None = None) -> BayesDecisionClassifier:
    """Return a random forest on all labels, calibrated out of bag, with Bayes decisions."""
    return BayesDecisionClassifier(RandomForestClassifier(N_TREES, random_state=random_state))


def extra_trees(random_state: int | None = None) -> BayesDecisionClassifier:
    """Return the same of extra trees, calibrated in folds."""
    return BayesDecisionClassifier(ExtraTreesClassifier(N_TREES, random_state=random_state))


def logistic(random_state: int | None = None) -> BayesDecisionClassifier:
    """Return logistic regressions of scaled features, C chosen by cross-validation, with Bayes decisions."""
    return BayesDecisionClassifier(LogisticRegressions(random_state), calibrate=False)


def lightgbm(random_state: int | None = None) -> BayesDecisionClassifier:
    """Return boosted trees for each label, with Bayes decisions."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415  (the others do without it)

    learner = partial(LGBMClassifier, n_jobs=1, verbose=-1, random_state=random_state)
    return BayesDecisionClassifier(OneForEachLabel(learner), calibrate=False)


class _MultiLabel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns a model for each label; a label that all samples agree on is what they say."""

    def _fit_each(self, make: Any, X: Any, Y: Any) -> list[Any]:
        return [make().fit(X, y) if y.min() < y.max() else float(y[0]) for y in Y.T]

    def _ask_each(self, models: list[Any], X: Any) -> Floats:
        told = [
            np.full(X.shape[0], model) if isinstance(model, float) else model.predict_proba(X)[:, 1]
            for model in models
        ]
        return np.column_stack(told)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


class OneForEachLabel(_MultiLabel):
    """A classifier for each label."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from samples."""
        self.classes_ = [np.array([0, 1])] * Y.shape[1]
        self.models_ = self._fit_each(self.learner, _for_lightgbm(X), Y)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of labels."""
        return self._ask_each(self.models_, _for_lightgbm(X))


class LogisticRegressions(_MultiLabel):
    """A logistic regression for each label, all with the C of the smallest log loss in three folds."""

    def __init__(self, random_state: int | None = None, strengths: tuple[float, ...] = STRENGTHS) -> None:
        self.random_state = random_state
        self.strengths = strengths

    def fit(self, X: Any, Y: Any) -> Self:
        """Scale the features, choose C, and learn from all samples."""
        self.classes_ = [np.array([0, 1])] * Y.shape[1]
        self.scaler_ = MaxAbsScaler() if sp.issparse(X) else StandardScaler()
        X = self.scaler_.fit_transform(X)
        losses = dict.fromkeys(self.strengths, 0.0)
        folds = KFold(N_FOLDS, shuffle=True, random_state=self.random_state).split(Y)
        for train, test in folds if len(losses) > 1 else ():
            for C in self.strengths:
                p = self._ask_each(self._fit_each(partial(self._make, C), X[train], Y[train]), X[test])
                p = np.clip(p, 1e-6, 1 - 1e-6)
                losses[C] -= float(np.log(np.where(Y[test] == 1, p, 1 - p)).sum())
        self.C_ = min(losses, key=lambda C: losses[C])
        self.models_ = self._fit_each(partial(self._make, self.C_), X, Y)
        return self

    @staticmethod
    def _make(C: float) -> LogisticRegression:
        return LogisticRegression(C=C, max_iter=300)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of labels."""
        return self._ask_each(self.models_, self.scaler_.transform(X))


def _for_lightgbm(X: Any) -> Any:
    return sp.csr_matrix(X, dtype=np.float32) if sp.issparse(X) else X.astype(np.float32)
