"""The section of a report on strategies of active learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pandas as pd

from refpair.experiments.report.comparison_tables import comparison_table
from refpair.experiments.report.figures import learning_curve_figure
from refpair.experiments.report.outcome_tables import outcome_table
from refpair.experiments.report.run_tables import parameter_table, query_times_table
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.report.showing import (
    cost_title,
    cost_words,
    count_of,
    file_name,
    in_order,
    join_words,
)
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import WinTieLoss, shared_means, win_tie_loss
from refpair.experiments.strategies import DEFAULT_STRATEGY
from refpair.inspection.scores import direction_of

__all__ = ["areas_under_curves", "simulate_section"]

RANDOM = "random"


def simulate_section(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    """Return the section on which strategies ask for the rows that teach most.

    Parameters
    ----------
    results : DataFrame
        A row for each point of each learning curve, with the columns data, cost, algorithm (the strategy),
        n_labelled, split, score, seconds_search, seconds_fit and chosen.
    greater_is_better : mapping of str to bool
        For each cost.

    Examples
    --------
    >>> columns = ["data", "cost", "algorithm", "n_labelled", "split", "score"]
    >>> both = {"random": 90, "MMC": 80}.items()
    >>> rows = [("flags", "f1", name, n, 0, n / x) for name, x in both for n in (20, 40)]
    >>> results = pd.DataFrame(rows, columns=columns).assign(seconds_search=0.1, seconds_fit=0.2, chosen="{}")
    >>> simulate_section(results, {"f1": True}).paragraphs[1]
    'MMC: better than random in 1 of 1 panel, best of all in 1.'
    """
    if results.empty:
        return Section("Active learning", ["There are no results yet."])
    areas = areas_under_curves(results)
    parts = []
    for cost in in_order(areas["cost"]):
        title = cost_title(cost, greater_is_better)
        table = comparison_table(areas, cost, greater_is_better)
        table = replace(
            table,
            name=file_name("areas", cost),
            note="Mean height of the learning curves ± standard error over runs. Bold: the best of a row, by "
            "the means over the runs that all strategies share.",
        )
        figure = SectionFigure(
            file_name("learning-curves", cost),
            f"{title} by the number of labelled rows; the bands are a standard error over runs up and down.",
            partial(learning_curve_figure, results, cost, greater_is_better),
        )
        parts.append(Section(title, tables=[table], figures=[figure]))
    parts += _tests(areas, greater_is_better)
    parameters = parameter_table(results)
    parts.append(
        Section(
            "Times and parameters", tables=[query_times_table(results), *([parameters] if parameters else [])]
        )
    )
    return Section("Active learning", [_extent(results), *_verdicts(areas, greater_is_better)], parts=parts)


def areas_under_curves(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean height of each learning curve, as the trapezoidal rule has it, as its score.

    Curves of which points are missing are left out.

    Examples
    --------
    >>> rows = [("flags", "f1", "MMC", n, 0, score) for n, score in ((20, 0.2), (30, 0.4), (50, 0.6))]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_labelled", "split", "score"])
    >>> areas_under_curves(results)["score"].round(3).tolist()
    [0.433]
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


def _extent(results: pd.DataFrame) -> str:
    runs = results.groupby(["data", "cost", "algorithm"])["split"].nunique()
    n_strategies = results["algorithm"].nunique()
    fewest, most = int(runs.min()), int(runs.max())
    each = f"{fewest} to {most} runs" if fewest < most else count_of(most, "run")
    numbers = [
        f"{n_strategies} {'strategy' if n_strategies == 1 else 'strategies'}",
        count_of(results["data"].nunique(), "data set"),
        count_of(results["cost"].nunique(), "cost"),
    ]
    return (
        f"{join_words(numbers)}; {each}. A panel is a cost on a data set, and a strategy is as good there as "
        "the mean height of its learning curve."
    )


def _verdicts(areas: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> list[str]:
    """Say of each strategy where it is better than random and where the best, the default first."""
    panels = _panels(areas, greater_is_better)
    names = sorted(in_order(areas["algorithm"]), key=lambda name: name != DEFAULT_STRATEGY)
    best = [max(panel, key=lambda name: panel[name]) for panel in panels.values()]
    texts = []
    for name in names:
        if name == RANDOM and len(names) > 1:
            continue
        text = f"best of all in {best.count(name)}"
        if RANDOM not in names:
            texts.append(f"{name}: {text} of {count_of(len(panels), 'panel')}.")
            continue
        worse = [place for place, panel in panels.items() if not panel[name] > panel[RANDOM]]
        n_better = len(panels) - len(worse)
        text = f"{name}: better than random in {n_better} of {count_of(len(panels), 'panel')}, {text}"
        n = _against_random(areas, name, greater_is_better)
        if any(n):
            text += f"; by paired t-tests against random it wins {n.win}, ties {n.tie} and loses {n.loss}"
        texts.append(f"{text}; not better on {join_words(worse)}." if worse else f"{text}.")
    return texts


def _panels(areas: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> dict[str, dict[str, float]]:
    """Return for each panel that all strategies have how good each is, the greater the better."""
    panels = {}
    for row in shared_means(areas).dropna().reset_index().to_dict("records"):
        cost, data = str(row.pop("cost")), str(row.pop("data"))
        sign = 1.0 if direction_of(greater_is_better, cost) else -1.0
        panels[f"{cost_words(cost)} on {data}"] = {str(name): sign * float(row[name]) for name in row}
    return panels


def _against_random(areas: pd.DataFrame, name: str, greater_is_better: Mapping[str, bool]) -> WinTieLoss:
    pair = areas[areas["algorithm"].isin([name, RANDOM])]
    counts = win_tie_loss(pair, name, greater_is_better)[RANDOM]
    return WinTieLoss(*counts.iloc[-1])


def _tests(areas: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> list[Section]:
    """Return wins, ties and losses of the default against each other strategy."""
    names = in_order(areas["algorithm"])
    tables: list[ResultTable] = []
    if DEFAULT_STRATEGY in names and len(names) > 1:
        tables.append(outcome_table(areas, DEFAULT_STRATEGY, greater_is_better))
    return [Section("Tests", tables=tables)] if tables else []
