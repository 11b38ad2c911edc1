"""How good is the default model on the paper's ten sets? Against the competitors on the same splits.

`--run FOLDER` fits the model on the first five half splits and keeps each single result; without it, the page
is made anew. The competitors, and CSRPE before it had other sources than code and labels, are those of
`docs/results`.

    python -m benchmarks.paper_sets --run FOLDER
"""

from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path

import pandas as pd

from refpair import get_cost
from refpair.experiments import Part, Study
from refpair.experiments.algorithms import POSTERIOR
from refpair.experiments.statistics import best_or_level
from refpair.experiments.study import PAPER_COSTS

N_SPLITS = 5
OURS, BEFORE = "CSRPE", "CSRPE before"
KEYS = ["data", "cost", "algorithm", "split", "score"]
RESULTS = Path("docs/results")


def run(data: str, store: Path) -> pd.DataFrame:
    """Run what is missing, and return the single results."""
    study = Study(store, [Part("compare", N_SPLITS, algorithms=(POSTERIOR,))], [data])
    study.run(jobs=-1, verbose=1)
    return study.results("compare").assign(algorithm=OURS)[[*KEYS, "seconds_fit", "seconds_predict"]]


def stored(folder: Path) -> pd.DataFrame:
    """Return the results of competitors, and of CSRPE before."""
    with sqlite3.connect(f"{(folder / 'store.sqlite').resolve().as_uri()}?mode=ro", uri=True) as connection:
        chosen = f"SELECT {', '.join(KEYS)} FROM results WHERE experiment = 'compare' AND split < {N_SPLITS}"
        found = pd.read_sql(chosen, connection)
    return found.replace({"algorithm": {POSTERIOR: BEFORE}})


def describe(ours: pd.DataFrame, others: pd.DataFrame) -> str:
    """Return the page: the means of both, and how the model stands in each cell."""
    results = pd.concat([ours[KEYS], others])
    competitors = results[results["algorithm"] != BEFORE]
    verdict = best_or_level(competitors, OURS)
    means = results.groupby(["cost", "data", "algorithm"])["score"].mean().unstack()
    rivals = [name for name in means.columns if name not in (OURS, BEFORE)]
    lines, gains, counts = [], [], {"best": 0, "level": 0, "worse": 0}
    for cost in PAPER_COSTS:
        sign = 1 if get_cost(cost).greater_is_better else -1
        lines += ["", f"## {cost}", "", "| data | CSRPE | before | change, % | best competitor | |  stands |"]
        lines += ["|---|--:|--:|--:|--:|---|---|"]
        for data in dict.fromkeys(ours["data"]):
            row = means.loc[(cost, data)]
            best = (sign * row[rivals]).idxmax()
            gain = 100 * sign * (row[OURS] - row[BEFORE]) / abs(row[BEFORE]) if row[BEFORE] else 0.0
            stands = str(verdict.loc[(cost, data), "verdict"])
            gains.append(gain)
            counts[stands] = counts.get(stands, 0) + 1
            scores = f"{row[OURS]:.4g} | {row[BEFORE]:.4g} | {gain:+.1f} | {row[best]:.4g} | {best}"
            lines.append(f"| {data} | {scores} | {stands} |")
    told = ", ".join(f"{name} in {n}" for name, n in counts.items() if n)
    top = [
        "---",
        "title: The present model on the paper's data",
        "description: CSRPE with its defaults against six competitors on the paper's ten data sets.",
        "---",
        "",
        "# The present model on the paper's data",
        "",
        f"Means over the half splits 0 to {N_SPLITS - 1}. F1 and Jaccard: higher is better; Hamming and "
        "rank: lower is better. *Before* is the model that had no other sources than code and labels, with "
        "parameters searched for; the present one has its defaults. *best*: no competitor has a better mean; "
        "*level*: none is better by a paired t-test (5 %).",
        "",
        f"Of {len(gains)} cells: {told}. Against the model before, the mean change is "
        f"{sum(gains) / len(gains):+.1f} % (+ is better).",
        "",
        "Made by `python -m benchmarks.paper_sets` from [single results](paper-sets.csv) and `store.sqlite`.",
    ]
    return "\n".join([*top, *lines, ""])


def main() -> None:
    """Run what is missing if asked to, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", metavar="FOLDER", help="the folder of the paper's data sets")
    parser.add_argument("--store", type=Path, default=Path("refpair-paper-sets"))
    given = parser.parse_args()
    table = RESULTS / "paper-sets.csv"
    if given.run:
        run(given.run, given.store).to_csv(table, index=False, float_format="%.6g")
    page = describe(pd.read_csv(table), stored(RESULTS))
    (RESULTS / "paper-sets.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
