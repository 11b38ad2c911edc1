"""Binary relevance as strategies look at it: how sure a base learner is of each label."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refpair.bits import LogisticBank
from refpair.bits.binning import Matrix
from refpair.classifiers._base_learners import BinaryLearners, Targets

__all__ = ["Relevance"]

_SURE = (
    1.0  # the decision on a label on which all rows agree: on the edge of a support vector machine's margin
)
_NEVER = 1e-9  # no probability is thought less than this, nor more than 1 minus this

Floats = npt.NDArray[np.float64]


class Relevance:
    """A base learner for each label.

    Parameters
    ----------
    estimator : classifier, Forest, Logistic or {"logistic", "forest", "tree"}

    Examples
    --------
    >>> X, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.uint8([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> model = Relevance("logistic").fit(X, labels, np.random.default_rng(0))
    >>> model.probabilities(X).round(2)
    array([[0.19, 1.  ],
           [0.38, 1.  ],
           [0.62, 1.  ],
           [0.81, 1.  ]])
    >>> model.decisions(X).round(2)
    array([[-1.44,  1.  ],
           [-0.48,  1.  ],
           [ 0.48,  1.  ],
           [ 1.44,  1.  ]])
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Matrix, labels: npt.NDArray[np.uint8], rng: np.random.Generator) -> Self:
        """Learn each label."""
        targets = Targets.of_bits(np.arange(len(labels), dtype=np.int32), labels)
        self.learners_ = BinaryLearners(self.estimator).fit(X, targets, rng)
        self.agreed_ = np.where((labels == labels[0]).all(axis=0), np.where(labels[0], _SURE, -_SURE), 0.0)
        return self

    def probabilities(self, X: Matrix) -> Floats:
        """Return the probability of each label, of shape (n, n_labels)."""
        return self.learners_.probabilities(X)

    def decisions(self, X: Matrix) -> Floats:
        """Return the log odds of each label; −1 or 1 for a label on which all rows agree."""
        bank = self.learners_.bank_
        if isinstance(bank, LogisticBank):
            odds = bank.decisions(X)
        else:
            p = np.clip(self.probabilities(X), _NEVER, 1.0 - _NEVER)
            odds = np.log(p / (1.0 - p))
        return np.where(self.agreed_ == 0.0, odds, self.agreed_)
