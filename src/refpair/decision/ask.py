"""Whether to ask a person, at a price: about single labels, one after the other.

Each time the label is asked that is worth most beyond its price, by what is known then. If none is worth its
price by itself, all that are left may be together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair._parallel import chunks_of, run_chunks
from refpair.costs import Cost, CountCost, PerLabelCost, _counts
from refpair.decision.rule_set import RuleSet
from refpair.decision.value import LabelsGiven, cost_of_truths, least_expected_cost, values_of_labels
from refpair.posterior.distribution import (
    MOST_ENUMERATED,
    Bytes,
    Distribution,
    Floats,
    Longs,
)
from refpair.tables.labels import UNKNOWN

_ROWS = 256  # asked about at a time
_LOOKED_AT = 4  # labels of a row, if there are many
_NODES = 16  # different answers to the same number of questions about a row, that are followed
_NOISE = 1e-9  # what differs by less is the same but for rounding


@dataclass(frozen=True, eq=False)
class LabelQuestions:
    """What to ask about single labels, and what questions and answers are expected to cost.

    Parameters
    ----------
    gain : array of shape (n, n_labels)
        By how much a label's answer lowers the expected cost beyond its price; at most 0: it is not asked.
    questions, n_questions, answers : arrays of shape (n,)
        What all questions about a row are expected to cost, how many they are, and what the answer is
        expected to cost after them; NaN in rows that are not followed.
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
    followed: npt.NDArray[np.bool_] | None = None,
    n_jobs: int | None = None,
    verbose: int | None = None,
) -> LabelQuestions:
    """Return what to ask about single labels.

    For at most 6 labels, values are exact where decisions are. More labels are taken as independent given
    what is known, which changes their probabilities; of more than 10 labels that may be asked, the 4 of
    largest p (1 − p) for their prices are looked at. Questions are followed to the end, but if they have more
    than 16 sets of answers, only random ones: totals are right on average then.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What each row's label vector may be, before anything is known of it.
    cost : Cost
    prices : array of shape (n_labels,)
        The price of a question about each label; infinite: it is not asked.
    observed : array of shape (n, n_labels), dtype uint8, optional
        What is known: 0, 1, or UNKNOWN (2).
    rules : RuleSet, optional
        What answers keep. With rules, labels are never taken as independent.
    followed : array of bool, shape (n,), optional
        The rows of which all questions are followed to the end, to tell what they cost; by default all.
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
    if followed is None:
        followed = np.ones(len(distribution), np.bool_)
    if not isinstance(cost, CountCost | PerLabelCost) and distribution.n_labels > MOST_ENUMERATED:
        raise ValueError(
            f"questions about single labels under {cost.name!r}, a cost of any function, are for at most "
            f"{MOST_ENUMERATED} labels, and here are {distribution.n_labels}: ask about rows, or give a cost "
            "of counts or prices of labels"
        )

    def some(rows: slice) -> LabelQuestions:
        part, own, known = distribution[rows], cost.for_rows(rows), observed[rows]
        if (
            part.is_independent
            and rules is None
            and (worth := _worth_one_by_one(part, own, known)) is not None
        ):
            return _one_by_one(worth, np.where(known == UNKNOWN, prices, np.inf))
        return _Questions(part, own, prices, rules).follow(known, followed[rows])

    chunks = chunks_of(len(distribution), _ROWS)
    parts = run_chunks(some, chunks, n_jobs=n_jobs, title="asking", verbose=verbose, in_place=True)
    fields = ("gain", "questions", "n_questions", "answers")
    return LabelQuestions(*(np.concatenate([getattr(part, name) for part in parts]) for name in fields))


def _worth_one_by_one(distribution: Distribution, cost: Cost, observed: Bytes) -> Floats | None:
    """Return what each label of a row is expected to cost, if the cost is a sum over labels."""
    p = distribution.given(observed).marginals()
    if isinstance(cost, PerLabelCost):
        fp, fn = cost.prices(p.shape[1], len(p))
        return np.asarray(np.minimum(p * fn, (1.0 - p) * fp))
    if isinstance(cost, CountCost) and cost.counts is _counts.hamming:
        return np.asarray(np.minimum(p, 1.0 - p) / p.shape[1])
    return None


def _one_by_one(worth: Floats, prices: Floats) -> LabelQuestions:
    asked = worth > prices
    paid = np.where(asked, prices, 0.0).sum(axis=1)
    left = np.where(asked, 0.0, worth).sum(axis=1)
    return LabelQuestions(worth - prices, paid, asked.sum(axis=1).astype(np.float64), left)


class _Questions:
    """All questions about some rows: each has two answers, after which there may be another question."""

    def __init__(self, distribution: Distribution, cost: Cost, prices: Floats, rules: RuleSet | None) -> None:
        self.given = LabelsGiven(distribution, None if rules is None else 0.0)
        self.cost, self.prices, self.rules = cost, prices, rules

    def follow(self, observed: Bytes, followed: npt.NDArray[np.bool_]) -> LabelQuestions:
        n = len(observed)
        row, chance = np.arange(n), np.ones(n)
        gain, least, p = self._gains(row, observed)
        found, (paid, count, left) = gain, np.zeros((3, n))
        rng = np.random.default_rng(0)
        paid[~followed] = count[~followed] = left[~followed] = np.nan
        row, chance, observed = row[followed], chance[followed], observed[followed]
        gain, least, p = gain[followed], least[followed], p[followed]
        while len(row):
            best = gain.max(axis=1)
            label = (gain >= (best - _NOISE * np.abs(best))[:, None]).argmax(axis=1)
            asks = best > 0.0
            left += np.bincount(row[~asks], (chance * least)[~asks], minlength=n)
            row, label, chance, observed, p = row[asks], label[asks], chance[asks], observed[asks], p[asks]
            paid += np.bincount(row, chance * self.prices[label], minlength=n)
            count += np.bincount(row, chance, minlength=n)
            present = p[np.arange(len(row)), label]
            chance = np.concatenate([chance * (1.0 - present), chance * present])
            observed = np.concatenate([observed, observed])
            observed[np.arange(len(chance)), np.tile(label, 2)] = np.repeat([0, 1], len(label))
            row = np.tile(row, 2)
            some, chance = _thinned(row, chance, rng)
            row, observed = row[some], observed[some]
            gain, least, p = self._gains(row, observed)
        return LabelQuestions(found, paid, count, left)

    def _gains(self, row: Longs, observed: Bytes) -> tuple[Floats, Floats, Floats]:
        """Return what labels are worth beyond their prices, what answers cost without them, and their p."""
        own, now = self.cost.for_rows(row), self.given(row, observed)
        p, least = now.marginals(), least_expected_cost(now, own, self.rules)
        is_open = (observed == UNKNOWN) & (p > _NOISE) & (p < 1.0 - _NOISE)
        looked_at = is_open & np.isfinite(self.prices)
        doubt = np.where(looked_at, p * (1.0 - p), -1.0) / np.maximum(self.prices, _NOISE)
        if looked_at.sum(axis=1).max(initial=0) > MOST_ENUMERATED:
            rest = np.argsort(-doubt, axis=1, kind="stable")[:, _LOOKED_AT:]
            np.put_along_axis(looked_at, rest, False, axis=1)
        gain = values_of_labels(self.given, row, observed, looked_at, own, self.rules) - self.prices
        noise = _NOISE * np.abs(least)
        gain = np.where(looked_at & (gain > noise[:, None]), gain, np.minimum(gain, 0.0))
        # None by itself, but all together: then the least sure for its price comes first.
        price = np.where(is_open, self.prices, 0.0).sum(axis=1)
        together = least - cost_of_truths(now, own) - price
        some = np.flatnonzero((gain.max(axis=1) <= 0.0) & (together > noise) & is_open.any(axis=1))
        share = np.where(is_open, doubt, 0.0)[some]
        gain[some] = together[some, None] * share / share.sum(axis=1, keepdims=True)
        return gain, least, p


def _thinned(row: Longs, chance: Floats, rng: np.random.Generator) -> tuple[Longs, Floats]:
    """Return the nodes to go on with, and their chances: of a row with many, random ones that stand for all.

    A node is drawn in proportion to its chance, and those that are drawn share the chance of the row.
    """
    kept, is_many = chance > 0, np.bincount(row, chance > 0) > _NODES
    if not is_many.any():
        return np.flatnonzero(kept), chance[kept]
    order = np.argsort(row, kind="stable")
    total = np.bincount(row, chance)
    many = np.flatnonzero(is_many)
    step = total[many, None] / _NODES
    at = (total.cumsum() - total)[many, None] + step * (np.arange(_NODES) + rng.random((len(many), 1)))
    place = np.searchsorted(chance[order].cumsum(), at.ravel(), side="right")
    drawn, times = np.unique(np.minimum(place, len(order) - 1), return_counts=True)
    drawn = order[drawn]
    kept &= ~is_many[row]
    share = times * total[row[drawn]] / _NODES
    return np.concatenate([np.flatnonzero(kept), drawn]), np.concatenate([chance[kept], share])
