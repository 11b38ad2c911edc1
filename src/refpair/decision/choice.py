"""The reading of codes whose decisions cost least on rows that the bits were learnt without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from refpair._progress import run_chunks
from refpair.costs import Cost
from refpair.decision.decide import decide, exact_decision, quick_decision
from refpair.decision.linear import decide_from_marginals, needs_only_marginals
from refpair.posterior import AnchorKind, Anchors, IndependentLabels, LabelDistribution, Reader, Reading

__all__ = ["LABEL_SHARES", "TEMPERATURES", "Candidate", "View", "choose_reading", "costs_of"]

TEMPERATURES = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, np.inf)
LABEL_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

# First every view at every temperature on few rows; then the best of them with all shares on more rows; then
# the best of those on all, with the very decisions that predictions are made by. Where marginals are enough,
# all shares cost hardly more than one from the start.
_FIRST_SHARES = (0.0, 0.5, 1.0)
_FIRST_ROWS, _MORE_ROWS = 150, 300
_FIRST_LABELS = 1500  # rows with many labels tell more and take longer: that many labels are enough
_PROBE, _COSTLY_ROWS = 20.0, 20  # a middle temperature finds out which rows cost something; so many there are
_KEPT, _FINALISTS = 10, 15  # go on to the second and the last round, but at most half
_ALONE, _ALONE_SHARE = 3, 0.5  # finalists that take labels as independent; what their bits count at least
_CLEAR = 2.0  # standard errors that these must be better by

Decide = Callable[[LabelDistribution], npt.NDArray[np.uint8]]
Group: TypeAlias = "tuple[View, float]"  # a view at a temperature


@dataclass(frozen=True, eq=False)
class View:
    """Training rows as bits see them that were learnt without them.

    Attributes
    ----------
    kind : {"words", "rows"}
        Of the anchors.
    depth : int or None
        What the trees were cut off at.
    anchors : Anchors
    agreement : ndarray of shape (n, n_anchors)
        By the out-of-bag bits alone.
    own : ndarray of int64, shape (n,)
        The anchor that each row is part of, −1 if none.
    labels : ndarray of shape (n, n_labels) or None
        What the out-of-bag bits of single labels say.
    """

    kind: AnchorKind
    depth: int | None
    anchors: Anchors
    agreement: npt.NDArray[np.float32]
    own: npt.NDArray[np.int64]
    labels: npt.NDArray[np.float64] | None

    @property
    def shares(self) -> tuple[float, ...]:
        """What share the bits of single labels may have."""
        return LABEL_SHARES if self.labels is not None else LABEL_SHARES[:1]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way to read codes and what its decisions cost.

    Attributes
    ----------
    view : View
    reading : Reading
    cost : float
        The mean out of bag.
    n_rows : int
        Over how many rows.
    """

    view: View
    reading: Reading
    cost: float
    n_rows: int

    @property
    def group(self) -> Group:
        """The view and the temperature; other readings of them cost little more to try."""
        return self.view, self.reading.temperature


def choose_reading(
    views: Sequence[View],
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    *,
    may_be_new: bool = True,
    n_jobs: int | None = None,
) -> list[Candidate]:
    """Look for the best reading; return those tried, the best first.

    After it come the other finalists, by rising cost, then those tried on fewer and fewer rows. From the
    second round on labels are also taken as independent, if label vectors may be new and such decisions are
    soon made. One that does so is the best of all only if it is clearly cheaper than the best other one, by a
    paired test.

    Parameters
    ----------
    views : list of View
    reader : Reader
    truths : ndarray of uint8, shape (n, n_labels)
        The true labels of the rows.
    cost : Cost
    may_be_new : bool, default=True
        Whether rows may have label vectors that are not in the relevant set.
    n_jobs : int, optional
        Threads.
    """
    jury = _Jury(reader, truths, cost, n_jobs)
    n_first, n_more = _round_sizes(truths, partial(jury.probe, views[0]), jury.linear)
    shares = LABEL_SHARES if jury.linear else _FIRST_SHARES
    groups = {(view, t): _readings(view, t, shares) for view in views for t in TEMPERATURES}
    first = jury.judge(groups, n_first, jury.quick)

    kept = _best_groups(first)
    tries_alone = (
        may_be_new and not jury.linear and exact_decision(IndependentLabels(truths), cost) is not None
    )
    wanted = {group: _readings(*group, LABEL_SHARES, alone_too=tries_alone) for group in kept}
    known = [] if n_first < len(truths) else [one for one in first if one.group in wanted]  # on all rows
    new = _without(wanted, known)
    second = sorted(known + jury.judge(new, n_more, jury.quick), key=lambda one: one.cost)

    finalists = _finalists(second, jury.linear)
    last = jury.judge(finalists, len(truths), None) if sum(map(len, finalists.values())) > 1 else []
    usual, alone = _by_kind(last)
    if alone and not jury.finds_clearly_cheaper(alone[0], usual[0]):
        last = [usual[0], *(one for one in last if one is not usual[0])]

    again = {(one.view, one.reading) for one in last}
    others = [one for one in second if (one.view, one.reading) not in again]
    others += [one for one in first if one.group not in wanted]
    return last + sorted(others, key=lambda one: (-one.n_rows, one.cost))


class _Jury:
    """Says what readings cost on training rows.

    Attributes
    ----------
    linear : bool
        Whether marginals are enough to decide.
    quick : callable or None
        How to decide while there are many candidates; None if decisions are quick anyway.
    """

    def __init__(self, reader: Reader, truths: npt.NDArray[np.uint8], cost: Cost, n_jobs: int | None) -> None:
        self.reader, self.truths, self.cost, self.n_jobs = reader, truths, cost, n_jobs
        self.linear = needs_only_marginals(cost)
        self.quick = None if self.linear else quick_decision(reader.vectors, cost)

    def judge(
        self, groups: Mapping[Group, Sequence[Reading]], n_rows: int, decision: Decide | None
    ) -> list[Candidate]:
        """Return all readings with their mean cost on the first rows, the cheapest first."""
        rows = slice(0, min(n_rows, len(self.truths)))
        todo = list(groups.items())

        def judge_group(one: slice) -> list[Candidate]:
            (view, _), readings = todo[one.start]
            return [
                Candidate(view, reading, float(costs.mean()), len(costs))
                for reading, costs in zip(readings, self.costs(view, readings, rows, decision), strict=True)
            ]

        chunks = [slice(i, i + 1) for i in range(len(todo))]
        judged = run_chunks(
            judge_group, chunks, n_jobs=self.n_jobs, verbose=0, title="reading codes", in_place=True
        )
        return sorted((one for group in judged for one in group), key=lambda one: one.cost)

    def probe(self, view: View, n_rows: int) -> npt.NDArray[np.float64]:
        """Return what some reading costs on the first rows."""
        return self.costs(view, [Reading(view.kind, 0.0, _PROBE)], slice(0, n_rows), self.quick)[0]

    def finds_clearly_cheaper(self, one: Candidate, other: Candidate) -> bool:
        """Whether one costs less than the other on all rows, and not by chance."""
        ours, theirs = (self.costs(each.view, [each.reading], slice(None))[0] for each in (one, other))
        return _is_below(ours - theirs)

    def costs(
        self, view: View, readings: Sequence[Reading], rows: slice, decision: Decide | None = None
    ) -> list[npt.NDArray[np.float64]]:
        """Return what readings cost, row by row, as `costs_of`."""
        return costs_of(view, readings, self.reader, self.truths, self.cost, rows, decision)


def _best_groups(tried: Sequence[Candidate]) -> list[Group]:
    """Return the best views and temperatures of the first round."""
    best = list(dict.fromkeys(one.group for one in tried))  # in this order, none twice
    return best[: max(1, min(_KEPT, len(best) // 2))]


def _without(wanted: Mapping[Group, list[Reading]], known: Sequence[Candidate]) -> dict[Group, list[Reading]]:
    """Return the readings that are not yet known."""
    there = {(one.view, one.reading) for one in known}
    rest = {group: [one for one in wanted[group] if (group[0], one) not in there] for group in wanted}
    return {group: readings for group, readings in rest.items() if readings}


def _readings(
    view: View, temperature: float, shares: Sequence[float], *, alone_too: bool = False
) -> list[Reading]:
    """Return how a view may be read at a temperature, if the bits of single labels may have these shares."""
    readings = [Reading(view.kind, share, temperature) for share in view.shares if share in shares]
    if alone_too:
        readings += [replace(one, independent=True) for one in readings if one.label_share >= _ALONE_SHARE]
    return readings


def _by_kind(tried: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Return those of whole label vectors, and those that take labels as independent."""
    alone = [one for one in tried if one.reading.independent]
    return [one for one in tried if not one.reading.independent], alone


def _finalists(tried: Sequence[Candidate], linear: bool) -> dict[Group, list[Reading]]:
    """Return the best readings, at most three at the same temperature of a view.

    Readings that differ in nothing but the share often decide the same, and would take all places. Of those
    that take labels as independent the best few come in addition.
    """
    usual, alone = _by_kind(tried)
    finalists: dict[Group, list[Reading]] = {}
    n_left = max(1, min(_FINALISTS, len(usual) // 2))
    for one in usual:
        readings = finalists.get(one.group, [])
        if len(readings) < 3 and n_left > 0:
            finalists[one.group] = [*readings, one.reading]
            n_left -= 1
    if linear:  # all shares cost hardly more than one
        finalists = {group: _readings(*group, LABEL_SHARES) for group in finalists}
    for one in alone[:_ALONE]:
        finalists.setdefault(one.group, []).append(one.reading)
    return finalists


def _is_below(differences: npt.NDArray[np.float64]) -> bool:
    """Whether the mean of differences is below 0, and not by chance."""
    n = len(differences)
    error = float(differences.std(ddof=1)) / n**0.5 if n > 1 else np.inf
    return bool(differences.mean() + _CLEAR * error < 0.0)


def _round_sizes(
    truths: npt.NDArray[np.uint8], probe: Callable[[int], npt.NDArray[np.float64]], linear: bool
) -> tuple[int, int]:
    """Return on how many rows the first two rounds are, given what some reading costs on the first rows.

    Readings differ where they cost something: there are as many rows as it takes to have enough such ones,
    and twice as many where decisions are quick.
    """
    enough = int(_FIRST_LABELS / max(1.0, float(truths.sum(axis=1).mean())))
    n_first = min(_FIRST_ROWS, max(_FIRST_ROWS // 3, enough)) * (2 if linear else 1)
    if _count_costly(probe(n_first))[-1] < _COSTLY_ROWS and n_first < len(truths):
        n_costly = np.maximum.accumulate(_count_costly(probe(len(truths))))
        n_enough = int(np.searchsorted(n_costly, _COSTLY_ROWS)) + 1
        n_first = max(n_first, min(n_enough, len(truths)))
    return n_first, n_first * _MORE_ROWS // _FIRST_ROWS


def _count_costly(costs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how many of the first rows cost something, or fewer if some cost far more: (Σc)² / Σc²."""
    tiny = np.finfo(np.float64).tiny
    costs = np.abs(costs) / max(float(np.abs(costs).max()), tiny)  # a cost of one's own may be negative
    return np.asarray(np.cumsum(costs) ** 2 / np.maximum(np.cumsum(costs**2), tiny))


def costs_of(
    view: View,
    readings: Sequence[Reading],
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    rows: slice,
    decision: Decide | None = None,
) -> list[npt.NDArray[np.float64]]:
    """Return what the decisions by readings at one temperature cost, row by row.

    Where whole label vectors count, they are made by `decide` unless told.
    """
    labels = None if view.labels is None else view.labels[rows]
    weighed = reader.weigh(view.anchors, view.agreement[rows], readings[0].temperature, view.own[rows])
    costs = []
    for reading in readings:
        if needs_only_marginals(cost):
            decided = decide_from_marginals(weighed.marginals(labels, reading.label_share), cost)
        elif reading.independent:
            decided = decide(IndependentLabels(weighed.marginals(labels, reading.label_share)), cost)
        else:
            distribution = weighed.distribution(labels, reading.label_share)
            decided = decide(distribution, cost) if decision is None else decision(distribution)
        costs.append(cost.rows(truths[rows], decided))
    return costs
