"""Paths through a chain: the one that its links say, the most probable ones, and draws.

Beam search keeps for each row the most probable beginnings of label vectors. What it has to drop bounds what
it may have missed: if that is no more probable than the label vector found, no other is. So wider and wider
beams find the mode for certain, as uniform-cost search does, but with few questions about many paths each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from refpair._fitting import warn_caller
from refpair._kernels.walk import round_draws
from refpair._parallel import chunks_of
from refpair._saved import Savable, require, work_of
from refpair.bits.binning import Matrix
from refpair.classifiers._base_learners import Bytes, Floats, Rows
from refpair.classifiers._links import Links, check_order
from refpair.posterior import LabelDistribution
from refpair.posterior.distinct_labels import distinct_labels

Part = TypeVar("Part", bound=Sized)

_MOST_CELLS = 1 << 26  # of the label vectors that are looked at for a row of a model from a file

_ROWS = 1024  # in a block
_PATHS = 1 << 18  # in a beam of all rows of a block
_DRAWN = 1 << 20  # draws for the rows of a block
_FIRST_WIDTH, _WIDER = 16, 8
WIDEST = _FIRST_WIDTH * _WIDER**4  # enough for all vectors of 16 labels, and for any of chance 1/65536


def follow(links: Links, X: Matrix) -> Bytes:
    """Return for each row the labels as the links say them one after the other, one column a link."""
    paths = np.zeros((X.shape[0], len(links)), np.uint8)
    for rows in chunks_of(X.shape[0], _ROWS):
        prepared = links.prepare(X[rows])
        mine = paths[rows]
        row = np.arange(len(mine))
        for k in range(len(links)):
            mine[:, k] = links.labels(k, prepared, row, mine[:, :k])
    return paths


def chances_along(links: Links, X: Matrix, paths: Bytes) -> Floats:
    """Return the probability that each link's label is there, after the labels that a path has before it."""
    chances = np.empty(paths.shape)
    for rows in chunks_of(X.shape[0], _ROWS):
        prepared = links.prepare(X[rows])
        row = np.arange(rows.stop - rows.start)
        for k in range(len(links)):
            chances[rows, k] = links.chance(k, prepared, row, paths[rows, :k])
    return chances


def most_probable(links: Links, X: Matrix, width: int | None = None) -> Bytes:
    """Return for each row the most probable of all paths, or of those that a beam of some width meets.

    A beam keeps so many beginnings of paths after each link: one of 1 takes the likelier label each time.
    Without a width it warns if for some row more than 65,536 beginnings are more probable than the best path.
    """
    paths = np.zeros((X.shape[0], len(links)), np.uint8)
    n_open = 0
    for rows in chunks_of(X.shape[0], _ROWS):
        prepared = links.prepare(X[rows])
        n = rows.stop - rows.start
        now, widest = (_FIRST_WIDTH, WIDEST) if width is None else (width, width)
        found = _beams(links, prepared, np.arange(n), now, np.full(n, -np.inf))
        while (is_open := found.missed > found.chance).any() and now < widest:
            now *= _WIDER
            row = np.flatnonzero(is_open)
            again = _beams(links, prepared, row, now, found.chance[row])
            better = again.chance > found.chance[row]
            found.paths[row[better]] = again.paths[better]
            found.chance[row[better]] = again.chance[better]
            found.missed[row] = again.missed
        paths[rows] = found.paths
        n_open += int(is_open.sum())
    if n_open and width is None:
        warn_caller(
            f"{n_open} of {X.shape[0]} rows have so many improbable label vectors that the most probable one "
            "is not proven to be found",
            ConvergenceWarning,
        )
    return paths


class _Found(NamedTuple):
    """The best path of each row, the logarithm of its chance, and the largest of those that were dropped."""

    paths: Bytes
    chance: Floats
    missed: Floats


def _beams(links: Links, prepared: Any, row: Rows, width: int, bound: Floats) -> _Found:
    """Search beams for some rows, by as many of them at a time as there is room for."""
    step = max(1, _PATHS // width)
    parts = [
        _beam(links, prepared, row[first : first + step], width, bound[first : first + step])
        for first in range(0, len(row), step)
    ]
    return _Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _beam(links: Links, prepared: Any, row: Rows, width: int, bound: Floats) -> _Found:
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


def _ranked(of: Rows, chance: Floats) -> tuple[Rows, Rows]:
    """Sort what rows have by falling chance, row after row; return also the place of each within its row."""
    ranked = np.lexsort((-chance, of))
    first = np.searchsorted(of, of)  # ascending, so that of[ranked] is the same
    return ranked, np.arange(len(of)) - first


def check_n_paths(n_paths: int, n_links: int) -> None:
    """Raise a ValueError if so many paths of a row would not fit into the memory."""
    fits = n_paths > 0 and n_paths * n_links <= _MOST_CELLS
    require(fits, f"{n_paths} label vectors of {n_links} labels are too many for a model in a file")


@dataclass(frozen=True, eq=False)
class ChainSamples(Savable):
    """Draws from a fitted chain as a distribution: P(y | x) = Π P(y_k | x, y_1 … y_{k−1}).

    If there are no more label vectors than `n_samples`, nothing is drawn: the distribution is exact. Rows
    share the random numbers, one for each link: what is drawn for a row does not depend on the others.
    """

    links: Links
    order: npt.NDArray[np.integer]  # which label each link is for
    n_samples: int
    uniforms: Floats
    exact: bool = False  # there are so few label vectors since some labels are constant

    def _check_saved(self) -> None:
        check_n_paths(self.n_samples, len(self.links))
        inside = (self.uniforms >= 0.0) & (self.uniforms < 1.0)
        fits = self.uniforms.shape == (len(self.links),) and inside.all()
        require(fits, "the draws of the chain are broken")
        check_order(self.order, len(self.links))

    def _work(self, *, exact: bool) -> int:
        return self.n_samples * work_of(self.links, exact=exact)

    def distributions(self, X: Any) -> Iterator[LabelDistribution]:
        """Yield the distributions over label vectors of blocks of rows."""
        for labels, row, weight in self.draw(X):
            found = distinct_labels(labels)
            start = np.concatenate([[0], np.cumsum(np.bincount(row))]).astype(np.int64)
            yield LabelDistribution(found.vectors, start, found.of_row, weight)

    def draw(self, X: Any) -> Iterator[tuple[Bytes, Rows, Floats]]:
        """Yield for blocks of rows: label vectors, the row in the block of each, and its probability.

        They are in the order of the rows, and a row has no vector twice.
        """
        X = check_array(X, dtype=[np.float64, np.float32], accept_sparse="csr", ensure_all_finite=False)
        if sp.issparse(X):
            X = sp.csr_array(X)
        step = max(1, min(_ROWS, _DRAWN // min(self.n_samples, 2 ** len(self.links))))
        for first in range(0, X.shape[0], step):
            yield self._draw(X[first : first + step])

    def _draw(self, X: Any) -> tuple[Bytes, Rows, Floats]:
        n_labels = len(self.links)
        prepared = self.links.prepare(X)
        exact = self.exact or 2**n_labels <= self.n_samples
        # The draws of a row that agree so far are one path with a weight: what comes next is asked only once.
        row = np.arange(X.shape[0])
        paths = np.zeros((X.shape[0], n_labels), np.uint8)
        weight = np.full(X.shape[0], 1.0 if exact else self.n_samples)
        for k in range(n_labels):
            ones = weight * self.links.chance(k, prepared, row, paths[:, :k])
            if not exact:
                ones = np.minimum(round_draws(ones, row, self.uniforms[k]), weight)
            branches = np.column_stack([weight - ones, ones]).ravel()
            taken = np.flatnonzero(branches)
            row, paths, weight = row[taken // 2], paths[taken // 2], branches[taken]
            paths[:, k] = taken % 2
        labels = np.empty_like(paths)
        labels[:, self.order] = paths
        return labels, row, weight / np.bincount(row, weights=weight)[row]


def with_rows(parts: Iterable[Part]) -> Iterator[tuple[slice, Part]]:
    """Yield distributions of blocks of rows, each with the rows that it is of."""
    first = 0
    for part in parts:
        yield slice(first, first + len(part)), part
        first += len(part)
