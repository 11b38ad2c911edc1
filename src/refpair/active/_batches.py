"""Several rows to ask for at once: the best ones that are unlike each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair.active._distances import squared_distances
from refpair.active._pool import Indices
from refpair.bits.binning import Matrix

__all__ = ["best_rows", "diverse_rows"]

_SHORTLIST = 100  # as many times as are asked for are looked at

Floats = npt.NDArray[np.float64]


def best_rows(utilities: Floats, n: int, rng: np.random.Generator) -> Indices:
    """Return the n rows of greatest utility, the best one first; of those worth the same, any.

    Examples
    --------
    >>> best_rows(np.array([1.0, 3.0, 2.0]), 2, np.random.default_rng(0))
    array([1, 2])
    """
    utilities = np.where(np.isnan(utilities), -np.inf, utilities)  # not looked at
    shuffled = rng.permutation(len(utilities))
    return np.asarray(shuffled[np.argsort(-utilities[shuffled], kind="stable")][:n])


def diverse_rows(
    X: Matrix, utilities: Floats, n: int, rng: np.random.Generator, which: Indices | None = None
) -> Indices:
    """Return n rows of great utility that are unlike each other.

    The best row comes first. Each next one is, of the best 100 n, that of the greatest utility (above the
    least of these) times its distance to the nearest row that is chosen already. So of several rows that are
    the same, only one is chosen as long as there are others.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
    utilities : ndarray of shape (n_rows,)
    n : int
    rng : numpy.random.Generator
        Decides between rows that are worth the same.
    which : ndarray of int, optional
        Which rows of X the utilities are of; all, if it is None.

    Examples
    --------
    >>> X = np.array([[0.0], [0.0], [5.0], [1.0]])
    >>> diverse_rows(X, np.array([1.0, 0.9, 0.8, 0.0]), 2, np.random.default_rng(0))
    array([0, 2])
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
