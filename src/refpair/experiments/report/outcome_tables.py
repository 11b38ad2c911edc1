"""The tables of tests: who wins, who is the best, and who ranks first."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from refpair.experiments.published import PAPER_DATA, paper_outcomes
from refpair.experiments.ranks import average_ranks, cell_ranks, critical_difference
from refpair.experiments.report.showing import cost_title, count_of, file_name, in_order, is_ours, spread
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import WinTieLoss, best_or_level, win_tie_loss

__all__ = ["outcome_table", "paper_counts", "rank_table", "verdict_table"]


def paper_counts(results: pd.DataFrame, ours: str) -> dict[tuple[str, str], WinTieLoss]:
    """Return the paper's wins, ties and losses by cost and other algorithm, where ours can stand beside them.

    That is where ours is CSRPE and is tested against the other one on exactly the paper's data sets. The
    "total" is of the costs of the results, if it is so for all of them.

    Examples
    --------
    >>> names = "PCC", "CSRPE-nearest"
    >>> rows = [(data, "f1", name, s) for data in PAPER_DATA for name in names for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split"])
    >>> {key: str(count) for key, count in paper_counts(results, "CSRPE-nearest").items()}
    {('f1', 'PCC'): '9/0/1', ('total', 'PCC'): '9/0/1'}
    """
    if not is_ours(ours):
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


def outcome_table(results: pd.DataFrame, ours: str, greater_is_better: Mapping[str, bool]) -> ResultTable:
    """Return how often an algorithm wins, ties and loses against each other one.

    The paper's counts stand beside where they can; see :func:`paper_counts`.

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
    papers = paper_counts(results, ours)
    counts = win_tie_loss(results, ours, greater_is_better)
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
    titles = [*(cost_title(str(cost), greater_is_better) for cost in counts.index[:-1]), "total"]
    columns = ["cost", "against", "win", "tie", "loss", "paper_win", "paper_tie", "paper_loss"]
    bold = pd.DataFrame(False, index=counts.index, columns=counts.columns)
    bold.loc["total"] = True
    return ResultTable(
        name=file_name("t-tests", ours),
        title=f"{ours} against the others: wins/ties/losses",
        note="Data sets by paired t-tests at the 95 % level, on the splits both have if they are two or more."
        + " In brackets the paper's counts for its CSRPE." * bool(papers),
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
    words = verdicts["verdict"].replace("untested", "not tested").where(verdicts["verdict"] != "worse", lost)
    titles = {cost: cost_title(cost, greater_is_better) for cost in verdicts.index.unique("cost")}
    tones = verdicts["verdict"].map({"best": "good", "level": "", "untested": "", "worse": "bad"})
    shown, tone = (spread(part.swaplevel()).fillna("") for part in (words, tones))
    return ResultTable(
        name=file_name("best", ours),
        title=f"Where {ours} is the best",
        note="best: no competitor has a better mean on the splits both have. level: some have, but no paired "
        "t-test at the 95 % level finds them better; not tested: with a single split in common. Bold: the "
        "competitors it loses to.",
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
    | CC | 1.00 | 1.00 |
    | BR | 2.00 | 2.00 |
    """
    ranks = average_ranks(results, greater_is_better)
    cells = cell_ranks(results, greater_is_better)
    apart = critical_difference(len(ranks), len(cells))
    by_cost = cells.groupby(level="cost", sort=False).mean().T.loc[ranks.index]
    titles = {cost: cost_title(cost, greater_is_better) for cost in by_cost.columns}
    values = pd.concat([ranks.rename("all"), by_cost], axis=1).rename_axis("algorithm")
    bold = pd.DataFrame(False, index=values.index, columns=values.columns)
    tells = apart <= len(ranks) - 1
    bold["all"] = tells & (ranks - ranks.min() < apart)
    within = f"Bold: within the critical difference {apart:.2f} of the first"
    few = f"So few can tell nothing: the critical difference is {apart:.2f}"
    return ResultTable(
        name="ranks",
        title="Mean ranks",
        note=f"1 is the best. Over the {count_of(len(cells), 'pair')} of cost and data set that all have; "
        "costs on the same data set are not independent, so that tests of ranks find too much. "
        f"{within if tells else few} (Nemenyi's test at the 95 % level).",
        values=values.reset_index(),
        shown=values.map(lambda rank: f"{rank:.2f}").rename(columns=titles),
        bold=bold.rename(columns=titles),
    )
