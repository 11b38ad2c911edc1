"""The reading of codes whose decisions cost least on rows that the bits were learnt without."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair._progress import run_chunks
from refpair.costs import Cost, get_cost
from refpair.decision.decide import decide, is_exact
from refpair.decision.exhaustive import MOST_LABELS
from refpair.decision.linear import decide_from_marginals, needs_only_marginals
from refpair.posterior import AnchorKind, Anchors, Reader, Reading

__all__ = ["LABEL_SHARES", "TEMPERATURES", "Candidate", "View", "choose_reading", "costs_of"]

TEMPERATURES = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, np.inf)
LABEL_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

# All candidates are tried on the first rows, the best of them on more, the best of those on all.
_ROUNDS = ((150, 30), (400, 10))


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

    def readings(self) -> list[Reading]:
        """Return all readings that may be chosen."""
        shares = LABEL_SHARES if self.labels is not None else LABEL_SHARES[:1]
        return [
            Reading(self.kind, share, temperature)
            for share, temperature in itertools.product(shares, TEMPERATURES)
        ]


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


def choose_reading(
    views: Sequence[View],
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    *,
    n_jobs: int | None = None,
) -> list[Candidate]:
    """Try all readings of all views; return them by rising cost, those tried on more rows first.

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
    pairs = [(view, reading) for view in views for reading in view.readings()]
    out: list[Candidate] = []
    for n_rows, n_kept in (*_ROUNDS, (len(truths), 0)):
        last = n_rows >= len(truths)
        rows = slice(0, len(truths) if last else n_rows)

        def try_one(
            one: slice,
            pairs: Sequence[tuple[View, Reading]] = pairs,
            rows: slice = rows,
            roughly: bool = not last,
        ) -> Candidate:
            view, reading = pairs[one.start]
            costs = costs_of(view, reading, reader, truths, cost, rows, roughly=roughly)
            return Candidate(view, reading, float(costs.mean()), len(costs))

        chunks = [slice(i, i + 1) for i in range(len(pairs))]
        tried = run_chunks(try_one, chunks, n_jobs=n_jobs, verbose=0, title="reading codes", in_place=True)
        tried.sort(key=lambda candidate: candidate.cost)
        if last:
            return tried + out
        out = tried[n_kept:] + out
        pairs = [(candidate.view, candidate.reading) for candidate in tried[:n_kept]]
    return out


def costs_of(
    view: View,
    reading: Reading,
    reader: Reader,
    truths: npt.NDArray[np.uint8],
    cost: Cost,
    rows: slice,
    *,
    roughly: bool = False,
) -> npt.NDArray[np.float64]:
    """Return what the decisions by a reading cost, row by row.

    Roughly, where only a search finds the decision: by the decision for F1 in its place, which is near enough
    to tell good readings from bad ones and many times faster.
    """
    labels = None if view.labels is None else view.labels[rows]
    seen = (reading, view.anchors, view.agreement[rows], labels, view.own[rows])
    if needs_only_marginals(cost):
        decided = decide_from_marginals(reader.marginals(*seen), cost)
    else:
        searched = truths.shape[1] > MOST_LABELS and not is_exact(cost)
        decided = decide(reader.distribution(*seen), get_cost("f1") if roughly and searched else cost)
    return cost.rows(truths[rows], decided)
