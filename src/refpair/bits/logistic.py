"""The logistic bank: a weighted logistic regression for each of thousands of bits, all on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite

from refpair._fitting import warn_caller
from refpair._kernels.lanes import Csr, SparseRows, minimise_sparse_losses
from refpair._kernels.newton import minimise_logistic_losses
from refpair._kernels.rng import draw_rows
from refpair._parallel import chunks_of, one_blas_thread, run_chunks
from refpair._saved import check_weights, require
from refpair.bits.binning import Matrix
from refpair.bits.problem import ALL, Bags, BitLearner, BitProblems, resolve_share

_BITS_A_CALL = 256
_SPARSE_BITS_A_CALL = 512  # they need less memory, and the last ones leave lanes idle
_ROWS_A_CALL = 512
_MOST_AXES = 1500  # finding more takes longer than they spare
_NEGLIGIBLE = 1e-10  # of the largest variance
_CELLS_A_VALUE = 4  # dense ones, multiplied while one of sparse rows is
_VALUES_A_FEATURE = 4  # as many as which a feature counts besides, since weights take time too
_MOST_FEATURES = 4  # for each row: bits that are weights of features would take so much more memory

Floats = npt.NDArray[np.float64]


class LogisticBank(BitLearner):
    """Learn every bit by a weighted logistic regression with an L2 penalty.

    Each bit has the minimum that ``LogisticRegression(C)`` has with the bit's weights, scaled so that their
    mean is 1: how much a bit is held down does not depend on the size of its costs. It is done once the
    gradient of ½|w|² + C Σ loss, by the weights of centered features and the intercept, is no longer than
    `tol`, or than this part of C Σ weight if that is less. Its weights are then no farther than this from the
    best ones for their mean decision.

    The regressions are solved in coordinates along the principal axes of the training rows, of which there
    are no more than rows or features, all at once by products of matrices. Large sparse rows are taken as
    they are.
    """

    weights_: Floats  # (n_bits, m), of the rows of the basis
    basis_: Any  # (m, n_features): what weights of features are sums of, training rows; None: single features
    intercept_: Floats  # (n_bits,): −∞ or ∞ where all rows agree

    def __init__(
        self,
        C: float = 1.0,
        *,
        max_samples: int | float | None = None,
        tol: float = 1e-2,
        max_iter: int = 100,
        n_jobs: int | None = None,
        verbose: int | None = None,
    ) -> None:
        self.C = C
        self.max_samples = max_samples
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Matrix, problems: BitProblems, start: LogisticBank | None = None) -> Self:
        """Learn every bit, the sooner the nearer those of `start` are to it, learned from whatever rows.

        Where bits have features of their own, `start` is not used.
        """
        if problems.n_features is not None:
            return self._fit_by_features(X, problems)
        check_finite(X)
        n_rows = X.shape[0]
        n_sampled = resolve_share(self.max_samples, n_rows)
        with one_blas_thread():  # n_jobs threads share out the bits
            axes = find_axes(X)
            begin = _coordinates_of(start, axes, problems.n_bits)
            learn = partial(
                _learn, self.C, self.tol, self.max_iter, axes.coordinates, problems, n_sampled, begin
            )
            a_call = _SPARSE_BITS_A_CALL if sp.issparse(axes.coordinates) else _BITS_A_CALL
            chunks = chunks_of(problems.n_bits, a_call)
            parts = run_chunks(learn, chunks, n_jobs=self.n_jobs, verbose=self.verbose, title="learning bits")
            weights = np.concatenate([weights for weights, _ in parts])
            self.weights_ = weights[:, :-1] if axes.back is None else weights[:, :-1] @ axes.back.T
        self.basis_ = None if axes.basis is None else axes.basis.copy()  # X is its owner's to change
        self.intercept_ = weights[:, -1]
        self.bags_ = Bags.of(problems.seeds, n_rows, n_sampled)
        n_left = sum(n_left for _, n_left in parts)
        if n_left:
            warn_caller(
                f"{n_left} of {problems.n_bits} logistic regressions are not done after max_iter="
                f"{self.max_iter} steps: scale the features, or raise it or tol",
                ConvergenceWarning,
            )
        return self

    def _fit_by_features(self, X: Matrix, problems: BitProblems) -> Self:
        """Learn bits that may use different features, those that may use the same ones together."""
        assert problems.n_features is not None
        n_bits, n_features = problems.n_bits, X.shape[1]
        weights, intercept = np.zeros((n_bits, n_features)), np.empty(n_bits)
        for limit in np.unique(problems.n_features):
            bits = np.flatnonzero(problems.n_features == limit)
            bank = copy(self).fit(X[:, :limit], problems.take(bits))
            weights[bits, :limit], intercept[bits] = bank.coef_, bank.intercept_
        self.basis_, self.weights_, self.intercept_ = None, weights, intercept
        self.bags_ = Bags.of(problems.seeds, X.shape[0], resolve_share(self.max_samples, X.shape[0]))
        return self

    @property
    def coef_(self) -> Floats:
        """The weights of the features, of shape (n_bits, n_features)."""
        return np.asarray(self.weights_ if self.basis_ is None else self.weights_ @ self.basis_)

    def decisions(self, X: Matrix, bits: slice = ALL) -> Floats:
        """Return the log odds of each bit: w·x + b."""
        weights = self.weights_[bits]
        if self.basis_ is not None:
            X = products(X, self.basis_)
        elif sp.issparse(X):  # SciPy copies the weights, most of which are not needed for few rows
            used = np.unique(X.indices)
            if 2 * len(used) < X.shape[1]:
                X, weights = X[:, used], np.take(weights, used, axis=1)
        decisions = np.asarray(X @ weights.T)
        decisions += self.intercept_[bits]
        return decisions

    def predict(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.int8]:
        """Return the predicted code of each row, or some bits of it: −1 and +1, one column a bit."""
        signs = np.empty((X.shape[0], len(self.intercept_[bits])), np.int8)

        def decide(rows: slice) -> None:
            np.greater(self.decisions(X[rows], bits), 0.0, out=signs[rows].view(bool))
            signs[rows] *= 2
            signs[rows] -= 1

        self._by_rows(decide, len(signs))
        return signs

    def values(self, X: Matrix, bits: slice = ALL) -> npt.NDArray[np.float32]:
        """Return how sure each bit is: 2p − 1, with p the probability of +1."""
        values = np.empty((X.shape[0], len(self.intercept_[bits])), np.float32)

        def decide(rows: slice) -> None:
            decisions = self.decisions(X[rows], bits)
            decisions *= 0.5
            np.tanh(decisions, out=values[rows], casting="same_kind")

        self._by_rows(decide, len(values))
        return values

    def _by_rows(self, decide: Callable[[slice], None], n_rows: int) -> None:
        """Decide about some rows at a time: that bounds the memory, and threads share them out."""

        def in_one_thread(rows: slice) -> None:
            with one_blas_thread():
                decide(rows)

        run_chunks(
            in_one_thread, chunks_of(n_rows, _ROWS_A_CALL),
            n_jobs=self.n_jobs, title="deciding", in_place=True,
        )  # fmt: skip

    def take(self, bits: npt.NDArray[np.intp]) -> Self:
        """Return the bank of some of the bits, as they were learned."""
        bank = super().take(bits)
        bank.weights_, bank.intercept_ = self.weights_[bits], self.intercept_[bits]
        return bank

    def with_more(self, other: Self) -> Self:
        """Return a bank of its bits and then those of another, learned from the same rows."""
        bank = super().with_more(other)
        bank.weights_ = np.concatenate([self.weights_, other.weights_])
        bank.intercept_ = np.concatenate([self.intercept_, other.intercept_])
        return bank

    def renumbered(self, places: npt.NDArray[np.intp]) -> Self:
        """Return a bank to begin with: its bits are those at some places; −1 is one not yet learned."""
        bank = self.take(places)
        bank.weights_[places < 0], bank.intercept_[places < 0] = 0.0, 0.0
        return bank

    @property
    def n_features(self) -> int:
        """The number of features that the bits were learned from."""
        return int((self.weights_ if self.basis_ is None else self.basis_).shape[1])

    def __len__(self) -> int:
        return len(self.intercept_)

    def _check_saved(self) -> None:
        super()._check_saved()
        if self.basis_ is not None:
            is_matrix = isinstance(self.basis_, np.ndarray | sp.csr_array) and self.basis_.ndim == 2
            require(is_matrix and self.basis_.dtype.kind == "f", "a basis is not a matrix of floats")
            cells = self.basis_.data if sp.issparse(self.basis_) else self.basis_
            require(np.isfinite(cells).all(), "a basis holds what is not a number")
        require(self.weights_.ndim == 2 and self.intercept_.ndim == 1, "the weights have a wrong shape")
        n_weights = self.weights_.shape[1] if self.basis_ is None else self.basis_.shape[0]
        same = self.weights_.shape == (len(self), n_weights)
        require(same, "the weights have a wrong shape")
        check_weights(self.weights_)
        require(not np.isnan(self.intercept_).any(), "an intercept is not a number")

    def check_n_features(self, n_features: int) -> None:
        """Refuse a bank that was learned from other features."""
        require(self.n_features == n_features, "the weights are not those of the features")


def _coordinates_of(start: LogisticBank | None, axes: Axes, n_bits: int) -> Floats:
    """Return the weights of coordinates, then the intercept, that are nearest to a bank's; 0 without one."""
    weights = np.zeros((n_bits, axes.coordinates.shape[1] + 1))
    if start is None:
        return weights
    if axes.back is None:
        weights[:, :-1] = start.coef_
    else:
        way = axes.back.T if axes.basis is None else products(axes.back.T, axes.basis.T)
        inner = way if start.basis_ is None else products(way, start.basis_)
        weights[:, :-1] = start.weights_ @ inner.T
    weights[:, -1] = np.where(np.isfinite(start.intercept_), start.intercept_, 0.0)
    return weights


def _learn(
    C: float,
    tol: float,
    max_iter: int,
    Z: Matrix,
    problems: BitProblems,
    n_sampled: int,
    start: Floats,
    bits: slice,
) -> tuple[Floats, int]:
    """Learn some bits; return their weights and how many are not done.

    Not a method: another process is given its name, and finds it and the compiled kernels by itself.
    """
    n_rows, row_weight = Z.shape[0], problems.row_weight
    targets = np.ascontiguousarray(problems.differences(bits).T[:, problems.vector_of_row])
    if n_sampled < n_rows:
        drawn = np.zeros((len(targets), n_rows), bool)
        for of_bit, seed in zip(drawn, problems.seeds[bits], strict=True):
            of_bit[draw_rows(n_rows, n_sampled, seed)] = True
        targets *= drawn
    high, low = (targets > 0.0).any(axis=1), (targets < 0.0).any(axis=1)
    open_bits = np.flatnonzero(high & low)
    weights = np.zeros((len(targets), Z.shape[1] + 1))
    weights[:, -1] = np.where(high, np.inf, -np.inf)
    asked = targets[open_bits]
    if row_weight is None:
        n_weighted = np.maximum(1, np.count_nonzero(asked, axis=1))
    else:  # a row of weight 2 counts as two
        n_weighted = (asked != 0.0) @ row_weight
        asked *= row_weight
    asked *= (C * n_weighted / np.abs(asked).sum(axis=1))[:, None]
    begin = start[bits][open_bits]
    with one_blas_thread():  # of this worker: in some libraries each thread has a number of its own
        weights[open_bits], done = minimise_logistic(
            Z, asked, begin, tol=tol, max_iter=max_iter, row_weight=row_weight
        )
    return weights, int((~done).sum())


@dataclass(frozen=True, eq=False)
class Axes:
    """Coordinates of some rows, and the way from weights of coordinates back to weights of the features."""

    coordinates: Matrix  # (n, r): Z with Z Zᵀ = X Xᵀ, so that a penalty is the same on weights of features
    basis: Matrix | None  # (m, n_features): rows that weights of features are sums of; None: single features
    back: Floats | None  # (m, r): weights of coordinates to those of the basis; None: they are the same


def find_axes(X: Matrix) -> Axes:
    """Return the principal axes of the rows of X through 0, by the smaller of the two products X Xᵀ and Xᵀ X.

    Where both are too large, or sparse rows are multiplied faster, the features are taken as they are.
    """
    n_rows, n_features = X.shape
    if min(n_rows, n_features) > _MOST_AXES or (sp.issparse(X) and _is_faster_as_it_is(X)):
        return Axes(X, None, None)
    by_rows = n_rows <= n_features
    variances, axes = np.linalg.eigh(products(X, X) if by_rows else products(X.T, X.T))
    kept = variances > _NEGLIGIBLE * max(variances[-1], np.finfo(float).tiny)
    lengths, axes = np.sqrt(variances[kept]), np.ascontiguousarray(axes[:, kept])
    if by_rows:
        return Axes(axes * lengths, X, axes / lengths)
    return Axes(np.asarray(X @ axes), None, axes)


def _is_faster_as_it_is(X: sp.csr_array) -> bool:
    n_rows, n_features = X.shape
    n_values = X.nnz + n_rows + _VALUES_A_FEATURE * n_features
    n_cells = n_rows * min(n_rows, n_features)
    return bool(n_cells > _CELLS_A_VALUE * n_values and n_features <= _MOST_FEATURES * n_rows)


def products(left: Matrix, right: Matrix) -> Floats:
    """Return the inner products of rows with rows, dense."""
    both = left @ right.T
    return np.asarray(both.toarray() if sp.issparse(both) else both, dtype=np.float64)


def check_finite(X: Matrix) -> None:
    """Refuse missing and infinite values, of which logistic regressions cannot make anything."""
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        assert_all_finite(X, input_name="X")  # says what is wrong and what to do


def minimise_logistic(
    Z: Matrix,
    targets: Floats,
    start: Floats,
    *,
    tol: float,
    max_iter: int,
    row_weight: Floats | None = None,
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Minimise ½|v|² + Σ |t| log(1 + exp(−sign(t) f)); return v, then b, of each bit, and which are done.

    The sum is over the rows z of Z, f = v·z + b is what is decided on a row, and t is its target, of which
    there is a row a bit. The gradient that `tol` is for is by the coordinates of rows from their
    mean, by weight if there are weights.
    The problem curves by 1 at least: so far from the best weights for their mean decision are those found.
    """
    weights, done = np.array(start, np.float64, order="C"), np.empty(len(start), bool)
    # Far from 0, the intercept would be all but one of the coordinates.
    if not Z.shape[0]:
        middle = np.zeros(Z.shape[1])
    elif row_weight is None:
        middle = np.asarray(Z.mean(axis=0), np.float64)
    else:
        middle = np.asarray((row_weight / row_weight.sum()) @ Z, np.float64)
    weights[:, -1] += weights[:, :-1] @ middle
    asked = np.ascontiguousarray(targets, np.float64)
    ones = np.ones((Z.shape[0], 1))  # for the intercept
    if sp.issparse(Z):
        both = sp.hstack([Z, ones], format="csr")
        rows = SparseRows(_csr(both), _csr(both.T.tocsr()), np.append(middle, 0.0))
        minimise_sparse_losses(rows, asked, weights, tol, max_iter, done)
    else:
        dense = np.ascontiguousarray(np.hstack([Z - middle, ones]))
        minimise_logistic_losses(dense, asked.copy(), weights, tol, max_iter, done)
    weights[:, -1] -= weights[:, :-1] @ middle
    return weights, done


def _csr(matrix: sp.csr_array) -> Csr:
    """Return a matrix for the kernel, always of these types: for others, it would be compiled anew."""
    return Csr(
        matrix.data.astype(np.float64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.indptr.astype(np.int64, copy=False),
    )
