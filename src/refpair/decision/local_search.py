"""Costs of the counts without a rule of their own, such as accuracy: local search in a kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from refpair._kernels import local_search
from refpair._kernels.expected import best_prefixes
from refpair.costs import CountCost
from refpair.decision.f_measure import best_f_beta
from refpair.decision.function_search import function_search_rule
from refpair.decision.table import CostTable, bounded_table
from refpair.posterior import LabelDistribution

__all__ = ["N_LIKELY", "likeliest_labels_rule", "local_search_rule"]

N_LIKELY = 8  # how many of a row's most probable vectors are starts


def local_search_rule(
    vectors: npt.NDArray[np.uint8], cost: CountCost
) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]]:
    """Return a function that decides on distributions over the vectors.

    No flip of a label and no swap of two lowers the expected cost of the decision, and it costs no more than
    the best for F1, the row's most probable labels however many are taken, and its most probable vectors.

    Where the table of costs would grow beyond 50 MB (it is there twice), only decisions with fewer labels
    than it has room for are looked at, though never fewer than the largest vector has.
    """
    n_labels = vectors.shape[1]
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), n_labels)
    if table is None:
        return function_search_rule(cost)
    likeliest_labels = _likeliest_labels(table, n_labels)

    def rule(distribution: LabelDistribution) -> npt.NDArray[np.uint8]:
        row = (distribution.start, distribution.index, distribution.weight, *distribution.labels_of_vector())
        starts = np.stack([best_f_beta(distribution, 1.0), likeliest_labels(distribution)])
        return np.asarray(
            local_search.search(*row, table.first_cell, table.costs, starts, N_LIKELY, table.slack)
        )

    return rule


def likeliest_labels_rule(
    vectors: npt.NDArray[np.uint8], cost: CountCost
) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]] | None:
    """Return a function that takes as many of a row's most probable labels as cost least.

    None where there would be too many costs to keep in a table.
    """
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), vectors.shape[1])
    return None if table is None else _likeliest_labels(table, vectors.shape[1])


def _likeliest_labels(
    table: CostTable, n_labels: int
) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]]:
    # Not the table itself, so that the other copy of its costs may go.
    first_cell, by_cell, slack = table.first_cell, table.by_cell, table.slack
    size_of_vector, least = table.size_of_vector, table.least

    def rule(distribution: LabelDistribution) -> npt.NDArray[np.uint8]:
        row = (distribution.start, distribution.index, distribution.weight, *distribution.labels_of_vector())
        found = best_prefixes(*row, first_cell, by_cell, size_of_vector, least, slack, n_labels)
        return np.asarray(found)

    return rule
