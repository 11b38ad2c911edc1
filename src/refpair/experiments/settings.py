"""Settings of experiments: length of codes, size of forests, parameter search."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.model_selection import MultilabelStratifiedShuffleSplit

LABELS_TIMES_ROUNDS = 500  # of the condensed filter tree, whose time grows with the square of both
_PAPER_BITS = 3000
LENGTHS = (50, 100, 200, 500, 1000, 2000, 3000, 4000, 5000)  # of codes, to compare

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Simulation:
    """Settings of a simulation of active learning."""

    n_start: int = 20  # rows that are labeled at the beginning
    n_queries: int = 100  # that are asked for
    batch_size: int = 1  # that are asked for at once
    test_each: int = 5  # after which the classifier is scored
    n_bits: int = 300  # of the codes of strategies that have one
    classifier: str = "BR"  # a logistic regression for each label; "CSRPE"; or module:name

    def sizes(self) -> list[int]:
        """Return the numbers of labeled rows at which the classifier is scored."""
        end = self.n_start + self.n_queries
        return [*range(self.n_start, end, self.test_each), end]

    def __str__(self) -> str:
        return (
            f"{self.n_queries} rows asked for, {self.batch_size} at a time, after {self.n_start} at random; "
            f"the classifier is {_CLASSIFIERS.get(self.classifier, self.classifier)}; codes of {self.n_bits} "
            "bits"
        )


_CLASSIFIERS = {
    "BR": "a logistic regression for each label, its C chosen by 5-fold cross-validation on the first labels",
    "CSRPE": "CSRPE",
}


@dataclass(frozen=True)
class Settings:
    """The settings of an experiment; those of the paper by default.

    Attributes
    ----------
    n_bits : int or None
        The length of codes. None is 3000 for "CSRPE-nearest", as in the paper, and ``"auto"`` for
        "CSRPE-posterior".
    n_trees : int
        Number of trees in the forests of the competitors.
    n_rounds : int
        Maximum number of rounds of the condensed filter tree; fewer with many labels.
    search : bool
        Whether parameters are searched in the training half.
    max_rows : int or None
        Maximum number of rows of a data set, both halves together.
    stratified : bool
        Whether both halves have the same frequencies of labels and of pairs of labels, as far as possible.
    lengths : tuple of int
        The lengths that ``code-length`` compares; one code of the last length is learned, and shortened.
    simulation : Simulation
        Settings of ``simulate``.
    """

    n_bits: int | None = None
    n_trees: int = 100
    n_rounds: int = 8
    search: bool = True
    max_rows: int | None = None
    stratified: bool = False
    lengths: tuple[int, ...] = LENGTHS
    simulation: Simulation = field(default_factory=Simulation)

    @property
    def most_bits(self) -> int:
        """The length of codes, at most."""
        return _PAPER_BITS if self.n_bits is None else self.n_bits

    def halves(self, Y: Any, split: int) -> tuple[Rows, Rows]:
        """Return the rows of the training and the test half of a split."""
        if not self.stratified:
            return half_split(len(Y), split, self.max_rows)
        n = min(len(Y), self.max_rows or len(Y))
        halves = MultilabelStratifiedShuffleSplit(
            1, train_size=n // 2, test_size=n - n // 2, random_state=split
        )
        return next(halves.split(None, Y))

    def describe(self, experiments: Collection[str]) -> str:
        """Return the settings that matter to some experiments, in words."""
        simulation = [str(self.simulation)] if "simulate" in experiments else []
        if set(experiments) == {"simulate"}:
            return "; ".join(simulation)
        most_labels = LABELS_TIMES_ROUNDS // self.n_rounds
        parts = [
            f"codes of up to {self.most_bits} bits, cut from {max(self.lengths)} where lengths are compared",
            f"forests of {self.n_trees} trees",
            f"{self.n_rounds} rounds of CFT, fewer with more than {most_labels} labels",
            "parameters chosen in the training half" if self.search else "default parameters",
            "all rows" if self.max_rows is None else f"{self.max_rows} rows of each data set at most",
        ]
        parts += ["labels as frequent in one half as in the other"] if self.stratified else []
        return "; ".join(parts + simulation)


QUICK = Settings(
    n_bits=500,
    n_trees=20,
    n_rounds=2,
    search=False,
    max_rows=600,
    lengths=tuple(n for n in LENGTHS if n <= 1000),
    simulation=Simulation(n_queries=40, n_bits=100),
)


def half_split(n: int, split: int, max_rows: int | None = None) -> tuple[Rows, Rows]:
    """Return the rows of the training and the test half of a random split."""
    order = np.random.default_rng(split).permutation(n)[:max_rows]
    half = len(order) // 2
    return order[:half], order[half:]
