"""The largest cost that a mistake about label vectors can have."""

from __future__ import annotations

import numpy as np

from refpair.costs import _counts
from refpair.costs.cost import Cost, CountCost, FunctionCost, PerLabelCost

_MOST_LABELS = 10  # of a cost of any function: all pairs of label vectors are tried
_MOST_COUNTS = 1_000_000  # of a cost of counts: all counts are


def largest_cost(cost: Cost, n_labels: int) -> float:
    """Return the largest cost of predicting any label vector when any other one is right.

    A ValueError says what to do about a cost of whom it is not known.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> largest_cost(get_cost("f1"), 20), largest_cost(get_cost("rank"), 20)
    (1.0, 100.0)
    >>> largest_cost(Cost.per_label(false_positive=1, false_negative=[5, 0.5]), 2)
    6.0
    """
    if not cost.compares_vectors or cost.n_rows is not None:
        raise ValueError(f"{cost.name!r} is no cost of label vectors that is the same for all rows")
    if isinstance(cost, PerLabelCost):
        return float(np.maximum(*cost.prices(n_labels)).sum())
    if isinstance(cost, CountCost):
        if isinstance(cost.counts, _counts.FBeta) or cost.counts in (
            _counts.hamming,
            _counts.jaccard,
            _counts.zero_one,
        ):
            return 1.0
        if cost.counts is _counts.rank:  # all labels are wrong, half of them are there
            return float(n_labels * n_labels // 4)
        if (n_labels + 1) ** 3 <= _MOST_COUNTS:
            tp, fp, fn = np.indices((n_labels + 1,) * 3).reshape(3, -1)
            some = np.flatnonzero(tp + fp + fn <= n_labels)
            # Rows of which the counts are these: the labels there are, then those that are predicted.
            tp, fp, fn = tp[some, None], fp[some, None], fn[some, None]
            label = np.arange(n_labels)
            truths = label < tp + fn
            predictions = (label < tp) | ((label >= tp + fn) & (label < tp + fn + fp))
            return float(cost.rows(truths, predictions).max())
    elif isinstance(cost, FunctionCost) and n_labels <= _MOST_LABELS:
        vectors = np.array(list(np.ndindex((2,) * n_labels)), np.uint8)
        return float(cost.matrix(vectors, vectors).max())
    raise ValueError(
        f"the largest cost of {cost.name!r} is not known for {n_labels} labels: say it by largest_cost="
    )
