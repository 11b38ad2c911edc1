"""Maximum loss reduction with maximal confidence (MMC)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from refpair.active._classifier import LabelLearners
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import LearningStrategy
from refpair.classifiers._base_learners import check_base_learner
from refpair.classifiers._checks import check_positive

_STEPS = 1000  # of the regression on the number of labels


class MMC(LearningStrategy):
    """Ask for the row with the largest expected reduction of the loss of binary relevance.

    A logistic regression predicts the number of labels of a row from its label probabilities, sorted and
    scaled to a sum of 1. That many of the most probable labels are its labels y (±1). The utility is Σ (1 −
    y_k f_k) / 2 with f = 2p − 1, the expected Hamming loss of y.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"logistic", "forest", "tree"}, default="logistic"
        Learns each label.
    C : float, default=1.0
        Parameter of the logistic regression that predicts the number of labels.
    random_state : int, RandomState or None, default=None
        Breaks ties, and seeds the estimator.

    Notes
    -----
    As in libact, decisions f are scaled probabilities, not those of support vector machines as in the paper.

    References
    ----------
    B. Yang, J.-T. Sun, T. Wang, Z. Chen: Effective Multi-Label Active Learning for Text Classification. KDD
    2009.

    Examples
    --------
    >>> from refpair.active import MMC
    >>> X, Y = np.array([[0.0], [1.0], [2.0], [3.5], [6.0]]), np.full((5, 2), np.nan)
    >>> Y[0], Y[4] = [0, 1], [1, 0]
    >>> MMC().query(X, Y)
    array([3])
    """

    def __init__(self, estimator: Any = "logistic", *, C: float = 1.0, random_state: Any = None) -> None:
        self.estimator = estimator
        self.C = C
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_base_learner(self.estimator)
        check_positive("C", self.C)

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        known = pool.features[pool.labeled]
        model = LabelLearners(self.estimator).fit(known, pool.labels, rng)
        n_labels = pool.labels.sum(axis=1, dtype=np.int64)
        counter = None
        if (n_labels != n_labels[0]).any():
            counter = LogisticRegression(C=self.C, max_iter=_STEPS, tol=1e-8)
            with warnings.catch_warnings():
                # Among few rows, most may have numbers of labels of their own: still no regression.
                warnings.filterwarnings("ignore", message="The number of unique classes")
                counter.fit(_profile(model.learners_.probabilities(known)), n_labels)

        def worth(which: Indices) -> Floats:
            p = model.learners_.probabilities(pool.features[which])
            n = np.full(len(p), n_labels[0]) if counter is None else counter.predict(_profile(p))
            ranked = -np.sort(-p, axis=1)
            taken = np.arange(p.shape[1]) < n[:, None]
            return np.asarray(np.where(taken, 1.0 - ranked, ranked).sum(axis=1))

        return pool.by_chunks(worth)


def _profile(p: Floats) -> Floats:
    """Return the probabilities of each row, the greatest first, scaled to a sum of 1."""
    ranked = -np.sort(-p, axis=1)
    return np.asarray(ranked / np.maximum(p.sum(axis=1, keepdims=True), np.finfo(float).tiny))
