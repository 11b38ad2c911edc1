"""Any row: what all other strategies have to beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import QueryStrategy, best_rows

__all__ = ["RandomQuery"]


class RandomQuery(QueryStrategy):
    """Ask for any rows.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        With an integer, the same rows are asked for whenever the same rows may be.

    Examples
    --------
    >>> Y = np.array([[0, 1], [np.nan, np.nan], [1, 0]])
    >>> RandomQuery().query(np.eye(3), Y)
    array([1])
    """

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def _choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        utilities = rng.random(len(pool.candidates))
        return best_rows(utilities, n, rng), utilities
