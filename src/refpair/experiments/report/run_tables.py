"""The tables of what running took: times, and the parameters that were chosen."""

from __future__ import annotations

import json
from collections import Counter

import pandas as pd

from refpair.experiments.report.showing import in_order, show_number, show_time, spread
from refpair.experiments.report.tables import ResultTable

__all__ = ["parameter_table", "times_table", "total_seconds"]

_STEPS = ("seconds_search", "seconds_fit", "seconds_predict")


def total_seconds(results: pd.DataFrame) -> pd.Series:
    """Return how many seconds each algorithm took in all; a search or a fit that costs share counts once.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", 0, 2.0, 0.5, 0.1), ("flags", "BR", 0, 2.0, 0.5, 0.2)])
    >>> results.columns = ["data", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    >>> total_seconds(results).round(1).to_dict()
    {'BR': 2.8}
    """
    # Equal to the last digit means measured once.
    once = [
        results.drop_duplicates(["data", "algorithm", "split", step])[["algorithm", step]] for step in _STEPS
    ]
    return pd.concat(once).groupby("algorithm", sort=False).sum().sum(axis=1)


def times_table(results: pd.DataFrame) -> ResultTable:
    """Return how long the algorithms took: the search for parameters, fitting and predicting.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", 0, 2.0, 0.5, 0.01)])
    >>> results.columns = ["data", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    >>> print(times_table(results).to_markdown())
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
        name="times",
        title="Seconds: search + fit + predict",
        note="Means over all costs and splits: the search for parameters, the fit and the prediction of the "
        "test half. Below, the sum of all runs.",
        values=means.assign(runs=results.groupby(["data", "algorithm"]).size()).reset_index(),
        shown=shown.rename_axis("data"),
        bold=bold,
    )


def parameter_table(results: pd.DataFrame) -> ResultTable | None:
    r"""Return which parameters were chosen in the training halves and how often, or None if none were.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", '{"max_depth": 6}')], columns=["data", "algorithm", "chosen"])
    >>> print(parameter_table(results).to_markdown())
    | algorithm and parameter | flags |
    | :-- | --: |
    | BR max\_depth | 6 |
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for data, algorithm, chosen in results[["data", "algorithm", "chosen"]].itertuples(index=False):
        for parameter, value in json.loads(chosen or "{}").items():
            counts[algorithm, parameter, data, json.dumps(value).strip('"')] += 1
    if not counts:
        return None
    rows = [(*key, count) for key, count in counts.items()]
    values = pd.DataFrame(rows, columns=["algorithm", "parameter", "data", "value", "times"])
    values = values.sort_values("times", ascending=False, kind="stable")
    first = values.groupby(["algorithm", "parameter", "data"]).first()
    share = first["times"] / values.groupby(["algorithm", "parameter", "data"])["times"].sum()
    words = first["value"] + share.map(lambda part: "" if part == 1 else f" ({100 * part:.0f} %)")
    shown = words.unstack("data").fillna("")
    shown = shown.loc[in_order(first.index.get_level_values("algorithm")), in_order(shown.columns)]
    shown.index = pd.Index([f"{algorithm} {parameter}" for algorithm, parameter in shown.index])
    return ResultTable(
        name="parameters",
        title="Parameters",
        note="The value that was chosen most often in the training halves, over all costs and splits, and "
        "how often if not always.",
        values=values,
        shown=shown.rename_axis("algorithm and parameter"),
        bold=pd.DataFrame(False, index=shown.index, columns=shown.columns),
    )


def _short_seconds(seconds: float) -> str:
    return show_number(seconds, 2 if seconds < 0.995 else 1 if seconds < 9.95 else 0)
