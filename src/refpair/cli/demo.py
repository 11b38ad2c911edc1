"""``refpair demo``: two models for two costs, and a random forest that knows of neither."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier

from refpair.classifiers import CSRPEClassifier
from refpair.costs import Cost, get_cost
from refpair.datasets import load_dataset

__all__ = ["Result", "run", "verdict"]

COSTS: dict[str, Cost] = {"F1": get_cost("f1"), "price": Cost.per_label(false_positive=3, false_negative=1)}
N_TREES = 500


@dataclass(frozen=True)
class Result:
    """What one model reached.

    Attributes
    ----------
    name : str
        What the table calls the model.
    made_for : str or None
        The name of the cost that it was fitted for; None if for no cost in particular.
    scores : dict of str to float
        What each cost says of its predictions.
    seconds : float
        How long fitting and predicting took.
    """

    name: str
    made_for: str | None
    scores: dict[str, float]
    seconds: float


def run() -> None:
    """Fit the models, show what each reached, and say what that means."""
    digits = load_dataset("digits")
    half = len(digits.Y) // 2
    train, test = slice(0, half), slice(half, None)
    console = Console(highlight=False)
    console.print(
        "Pictures of one to three handwritten digits, one over the other: which digits are there? Models "
        f"learn from {half:,} pictures and are tested on {len(digits.Y) - half:,} others, by two costs: F1, "
        "and a price of 3 for each digit that is not there and 1 for each one missed.\n"
    )
    models = {name: CSRPEClassifier(cost, random_state=0, n_jobs=-1) for name, cost in COSTS.items()}
    forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=-1)
    with Progress(
        SpinnerColumn("line", finished_text="-"),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    ) as steps:

        def try_out(name: str, made_for: str | None, model: Any) -> Result:
            task = steps.add_task(name, total=1)
            started = time.perf_counter()
            predicted = model.fit(digits.X[train], digits.Y[train]).predict(digits.X[test])
            seconds = time.perf_counter() - started
            steps.advance(task)
            scores = {key: cost.mean(digits.Y[test], predicted) for key, cost in COSTS.items()}
            return Result(name, made_for, scores, seconds)

        # Ten bits need the same kernels as thousands, so that no model's time has the compiler's in it.
        compiling = [CSRPEClassifier(cost, n_bits=10, random_state=0, n_jobs=-1) for cost in COSTS.values()]
        for number, model in enumerate(compiling, 1):
            try_out(f"compiling kernels, once ({number} of {len(compiling)})", None, model)
        results = [try_out(f"CSRPE for {name}", name, model) for name, model in models.items()]
        results.append(try_out(f"random forest ({N_TREES} trees)", None, forest))
    console.print(_table(results))
    for sentence in verdict(results):
        console.print(sentence)


def verdict(results: Sequence[Result]) -> list[str]:
    """Say of each model whether it comes first by the cost it was made for.

    Examples
    --------
    >>> forest = Result("forest", None, {"F1": 0.7, "price": 1.2}, 1.0)
    >>> by_f1 = Result("CSRPE for F1", "F1", {"F1": 0.9, "price": 2.0}, 1.0)
    >>> by_price = Result("CSRPE for price", "price", {"F1": 0.8, "price": 1.5}, 1.0)
    >>> for sentence in verdict([forest, by_f1, by_price]):
    ...     print(sentence)
    By F1, CSRPE for F1 comes first: 0.900, then CSRPE for price with 0.800.
    By price, CSRPE for price does not come first: 1.500, and forest has 1.200.
    """
    sentences = []
    for result in results:
        if result.made_for is None:
            continue
        own = result.scores[result.made_for]
        best = _best(result.made_for, [other for other in results if other is not result])
        score = best.scores[result.made_for]
        ahead = own > score if COSTS[result.made_for].greater_is_better else own < score
        outcome = f"comes first: {own:.3f}, then {best.name} with {score:.3f}"
        if not ahead:
            outcome = f"does not come first: {own:.3f}, and {best.name} has {score:.3f}"
        sentences.append(f"By {result.made_for}, {result.name} {outcome}.")
    return sentences


def _best(cost: str, results: Sequence[Result]) -> Result:
    choose = max if COSTS[cost].greater_is_better else min
    return choose(results, key=lambda result: result.scores[cost])


def _table(results: Sequence[Result]) -> Table:
    table = Table(caption="* best in its column")
    table.add_column("model", vertical="bottom")
    for name, cost in COSTS.items():
        better = "higher" if cost.greater_is_better else "lower"
        table.add_column(f"{name}\n{better} is better", justify="right")
    table.add_column("seconds", justify="right")
    best = {cost: _best(cost, results).scores[cost] for cost in COSTS}
    for result in results:
        cells = [
            f"[bold green]{score:.3f} *[/]" if score == best[cost] else f"{score:.3f}  "
            for cost, score in result.scores.items()
        ]
        table.add_row(result.name, *cells, f"{result.seconds:.1f}")
    return table
