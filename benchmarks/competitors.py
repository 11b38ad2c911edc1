"""Are the competitors as good as the paper's own? Each against its column of the paper's main table.

All base learners are the tree bank's forests of 100 trees, with nothing tuned. Algorithms that know no cost
are fitted once a split and scored by all four; the probabilistic chain is fitted once and decides for each
cost; the condensed filter tree is fitted for each. Results are kept in a file of JSON lines as they come:
a run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import COSTS, PAPER_SETS, Results, half_split, load, print_machine, print_table
from benchmarks.posterior import dense, mean_and_error, relative
from refpair import (
    MLECC,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    ProbabilisticChain,
    RAkEL,
    get_cost,
)

SETS = ("emotions", "scene", "yeast", "flags", "medical", "enron")
COLUMNS = {"BR": "REP", "RAkEL": "RREP", "HAMR": "HAMR", "CC": "CC", "PCC": "PCC", "CFT": "CFT"}
WITHIN = 0.05


def make(algorithm: str, cost: str, split: int, jobs: int) -> Any:
    """Return an unfitted model with forests as base learners."""
    how: dict[str, Any] = {"random_state": split, "n_jobs": jobs}
    if algorithm == "BR":
        return BinaryRelevance("forest", **how)
    if algorithm == "RAkEL":
        return RAkEL("forest", **how)
    if algorithm == "HAMR":
        return MLECC("forest", code="hamr", **how)
    if algorithm == "CC":
        return ChainClassifier("forest", **how)
    if algorithm == "PCC":
        return ProbabilisticChain("forest", cost=cost, **how)
    return CondensedFilterTree("forest", cost=cost, **how)


def run(algorithm: str, name: str, split: int, costs: tuple[str, ...], jobs: int) -> Iterator[dict[str, Any]]:
    """Fit and yield a result for each cost."""
    data = load(name)
    train, test = half_split(len(data.Y), split)
    truths, predicted, seconds_fit = dense(data.Y[test]), None, 0.0
    model = None
    for cost in costs:
        if model is None or algorithm == "CFT":
            model = make(algorithm, cost, split, jobs)
            start = time.perf_counter()
            model.fit(data.X[train], data.Y[train])
            seconds_fit = time.perf_counter() - start
        start = time.perf_counter()
        if algorithm == "PCC":
            predicted = dense(model.decide(data.X[test], cost))
        elif predicted is None or algorithm == "CFT":
            predicted = dense(model.predict(data.X[test]))
        yield {
            "cost": cost,
            "score": get_cost(cost).mean(truths, predicted),
            "seconds_fit": seconds_fit,
            "seconds_predict": time.perf_counter() - start,
        }


def report(results: list[dict[str, Any]], paper: dict[str, Any]) -> None:
    """Print our scores beside the paper's, and in how many cells each algorithm is near enough."""
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for result in results:
        scores[result["algorithm"], result["cost"], result["data"]].append(result["score"])
    near: dict[str, list[float]] = defaultdict(list)
    rows = []
    for algorithm, column in COLUMNS.items():
        for cost in COSTS:
            for name in PAPER_SETS:
                found = scores[algorithm, cost, name]
                if found:
                    theirs = paper[cost][name][column]["mean"]
                    by = relative(cost, float(np.mean(found)), theirs)
                    near[algorithm].append(by)
                    shown = f"{100 * by:+.1f} %" if by >= -WITHIN else f"**{100 * by:+.1f} %**"
                    arrow = "↑" if get_cost(cost).greater_is_better else "↓"
                    rows.append([algorithm, f"{cost} {arrow}", name, theirs, mean_and_error(found), shown])
    print_table(["algorithm", "cost", "data", "paper", "here", "better by"], rows)
    print()
    for algorithm, cells in near.items():
        n_near, n_better = sum(by >= -WITHIN for by in cells), sum(by >= 0 for by in cells)
        print(f"{algorithm}: {n_near} of {len(cells)} within 5 % or better, {n_better} at least as good.")


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=SETS)
    parser.add_argument("--algorithm", nargs="+", default=list(COLUMNS), choices=list(COLUMNS))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/competitors.jsonl"))
    parser.add_argument("--paper", type=Path, default=Path("../shared/paper/table_comparison.json"))
    arguments = parser.parse_args()
    results = Results(arguments.out)
    for algorithm in arguments.algorithm:
        for name in arguments.data:
            for split in range(arguments.splits):
                case = {"algorithm": algorithm, "data": name, "split": split}
                missing = tuple(cost for cost in COSTS if not results.has(**case, cost=cost))
                for result in run(algorithm, name, split, missing, arguments.jobs):
                    results.add({**case, **result})
    print_machine()
    print(f"{arguments.splits} random half splits, forests of 100 trees\n")
    report([r for r in results if r["split"] < arguments.splits], json.loads(arguments.paper.read_text()))


if __name__ == "__main__":
    main()
