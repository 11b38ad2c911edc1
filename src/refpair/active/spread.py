"""Rows that represent all others, whatever their labels."""

from __future__ import annotations

import numpy as np

from refpair.active._coverage import spread_rows
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import QueryStrategy


class SpreadQuery(QueryStrategy):
    """Ask for rows that represent all others; labels are not used.

    Each chosen row minimizes the mean squared distance of the unlabeled rows to the nearest labeled or chosen
    one. It needs no labels; all other strategies start in this way.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Of more than 5,000 rows, it draws 5,000 candidates, and 2,000 rows to represent.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> SpreadQuery(random_state=0).query(X, np.full((5, 3), np.nan), batch_size=2)
    array([2, 4])
    """

    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Choose n rows."""
        return spread_rows(pool.features, pool.labeled, pool.candidates, n, rng)
