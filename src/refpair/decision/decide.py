"""Which rule decides for which cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from refpair._progress import run_chunks
from refpair.costs import Cost, CountCost, _counts
from refpair.decision.exhaustive import MOST_LABELS, exhaustive_rule
from refpair.decision.f_measure import best_f_beta
from refpair.decision.function_search import function_search_rule
from refpair.decision.independent import independent_rule, stand_ins
from refpair.decision.linear import decide_from_marginals, needs_only_marginals
from refpair.decision.local_search import likeliest_labels_rule, local_search_rule
from refpair.decision.mode import most_probable
from refpair.posterior import IndependentLabels, LabelDistribution

__all__ = ["decide", "exact_decision", "quick_decision"]

_ROWS, _ROWS_A_JOB = 1024, 64  # decided on at a time: by one thread, by each of several


def decide(
    distribution: LabelDistribution | IndependentLabels, cost: Cost, *, n_jobs: int | None = None
) -> npt.NDArray[np.uint8]:
    """Return the label vector of least expected cost for each row, of all label vectors there are.

    The decision is exact for hamming, rank, per-label, zero_one and F-beta costs, and for any cost of at most
    10 labels. Otherwise it comes of a local search: for a cost of the counts (accuracy and those of
    :meth:`Cost.from_counts`) no flip of a label nor swap of two lowers the expected cost, for a cost of any
    function no flip does.

    For independent labels the decision is exact in these cases too, and for any cost of the counts that never
    rises with tp for given numbers of true and of predicted labels, such as accuracy. Otherwise 1000 label
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
    >>> vectors = [[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    >>> p = LabelDistribution.from_dense(vectors, [[0.4, 0.2, 0.2, 0.2]])
    >>> decide(p, get_cost("zero_one"))
    array([[0, 0, 0, 0]], dtype=uint8)
    >>> decide(p, get_cost("hamming"))
    array([[1, 0, 0, 0]], dtype=uint8)
    """
    if needs_only_marginals(cost):
        return decide_from_marginals(distribution.marginals(), cost)
    rule = _rule_for(distribution, cost)
    step = _ROWS if n_jobs in (None, 1) else _ROWS_A_JOB
    chunks = [slice(i, min(i + step, len(distribution))) for i in range(0, len(distribution), step)]
    decided = run_chunks(
        lambda rows: rule(distribution[rows]),
        chunks,
        n_jobs=n_jobs,
        verbose=0,
        title="deciding",
        in_place=True,
    )
    return np.concatenate([np.zeros((0, distribution.n_labels), np.uint8), *decided])


def quick_decision(
    vectors: npt.NDArray[np.uint8], cost: Cost
) -> Callable[[LabelDistribution], npt.NDArray[np.uint8]]:
    """Return a function that decides for a cost, and does no local search for a cost of the counts.

    Where that is what :func:`decide` does, as many of the likeliest labels are taken as cost least: near
    enough to tell good distributions over the vectors from bad ones, and many times faster.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> p = LabelDistribution.from_dense([[0, 1], [1, 1]], [[2, 6]])
    >>> quick_decision(p.vectors, get_cost("f1"))(p)
    array([[1, 1]], dtype=uint8)
    """
    rule = None
    if vectors.shape[1] > MOST_LABELS and isinstance(cost, CountCost) and not _has_own_rule(cost):
        rule = likeliest_labels_rule(vectors, cost)
    return rule or _rule_on(vectors, cost)


def exact_decision(
    labels: IndependentLabels, cost: Cost
) -> Callable[[IndependentLabels], npt.NDArray[np.uint8]] | None:
    """Return a function that decides on rows of independent labels, exactly and soon; None if there is none.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> labels = IndependentLabels([[0.9, 0.6], [0.1, 0.2]])
    >>> exact_decision(labels, get_cost("f1"))(labels)
    array([[1, 1],
           [0, 0]], dtype=uint8)
    """
    if not isinstance(cost, CountCost):
        return None
    if isinstance(cost.counts, _counts.FBeta):
        beta = cost.counts.beta
        return lambda rows: best_f_beta(rows, beta)
    if cost.counts is _counts.zero_one:
        return lambda rows: (rows.marginals() > 0.5).astype(np.uint8)
    return independent_rule(labels, cost)


def _has_own_rule(cost: CountCost) -> bool:
    return isinstance(cost.counts, _counts.FBeta) or cost.counts is _counts.zero_one


def _rule_for(
    distribution: LabelDistribution | IndependentLabels, cost: Cost
) -> Callable[..., npt.NDArray[np.uint8]]:
    if isinstance(distribution, LabelDistribution):
        return _rule_on(distribution.vectors, cost)
    exact = exact_decision(distribution, cost)
    if exact is not None:
        return exact
    return lambda rows: np.concatenate([_rule_for(part, cost)(part) for _, part in stand_ins(rows)])


def _rule_on(vectors: npt.NDArray[np.uint8], cost: Cost) -> Callable[..., npt.NDArray[np.uint8]]:
    """Return the rule for distributions over the vectors."""
    if isinstance(cost, CountCost) and _has_own_rule(cost):
        if isinstance(cost.counts, _counts.FBeta):
            beta = cost.counts.beta
            return lambda rows: best_f_beta(rows, beta)
        return most_probable
    if vectors.shape[1] <= MOST_LABELS:
        return exhaustive_rule(vectors, cost)
    if isinstance(cost, CountCost):
        return local_search_rule(vectors, cost)
    return function_search_rule(cost)
