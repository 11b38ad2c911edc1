"""A user's own classifier as a source of the posterior."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from refpair._saved import require
from refpair.bits.binning import Matrix
from refpair.classifiers.bayes_decision import BayesDecisionClassifier
from refpair.posterior.distribution import Floats
from refpair.posterior.source import Source, Training

_FOLDS = 5


class EstimatorSource(Source):
    """The probabilities of labels that a classifier of scikit-learn tells, out of fold in training."""

    name: str = ""
    tells_vectors: ClassVar[bool] = False

    model: BayesDecisionClassifier

    def __init__(self, name: str, estimator: Any) -> None:
        self.name = name
        self.estimator = estimator

    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Fit the classifier without each fold in turn, and then on all samples: a single step."""
        X, Y = training.X, training.distinct.vectors[training.distinct.likeliest]
        seed, n_folds = int(rng.integers(2**31)), min(_FOLDS, len(Y))
        fold, told = rng.permutation(len(Y)) % n_folds, np.empty((len(training.rows), training.n_labels))
        learner = BayesDecisionClassifier(
            self.estimator, calibrate=False, n_jobs=training.n_jobs, random_state=seed
        )
        for number in range(n_folds if n_folds > 1 else 0):
            others, mine = fold != number, training.rows[fold[training.rows] == number]
            learner.fit(X[np.flatnonzero(others)], Y[others])
            told[fold[training.rows] == number] = learner.predict_proba(X[mine]) if len(mine) else 0.0
        self.model = learner.fit(X, Y)
        yield told if n_folds > 1 else np.tile(training.distinct.frequencies, (len(told), 1))

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the probabilities of the labels."""
        return np.asarray(self.model.predict_proba(X))

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse a classifier of other features or labels."""
        right = self.model.n_features_in_ == n_features and len(self.model.classes_) == n_labels
        require(right, "a source is a classifier of other features or labels")
