"""Costs of the counts as a table for the kernels, so that they never call Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refpair.costs import CountCost

__all__ = ["CostTable", "bounded_table", "table_width", "tabulate"]

_NOISE = 1e-12  # of the largest cost
_CELLS = 6_000_000  # of a table: about 50 MB
_BLOCK = 1 << 18  # cells to be found at once


@dataclass(frozen=True, eq=False)
class CostTable:
    """Costs by |z|, |y| and tp, laid out as ``_kernels/expected.py`` says.

    ``costs[i]`` are those of the i-th |z|, ``first_cell[v]`` is where those of the size of vector v are, and
    ``tp`` and ``possible`` tell of each cell what it stands for and whether the counts can be.
    """

    costs: npt.NDArray[np.float64]
    first_cell: npt.NDArray[np.int64]
    tp: npt.NDArray[np.int64]
    possible: npt.NDArray[np.bool_]

    @cached_property
    def slack(self) -> float:
        """What expected costs may differ by and still be the same, but for rounding."""
        return _NOISE * float(np.abs(self.costs).max(initial=0.0))

    @cached_property
    def by_cell(self) -> npt.NDArray[np.float64]:
        """The costs with a row for each cell and a column for each |z|, as ``_kernels/prefixes.py`` wants."""
        return np.ascontiguousarray(self.costs.T)

    @cached_property
    def size_of_vector(self) -> npt.NDArray[np.int64]:
        """The number of each vector's size among the distinct ones."""
        return np.unique(self.first_cell, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def least(self) -> npt.NDArray[np.float64]:
        """The least cost whatever tp is, with a row for each |z| and a column for each distinct |y|."""
        costs = np.where(self.possible, self.costs, np.inf)
        return np.minimum.reduceat(costs, np.unique(self.first_cell), axis=1)

    def rises_with_tp(self) -> bool:
        """Tell whether one more right label ever costs more, |y| and |z| being the same."""
        pairs = self.possible[:, 1:] & self.possible[:, :-1] & (self.tp[1:] > 0)
        return bool((pairs & (self.costs[:, 1:] > self.costs[:, :-1] + self.slack)).any())


def table_width(sizes: npt.NDArray[np.int64]) -> int:
    """Return the number of cells that a table for truths of these sizes has for each |z|."""
    return int((np.unique(sizes) + 1).sum())


def bounded_table(cost: CountCost, sizes: npt.NDArray[np.int64], n_labels: int) -> CostTable | None:
    """Make the table for predictions of 0, 1, 2, … labels, up to as many as there are or it has room for.

    There is room for at least as many labels as the largest truth has, or else for no table at all.
    """
    width = table_width(sizes)
    largest = min(n_labels, max(int(sizes.max(initial=0)), _CELLS // max(1, width) - 1))
    if width * (largest + 1) > 8 * _CELLS:  # many hundreds of labels a vector
        return None
    return tabulate(cost, sizes, np.arange(largest + 1), n_labels)


def tabulate(
    cost: CountCost, sizes: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64], n_labels: int
) -> CostTable:
    """Make the table for truths whose sizes are given by vector, and for predictions of the given sizes."""
    distinct, which = np.unique(sizes, return_inverse=True)
    first = np.concatenate([[0], np.cumsum(distinct + 1)]).astype(np.int64)
    truth = np.repeat(distinct, distinct + 1)
    tp = np.arange(len(truth)) - np.repeat(first[:-1], distinct + 1)
    costs = np.zeros((len(predicted), len(truth)))
    possible = np.empty(costs.shape, np.bool_)
    step = max(1, _BLOCK // max(1, len(truth)))
    for begin in range(0, len(predicted), step):
        size = predicted[begin : begin + step, None]
        possible[begin : begin + step] = (tp <= size) & (size - tp <= n_labels - truth)
        row, cell = np.nonzero(possible[begin : begin + step])
        tps, truths, predictions = (part.astype(np.float64) for part in (tp[cell], truth[cell], size[row, 0]))
        # The cost's own check of what the function gives: it names the counts that it fails for.
        costs[begin + row, cell] = cost._of_counts(tps, truths, predictions, n_labels)
    return CostTable(costs, first[which.ravel()], tp, possible)
