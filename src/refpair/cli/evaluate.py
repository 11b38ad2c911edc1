"""``refpair evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape

from refpair.cli.options import Data, Encoding, Model, Sep
from refpair.cli.printing import Output, new_table


def evaluate(
    model: Model,
    data: Data,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="A cost to report, besides the model's own. Can be repeated.",
            metavar="NAME",
            show_default="all that have names",
        ),
    ] = None,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Precision and recall of each label, too.")
    ] = False,
    sep: Sep = None,
    encoding: Encoding = None,
) -> None:
    """Tell what a model's predictions cost, on a table with labels.

    For example:

    refpair evaluate songs.refpair test.csv --per-label

    refpair evaluate songs.refpair test.csv --cost f1 --cost f2
    """
    from refpair import get_cost, load
    from refpair.cli.data import TableModel, table_options
    from refpair.costs import Cost, PerLabelCost, cost_names

    asked_for = [get_cost(name) for name in cost or cost_names()]
    fitted = TableModel(str(model), load(model))
    table = fitted.read_with_labels(data, table_options(sep=sep, encoding=encoding))
    names, truth, predicted = fitted.compare(table)
    console = Output()
    # Names may mean the same cost, and the model's own need not be among them. Some are made for none.
    own: Cost | None = fitted.classifier.cost_ if hasattr(fitted.classifier, "cost") else None
    new = names[len(fitted.labels) :]
    if new:
        told = ", ".join(new)
        console.print(
            f"The model does not know the labels {told}: where they apply, they are missed.", markup=False
        )
        if isinstance(own, PerLabelCost):
            own = None  # which has no price for them
    console.print(f"{model.name} on {table.name}, {len(truth):,} rows", markup=False)
    costs = new_table("cost", "value", "better", numbers=("value",))
    for one in dict.fromkeys(asked_for if own is None else [own, *asked_for]):
        costs.add_row(
            escape(f"{one.name} *" if one is own else one.name),
            f"{one.mean(truth, predicted):.4f}",
            "higher" if one.greater_is_better else "lower",
            style="bold" if one is own else None,
        )
    console.print(costs)
    if own is not None:
        console.print("* the cost that the model was made for")
    if per_label:
        columns = ("precision", "recall", "F1", "rows with it", "predicted")
        labels = new_table("label", *columns, numbers=columns)
        right = (truth & predicted).sum(axis=0, dtype=int)
        there, said = truth.sum(axis=0, dtype=int), predicted.sum(axis=0, dtype=int)
        for name, n_right, n_there, n_said in zip(names, right, there, said, strict=True):
            shares = ((n_right, n_said), (n_right, n_there), (2 * n_right, n_there + n_said))
            cells = [f"{part / whole:.3f}" if whole else "–" for part, whole in shares]
            labels.add_row(escape(name), *cells, f"{n_there:,}", f"{n_said:,}")
        console.print(labels)
