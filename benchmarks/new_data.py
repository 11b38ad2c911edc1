"""How good is the default model on other data than the paper's? Against what people use today.

Each set has random halves, with the same ones for all: Bayes-decided random forests and extra trees, logistic
regression and LightGBM for each label, and probabilistic chains (`benchmarks.rivals`). `--results` keeps each
single result; ``make bench-report`` makes the page of them.

    python -m benchmarks.new_data birds.npz image.npz debtags.csv.gz --labels tags --drop package
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from benchmarks.common import ROOT, cost_name, heading, markdown_table, read_table, records, write_table
from refpair import get_cost
from refpair.experiments import Part, Settings, Study
from refpair.experiments.report.table import show_percent
from refpair.tables import TableOptions

TABLE = ROOT / "docs" / "results" / "new-data.csv"
OURS = "refpair:CSRPEClassifier"
RIVALS = {
    "benchmarks.rivals:forest": "RF-500",
    "benchmarks.rivals:extra_trees": "ET-500",
    "benchmarks.rivals:logistic": "logistic",
    "benchmarks.rivals:lightgbm": "LightGBM",
    "PCC": "PCC",
}
NAMES = {OURS: "refpair"} | RIVALS
COSTS = ("f1", "jaccard", "hamming", "rank", "zero_one")
LEVEL = 0.01  # what is less is no difference
COLUMNS = ["data", "cost", "algorithm", "split", "score", "seconds_fit", "seconds_predict"]


def run(given: argparse.Namespace) -> pd.DataFrame:
    """Run what is missing, and return the single results."""
    part = Part("compare", given.splits, algorithms=tuple(NAMES), first_split=given.first_split)
    table = TableOptions(labels=tuple(given.labels or ()) or None, drop=tuple(given.drop))
    settings = Settings(search=False, max_rows=given.max_rows)
    study = Study(given.store, [part], given.data, COSTS, table=table, settings=settings)
    study.run(jobs=given.jobs, verbose=1)
    results = study.results("compare")
    return results.assign(
        data=[name.partition(".")[0] for name in results["data"]],
        algorithm=results["algorithm"].map(NAMES),
    )[COLUMNS]


def gains(results: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each set and cost: the mean scores, the best rival, and our gain as a share of it."""
    means = results.groupby(["cost", "data", "algorithm"], sort=False)["score"].mean().unstack()
    known = [cost for cost in COSTS if cost in {*results["cost"]}]
    shown = means[list(NAMES.values())].loc[known]
    cost_of = shown.index.get_level_values("cost")
    signs = pd.Series([1 if get_cost(cost).greater_is_better else -1 for cost in cost_of], shown.index)
    rivals = shown[list(RIVALS.values())].mul(signs, axis=0)
    best = rivals.max(axis=1)
    gain = (shown["refpair"] * signs - best) / best.abs()
    return shown.assign(best=rivals.idxmax(axis=1), gain=gain)


def show() -> str:
    """Return a table of means for each cost, and one of times."""
    names = list(NAMES.values())
    results = read_table(TABLE)
    tables: dict[str, list[list[str]]] = {}
    for row in records(gains(results)):
        scores = [f"{row[name]:.4g}" for name in names]
        tables.setdefault(row["cost"], []).append(
            [row["data"], *scores, row["best"], show_percent(row["gain"])]
        )
    header = ["data", *names, "best rival", "gain"]
    blocks = [f"## {heading(cost)}\n\n{markdown_table(header, rows)}" for cost, rows in tables.items()]
    seconds = results.groupby(["data", "algorithm"], sort=False)["seconds_fit"].mean().unstack()
    times = [[row["data"], *(f"{row[name]:.1f}" for name in names)] for row in records(seconds)]
    return "\n\n".join([*blocks, f"## Seconds of a fit\n\n{markdown_table(['data', *names], times)}"])


def show_summary() -> str:
    """Say how often each side is ahead, and where refpair is worse."""
    results = read_table(TABLE)
    found = gains(results)
    ahead = int((found["gain"] > LEVEL).sum())
    behind = records(found[found["gain"] < -LEVEL])
    worse = ", ".join(
        f"{cost_name(row['cost'])} on {row['data']} ({show_percent(row['gain'])})" for row in behind
    )
    splits, sets, costs = (results[name].nunique() for name in ("split", "data", "cost"))
    return (
        f"better than the best rival by more than {100 * LEVEL:g} % in {ahead} of {len(found)} cases "
        f"({sets} data sets, {costs} costs, means of {splits} half splits), level in "
        f"{len(found) - ahead - len(behind)}, worse in {len(behind)}{': ' * bool(behind)}{worse}; the mean "
        f"gain is {show_percent(found['gain'].mean())}"
    )


def main() -> None:
    """Run what is missing, and store all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="tables, or .npz files with X and Y")
    parser.add_argument("--labels", nargs="+")
    parser.add_argument("--drop", nargs="+", default=())
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=10)
    parser.add_argument("--max-rows", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--store", type=Path, default=Path("refpair-new-data"))
    given = parser.parse_args()
    write_table(TABLE, run(given))
    print(f"{show()}\n\nrefpair is {show_summary()}.")


if __name__ == "__main__":
    main()
