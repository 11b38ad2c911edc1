"""What an experiment leaves open: how long codes are, how large forests, what is searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LABELS_TIMES_ROUNDS", "LENGTHS", "QUICK", "Settings", "half_split"]

LABELS_TIMES_ROUNDS = 500  # of the condensed filter tree, whose time grows with the square of both
LENGTHS = (50, 100, 200, 500, 1000, 2000, 3000, 4000, 5000)  # of codes, to compare

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Settings:
    """The settings of an experiment; those of the paper by default.

    Attributes
    ----------
    n_bits : int
        The length of codes.
    n_trees : int
        How many trees the forests of the competitors have.
    n_rounds : int
        How many rounds the condensed filter tree has, at most: with many labels there are fewer.
    search : bool
        Whether parameters are searched in the training half.
    max_rows : int or None
        The number of rows of a data set, both halves together, that are used at most.
    lengths : tuple of int
        The lengths that ``code-length`` compares; a code of the last one is learnt, and cut short.
    """

    n_bits: int = 3000
    n_trees: int = 100
    n_rounds: int = 8
    search: bool = True
    max_rows: int | None = None
    lengths: tuple[int, ...] = LENGTHS

    def __str__(self) -> str:
        most_labels = LABELS_TIMES_ROUNDS // self.n_rounds
        parts = [
            f"codes of up to {self.n_bits} bits, cut from {max(self.lengths)} where lengths are compared",
            f"forests of {self.n_trees} trees",
            f"{self.n_rounds} rounds of CFT, fewer with more than {most_labels} labels",
            "parameters chosen in the training half" if self.search else "default parameters",
            "all rows" if self.max_rows is None else f"{self.max_rows} rows of each data set at most",
        ]
        return "; ".join(parts)


QUICK = Settings(
    n_bits=500,
    n_trees=20,
    n_rounds=2,
    search=False,
    max_rows=600,
    lengths=tuple(n for n in LENGTHS if n <= 1000),
)


def half_split(n: int, split: int, max_rows: int | None = None) -> tuple[Rows, Rows]:
    """Return the rows of the training and the test half of a random split.

    Examples
    --------
    >>> half_split(5, split=0)
    (array([2, 4]), array([3, 0, 1]))
    """
    order = np.random.default_rng(split).permutation(n)[:max_rows]
    half = len(order) // 2
    return order[:half], order[half:]
