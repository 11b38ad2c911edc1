"""One posterior of several sources: what each counts, chosen on samples that they were learned without.

    W(y | x)        =  Σ_s w_s · p_s(y | x)                              over the sources that predict vectors
    log odds P_k(x) =  the pool of the log odds of label k, over all sources (calibrate.py)
    p(y | x)        =  the distribution nearest to (1 − ν) W + ν Π P whose labels have the probabilities P

The weights w have the largest likelihood; the pool calibrates the labels. ν is the chance of a label vector
that no training sample has: its labels are taken as independent, with the probabilities P. All answers of a
model use this one distribution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import keep_large, sum_labels
from refpair._parallel import chunks_of, even_chunks, run_chunks
from refpair._saved import Savable
from refpair.bits.binning import Matrix
from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.completion import agreeing
from refpair.posterior.distribution import (
    Bytes,
    Distribution,
    Floats,
    IndependentLabels,
    LabelDistribution,
    label_lists,
)
from refpair.posterior.source import Source, Training

_KEPT = 1e-3  # label vectors with less than this part of a row's largest weight are left out
_EQUAL = 2.0  # as strong as so many samples: towards equal weights
_STEPS = 200
_WEIGHTS = 1 << 22  # of label vectors, of a block of samples
_ROWS = 2048
_N_DRAWN = 100  # label vectors of independent labels
_MOSTLY_NEW, _SELDOM_NEW = 0.9, 0.01  # shares of label vectors, beyond which all are taken as new, or none


Told = tuple[Floats, bool]  # what a source says, and whether that is weights of label vectors


@dataclass(frozen=True, eq=False)
class Mixture(Savable):
    """The weights of the sources, and the probability of a new label vector."""

    weights: npt.NDArray[np.float64]  # of the sources that predict vectors, in their order
    pool: LogOddsPool
    new_share: float  # of label vectors; 1: labels are independent

    def __post_init__(self) -> None:
        right = self.weights.ndim == 1 and len(self.weights) > 0 and (self.weights >= 0).all()
        if not (right and abs(self.weights.sum() - 1.0) < 1e-6):
            raise ValueError("weights must not be negative, and must sum to 1")
        if not 0 <= self.new_share <= 1:
            raise ValueError(f"new_share is {self.new_share}, which is not from 0 to 1")

    def mix(self, told: Sequence[Told], vectors: Bytes) -> Distribution:
        """Return the distribution of samples from the predictions of the sources."""
        marginals = self.pool([labels_of(one, vectors) for one in told])
        independent = IndependentLabels(marginals, is_of_labels=True)
        if self.new_share == 1:
            return independent
        of_vectors = [answer for answer, tells_vectors in told if tells_vectors]
        mixed = sum(weight * one for weight, one in zip(self.weights, of_vectors, strict=True))
        p = LabelDistribution(vectors, *keep_large(np.asarray(mixed), _KEPT, vectors))
        if self.new_share > 0:
            p = LabelDistribution.mix([p, independent.drawn(_N_DRAWN)], [1 - self.new_share, self.new_share])
        return p.tilted(marginals)


@dataclass(frozen=True, eq=False)
class Posterior:
    """The model of the distribution over label vectors, made of fitted sources."""

    vectors: Bytes
    sources: tuple[Source, ...]
    mixture: Mixture

    def distributions(self, X: Matrix, *, n_jobs: int | None = None) -> Iterator[tuple[slice, Distribution]]:
        """Yield blocks of samples, in order, and the distributions over their label vectors."""
        n_rows = int(np.clip(_WEIGHTS // len(self.vectors), 64, _ROWS))
        for rows in chunks_of(X.shape[0], n_rows):
            told = [(one.answer(X[rows], n_jobs), one.tells_vectors) for one in self.sources]

            def some(part: slice, told: list[Told] = told) -> Distribution:
                return self.mixture.mix([(answer[part], kind) for answer, kind in told], self.vectors)

            chunks = even_chunks(rows.stop - rows.start, 64, n_jobs)
            parts = run_chunks(some, chunks, n_jobs=n_jobs, title="mixing", in_place=True)
            for chunk, part in zip(chunks, parts, strict=True):
                yield slice(rows.start + chunk.start, rows.start + chunk.stop), part


def labels_of(told: Told, vectors: Bytes) -> Floats:
    """Return the probability of each label by what a source says."""
    answer, tells_vectors = told
    if not tells_vectors:
        return answer
    sums = np.empty((len(answer), vectors.shape[1]))
    sum_labels(np.ascontiguousarray(answer), *label_lists(vectors), sums)
    return np.minimum(sums, 1.0, out=sums)  # more only by rounding


def new_share(training: Training) -> float:
    """Return the chance of a new label vector by Good and Turing: the share of those that occur once.

    Of vectors that are not known, the likeliest count.
    """
    seen = np.bincount(training.distinct.likeliest)
    share = float(np.average((seen == 1)[training.distinct.likeliest], weights=training.distinct.row_weight))
    return 1.0 if share > _MOSTLY_NEW else share if share > _SELDOM_NEW else 0.0


def likeliest_weights(answers: Sequence[Floats], training: Training) -> Floats:
    """Return the weights of sources under which the samples' own label vectors are likeliest, by EM steps."""
    row_weight = training.row_weight
    if training.distinct.shares is None:
        vector = training.vector_of_row[training.rows]
        there = np.flatnonzero(vector >= 0)
        p = np.stack([answer[there, vector[there]] for answer in answers], axis=1)
    else:  # all vectors that agree with what is known
        there = np.arange(len(training.rows))
        agree = agreeing(training.truths, training.vectors)
        p = np.stack([(answer * agree).sum(axis=1) for answer in answers], axis=1)
    kept = p.max(axis=1, initial=0.0) > 0.0
    p = p[kept]
    counted = None if row_weight is None else row_weight[there][kept][:, None]
    weights = np.full(len(answers), 1 / len(answers))
    for _ in range(_STEPS if len(answers) > 1 else 0):
        shares = p * weights
        shares /= shares.sum(axis=1, keepdims=True)
        if counted is not None:
            shares *= counted
        weights = shares.sum(axis=0) + _EQUAL
        weights /= weights.sum()
    return weights
