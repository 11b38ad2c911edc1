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
from refpair.active._cells import Cells
from refpair.active._coverage import spread_rows, squared_distances
from refpair.active._pool import Floats, Indices, Pool, read_pool
from refpair.bits.binning import Matrix
from refpair.classifiers._checks import check_count, check_running, is_integer

_SHORTLIST = 100  # as many times as are asked for are looked at


class QueryStrategy(DocLinked, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of all strategies: subclasses define :meth:`choose`, users call :meth:`query`.

    A strategy depends on its parameters and on what :meth:`query` is given. It may start the regressions of a
    query where those of the last one ended; that changes results within their tolerance only.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seeds the generator that :meth:`choose` is given.
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
            All rows, with labels and without. A Dask array or DataFrame is read block by block.
        Y : array or DataFrame of shape (n, n_labels)
            The labels, 0 or 1. A row of NaN is unlabeled; a row of zeros has none of the labels. Where a
            labeled row has NaN, that label is unknown.
        batch_size : int, default=1
            Number of rows; fewer if there are no more.
        candidates : array of int, or of bool, optional
            Which rows may be asked for, of those not all of whose labels are known; by default all without
            labels.
        return_utilities : bool, default=False
            Whether to return the utility of each row, too.

        Returns
        -------
        rows : ndarray of int, shape (batch_size,)
            Indices into X.
        utilities : ndarray of shape (n,)
            Greater is better; NaN for rows that are no candidates or were not scored.
        """
        check_count("batch_size", batch_size)
        self._check_parameters()
        pool = read_pool(X, Y, candidates)
        rng = np.random.default_rng(_draw_seeds(self.random_state))
        chosen, worth = self.choose(pool, min(batch_size, len(pool.candidates)), rng)
        rows = pool.candidates[chosen]
        if not return_utilities:
            return rows
        utilities = np.full(_num_samples(pool.X), np.nan)
        utilities[pool.candidates] = worth
        return rows, utilities

    def query_cells(
        self, X: Any, Y: Any, batch_size: int = 1, *, label: Any = None, candidates: Any = None
    ) -> Indices:
        """Return the single labels of single rows to ask for next, the best one first.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            All rows, as for :meth:`query`.
        Y : array or DataFrame of shape (n, n_labels)
            The labels, 0 or 1; NaN is asked for.
        batch_size : int, default=1
            How many labels; all that there are, if they are fewer.
        label : name or int, optional
            Asks for this label only: its column in Y, or the number of that.
        candidates : array of int, or of bool, optional
            Which rows may be asked for; by default all of which a label is unknown.

        Returns
        -------
        cells : ndarray of int, shape (batch_size, 2)
            The row and the label of each.

        Examples
        --------
        >>> from refpair.active import RandomQuery
        >>> Y = np.array([[0, 1], [1, np.nan], [1, 0]])
        >>> RandomQuery().query_cells(np.eye(3), Y)
        array([[1, 1]])
        """
        check_count("batch_size", batch_size)
        self._check_parameters()
        pool = read_pool(X, Y, candidates, cells=True)
        cells = Cells(pool, _columns(label, pool.label_names))
        has_some = np.flatnonzero(cells.unknown.any(axis=1))
        if not len(has_some):
            where = "candidate" if label is None else f"candidate, as to the label {label!r},"
            raise ValueError(f"there is nothing to ask: no {where} has NaN in Y")
        cells = cells.of_rows(has_some)
        rng = np.random.default_rng(_draw_seeds(self.random_state))
        return self.choose_cells(cells, min(batch_size, int(cells.unknown.sum())), rng)

    def choose_cells(self, cells: Cells, n: int, rng: np.random.Generator) -> Indices:
        """Choose single labels of single rows, for :meth:`query_cells`.

        Parameters
        ----------
        cells : Cells
            Its ``pool``, and which labels of the candidates may be asked for: ``unknown``.
        n : int
            How many to choose; at most as many as there are.
        rng : numpy Generator
            For everything random.

        Returns
        -------
        chosen : ndarray of int, shape (n, 2)
            Rows of X and columns of Y, the best first.
        """
        raise ValueError(
            f"{type(self).__name__} asks for whole rows only: query_cells needs RepresentativeUncertainty, "
            "BayesRisk or RandomQuery"
        )

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        check_running(n_jobs=getattr(self, "n_jobs", None), random_state=self.random_state, verbose=0)

    @abstractmethod
    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Choose rows; the one method that a subclass has to define.

        Parameters
        ----------
        pool : Pool
            All rows, the known labels, and which rows are candidates.
        n : int
            How many rows to choose; at most as many as there are candidates.
        rng : numpy Generator
            For everything random.

        Returns
        -------
        chosen : ndarray of int, shape (n,)
            Positions in ``pool.candidates``, the best first.
        utilities : ndarray of shape (n_candidates,)
            The utility of each candidate; greater is better.
        """


class LearningStrategy(QueryStrategy):
    """Base class of strategies that learn from the known labels: subclasses define :meth:`utilities`.

    The rows of a batch differ from each other. As long as all labeled rows have the same labels, rows are
    chosen as by :class:`refpair.active.SpreadQuery`.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seeds the generator that :meth:`utilities` is given.

    Examples
    --------
    Ask for the row whose nearest labeled row is farthest away:

    >>> import numpy as np
    >>> from sklearn.metrics import pairwise_distances
    >>> from refpair.active import LearningStrategy
    >>> class Farthest(LearningStrategy):
    ...     def utilities(self, pool, rng):
    ...         known = pool.features[pool.labeled]
    ...         return pairwise_distances(pool.features[pool.candidates], known).min(axis=1)
    >>> X, Y = np.array([[0.0], [1.0], [3.0], [8.0]]), np.full((4, 2), np.nan)
    >>> Y[0], Y[1] = [0, 1], [1, 1]
    >>> Farthest().query(X, Y)
    array([3])
    """

    def choose(self, pool: Pool, n: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        if not pool.tells_something:
            return spread_rows(pool.features, pool.labeled, pool.candidates, n, rng)
        utilities = self.utilities(pool, rng)
        return diverse_rows(pool.features, utilities, n, rng, pool.candidates), utilities

    @abstractmethod
    def utilities(self, pool: Pool, rng: np.random.Generator) -> Floats:
        """Return the utility of each candidate, greater is better; the one method to define.

        Parameters
        ----------
        pool : Pool
            All rows, the known labels, and which rows are candidates.
        rng : numpy Generator
            For everything random.

        Returns
        -------
        utilities : ndarray of shape (n_candidates,)
            In the order of ``pool.candidates``.
        """


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


def spread_cells(cells: Cells, n: int, rng: np.random.Generator) -> Indices:
    """Return the labels of rows that represent all others, all labels of one row after the other."""
    pool = cells.pool
    asked = np.flatnonzero(cells.unknown.any(axis=1))
    labeled = np.setdiff1d(pool.labeled, pool.candidates)
    rows, _ = spread_rows(pool.features, labeled, pool.candidates, min(n, len(asked)), rng)
    row, column = np.nonzero(cells.unknown[rows])
    return np.column_stack([pool.candidates[rows[row]], column])[:n]


def _columns(label: Any, names: list[Any]) -> Indices:
    """Return the columns to ask for: all, or that of one label."""
    if label is None:
        return np.arange(len(names))
    if label in names:
        return np.array([names.index(label)])
    if is_integer(label) and 0 <= label < len(names):
        return np.array([int(label)])
    raise ValueError(f"label must be one of {names} or a column number up to {len(names) - 1}, not {label!r}")


def _draw_seeds(random_state: Any) -> tuple[int, ...]:
    """Return what the generator of a query is made of."""
    if is_integer(random_state):
        return _seeds_of(int(random_state))
    return tuple(check_random_state(random_state).randint(2**31, size=4).tolist())


@lru_cache(maxsize=64)  # a loop asks with the same number each time
def _seeds_of(number: int) -> tuple[int, ...]:
    return tuple(np.random.RandomState(number).randint(2**31, size=4).tolist())
