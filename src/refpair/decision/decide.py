"""Which rule decides for which cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._parallel import run_chunks
from refpair.costs import Cost, CountCost, PerLabelCost, _counts
from refpair.decision.expected import is_rank, needs_only_marginals
from refpair.decision.search import (
    exhaustive_rule,
    function_search_rule,
    independent_rule,
    likeliest_labels_rule,
    local_search_rule,
)
from refpair.posterior.distribution import MOST_ENUMERATED, Distribution

Bytes = npt.NDArray[np.uint8]
Rule = Callable[[Any], Bytes]

_ROWS, _ROWS_A_JOB = 1024, 64  # decided on at a time: by one thread, by each of several
_NOISE = 1e-12  # sides of a comparison whose ratio is this near to 1 are the same but for rounding


def decide(distribution: Distribution, cost: Cost, *, n_jobs: int | None = None) -> Bytes:
    """Return the label vector of least expected cost for each row, of all label vectors there are.

    The decision is exact for hamming, rank, per-label, zero_one and F-beta costs, and for any cost of at most
    10 labels. Otherwise it comes of a local search: for a cost of the counts (jaccard and those of
    :meth:`Cost.from_counts`) no flip of a label nor swap of two lowers the expected cost, for a cost of any
    function no flip does.

    For independent labels the decision is exact in these cases too, and for any cost of the counts that never
    rises with tp for given numbers of true and of predicted labels, such as jaccard. Otherwise 1000 label
    vectors are drawn for each row, always with the same random numbers, and the decision is for these.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What each row's label vector may be.
    cost : Cost
        What it costs to predict a label vector when another one is right.
    n_jobs : int, optional
        How many threads decide, as in joblib. The decision does not depend on it.

    Returns
    -------
    ndarray of shape (n, n_labels), dtype uint8

    Examples
    --------
    With probability 0.4 there are no labels, else the first and one of the others.

    >>> from refpair.costs import get_cost
    >>> from refpair.posterior import LabelDistribution
    >>> vectors = [[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    >>> p = LabelDistribution.from_dense(vectors, [[0.4, 0.2, 0.2, 0.2]])
    >>> decide(p, get_cost("zero_one"))
    array([[0, 0, 0, 0]], dtype=uint8)
    >>> decide(p, get_cost("hamming"))
    array([[1, 0, 0, 0]], dtype=uint8)
    """
    if needs_only_marginals(cost):
        return _by_thresholds(distribution.marginals(), cost)
    rule = exact_decision(distribution, cost) if distribution.is_independent else None
    if rule is not None:
        return _by_chunks(rule, distribution, n_jobs)
    parts = (part for _, part in distribution.weighted())
    decided = [_by_chunks(_rule_on(part.vectors, cost), part, n_jobs) for part in parts]
    return np.concatenate([np.zeros((0, distribution.n_labels), np.uint8), *decided])


def _by_chunks(rule: Rule, distribution: Distribution, n_jobs: int | None) -> Bytes:
    step = _ROWS if n_jobs in (None, 1) else _ROWS_A_JOB
    chunks = [slice(i, min(i + step, len(distribution))) for i in range(0, len(distribution), step)]

    def work(rows: slice) -> Bytes:
        return rule(distribution[rows])

    decided = run_chunks(work, chunks, n_jobs=n_jobs, title="deciding", in_place=True)
    return np.concatenate([np.zeros((0, distribution.n_labels), np.uint8), *decided])


def decide_blocks(
    blocks: Iterable[tuple[slice, Distribution]], cost: Cost, *, n_jobs: int | None = None
) -> Bytes:
    """Return the decisions on blocks of rows, one after the other."""
    return np.concatenate([decide(distribution, cost, n_jobs=n_jobs) for _, distribution in blocks])


def quick_decision(vectors: Bytes, cost: Cost) -> Rule:
    """Return a function that decides on distributions over the vectors, without a local search.

    Where that is what :func:`decide` does for a cost of the counts, as many of the likeliest labels are taken
    as cost least: near enough to tell good distributions from bad ones, and many times faster.
    """
    rule = None
    if vectors.shape[1] > MOST_ENUMERATED and isinstance(cost, CountCost) and _own_rule(cost) is None:
        rule = likeliest_labels_rule(vectors, cost)
    return rule or _rule_on(vectors, cost)


def exact_decision(labels: Distribution, cost: Cost) -> Rule | None:
    """Return a function that decides on rows of independent labels, exactly and soon, or None."""
    if not isinstance(cost, CountCost):
        return None
    return _own_rule(cost) or independent_rule(labels, cost)


def _by_thresholds(p: npt.NDArray[np.float64], cost: Cost) -> Bytes:
    """Decide for a linear cost; a label that may be there or not at the same cost is left out."""
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1])
        present, absent = p * fn, (1.0 - p) * fp
    elif is_rank(cost):
        present, absent = p, p.mean(axis=1, keepdims=True)
    else:
        present, absent = p, 1.0 - p
    return np.asarray(present > absent * (1.0 + _NOISE)).astype(np.uint8)


def _own_rule(cost: CountCost) -> Rule | None:
    """Return the rule of F-beta and of the zero-one loss, which is exact for any distribution."""
    if isinstance(cost.counts, _counts.FBeta):
        beta = cost.counts.beta
        return lambda rows: rows.best_f_beta(beta)
    if cost.counts is _counts.zero_one:
        return lambda rows: rows.mode()
    return None


def _rule_on(vectors: Bytes, cost: Cost) -> Rule:
    """Return the rule for distributions over the vectors."""
    own = _own_rule(cost) if isinstance(cost, CountCost) else None
    if own is not None:
        return own
    if vectors.shape[1] <= MOST_ENUMERATED:
        return exhaustive_rule(vectors, cost)
    if isinstance(cost, CountCost):
        return local_search_rule(vectors, cost)
    return function_search_rule(cost)
