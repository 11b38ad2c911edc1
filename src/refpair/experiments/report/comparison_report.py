"""The section of a report that compares algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from refpair.experiments.ranks import average_ranks, cell_ranks, critical_difference, friedman
from refpair.experiments.report.comparison_tables import against_paper_table, comparison_table, splits_table
from refpair.experiments.report.figures import comparison_figure, critical_difference_diagram
from refpair.experiments.report.outcome_tables import outcome_table, paper_counts, rank_table, verdict_table
from refpair.experiments.report.run_tables import parameter_table, times_table
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.report.showing import (
    NO_TEST,
    cost_words,
    count_of,
    in_order,
    is_ours,
    join_words,
    show_percent,
    sort_keys,
    split_words,
)
from refpair.experiments.statistics import WinTieLoss, best_or_level, win_tie_loss

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
    ['Scores', 'Tests', 'Ranks', 'Beside the paper', 'Times and parameters']
    """
    if results.empty:
        return Section("Comparison of algorithms", ["There are no results yet."])
    ours = _subjects(results, greater_is_better)
    parts = [_scores(results, greater_is_better)]
    parts += _tests(results, ours, greater_is_better)
    parts += _ranks(results, greater_is_better)
    parts += _beside_paper(results, greater_is_better)
    parts.append(_runs(results))
    return Section(
        "Comparison of algorithms",
        [_extent(results), *(text for name in ours for text in _verdict(results, name, greater_is_better))],
        parts=parts,
    )


def _subjects(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> list[str]:
    """Return whose wins are told: CSRPE's, or else those of the user's own, or else of the first in rank."""
    names = in_order(results["algorithm"])
    ours = [name for name in names if is_ours(name)][::-1]
    own = [name for name in names if ":" in name]
    ranks = average_ranks(results, greater_is_better).dropna()
    return ours or own or [str(name) for name in ranks.index[:1]] or names[:1]


def _extent(results: pd.DataFrame) -> str:
    numbers = [
        count_of(results[column].nunique(), what)
        for column, what in (("algorithm", "algorithm"), ("data", "data set"), ("cost", "cost"))
    ]
    cells = results.groupby(["algorithm", "data", "cost"], sort=False)["split"].nunique()
    splits = cells.groupby("algorithm", sort=False).agg(["min", "max"])
    many: dict[tuple[int, int], list[str]] = {}
    for name, fewest, most in splits.sort_values(["max", "min"]).itertuples(name=None):
        many.setdefault((fewest, most), []).append(name)
    words = [f"{join_words(in_order(names))} on {split_words(*n)}" for n, names in many.items()]
    return (
        f"{join_words(numbers)}; {join_words(words)}. Two algorithms are compared on the splits that both "
        "have. A cell is a cost on a data set."
    )


def _verdict(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> Iterator[str]:
    """Yield where one of ours is the best, level with the best or worse; nothing if it stands alone."""
    verdicts = best_or_level(_with_competitors(results, ours), ours, greater_is_better)
    if verdicts.empty:
        return
    counts = verdicts["verdict"].value_counts()
    text = f"{ours} has the best mean in {counts.get('best', 0)} of {count_of(len(verdicts), 'cell')}"
    if not sum(_total(_with_competitors(results, ours), ours, greater_is_better)):
        yield f"{text}. {NO_TEST}"
        return
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
    if "untested" in counts:
        text += f" In {count_of(int(counts['untested']), 'more cell')} a single split that it shares with a "
        text += "better one cannot tell level from worse."
    yield text


def _scores(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Section:
    figure = SectionFigure(
        "comparison",
        "How far the means are from the best mean of their data set, over the splits that all its algorithms "
        "share; where that is 0, only the best are drawn. The scale is linear up to 1 % and logarithmic "
        "above.",
        lambda: comparison_figure(results, greater_is_better),
    )
    tables = [comparison_table(results, cost, greater_is_better) for cost in in_order(results["cost"])]
    tables += filter(None, [splits_table(results)])
    return Section("Scores", tables=tables, figures=[figure] if results["algorithm"].nunique() > 1 else [])


def _tests(
    results: pd.DataFrame, ours: list[str], greater_is_better: Mapping[str, bool]
) -> Iterator[Section]:
    """Yield the section of tests, if ours share a split with anyone."""
    if all(best_or_level(results, name, greater_is_better).empty for name in ours):
        return
    paragraphs, tables = [], []
    for name in ours:
        if sum(_total(results, name, greater_is_better)):
            tables.append(outcome_table(results, name, greater_is_better))
        competitors = _with_competitors(results, name)
        total = _total(competitors, name, greater_is_better)
        if sum(total):
            tables.append(verdict_table(competitors, name, greater_is_better))
            paragraphs.append(_describe_total(total, competitors, name))
        elif competitors["algorithm"].nunique() > 1 and NO_TEST not in paragraphs:
            paragraphs.append(NO_TEST)
    yield Section("Tests", paragraphs if paragraphs or tables else [NO_TEST], tables)


def _total(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> WinTieLoss:
    """Return the wins, ties and losses against all others, on all costs and data sets that can be tested."""
    totals = list(win_tie_loss(results, ours, greater_is_better).loc["total"])
    return WinTieLoss(*np.array(totals, dtype=int).reshape(-1, 3).sum(axis=0).tolist())


def _describe_total(total: WinTieLoss, results: pd.DataFrame, ours: str) -> str:
    win, tie, loss = total
    others = in_order(name for name in results["algorithm"] if name != ours)
    text = f"By paired t-tests at the 95 % level {ours} wins {win}, ties {tie} and loses {loss} of its "
    text += f"{count_of(sum(total), 'comparison')} with {join_words(others)}"
    papers = paper_counts(results, ours)
    if any(("total", other) not in papers for other in others):
        return f"{text}."
    win, tie, loss = np.sum([papers["total", other] for other in others], axis=0)
    return f"{text}; the paper's CSRPE wins {win}, ties {tie} and loses {loss} of its {win + tie + loss}."


def _ranks(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Iterator[Section]:
    """Yield the section of ranks, if there is anything to rank."""
    cells = cell_ranks(results, greater_is_better)
    if cells.empty or len(cells.columns) < 2:
        return
    ranks = average_ranks(results, greater_is_better)
    apart, p = critical_difference(len(ranks), len(cells)), friedman(results, greater_is_better)
    first = list(ranks.index[np.isclose(ranks, ranks.iloc[0])])
    text = f"Over the {count_of(len(cells), 'cell')} that all algorithms have, {join_words(first)} "
    text += f"{'has' if len(first) == 1 else 'have'} the best mean rank, {ranks.iloc[0]:.2f}. "
    text += f"Friedman's test that all are alike: p {_show_p(p)}. " if np.isfinite(p) else ""
    text += _differences(ranks.drop(first) - ranks.iloc[0], first, apart)
    caption = (
        f"Mean ranks over {count_of(len(cells), 'cell')}. Bars join algorithms that do not differ at the "
        f"95 % level (critical difference {apart:.2f}, Nemenyi's test)."
    )
    figure = SectionFigure("ranks", caption, lambda: critical_difference_diagram(ranks, apart))
    yield Section("Ranks", [text], [rank_table(results, greater_is_better)], [figure])


def _differences(behind: pd.Series[float], first: list[str], apart: float) -> str:
    """Say which algorithms are behind the first by Nemenyi's test, as far as it can tell."""
    n_algorithms = len(behind) + len(first)
    text = f"By Nemenyi's test two mean ranks differ from {apart:.2f} on"
    if apart > n_algorithms - 1:
        return f"{text}, and those of {n_algorithms} algorithms cannot: so few cells can tell nothing."
    level, worse = (list(behind.index[part]) for part in (behind < apart, behind >= apart))
    if level:
        return f"{text}: {join_words(level)} cannot be told from {join_words(first)}."
    verb = "is" if len(worse) == 1 else "are"
    return f"{text}: {join_words(worse)} {verb} worse." if worse else f"{text}."


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
    tables = [
        table for table in (times_table(results, "compare"), parameter_table(results)) if table is not None
    ]
    return Section("Times and parameters", tables=tables)


def _with_competitors(results: pd.DataFrame, ours: str) -> pd.DataFrame:
    """Return the results without those of other decoders of ours."""
    return results[(results["algorithm"] == ours) | ~results["algorithm"].map(is_ours)]


def _show_p(p: float) -> str:
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"
