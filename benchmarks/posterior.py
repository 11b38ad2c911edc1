"""Does posterior decoding reach the best of all the paper's columns, and a forest that decides for the cost?

Every data set and cost, the defaults of ``CSRPEClassifier`` everywhere; all that is chosen is chosen out of
bag inside ``fit``. Beside it ``BayesDecisionClassifier(RandomForestClassifier(500))`` on the same splits.

* score: as the paper reports it. "best" is the best of its seven algorithms, "CSRPE" its own.
* calibration error: of the label probabilities on test rows, all labels together, 15 bins of equal width.
* expected: the mean of ``expected_cost`` on the test rows, without their labels, over what they cost.

Results are kept in a file of JSON lines as they come: a run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from benchmarks.common import COSTS, PAPER_SETS, Results, half_split, load, print_machine, print_table
from refpair import BayesDecisionClassifier, CSRPEClassifier, get_cost

CALIBRATION_BINS = 15
LARGE = ("enron", "yeast", "scene", "Corel5k", "bibtex")  # more than 1,000 rows
Result = dict[str, Any]


def calibration_error(probabilities: npt.NDArray[np.float64], truths: npt.NDArray[np.uint8]) -> float:
    """Return the mean distance of what was said from what came true, over bins of probabilities."""
    p, y = probabilities.ravel(), truths.ravel()
    cell = np.minimum((p * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    return float(np.abs(np.bincount(cell, p - y)).sum() / len(p))


def run_csrpe(name: str, cost: str, split: int, jobs: int, bits: int) -> Result:
    """Fit the defaults and measure them on the test half."""
    data = load(name)
    train, test = half_split(len(data.Y), split)
    truths = dense(data.Y[test])
    start = time.perf_counter()
    model = CSRPEClassifier(cost, n_bits=bits, n_jobs=jobs, random_state=split).fit(
        data.X[train], data.Y[train]
    )
    seconds_fit = time.perf_counter() - start
    start = time.perf_counter()
    predicted = dense(model.predict(data.X[test]))
    seconds_predict = time.perf_counter() - start
    best = model.oob_search_.iloc[0]
    return {
        "score": model.cost_.mean(truths, predicted),
        "cost_measured": float(model.cost_.rows(truths, predicted).mean()),
        "cost_expected": float(model.expected_cost(data.X[test]).mean()),
        "cost_oob": model.oob_cost_,
        "calibration": calibration_error(model.predict_proba(data.X[test]), truths),
        "seconds_fit": seconds_fit,
        "seconds_predict": seconds_predict,
        "anchors": model.posterior_.settings.compared_with,
        "label_share": model.posterior_.settings.label_share,
        "temperature": model.posterior_.settings.temperature,
        "independent": model.posterior_.settings.independent,
        "depth": None if best.isna()["max_depth"] else int(best["max_depth"]),
    }


def run_forest(name: str, split: int, jobs: int) -> list[Result]:
    """Fit one forest and let it decide for each cost."""
    data = load(name)
    train, test = half_split(len(data.Y), split)
    truths = dense(data.Y[test])
    forest = RandomForestClassifier(500, n_jobs=jobs, random_state=split)
    model = BayesDecisionClassifier(forest, n_jobs=jobs).fit(data.X[train], dense(data.Y[train]))
    calibration = calibration_error(model.predict_proba(data.X[test]), truths)
    return [
        {
            "cost": cost,
            "score": get_cost(cost).mean(truths, model.decide(data.X[test], cost)),
            "calibration": calibration,
        }
        for cost in COSTS
    ]


def dense(labels: Any) -> npt.NDArray[np.uint8]:
    """Return labels as an array."""
    return np.asarray(labels.toarray() if sp.issparse(labels) else labels, dtype=np.uint8)


def relative(cost: str, ours: float, theirs: float) -> float:
    """Return by what part ours is better."""
    sign = 1 if get_cost(cost).greater_is_better else -1
    return sign * (ours - theirs) / theirs


def mean_and_error(values: list[float]) -> str:
    """Return the mean with its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.4g} ± {error:.2g}"


def report(results: list[Result], paper: dict[str, Any]) -> None:
    """Print the table and how many cells reach what."""
    ours: dict[tuple[str, str], list[Result]] = defaultdict(list)
    forest: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        (forest if result["model"] == "forest" else ours)[result["cost"], result["data"]].append(result)
    rows, to_best, to_csrpe, to_forest, expected = [], [], [], [], []
    for cost, name in sorted(ours, key=lambda cell: (COSTS.index(cell[0]), PAPER_SETS.index(cell[1]))):
        cell = sorted(ours[cost, name], key=lambda result: result["split"])
        scores = [result["score"] for result in cell]
        column = {algorithm: number["mean"] for algorithm, number in paper[cost][name].items()}
        better = max if get_cost(cost).greater_is_better else min
        best = better(column, key=lambda algorithm: column[algorithm])
        mean = float(np.mean(scores))
        to_best.append(relative(cost, mean, column[best]))
        to_csrpe.append(relative(cost, mean, column["CSRPE"]))
        theirs = {result["split"]: result["score"] for result in forest[cost, name]}
        both = [result for result in cell if result["split"] in theirs]
        others = [theirs[result["split"]] for result in both]
        level = ""
        if both:  # on the splits that both have
            differences = np.array([result["score"] for result in both]) - np.array(others)
            error = np.std(differences, ddof=1) / np.sqrt(len(both)) if len(both) > 1 else 0.0
            by = relative(cost, float(np.mean([r["score"] for r in both])), float(np.mean(others)))
            to_forest.append((by, abs(differences.mean()) <= error))
            level = f"{100 * by:+.1f} %"
        ratio = np.mean([r["cost_expected"] for r in cell]) / np.mean([r["cost_measured"] for r in cell])
        expected.append(ratio)
        rows.append(
            [
                f"{cost} {'↑' if get_cost(cost).greater_is_better else '↓'}",
                name,
                column["CSRPE"],
                f"{column[best]} ({best})",
                mean_and_error(scores),
                percent(to_best[-1]),
                mean_and_error(others) if others else "",
                level,
                f"{ratio:.2f}",
                f"{np.mean([r['calibration'] for r in cell]):.4f}",
                f"{np.mean([r['calibration'] for r in forest[cost, name]] or [np.nan]):.4f}",
                chosen(cell),
            ]
        )
    print_table(
        ["cost", "data", "paper's CSRPE", "paper's best", "here", "to best", "forest", "to forest",
         "expected / measured", "calibration error", "forest's", "chosen: anchors, label share, temperature"],
        rows,
    )  # fmt: skip
    n = len(rows)
    print(f"\n{sum(by >= 0 for by in to_best)} of {n} cells at or better than the paper's best.")
    print(f"{sum(by < -0.05 for by in to_csrpe)} more than 5 % worse than the paper's CSRPE.")
    n_better = sum(by > 0 for by, _ in to_forest)
    n_level = sum(by <= 0 and within for by, within in to_forest)
    print(f"Forest: better in {n_better} of {len(to_forest)}, level within an error in {n_level}.")
    print(f"Expected cost within 10 % of the measured in {sum(abs(r - 1) <= 0.1 for r in expected)} of {n}.")
    report_calibration(ours, forest)


def report_calibration(
    ours: dict[tuple[str, str], list[Result]], forest: dict[tuple[str, str], list[Result]]
) -> None:
    """Print the calibration error of each data set for each cost's model, and the forest's."""
    print()
    rows = []
    for name in PAPER_SETS:
        errors = {c: np.mean([r["calibration"] for r in ours[c, name]]) for c in COSTS if ours[c, name]}
        theirs = [r["calibration"] for r in forest[COSTS[0], name]]
        if errors and theirs:
            rows.append([name, *(f"{errors[c]:.4f}" for c in errors), f"{np.mean(theirs):.4f}"])
    print_table(["calibration error", *COSTS, "forest"], rows)


def percent(by: float) -> str:
    """Return by how many percent a cell is better; misses in bold."""
    return f"{100 * by:+.1f} %" if by >= 0 else f"**{100 * by:+.2f} %**"


def chosen(cell: list[Result]) -> str:
    """Return what was chosen in each split, in short."""
    return ", ".join(
        f"{r['anchors'][0]}{r['label_share']:g}·{r['temperature']:g}{'' if r['depth'] is None else '/6'}"
        f"{' i' if r.get('independent') else ''}"  # results of earlier versions do not tell
        for r in cell
    )


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=PAPER_SETS)
    parser.add_argument("--cost", nargs="+", default=COSTS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first split")
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", choices=("csrpe", "forest"))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/posterior.jsonl"))
    parser.add_argument("--paper", type=Path, default=Path("../shared/paper/table_comparison.json"))
    arguments = parser.parse_args()
    results = Results(arguments.out)
    for name in arguments.data:
        for split in range(arguments.first, arguments.first + arguments.splits):
            case: Result = {"model": "forest", "data": name, "split": split, "bits": None}
            if arguments.only != "csrpe" and not results.has(**case):
                for result in run_forest(name, split, arguments.jobs):
                    results.add({**case, **result})
            for cost in arguments.cost:
                case = {"model": "csrpe", "data": name, "cost": cost, "split": split, "bits": arguments.bits}
                if arguments.only != "forest" and not results.has(**case):
                    result = run_csrpe(name, cost, split, arguments.jobs, arguments.bits)
                    results.add({**case, **result})
    print_machine()
    splits = range(arguments.first, arguments.first + arguments.splits)
    print(f"{len(splits)} random half splits from seed {arguments.first} on, {arguments.bits} bits\n")
    shown = [r for r in results if r["bits"] in (None, arguments.bits) and r["split"] in splits]
    report(shown, json.loads(arguments.paper.read_text()))


if __name__ == "__main__":
    main()
