"""The reading of codes whose decisions cost least on rows that the bits were learnt without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from refpair._progress import run_chunks
from refpair.costs import Cost
from refpair.decision.decide import decide, quick_decision
from refpair.decision.linear import decide_from_marginals, needs_only_marginals
from refpair.posterior import AnchorKind, Anchors, LabelDistribution, Reader, Reading

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

Decide = Callable[[LabelDistribution], npt.NDArray[np.uint8]]


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


Group: TypeAlias = tuple[View, float]  # a view at a temperature


def choose_reading(
    views: Sequence[View],
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    *,
    n_jobs: int | None = None,
) -> list[Candidate]:
    """Look for the best reading; return those tried, the best first.

    The finalists come first, by rising cost, then those tried on fewer and fewer rows.

    Parameters
    ----------
    views : list of View
    reader : Reader
    truths : ndarray of uint8, shape (n, n_labels)
        The true labels of the rows.
    cost : Cost
    n_jobs : int, optional
        Threads.
    """
    linear = needs_only_marginals(cost)
    quick = None if linear else quick_decision(reader.vectors, cost)

    def try_all(
        groups: Mapping[Group, Sequence[float]], n_rows: int, decision: Decide | None
    ) -> list[Candidate]:
        rows = slice(0, min(n_rows, len(truths)))
        todo = list(groups.items())

        def try_one(one: slice) -> list[Candidate]:
            (view, temperature), shares = todo[one.start]
            costs = costs_of(view, temperature, shares, reader, truths, cost, rows, decision)
            return [
                Candidate(view, Reading(view.kind, share, temperature), float(found.mean()), len(found))
                for share, found in zip(shares, costs, strict=True)
            ]

        chunks = [slice(i, i + 1) for i in range(len(todo))]
        tried = run_chunks(try_one, chunks, n_jobs=n_jobs, verbose=0, title="reading codes", in_place=True)
        return sorted((one for group in tried for one in group), key=lambda one: one.cost)

    def probe(n_rows: int) -> npt.NDArray[np.float64]:
        view, rows = views[0], slice(0, n_rows)
        return costs_of(view, _PROBE, view.shares[:1], reader, truths, cost, rows, quick)[0]

    n_first, n_more = _round_sizes(truths, probe, linear)
    groups = {(view, t): _first_shares(view, linear) for view in views for t in TEMPERATURES}
    first = try_all(groups, n_first, quick)
    best = dict.fromkeys((one.view, one.reading.temperature) for one in first)  # in this order, none twice
    second = {group: group[0].shares for group in list(best)[: max(1, min(_KEPT, len(best) // 2))]}
    known = [one for one in first if (one.view, one.reading.temperature) in second]
    if n_first < len(truths):
        more = try_all(second, n_more, quick)
    else:  # on the same rows: only the other shares are new
        tried = {group: groups[group] for group in second}
        rest = {group: [share for share in second[group] if share not in tried[group]] for group in second}
        new = try_all({group: shares for group, shares in rest.items() if shares}, n_more, quick)
        more = sorted(known + new, key=lambda one: one.cost)
    finalists = _finalists(more, linear)
    last = try_all(finalists, len(truths), None) if sum(map(len, finalists.values())) > 1 else []
    again = {(one.view, one.reading) for one in last}
    others = [one for one in more if (one.view, one.reading) not in again]
    others += [one for one in first if (one.view, one.reading.temperature) not in second]
    return last + sorted(others, key=lambda one: (-one.n_rows, one.cost))


def _finalists(tried: Sequence[Candidate], linear: bool) -> dict[Group, list[float]]:
    """Return the best readings, at most three at the same temperature of a view.

    Readings that differ in nothing but the share often decide the same, and would take all places.
    """
    finalists: dict[Group, list[float]] = {}
    n_left = max(1, min(_FINALISTS, len(tried) // 2))
    for one in tried:
        shares = finalists.setdefault((one.view, one.reading.temperature), [])
        if len(shares) < 3 and n_left > 0:
            shares.append(one.reading.label_share)
            n_left -= 1
    return {
        group: list(group[0].shares) if linear else shares for group, shares in finalists.items() if shares
    }


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
    costs = costs / max(float(costs.max()), tiny)
    return np.asarray(np.cumsum(costs) ** 2 / np.maximum(np.cumsum(costs**2), tiny))


def _first_shares(view: View, linear: bool) -> tuple[float, ...]:
    return tuple(share for share in view.shares if linear or share in _FIRST_SHARES)


def costs_of(
    view: View,
    temperature: float,
    label_shares: Sequence[float],
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    rows: slice,
    decision: Decide | None = None,
) -> list[npt.NDArray[np.float64]]:
    """Return what the decisions by readings cost, row by row; they are made by `decide` unless told."""
    labels = None if view.labels is None else view.labels[rows]
    weighed = reader.weigh(view.anchors, view.agreement[rows], temperature, view.own[rows])
    costs = []
    for share in label_shares:
        if needs_only_marginals(cost):
            decided = decide_from_marginals(weighed.marginals(labels, share), cost)
        elif decision is not None:
            decided = decision(weighed.distribution(labels, share))
        else:
            decided = decide(weighed.distribution(labels, share), cost)
        costs.append(cost.rows(truths[rows], decided))
    return costs
