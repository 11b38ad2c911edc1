"""Cost-sensitive uncertainty of representative rows: the default strategy."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from refpair.active._cells import Cells, ValuedCells
from refpair.active._coverage import variance_removed
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import spread_cells
from refpair.active.uncertainty import CostSensitiveUncertainty


class RepresentativeUncertainty(CostSensitiveUncertainty):
    """Ask for a row of uncertain cost that is similar to many unlabeled rows and not to the labeled ones.

    Uncertainty alone prefers outliers, whose labels teach little about other rows. The utility is therefore
    the square of :class:`CostSensitiveUncertainty`, by default its part about the classifier, times the mean
    reduction of the variance of the unlabeled rows by its label, if labels are a Gaussian process over the
    rows.

    Parameters
    ----------
    cost : str, Cost or callable, default="f1"
        The cost of a prediction; see :class:`refpair.Cost`.
    estimator : multi-label classifier, optional
        The classifier to improve; ``BinaryRelevance("logistic")`` if it is None.
    n_bits : int, default=300
        The length of the code.
    bit_estimator : "logistic", "tree" or classifier, default="logistic"
        Learns the bits, as in :class:`refpair.CSRPEClassifier`.
    part : {"utility", "estimation", "both"}, default="utility"
        Which of the two uncertainties of :class:`CostSensitiveUncertainty` counts.
    n_jobs : int, optional
        Number of threads, as in joblib.
    random_state : int, RandomState or None, default=None
        Seeds the code, and breaks ties.

    Notes
    -----
    The covariance of rows is the mean of exp(−q), exp(−3 q) and exp(−10 q), where q is the squared Euclidean
    distance over the median one: scale the features first, as for the classifier. If fewer than a fifth of
    the values are not 0, as in counts of words, rows are compared by their directions; otherwise a short text
    would be similar to all others. The variance of the noise of an answer is that of a row.

    Examples
    --------
    >>> from refpair.active import RepresentativeUncertainty
    >>> from refpair.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> Y = np.full(digits.Y.shape, np.nan)
    >>> Y[:30] = digits.Y[:30]
    >>> len(RepresentativeUncertainty("f1", random_state=0).query(digits.X, Y, batch_size=5))
    5
    """

    def __init__(
        self,
        cost: Any = "f1",
        *,
        estimator: Any = None,
        n_bits: int = 300,
        bit_estimator: Any = "logistic",
        part: Literal["utility", "estimation", "both"] = "utility",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.cost = cost
        self.estimator = estimator
        self.n_bits = n_bits
        self.bit_estimator = bit_estimator
        self.part = part
        self.n_jobs = n_jobs
        self.random_state = random_state

    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate."""
        uncertainty = super().utilities(pool, rng)
        return uncertainty**2 * variance_removed(
            pool.features, pool.labeled, pool.candidates, rng, self.n_jobs
        )

    def choose_cells(self, cells: Cells, n: int, rng: np.random.Generator) -> Indices:
        """Choose n labels that are worth knowing in many rows."""
        pool = cells.pool
        if not pool.tells_something:
            return spread_cells(cells, n, rng)
        valued = ValuedCells.of(cells, self.estimator, self.cost, n, rng)
        worth = np.sqrt(valued.values) * valued.coverage(pool.candidates, rng)
        return valued.cells.diverse(worth, n, rng)
