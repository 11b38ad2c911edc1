"""Where results come from: the command, the machine, the versions, the splits, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import pandas as pd

from refpair.experiments.report.run_tables import total_seconds
from refpair.experiments.report.showing import in_order, join_words, show_time

__all__ = ["About", "describe_missing"]


@dataclass(frozen=True)
class About:
    """What a report says about how its results came to be.

    Parameters
    ----------
    command : str
        What makes the results again.
    machines : sequence of str
        What the results were made with: systems, processors, versions; one, unless several took part.
    settings : str
        What an experiment leaves open: the length of codes and so on.
    splits : sequence of int
        The seeds of the random splits.
    seconds : mapping of str to float
        How long each algorithm took in all.
    n_results : int
        How many results there are.
    missing : sequence of str, default=()
        What there is no result of, a sentence each.
    quick : bool, default=False
        Whether the settings were made for speed: then the numbers say nothing.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "BR", 0, 2.0, 0.5, 0.1)])
    >>> results.columns = ["data", "algorithm", "split", "seconds_search", "seconds_fit", "seconds_predict"]
    >>> about = About.of(results, command="refpair compare", machines=["a laptop"], settings="3000 bits")
    >>> about.n_results, about.splits, about.rows()[0]
    (1, [0], ('Command', 'refpair compare'))
    """

    command: str
    machines: Sequence[str]
    settings: str
    splits: Sequence[int]
    seconds: Mapping[str, float]
    n_results: int
    missing: Sequence[str] = ()
    quick: bool = False

    @classmethod
    def of(
        cls,
        results: pd.DataFrame,
        *,
        command: str,
        machines: Sequence[str],
        settings: str,
        missing: Iterable[str] = (),
        quick: bool = False,
    ) -> Self:
        """Describe results."""
        return cls(
            command=command,
            machines=tuple(machines),
            settings=settings,
            splits=sorted(results["split"].unique().tolist()),
            seconds={str(name): float(time) for name, time in total_seconds(results).items()},
            n_results=len(results),
            missing=tuple(missing),
            quick=quick,
        )

    def rows(self) -> list[tuple[str, str]]:
        """Return what a report lists, as pairs of a name and a text."""
        rows = [
            ("Command", self.command),
            ("Settings", self.settings),
            *(("Machine", machine) for machine in self.machines),
        ]
        if self.n_results == 0:
            return [*rows, ("Results", "0")]
        seconds = [f"{name} {show_time(self.seconds[name])}" for name in in_order(self.seconds)]
        return [
            *rows,
            ("Splits", f"half and half, random; seeds {_show_seeds(self.splits)}"),
            ("Results", str(self.n_results)),
            ("Time", f"{', '.join(seconds)}; in all {show_time(sum(self.seconds.values()))}"),
        ]

    def warnings(self) -> list[str]:
        """Return what a reader must know before the first number."""
        quick = "Made with quick settings, to see that everything works: the scores say little."
        return [quick] * self.quick + list(self.missing)


def describe_missing(experiment: str, planned: pd.DataFrame, results: pd.DataFrame) -> list[str]:
    """Say which planned results there are not, a sentence for all algorithms that lack the same.

    Parameters
    ----------
    experiment : str
        What it is called.
    planned, results : DataFrame
        With the columns data, cost, algorithm, split, and n_bits or n_labelled.

    Examples
    --------
    >>> columns = ["data", "cost", "algorithm", "n_bits", "split"]
    >>> planned = pd.DataFrame([("flags", "f1", "BR", 0, s) for s in range(20)], columns=columns)
    >>> describe_missing("compare", planned, planned[:15])
    ['compare: 5 of 20 results of BR are missing, on flags.']
    """
    size = "n_labelled" if "n_labelled" in planned else "n_bits"
    keys = ["data", "cost", "algorithm", size, "split"]
    there = pd.MultiIndex.from_frame(results[keys])
    lacking = planned[~pd.MultiIndex.from_frame(planned[keys]).isin(there)]
    alike: dict[tuple[int, int, tuple[str, ...]], list[str]] = {}
    for name, rows in lacking.groupby("algorithm", sort=False):
        wanted, where = planned[planned["algorithm"] == name], in_order(rows["data"])
        if len(where) == wanted["data"].nunique() > 1:
            where = ["all data sets"]
        alike.setdefault((len(rows), len(wanted), tuple(where)), []).append(str(name))
    return [f"{experiment}: {_describe_lacking(*what, in_order(names))}" for what, names in alike.items()]


def _describe_lacking(n_lacking: int, n_wanted: int, where: Iterable[str], names: Sequence[str]) -> str:
    if n_lacking == n_wanted > 1:
        return f"there are no results of {join_words(names, most=99)}."
    of = f"{n_wanted} results of {'each of ' if len(names) > 1 else ''}{join_words(names, most=99)}"
    verb = "is" if n_lacking == 1 else "are"
    return f"{n_lacking} of {of} {verb} missing, on {join_words(where, most=99)}."


def _show_seeds(seeds: Sequence[int]) -> str:
    """Return seeds as ranges where they follow each other."""
    ranges: list[list[int]] = []
    for seed in seeds:
        if ranges and seed == ranges[-1][-1] + 1:
            ranges[-1].append(seed)
        else:
            ranges.append([seed])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in ranges)
