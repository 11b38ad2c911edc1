"""The source of single labels: some bits for each label, which ask whether it is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from refpair._kernels.posterior import sum_votes
from refpair._parallel import chunks_of
from refpair._saved import require
from refpair.bits.binning import Matrix
from refpair.bits.problem import BitLearner
from refpair.posterior.distribution import Floats
from refpair.posterior.source import Source, Training, in_threads

N_FOLDS = 3
VOTES_A_FOLD = 8
BATCH = 25  # bits of each label, to begin with; then as many as there are
_ROWS = 2048  # looked at at a time


class LabelSource(Source):
    """The mean over the bits of a label of how sure they are that it is there."""

    name = "labels"
    tells_vectors: ClassVar[bool] = False

    bits: BitLearner  # the first one of each label, then the second one of each, and so on

    def __init__(self, n_labels: int, most_votes: int) -> None:
        self.n_labels = n_labels
        self.most_votes = most_votes  # bits of each label

    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Learn the bits of all labels, some of each at a time."""
        n_votes = min(self.most_votes, BATCH)
        yield self._learn_more(n_votes, training, rng)
        while n_votes < self.most_votes:
            n_more = min(n_votes, self.most_votes - n_votes)
            n_votes += n_more
            yield self._learn_more(n_more, training, rng)

    def _learn_more(self, n_votes: int, training: Training, rng: np.random.Generator) -> Floats:
        """Learn more bits of each label; return what all of them say out of bag."""
        seeds = rng.integers(2**63, size=n_votes * self.n_labels, dtype=np.uint64)
        rows = training.rows
        bits = training.learn(training.X, training.label_problems(seeds))
        self.bits = self.bits.with_more(bits) if hasattr(self, "bits") else bits
        if self.bits.bags_ is not None:
            told = np.concatenate(
                [
                    self._mean(self.bits.values(training.X[some]), self.bits.bags_.leave_out(some))
                    for some in (rows[part] for part in chunks_of(len(rows), _ROWS))
                ]
            )
        else:
            told = np.full((len(rows), self.n_labels), np.nan)
            fold = rng.permutation(training.X.shape[0]) % N_FOLDS
            for number in range(N_FOLDS):
                others, mine = np.flatnonzero(fold != number), fold[rows] == number
                if len(others) and mine.any():
                    some = seeds[: VOTES_A_FOLD * self.n_labels]
                    bank = training.learn(training.X[others], training.label_problems(some, others))
                    told[mine] = self._mean(bank.values(training.X[rows[mine]]))
        return np.where(np.isnan(told), training.distinct.frequencies, told)  # where no bit predicts a label

    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return the probabilities of the labels."""
        return self._mean(in_threads(self.bits, n_jobs).values(X))

    def _mean(self, values: npt.NDArray[np.float32], known: npt.NDArray[np.bool_] | None = None) -> Floats:
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
