"""The source of single labels: some bits for each label, which ask whether it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import sum_votes
from refpair._saved import require
from refpair.bits.binning import Matrix
from refpair.bits.problem import BitLearner, BitProblems
from refpair.posterior.distribution import Bytes, Floats
from refpair.posterior.source import Source, Training, in_threads

Learn: TypeAlias = Callable[[Matrix, BitProblems], BitLearner]

N_FOLDS = 3


class LabelSource(Source):
    """The mean over the bits of a label of how sure they are that it is there."""

    name: ClassVar[str] = "labels"
    tells_vectors: ClassVar[bool] = False

    bits: BitLearner  # the first one of each label, then the second one of each, and so on

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels

    @classmethod
    def learning(cls, learn: Learn, n_votes: int, n_labels: int) -> LabelSource:
        """Return a source that is to learn so many bits of each label."""
        source = cls(n_labels)
        source._learn, source._n_votes = learn, n_votes
        return source

    def fit(self, training: Training, rng: np.random.Generator) -> Floats:
        """Learn the bits of all labels."""
        n_bits = self._n_votes * self.n_labels
        seeds = rng.integers(2**63, size=n_bits, dtype=np.uint64)
        vectors, of_row = training.distinct.vectors, training.distinct.of_row
        self.bits = self._learn(training.X, _problems(vectors, of_row, seeds))
        if self.bits.bags_ is not None:
            values = self.bits.values(training.X[training.rows])
            told = self._mean(values, self.bits.bags_.leave_out(training.rows))
        else:
            told = np.empty((len(training.rows), self.n_labels))
            fold = rng.permutation(training.X.shape[0]) % N_FOLDS
            for number in range(N_FOLDS):
                others, mine = np.flatnonzero(fold != number), fold[training.rows] == number
                if len(others) and mine.any():
                    n_few = min(n_bits, 8 * self.n_labels)
                    bank = self._learn(training.X[others], _problems(vectors, of_row[others], seeds[:n_few]))
                    told[mine] = self._mean(bank.values(training.X[training.rows[mine]]))
        # The frequency of a label, where no bit speaks of it.
        return np.where(np.isnan(told), training.frequencies, told)

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the probabilities of the labels."""
        return self._mean(in_threads(self.bits, n_jobs).values(X))

    def _mean(
        self, values: npt.NDArray[np.float32], known: npt.NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return the means over the bits of each label, or over the known ones: NaN where there is none."""
        n, n_votes = len(values), values.shape[1] // self.n_labels
        sums = np.empty((n, self.n_labels))
        counted = values if known is None else np.where(known, values, np.float32(0.0))
        sum_votes(np.ascontiguousarray(counted).reshape(n, n_votes, self.n_labels), sums)
        n_known: npt.NDArray[np.int64] | int = n_votes
        if known is not None:
            n_known = known.reshape(n, n_votes, self.n_labels).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip((1.0 + sums / n_known) / 2.0, 0.0, 1.0))

    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Refuse bits of other labels or features."""
        n_bits = len(self.bits)
        right = self.n_labels == n_labels and n_bits > 0 == n_bits % n_labels
        require(right, "there is not one learner for each bit")
        self.bits.check_n_features(n_features)


def _problems(
    vectors: Bytes, of_row: npt.NDArray[np.int32], seeds: npt.NDArray[np.uint64]
) -> BitProblems:
    """Return what the bits have to learn: each is the pair of one label and of nothing, for Hamming."""
    return BitProblems(of_row, len(seeds), partial(_differences, vectors), seeds)


def _differences(vectors: Bytes, bits: slice) -> Floats:  # not a closure: other processes are given it
    labels = np.arange(bits.start, bits.stop) % vectors.shape[1]
    return 2.0 * vectors[:, labels] - 1.0
