"""Rows that stand for all others, whatever their labels."""

from __future__ import annotations

import numpy as np

from refpair.active._coverage import spread_rows
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import QueryStrategy


class SpreadQuery(QueryStrategy):
    """Ask for rows that stand for all others, whatever labels are known.

    Each row that is chosen lowers the mean squared distance of the rows without labels to the nearest one
    with labels as much as possible: a typical row first, then one from where the most rows are far from it,
    and so on. It needs no labels, so it is where to begin; all other strategies begin in this way, too.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Of more than 5,000 rows, that many at random may be chosen, and they are to stand for 2,000 at random.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> SpreadQuery(random_state=0).query(X, np.full((5, 3), np.nan), batch_size=2)
    array([2, 4])
    """

    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Choose n rows."""
        return spread_rows(pool.features, pool.labeled, pool.candidates, n, rng)
