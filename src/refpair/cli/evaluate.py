"""``refpair evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from refpair.cli.data import Model, table_options, true_labels
from refpair.costs import Cost, PerLabelCost, cost_names, get_cost

__all__ = ["run"]


def run(*, model: Path, data: str, costs: list[str], per_label: bool, **reading: Any) -> None:
    """Show a table of costs, and one of labels if wanted."""
    asked_for = [get_cost(name) for name in costs or cost_names()]
    fitted = Model(model)
    table = fitted.read_with_labels(data, table_options(**reading))
    console = Console(highlight=False)
    assert fitted.form is not None
    names, truth = true_labels(fitted.form, table)
    predicted = np.zeros_like(truth)
    try:
        predicted[:, : len(fitted.labels)] = fitted.predict(table)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    # Names may mean the same cost, and the model's own need not be among them. Some models know no cost.
    own = getattr(fitted.classifier, "cost_", None)
    if len(names) > len(fitted.labels):
        new = ", ".join(names[len(fitted.labels) :])
        console.print(f"The model does not know the labels {new}: where they apply, they are missed.")
        if isinstance(own, PerLabelCost):
            own = None  # which has no price for them
    shown = list(dict.fromkeys(asked_for if own is None else [own, *asked_for]))
    console.print(f"{model.name} on {table.name}, {len(truth):,} rows", markup=False)
    console.print(_costs(shown, own, truth, predicted))
    if own is not None:
        console.print("* the cost that the model was made for")
    if per_label:
        console.print(_labels(names, truth, predicted))


def _costs(
    costs: list[Cost], own: Cost | None, truth: npt.NDArray[np.uint8], predicted: npt.NDArray[np.uint8]
) -> RichTable:
    table = RichTable()
    table.add_column("cost")
    table.add_column("value", justify="right")
    table.add_column("better")
    for cost in costs:
        table.add_row(
            escape(f"{cost.name} *" if cost is own else cost.name),
            f"{cost.mean(truth, predicted):.4f}",
            "higher" if cost.greater_is_better else "lower",
            style="bold" if cost is own else None,
        )
    return table


def _labels(names: list[str], truth: npt.NDArray[np.uint8], predicted: npt.NDArray[np.uint8]) -> RichTable:
    table = RichTable()
    table.add_column("label")
    for column in ("precision", "recall", "F1", "rows with it", "predicted"):
        table.add_column(column, justify="right")
    right = (truth & predicted).sum(axis=0, dtype=int)
    there, said = truth.sum(axis=0, dtype=int), predicted.sum(axis=0, dtype=int)
    for name, n_right, n_there, n_said in zip(names, right, there, said, strict=True):
        table.add_row(
            escape(name),
            _share(n_right, n_said),
            _share(n_right, n_there),
            _share(2 * n_right, n_there + n_said),
            f"{n_there:,}",
            f"{n_said:,}",
        )
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "–"
