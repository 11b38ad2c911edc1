"""The sections of a report on the length of codes, the relevant set, and strategies of active learning."""

from __future__ import annotations

import json
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from refpair._extras import pd
from refpair.experiments.names import greater_is_better
from refpair.experiments.published import paper_relevant_set
from refpair.experiments.report.comparison import comparison_table, outcome_table
from refpair.experiments.report.figures import PAPER_BITS, code_length_figure, learning_curve_figure
from refpair.experiments.report.sections import Section, make_figure, parameter_table, times_table
from refpair.experiments.report.table import (
    ResultTable,
    caption,
    cost_title,
    decimals_for,
    in_order,
    make_table,
    show_mean,
    show_number,
    show_percent,
    spread,
)
from refpair.experiments.simulation import DEFAULT_STRATEGY
from refpair.experiments.statistics import (
    Outcome,
    code_length_curve,
    paired_outcome,
    score_table,
    shared_means,
    win_tie_loss,
)
from refpair.inspection._display import flat_from, mean_and_error

_MOST_LENGTHS = 10  # columns that fit on a screen
_EXTENDED = "CSRPE-ext-"
_RANDOM = "random"
_STYLES: dict[Outcome, str] = {"win": "good bold", "tie": "", "loss": "bad bold", "untested": ""}


# ---- how long codes must be ----


def code_length_section(results: pd.DataFrame) -> Section:
    """Return the section on how long codes must be; the results have several ``n_bits``."""
    if results.empty:
        return Section("Length of codes", "There are no results yet.")
    results = without_repeated_lengths(results)
    parts = []
    for cost in in_order(results.loc[results["n_bits"] > 0, "cost"]):
        table = code_length_table(results, cost)
        figure = make_figure("code-length", partial(code_length_figure, results, cost), of=cost)
        if table is not None:
            parts.append(Section(cost_title(cost), tables=[table], figures=[figure]))
    parts.append(Section("Times", tables=[times_table(results, "code-length")]))
    return Section("Length of codes", tables=[_flatness_table(results)], parts=parts)


def _flatness_table(results: pd.DataFrame) -> ResultTable:
    """Return a row for each decoder: how many of its curves are flat from the paper's length on."""
    flat = flat_lengths(results)
    tells = flat["longest"] > PAPER_BITS
    counts = {
        "curves": flat["longest"] > 0,
        f"flat from {PAPER_BITS} bits": tells & (flat["flat_from"] <= PAPER_BITS),
        "flat later": tells & (flat["flat_from"] > PAPER_BITS),
        "cannot tell": ~tells,
    }
    names = in_order(flat["algorithm"])
    values = pd.DataFrame(counts).astype(int).groupby(flat["algorithm"]).sum().reindex(names)
    shown = values.astype(str).rename_axis("algorithm")
    return make_table("summary-code-length", values.rename_axis("algorithm").reset_index(), shown)


def without_repeated_lengths(results: pd.DataFrame) -> pd.DataFrame:
    """Leave out lengths that codes do not have, there being fewer useful pairs: they repeat the longest.

    Such results note how many bits there are. At least one length of each curve stays.
    """
    curve = ["cost", "data", "algorithm"]
    there = results["chosen"].map(lambda chosen: json.loads(chosen or "{}").get("n_bits", np.inf))
    repeats = (results["n_bits"] > there).groupby([results[name] for name in [*curve, "n_bits"]])
    shortest = results.groupby(curve)["n_bits"].transform("min")
    return results[~repeats.transform("any") | (results["n_bits"] == shortest)]


def flat_lengths(results: pd.DataFrame) -> pd.DataFrame:
    """Return from which code length on each curve of two lengths or more is flat, and its longest code."""
    found = []
    for cost, data, algorithm in _curves(results):
        curve = code_length_curve(results, cost, data, algorithm)
        if len(curve) > 1:
            up = greater_is_better(cost)
            flat = flat_from(curve.index, curve["mean"], curve["error"], up)
            found.append((cost, data, algorithm, flat, int(curve.index[-1])))
    return pd.DataFrame(found, columns=["cost", "data", "algorithm", "flat_from", "longest"])


def code_length_table(results: pd.DataFrame, cost: str) -> ResultTable | None:
    """Return the mean scores for one cost by code length and from which on they are flat, or None."""
    results = results[results["cost"] == cost]
    curves = {key[1:]: code_length_curve(results, *key) for key in _curves(results)}
    curves = {key: curve for key, curve in curves.items() if len(curve)}
    if not curves:
        return None
    flat = flat_lengths(results).set_index(["data", "algorithm"])["flat_from"]
    lengths = _some_lengths(sorted({length for curve in curves.values() for length in curve.index}))
    rows = {}
    for (data, algorithm), curve in curves.items():
        decimals = decimals_for(curve["mean"], curve["error"])
        means = [show_number(mean, decimals) for mean in curve["mean"].reindex(lengths)]
        from_ = flat.get((data, algorithm))
        words = "–" if from_ is None else str(from_) if from_ < curve.index[-1] else f"not before {from_}"
        rows[f"{data} {algorithm.removeprefix('CSRPE-')}"] = [*means, words]
    shown = pd.DataFrame.from_dict(rows, orient="index", columns=[*map(str, lengths), "flat from"])
    style = pd.DataFrame("", index=shown.index, columns=shown.columns)
    style.loc[shown["flat from"].str.isdecimal(), "flat from"] = "bold"
    values = pd.concat(curves, names=["data", "algorithm"]).reset_index()
    shown = shown.rename_axis("data and decoder")
    return make_table("code-length", values, shown, style, of=cost, cost=cost_title(cost))


def _curves(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the distinct (cost, data, algorithm) of codes, in the order they are shown in."""
    keys = results.loc[results["n_bits"] > 0, ["cost", "data", "algorithm"]]
    there = set(keys.itertuples(index=False, name=None))
    return [key for key in product(*(in_order(keys[name]) for name in keys)) if key in there]


def _some_lengths(lengths: list[int]) -> list[int]:
    """Return as many of the lengths as there is room for: the shortest, the longest and some in between."""
    if len(lengths) <= _MOST_LENGTHS:
        return lengths
    return [lengths[i] for i in np.linspace(0, len(lengths) - 1, _MOST_LENGTHS).round().astype(int)]


# ---- what a larger relevant set would change ----


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


def relevant_set_section(results: pd.DataFrame) -> Section:
    """Return the section on what the label vectors of the test half in the relevant set would change."""
    if results.empty:
        return Section("Relevant set", "There are no results yet.")
    cases = compare_extended_sets(results)
    made = (relevant_set_table(results, cost) for cost in in_order(results["cost"]))
    return Section(
        "Relevant set",
        caption("relevant-set", "text"),
        [*([_gain_table(cases)] if cases else []), *(table for table in made if table is not None)],
        parts=[Section("Times", tables=[times_table(results, "relevant-set")])],
    )


def _gain_table(cases: list[ExtendedSet]) -> ResultTable:
    """Return a row for each decoder: how much the larger relevant set gains."""
    rows = {}
    for decoder, own in pd.DataFrame(cases).groupby("decoder", sort=False):
        gain, counts = own["gain"], own["outcome"].value_counts()
        outcomes = [int(counts.get(outcome, 0)) for outcome in ("win", "tie", "loss")]
        rows[decoder] = [len(own), int((gain > 0).sum()), gain.median(), gain.max(), *outcomes]
    columns = ["cells", "better", "median", "most", "win", "tie", "loss"]
    values = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("decoder")
    shown = pd.DataFrame(index=values.index)
    shown[["cells", "better"]] = values[["cells", "better"]].astype(str)
    shown["median gain"] = values["median"].map(show_percent)
    shown["largest gain"] = values["most"].map(show_percent)
    shown["wins/ties/losses"] = [f"{row.win}/{row.tie}/{row.loss}" for row in values.itertuples()]
    return make_table("summary-relevant-set", values.reset_index(), shown)


def compare_extended_sets(results: pd.DataFrame) -> list[ExtendedSet]:
    """Return what the larger relevant set changes, wherever CSRPE and CSRPE-ext have splits in common."""
    scores = score_table(results)
    extended = [str(name) for name in scores.columns if str(name).startswith(_EXTENDED)]
    decoders = [name.removeprefix(_EXTENDED) for name in in_order(extended)]
    found = []
    for (cost, data), cell in scores.groupby(level=["cost", "data"], sort=False):
        up = greater_is_better(cost)
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


def relevant_set_table(results: pd.DataFrame, cost: str) -> ResultTable | None:
    """Return CSRPE beside CSRPE-ext for one cost, with the paper's numbers, or None without both."""
    cases = compare_extended_sets(results[results["cost"] == cost])
    if not cases:
        return None
    decoders = list(dict.fromkeys(case.decoder for case in cases))
    up = greater_is_better(cost)
    datas = in_order(case.data for case in cases)
    shown = pd.DataFrame(index=pd.Index(datas, name="data"))
    style = pd.DataFrame(index=shown.index)
    for decoder in decoders:
        of_data = {case.data: case for case in cases if case.decoder == decoder}
        gain = "gain" if len(decoders) == 1 else f"{decoder} gain"
        rows = [_show_case(of_data[data]) if data in of_data else ("–",) * 3 for data in datas]
        shown[[decoder, f"{decoder} ext", gain]] = rows
        style[gain] = [_STYLES[of_data[data].outcome] if data in of_data else "" for data in datas]
    printed = [_show_paper(cost, data, up) for data in datas]
    if any(row != ("–",) * 3 for row in printed):
        shown[["paper", "paper ext", "paper gain"]] = printed
    style = style.reindex(columns=shown.columns, fill_value="")
    return make_table("relevant-set", pd.DataFrame(cases), shown, style, of=cost, cost=cost_title(cost))


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


# ---- active learning ----


def simulate_section(results: pd.DataFrame) -> Section:
    """Return the section on strategies of active learning; a result is a point of a learning curve."""
    if results.empty:
        return Section("Active learning", "There are no results yet.")
    areas = areas_under_curves(results)
    parts = []
    for cost in in_order(areas["cost"]):
        title = cost_title(cost)
        heights = comparison_table(areas, cost)
        table = make_table("areas", heights.values, heights.shown, heights.style, of=cost, cost=title)
        figure = make_figure("learning-curves", partial(learning_curve_figure, results, cost), of=cost)
        parts.append(Section(title, tables=[table], figures=[figure]))
    if DEFAULT_STRATEGY in set(areas["algorithm"]) and (tests := outcome_table(areas, DEFAULT_STRATEGY)):
        parts.append(Section("Tests", tables=[tests]))
    parameters = parameter_table(results)
    tables = [query_times_table(results), *([parameters] if parameters else [])]
    parts.append(Section("Times and parameters", tables=tables))
    return Section("Active learning", tables=[_strategy_table(areas)], parts=parts)


def areas_under_curves(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean height of each learning curve that lacks no points, by the trapezoidal rule."""
    keys = ["data", "cost", "algorithm", "split"]
    rows = results.sort_values("n_labeled", kind="stable")
    steps = rows.groupby(keys, sort=False)[["n_labeled", "score"]]
    before = steps.shift()
    width = rows["n_labeled"] - before["n_labeled"]
    parts = rows[keys].assign(
        n_points=1, width=width.fillna(0.0), area=(width * (rows["score"] + before["score"]) / 2).fillna(0.0)
    )
    sums = parts.groupby(keys, sort=False).sum().reset_index()
    first = rows.groupby(keys, sort=False)["score"].first().reset_index(drop=True)
    whole = sums["n_points"] == sums.groupby(["data", "cost"])["n_points"].transform("max")
    score = (sums["area"] / sums["width"].where(sums["width"] > 0)).fillna(first)
    order = results.drop_duplicates(keys)[keys]
    return order.merge(sums[keys].assign(score=score)[whole], on=keys)


def _strategy_table(areas: pd.DataFrame) -> ResultTable:
    """Return a row for each strategy, the default first: where it is the best, and beside random."""
    means = shared_means(areas).dropna()
    signs = np.array([1.0 if greater_is_better(cost) else -1.0 for cost, _ in means.index])
    heights = means.mul(signs, axis=0)
    names = sorted(in_order(areas["algorithm"]), key=lambda name: name != DEFAULT_STRATEGY)
    values = pd.DataFrame(index=pd.Index(names, name="strategy"))
    values["panels"] = len(means)
    values["best"] = heights.idxmax(axis=1).value_counts() if len(heights) else 0
    if _RANDOM in names:
        ahead = heights.sub(heights[_RANDOM], axis=0)
        values["better than random"] = (ahead > 0).sum()
        values["mean gain"] = ahead.div(means[_RANDOM].abs(), axis=0).mean()
        for which, outcome in enumerate(("win", "tie", "loss")):
            values[outcome] = [
                win_tie_loss(areas, name)[_RANDOM].iloc[-1][which] if name != _RANDOM else 0 for name in names
            ]
    values = values.fillna({"best": 0}).astype({"best": int})
    shown = values[[name for name in ("panels", "best", "better than random") if name in values]].astype(str)
    if _RANDOM in names:
        shown["mean gain"] = values["mean gain"].map(show_percent)
        shown["wins/ties/losses"] = [f"{row.win}/{row.tie}/{row.loss}" for row in values.itertuples()]
        shown.loc[_RANDOM, shown.columns[2:]] = "–"
    return make_table("summary-simulate", values.reset_index(), shown)


def query_times_table(results: pd.DataFrame) -> ResultTable:
    """Return how long a query took, on each data set by each strategy."""
    keys = ["data", "cost", "algorithm", "split"]
    runs = results.groupby(keys, sort=False).agg(
        seconds=("seconds_fit", "sum"), first=("n_labeled", "min"), last=("n_labeled", "max")
    )
    each = 1000 * runs["seconds"] / (runs["last"] - runs["first"]).clip(lower=1)
    means = each.groupby(["data", "algorithm"], sort=False).mean()
    shown = spread(means.map(lambda value: f"{value:.2g}" if value < 10 else f"{value:.0f}")).fillna("")
    values = means.rename("milliseconds").reset_index()
    return make_table("times-simulate", values, shown.rename_axis("data"))
