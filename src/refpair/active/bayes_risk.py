"""The row of highest expected cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.active._cells import Cells, fitted_to, valued_cells
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import LearningStrategy, spread_cells
from refpair.costs import get_cost, vector_cost


class BayesRisk(LearningStrategy):
    """Ask for the row whose best answer has the highest expected cost.

    The expected cost of the best answer is computed from the distribution over label vectors that a
    classifier predicts.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        The cost of a prediction; see :class:`refpair.Cost`.
    estimator : multi-label classifier, optional
        If it has ``expected_cost``, such as ``CSRPEClassifier("f1", n_bits=300, estimator="logistic")``, this
        is used, and it should have the same cost. Any other one needs ``predict_proba`` and is wrapped by
        :class:`refpair.BayesDecisionClassifier`. By default ``BinaryRelevance("logistic")``.
    random_state : int, RandomState or None, default=None
        Breaks ties, and seeds the estimator.

    Notes
    -----
    If labels are noisy, rows can stay uncertain, however many are labeled: asking for them helps little.

    Examples
    --------
    >>> from refpair.active import BayesRisk
    >>> X, Y = np.array([[0.0], [1.0], [3.0], [4.0], [6.0]]), np.full((5, 2), np.nan)
    >>> Y[0], Y[4] = [0, 1], [1, 1]
    >>> BayesRisk("hamming").query(X, Y)
    array([2])
    """

    def __init__(self, cost: Any = "f1", *, estimator: Any = None, random_state: Any = None) -> None:
        self.cost = cost
        self.estimator = estimator
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        vector_cost(self.cost, type(self).__name__)
        estimator = self.estimator
        tells = hasattr(estimator, "expected_cost") or hasattr(estimator, "predict_proba")
        if isinstance(estimator, type) or (estimator is not None and not tells):
            raise ValueError(
                f"estimator must be a classifier with expected_cost or predict_proba, not {estimator!r}"
            )

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        cost = get_cost(self.cost).for_labels(pool.label_names)
        knows = hasattr(self.estimator, "expected_cost")
        model = fitted_to(pool, self.estimator, rng, as_it_is=knows, cost=cost)

        def worth(which: Indices) -> Floats:
            return np.asarray(model.expected_cost(pool.rows(which)), np.float64)

        return pool.by_chunks(worth)

    def choose_cells(self, cells: Cells, n: int, rng: np.random.Generator) -> Indices:
        """Choose n labels by how much less the answers for their rows are expected to cost with them."""
        if not cells.pool.tells_something:
            return spread_cells(cells, n, rng)
        cells, values = valued_cells(cells, self.estimator, self.cost, n, rng)
        return cells.diverse(values, n, rng)
