"""Random rows: the baseline of every strategy."""

from __future__ import annotations

import numpy as np

from refpair.active._cells import Cells
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import QueryStrategy, best_rows


class RandomQuery(QueryStrategy):
    """Ask for random rows.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        With an integer, the same candidates give the same rows.

    Examples
    --------
    >>> Y = np.array([[0, 1], [np.nan, np.nan], [1, 0]])
    >>> RandomQuery().query(np.eye(3), Y)
    array([1])
    """

    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Choose n rows."""
        utilities = rng.random(len(pool.candidates))
        return best_rows(utilities, n, rng), utilities

    def choose_cells(self, cells: Cells, n: int, rng: np.random.Generator) -> Indices:
        """Choose n labels."""
        return cells.best(rng.random(cells.unknown.shape), n, rng)
