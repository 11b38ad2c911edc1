"""Choose how to read codes, on training rows that the bits were learnt without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair._saved import require
from refpair.bits import Bags, BitLearner, BitProblems, TreeBank
from refpair.bits.binning import Matrix
from refpair.classifiers._distinct_labels import DistinctLabels
from refpair.coding import ReferencePairCode
from refpair.costs import Cost, get_cost
from refpair.decision import (
    View,
    choose_reading,
    decide,
    decide_from_marginals,
    expected_cost,
    needs_only_marginals,
)
from refpair.posterior import (
    AnchorKind,
    Anchors,
    CodePosterior,
    IndependentLabels,
    LabelDistribution,
    LogOddsLine,
    Reader,
    label_probabilities,
)

__all__ = ["ChosenPosterior", "Training", "bit_problems", "choose_posterior", "count_votes", "search_table"]

_MOST_VOTES = 100  # bits for a single label: a forest for it that is large enough
_VOTES_A_BIT = 2  # at most, of all labels for a bit of the code

MOST_ROWS = 1000  # whose out-of-bag codes are looked at
MOST_ANCHORS = 20_000  # training rows that codes are compared with: beyond, it would only take longer
SHALLOW = 6  # the depth that is tried besides the full one
FOLDS, BITS_A_FOLD, VOTES_A_FOLD = 3, 400, 8

_SEARCH = {
    "anchors": "str", "max_depth": "Int64", "label_share": "float64", "temperature": "float64",
    "independent": "bool", "cost": "float64", "n_rows": "int64",
}  # fmt: skip

Known = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ChosenPosterior:
    """What `choose_posterior` found.

    Attributes
    ----------
    posterior : CodePosterior
    search : DataFrame
        A row for each way to read the codes: what it was, what its decisions cost, and over how many rows.
    oob_cost : float
        The mean cost of the chosen one's decisions on out-of-bag rows.
    cost_scale : float
        What out-of-bag rows cost on average, divided by what was expected of them.
    """

    posterior: CodePosterior
    search: pd.DataFrame
    oob_cost: float
    cost_scale: float


@dataclass(frozen=True, eq=False)
class Training:
    """What the bits were learnt from.

    Attributes
    ----------
    X : matrix of shape (n, n_features)
    distinct : DistinctLabels
    vectors : ndarray of uint8
        The relevant set.
    counts : ndarray of int64
        How many training rows have each of them.
    code : ReferencePairCode
    cost : Cost
    n_votes : int
        How many bits each single label has.
    seeds : ndarray of uint64
        One a bit.
    cut : bool
        Whether trees may be cut off.
    may_be_new : bool
        Whether rows may have label vectors that are not in the relevant set.
    """

    X: Matrix
    distinct: DistinctLabels
    vectors: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]
    code: ReferencePairCode
    cost: Cost
    n_votes: int
    seeds: npt.NDArray[np.uint64]
    cut: bool
    may_be_new: bool

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.vectors.shape[1])

    @cached_property
    def vector_of_row(self) -> npt.NDArray[np.int32]:
        """The place of each row's label vector in the relevant set, −1 if it is not there."""
        place = {vector.tobytes(): at for at, vector in enumerate(self.vectors)}
        found = np.array([place.get(vector.tobytes(), -1) for vector in self.distinct.vectors], np.int32)
        return found[self.distinct.of_row]


def count_votes(n_bits: int, n_labels: int) -> int:
    """Return how many bits of its own each label has beside a code.

    Examples
    --------
    >>> count_votes(3000, 6), count_votes(3000, 374)
    (100, 16)
    """
    return min(_VOTES_A_BIT * n_bits // n_labels, _MOST_VOTES)


def bit_problems(
    code: ReferencePairCode,
    distinct: DistinctLabels,
    n_votes: int,
    seeds: npt.NDArray[np.uint64],
    rows: npt.NDArray[np.integer] | None = None,
) -> BitProblems:
    """Return what the bits have to learn: first those of the code, then n_votes times one a label.

    The bit of a single label asks whether the label is there: it is the reference pair of the label alone and
    of nothing, under the Hamming loss.
    """
    n_bits = len(code) + n_votes * distinct.vectors.shape[1]
    return BitProblems(
        vector_of_row=distinct.of_row if rows is None else distinct.of_row[rows],
        n_bits=n_bits,
        differences=partial(_differences, code, distinct.vectors),
        seeds=seeds[:n_bits],
    )


def _differences(
    code: ReferencePairCode, vectors: npt.NDArray[np.uint8], bits: slice
) -> npt.NDArray[np.float64]:
    """Return what bits have to learn of each label vector. Not a closure: other processes are given it."""
    differences = code[bits.start : min(bits.stop, len(code))].differences(vectors)
    if not np.isfinite(differences).all():
        raise ValueError(f"the cost {code.cost.name!r} is too large: its differences are infinite")
    labels = np.arange(max(bits.start, len(code)), bits.stop) - len(code)
    if len(labels) == 0:
        return differences
    return np.hstack([differences, 2.0 * vectors[:, labels % vectors.shape[1]] - 1.0])


def choose_posterior(
    bits: BitLearner,
    training: Training,
    learn: Callable[[Matrix, BitProblems], BitLearner],
    rng: np.random.Generator,
    n_jobs: int | None,
) -> ChosenPosterior:
    """Return the posterior whose decisions cost least out of bag.

    Where the bits were learnt from all rows, others are learnt in folds, fewer, just to choose by.
    """
    n = training.X.shape[0]
    rows = rng.permutation(n)[:MOST_ROWS]
    anchor_rows = np.sort(rng.permutation(n)[:MOST_ANCHORS])
    anchor_rows = anchor_rows[training.vector_of_row[anchor_rows] >= 0]
    truths = training.distinct.vectors[training.distinct.of_row[rows]]
    reader = Reader(training.vectors)
    bags = bits.bags_
    if bags is not None:
        views = _oob_views(bits, bags, training, rows, anchor_rows)
    else:
        views = _fold_views(training, learn, rows, anchor_rows, rng)
    candidates = choose_reading(
        views, reader, truths, training.cost, may_be_new=training.may_be_new, n_jobs=n_jobs
    )
    best = candidates[0]
    view, reading = best.view, best.reading

    weighed = reader.weigh(view.anchors, view.agreement, reading.temperature, view.own)
    marginals = weighed.marginals(view.labels, reading.label_share)
    # The decision for the Hamming loss is to round: what predict_proba says must round to the same.
    line = LogOddsLine.fit(marginals, truths, keep_half=training.cost == get_cost("hamming"))
    distribution: LabelDistribution | IndependentLabels
    if needs_only_marginals(training.cost):
        distribution = IndependentLabels(line(marginals))
        decided = decide_from_marginals(marginals, training.cost)
    else:
        distribution = (
            IndependentLabels(marginals)
            if reading.independent
            else weighed.distribution(view.labels, reading.label_share)
        )
        decided = decide(distribution, training.cost, n_jobs=n_jobs)
    costs = training.cost.rows(truths, decided)
    expected = float(expected_cost(distribution, decided, training.cost).mean())

    if isinstance(bits, TreeBank) and view.depth is not None:
        bits = bits.cut(view.depth)
    anchors = view.anchors if bags is not None else _anchors(view.kind, bits, training, anchor_rows)
    return ChosenPosterior(
        posterior=CodePosterior(bits, anchors, training.vectors, reading, line),
        search=search_table(
            {
                "anchors": [candidate.reading.anchors for candidate in candidates],
                "max_depth": [candidate.view.depth for candidate in candidates],
                "label_share": [candidate.reading.label_share for candidate in candidates],
                "temperature": [candidate.reading.temperature for candidate in candidates],
                "independent": [candidate.reading.independent for candidate in candidates],
                "cost": [candidate.cost for candidate in candidates],
                "n_rows": [candidate.n_rows for candidate in candidates],
            }
        ),
        oob_cost=float(costs.mean()),
        cost_scale=float(costs.mean()) / expected if expected > 0 and costs.mean() > 0 else 1.0,
    )


def search_table(columns: dict[str, Any]) -> pd.DataFrame:
    """Return the readings that were tried as a table."""
    require(isinstance(columns, dict) and columns.keys() == _SEARCH.keys(), "the search is missing")
    require(len({len(column) for column in columns.values()}) == 1, "the search has a wrong shape")
    return pd.DataFrame(columns).astype(_SEARCH)


def _oob_views(
    bits: BitLearner,
    bags: Bags,
    training: Training,
    rows: npt.NDArray[np.integer],
    anchor_rows: npt.NDArray[np.integer],
) -> list[View]:
    n_code_bits = len(training.code)
    out_of_bag = bags.leave_out(rows)
    known, known_votes = out_of_bag[:, :n_code_bits], out_of_bag[:, n_code_bits:]
    needed, place = np.unique(np.concatenate([rows, anchor_rows]), return_inverse=True)
    words = Anchors.of_words(training.code.encode(training.vectors), training.counts)
    views = []
    for depth, bank in _depths(bits, training):
        signs = bank.predict(training.X[needed], slice(0, n_code_bits))[place]
        labels = None
        if training.n_votes:
            values = bank.values(training.X[rows], slice(n_code_bits, None))
            labels = _filled(label_probabilities(values, training.n_labels, known_votes), training)
        vector = training.vector_of_row[anchor_rows]
        by_kind: dict[AnchorKind, Anchors] = {"words": words}
        if len(anchor_rows):  # else no row has a vector of the relevant set
            by_kind["rows"] = Anchors.of_rows(signs[len(rows) :], vector, len(training.vectors))
        for kind, anchors in by_kind.items():
            own = _own(kind, training, rows, anchor_rows)
            agreement = anchors.agreement(signs[: len(rows)], known)
            views.append(View(kind, depth, anchors, agreement, own, labels))
    return views


def _fold_views(
    training: Training,
    learn: Callable[[Matrix, BitProblems], BitLearner],
    rows: npt.NDArray[np.integer],
    anchor_rows: npt.NDArray[np.integer],
    rng: np.random.Generator,
) -> list[View]:
    """Learn some bits without each fold in turn, and see the rows of the fold by them."""
    n, n_code_bits = training.X.shape[0], min(len(training.code), BITS_A_FOLD)
    n_votes = min(training.n_votes, VOTES_A_FOLD)
    fold = rng.permutation(n) % FOLDS
    parts: dict[tuple[int | None, str], list[View]] = {}
    order = []
    code = training.code[:n_code_bits]
    kinds: tuple[AnchorKind, ...] = ("words", "rows") if len(anchor_rows) else ("words",)
    for number in range(FOLDS):
        learnt_from = np.flatnonzero(fold != number)
        mine = np.flatnonzero(fold[rows] == number)
        if len(learnt_from) == 0 or len(mine) == 0:
            continue
        order.append(mine)
        bank = learn(
            training.X[learnt_from],
            bit_problems(code, training.distinct, n_votes, training.seeds, learnt_from),
        )
        for depth, cut in _depths(bank, training):
            signs = cut.predict(training.X[rows[mine]], slice(0, n_code_bits))
            labels = None
            if n_votes:
                values = cut.values(training.X[rows[mine]], slice(n_code_bits, None))
                labels = label_probabilities(values, training.n_labels)
            for kind in kinds:
                anchors = _anchors(kind, cut, training, anchor_rows, code)
                own = _own(kind, training, rows[mine], anchor_rows)
                part = View(kind, depth, anchors, anchors.agreement(signs), own, labels)
                parts.setdefault((depth, kind), []).append(part)
    back = np.argsort(np.concatenate(order))
    return [_joined(views, back) for views in parts.values()]


def _joined(parts: list[View], order: npt.NDArray[np.intp]) -> View:
    """Put the folds together: their anchors differ only in the codes, which are compared already."""
    first = parts[0]
    labels = None
    if first.labels is not None:
        labels = np.concatenate([part.labels for part in parts if part.labels is not None])[order]
    return View(
        first.kind,
        first.depth,
        first.anchors,
        np.concatenate([part.agreement for part in parts])[order],
        np.concatenate([part.own for part in parts])[order],
        labels,
    )


def _depths(bits: BitLearner, training: Training) -> Iterator[tuple[int | None, BitLearner]]:
    yield None, bits
    if training.cut and isinstance(bits, TreeBank):
        yield SHALLOW, bits.cut(SHALLOW)


def _anchors(
    kind: str,
    bits: BitLearner,
    training: Training,
    rows: npt.NDArray[np.integer],
    code: ReferencePairCode | None = None,
) -> Anchors:
    code = training.code if code is None else code
    if kind == "words":
        return Anchors.of_words(code.encode(training.vectors), training.counts)
    signs = bits.predict(training.X[rows], slice(0, len(code)))
    return Anchors.of_rows(signs, training.vector_of_row[rows], len(training.vectors))


def _own(
    kind: str, training: Training, rows: npt.NDArray[np.integer], anchor_rows: npt.NDArray[np.integer]
) -> npt.NDArray[np.int64]:
    """Return the anchor that each row is part of, −1 if none."""
    if kind == "words":
        return np.asarray(training.vector_of_row[rows], np.int64)
    place = np.full(training.X.shape[0], -1, np.int64)
    place[anchor_rows] = np.arange(len(anchor_rows))
    return np.asarray(place[rows])


def _filled(labels: npt.NDArray[np.float64], training: Training) -> npt.NDArray[np.float64]:
    """Put the frequency of a label where no out-of-bag bit speaks of it."""
    frequency = np.average(training.distinct.vectors, axis=0, weights=training.distinct.counts)
    return np.where(np.isnan(labels), frequency, labels)
