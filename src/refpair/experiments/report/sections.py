"""What a report is made of, and what all experiments have: times, chosen parameters, what is missing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from refpair._extras import pd
from refpair.experiments.report.table import (
    ResultTable,
    caption,
    cost_title,
    file_name,
    in_order,
    make_table,
    show_number,
    show_time,
    spread,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAINLY = 0.5  # a value that is chosen less often does not stand for all
_STEPS = ("seconds_search", "seconds_fit", "seconds_predict")


@dataclass(frozen=True)
class SectionFigure:
    """A figure that is drawn when the report is written; its file is called by its name."""

    name: str
    caption: str
    draw: Callable[[], Figure]


def make_figure(kind: str, draw: Callable[[], Figure], *, of: str = "", **words: Any) -> SectionFigure:
    """Return a figure with its caption, perhaps of a cost; its file is called by its kind and that."""
    words |= {"cost": cost_title(of)} if of else {}
    return SectionFigure(file_name(kind, of), caption(kind, "figure", **words), draw)


@dataclass(frozen=True)
class Section:
    """A heading with plain text, tables, figures, and smaller sections after them.

    The first table of a section on an experiment is its summary, which the command line prints, too.
    """

    heading: str
    text: str = ""
    tables: Sequence[ResultTable] = ()
    figures: Sequence[SectionFigure] = ()
    parts: Sequence[Section] = ()


@dataclass(frozen=True)
class About:
    """How the results came to be, as pairs of a name and a text, and what a reader must know before."""

    rows: Sequence[tuple[str, str]] = ()
    warnings: Sequence[str] = ()


def describe_runs(
    results: pd.DataFrame, *, command: str, settings: str, machines: Sequence[str], sources: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what a report lists of where its results come from."""
    rows = [("Command", command), ("Settings", settings)]
    rows += [("Machine", machine) for machine in machines]
    rows += [("Sources", ", ".join(sources))] if sources else []
    rows.append(("Results", str(len(results))))
    if len(results):
        seconds = total_seconds(results)
        each = ", ".join(f"{name} {show_time(seconds[name])}" for name in in_order(seconds.index))
        seeds = sorted(results["split"].unique().tolist())
        rows.append(("Splits", f"half and half, random; seeds {_show_seeds(seeds)}"))
        rows.append(("Time", f"{each}; in all {show_time(seconds.sum())}"))
    return rows


def describe_missing(experiment: str, planned: pd.DataFrame, results: pd.DataFrame) -> list[str]:
    """Say how many of the planned results there are not, a sentence for all algorithms that lack as many."""
    size = "n_labeled" if "n_labeled" in planned else "n_bits"
    keys = ["data", "cost", "algorithm", size, "split"]
    there = pd.MultiIndex.from_frame(results[keys])
    lacking = planned[~pd.MultiIndex.from_frame(planned[keys]).isin(there)]
    wanted = planned["algorithm"].value_counts()
    alike: dict[tuple[int, int, str], list[str]] = {}
    for name, rows in lacking.groupby("algorithm", sort=False):
        where = ", ".join(in_order(rows["data"]))
        alike.setdefault((len(rows), int(wanted[name]), where), []).append(str(name))
    return [
        f"{experiment}: missing are {n} of {of} results of {', '.join(in_order(names))}, on {where}."
        for (n, of, where), names in alike.items()
    ]


def total_seconds(results: pd.DataFrame) -> pd.Series:
    """Return how many seconds each algorithm took; a search or a fit that several share counts once."""
    # Equal to the last digit means measured once.
    once = [results.drop_duplicates(["data", "split", step])[["algorithm", step]] for step in _STEPS]
    return pd.concat(once).groupby("algorithm", sort=False).sum().sum(axis=1)


def times_table(results: pd.DataFrame, experiment: str) -> ResultTable:
    """Return how long the algorithms took: the search for parameters, fitting and predicting."""
    means = results.groupby(["data", "algorithm"], sort=False)[list(_STEPS)].mean()
    cells = means.apply(lambda row: " + ".join(_short_seconds(row[step]) for step in _STEPS), axis=1)
    shown = spread(cells).fillna("–")
    style = pd.DataFrame("", index=shown.index, columns=shown.columns)
    shown.loc["all runs"] = total_seconds(results).map(show_time)
    style.loc["all runs"] = "bold"
    values = means.assign(runs=results.groupby(["data", "algorithm"]).size()).reset_index()
    return make_table("times", values, shown.rename_axis("data"), style, of=experiment)


def parameter_table(results: pd.DataFrame) -> ResultTable | None:
    """Return which parameters were chosen in the training halves and how often, or None without a search."""
    # A search chooses this here and that there, what is not searched is the same everywhere.
    if results.groupby(["data", "algorithm"])["chosen"].nunique().le(1).all():
        return None
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for data, algorithm, chosen in results[["data", "algorithm", "chosen"]].itertuples(index=False):
        for parameter, value in json.loads(chosen or "{}").items():
            shown_value = "none" if value is None else json.dumps(value).strip('"')
            counts[algorithm, parameter, data, shown_value] += 1
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
    return make_table("parameters", values, shown.rename_axis("algorithm and parameter"))


def _short_seconds(seconds: float) -> str:
    return show_number(seconds, 2 if seconds < 0.995 else 1 if seconds < 9.95 else 0)


def _brief(value: str) -> str:
    """Return a share with three digits, 1/3 above all; what is no such number as it is."""
    return f"{float(value):.3g}" if value.startswith("0.") else value


def _show_seeds(seeds: Sequence[int]) -> str:
    """Return seeds as ranges where they follow each other."""
    numbers = pd.Series(seeds)
    runs = numbers.groupby(numbers - numbers.index)
    return ", ".join(
        f"{run.iloc[0]} to {run.iloc[-1]}" if len(run) > 1 else f"{run.iloc[0]}" for _, run in runs
    )
