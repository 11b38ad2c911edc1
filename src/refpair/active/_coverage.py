"""Distances of rows, and how well rows stand for others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.preprocessing import normalize

from refpair._kernels.coverage import products_to_likenesses
from refpair._parallel import chunks_of, one_blas_thread, run_chunks
from refpair.active._pool import Floats, Indices
from refpair.bits.binning import Matrix
from refpair.bits.logistic import products

_LOOKED_AT = 5000  # rows that may be chosen; of more, some at random
_STOOD_FOR = 2000  # rows that they are to stand for; of more, some at random
_ROWS_A_CALL = 500
_NOISE = 1.0  # the variance of an answer; that of a row of which nothing is known is 1, too
_FEW = 0.2  # of all values: if fewer are not 0, rows are compared by their directions


def squared_distances(left: Matrix, right: Matrix) -> Floats:
    """Return the squared Euclidean distances of the rows of one matrix to those of another.

    A missing value (NaN) is as far from any other as 0 is: scale the features first, if they have some.
    """
    left, right = _filled(left), _filled(right)
    distances = -2.0 * products(left, right)
    distances += _squared_lengths(left)[:, None]
    distances += _squared_lengths(right)
    # Rounding leaves a little of what should be nothing: rows that are the same have no distance.
    scale = np.maximum(_squared_lengths(left)[:, None], _squared_lengths(right))
    distances[distances <= 1e-12 * scale] = 0.0
    return distances


def spread_rows(
    X: Matrix, labeled: Indices, candidates: Indices, n: int, rng: np.random.Generator
) -> tuple[Indices, Floats]:
    """Choose rows one after the other such that each row has a chosen or labeled one nearby.

    Each one lowers the mean squared distance of all candidates to the nearest such row as much as possible;
    the first of all is that in the middle. Returned are n indices into `candidates`, and by how much each
    candidate would lower that mean as the first one; NaN if it was not among those that `rng` drew.
    """
    looked_at = rng.permutation(len(candidates))[: max(_LOOKED_AT, n)]
    rows = X[candidates[looked_at]]
    others = X[rng.permutation(candidates)[:_STOOD_FOR]]
    distances = squared_distances(rows, others)
    nearest = None
    if len(labeled):
        parts = [X[labeled[part]] for part in chunks_of(len(labeled), _ROWS_A_CALL)]
        nearest = np.min([squared_distances(others, part).min(axis=1) for part in parts], axis=0)
    worth = np.full(len(candidates), np.nan)
    gains = _gains(distances, nearest)
    worth[looked_at] = gains
    free = np.ones(len(looked_at), bool)
    chosen: list[int] = []
    for _ in range(n):
        if chosen:
            gains = _gains(distances, nearest)
        # Once all that stand for others are chosen, the rest is as good.
        best = int(np.argmax(np.where(free, gains, -np.inf)))
        chosen.append(best)
        free[best] = False
        nearest = distances[best] if nearest is None else np.minimum(nearest, distances[best])
    return looked_at[chosen], worth


def variance_removed(
    X: Matrix, labeled: Indices, candidates: Indices, rng: np.random.Generator, n_jobs: int | None = None
) -> Floats:
    """Return how much surer of all candidates one would be with the label of each of them.

    Labels are thought of as a Gaussian process over the rows: the covariance of rows x and z is how much they
    are alike, k(x, z), and answers have noise of variance λ. Given those of the labeled rows L, it is

        S(x, z) = k(x, z) − k(x, L) (k(L, L) + λ)⁻¹ k(L, z),

    and the answer to x would lower the variance of z by S(x, z)² / (λ + S(x, x)), the mean of which over the
    candidates z is returned: a row that is like many others which no labeled row is like is worth most.

    k is the mean of exp(−d), exp(−3 d) and exp(−10 d), where d is |x − z|² over the median of the squared
    distances of candidates. Rows of many zeros, as of counts of words, are scaled to length 1 first: else
    those that say little would be near to all others.

    If there are more than 2,000 candidates z or labeled rows, `rng` draws that many of them.
    """
    sample = rng.permutation(candidates)[:_STOOD_FOR]
    known_rows = rng.permutation(labeled)[:_STOOD_FOR]
    rows_of, unit = _comparable(X, sample)
    others, known = rows_of(sample), rows_of(known_rows)
    with one_blas_thread():
        root = np.linalg.cholesky(_likenesses(known, known, unit) + _NOISE * np.eye(known.shape[0]))
        known_others = solve_triangular(root, _likenesses(known, others, unit), lower=True)
    removed = np.empty(len(candidates))

    def remove(part: slice) -> None:
        rows = rows_of(candidates[part])
        with one_blas_thread():
            covariances = _likenesses(rows, others, unit)
            known_row = solve_triangular(root, _likenesses(known, rows, unit), lower=True)
            covariances -= known_row.T @ known_others
        variances = 1.0 - np.einsum("ij,ij->j", known_row, known_row)
        squares = np.einsum("ij,ij->i", covariances, covariances)
        removed[part] = squares / ((_NOISE + np.maximum(variances, 0.0)) * len(sample))

    run_chunks(
        remove, chunks_of(len(candidates), _ROWS_A_CALL),
        n_jobs=n_jobs, title="covering", in_place=True,
    )  # fmt: skip
    return removed


def variance_removed_by_label(
    X: Matrix,
    labeled: Indices,
    known: npt.NDArray[np.bool_],
    candidates: Indices,
    wanted: npt.NDArray[np.bool_],
    others: Indices,
    rng: np.random.Generator,
) -> Floats:
    """Return how much surer of a label of other rows one would be with that of each candidate.

    As :func:`variance_removed`, but each label has labeled rows of its own, those where it is `known`, and
    candidates where it is `wanted`; of the others, 500 are drawn.
    """
    sample = rng.permutation(others)[:_ROWS_A_CALL]
    drawn = rng.permutation(len(labeled))[:_STOOD_FOR]
    rows_of, unit = _comparable(X, sample)
    represented, rows, sources = rows_of(sample), rows_of(candidates), rows_of(labeled[drawn])
    rows_others, rows_sources = (_likenesses(rows, some, unit) for some in (represented, sources))
    among, sources_others = (_likenesses(sources, some, unit) for some in (sources, represented))
    removed = np.zeros(wanted.shape)
    with one_blas_thread():
        for label in np.flatnonzero(wanted.any(axis=0)):
            own, asked = np.flatnonzero(known[drawn, label]), np.flatnonzero(wanted[:, label])
            root = np.linalg.cholesky(among[np.ix_(own, own)] + _NOISE * np.eye(len(own)))
            known_others = solve_triangular(root, sources_others[own], lower=True)
            known_row = solve_triangular(root, rows_sources[np.ix_(asked, own)].T, lower=True)
            covariances = rows_others[asked] - known_row.T @ known_others
            variances = 1.0 - np.einsum("ij,ij->j", known_row, known_row)
            squares = np.einsum("ij,ij->i", covariances, covariances)
            removed[asked, label] = squares / ((_NOISE + np.maximum(variances, 0.0)) * len(sample))
    return removed


def _comparable(X: Matrix, sample: Indices) -> tuple[Callable[[Indices], Matrix], float]:
    """Return what gives rows as they are compared, and their usual squared distance, by a sample of them."""
    drawn = _filled(X[sample])
    is_sparse = sp.issparse(drawn)
    by_direction = np.count_nonzero(drawn.data if is_sparse else drawn) < _FEW * np.prod(drawn.shape)
    # Far from 0, differences of squares would be lost in rounding.
    middle = 0.0 if by_direction or is_sparse else drawn.mean(axis=0)

    def rows_of(which: Indices) -> Matrix:
        rows = _filled(X[which])
        if by_direction:
            return normalize(rows)
        return rows if is_sparse else rows - middle

    some = rows_of(sample[:_ROWS_A_CALL])
    return rows_of, usual_distance(some)


def usual_distance(X: Matrix) -> float:
    """Return the median of the squared distances of rows that are not the same; of many, of the first."""
    among = squared_distances(X[:_ROWS_A_CALL], X[:_ROWS_A_CALL])
    spread = among[among > 0.0]
    return float(np.median(spread)) if len(spread) else 1.0


def _likenesses(left: Matrix, right: Matrix, unit: float) -> Floats:
    inner = np.ascontiguousarray(products(left, right))
    products_to_likenesses(inner, _squared_lengths(left), _squared_lengths(right), unit)
    return inner


def _gains(distances: Floats, nearest: Floats | None) -> Floats:
    """Return by how much each row would lower the mean squared distance of the others to the nearest one.

    Without one so far, by how much more than the worst row would.
    """
    if nearest is None:
        gains = -distances.mean(axis=1)
        return np.asarray(gains - gains.min())
    gains = np.empty(len(distances))
    for part in chunks_of(len(distances), _ROWS_A_CALL):
        gains[part] = np.maximum(nearest - distances[part], 0.0).mean(axis=1)
    return gains


def _filled(X: Matrix) -> Matrix:
    """Return rows with 0 for what is missing."""
    if sp.issparse(X):
        if np.isnan(X.data).any():
            X = X.copy()
            X.data = np.nan_to_num(X.data)
        return X
    return np.nan_to_num(X) if np.isnan(X).any() else X


def _squared_lengths(X: Matrix) -> Floats:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
