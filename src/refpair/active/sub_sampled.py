"""Any strategy, on a sample of a large pool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refpair.active._cells import Cells
from refpair.active._pool import Floats, Indices, Pool
from refpair.active._strategy import QueryStrategy
from refpair.classifiers._checks import check_count


class SubSampled(QueryStrategy):
    """Apply another strategy to a random sample of the candidates, drawn for each query.

    The time of a strategy grows with the number of candidates.

    Parameters
    ----------
    strategy : QueryStrategy
    n_candidates : int, default=10000
        Size of the sample; at least the batch size is drawn.
    random_state : int, RandomState or None, default=None
        Seeds the sample. With an integer, the same arguments give the same rows; the sample changes once more
        rows are labeled.

    Examples
    --------
    >>> from refpair.active import RandomQuery, SubSampled
    >>> X, Y = np.zeros((1000, 2)), np.full((1000, 3), np.nan)
    >>> _, utilities = SubSampled(RandomQuery(), n_candidates=100).query(X, Y, return_utilities=True)
    >>> np.isfinite(utilities).sum()
    np.int64(100)
    """

    def __init__(self, strategy: Any, *, n_candidates: int = 10_000, random_state: Any = None) -> None:
        self.strategy = strategy
        self.n_candidates = n_candidates
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_candidates", self.n_candidates)
        if not isinstance(self.strategy, QueryStrategy):
            raise ValueError(
                f"strategy must be a query strategy such as RandomQuery(), not {self.strategy!r}"
            )
        self.strategy._check_parameters()

    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Choose n rows."""
        n_looked_at = min(max(n, self.n_candidates), len(pool.candidates))
        (drawing,) = rng.spawn(1)  # the strategy draws as it would without this one: the same code each round
        some = np.sort(drawing.choice(len(pool.candidates), n_looked_at, replace=False))
        looked_at = replace(pool, candidates=pool.candidates[some]).in_memory()
        chosen, worth = self.strategy.choose(looked_at, n, rng)
        utilities = np.full(len(pool.candidates), np.nan)
        utilities[some] = worth
        return some[chosen], utilities

    def choose_cells(self, cells: Cells, n: int, rng: np.random.Generator) -> Indices:
        """Choose n labels of a sample of the rows."""
        (drawing,) = rng.spawn(1)
        order = drawing.permutation(len(cells.pool.candidates))
        enough = int(np.searchsorted(np.cumsum(cells.unknown.sum(axis=1)[order]), n)) + 1
        some = np.sort(order[: max(enough, self.n_candidates)])
        chosen: Indices = self.strategy.choose_cells(cells.of_rows(some), n, rng)
        return chosen
