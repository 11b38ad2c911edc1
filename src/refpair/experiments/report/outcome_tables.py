"""The tables of tests: who wins, who is the best, and who ranks first."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from refpair.experiments.published import PAPER_DATA, paper_outcomes
from refpair.experiments.ranks import average_ranks, cell_ranks, critical_difference
from refpair.experiments.report.showing import cost_title, file_name, in_order, spread
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import best_or_level, win_tie_loss

__all__ = ["outcome_table", "rank_table", "verdict_table"]


def outcome_table(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> ResultTable:
    """Return how often an algorithm wins, ties and loses against each other one.

    The paper's counts stand beside if there are results on all its data sets.

    Examples
    --------
    >>> rows = [("flags", "f1", a, s, x + s / 100) for a, x in {"BR": 0.6, "CC": 0.7}.items() for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> print(outcome_table(results, "CC", {"f1": True}).to_markdown())
    | cost | BR |
    | :-- | --: |
    | F1 score ↑ | 1/0/0 |
    | total | **1/0/0** |
    """
    on_all = set(PAPER_DATA) <= set(results["data"])
    counts = win_tie_loss(results, ours, greater_is_better)
    counts = counts[in_order(counts.columns)]
    shown: dict[str, list[str]] = {}
    rows: list[tuple[str | int | None, ...]] = []
    for other in counts.columns:
        shown[other] = []
        for cost, count in zip(map(str, counts.index), counts[other], strict=True):
            paper = paper_outcomes(cost, other) if on_all else None
            shown[other].append(f"{count} ({paper})" if paper else str(count))
            rows.append((cost, other, *count, *(paper or (None, None, None))))
    titles = [*(cost_title(str(cost), greater_is_better) for cost in counts.index[:-1]), "total"]
    columns = ["cost", "against", "win", "tie", "loss", "paper_win", "paper_tie", "paper_loss"]
    bold = pd.DataFrame(False, index=counts.index, columns=counts.columns)
    bold.loc["total"] = True
    return ResultTable(
        name=file_name("t-tests", ours),
        title=f"{ours} against the others: wins/ties/losses",
        note="Data sets by paired t-tests at the 95 % level, on the splits both have."
        + " In brackets the paper's counts for its CSRPE." * on_all,
        values=pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], "Int64")),
        shown=pd.DataFrame(shown, index=pd.Index(titles, name="cost")),
        bold=bold,
    )


def verdict_table(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> ResultTable:
    """Return where an algorithm is the best, level with the best, or loses, and to whom.

    Examples
    --------
    >>> rows = [("flags", "f1", a, s, x + s / 100) for a, x in {"BR": 0.6, "CC": 0.7}.items() for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> print(verdict_table(results, "BR", {"f1": True}).to_markdown())
    | data | F1 score ↑ |
    | :-- | --: |
    | flags | **CC** |
    """
    verdicts = best_or_level(results, ours, greater_is_better)
    lost = verdicts["loses_to"].map(lambda names: ", ".join(in_order(names)))
    words = verdicts["verdict"].where(verdicts["verdict"] != "worse", lost)
    titles = {cost: cost_title(cost, greater_is_better) for cost in verdicts.index.unique("cost")}
    tones = verdicts["verdict"].map({"best": "good", "level": "", "worse": "bad"})
    shown, tone = (spread(part.swaplevel()).fillna("") for part in (words, tones))
    return ResultTable(
        name=file_name("best", ours),
        title=f"Where {ours} is the best",
        note="best: no competitor has a better mean on the splits both have. level: some have, but no paired "
        "t-test at the 95 % level finds them better. Bold: the competitors it loses to.",
        values=pd.DataFrame(verdicts.assign(loses_to=lost).reset_index()),
        shown=shown.rename(columns=titles),
        bold=(tone == "bad").rename(columns=titles),
        tone=tone.rename(columns=titles),
    )


def rank_table(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> ResultTable:
    """Return the mean ranks of the algorithms, over all cells and by cost, the best first.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "f1", "BR", 0, 0.6), ("flags", "f1", "CC", 0, 0.7)])
    >>> results.columns = ["data", "cost", "algorithm", "split", "score"]
    >>> print(rank_table(results, {"f1": True}).to_markdown())
    | algorithm | all | F1 score ↑ |
    | :-- | --: | --: |
    | CC | **1.00** | 1.00 |
    | BR | **2.00** | 2.00 |
    """
    ranks = average_ranks(results, greater_is_better)
    cells = cell_ranks(results, greater_is_better)
    apart = critical_difference(len(ranks), len(cells))
    by_cost = cells.groupby(level="cost", sort=False).mean().T.loc[ranks.index]
    titles = {cost: cost_title(cost, greater_is_better) for cost in by_cost.columns}
    values = pd.concat([ranks.rename("all"), by_cost], axis=1).rename_axis("algorithm")
    bold = pd.DataFrame(False, index=values.index, columns=values.columns)
    bold["all"] = ranks - ranks.min() < apart
    return ResultTable(
        name="ranks",
        title="Mean ranks",
        note=f"1 is the best. Over the {len(cells)} pairs of cost and data set that all algorithms have. "
        f"Bold: within the critical difference {apart:.2f} of the first (Nemenyi's test at the 95 % level).",
        values=values.reset_index(),
        shown=values.map(lambda rank: f"{rank:.2f}").rename(columns=titles),
        bold=bold.rename(columns=titles),
    )
