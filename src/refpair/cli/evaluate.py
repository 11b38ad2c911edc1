"""``refpair evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from refpair.cli.data import Model, table_options
from refpair.costs import Cost, PerLabelCost, cost_names, get_cost
from refpair.datasets import read_data
from refpair.tables import Table
from refpair.tables.labels import labelled_rows, read_labels

__all__ = ["run"]


def run(*, model: Path, data: str, costs: list[str], per_label: bool, **reading: Any) -> None:
    """Show a table of costs, and one of labels if wanted."""
    asked_for = [get_cost(name) for name in costs or cost_names()]
    fitted = Model(model)
    table = read_data(data, **table_options(**reading).reading)
    given = fitted.truth(table)
    if given is None:
        wanted = fitted.form.name if fitted.form and fitted.form.kind == "names" else ", ".join(fitted.labels)
        raise ValueError(
            f"{table.name}: it has not all labels of the model to compare with, which are in {wanted}"
        )
    kept, sentence = labelled_rows(given)
    console = Console(highlight=False)
    if sentence:
        console.print(f"{table.name}: {sentence}", markup=False)
    table = Table(table.name, table.X[kept].reset_index(drop=True), None, table.folder)
    names, truth = _truth(fitted, given[kept].reset_index(drop=True), table.name)
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


def _truth(model: Model, given: pd.DataFrame, name: str) -> tuple[list[str], npt.NDArray[np.uint8]]:
    """Return the true labels: those of the model first, then others that the table has."""
    assert model.form is not None
    if model.form.kind != "names" or given.shape[1] > 1:
        return model.labels, np.asarray(model.form.read_more(given, f"{name}: the label columns"))
    matrix, form = read_labels(given, name, separator=model.form.separator)
    if form.kind != "names":  # a single label, of yes and no
        raise ValueError(f"{name}: the column {model.form.name!r} holds no names of labels")
    found = form.classes.tolist()
    names = [*model.labels, *(one for one in found if one not in model.labels)]
    truth = np.zeros((len(given), len(names)), np.uint8)
    truth[:, [names.index(one) for one in found]] = matrix
    return names, truth


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
            f"{cost.score(truth, predicted):.4f}",
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
