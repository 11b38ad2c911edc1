"""The tables of what running took: times, and the parameters that were chosen."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd

from refpair.experiments.report.showing import file_name, in_order, show_number, show_time, spread
from refpair.experiments.report.tables import ResultTable

__all__ = ["parameter_table", "query_times_table", "times_table", "total_seconds"]

_MAINLY = 0.5  # a value that is chosen less often does not stand for all
_STEPS = ("seconds_search", "seconds_fit", "seconds_predict")


def total_seconds(results: pd.DataFrame) -> pd.Series:
    """Return how many seconds each algorithm took in all; a search or a fit that several share counts once.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", 0, 2.0, 0.5, 0.1), ("flags", "BR", 0, 2.0, 0.5, 0.2)])
    >>> results.columns = ["data", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    >>> total_seconds(results).round(1).to_dict()
    {'BR': 2.8}
    """
    # Equal to the last digit means measured once.
    once = [results.drop_duplicates(["data", "split", step])[["algorithm", step]] for step in _STEPS]
    return pd.concat(once).groupby("algorithm", sort=False).sum().sum(axis=1)


def times_table(results: pd.DataFrame, experiment: str) -> ResultTable:
    """Return how long the algorithms took: the search for parameters, fitting and predicting.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", 0, 2.0, 0.5, 0.01)])
    >>> results.columns = ["data", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    >>> print(times_table(results, "compare").to_markdown())
    | data | BR |
    | :-- | --: |
    | flags | 2.0 + .50 + .01 |
    | all runs | **2.5 s** |
    """
    means = results.groupby(["data", "algorithm"], sort=False)[list(_STEPS)].mean()
    cells = means.apply(lambda row: " + ".join(_short_seconds(row[step]) for step in _STEPS), axis=1)
    total = total_seconds(results)
    shown = spread(cells).fillna("–")
    bold = pd.DataFrame(False, index=shown.index, columns=shown.columns)
    shown.loc["all runs"] = total.map(show_time)
    bold.loc["all runs"] = True
    return ResultTable(
        name=file_name("times", experiment),
        title="Seconds: search + fit + predict",
        note="Means over all costs and splits: the search for parameters, the fit and the prediction of the "
        "test half. Below, the sum of all runs.",
        values=means.assign(runs=results.groupby(["data", "algorithm"]).size()).reset_index(),
        shown=shown.rename_axis("data"),
        bold=bold,
    )


def query_times_table(results: pd.DataFrame) -> ResultTable:
    """Return how long a query took, on each data set by each strategy.

    Examples
    --------
    >>> rows = [("flags", "f1", "MMC", n, 0, seconds) for n, seconds in ((20, 0.0), (25, 0.5), (30, 0.7))]
    >>> columns = ["data", "cost", "algorithm", "n_labelled", "split", "seconds_fit"]
    >>> print(query_times_table(pd.DataFrame(rows, columns=columns)).to_markdown())
    | data | MMC |
    | :-- | --: |
    | flags | 120 |
    """
    keys = ["data", "cost", "algorithm", "split"]
    runs = results.groupby(keys, sort=False).agg(
        seconds=("seconds_fit", "sum"), first=("n_labelled", "min"), last=("n_labelled", "max")
    )
    each = 1000 * runs["seconds"] / (runs["last"] - runs["first"]).clip(lower=1)
    means = each.groupby(["data", "algorithm"], sort=False).mean()
    shown = spread(means.map(lambda value: f"{value:.2g}" if value < 10 else f"{value:.0f}")).fillna("")
    return ResultTable(
        name="times-simulate",
        title="Milliseconds a query",
        note="Means over all costs, runs and queries.",
        values=means.rename("milliseconds").reset_index(),
        shown=shown.rename_axis("data"),
        bold=pd.DataFrame(False, index=shown.index, columns=shown.columns),
    )


def parameter_table(results: pd.DataFrame) -> ResultTable | None:
    r"""Return which parameters were chosen in the training halves and how often, or None without a search.

    A search chooses this here and that there: if all of an algorithm's runs on a data set have the same
    parameters, and so for all algorithms and data sets, nothing was searched.

    Examples
    --------
    >>> rows = [("flags", "BR", f'{{"max_depth": {depth}}}') for depth in (6, 6, "null")]
    >>> results = pd.DataFrame(rows, columns=["data", "algorithm", "chosen"])
    >>> print(parameter_table(results).to_markdown())
    | algorithm and parameter | flags |
    | :-- | --: |
    | BR max\_depth | 6 (67 %) |
    """
    if results.groupby(["data", "algorithm"])["chosen"].nunique().le(1).all():
        return None
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for data, algorithm, chosen in results[["data", "algorithm", "chosen"]].itertuples(index=False):
        for parameter, value in json.loads(chosen or "{}").items():
            counts[algorithm, parameter, data, _show_value(value)] += 1
    rows = [(*key, count) for key, count in counts.items()]
    values = pd.DataFrame(rows, columns=["algorithm", "parameter", "data", "value", "times"])
    values = values.sort_values("times", ascending=False, kind="stable")
    choices = values.groupby(["algorithm", "parameter", "data"])
    first, share = choices.first(), choices["times"].max() / choices["times"].sum()
    words = first["value"].map(_brief) + share.map(lambda part: "" if part == 1 else f" ({100 * part:.0f} %)")
    words = words.where(share >= _MAINLY, choices.size().astype(str) + " values")
    shown = words.unstack("data").fillna("")
    shown = shown.loc[in_order(first.index.get_level_values("algorithm")), in_order(shown.columns)]
    # Whose parameter it is, "estimator__", nobody needs to know, and the table is wide.
    shown.index = pd.Index([f"{algorithm} {name.rpartition('__')[2]}" for algorithm, name in shown.index])
    return ResultTable(
        name="parameters",
        title="Parameters",
        note="The value that was chosen most often in the training halves, over all costs and splits, and "
        "how often if not always; how many values there were if none was chosen in half of the cases.",
        values=values,
        shown=shown.rename_axis("algorithm and parameter"),
        bold=pd.DataFrame(False, index=shown.index, columns=shown.columns),
    )


def _show_value(value: object) -> str:
    return "none" if value is None else json.dumps(value).strip('"')


def _short_seconds(seconds: float) -> str:
    return show_number(seconds, 2 if seconds < 0.995 else 1 if seconds < 9.95 else 0)


def _brief(value: str) -> str:
    """Return a share with three digits, 1/3 above all; what is no such number as it is."""
    return f"{float(value):.3g}" if value.startswith("0.") else value
