"""What is there to try: ``refpair datasets``, and ``demo``, two models for two costs and a random forest."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refpair.cli.printing import Output, new_table

BEST = {"F1": max, "price": min}
N_BITS, N_TREES = 3000, 500


@dataclass(frozen=True)
class Result:
    """What one model reached by each cost; it may be made for one of them."""

    name: str
    made_for: str | None
    scores: dict[str, float]
    seconds: float


def demo() -> None:
    """Show in half a minute what it is to be made for a cost."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from sklearn.ensemble import RandomForestClassifier

    from refpair import Cost, CSRPEClassifier, get_cost
    from refpair.datasets import load_dataset

    digits = load_dataset("digits")
    half = len(digits.Y) // 2
    train, test = slice(0, half), slice(half, None)
    console = Output()
    console.print(
        "Pictures of one to three handwritten digits, one over the other: which digits are there? Models "
        f"learn from {half:,} pictures and are tested on {len(digits.Y) - half:,} others, by two costs: F1, "
        "and a price of 3 for each digit that is not there and 1 for each one missed.\n"
    )
    costs = {"F1": get_cost("f1"), "price": Cost.per_label(false_positive=3, false_negative=1)}
    with Progress(
        SpinnerColumn("line", finished_text="-"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Output(stderr=True),
    ) as steps:

        def try_out(name: str, made_for: str | None, model: Any) -> Result:
            task = steps.add_task(name, total=1)
            started = time.perf_counter()
            predicted = model.fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
            seconds = time.perf_counter() - started
            steps.advance(task)
            scores = {key: cost.mean(digits.Y[test], predicted) for key, cost in costs.items()}
            return Result(name, made_for, scores, seconds)

        def csrpe(cost: str, n_bits: int) -> CSRPEClassifier:
            return CSRPEClassifier(costs[cost], n_bits=n_bits, random_state=0, n_jobs=-1)

        # Ten bits need the same kernels as thousands, so that no model's time has the compiler's in it.
        for number, name in enumerate(costs, 1):
            try_out(f"compiling kernels, once ({number} of {len(costs)})", None, csrpe(name, 10))
        results = [try_out(f"CSRPE for {name}", name, csrpe(name, N_BITS)) for name in costs]
        forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=-1)
        results.append(try_out(f"random forest ({N_TREES} trees)", None, forest))
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
    for sentence in verdict(results):
        console.print(sentence)


def verdict(results: Sequence[Result]) -> list[str]:
    """Say of each model whether it comes first by the cost it was made for."""
    sentences = []
    for result in results:
        if result.made_for is not None:
            own = result.scores[result.made_for]
            other = _best(result.made_for, [one for one in results if one is not result])
            score = other.scores[result.made_for]
            outcome = f"comes first: {own:.3f}, then {other.name} with {score:.3f}"
            if own == score or BEST[result.made_for](own, score) == score:
                outcome = f"does not come first: {own:.3f}, and {other.name} has {score:.3f}"
            sentences.append(f"By {result.made_for}, {result.name} {outcome}.")
    return sentences


def _best(cost: str, results: Sequence[Result]) -> Result:
    return BEST[cost](results, key=lambda result: result.scores[cost])


def datasets() -> None:
    """List the data sets that can be used by name."""
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
