"""Independent labels: costs of the counts exactly, and stand-ins for what has no rule for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from refpair._kernels.expected import best_prefixes_of_independent
from refpair.costs import CountCost
from refpair.decision.exhaustive import MOST_LABELS, all_vectors
from refpair.decision.table import bounded_table
from refpair.posterior import IndependentLabels, LabelDistribution

__all__ = ["independent_rule", "stand_ins"]

_N_SAMPLES = 1000
_SEED = 20260
_BLOCK = 1 << 24  # labels, or weights, in a block of rows
_TAIL = 40.0  # sizes with a smaller probability than exp(−40) are left out


def independent_rule(
    labels: IndependentLabels, cost: CountCost
) -> Callable[[IndependentLabels], npt.NDArray[np.uint8]] | None:
    """Return a function that decides on rows of the labels: the likeliest labels, as many as cost least.

    That is the best of all decisions if the cost never rises with tp while |y| and |z| stay; for other costs,
    and where there is no room for a table of the costs, there is no such rule and None is returned. Where
    there is room for a part of the table only, it is the best of the decisions of no more labels than that.
    """
    sizes = np.arange(_largest_size(labels) + 1)
    table = bounded_table(cost, sizes, labels.n_labels)
    if table is None:
        return None
    if table.rises_with_tp():
        return None
    return lambda rows: np.asarray(
        best_prefixes_of_independent(rows.marginals(), table.first_cell, table.costs, table.slack)
    )


def stand_ins(labels: IndependentLabels) -> Iterator[tuple[slice, LabelDistribution]]:
    """Give blocks of rows as distributions over label vectors: all vectors if there are few, else a sample.

    What is drawn for a row depends on no other row, and is the same each time.
    """
    few = labels.n_labels <= MOST_LABELS
    width = 1 << labels.n_labels if few else _N_SAMPLES * labels.n_labels
    step = max(1, _BLOCK // width)
    for first in range(0, len(labels), step):
        rows = slice(first, min(first + step, len(labels)))
        if few:
            yield rows, _all_weights(labels[rows].marginals())
        else:
            yield rows, labels[rows].sample(_N_SAMPLES, np.random.default_rng(_SEED), common=True)


def _all_weights(marginals: npt.NDArray[np.float64]) -> LabelDistribution:
    vectors = all_vectors(marginals.shape[1])
    weights = np.ones((len(marginals), len(vectors)))
    for label, p in zip(vectors.T, marginals.T, strict=True):
        weights *= np.where(label, p[:, None], 1.0 - p[:, None])
    return LabelDistribution.from_dense(vectors, weights)


def _largest_size(labels: IndependentLabels) -> int:
    """Return a size that is exceeded as good as never: by Chernoff's bound, P(|y| ≥ s) ≤ e^(s−μ) (μ/s)^s."""
    mean = float(labels.marginals().sum(axis=1).max(initial=0.0))
    size = math.ceil(mean)
    while size < labels.n_labels and (mean > 0) and size * math.log(size / mean) - size + mean < _TAIL:
        size += 1
    return size
