"""The linear source: a logistic regression for each label, all learned at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from refpair._parallel import chunks_of, run_chunks
from refpair._saved import check_weights, require
from refpair.bits.binning import Matrix
from refpair.bits.logistic import LogisticBank
from refpair.posterior.calibrate import log_loss
from refpair.posterior.distribution import Floats
from refpair.posterior.source import Source, Training

_STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # that C is chosen from
_ENOUGH = 10_000  # samples, to choose it
_FOLDS = 5
_TOL = 1e-2
_SURE = 20.0  # log odds: of labels that all samples agree on
_ROWS = 2048
_DENSE = 0.2  # of the cells are other than 0, where samples are taken as dense


class LinearSource(Source):
    """The mean log odds of regressions, each learned without one fold of the samples, of scaled features.

    Features are centered and have variance 1; where most cells are 0, they are divided by their largest
    absolute value instead. Missing ones count as their mean, or as 0.
    """

    name = "linear"
    tells_vectors: ClassVar[bool] = False

    weights: npt.NDArray[np.float64]  # (n_labels, n_features)
    intercept: npt.NDArray[np.float64]  # (n_labels,)
    centre: npt.NDArray[np.float64]  # (n_features,): what missing features count as
    is_sparse: bool  # whether samples are taken as sparse: the same way always, the same answers

    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Choose C by the first fold, and learn without each fold in turn: a single step."""
        X, self.centre, scale = _scale(training.X)
        n, self.is_sparse = X.shape[0], sp.issparse(X)
        n_folds = max(2, min(_FOLDS, n))
        fold = rng.permutation(n) % n_folds
        told = np.empty((len(training.rows), training.n_labels))
        weights, intercept = [], []
        C = 0.0
        for number in range(n_folds):
            learnt_from, others = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if number == 0:
                C = _choose_strength(X, training, learnt_from, others)
            bank = _learn(X, training, learnt_from, C)
            mine = fold[training.rows] == number
            told[mine] = _probabilities(bank, X[training.rows[mine]])
            weights.append(bank.coef_ / scale)
            intercept.append(np.clip(bank.intercept_, -_SURE, _SURE))
        self.weights = np.mean(weights, axis=0)
        self.intercept = np.mean(intercept, axis=0) - self.weights @ self.centre
        yield told

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the probabilities of the labels."""

        def some(rows: slice) -> Floats:
            block = sp.csr_array(X[rows]) if self.is_sparse else X[rows]
            block = _filled(
                block.toarray() if sp.issparse(block) and not self.is_sparse else block, self.centre
            )
            return np.asarray(expit(np.asarray(block @ self.weights.T) + self.intercept))

        chunks = chunks_of(X.shape[0], _ROWS)
        return np.concatenate(run_chunks(some, chunks, n_jobs=n_jobs, title="deciding", in_place=True))

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse weights of other features or labels."""
        right = self.weights.shape == (n_labels, n_features) and self.intercept.shape == (n_labels,)
        require(right and self.centre.shape == (n_features,), "the weights are not those of the features")
        for numbers in (self.weights, self.intercept, self.centre):
            check_weights(numbers)


def _choose_strength(
    X: Matrix, training: Training, learnt_from: npt.NDArray[np.intp], others: npt.NDArray[np.intp]
) -> float:
    """Return the C of the smallest log loss on other samples; of very many samples, some are enough."""
    some, judged = (rows[:: -(-len(rows) // _ENOUGH)] for rows in (learnt_from, others))
    distinct = training.distinct
    truths = distinct.known[distinct.of_row[judged]]
    weights = None if distinct.row_weight is None else distinct.row_weight[judged]
    losses = {
        C: np.average(
            log_loss(_probabilities(_learn(X, training, some, C), X[judged]), truths), weights=weights
        )
        for C in _STRENGTHS
    }
    return min(losses, key=lambda C: losses[C])


def _learn(X: Matrix, training: Training, rows: npt.NDArray[np.intp], C: float) -> LogisticBank:
    unused = np.zeros(training.n_labels, np.uint64)
    bank = LogisticBank(C, tol=_TOL, n_jobs=training.n_jobs)
    return bank.fit(X[rows], training.label_problems(unused, rows))


def _probabilities(bank: LogisticBank, X: Matrix) -> Floats:
    return np.asarray((1.0 + bank.values(X).astype(np.float64)) / 2.0)


def _scale(X: Any) -> tuple[Matrix, Floats, Floats]:
    """Return the features scaled, what missing ones count as, and what they were divided by.

    The matrix is sparse if most cells are 0, whatever it was: the same samples give the same model.
    """
    n_rows, n_features = X.shape
    X = sp.csr_array(X)
    if not X.data.all():  # zeros that were written down
        X = X.copy()
        X.eliminate_zeros()
    is_known = ~np.isnan(X.data)
    if X.nnz > _DENSE * n_rows * n_features:
        dense = X.toarray().astype(np.float64)
        known = ~np.isnan(dense)
        n_known = np.maximum(known.sum(axis=0), 1)
        centre = np.where(known, dense, 0.0).sum(axis=0) / n_known
        off = np.where(known, dense - centre, 0.0)
        scale = np.sqrt((off**2).sum(axis=0) / n_known)
        varies = np.fmax.reduce(dense) > np.fmin.reduce(dense)  # else it is off by rounding alone
        scale = np.where(varies & (scale > 0), scale, 1.0)
        return off / scale, centre, scale
    X = sp.csr_array((np.where(is_known, X.data, 0.0).astype(np.float64), X.indices, X.indptr), shape=X.shape)
    scale = np.asarray(abs(X).max(axis=0).toarray()).ravel()
    scale = np.where(scale > 0, scale, 1.0)
    return (
        sp.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape),
        np.zeros(n_features),
        scale,
    )


def _filled(X: Any, centre: Floats) -> Any:
    """Return samples without missing features."""
    if not sp.issparse(X):
        return np.where(np.isnan(X), centre, X) if np.isnan(X).any() else X
    if not np.isnan(X.data).any():
        return X
    data = np.where(np.isnan(X.data), centre[X.indices], X.data)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
