"""The linear source: a logistic regression for each label, all learnt at once."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from refpair._parallel import chunks_of, run_chunks
from refpair._saved import check_weights, require
from refpair.bits.binning import Matrix
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitProblems
from refpair.posterior.calibrate import log_loss
from refpair.posterior.distribution import Bytes, Floats
from refpair.posterior.source import Source, Training

_STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # that C is chosen from
_FOLDS = 5
_TOL = 1e-2
_SURE = 20.0  # log odds: of labels that all samples agree on
_ROWS = 2048


class LinearSource(Source):
    """The mean log odds of regressions, each learnt without one fold of the samples, of scaled features.

    Dense features are centred and have variance 1, missing ones their mean; sparse ones are divided by their
    largest absolute value.
    """

    name: ClassVar[str] = "linear"
    tells_vectors: ClassVar[bool] = False

    weights: npt.NDArray[np.float64]  # (n_labels, n_features)
    intercept: npt.NDArray[np.float64]  # (n_labels,)
    centre: npt.NDArray[np.float64]  # (n_features,): what missing features count as

    def fit(self, training: Training, rng: np.random.Generator) -> Floats:
        """Choose C by the first fold, and learn without each fold in turn."""
        self.centre, scale = _centre_and_scale(training.X)
        X, n = _scaled(training.X, self.centre, scale), training.X.shape[0]
        n_folds = max(2, min(_FOLDS, n))
        fold = rng.permutation(n) % n_folds
        told = np.empty((len(training.rows), training.n_labels))
        weights, intercept = [], []
        C = 0.0
        for number in range(n_folds):
            learnt_from, others = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            learn = partial(_learn, X[learnt_from], training, learnt_from)
            if number == 0:
                truths = training.distinct.vectors[training.distinct.of_row[others]]
                banks = {strength: learn(strength) for strength in _STRENGTHS}
                losses = {c: log_loss(_probabilities(bank, X[others]), truths).mean() for c, bank in banks.items()}
                C = min(losses, key=lambda c: losses[c])
                bank = banks[C]
            else:
                bank = learn(C)
            mine = fold[training.rows] == number
            told[mine] = _probabilities(bank, X[training.rows[mine]])
            weights.append(bank.coef_ / scale)
            intercept.append(np.clip(bank.intercept_, -_SURE, _SURE))
        self.weights = np.mean(weights, axis=0)
        self.intercept = np.mean(intercept, axis=0)
        if not sp.issparse(training.X):
            self.intercept = self.intercept - self.weights @ self.centre
        return told

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the probabilities of the labels."""

        def some(rows: slice) -> Floats:
            block = X[rows]
            if not sp.issparse(block):
                block = np.where(np.isnan(block), self.centre, block)
            return np.asarray(expit(np.asarray(block @ self.weights.T) + self.intercept))

        chunks = chunks_of(X.shape[0], _ROWS)
        return np.concatenate(run_chunks(some, chunks, n_jobs=n_jobs, title="deciding", in_place=True))

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse weights of other features or labels."""
        right = self.weights.shape == (n_labels, n_features) and self.intercept.shape == (n_labels,)
        require(right and self.centre.shape == (n_features,), "the weights are not those of the features")
        for numbers in (self.weights, self.intercept, self.centre):
            check_weights(numbers)


def _learn(X: Matrix, training: Training, rows: npt.NDArray[np.intp], C: float) -> LogisticBank:
    n_labels, distinct = training.n_labels, training.distinct
    differences = partial(_differences, distinct.vectors)
    problems = BitProblems(distinct.of_row[rows], n_labels, differences, np.arange(n_labels, dtype=np.uint64))
    bank = LogisticBank(C, tol=_TOL, n_jobs=training.n_jobs)
    return bank.fit(X, problems)


def _differences(vectors: Bytes, labels: slice) -> Floats:  # not a closure: other processes are given it
    return 2.0 * vectors[:, labels] - 1.0


def _probabilities(bank: LogisticBank, X: Matrix) -> Floats:
    return np.asarray((1.0 + bank.values(X).astype(np.float64)) / 2.0)


def _centre_and_scale(X: Any) -> tuple[Floats, Floats]:
    """Return the means and standard deviations of dense features; 0 and the largest sizes of sparse ones."""
    if sp.issparse(X):
        scale = np.asarray(abs(X).max(axis=0).toarray(), dtype=np.float64).ravel()
        centre = np.zeros(X.shape[1])
    else:
        known = ~np.isnan(X)
        n_known = np.maximum(known.sum(axis=0), 1)
        filled = np.where(known, X, 0.0).astype(np.float64)
        centre = filled.sum(axis=0) / n_known
        scale = np.sqrt((np.where(known, filled - centre, 0.0) ** 2).sum(axis=0) / n_known)
    return centre, np.where(scale > 0, scale, 1.0)


def _scaled(X: Any, centre: Floats, scale: Floats) -> Matrix:
    if sp.issparse(X):
        return sp.csr_array(X @ sp.diags_array(1.0 / scale))
    return np.where(np.isnan(X), 0.0, (X - centre) / scale)
