"""The table of the paper's second study of CSRPE: what a larger relevant set would change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from refpair.experiments.published import paper_relevant_set
from refpair.experiments.report.showing import (
    cost_title,
    decimals_for,
    file_name,
    in_order,
    show_mean,
    show_percent,
)
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import Outcome, paired_outcome, score_table
from refpair.inspection.scores import direction_of, mean_and_error

__all__ = ["ExtendedSet", "compare_extended_sets", "relevant_set_table"]

_EXTENDED = "CSRPE-ext-"
_TONES: dict[Outcome, str] = {"win": "good", "tie": "", "loss": "bad", "untested": ""}


class ExtendedSet(NamedTuple):
    """What a relevant set with the label vectors of the test half changes, in one case."""

    cost: str
    data: str
    decoder: str
    mean: float
    error: float
    extended_mean: float
    extended_error: float
    gain: float  # of the extended set, as a share of the mean; more is better; NaN if only the mean is 0
    outcome: Outcome  # of the extended set, by a paired t-test
    splits: int


def compare_extended_sets(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> list[ExtendedSet]:
    """Return what the larger relevant set changes, wherever CSRPE and CSRPE-ext have splits in common.

    Examples
    --------
    >>> rows = [("flags", "f1", a, s, 0.5) for a in ("CSRPE-nearest", "CSRPE-ext-nearest") for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> [(case.decoder, case.gain, case.outcome) for case in compare_extended_sets(results, {"f1": True})]
    [('nearest', 0.0, 'tie')]
    """
    scores = score_table(results)
    extended = [str(name) for name in scores.columns if str(name).startswith(_EXTENDED)]
    decoders = [name.removeprefix(_EXTENDED) for name in in_order(extended)]
    found = []
    for (cost, data), cell in scores.groupby(level=["cost", "data"], sort=False):
        up = direction_of(greater_is_better, cost)
        for decoder in decoders:
            names = [f"CSRPE-{decoder}", f"{_EXTENDED}{decoder}"]
            a, b = cell.reindex(columns=names).dropna().to_numpy().T
            if len(a):
                (mean_a, error_a), (mean_b, error_b) = (map(float, mean_and_error(one)) for one in (a, b))
                means = mean_a, error_a, mean_b, error_b
                gain = _gain(mean_a, mean_b, up)
                outcome = paired_outcome(b, a, up)
                found.append(ExtendedSet(str(cost), str(data), decoder, *means, gain, outcome, len(a)))
    return found


def relevant_set_table(
    results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]
) -> ResultTable | None:
    """Return CSRPE beside CSRPE-ext for one cost, with the paper's numbers, or None without both.

    Examples
    --------
    >>> rows = [("flags", "f1", a, s, 0.5) for a in ("CSRPE-nearest", "CSRPE-ext-nearest") for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> print(relevant_set_table(results, "f1", {"f1": True}).to_markdown())
    | data | nearest | nearest ext | gain | paper | paper ext | paper gain |
    | :-- | --: | --: | --: | --: | --: | --: |
    | flags | .5000 ± .0000 | .5000 ± .0000 | 0.0 % | .7222 ± .0041 | .7192 ± .0043 | −0.4 % |
    """
    cases = compare_extended_sets(results[results["cost"] == cost], greater_is_better)
    if not cases:
        return None
    decoders = list(dict.fromkeys(case.decoder for case in cases))
    up = direction_of(greater_is_better, cost)
    datas = in_order(case.data for case in cases)
    shown = pd.DataFrame(index=pd.Index(datas, name="data"))
    tone = pd.DataFrame("", index=shown.index, columns=pd.Index([], dtype=str))
    for decoder in decoders:
        of_data = {case.data: case for case in cases if case.decoder == decoder}
        gain = "gain" if len(decoders) == 1 else f"{decoder} gain"
        rows = [_show_case(of_data[data]) if data in of_data else ("–",) * 3 for data in datas]
        shown[[decoder, f"{decoder} ext", gain]] = rows
        tone[[decoder, f"{decoder} ext"]] = ""
        tone[gain] = [_TONES[of_data[data].outcome] if data in of_data else "" for data in datas]
    printed = [_show_paper(cost, data, up) for data in datas]
    if any(row != ("–",) * 3 for row in printed):
        shown[["paper", "paper ext", "paper gain"]] = printed
    several = any(case.splits > 1 for case in cases)
    means = "Mean ± standard error on the splits" if several else "Scores on the single split"
    tone = tone.reindex(columns=shown.columns, fill_value="")
    return ResultTable(
        name=file_name("relevant-set", cost),
        title=f"{cost_title(cost, greater_is_better)}: label vectors of the test half in the relevant set",
        note=f"{means} both have; ext: the relevant set has the label vectors "
        "of both halves. Gain: of ext, in percent, + is better; bold where a paired t-test at the 95 % "
        "level agrees.",
        values=pd.DataFrame(cases),
        shown=shown,
        bold=tone != "",
        tone=tone,
    )


def _gain(plain: float, extended: float, up: bool) -> float:
    """Return by what share a score gets better, NaN if there is nothing to be a share of."""
    if extended == plain:
        return 0.0
    return (extended - plain) / abs(plain) * (1 if up else -1) if plain else np.nan


def _show_case(case: ExtendedSet) -> tuple[str, str, str]:
    decimals = decimals_for([case.mean, case.extended_mean], [case.error, case.extended_error])
    plain = show_mean(case.mean, case.error, decimals)
    return plain, show_mean(case.extended_mean, case.extended_error, decimals), show_percent(case.gain)


def _show_paper(cost: str, data: str, up: bool) -> tuple[str, str, str]:
    plain, extended = (paper_relevant_set(cost, data, name) for name in ("CSRPE", "CSRPE-ext"))
    if plain is None or extended is None:
        return ("–",) * 3
    decimals = min(decimals_for([plain[0], extended[0]], [plain[1], extended[1]]), 4)  # as many are printed
    gain = show_percent(_gain(plain[0], extended[0], up))
    return show_mean(*plain, decimals), show_mean(*extended, decimals), gain
