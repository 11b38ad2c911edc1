"""Binary minimization: the row with the least certain label."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.active._classifier import LabelLearners
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import LearningStrategy
from refpair.classifiers._base_learners import check_base_learner


class BinaryMinimization(LearningStrategy):
    """Ask for the row with the least certain label: −min |w·x + b| over the labels.

    It uses a single label of each row, and no cost.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"logistic", "forest", "tree"}, default="logistic"
        Learns each label.
    random_state : int, RandomState or None, default=None
        Breaks ties, and seeds the estimator.

    Notes
    -----
    A label that is constant so far is never the least certain. (libact uses ±1 as its decision: if all other
    decisions are beyond that, it asks for any row.)

    References
    ----------
    K. Brinker: On Active Learning in Multi-label Classification. GfKl 2006.

    Examples
    --------
    >>> from refpair.active import BinaryMinimization
    >>> X, Y = np.array([[0.0], [1.0], [3.0], [4.0], [6.0]]), np.full((5, 2), np.nan)
    >>> Y[0], Y[4] = [0, 1], [1, 1]
    >>> BinaryMinimization().query(X, Y)  # in the middle between no and yes
    array([2])
    """

    def __init__(self, estimator: Any = "logistic", *, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_base_learner(self.estimator)

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        model = LabelLearners(self.estimator).fit(pool.features[pool.labeled], pool.labels, rng)
        learnt = model.agreed_ == 0.0

        def worth(which: Indices) -> Floats:
            return np.asarray(-np.abs(model.decisions(pool.features[which])[:, learnt]).min(axis=1))

        return pool.by_chunks(worth)
