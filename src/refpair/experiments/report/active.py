"""The section of a report on active learning: which strategies ask for the rows that teach most."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from refpair.experiments.names import greater_is_better
from refpair.experiments.report.comparison import comparison_table, outcome_table
from refpair.experiments.report.figures import learning_curve_figure
from refpair.experiments.report.sections import Section, SectionFigure, parameter_table
from refpair.experiments.report.table import (
    ResultTable,
    caption,
    cost_title,
    file_name,
    in_order,
    make_table,
    show_percent,
    spread,
)
from refpair.experiments.simulation import DEFAULT_STRATEGY
from refpair.experiments.statistics import shared_means, win_tie_loss

_RANDOM = "random"


def simulate_section(results: pd.DataFrame) -> Section:
    """Return the section on strategies of active learning.

    The results have a row for each point of each learning curve, with the columns data, cost, algorithm (the
    strategy), n_labelled, split, score, seconds_search, seconds_fit and chosen.
    """
    if results.empty:
        return Section("Active learning", "There are no results yet.")
    areas = areas_under_curves(results)
    parts = []
    for cost in in_order(areas["cost"]):
        title = cost_title(cost)
        heights = comparison_table(areas, cost)
        table = make_table("areas", heights.values, heights.shown, heights.style, of=cost, cost=title)
        draw = partial(learning_curve_figure, results, cost)
        shown = caption("learning-curves", "figure", cost=title)
        figure = SectionFigure(file_name("learning-curves", cost), shown, draw)
        parts.append(Section(title, tables=[table], figures=[figure]))
    tests = None
    if DEFAULT_STRATEGY in set(areas["algorithm"]):
        tests = outcome_table(areas, DEFAULT_STRATEGY)
    parts += [Section("Tests", tables=[tests])] if tests else []
    parameters = parameter_table(results)
    tables = [query_times_table(results), *([parameters] if parameters else [])]
    parts.append(Section("Times and parameters", tables=tables))
    return Section("Active learning", tables=[_strategy_table(areas)], parts=parts)


def areas_under_curves(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean height of each learning curve, as the trapezoidal rule has it, as its score.

    Curves of which points are missing are left out.
    """
    keys = ["data", "cost", "algorithm", "split"]
    rows = results.sort_values("n_labelled", kind="stable")
    steps = rows.groupby(keys, sort=False)[["n_labelled", "score"]]
    before = steps.shift()
    width = rows["n_labelled"] - before["n_labelled"]
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
        seconds=("seconds_fit", "sum"), first=("n_labelled", "min"), last=("n_labelled", "max")
    )
    each = 1000 * runs["seconds"] / (runs["last"] - runs["first"]).clip(lower=1)
    means = each.groupby(["data", "algorithm"], sort=False).mean()
    shown = spread(means.map(lambda value: f"{value:.2g}" if value < 10 else f"{value:.0f}")).fillna("")
    values = means.rename("milliseconds").reset_index()
    return make_table("times-simulate", values, shown.rename_axis("data"))
