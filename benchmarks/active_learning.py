"""Which rows are worth asking for? Ten query strategies on six of the paper's data sets under four costs.

The same as ``refpair simulate`` with ten runs: 20 labeled rows at first, then 100 queries. `--run FOLDER`
runs what is missing, which takes an hour; without it, nothing is run. Each point of each curve is stored in
``docs/results/active/active.csv.gz``; ``make bench-report`` makes the page of them.
"""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common import ROOT, read_table, records, tell_origin, write_table
from refpair.experiments import Part, Settings, Study
from refpair.experiments.names import greater_is_better
from refpair.experiments.report.pages import markdown_section
from refpair.experiments.report.sections import Section
from refpair.experiments.report.studies import areas_under_curves, simulate_section
from refpair.experiments.report.table import cost_title, show_percent
from refpair.experiments.simulation import DEFAULT_STRATEGY
from refpair.experiments.statistics import shared_means

TABLE = ROOT / "docs" / "results" / "active" / "active.csv.gz"
SETS = ("emotions", "scene", "medical", "yeast", "CAL500", "enron")
_RANDOM, _PAPERS = "random", "CSRPE"


@cache
def section() -> Section:
    """Return tables and figures."""
    return simulate_section(read_table(TABLE))


def show(pictures: str) -> str:
    """Return all tables, with links to figures."""
    return "\n\n".join(markdown_section(section(), 2, pictures))


def show_summary() -> str:
    """Say how the default stands beside random queries."""
    row = _beside_random()[DEFAULT_STRATEGY]
    gain = show_percent(row["mean gain"]).removeprefix("+")
    return (
        f"better than those of random queries in {row['better than random']} of {row['panels']} panels, by "
        f"{gain} on average, and the best of ten strategies in {row['best']}"
    )


def show_panels(strategy: str) -> str:
    """Return in how many panels a strategy is better than random queries."""
    return str(_beside_random()[strategy]["better than random"])


def show_best() -> str:
    """Return in how many panels the default is the best."""
    return str(_beside_random()[DEFAULT_STRATEGY]["best"])


def show_lost() -> str:
    """Say where the default is worse than random queries."""
    return show_losses().splitlines()[0].partition(": ")[2]


def _beside_random() -> dict[str, dict[str, Any]]:
    return {row["strategy"]: row for row in records(section().tables[0].values)}


def show_losses() -> str:
    """Say where the default and the paper's strategy are worse than random queries, and by how much."""
    means = shared_means(areas_under_curves(read_table(TABLE)))
    signs = [1 if greater_is_better(cost) else -1 for cost, _ in means.index]
    gains = means.sub(means[_RANDOM], axis=0).mul(signs, axis=0).div(means[_RANDOM].abs(), axis=0)
    lines = []
    for strategy in (DEFAULT_STRATEGY, _PAPERS):
        where: dict[str, list[str]] = {}
        for row in records(gains[gains[strategy] < 0]):
            told = f"{cost_title(row['cost'])[:-2]} {show_percent(row[strategy])}"
            where.setdefault(row["data"], []).append(told)
        lines.append(
            f"- {strategy}: " + "; ".join(f"{data} ({', '.join(own)})" for data, own in where.items())
        )
    return "\n".join(lines)


def show_origin() -> str:
    """Say how the results came to be."""
    return f"{tell_origin(TABLE)} Settings: {Settings().describe({'simulate'})}."


def main() -> None:
    """Run what is missing, and store all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", metavar="FOLDER", help="the folder of the paper's data sets")
    parser.add_argument("--store", type=Path, default=Path("refpair-active"))
    given = parser.parse_args()
    if given.run:
        data = [str(Path(given.run, name, f"{name}.arff")) for name in SETS]
        study = Study(given.store, [Part("simulate", 10)], data)
        study.run(jobs=-1, verbose=1)
        dropped = ["experiment", "fingerprint", "sources", "run"]
        write_table(TABLE, pd.DataFrame(study.results("simulate").drop(columns=dropped)))
    print(f"Learning curves of the default are {show_summary()}.")


if __name__ == "__main__":
    main()
