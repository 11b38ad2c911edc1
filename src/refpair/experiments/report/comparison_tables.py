"""The tables of scores: all algorithms side by side, and beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from refpair.experiments.published import paper_table
from refpair.experiments.report.showing import (
    cost_title,
    decimals_for,
    file_name,
    show_mean,
    show_percent,
    split_words,
    spread,
)
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import shared_means, summarise
from refpair.inspection.scores import direction_of

__all__ = ["against_paper_table", "comparison_table", "splits_table"]

_PRINTED = 5e-5  # the paper's means are rounded to four decimals


def comparison_table(results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]) -> ResultTable:
    """Return the means and standard errors for one cost: data sets in rows, algorithms in columns.

    Examples
    --------
    >>> rows = [("flags", "f1", a, s, x + s / 100) for a, x in {"BR": 0.6, "CC": 0.7}.items() for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split", "score"])
    >>> print(comparison_table(results, "f1", {"f1": True}).to_markdown())
    | data | BR | CC |
    | :-- | --: | --: |
    | flags | .6050 ± .0050 | **.7050 ± .0050** |
    """
    results = results[results["cost"] == cost]
    summary = summarise(results, ["data", "algorithm"])
    means, errors = spread(summary["mean"]), spread(summary["error"])
    shared = shared_means(results).droplevel("cost").reindex(index=means.index, columns=means.columns)
    best = shared.max(axis=1) if direction_of(greater_is_better, cost) else shared.min(axis=1)
    shown = means.astype(object)
    for data in means.index:
        decimals = decimals_for(means.loc[data], errors.loc[data])
        shown.loc[data] = [
            show_mean(mean, error, decimals)
            for mean, error in zip(means.loc[data], errors.loc[data], strict=True)
        ]
    return ResultTable(
        name=file_name("comparison", cost),
        title=cost_title(cost, greater_is_better),
        note=f"{_describe_means(summary['splits'])}. Bold: the best of a row, by the means over the splits "
        "that all of its algorithms share.",
        values=summary.reset_index(),
        shown=shown,
        bold=shared.eq(best, axis=0).mul(shared.notna().sum(axis=1) > 1, axis=0),
    )


def against_paper_table(
    results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]
) -> ResultTable | None:
    """Return how the means for one cost differ from the paper's, or None if it has none of them.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "f1", "BR", 0, 0.7)])
    >>> results.columns = ["data", "cost", "algorithm", "split", "score"]
    >>> print(against_paper_table(results, "f1", {"f1": True}).to_markdown())
    | data | BR |
    | :-- | --: |
    | flags | +0.7 % |
    """
    sign = 1 if direction_of(greater_is_better, cost) else -1
    found = []
    for row in summarise(results[results["cost"] == cost], ["data", "algorithm"]).reset_index().itertuples():
        paper = paper_table(cost, str(row.data), str(row.algorithm))
        if paper is not None:
            found.append((row.data, row.algorithm, *paper, row.mean, row.error, row.splits))
    if not found:
        return None
    columns = ["data", "algorithm", "paper", "paper_error", "here", "here_error", "splits"]
    values = pd.DataFrame(found, columns=columns)
    values["difference"] = sign * (values["here"] - values["paper"]) / values["paper"].abs()
    apart = sign * (values["here"] - values["paper"])
    apart /= np.hypot(values["here_error"], values["paper_error"].clip(lower=_PRINTED))
    values["tone"] = np.select([apart > 2, apart < -2], ["good", "bad"], default="")
    cells = values.set_index(["data", "algorithm"])
    tone = spread(cells["tone"]).fillna("")
    return ResultTable(
        name=file_name("against-paper", cost),
        title=f"{cost_title(cost, greater_is_better)}: difference from the paper",
        note="In percent of the paper's mean; + is better than the paper. Bold: worse by more than two "
        "standard errors of the difference. CSRPE stands beside the paper's CSRPE with either decoder.",
        values=values.drop(columns="tone"),
        shown=spread(cells["difference"]).map(show_percent),
        bold=tone == "bad",
        tone=tone,
    )


def splits_table(results: pd.DataFrame) -> ResultTable | None:
    """Return on how many splits each algorithm was run, or None if it is the same number everywhere.

    Examples
    --------
    >>> rows = [("flags", "f1", "BR", 0), ("flags", "f1", "CC", 0), ("flags", "f1", "CC", 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "split"])
    >>> print(splits_table(results).to_markdown())
    | data | BR | CC |
    | :-- | --: | --: |
    | flags | 1 | 2 |
    """
    keys = ["data", "algorithm", "cost"]
    cells = results.groupby(keys, sort=False)["split"].nunique().rename("splits")
    if cells.nunique() == 1 and len(cells) == results[keys].nunique().prod():
        return None
    fewest, most = (cells.groupby(["data", "algorithm"], sort=False).agg(how) for how in ("min", "max"))
    words = most.astype(str).where(fewest == most, fewest.astype(str) + " to " + most.astype(str))
    shown = spread(words).fillna("–")
    return ResultTable(
        name="splits",
        title="Random half splits",
        note="On how many each algorithm was run; from the least to the most if that depends on the cost.",
        values=cells.reset_index(),
        shown=shown,
        bold=pd.DataFrame(False, index=shown.index, columns=shown.columns),
    )


def _describe_means(splits: pd.Series[int]) -> str:
    fewest, most = int(splits.min()), int(splits.max())
    if most == 1:
        return "Scores of a single random half split"
    return f"Mean ± standard error over {split_words(fewest, most)}"
