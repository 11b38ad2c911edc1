"""The posterior whose decisions cost least on training samples that the bits were learnt without."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from refpair._parallel import run_chunks
from refpair.bits.problem import BitLearner
from refpair.bits.trees import TreeBank
from refpair.classifiers._code_bits import (
    LABEL_SHARES,
    Learn,
    OutOfBagCodes,
    Training,
    codes_by_folds,
    codes_out_of_bag,
    known_codes,
)
from refpair.costs import Cost, get_cost
from refpair.decision.decide import decide, exact_decision, quick_decision
from refpair.decision.expected import expected_cost, needs_only_marginals
from refpair.posterior.code import CodePosterior, LogOddsLine, PosteriorSettings
from refpair.posterior.distribution import Bytes, Distribution, Floats, IndependentLabels, LabelDistribution

TEMPERATURES = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0, np.inf)

_MOST_ROWS = 1000  # whose out-of-bag codes are looked at
_MOST_CODES = 20_000  # training samples that codes are compared with: beyond, it would only take longer

# First all codes at every temperature on few rows; then the best of them with all shares on more rows; then
# the best of those on all, with the very decisions that predictions are made by. Where marginals are enough,
# all shares cost hardly more than one from the start.
_FIRST_SHARES = (0.0, 0.5, 1.0)
_FIRST_ROWS, _MORE_ROWS = 150, 300
_FIRST_LABELS = 1500  # rows with many labels tell more and take longer: that many labels are enough
_PROBE, _COSTLY_ROWS = 20.0, 20  # a middle temperature finds out which rows cost something; so many there are
_KEPT, _FINALISTS = 10, 15  # go on to the second and the last round, but at most half
_ALONE, _ALONE_SHARE = 3, 0.5  # finalists that take labels as independent; what their bits count at least
_CLEAR = 2.0  # standard errors that these must be better by

SEARCH = {
    "compared_with": "str", "max_depth": "Int64", "label_share": "float64", "temperature": "float64",
    "independent": "bool", "cost": "float64", "n_rows": "int64",
}  # fmt: skip

Decide = Callable[[LabelDistribution], Bytes]
Group: TypeAlias = "tuple[OutOfBagCodes, float]"  # codes at a temperature


@dataclass(frozen=True, eq=False)
class Candidate:
    """Codes, settings for them, and the mean cost of their decisions on so many out-of-bag rows."""

    codes: OutOfBagCodes
    settings: PosteriorSettings
    cost: float
    n_rows: int

    @property
    def group(self) -> Group:
        """The codes and the temperature; other settings of them cost little more to try."""
        return self.codes, self.settings.temperature


def choose_posterior(
    bits: BitLearner, training: Training, learn: Learn, rng: np.random.Generator, n_jobs: int | None
) -> tuple[CodePosterior, pd.DataFrame, float, float]:
    """Return the posterior whose decisions cost least out of bag, and how it was found.

    That is the table of all that was tried, and what out-of-bag rows cost on average: as it is, and divided
    by what was expected. Where bits were learnt from all rows, fewer others are learnt in folds to choose by.
    """
    n, cost = training.X.shape[0], training.cost
    rows = rng.permutation(n)[:_MOST_ROWS]
    code_rows = np.sort(rng.permutation(n)[:_MOST_CODES])
    code_rows = code_rows[training.vector_of_row[code_rows] >= 0]
    truths = training.distinct.vectors[training.distinct.of_row[rows]]
    bags = bits.bags_
    if bags is not None:
        seen = codes_out_of_bag(bits, bags, training, rows, code_rows)
    else:
        seen = codes_by_folds(training, learn, rows, code_rows, rng)
    candidates = search_settings(seen, truths, cost, may_be_new=training.may_be_new, n_jobs=n_jobs)
    codes, settings = candidates[0].codes, candidates[0].settings

    weights = codes.weigh(settings.temperature)
    marginals = weights.marginals(codes.labels, settings.label_share)
    # The decision for the Hamming loss is to round: what predict_proba says must round to the same.
    line = LogOddsLine.fit(marginals, truths, keep_half=cost == get_cost("hamming"))
    p: Distribution
    if needs_only_marginals(cost) or settings.independent:
        p = IndependentLabels(marginals)
    else:
        p = weights.distribution(codes.labels, settings.label_share)
    decided = decide(p, cost, n_jobs=n_jobs)
    costs = cost.rows(truths, decided)
    told = IndependentLabels(line(marginals)) if needs_only_marginals(cost) else p
    expected = float(expected_cost(told, decided, cost).mean())

    if isinstance(bits, TreeBank) and codes.depth is not None:
        bits = bits.cut(codes.depth)
    known = codes.codes
    if bags is None:
        known = known_codes(codes.kind, bits, training, code_rows, training.code)
    tried = [
        {"max_depth": one.codes.depth, "cost": one.cost, "n_rows": one.n_rows, **asdict(one.settings)}
        for one in candidates
    ]
    oob_cost = float(costs.mean())
    scale = oob_cost / expected if expected > 0 and oob_cost > 0 else 1.0
    search = pd.DataFrame(tried, columns=list(SEARCH)).astype(SEARCH)
    return CodePosterior(bits, known, settings, line), search, oob_cost, scale


def search_settings(
    seen: Sequence[OutOfBagCodes],
    truths: Bytes,
    cost: Cost,
    *,
    may_be_new: bool = True,
    n_jobs: int | None = None,
) -> list[Candidate]:
    """Look for the best codes and settings; return those tried, the best first.

    After it come the other finalists, by rising cost, then those tried on fewer and fewer rows. From the
    second round on labels are also taken as independent, if label vectors may be new and such decisions are
    soon made. One that does so is the best of all only if it is clearly cheaper than the best other one, by a
    paired test.
    """
    linear = needs_only_marginals(cost)
    quick = None if linear else quick_decision(seen[0].codes.vectors, cost)

    def evaluate(
        groups: Mapping[Group, Sequence[PosteriorSettings]], n_rows: int, decision: Decide | None
    ) -> list[Candidate]:
        """Return all settings with their mean cost on the first rows, the cheapest first."""
        rows, todo = slice(0, min(n_rows, len(truths))), list(groups.items())

        def evaluate_group(one: slice) -> list[Candidate]:
            (codes, _), settings = todo[one.start]
            found = costs_of(codes, settings, truths, cost, rows, decision)
            means = [(float(costs.mean()), len(costs)) for costs in found]
            return [Candidate(codes, each, *mean) for each, mean in zip(settings, means, strict=True)]

        chunks = [slice(i, i + 1) for i in range(len(todo))]
        tried = run_chunks(evaluate_group, chunks, n_jobs=n_jobs, title="choosing a posterior", in_place=True)
        return sorted((one for group in tried for one in group), key=lambda one: one.cost)

    def probe(n_rows: int) -> Floats:
        middle = PosteriorSettings(seen[0].kind, 0.0, _PROBE)
        return costs_of(seen[0], [middle], truths, cost, slice(0, n_rows), quick)[0]

    n_first, n_more = _round_sizes(truths, probe, linear)
    shares = LABEL_SHARES if linear else _FIRST_SHARES
    groups = {(codes, t): _settings(codes, t, shares) for codes in seen for t in TEMPERATURES}
    first = evaluate(groups, n_first, quick)

    best = list(dict.fromkeys(one.group for one in first))  # in this order, none twice
    best = best[: max(1, min(_KEPT, len(best) // 2))]
    tries_alone = may_be_new and not linear and exact_decision(IndependentLabels(truths), cost) is not None
    wanted = {group: _settings(*group, LABEL_SHARES, alone_too=tries_alone) for group in best}
    known = [] if n_first < len(truths) else [one for one in first if one.group in wanted]  # on all rows
    there = {(one.codes, one.settings) for one in known}
    left = {group: [one for one in wanted[group] if (group[0], one) not in there] for group in wanted}
    left = {group: settings for group, settings in left.items() if settings}
    second = sorted(known + evaluate(left, n_more, quick), key=lambda one: one.cost)

    finalists = _finalists(second, linear)
    last = evaluate(finalists, len(truths), None) if sum(map(len, finalists.values())) > 1 else []
    usual, alone = _by_kind(last)
    if alone and not _is_clearly_cheaper(alone[0], usual[0], truths, cost):
        last = [usual[0], *(one for one in last if one is not usual[0])]

    again = {(one.codes, one.settings) for one in last}
    others = [one for one in second if (one.codes, one.settings) not in again]
    others += [one for one in first if one.group not in wanted]
    return last + sorted(others, key=lambda one: (-one.n_rows, one.cost))


def costs_of(
    codes: OutOfBagCodes,
    settings: Sequence[PosteriorSettings],
    truths: Bytes,
    cost: Cost,
    rows: slice,
    decision: Decide | None = None,
) -> list[Floats]:
    """Return what the decisions by settings of one temperature cost, row by row.

    Where whole label vectors count, they are made by `decide` unless told.
    """
    labels = None if codes.labels is None else codes.labels[rows]
    weights = codes.weigh(settings[0].temperature, rows)
    costs = []
    for each in settings:
        if needs_only_marginals(cost) or each.independent:
            decided = decide(IndependentLabels(weights.marginals(labels, each.label_share)), cost)
        else:
            distribution = weights.distribution(labels, each.label_share)
            decided = decide(distribution, cost) if decision is None else decision(distribution)
        costs.append(cost.rows(truths[rows], decided))
    return costs


def _settings(
    codes: OutOfBagCodes, temperature: float, shares: Sequence[float], *, alone_too: bool = False
) -> list[PosteriorSettings]:
    """Return the settings of codes at a temperature, if the bits of single labels may have these shares."""
    found = [PosteriorSettings(codes.kind, share, temperature) for share in codes.shares if share in shares]
    if alone_too:
        found += [replace(one, independent=True) for one in found if one.label_share >= _ALONE_SHARE]
    return found


def _by_kind(tried: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Return those of whole label vectors, and those that take labels as independent."""
    alone = [one for one in tried if one.settings.independent]
    return [one for one in tried if not one.settings.independent], alone


def _finalists(tried: Sequence[Candidate], linear: bool) -> dict[Group, list[PosteriorSettings]]:
    """Return the best settings, at most three at the same temperature of codes.

    Settings that differ in nothing but the share often decide the same, and would take all places. Of those
    that take labels as independent the best few come in addition.
    """
    usual, alone = _by_kind(tried)
    finalists: dict[Group, list[PosteriorSettings]] = {}
    n_left = max(1, min(_FINALISTS, len(usual) // 2))
    for one in usual:
        there = finalists.get(one.group, [])
        if len(there) < 3 and n_left > 0:
            finalists[one.group] = [*there, one.settings]
            n_left -= 1
    if linear:  # all shares cost hardly more than one
        finalists = {group: _settings(*group, LABEL_SHARES) for group in finalists}
    for one in alone[:_ALONE]:
        finalists.setdefault(one.group, []).append(one.settings)
    return finalists


def _is_clearly_cheaper(one: Candidate, other: Candidate, truths: Bytes, cost: Cost) -> bool:
    """Whether one costs less than the other on all rows, and not by chance."""
    ours, theirs = (
        costs_of(each.codes, [each.settings], truths, cost, slice(None))[0] for each in (one, other)
    )
    differences, n = ours - theirs, len(truths)
    error = float(differences.std(ddof=1)) / n**0.5 if n > 1 else np.inf
    return bool(differences.mean() + _CLEAR * error < 0.0)


def _round_sizes(truths: Bytes, probe: Callable[[int], Floats], linear: bool) -> tuple[int, int]:
    """Return on how many rows the first two rounds are, given what some settings cost on the first rows.

    Settings differ where they cost something: there are as many rows as it takes to have enough such ones,
    and twice as many where decisions are quick.
    """
    enough = int(_FIRST_LABELS / max(1.0, float(truths.sum(axis=1).mean())))
    n_first = min(_FIRST_ROWS, max(_FIRST_ROWS // 3, enough)) * (2 if linear else 1)
    if _count_costly(probe(n_first))[-1] < _COSTLY_ROWS and n_first < len(truths):
        n_costly = np.maximum.accumulate(_count_costly(probe(len(truths))))
        n_enough = int(np.searchsorted(n_costly, _COSTLY_ROWS)) + 1
        n_first = max(n_first, min(n_enough, len(truths)))
    return n_first, n_first * _MORE_ROWS // _FIRST_ROWS


def _count_costly(costs: Floats) -> Floats:
    """Return how many of the first rows cost something, or fewer if some cost far more: (Σc)² / Σc²."""
    tiny = np.finfo(np.float64).tiny
    costs = np.abs(costs) / max(float(np.abs(costs).max()), tiny)  # a cost of one's own may be negative
    return np.asarray(np.cumsum(costs) ** 2 / np.maximum(np.cumsum(costs**2), tiny))
