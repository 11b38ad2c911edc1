"""The section of a report that compares algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from refpair.experiments.published import PAPER_DATA, paper_outcomes
from refpair.experiments.ranks import average_ranks, cell_ranks, critical_difference, friedman
from refpair.experiments.report.comparison_tables import against_paper_table, comparison_table
from refpair.experiments.report.figures import comparison_figure, critical_difference_diagram
from refpair.experiments.report.outcome_tables import outcome_table, rank_table, verdict_table
from refpair.experiments.report.run_tables import parameter_table, times_table
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.report.showing import (
    cost_words,
    count_of,
    in_order,
    is_ours,
    join_words,
    show_percent,
    sort_keys,
)
from refpair.experiments.statistics import best_or_level, win_tie_loss

__all__ = ["compare_section"]


def compare_section(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    """Return the section that compares algorithms on all costs and data sets that there are results of.

    Parameters
    ----------
    results : DataFrame
        A row for each finished run, with the columns data, cost, algorithm, n_bits, split, score,
        seconds_search, seconds_fit, seconds_predict and chosen.
    greater_is_better : mapping of str to bool
        For each cost.

    Examples
    --------
    >>> rows = [("flags", "f1", a, 0, x, 1.0, 0.2, 0.1, "{}") for a, x in {"BR": 0.6, "CC": 0.7}.items()]
    >>> columns = ["data", "cost", "algorithm", "split", "score"]
    >>> columns += ["seconds_search", "seconds_fit", "seconds_predict", "chosen"]
    >>> section = compare_section(pd.DataFrame(rows, columns=columns), {"f1": True})
    >>> [part.heading for part in section.parts]
    ['Scores', 'Ranks', 'Beside the paper', 'Times and parameters']
    """
    if results.empty:
        return Section("Comparison of algorithms", ["There are no results yet."])
    ours = [name for name in in_order(results["algorithm"]) if is_ours(name)][::-1]
    parts = [_scores(results, greater_is_better)]
    if ours and results["algorithm"].nunique() > 1:
        parts.append(_tests(results, ours, greater_is_better))
    parts += _ranks(results, greater_is_better)
    parts += _beside_paper(results, greater_is_better)
    parts.append(_runs(results))
    return Section(
        "Comparison of algorithms",
        [_extent(results), *(text for name in ours for text in _verdict(results, name, greater_is_better))],
        parts=parts,
    )


def _extent(results: pd.DataFrame) -> str:
    numbers = [
        count_of(results[column].nunique(), what)
        for column, what in (("algorithm", "algorithm"), ("data", "data set"), ("cost", "cost"))
    ]
    splits = results.groupby("algorithm", sort=False)["split"].nunique()
    many = [
        f"{join_words(in_order(splits.index[splits == n]))} on {count_of(int(n), 'random half split')}"
        for n in sorted(splits.unique())
    ]
    return (
        f"{join_words(numbers)}; {join_words(many)}. Two algorithms are compared on the splits that both "
        "have. A cell is a cost on a data set."
    )


def _verdict(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> Iterator[str]:
    """Yield where one of ours is the best, level with the best or worse; nothing if it stands alone."""
    verdicts = best_or_level(_with_competitors(results, ours), ours, greater_is_better)
    if verdicts.empty:
        return
    counts = verdicts["verdict"].value_counts()
    text = f"{ours} has the best mean in {counts.get('best', 0)} of {count_of(len(verdicts), 'cell')}"
    text += f" and is level with the best in {counts.get('level', 0)} more"
    worse = verdicts[verdicts["verdict"] == "worse"].reset_index()
    winners: dict[tuple[str, ...], tuple[str, ...]] = {
        (cost, data): names for cost, data, _, names in worse.itertuples(index=False, name=None)
    }
    lost = [
        f"{cost_words(key[0])} on {key[1]} (to {join_words(in_order(winners[key]), most=3)})"
        for key in sort_keys(winners)
    ]
    text += (
        f"; it loses in {count_of(len(lost), 'cell')}: {join_words(lost)}." if lost else "; it never loses."
    )
    yield text + ("" if results["split"].nunique() > 1 else " A single split cannot tell level from worse.")


def _scores(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    figure = SectionFigure(
        "comparison",
        "How far the means are from the best mean of their data set. The scale is linear up to 1 % and "
        "logarithmic above.",
        lambda: comparison_figure(results, greater_is_better),
    )
    tables = [comparison_table(results, cost, greater_is_better) for cost in in_order(results["cost"])]
    return Section("Scores", tables=tables, figures=[figure] if results["algorithm"].nunique() > 1 else [])


def _tests(results: pd.DataFrame, ours: list[str], greater_is_better: Mapping[str, bool]) -> Section:
    paragraphs, tables = [], []
    for name in ours:
        competitors = _with_competitors(results, name)
        tables.append(outcome_table(results, name, greater_is_better))
        if competitors["algorithm"].nunique() > 1:
            tables.append(verdict_table(competitors, name, greater_is_better))
            paragraphs.append(_total_outcomes(competitors, name, greater_is_better))
    return Section("Tests", paragraphs, tables)


def _total_outcomes(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> str:
    totals = win_tie_loss(results, ours, greater_is_better).loc["total"]
    win, tie, loss = np.sum(list(totals), axis=0)
    text = f"By paired t-tests at the 95 % level {ours} wins {win}, ties {tie} and loses {loss} of its "
    text += f"{win + tie + loss} comparisons with {join_words(in_order(totals.index))}"
    papers = [paper_outcomes("total", name) for name in totals.index]
    known = [paper for paper in papers if paper is not None]
    if len(known) < len(papers) or not set(PAPER_DATA) <= set(results["data"]):
        return f"{text}."
    win, tie, loss = np.sum(known, axis=0)
    return f"{text}; the paper's CSRPE wins {win}, ties {tie} and loses {loss} of its {win + tie + loss}."


def _ranks(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Iterator[Section]:
    """Yield the section of ranks, if there is anything to rank."""
    cells = cell_ranks(results, greater_is_better)
    if cells.empty or len(cells.columns) < 2:
        return
    ranks = average_ranks(results, greater_is_better)
    apart, p = critical_difference(len(ranks), len(cells)), friedman(results, greater_is_better)
    names = list(ranks.index)
    level = [name for name in names[1:] if ranks[name] - ranks.iloc[0] < apart]
    text = f"Over the {count_of(len(cells), 'cell')} that all algorithms have, {names[0]} has the best mean "
    text += f"rank, {ranks.iloc[0]:.2f}. "
    text += f"Friedman's test that all are alike: p {_show_p(p)}. " if np.isfinite(p) else ""
    text += f"By Nemenyi's test two mean ranks differ from {apart:.2f} on: "
    text += f"{join_words(level)} cannot be told from {names[0]}." if level else "all others are worse."
    caption = (
        f"Mean ranks over {count_of(len(cells), 'cell')}. Bars join algorithms that do not differ at the "
        f"95 % level (critical difference {apart:.2f}, Nemenyi's test)."
    )
    figure = SectionFigure("ranks", caption, lambda: critical_difference_diagram(ranks, apart))
    yield Section("Ranks", [text], [rank_table(results, greater_is_better)], [figure])


def _beside_paper(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Iterator[Section]:
    """Yield the section beside the paper, if it has any of the numbers."""
    made = (against_paper_table(results, cost, greater_is_better) for cost in in_order(results["cost"]))
    tables = [table for table in made if table is not None]
    if not tables:
        return
    differences = pd.concat([table.values for table in tables]).groupby("algorithm")["difference"]
    middles = differences.median()
    words = [f"{name} {show_percent(middles[name])}" for name in in_order(middles.index)]
    text = (
        f"The median difference from the paper's means, + being better, is for {join_words(words, most=99)}. "
    )
    text += "The splits are not the paper's, nor is the search for parameters in every detail."
    yield Section("Beside the paper", [text], tables)


def _runs(results: pd.DataFrame) -> Section:
    tables = [table for table in (times_table(results), parameter_table(results)) if table is not None]
    return Section("Times and parameters", tables=tables)


def _with_competitors(results: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Return the results without those of other decoders of ours."""
    return results[(results["algorithm"] == ours) | ~results["algorithm"].map(is_ours)]


def _show_p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"
