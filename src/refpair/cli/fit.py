"""``refpair fit``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table as RichTable
from sklearn.pipeline import make_pipeline

from refpair._files import check_output
from refpair.classifiers import CSRPEClassifier
from refpair.cli.data import read_labelled, table_options, true_labels
from refpair.costs import Cost, PerLabelCost, get_cost
from refpair.persistence import save
from refpair.tables import Table, TableVectorizer
from refpair.tables._names import unknown_name
from refpair.tables.labels import read_labels

__all__ = ["amount", "cost_of", "run", "tell_columns"]

_MOST_COLUMNS = 30  # that are told one by one


def run(
    *,
    data: str,
    output: Path,
    cost: str | None,
    false_positive: list[str],
    false_negative: list[str],
    text_model: str | None,
    test: str | None,
    holdout: float | None,
    n_bits: int,
    max_depth: int | None,
    min_samples_leaf: int,
    max_features: str,
    max_samples: str,
    jobs: int,
    seed: int,
    **reading: Any,
) -> None:
    """Fit a model, save it, and tell what became of the columns and how good it is."""
    options = table_options(**reading)
    check_output(output)  # now, not when the work is done
    if cost is not None:
        get_cost(cost)  # a mistyped name is told before a large table is read
    if test is not None and holdout is not None:
        raise ValueError("--test and --holdout are two ways to measure the model; choose one")
    table = read_labelled(data, options)
    held_out = None if test is None else read_labelled(test, options)
    if holdout is not None:
        table, held_out = _split(table, holdout, seed)
    labels, form = read_labels(table.Y, f"{table.name}: the labels")
    vectorizer = TableVectorizer(dict(options.kinds), text_model=text_model, folder=table.folder)
    classifier = CSRPEClassifier(
        cost=cost_of(cost, false_positive, false_negative, [str(name) for name in form.classes]),
        n_bits=n_bits,
        max_depth="auto" if max_depth is None else max_depth,
        min_samples_leaf=min_samples_leaf,
        max_features=amount(max_features),  # type: ignore[arg-type]  # the model refuses other words
        max_samples=amount(max_samples),  # type: ignore[arg-type]  # likewise
        n_jobs=jobs,
        random_state=seed,
        verbose=int(sys.stderr.isatty()),
    )
    model = make_pipeline(vectorizer.set_params(verbose=classifier.verbose), classifier)
    started = time.perf_counter()
    try:
        model.fit(table.X, table.Y)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    seconds = time.perf_counter() - started
    tell_columns(Console(highlight=False), vectorizer.columns_)
    _tell_quality(model, table, held_out)
    vectorizer.set_params(folder=None, verbose=0)
    classifier.set_params(verbose=0)
    save(model, output)
    sizes = {
        "row": len(table.X),
        "feature": classifier.n_features_in_,
        "label": labels.shape[1],
        "distinct label vector": len(classifier.relevant_set_),
        "bit": len(classifier.code_),
    }
    counted = ", ".join(f"{n:,} {thing}" + "s" * (n != 1) for thing, n in sizes.items())
    size = decimal(output.stat().st_size)
    typer.echo(f"{counted} for {classifier.cost_.name} in {seconds:.1f} s; {output}, {size}")


def _split(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Hold out a random share of the rows."""
    assert table.Y is not None
    n = len(table.X)
    n_out = round(share * n)
    if not 0 < n_out < n - 1:
        raise ValueError(
            f"{table.name}: --holdout {share:g} of {n:,} rows leaves nothing to learn or to measure"
        )
    order = np.random.default_rng(seed).permutation(n)
    return _rows(table, np.sort(order[n_out:])), _rows(table, np.sort(order[:n_out]))


def _rows(table: Table, rows: np.ndarray) -> Table:
    assert table.Y is not None
    return Table(table.name, table.X.iloc[rows], table.Y.iloc[rows], table.folder)


def _tell_quality(model: Any, table: Table, held_out: Table | None) -> None:
    """Say how good the model is by its own cost, out of bag and on rows that were held out."""
    classifier = model[-1]
    cost = classifier.cost_
    better = "higher is better" if cost.greater_is_better else "lower is better"
    if hasattr(classifier, "oob_cost_"):
        found = 1 - classifier.oob_cost_ if cost.greater_is_better else classifier.oob_cost_
        typer.echo(f"out of bag, on the {len(table.X):,} training rows: {cost.name} {found:.4f} ({better})")
    if held_out is not None:
        form = classifier._label_format
        _, truth = true_labels(form, held_out)
        if isinstance(cost, PerLabelCost):
            truth = truth[:, : form.n_labels]  # there are no prices for labels that the model does not know
        predicted = np.zeros_like(truth)
        predicted[:, : form.n_labels] = form.read_more(model.predict(held_out.X))
        found = cost.mean(truth, predicted)
        typer.echo(f"measured on {len(held_out.X):,} other rows: {cost.name} {found:.4f} ({better})")


def tell_columns(console: Console, columns: pd.DataFrame) -> None:
    """Print what became of each column; of very many, how many of each kind."""
    table = RichTable()
    for name, justify in (("column", "left"), ("kind", "left"), ("why", "left"), ("missing", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]  # one of its words
    table.add_column("features", justify="right")
    told = columns.reset_index(names="column")
    if len(told) > _MOST_COLUMNS:
        groups = [group for _, group in told.groupby(["kind", "why"], sort=False)]
        told = pd.DataFrame(
            {
                "column": [f"{own['column'].iloc[0]} and {len(own) - 1:,} more" for own in groups],
                "kind": [own["kind"].iloc[0] for own in groups],
                "why": [own["why"].iloc[0] for own in groups],
                "missing": [own["missing"].sum() for own in groups],
                "features": [own["features"].sum() for own in groups],
            }
        )
    for row in told.to_dict("records"):
        missing = f"{row['missing']:,}" if row["missing"] else ""
        table.add_row(escape(row["column"]), row["kind"], escape(row["why"]), missing, f"{row['features']:,}")
    console.print(table)


def cost_of(
    name: str | None, false_positive: list[str], false_negative: list[str], labels: list[str]
) -> Cost:
    """Return the cost of a name, or that of the prices of each label.

    Examples
    --------
    >>> cost_of(None, [], ["2", "fraud=50"], ["spam", "fraud"])
    Cost.per_label(false_positive=(1.0, 1.0), false_negative=(2.0, 50.0))
    """
    if not false_positive and not false_negative:
        return get_cost(name or "f1")
    if name is not None:
        raise ValueError(
            "--cost goes without --false-positive and --false-negative, which make a cost themselves"
        )
    return Cost.per_label(
        false_positive=_prices("--false-positive", false_positive, labels),
        false_negative=_prices("--false-negative", false_negative, labels),
    )


def _prices(option: str, given: list[str], labels: list[str]) -> list[float]:
    """Return the price of each label: its own, else the one for all, else 1."""
    for_all, own = 1.0, {}
    for part in ",".join(given).split(",") if given else []:
        label, equals, number = (piece.strip() for piece in part.rpartition("="))
        try:
            price = float(number)
        except ValueError:
            raise ValueError(f"{option}: {part!r} is neither a number nor label=number") from None
        if not 0 <= price < float("inf"):
            raise ValueError(f"{option}: a price is a number from 0 up, not {number}")
        if not equals:
            for_all = price
        elif label in labels:
            own[label] = price
        else:
            raise ValueError(f"{option}: {unknown_name('label', label, labels)}")
    return [own.get(label, for_all) for label in labels]


def amount(text: str) -> int | float | str:
    """Return a number of things, a share or a word.

    >>> amount("3"), amount("0.5"), amount("sqrt")
    (3, 0.5, 'sqrt')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
