"""Which rule decides for which cost, and the rules: thresholds, all label vectors, or a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._kernels import local_search
from refpair._kernels.expected import best_prefixes, best_prefixes_of_independent
from refpair._parallel import even_chunks, run_chunks
from refpair.costs import Cost, CountCost, PerLabelCost, RankedCost, _counts
from refpair.decision.allowed import best_allowed, best_by_marginals, likeliest_allowed
from refpair.decision.condition import SELDOM, chance_of_broken, conditioned, raised
from refpair.decision.expected import (
    CostTable,
    bounded_table,
    is_rank,
    largest_count,
    mean_costs,
    needs_only_marginals,
)
from refpair.decision.ranked import best_sets
from refpair.decision.rule_set import RuleSet, as_rule_set
from refpair.posterior.distribution import (
    MOST_ENUMERATED,
    Bytes,
    Distribution,
    Floats,
    IndependentLabels,
    LabelDistribution,
    Longs,
    all_vectors,
)

Rule = Callable[[Any], Bytes]

N_LIKELY = 8  # how many of a row's most probable vectors are starts of a search
_ROWS = 256  # decided on at a time
_BLOCK = 1 << 22  # numbers in a temporary array: 32 MB
_NOISE = 1e-12  # relative: what differs by less is the same but for rounding


def decide(distribution: Distribution, cost: Cost, *, rules: Any = None, n_jobs: int | None = None) -> Bytes:
    """Return the label vector of lowest expected cost for each row, out of all label vectors.

    The decision is exact for hamming, rank and per-label costs (a threshold for each label), zero_one (the
    most probable vector), F-beta, and for any cost of at most 10 labels (all 2^K vectors are tried). Ties go
    to the smallest number of labels. Other costs use a local search: for costs of counts (jaccard and
    :meth:`Cost.from_counts`) no flip of a label nor swap of two lowers the expected cost of its result, for
    costs of any function no flip does.

    For independent labels the decision is exact in these cases too, and for any cost of the counts that never
    rises with tp for given numbers of true and of predicted labels, such as jaccard. Otherwise the decision
    is for 1000 label vectors that are drawn for each row, always with the same random numbers.

    For a cost of lists, the decision is the labels of the best list, which :func:`top_labels` has in order.

    With rules, label vectors that break one are left out of the distribution, and the decision is the best
    that keeps all rules. Of a row of which all vectors break a rule, none is left out. What is exact without
    rules is exact with them, but for more than 10 independent labels, of which 200 vectors that keep the
    rules are drawn for each row; the local search never leaves what is allowed. A distribution that
    `is_of_labels` keeps the probabilities of its labels instead, but for a parent, which is as probable as
    each of its children. The smallest weights, of at most 5 % in all, are left out then, and a row that
    breaks a rule with a probability of at most 1 % keeps its distribution.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        The distribution of the label vector of each row.
    cost : Cost
        The cost of predicting one label vector when another is true. Prices of rows must be of these rows.
    rules : list of rules, optional
        What decisions must keep, such as ``[AtMost(3)]``, with the numbers of labels.
    n_jobs : int, optional
        Number of threads, as in joblib. The decision does not depend on it.

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
    kept = None if rules is None else as_rule_set(rules, distribution.n_labels)
    if kept is not None:
        return _decide_allowed(distribution, cost, kept, n_jobs)
    if isinstance(cost, RankedCost):
        return best_sets(distribution, cost)
    if needs_only_marginals(cost):
        return _by_thresholds(distribution.marginals(), cost)
    rule = exact_decision(distribution, cost) if distribution.is_independent else None
    if rule is not None:
        return _by_chunks(rule, distribution, n_jobs)
    parts = (part for _, part in distribution.weighted())
    decided = [_by_chunks(_rule_on(part.vectors, cost), part, n_jobs) for part in parts]
    return np.concatenate([np.zeros((0, distribution.n_labels), np.uint8), *decided])


def _decide_allowed(distribution: Distribution, cost: Cost, rules: RuleSet, n_jobs: int | None) -> Bytes:
    """Decide freely where truths seldom break rules, else given that they do not; mend what breaks one."""
    if isinstance(cost, RankedCost):
        raise ValueError(
            f"rules are about label vectors, and {cost.name!r} is a cost of lists of a fixed length"
        )
    # The likeliest vector of those that are allowed is so under either distribution.
    is_mode = isinstance(cost, CountCost) and cost.counts is _counts.zero_one
    if distribution.is_of_labels:
        is_drawn = distribution.is_independent and distribution.n_labels > MOST_ENUMERATED
        if needs_only_marginals(cost) or (is_mode and is_drawn):
            marginals, of_truths = distribution.marginals(), rules.of_truths
            known = marginals if of_truths is None else raised(marginals, of_truths)
            return likeliest_allowed(known, rules) if is_mode else best_by_marginals(known, cost, rules)
    best = np.zeros((len(distribution), distribution.n_labels), np.uint8)
    is_left = chance_of_broken(distribution, rules.of_truths) > SELDOM
    if not is_left.all():
        best = decide(distribution, cost, n_jobs=n_jobs)
        is_broken = ~(is_left | rules.allows(best))
        if is_mode or isinstance(distribution, IndependentLabels):
            is_left |= is_broken
        else:
            _mend(best, np.flatnonzero(is_broken), distribution, cost, rules, n_jobs)
    if len(left := np.flatnonzero(is_left)):
        rest = distribution if is_left.all() else distribution.taken(left)
        for rows, part in conditioned(rest, rules, all_rules=is_mode):
            own = cost.for_rows(left[rows])
            answer = decide(part, own, n_jobs=n_jobs)
            _mend(answer, np.flatnonzero(~rules.allows(answer)), part, own, rules, n_jobs)
            best[left[rows]] = answer
    return best


def _mend(
    answer: Bytes,
    broken: Longs,
    distribution: LabelDistribution,
    cost: Cost,
    rules: RuleSet,
    n_jobs: int | None,
) -> None:
    """Write the best allowed labels into the rows of the answer that break a rule."""
    if len(broken):
        part, own = distribution.taken(broken), cost.for_rows(broken)

        def again(some: slice) -> Bytes:
            return best_allowed(part[some], own.for_rows(some), rules)

        chunks = even_chunks(len(broken), _ROWS, n_jobs)
        parts = run_chunks(again, chunks, n_jobs=n_jobs, title="deciding", in_place=True)
        answer[broken] = np.concatenate(parts)


def _by_chunks(rule: Rule, distribution: Distribution, n_jobs: int | None) -> Bytes:
    def some(rows: slice) -> Bytes:
        return rule(distribution[rows])

    chunks = even_chunks(len(distribution), _ROWS, n_jobs)
    return np.concatenate(run_chunks(some, chunks, n_jobs=n_jobs, title="deciding", in_place=True))


def decide_blocks(
    blocks: Iterable[tuple[slice, Distribution]],
    cost: Cost,
    *,
    rules: RuleSet | None = None,
    n_jobs: int | None = None,
) -> Bytes:
    """Return the decisions on blocks of rows, one after the other, by which each has its prices."""
    return np.concatenate([decide(p, cost.for_rows(rows), rules=rules, n_jobs=n_jobs) for rows, p in blocks])


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
    """Return a function that decides on rows of independent labels, exactly and soon, or None.

    The likeliest labels, as many as cost least, are the best of all decisions if the cost never rises with tp
    while |y| and |z| stay. Where there is room for a part of the table of costs only, they are the best of
    the decisions of no more labels than that; where there is none at all, there is no such rule.
    """
    own = _own_rule(cost)
    if own is not None or not isinstance(cost, CountCost):
        return own
    largest = largest_count(labels.marginals().sum(axis=1), labels.n_labels)
    table = bounded_table(cost, np.arange(largest + 1), labels.n_labels)
    if table is None or table.rises_with_tp():
        return None
    costs = (table.first_cell, table.costs, table.slack)
    return lambda rows: np.asarray(best_prefixes_of_independent(rows.marginals(), *costs))


def _by_thresholds(p: npt.NDArray[np.float64], cost: Cost) -> Bytes:
    """Decide for a linear cost; a label that may be there or not at the same cost is left out."""
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1], len(p))
        present, absent = p * fn, (1.0 - p) * fp
    elif is_rank(cost):
        present, absent = p, p.mean(axis=1, keepdims=True)
    else:
        present, absent = p, 1.0 - p
    return np.asarray(present > absent * (1.0 + _NOISE)).astype(np.uint8)


def _own_rule(cost: Cost) -> Rule | None:
    """Return the rule of F-beta and of the zero-one loss, which is exact for any distribution."""
    counts = cost.counts if isinstance(cost, CountCost) else None
    if isinstance(counts, _counts.FBeta):
        beta = counts.beta
        return lambda rows: rows.best_f_beta(beta)
    return (lambda rows: rows.mode()) if counts is _counts.zero_one else None


def _rule_on(vectors: Bytes, cost: Cost) -> Rule:
    """Return the rule for distributions over the vectors."""
    own = _own_rule(cost)
    if own is not None:
        return own
    if vectors.shape[1] <= MOST_ENUMERATED:
        return exhaustive_rule(vectors, cost)
    return local_search_rule(vectors, cost) if isinstance(cost, CountCost) else function_search_rule(cost)


def exhaustive_rule(vectors: Bytes, cost: Cost) -> Rule:
    """Return a function that decides on distributions over the vectors, exactly: it tries all label vectors.

    Ties go to the smallest number of labels, and of as many to the labels that come first.
    """
    candidates = all_vectors(vectors.shape[1])
    support, merged = np.unique(vectors, axis=0, return_inverse=True)
    costs = cost.matrix(support, candidates)
    slack = _NOISE * np.abs(costs).max(initial=0.0)
    merged = merged.ravel()

    def rule(distribution: LabelDistribution) -> Bytes:
        n = len(distribution)
        entries = (distribution.weight, merged[distribution.index], distribution.start)
        weights = sp.csr_array(entries, shape=(n, len(support)))
        best = np.empty(n, np.int64)
        step = max(1, _BLOCK // len(candidates))
        for first in range(0, n, step):
            expected = weights[first : first + step].toarray() @ costs
            least = expected.min(axis=1, keepdims=True)
            best[first : first + step] = (expected <= least + slack).argmax(axis=1)
        return candidates[best]

    return rule


def local_search_rule(vectors: Bytes, cost: CountCost) -> Rule:
    """Return a function that decides on distributions over the vectors.

    No flip of a label and no swap of two lowers the expected cost of the decision, and it costs no more than
    the best for F1, the row's most probable labels however many are taken, and its most probable vectors.

    Where the table of costs would grow beyond 50 MB (it is there twice), only decisions with fewer labels
    than it has room for are looked at, though never fewer than the largest vector has.
    """
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), vectors.shape[1])
    if table is None:
        return function_search_rule(cost)
    likeliest_labels = _likeliest_labels(table, vectors.shape[1])

    def rule(distribution: LabelDistribution) -> Bytes:
        starts = np.stack([distribution.best_f_beta(1.0), likeliest_labels(distribution)])
        searched = (table.first_cell, table.costs, starts, N_LIKELY, table.slack)
        return np.asarray(local_search.search(distribution.entries(), *searched))

    return rule


def likeliest_labels_rule(vectors: Bytes, cost: CountCost) -> Rule | None:
    """Return a function that takes as many of a row's most probable labels as cost least.

    None where there would be too many costs to keep in a table.
    """
    table = bounded_table(cost, vectors.sum(axis=1, dtype=np.int64), vectors.shape[1])
    return None if table is None else _likeliest_labels(table, vectors.shape[1])


def _likeliest_labels(table: CostTable, n_labels: int) -> Rule:
    # Not the table itself, so that the other copy of its costs may go.
    first_of_size, size_of_vector = np.unique(table.first_cell, return_inverse=True)
    least = np.minimum.reduceat(np.where(table.possible, table.costs, np.inf), first_of_size, axis=1)
    by_cell = np.ascontiguousarray(table.costs.T)
    costs = (table.first_cell, by_cell, size_of_vector.astype(np.int64), least, table.slack)

    def rule(distribution: LabelDistribution) -> Bytes:
        return np.asarray(best_prefixes(distribution.entries(), *costs, n_labels))

    return rule


def function_search_rule(cost: Cost) -> Rule:
    """Return a function that decides by calls of the cost; no flip of one label lowers the expected cost.

    Swaps of two labels are not tried: there are as many as pairs of labels, each a call.
    """

    def rule(distribution: LabelDistribution) -> Bytes:
        labels, costs = _best_start(distribution, cost)
        left = np.arange(len(distribution))
        while len(left):
            flip, after = _best_flips(distribution.taken(left), labels[left], cost)
            better = after < costs[left] - _NOISE * (1.0 + np.abs(costs[left]))
            left, flip = left[better], flip[better]
            labels[left, flip] ^= 1
            costs[left] = after[better]
        return labels

    return rule


def _best_start(distribution: LabelDistribution, cost: Cost) -> tuple[Bytes, Floats]:
    """Return the cheapest of the starts that a local search takes, and its expected cost."""
    best = distribution.best_f_beta(1.0)
    least = mean_costs(distribution, best, cost)
    for start in _starts(distribution):
        costs = mean_costs(distribution, start, cost)
        better = costs < least - _NOISE * (1.0 + np.abs(least))
        best[better], least[better] = start[better], costs[better]
    return best, least


def _starts(distribution: LabelDistribution) -> Iterator[Bytes]:
    likely, _ = distribution.most_likely(N_LIKELY)
    yield from likely.swapaxes(0, 1)
    marginals = distribution.marginals()
    order = np.argsort(-marginals, axis=1, kind="stable")
    start = np.zeros(marginals.shape, np.uint8)
    yield start
    for m in range(int(np.count_nonzero(marginals, axis=1).max(initial=0))):
        np.put_along_axis(start, order[:, m : m + 1], 1, axis=1)
        yield start


def _best_flips(
    distribution: LabelDistribution, labels: Bytes, cost: Cost
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return the flip of least expected cost for each row, and this cost."""
    best, least = np.zeros(len(labels), np.int64), np.full(len(labels), np.inf)
    for k in range(labels.shape[1]):
        flipped = labels.copy()
        flipped[:, k] ^= 1
        costs = mean_costs(distribution, flipped, cost)
        better = costs < least
        best[better], least[better] = k, costs[better]
    return best, least
