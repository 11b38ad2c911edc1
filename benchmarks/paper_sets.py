"""How good is the default model on the paper's ten sets? Against the competitors on the same splits.

`--run FOLDER` fits the model on the first five half splits and keeps each single result; ``make
bench-report`` makes the page of them. The competitors are those of ``docs/results/paper.csv.gz``.

    python -m benchmarks.paper_sets --run FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks import paper
from benchmarks.common import ROOT, cost_name, heading, markdown_table, read_table, records, write_table
from refpair.experiments import Part, Study
from refpair.experiments.algorithms import POSTERIOR
from refpair.experiments.names import greater_is_better
from refpair.experiments.statistics import best_or_level

N_SPLITS = 5
OURS = "CSRPE"
KEYS = ["data", "cost", "algorithm", "split", "score"]
TABLE = ROOT / "docs" / "results" / "paper-sets.csv"


def run(data: str, store: Path) -> pd.DataFrame:
    """Run what is missing, and return the single results."""
    study = Study(store, [Part("compare", N_SPLITS, algorithms=(POSTERIOR,))], [data])
    study.run(jobs=-1, verbose=1)
    return study.results("compare").assign(algorithm=OURS)[[*KEYS, "seconds_fit", "seconds_predict"]]


def _everyone() -> pd.DataFrame:
    """Return the results of the model, and of competitors on the same splits."""
    ours, others = read_table(TABLE), read_table(paper.TABLE)
    same = (others["experiment"] == "compare") & others["split"].isin(ours["split"].unique())
    return pd.concat([ours[KEYS], others.loc[same & (others["algorithm"] != POSTERIOR), KEYS]])


def cells() -> pd.DataFrame:
    """Return a row for each cost and data set: the means, the best competitor, and how the model stands."""
    results = _everyone()
    verdict = best_or_level(results, OURS)
    found = results.groupby(["cost", "data", "algorithm"])["score"].mean().unstack().loc[verdict.index]
    signs = pd.Series([1 if greater_is_better(cost) else -1 for cost, _ in found.index], found.index)
    rivals = found.drop(columns=OURS).mul(signs, axis=0)
    best = {"best": rivals.idxmax(axis=1), "best_mean": rivals.max(axis=1) * signs}
    return found.assign(**best, **verdict)


def show() -> str:
    """Return a table for each cost."""
    header = ["data", "CSRPE", "best competitor", "its mean", "CSRPE is"]
    tables: dict[str, list[list[str]]] = {}
    for row in records(cells()):
        best = [row["best"], f"{row['best_mean']:.4g}", row["verdict"]]
        tables.setdefault(row["cost"], []).append([row["data"], f"{row[OURS]:.4g}", *best])
    return "\n\n".join(
        f"## {heading(cost)}\n\n{markdown_table(header, rows)}" for cost, rows in tables.items()
    )


def show_summary() -> str:
    """Say how often the model is best, and to whom it loses where it is not."""
    found = cells()
    counts = found["verdict"].value_counts()
    words = {"best": "best", "level": "level with the best", "untested": "not tested", "worse": "worse"}
    told = [f"{words[verdict]} in {counts[verdict]}" for verdict in words if verdict in counts]
    lost = [
        f"{cost_name(row['cost'])} on {row['data']} (behind {' and '.join(row['loses_to'])})"
        for row in records(found)
        if row["loses_to"]
    ]
    n_costs, n_sets = (found.index.unique(level).size for level in ("cost", "data"))
    told[0] += f" of {len(found)} cases ({n_sets} data sets, {n_costs} costs)"
    return f"{', '.join(told)}{': ' * bool(lost)}{', '.join(lost)}"


def main() -> None:
    """Run what is missing if asked to, and store all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", metavar="FOLDER", help="the folder of the paper's data sets")
    parser.add_argument("--store", type=Path, default=Path("refpair-paper-sets"))
    given = parser.parse_args()
    if given.run:
        write_table(TABLE, run(given.run, given.store))
    print(f"{show()}\n\nCSRPE is {show_summary()}.")


if __name__ == "__main__":
    main()
