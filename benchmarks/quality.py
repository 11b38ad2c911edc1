"""Is it as good as the paper? Nearest decoding against the CSRPE column of the paper's main table.

For each data set, cost and random half split, parameters are chosen by 3-fold cross-validation on the
training half with a short code, as in the paper: the depth of the trees, and for dense data whether a split
looks at all features or at √d of them. Then the full code is learnt. The same with nothing but the depth
chosen stands beside it. Each result is written at once as a line of JSON; a second run goes on where the
first one stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold

from benchmarks.common import COSTS, PAPER_SETS, half_split, load, print_machine, print_table
from refpair import CSRPEClassifier, get_cost

Features: TypeAlias = Literal["sqrt"] | None
Setting: TypeAlias = tuple[int | None, Features]

DEPTHS = (3, 5, 8, 12, 20, 40, None)
FEATURES: tuple[Features, ...] = (None, "sqrt")


def cross_validate(
    cost: str, X: Any, Y: Any, arguments: argparse.Namespace, split: int
) -> dict[Setting, float]:
    """Return the mean cost over three folds of each depth and number of features a split looks at."""
    folds = list(KFold(3, shuffle=True, random_state=split).split(Y))
    costs = {}
    for depth, features in product(DEPTHS, FEATURES[:1] if sp.issparse(X) else FEATURES):
        model = make_model(cost, arguments.cv_bits, depth, features, arguments, split)
        costs[depth, features] = float(
            np.mean(
                [
                    get_cost(cost).rows(Y[test], model.fit(X[train], Y[train]).predict(X[test])).mean()
                    for train, test in folds
                ]
            )
        )
    return costs


def make_model(
    cost: str, n_bits: int, depth: int | None, features: Features, arguments: argparse.Namespace, split: int
) -> CSRPEClassifier:
    """Return an unfitted model."""
    return CSRPEClassifier(
        cost,
        n_bits=n_bits,
        decoder="nearest",
        max_depth=depth,
        max_features=features,
        max_bins=arguments.max_bins,
        n_jobs=arguments.jobs,
        random_state=split,
    )


def run(name: str, cost: str, split: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run one cell of the table on one split: all parameters searched, and only the depth searched."""
    data = load(name)
    train, test = half_split(len(data.Y), split)
    start = time.perf_counter()
    costs = cross_validate(cost, data.X[train], data.Y[train], arguments, split)
    seconds_cv = time.perf_counter() - start
    best = min(costs, key=lambda setting: costs[setting])
    best_depth = min(((depth, None) for depth in DEPTHS), key=lambda setting: costs[setting])
    fitted: dict[Setting, tuple[float, float]] = {}
    for setting in {best, best_depth}:
        start = time.perf_counter()
        model = make_model(cost, arguments.bits, *setting, arguments, split).fit(data.X[train], data.Y[train])
        seconds = time.perf_counter() - start
        fitted[setting] = get_cost(cost).mean(data.Y[test], model.predict(data.X[test])), seconds
    return {
        "data": name,
        "cost": cost,
        "split": split,
        "bits": arguments.bits,
        "max_bins": arguments.max_bins,
        "depth": best[0],
        "features": best[1],
        "score": fitted[best][0],
        "seconds_fit": fitted[best][1],
        "only_depth": best_depth[0],
        "only_depth_score": fitted[best_depth][0],
        "seconds_cv": seconds_cv,
    }


def compare(cost: str, scores: list[float], theirs: float) -> tuple[str, float]:
    """Return mean and standard error as text, and by what part it is worse than the paper."""
    mean = float(np.mean(scores))
    error = float(np.std(scores, ddof=1) / np.sqrt(len(scores))) if len(scores) > 1 else float("nan")
    sign = 1 if get_cost(cost).greater_is_better else -1
    return f"{mean:.4g} ± {error:.2g}", sign * (theirs - mean) / theirs


def report(results: list[dict[str, Any]], paper: dict[str, Any]) -> None:
    """Print our means beside the paper's, and how many cells are no more than 3 % worse."""
    cells = defaultdict(list)
    for result in results:
        cells[result["cost"], result["data"]].append(result)
    rows, worse, worse_by_depth = [], [], []
    for (cost, name), found in sorted(cells.items(), key=lambda item: COSTS.index(item[0][0])):
        theirs = paper[cost][name]["CSRPE"]["mean"]
        searched, by = compare(cost, [result["score"] for result in found], theirs)
        depth, by_depth = compare(cost, [result["only_depth_score"] for result in found], theirs)
        worse.append(by)
        worse_by_depth.append(by_depth)
        chosen = ", ".join(f"{result['depth'] or '∞'}{'√' if result['features'] else ''}" for result in found)
        arrow = "↑" if get_cost(cost).greater_is_better else "↓"
        rows.append(
            [f"{cost} {arrow}", name, theirs, searched, percent(by), depth, percent(by_depth), chosen]
        )
    print_table(["cost", "data", "paper", "here", "", "only depth searched", "", "chosen"], rows)
    for what, part in (("depth and features searched", worse), ("only depth searched", worse_by_depth)):
        print(f"\n{sum(by <= 0.03 for by in part)} of {len(rows)} cells no more than 3 % worse: {what}.")


def percent(worse: float) -> str:
    """Return by how many percent a cell is better; misses in bold."""
    text = f"{-100 * worse:+.1f} %"
    return text if worse <= 0.03 else f"**{text}**"


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=PAPER_SETS)
    parser.add_argument("--cost", nargs="+", default=COSTS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--cv-bits", type=int, default=300)
    parser.add_argument("--max-bins", type=int, default=64)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/quality.jsonl"))
    parser.add_argument(
        "--paper",
        type=Path,
        default=Path("../shared/paper/table_comparison.json"),
        help="the paper's main table as JSON",
    )
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    results = [json.loads(line) for line in lines]
    done = {(r["data"], r["cost"], r["split"], r["bits"], r["max_bins"]) for r in results}
    for name in arguments.data:
        for cost in arguments.cost:
            for split in range(arguments.splits):
                if (name, cost, split, arguments.bits, arguments.max_bins) in done:
                    continue
                results.append(run(name, cost, split, arguments))
                with arguments.out.open("a") as file:
                    file.write(json.dumps(results[-1]) + "\n")
    print_machine()
    print(
        f"{arguments.splits} random half splits, {arguments.bits} bits, depth out of {DEPTHS} "
        f"by 3-fold cross-validation with {arguments.cv_bits} bits, {arguments.max_bins} bins\n"
    )
    shown = [r for r in results if r["bits"] == arguments.bits and r["max_bins"] == arguments.max_bins]
    report(shown, json.loads(arguments.paper.read_text()))


if __name__ == "__main__":
    main()
