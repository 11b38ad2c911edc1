"""``refpair datasets``, and ``refpair demo``: models for two costs."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from refpair.cli.printing import Output, new_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BEST = {"F1": max, "price": min}
N_BITS: int | Literal["auto"] = "auto"
N_TREES = 500
_CLEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Result:
    """What one model reached by each cost, and what each test row cost."""

    name: str
    scores: dict[str, float]
    rows: dict[str, npt.NDArray[np.float64]]
    seconds: float


def demo() -> None:
    """Compare models for two costs with random forests. It takes half a minute."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from sklearn.ensemble import RandomForestClassifier

    from refpair import BayesDecisionClassifier, Cost, CSRPEClassifier, get_cost
    from refpair.cli.thresholds import ForestWithThresholds
    from refpair.datasets import load_dataset

    digits = load_dataset("digits")
    half = len(digits.Y) // 2
    train, test = slice(0, half), slice(half, None)
    console = Output()
    console.print(
        "Pictures of one to three handwritten digits, one over the other: which digits are there? Models "
        f"learn from {half:,} pictures and are tested on {len(digits.Y) - half:,} others, by two costs: F1, "
        "and a price of 3 for each digit that is not there and 1 for each one missed. A random forest of "
        f"{N_TREES} trees is taken as it is, with a threshold for each label that is tuned by five folds, "
        "and with calibrated Bayes decisions.\n"
    )
    costs = {"F1": get_cost("f1"), "price": Cost.per_label(false_positive=3, false_negative=1)}
    with Progress(
        SpinnerColumn("line", finished_text="-"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Output(stderr=True),
    ) as steps:

        def try_out(name: str, model: Any) -> Result:
            task = steps.add_task(name, total=1)
            started = time.perf_counter()
            predicted = model.fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
            seconds = time.perf_counter() - started
            steps.advance(task)
            scores = {key: cost.mean(digits.Y[test], predicted) for key, cost in costs.items()}
            rows = {key: cost.rows(digits.Y[test], predicted) for key, cost in costs.items()}
            return Result(name, scores, rows, seconds)

        def forest(n_trees: int) -> RandomForestClassifier:
            return RandomForestClassifier(n_trees, random_state=0, n_jobs=-1)

        def bayes(cost: str, n_trees: int) -> BayesDecisionClassifier:
            return BayesDecisionClassifier(forest(n_trees), cost=costs[cost], random_state=0, n_jobs=-1)

        def csrpe(cost: str, n_bits: int | Literal["auto"]) -> CSRPEClassifier:
            return CSRPEClassifier(costs[cost], n_bits=n_bits, random_state=0, n_jobs=-1)

        # Ten bits need the same kernels as thousands, so that no model's time has the compiler's in it.
        small = [model for name in costs for model in (csrpe(name, 10), bayes(name, 5))]
        for number, model in enumerate(small, 1):
            try_out(f"compiling kernels, once ({number} of {len(small)})", model)
        results = [try_out("random forest", forest(N_TREES))]
        for name, cost in costs.items():
            tuned = ForestWithThresholds(forest(N_TREES), cost)
            results.append(try_out(f"forest, thresholds for {name}", tuned))
        for name in costs:
            results.append(try_out(f"forest, Bayes decisions for {name}", bayes(name, N_TREES)))
        for name in costs:
            results.append(try_out(f"CSRPE for {name}", csrpe(name, N_BITS)))
    columns = ("F1\nhigher is better", "price\nlower is better", "seconds")
    table = new_table("model", *columns, numbers=columns)
    table.caption = "* best in its column"
    best = {name: _best(name, results).scores[name] for name in costs}
    for result in results:
        cells = [
            f"[bold green]{score:.3f} *[/]" if score == best[cost] else f"{score:.3f}  "
            for cost, score in result.scores.items()
        ]
        table.add_row(result.name, *cells, f"{result.seconds:.1f}")
    console.print(table)
    for name in costs:
        console.print(verdict(name, f"CSRPE for {name}", results))


def verdict(cost: str, name: str, results: Sequence[Result]) -> str:
    """Say whether a model comes first by a cost, which is next, and how sure that is."""
    own = next(result for result in results if result.name == name)
    other = _best(cost, [result for result in results if result is not own])
    mine, theirs = own.scores[cost], other.scores[cost]
    gains = other.rows[cost] - own.rows[cost]
    lead, error = float(gains.mean()), float(gains.std() / len(gains) ** 0.5)
    if mine == theirs or BEST[cost](mine, theirs) == theirs:
        outcome = f"does not come first: {mine:.3f}, and {other.name} has {theirs:.3f}."
    else:
        outcome = f"comes first: {mine:.3f}, then {other.name} with {theirs:.3f}."
    clear = "" if abs(lead) > _CLEAR * error else "; that is within chance"
    return f"By {cost}, {name} {outcome}\nThey differ by {abs(lead):.3f} ± {error:.3f}{clear}."


def _best(cost: str, results: Sequence[Result]) -> Result:
    return BEST[cost](results, key=lambda result: result.scores[cost])


def datasets() -> None:
    """List the data sets known by name."""
    from refpair.datasets import list_datasets
    from refpair.datasets.load import cache_dir

    sizes = ("labels", "rows", "features")
    table = new_table("name", *sizes, "where", numbers=sizes)
    found, own = list_datasets(), os.environ.get("REFPAIR_DATA")
    for info in found:
        where = "in the package" if info.name == "digits" else "not here yet"
        if info.name != "digits" and info.is_local:
            is_own = own and Path(own, info.name, f"{info.name}.arff").is_file()
            where = f"$REFPAIR_DATA/{info.name}" if is_own else str(cache_dir() / info.name)
        counts = (info.n_labels, info.n_instances, info.n_features)
        table.add_row(f"[bold]{info.name}[/]", *(f"{n:,}" for n in counts), where)
    console = Output()
    console.print(table)
    if not all(info.is_local for info in found):
        console.print(
            "What is not here is downloaded when it is first used. Without a network, set REFPAIR_DATA to a "
            "folder with <name>/<name>.arff and <name>/<name>.xml."
        )
    console.print("Use one by its name: refpair fit digits -o digits.refpair")
