"""The base class of sources of the posterior, and what they learn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._saved import Savable
from refpair.bits.binning import Matrix
from refpair.bits.code_problems import bit_problems, label_problems
from refpair.bits.problem import ALL, BitLearner, BitProblems
from refpair.bits.trees import ClassTreeBank
from refpair.coding import ReferencePairCode
from refpair.costs import Cost
from refpair.posterior.distinct_labels import DistinctLabels
from refpair.posterior.distribution import Bytes, Floats

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
    counts: npt.NDArray[Any]  # how many samples have each of them
    rows: npt.NDArray[np.int64]
    cost: Cost  # in which all samples may have prices of their own
    learn: Learn  # bits from samples, by what the model's parameters say
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        return int(self.vectors.shape[1])

    @cached_property
    def truths(self) -> Bytes:
        """The label vectors of the rows, as far as they are known."""
        return self.distinct.known[self.distinct.of_row[self.rows]]

    @cached_property
    def row_weight(self) -> Floats | None:
        """What the rows count, on average 1."""
        if self.distinct.row_weight is None:
            return None
        weights = self.distinct.row_weight[self.rows]
        return np.asarray(weights / weights.mean())

    @cached_property
    def vector_of_row(self) -> npt.NDArray[np.int32]:
        """The place of each sample's label vector in the relevant set, −1 if it is not there."""
        return self._places[self.distinct.of_row]

    @cached_property
    def is_relevant(self) -> npt.NDArray[np.bool_]:
        """Which samples may have a label vector of the relevant set."""
        shares, there = self.distinct.shares, self._places >= 0
        of_known = there if shares is None else shares @ there.astype(np.float64) > 0
        return np.asarray(of_known[self.distinct.of_row])

    def label_problems(
        self, seeds: npt.NDArray[np.uint64], rows: npt.NDArray[np.integer] | slice = ALL
    ) -> BitProblems:
        """Return bits that ask for labels, as :func:`label_problems` has them, for some of the samples."""
        of_row, row_weight = self.distinct.of_row[rows], self.distinct.row_weight
        weights = None if row_weight is None else row_weight[rows]
        return label_problems(self.distinct.known, of_row, seeds, weights)

    def code_problems(
        self,
        code: ReferencePairCode,
        seeds: npt.NDArray[np.uint64],
        rows: npt.NDArray[np.integer] | slice = ALL,
    ) -> BitProblems:
        """Return the bits of a code, for some of the samples."""
        of_row, row_weight = self.distinct.of_row[rows], self.distinct.row_weight
        weights = None if row_weight is None else row_weight[rows]
        shares = self.distinct.shares
        return bit_problems(code, self.distinct.vectors, of_row, seeds, shares=shares, row_weight=weights)

    def shares_of(self, rows: npt.NDArray[np.integer]) -> sp.csr_array:
        """Return what samples count for each vector of the relevant set."""
        shares = self.distinct.shares_of(rows).tocoo()
        place = self._places[shares.col]
        there = place >= 0
        cells = shares.data[there], (shares.row[there], place[there])
        return sp.csr_array(sp.coo_array(cells, shape=(len(rows), len(self.vectors))))

    @cached_property
    def _places(self) -> npt.NDArray[np.int32]:
        place = {vector.tobytes(): at for at, vector in enumerate(self.vectors)}
        return np.array([place.get(vector.tobytes(), -1) for vector in self.distinct.vectors], np.int32)


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
