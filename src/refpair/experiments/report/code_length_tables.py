"""The table of the paper's first study of CSRPE: how long codes must be."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pandas as pd

from refpair.experiments.report.showing import cost_title, decimals_for, file_name, show_number, sort_keys
from refpair.experiments.report.tables import ResultTable
from refpair.experiments.statistics import summarise
from refpair.inspection.scores import direction_of, flat_from

__all__ = ["code_length_curve", "code_length_table", "flat_lengths", "without_repeated_lengths"]

_MOST_LENGTHS = 10  # columns that fit on a screen


def without_repeated_lengths(results: pd.DataFrame) -> pd.DataFrame:
    """Leave out lengths that codes do not have, there being fewer useful pairs: they repeat the longest.

    Such results note how many bits there are. At least one length of each curve stays.

    Examples
    --------
    >>> rows = [(100, "{}"), (500, '{"n_bits": 128}'), (900, '{"n_bits": 128}')]
    >>> results = pd.DataFrame(rows, columns=["n_bits", "chosen"])
    >>> results = results.assign(data="flags", cost="f1", algorithm="CSRPE-nearest")
    >>> without_repeated_lengths(results)["n_bits"].tolist()
    [100]
    """
    curve = ["cost", "data", "algorithm"]
    there = results["chosen"].map(lambda chosen: json.loads(chosen or "{}").get("n_bits", np.inf))
    repeats = (results["n_bits"] > there).groupby([results[name] for name in [*curve, "n_bits"]])
    shortest = results.groupby(curve)["n_bits"].transform("min")
    return results[~repeats.transform("any") | (results["n_bits"] == shortest)]


def code_length_curve(results: pd.DataFrame, cost: str, data: str, algorithm: str) -> pd.DataFrame:
    """Return ``mean`` and ``error`` by code length, over the splits that all lengths have.

    Examples
    --------
    >>> rows = [("flags", "f1", "CSRPE-nearest", bits, s, bits / 1000) for bits in (100, 300) for s in (0, 1)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_bits", "split", "score"])
    >>> code_length_curve(results, "f1", "flags", "CSRPE-nearest")
            mean  error  splits
    n_bits
    100      0.1    0.0       2
    300      0.3    0.0       2
    """
    here = (results["cost"] == cost) & (results["data"] == data) & (results["algorithm"] == algorithm)
    scores = results[here & (results["n_bits"] > 0)]
    lengths_of_split = scores.groupby("split")["n_bits"].transform("nunique")
    common = scores[lengths_of_split == scores["n_bits"].nunique()]
    return summarise(common.sort_values("n_bits"), ["n_bits"])


def flat_lengths(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> pd.DataFrame:
    """Return from which code length on each curve is flat, and its longest code.

    A curve has two lengths or more; see :func:`refpair.inspection.scores.flat_from`.

    Examples
    --------
    >>> rows = [("flags", "f1", "CSRPE-nearest", bits, 0, 0.7) for bits in (100, 300)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_bits", "split", "score"])
    >>> flat_lengths(results, {"f1": True})
      cost   data      algorithm  flat_from  longest
    0   f1  flags  CSRPE-nearest        100      300
    """
    found = []
    for cost, data, algorithm in _curves(results):
        curve = code_length_curve(results, cost, data, algorithm)
        if len(curve) > 1:
            up = direction_of(greater_is_better, cost)
            flat = flat_from(curve.index, curve["mean"], curve["error"], up)
            found.append((cost, data, algorithm, flat, int(curve.index[-1])))
    return pd.DataFrame(found, columns=["cost", "data", "algorithm", "flat_from", "longest"])


def code_length_table(
    results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]
) -> ResultTable | None:
    """Return the mean scores for one cost by code length and from which on they are flat, or None.

    Examples
    --------
    >>> rows = [("flags", "f1", "CSRPE-nearest", bits, 0, bits / 1000) for bits in (100, 500, 505)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_bits", "split", "score"])
    >>> print(code_length_table(results, "f1", {"f1": True}).to_markdown())
    | data and decoder | 100 | 500 | 505 | flat from |
    | :-- | --: | --: | --: | --: |
    | flags nearest | .1000 | .5000 | .5050 | **500** |
    """
    results = results[results["cost"] == cost]
    curves = {key[1:]: code_length_curve(results, *key) for key in _curves(results)}
    curves = {key: curve for key, curve in curves.items() if len(curve)}
    if not curves:
        return None
    flat = flat_lengths(results, greater_is_better).set_index(["data", "algorithm"])["flat_from"]
    lengths = _some_lengths(sorted({length for curve in curves.values() for length in curve.index}))
    rows = {}
    for (data, algorithm), curve in curves.items():
        decimals = decimals_for(curve["mean"], curve["error"])
        means = [show_number(mean, decimals) for mean in curve["mean"].reindex(lengths)]
        from_ = flat.get((data, algorithm))
        words = "–" if from_ is None else str(from_) if from_ < curve.index[-1] else f"not before {from_}"
        rows[f"{data} {algorithm.removeprefix('CSRPE-')}"] = [*means, words]
    columns = [*map(str, lengths), "flat from"]
    shown = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    bold = pd.DataFrame(False, index=shown.index, columns=shown.columns)
    bold["flat from"] = shown["flat from"].str.isdecimal()
    values = pd.concat(curves, names=["data", "algorithm"]).reset_index()
    return ResultTable(
        name=file_name("code-length", cost),
        title=f"{cost_title(cost, greater_is_better)} by number of bits",
        note="Means over the splits that all lengths of a row have. Flat from: no code of this length or "
        "longer is worse than the longest by more than a standard error or 1 %, whichever is more. –: there "
        "are no more pairs that tell label vectors apart, or too few results.",
        values=values,
        shown=shown.rename_axis("data and decoder"),
        bold=bold,
    )


def _curves(results: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the distinct (cost, data, algorithm) of codes, in the order they are shown in."""
    keys = results.loc[results["n_bits"] > 0, ["cost", "data", "algorithm"]].drop_duplicates()
    return sort_keys(keys.itertuples(index=False, name=None))


def _some_lengths(lengths: list[int]) -> list[int]:
    """Return as many of the lengths as there is room for: the shortest, the longest and some in between."""
    if len(lengths) <= _MOST_LENGTHS:
        return lengths
    return [lengths[i] for i in np.linspace(0, len(lengths) - 1, _MOST_LENGTHS).round().astype(int)]
