"""The base class of sources of the posterior, and what they learn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable
from refpair.bits.binning import Matrix
from refpair.bits.problem import BitLearner, BitProblems
from refpair.bits.trees import ClassTreeBank
from refpair.costs import Cost
from refpair.posterior.distinct_labels import DistinctLabels
from refpair.posterior.distribution import Bytes, Floats, Longs

Learn: TypeAlias = Callable[[Matrix, BitProblems], BitLearner]
Bank = TypeVar("Bank", bound="BitLearner | ClassTreeBank")


@dataclass(frozen=True, eq=False)
class Training:
    """What sources learn from: samples, their label vectors, and the vectors that are given weight.

    ``rows`` are the samples that a source is asked about, to choose by: it must have learned that answer
    without them.
    """

    X: Matrix
    distinct: DistinctLabels
    vectors: Bytes  # the relevant set
    counts: Longs  # how many samples have each of them
    rows: npt.NDArray[np.int64]
    cost: Cost
    learn: Learn  # bits from samples, by what the model's parameters say
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.vectors.shape[1])

    @cached_property
    def truths(self) -> Bytes:
        """The label vectors of the rows."""
        return self.distinct.vectors[self.distinct.of_row[self.rows]]

    @cached_property
    def vector_of_row(self) -> npt.NDArray[np.int32]:
        """The place of each sample's label vector in the relevant set, −1 if it is not there."""
        place = {vector.tobytes(): at for at, vector in enumerate(self.vectors)}
        found = np.array([place.get(vector.tobytes(), -1) for vector in self.distinct.vectors], np.int32)
        return found[self.distinct.of_row]

    @cached_property
    def frequencies(self) -> Floats:
        """The share of samples that have each label."""
        return np.asarray(np.average(self.distinct.vectors, axis=0, weights=self.distinct.counts))


class Source(Savable, ABC):
    """Predicts either weights of label vectors, or probabilities of single labels."""

    tells_vectors: ClassVar[bool]

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the source, unique in a model."""

    @abstractmethod
    def learn(self, training: Training, rng: np.random.Generator) -> Iterator[Floats]:
        """Learn in steps; yield after each the answers on ``training.rows``, as :meth:`answer` gives them.

        The answer on a sample is out of bag. A step about doubles the source. After each step the source can
        answer: there may be no further step.
        """

    @abstractmethod
    def answer(self, X: Matrix, n_jobs: int | None) -> Floats:
        """Return weights (n, n_vectors) that sum to 1 in each row, or probabilities (n, n_labels)."""

    @abstractmethod
    def check_shapes(self, n_features: int, n_labels: int, n_vectors: int) -> None:
        """Raise a ValueError unless it has these numbers of features and labels."""


def in_threads(bank: Bank, n_jobs: int | None) -> Bank:
    """Return a bank that answers in so many threads."""
    bank = copy(bank)
    bank.n_jobs = n_jobs
    return bank
