"""Whether to ask a person, at a price: about whole rows, or about single labels.

A person's answer about a row is worth what the best answer is expected to cost, less what the truth costs as
an answer. Labels are asked one after the other: each time the one that is worth most beyond its price, by
what is known then. If none is worth its price by itself, all that are left may be together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refpair._parallel import chunks_of, run_chunks
from refpair.costs import Cost, CountCost, PerLabelCost, _counts
from refpair.decision.rule_set import RuleSet
from refpair.decision.value import cost_of_truths, least_expected_cost, values_of_labels
from refpair.posterior.distribution import MOST_ENUMERATED, Bytes, Distribution, Floats
from refpair.tables.labels import UNKNOWN

_ROWS = 256  # asked about at a time
_SELDOM = 1e-3  # what is known with a smaller probability is asked no more about
_NOISE = 1e-9  # what differs by less is the same but for rounding


@dataclass(frozen=True, eq=False)
class LabelQuestions:
    """What to ask about single labels, and what questions and answers are expected to cost.

    Parameters
    ----------
    gain : array of shape (n, n_labels)
        By how much a label's answer lowers the expected cost beyond its price; at most 0: it is not asked.
    questions : array of shape (n,)
        What all questions about a row are expected to cost.
    n_questions : array of shape (n,)
        How many these are expected to be.
    answers : array of shape (n,)
        What the answer is expected to cost after them.
    """

    gain: Floats
    questions: Floats
    n_questions: Floats
    answers: Floats


def ask_labels(
    distribution: Distribution,
    cost: Cost,
    prices: Floats,
    observed: Bytes | None = None,
    *,
    rules: RuleSet | None = None,
    n_jobs: int | None = None,
    verbose: int | None = None,
) -> LabelQuestions:
    """Return what to ask about single labels.

    The values of labels are exact where the decision is. Of more than 10 labels that may be asked, the 10 of
    largest p (1 − p) beyond their prices are looked at. For Hamming loss and prices of labels without rules,
    labels are taken one by one: what an answer tells of other labels does not count.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What each row's label vector may be.
    cost : Cost
    prices : array of shape (n_labels,)
        The price of a question about each label; infinite: it is not asked.
    observed : array of shape (n, n_labels), dtype uint8, optional
        What is known already, as the distribution knows: 0, 1, or UNKNOWN (2).
    rules : RuleSet, optional
        What answers keep.
    n_jobs, verbose : int, optional

    Examples
    --------
    The first label is nearly sure, and a question about the second costs less than it is worth.

    >>> from refpair.costs import get_cost
    >>> from refpair.posterior import IndependentLabels
    >>> p = IndependentLabels([[0.9, 0.5]])
    >>> asked = ask_labels(p, get_cost("hamming"), np.array([0.1, 0.1]))
    >>> asked.gain
    array([[-0.05,  0.15]])
    >>> asked.questions + asked.answers
    array([0.15])
    """
    if observed is None:
        observed = np.full((len(distribution), distribution.n_labels), UNKNOWN, np.uint8)

    def some(rows: slice) -> LabelQuestions:
        part, own = distribution[rows], cost.for_rows(rows)
        if rules is None and (worth := _worth_one_by_one(part, own)) is not None:
            return _one_by_one(worth, np.where(observed[rows] == UNKNOWN, prices, np.inf))
        return _Tree(part, own, prices, rules).grow(observed[rows])

    chunks = chunks_of(len(distribution), _ROWS)
    parts = run_chunks(some, chunks, n_jobs=n_jobs, title="asking", verbose=verbose, in_place=True)
    fields = ("gain", "questions", "n_questions", "answers")
    return LabelQuestions(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def _worth_one_by_one(distribution: Distribution, cost: Cost) -> Floats | None:
    """Return what each label of a row is expected to cost, if the cost is a sum over labels."""
    p = distribution.marginals()
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1], len(p))
        return np.asarray(np.minimum(p * fn, (1.0 - p) * fp))
    if isinstance(cost, CountCost) and cost.counts is _counts.hamming:
        return np.asarray(np.minimum(p, 1.0 - p) / p.shape[1])
    return None


def _one_by_one(worth: Floats, prices: Floats) -> LabelQuestions:
    asked = worth > prices
    paid = np.where(asked, prices, 0.0).sum(axis=1)
    return LabelQuestions(
        worth - prices, paid, asked.sum(axis=1).astype(float), np.where(asked, 0.0, worth).sum(axis=1)
    )


class _Tree:
    """All questions about some rows: each has two answers, after which there may be another question."""

    def __init__(self, distribution: Distribution, cost: Cost, prices: Floats, rules: RuleSet | None) -> None:
        self.distribution, self.cost, self.prices, self.rules = distribution, cost, prices, rules

    def grow(self, observed: Bytes) -> LabelQuestions:
        n = len(observed)
        gain = np.zeros(observed.shape)
        paid, count, left = np.zeros((3, n))
        row, chance, is_first = np.arange(n), np.ones(n), True
        while len(row):
            part, own = self.distribution[row].given(observed), self.cost.for_rows(row)
            found, least = self._gains(part, own, observed)
            if is_first:
                gain, is_first = found, False
            best = found.max(axis=1)
            label = (found >= (best - _NOISE * np.abs(best))[:, None]).argmax(axis=1)
            asks = (best > 0.0) & (chance >= _SELDOM)
            left += np.bincount(row[~asks], (chance * least)[~asks], minlength=n)
            row, label, chance, observed = row[asks], label[asks], chance[asks], observed[asks]
            paid += np.bincount(row, chance * self.prices[label], minlength=n)
            count += np.bincount(row, chance, minlength=n)
            p = part.marginals()[asks, label]
            row, label = np.tile(row, 2), np.tile(label, 2)
            chance = np.concatenate([chance * (1.0 - p), chance * p])
            observed = np.concatenate([observed, observed])
            observed[np.arange(len(label)), label] = np.repeat([0, 1], len(label) // 2)
            row, chance, observed = row[chance > 0], chance[chance > 0], observed[chance > 0]
        return LabelQuestions(gain, paid, count, left)

    def _gains(self, part: Distribution, own: Cost, observed: Bytes) -> tuple[Floats, Floats]:
        """Return what labels are worth beyond their prices, and what the best answers cost without them."""
        p, least = part.marginals(), least_expected_cost(part, own, self.rules)
        is_open = (observed == UNKNOWN) & (p > _NOISE) & (p < 1.0 - _NOISE)
        may_ask = is_open & np.isfinite(self.prices)
        doubt = np.where(may_ask, p * (1.0 - p), -1.0)
        looked_at = may_ask
        if may_ask.sum(axis=1).max(initial=0) > MOST_ENUMERATED:
            rest = np.argsort(-doubt / np.maximum(self.prices, _NOISE), axis=1, kind="stable")
            looked_at = may_ask.copy()
            np.put_along_axis(looked_at, rest[:, MOST_ENUMERATED:], False, axis=1)
        values = values_of_labels(part, looked_at, own, self.rules)
        gain = np.where(looked_at, values, 0.0) - self.prices
        noise = _NOISE * np.abs(least)
        gain = np.where(looked_at & (gain > noise[:, None]), gain, np.minimum(gain, 0.0))
        # None by itself, but all together: then the least sure for its price comes first.
        price = np.where(is_open, self.prices, 0.0).sum(axis=1)
        together = least - cost_of_truths(part, own) - price
        some = np.flatnonzero((gain.max(axis=1) <= 0.0) & (together > noise) & is_open.any(axis=1))
        share = np.where(is_open, p * (1.0 - p), 0.0)[some] / np.maximum(self.prices, _NOISE)
        gain[some] = together[some, None] * share / share.sum(axis=1, keepdims=True)
        return gain, least
