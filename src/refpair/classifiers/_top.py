"""Lists of labels by what a classifier knows: ``predict_top``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.costs import RankedCost, get_cost
from refpair.decision.ranked import top_labels
from refpair.posterior.distribution import Distribution, Floats

_LENGTH = 5  # of a list, if nobody says


def list_cost(cost: Any) -> RankedCost:
    """Return a cost of lists; without one, labels are listed by their probabilities."""
    if cost is None:
        return RankedCost("precision", _LENGTH)
    found = get_cost(cost)
    if not isinstance(found, RankedCost):
        raise ValueError(f'cost must be one of lists, such as "precision@3" or "ndcg@10", not {found.name!r}')
    return found


def top_of(blocks: Iterable[Distribution], k: int, cost: RankedCost) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the numbers of the k best labels of each row, in order, and their probabilities."""
    numbers, probabilities = [], []
    for p in blocks:
        numbers.append(top_labels(p, cost, k))
        probabilities.append(np.take_along_axis(p.marginals(), numbers[-1], axis=1))
    return np.concatenate(numbers), np.concatenate(probabilities)
