"""The section of a report that compares algorithms: scores, tests, ranks, and the paper's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from refpair._extras import pd
from refpair.experiments.names import greater_is_better
from refpair.experiments.published import PAPER_DATA, paper_outcomes, paper_table
from refpair.experiments.report.figures import comparison_figure, critical_difference_diagram
from refpair.experiments.report.sections import Section, make_figure, parameter_table, times_table
from refpair.experiments.report.table import (
    ResultTable,
    caption,
    cost_title,
    decimals_for,
    in_order,
    make_table,
    show_mean,
    show_percent,
    show_range,
    spread,
)
from refpair.experiments.statistics import (
    WinTieLoss,
    average_ranks,
    best_or_level,
    cell_ranks,
    critical_difference,
    friedman,
    shared_means,
    summarise,
    win_tie_loss,
)

_PRINTED = 5e-5  # the paper's means are rounded to four decimals


def compare_section(results: pd.DataFrame) -> Section:
    """Return the section that compares algorithms on all costs and data sets that there are results of."""
    if results.empty:
        return Section("Comparison of algorithms", "There are no results yet.")
    several = results["algorithm"].nunique() > 1
    picture = make_figure("comparison", lambda: comparison_figure(results))
    costs = in_order(results["cost"])
    scores = [comparison_table(results, cost) for cost in costs]
    beside = [against_paper_table(results, cost) for cost in costs]
    tests = []
    for name in _told(results):
        tests += [outcome_table(results, name), verdict_table(_with_competitors(results, name), name)]
    times = _present(times_table(results, "compare"), parameter_table(results))
    parts = [
        Section("Scores", tables=_present(*scores, splits_table(results)), figures=[picture] * several),
        Section("Tests", tables=_present(*tests)),
        *_rank_sections(results),
        Section("Beside the paper", caption("against-paper", "text"), _present(*beside)),
        Section("Times and parameters", tables=times),
    ]
    parts = [part for part in parts if part.tables]
    return Section("Comparison of algorithms", tables=[summary_table(results)], parts=parts)


def _present(*tables: ResultTable | None) -> list[ResultTable]:
    return [table for table in tables if table is not None]


def _rank_sections(results: pd.DataFrame) -> list[Section]:
    """Return the section of ranks, if there is anything to rank."""
    cells = cell_ranks(results)
    if cells.empty or len(cells.columns) < 2:
        return []
    ranks, apart = average_ranks(results), critical_difference(len(cells.columns), len(cells))
    words: dict[str, Any] = {"cells": len(cells), "apart": apart}
    figure = make_figure("ranks", lambda: critical_difference_diagram(ranks, apart), **words)
    return [Section("Ranks", tables=[rank_table(results)], figures=[figure])]


def _told(results: pd.DataFrame) -> list[str]:
    """Return whose wins are told: CSRPE's, or else those of the user's own, or else of the first in rank."""
    names = in_order(results["algorithm"])
    ours = [name for name in names if _is_ours(name)][::-1]
    own = [name for name in names if ":" in name]
    ranks = average_ranks(results).dropna()
    return ours or own or [str(name) for name in ranks.index[:1]] or names[:1]


def _is_ours(algorithm: str) -> bool:
    """Return whether an algorithm is CSRPE, with either decoder."""
    return algorithm.startswith("CSRPE-")


def _with_competitors(results: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the results without those of the other decoder, if it is of CSRPE."""
    if not _is_ours(name):
        return results
    return results[(results["algorithm"] == name) | ~results["algorithm"].map(_is_ours)]


def summary_table(results: pd.DataFrame) -> ResultTable:
    """Return a row for each algorithm: where it is the best, its tests, its rank, and beside the paper."""
    ranks = average_ranks(results)
    beside = [against_paper_table(results, cost) for cost in results["cost"].unique()]
    apart = pd.concat([table.values for table in beside if table] or [pd.DataFrame(columns=_BESIDE)])
    medians = apart.groupby("algorithm")["difference"].median()
    cells = results.groupby(["algorithm", "data", "cost"], sort=False)["split"].nunique()
    splits = cells.groupby("algorithm").agg(["min", "max"])
    rows = []
    for name in in_order(results["algorithm"]):
        others = _with_competitors(results, name)
        verdicts = best_or_level(others, name)["verdict"]
        counts = [int((verdicts == verdict).sum()) for verdict in ("best", "level", "worse", "untested")]
        tests = _total(others, name)
        rows.append(
            (name, *splits.loc[name], len(verdicts), *counts, *tests, ranks.get(name), medians.get(name))
        )
    columns = ["algorithm", "fewest_splits", "most_splits", "cells", "best", "level", "worse", "untested"]
    columns += ["win", "tie", "loss", "mean_rank", "from_paper"]
    values = pd.DataFrame(rows, columns=columns)
    shown = pd.DataFrame(index=pd.Index(values["algorithm"], name="algorithm"))
    shown["splits"] = [
        show_range(a, b) for a, b in zip(values["fewest_splits"], values["most_splits"], strict=True)
    ]
    for column in ("cells", "best", "level", "worse", "untested"):
        shown[column.replace("untested", "not tested")] = values[column].astype(str).to_numpy()
    tested = [WinTieLoss(*row) for row in values[["win", "tie", "loss"]].itertuples(index=False, name=None)]
    shown["wins/ties/losses"] = [str(count) if any(count) else "–" for count in tested]
    shown["mean rank"] = [f"{rank:.2f}" if pd.notna(rank) else "–" for rank in values["mean_rank"]]
    shown["from the paper"] = [
        show_percent(float("nan") if median is None else median) for median in values["from_paper"]
    ]
    return make_table("summary-compare", values, shown)


def _total(results: pd.DataFrame, name: str) -> WinTieLoss:
    """Return the wins, ties and losses against all others, on all costs and data sets that can be tested."""
    totals = list(win_tie_loss(results, name).loc["total"])
    return WinTieLoss(*np.array(totals, dtype=int).reshape(-1, 3).sum(axis=0).tolist())


def comparison_table(results: pd.DataFrame, cost: str) -> ResultTable:
    """Return the means and standard errors for one cost: data sets in rows, algorithms in columns."""
    results = results[results["cost"] == cost]
    summary = summarise(results, ["data", "algorithm"])
    means, errors = spread(summary["mean"]), spread(summary["error"])
    shared = shared_means(results).droplevel("cost").reindex(index=means.index, columns=means.columns)
    best = shared.max(axis=1) if greater_is_better(cost) else shared.min(axis=1)
    shown = means.astype(object)
    for data in means.index:
        decimals = decimals_for(means.loc[data], errors.loc[data])
        shown.loc[data] = [
            show_mean(mean, error, decimals)
            for mean, error in zip(means.loc[data], errors.loc[data], strict=True)
        ]
    several = shared.notna().sum(axis=1) > 1
    splits = show_range(int(summary["splits"].min()), int(summary["splits"].max()))
    style = _styled(shared.eq(best, axis=0).mul(several, axis=0))
    words = {"of": cost, "cost": cost_title(cost), "splits": splits}
    return make_table("comparison", summary.reset_index(), shown, style, **words)


def _styled(bold: pd.DataFrame) -> pd.DataFrame:
    return bold.map(lambda is_bold: "bold" if is_bold else "")


_BESIDE = ["data", "algorithm", "paper", "paper_error", "here", "here_error", "splits", "difference"]


def against_paper_table(results: pd.DataFrame, cost: str) -> ResultTable | None:
    """Return how the means for one cost differ from the paper's, or None if it has none of them."""
    sign = 1 if greater_is_better(cost) else -1
    found = []
    for row in summarise(results[results["cost"] == cost], ["data", "algorithm"]).reset_index().itertuples():
        paper = paper_table(cost, str(row.data), str(row.algorithm))
        if paper is not None:
            found.append((row.data, row.algorithm, *paper, row.mean, row.error, row.splits))
    if not found:
        return None
    values = pd.DataFrame(found, columns=_BESIDE[:-1])
    apart = sign * (values["here"] - values["paper"])
    values["difference"] = apart / values["paper"].abs()
    errors: pd.Series[float] = apart / np.hypot(
        values["here_error"], values["paper_error"].clip(lower=_PRINTED)
    )
    style = np.select([errors > 2, errors < -2], ["good", "bad bold"], default="")
    cells = values.assign(style=style).set_index(["data", "algorithm"])
    shown = spread(cells["difference"]).map(show_percent)
    look = spread(cells["style"]).fillna("")
    return make_table("against-paper", values, shown, look, of=cost, cost=cost_title(cost))


def splits_table(results: pd.DataFrame) -> ResultTable | None:
    """Return on how many splits each algorithm was run, or None if it is the same number everywhere."""
    keys = ["data", "algorithm", "cost"]
    cells = results.groupby(keys, sort=False)["split"].nunique().rename("splits")
    if cells.nunique() == 1 and len(cells) == results[keys].nunique().prod():
        return None
    words = cells.groupby(["data", "algorithm"], sort=False).agg(lambda n: show_range(n.min(), n.max()))
    return make_table("splits", cells.reset_index(), spread(words).fillna("–"))


def paper_counts(results: pd.DataFrame, ours: str) -> dict[tuple[str, str], WinTieLoss]:
    """Return the paper's wins, ties and losses by cost and other algorithm, where ours can stand beside them.

    That is where ours is CSRPE and is tested against the other one on exactly the paper's data sets. The
    "total" is of the costs of the results, if it is so for all of them.
    """
    if not _is_ours(ours):
        return {}
    costs = results["cost"].unique()
    of_ours = results.loc[results["algorithm"] == ours, ["cost", "data", "split"]]
    found: dict[tuple[str, str], WinTieLoss] = {}
    for other in map(str, results["algorithm"].unique()):
        shared = results[results["algorithm"] == other].merge(of_ours).groupby(["cost", "data"]).size()
        tested = shared[shared > 1].reset_index().groupby("cost")["data"].agg(set)
        counts = {
            str(cost): paper_outcomes(str(cost), other) if tested.get(cost) == set(PAPER_DATA) else None
            for cost in costs
        }
        known = {cost: count for cost, count in counts.items() if count is not None}
        found |= {(cost, other): count for cost, count in known.items()}
        if len(known) == len(counts):
            found["total", other] = WinTieLoss(*map(sum, zip(*known.values(), strict=True)))
    return found


def outcome_table(results: pd.DataFrame, ours: str) -> ResultTable | None:
    """Return how often an algorithm wins, ties and loses against each other one, or None without any test."""
    papers = paper_counts(results, ours)
    counts = win_tie_loss(results, ours)
    counts = counts[in_order(counts.columns)]
    shown: dict[str, list[str]] = {}
    rows: list[tuple[str | int | None, ...]] = []
    for other in counts.columns:
        shown[other] = []
        for cost, count in zip(map(str, counts.index), counts[other], strict=True):
            paper = papers.get((cost, other))
            tested = str(count) if any(count) else "–"
            shown[other].append(f"{tested} ({paper})" if paper else tested)
            rows.append((cost, other, *count, *(paper or (None, None, None))))
    if not any(any(count) for other in counts.columns for count in counts[other]):
        return None
    titles = [*(cost_title(str(cost)) for cost in counts.index[:-1]), "total"]
    columns = ["cost", "against", "win", "tie", "loss", "paper_win", "paper_tie", "paper_loss"]
    bold = pd.DataFrame(False, index=counts.index, columns=counts.columns)
    bold.loc["total"] = True
    values = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], "Int64"))
    frame = pd.DataFrame(shown, index=pd.Index(titles, name="cost"))
    brackets = caption("t-tests", "brackets") * bool(papers)
    return make_table("t-tests", values, frame, _styled(bold), of=ours, brackets=brackets)


def verdict_table(results: pd.DataFrame, ours: str) -> ResultTable | None:
    """Return where an algorithm is the best, level with the best, or loses, and to whom; or None."""
    verdicts = best_or_level(results, ours)
    if verdicts.empty or not any(_total(results, ours)):
        return None
    lost = verdicts["loses_to"].map(lambda names: ", ".join(in_order(names)))
    words = verdicts["verdict"].replace("untested", "not tested").where(verdicts["verdict"] != "worse", lost)
    titles = {cost: cost_title(cost) for cost in verdicts.index.unique("cost")}
    styles = verdicts["verdict"].map({"best": "good", "level": "", "untested": "", "worse": "bad bold"})
    shown, style = (spread(part.swaplevel()).fillna("").rename(columns=titles) for part in (words, styles))
    values = pd.DataFrame(verdicts.assign(loses_to=lost).reset_index())
    return make_table("best", values, shown, style, of=ours)


def rank_table(results: pd.DataFrame) -> ResultTable:
    """Return the mean ranks of the algorithms, over all cells and by cost, the best first."""
    ranks = average_ranks(results)
    cells = cell_ranks(results)
    apart, p = critical_difference(len(ranks), len(cells)), friedman(results)
    by_cost = cells.groupby(level="cost", sort=False).mean().T.loc[ranks.index]
    titles = {cost: cost_title(cost) for cost in by_cost.columns}
    values = pd.concat([ranks.rename("all"), by_cost], axis=1).rename_axis("algorithm")
    bold = pd.DataFrame(False, index=values.index, columns=values.columns)
    tells = apart <= len(ranks) - 1
    bold["all"] = tells & (ranks - ranks.min() < apart)
    p_shown = f"= {p:.3f}" if p >= 0.001 else "< 0.001"
    words: dict[str, Any] = {
        "cells": len(cells),
        "tells": caption("ranks", "within" if tells else "few", apart=apart),
        "alike": f"Friedman's test that all are alike: p {p_shown}." if np.isfinite(p) else "",
    }
    shown = values.map(lambda rank: f"{rank:.2f}").rename(columns=titles)
    return make_table("ranks", values.reset_index(), shown, _styled(bold).rename(columns=titles), **words)
