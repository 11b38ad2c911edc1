"""Paths through a chain: the one that its links say, and the most probable ones.

Beam search goes down all rows' chains together and keeps for each row the most probable beginnings of label
vectors. What it has to drop bounds what it may have missed: if that is no more probable than the label vector
found, no other is more probable. So wider and wider beams find the mode for certain, as uniform-cost search
(with ε = 0) does, but with a few questions to the links about many paths instead of many about one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from refpair.bits.binning import Matrix
from refpair.classifiers._links import AnsweringLinks, Links

__all__ = ["beam_search", "chances_along", "exact_search", "follow"]

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]

_ROWS = 1024  # in a block
_PATHS = 1 << 18  # in a beam of all rows of a block
_FIRST_WIDTH, _WIDER = 16, 8
_WIDEST = _FIRST_WIDTH * _WIDER**4  # enough for all vectors of 16 labels, and for any of chance 1/65536


def follow(links: AnsweringLinks, X: Matrix) -> Bytes:
    """Return for each row the labels as the links say them one after the other, one column a link."""
    paths = np.zeros((X.shape[0], len(links)), np.uint8)
    for rows in _blocks(X):
        prepared = links.prepare(X[rows])
        mine = paths[rows]
        row = np.arange(len(mine))
        for k in range(len(links)):
            mine[:, k] = links.labels(k, prepared, row, mine[:, :k])
    return paths


def chances_along(links: Links, X: Matrix, paths: Bytes) -> Floats:
    """Return the probability that each link's label is there, after the labels that a path has before it."""
    chances = np.empty(paths.shape)
    for rows in _blocks(X):
        prepared = links.prepare(X[rows])
        row = np.arange(rows.stop - rows.start)
        for k in range(len(links)):
            chances[rows, k] = links.chance(k, prepared, row, paths[rows, :k])
    return chances


def beam_search(links: Links, X: Matrix, width: int) -> Bytes:
    """Return for each row the most probable path among those that a beam search meets.

    Parameters
    ----------
    links : Links
    X : ndarray or CSR matrix of shape (n, n_features)
    width : int
        How many beginnings of paths are kept after each link. A beam of 1 takes the likelier label each time.

    Returns
    -------
    paths : ndarray of uint8, shape (n, n_links)
    """
    paths = np.zeros((X.shape[0], len(links)), np.uint8)
    for rows in _blocks(X):
        prepared = links.prepare(X[rows])
        n = rows.stop - rows.start
        paths[rows] = _beams(links, prepared, np.arange(n), width, np.full(n, -np.inf)).paths
    return paths


def exact_search(links: Links, X: Matrix) -> Bytes:
    """Return for each row the most probable of all paths.

    Returns
    -------
    paths : ndarray of uint8, shape (n, n_links)

    Warns
    -----
    ConvergenceWarning
        If for some row more than 65,536 beginnings are more probable than the best path found.
    """
    paths = np.zeros((X.shape[0], len(links)), np.uint8)
    n_open = 0
    for rows in _blocks(X):
        prepared = links.prepare(X[rows])
        n = rows.stop - rows.start
        width = _FIRST_WIDTH
        found = _beams(links, prepared, np.arange(n), width, np.full(n, -np.inf))
        while (is_open := found.missed > found.chance).any() and width < _WIDEST:
            width *= _WIDER
            row = np.flatnonzero(is_open)
            again = _beams(links, prepared, row, width, found.chance[row])
            better = again.chance > found.chance[row]
            found.paths[row[better]] = again.paths[better]
            found.chance[row[better]] = again.chance[better]
            found.missed[row] = again.missed
        paths[rows] = found.paths
        n_open += int(is_open.sum())
    if n_open:
        warnings.warn(
            f"{n_open} of {X.shape[0]} rows have so many improbable label vectors that the most probable one "
            "is not proven to be found",
            ConvergenceWarning,
            stacklevel=2,
        )
    return paths


class _Found(NamedTuple):
    """The best path of each row, the logarithm of its chance, and the largest of those that were dropped."""

    paths: Bytes
    chance: Floats
    missed: Floats


def _beams(links: Links, prepared: Any, row: Longs, width: int, bound: Floats) -> _Found:
    """Search beams for some rows, by as many of them at a time as there is room for."""
    step = max(1, _PATHS // width)
    parts = [
        _beam(links, prepared, row[first : first + step], width, bound[first : first + step])
        for first in range(0, len(row), step)
    ]
    return _Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _beam(links: Links, prepared: Any, row: Longs, width: int, bound: Floats) -> _Found:
    """Search a beam for each of some rows.

    Paths whose chance is below the bound of their row are not looked for, and not missed. A row none of whose
    paths are left has the chance −inf.
    """
    n, n_links = len(row), len(links)
    of = np.arange(n)  # the row of each beginning
    begun = np.zeros((n, n_links), np.uint8)
    chance = np.zeros(n)  # as logarithms: products of hundreds of chances may be too small to be told from 0
    missed = np.full(n, -np.inf)
    for k in range(n_links):
        one = links.chance(k, prepared, row[of], begun[:, :k])
        with np.errstate(divide="ignore"):
            both = np.column_stack([np.log1p(-one), np.log(one)])
        longer = (chance[:, None] + both).ravel()
        taken = np.flatnonzero((longer > -np.inf) & (longer >= np.repeat(bound[of], 2)))
        ranked, place = _ranked(of[taken // 2], longer[taken])
        best_dropped = ranked[place == width]
        dropped_of = of[taken[best_dropped] // 2]
        missed[dropped_of] = np.maximum(missed[dropped_of], longer[taken[best_dropped]])
        taken = taken[np.sort(ranked[place < width])]  # rows stay in order, and so do the paths of a row
        of, begun, chance = of[taken // 2], begun[taken // 2], longer[taken]
        begun[:, k] = taken % 2
    ranked, place = _ranked(of, chance)
    best = ranked[place == 0]
    found = _Found(np.zeros((n, n_links), np.uint8), np.full(n, -np.inf), missed)
    found.paths[of[best]] = begun[best]
    found.chance[of[best]] = chance[best]
    return found


def _ranked(of: Longs, chance: Floats) -> tuple[Longs, Longs]:
    """Sort what rows have by falling chance, row after row; return also the place of each within its row."""
    ranked = np.lexsort((-chance, of))
    first = np.searchsorted(of, of)  # ascending, so that of[ranked] is the same
    return ranked, np.arange(len(of)) - first


def _blocks(X: Matrix) -> Iterator[slice]:
    for first in range(0, X.shape[0], _ROWS):
        yield slice(first, min(first + _ROWS, X.shape[0]))
