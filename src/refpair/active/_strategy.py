"""What all query strategies have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, Literal, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from refpair._doc_link import DocLinked
from refpair.active._coverage import spread_rows, squared_distances
from refpair.active._pool import Floats, Indices, Pool, read_pool
from refpair.bits.binning import Matrix
from refpair.classifiers._base import check_count, check_running, is_integer

_SHORTLIST = 100  # as many times as are asked for are looked at


class QueryStrategy(DocLinked, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Chooses the rows that a person should label next.

    All that a strategy goes by is its parameters and what is given to :meth:`query`. What it may keep of the
    last query is only where to begin: answers may differ within the tolerance of what it learns.
    """

    _doc_page, _doc_package = "active", "refpair.active"

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    @overload
    def query(
        self,
        X: Any,
        Y: Any,
        batch_size: int = ...,
        candidates: Any = ...,
        return_utilities: Literal[False] = ...,
    ) -> Indices: ...

    @overload
    def query(
        self, X: Any, Y: Any, batch_size: int = ..., candidates: Any = ..., *, return_utilities: Literal[True]
    ) -> tuple[Indices, Floats]: ...

    def query(
        self, X: Any, Y: Any, batch_size: int = 1, candidates: Any = None, return_utilities: bool = False
    ) -> Indices | tuple[Indices, Floats]:
        """Return the rows to label next, the best one first.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            All rows, with labels and without. Those of a Dask array or DataFrame are looked at block by
            block.
        Y : array or DataFrame of shape (n, n_labels)
            The labels, 0 or 1; a row of NaN has none yet. A row of zeros has been answered: none of the
            labels.
        batch_size : int, default=1
            How many rows; all that there are, if they are fewer.
        candidates : array of int, or of bool, optional
            Which rows may be asked for; by default all without labels.
        return_utilities : bool, default=False
            Whether to return also what each row is worth.

        Returns
        -------
        rows : ndarray of int, shape (batch_size,)
            Indices into X.
        utilities : ndarray of shape (n,)
            If asked for: the greater, the better; NaN for rows that may not be asked for or were not looked
            at.
        """
        check_count("batch_size", batch_size)
        self._check_parameters()
        pool = read_pool(X, Y, candidates)
        rng = np.random.default_rng(_draw_seeds(self.random_state))
        chosen, worth = self._choose(pool, min(batch_size, len(pool.candidates)), rng)
        rows = pool.candidates[chosen]
        if not return_utilities:
            return rows
        utilities = np.full(_num_samples(pool.X), np.nan)
        utilities[pool.candidates] = worth
        return rows, utilities

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        check_running(n_jobs=getattr(self, "n_jobs", None), random_state=self.random_state, verbose=0)

    @abstractmethod
    def _choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Return n of the candidates, and what each candidate is worth."""


class LearningStrategy(QueryStrategy):
    """A strategy that goes by what the labels so far tell.

    Of several rows, later ones are unlike those before: two rows that are much the same are hardly worth two
    answers. As long as no two rows with different labels are known, there is nothing to go by, and rows are
    asked for as by :class:`SpreadQuery`.
    """

    def _choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        if not pool.tells_something:
            return spread_rows(pool.features, pool.labelled, pool.candidates, n, rng)
        utilities = self._utilities(pool, rng)
        return diverse_rows(pool.features, utilities, n, rng, pool.candidates), utilities

    @abstractmethod
    def _utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return what each candidate is worth."""


def best_rows(utilities: Floats, n: int, rng: np.random.Generator) -> Indices:
    """Return the n rows of greatest utility, the best one first; of those worth the same, any."""
    utilities = np.where(np.isnan(utilities), -np.inf, utilities)  # not looked at
    shuffled = rng.permutation(len(utilities))
    return np.asarray(shuffled[np.argsort(-utilities[shuffled], kind="stable")][:n])


def diverse_rows(
    X: Matrix, utilities: Floats, n: int, rng: np.random.Generator, which: Indices | None = None
) -> Indices:
    """Return n rows of great utility that are unlike each other.

    The best row comes first. Each next one is, of the best 100 n, that of the greatest utility (above the
    least of these) times its distance to the nearest row that is chosen already. So of several rows that are
    the same, only one is chosen as long as there are others. `which` says which rows of X the utilities are
    of; all, if it is None.
    """
    ranked = best_rows(utilities, min(_SHORTLIST * n, len(utilities)), rng)
    if n == 1 or len(ranked) <= n:
        return ranked[:n]
    rows, worth = X[ranked if which is None else which[ranked]], utilities[ranked]
    worth = worth - worth[-1] + np.finfo(float).eps * max(1.0, abs(worth[0]))
    chosen = [0]
    nearest = squared_distances(rows, rows[:1])[:, 0]
    free = np.ones(len(ranked), bool)
    free[0] = False
    for _ in range(n - 1):
        score = np.where(free, worth * np.sqrt(nearest), -1.0)
        next_one = int(np.argmax(score))  # the first, and so the better, of several
        chosen.append(next_one)
        free[next_one] = False
        nearest = np.minimum(nearest, squared_distances(rows, rows[next_one : next_one + 1])[:, 0])
    return np.asarray(ranked[chosen])


def _draw_seeds(random_state: Any) -> tuple[int, ...]:
    """Return what the generator of a query is made of."""
    if is_integer(random_state):
        return _seeds_of(int(random_state))
    return tuple(check_random_state(random_state).randint(2**31, size=4).tolist())


@lru_cache(maxsize=64)  # a loop asks with the same number each time
def _seeds_of(number: int) -> tuple[int, ...]:
    return tuple(np.random.RandomState(number).randint(2**31, size=4).tolist())
