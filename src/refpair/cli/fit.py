"""``refpair fit``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd
import typer
from rich.filesize import decimal

from refpair._files import check_output
from refpair.classifiers import CSRPEClassifier
from refpair.cli.data import named_columns, split_names
from refpair.costs import Cost, get_cost
from refpair.datasets import read_data
from refpair.datasets._data import unknown_name
from refpair.persistence import save

__all__ = ["amount", "cost_of", "run"]


def run(
    *,
    data: str,
    output: Path,
    labels: str | None,
    cost: str | None,
    false_positive: list[str],
    false_negative: list[str],
    drop: list[str],
    n_bits: int,
    max_depth: int | None,
    min_samples_leaf: int,
    max_features: str,
    max_samples: str,
    jobs: int,
    seed: int,
) -> None:
    """Fit a model, save it, and say so in a line."""
    check_output(output)  # now, not when the work is done
    if cost is not None:
        get_cost(cost)  # a mistyped name is told before a large table is read
    table = read_data(data, split_names(labels), drop)
    model = CSRPEClassifier(
        cost=cost_of(cost, false_positive, false_negative, table.label_names),
        n_bits=n_bits,
        max_depth="auto" if max_depth is None else max_depth,
        min_samples_leaf=min_samples_leaf,
        max_features=amount(max_features),  # type: ignore[arg-type]  # the model refuses other words
        max_samples=amount(max_samples),  # type: ignore[arg-type]  # likewise
        n_jobs=jobs,
        random_state=seed,
        verbose=int(sys.stderr.isatty()),
    )
    started = time.perf_counter()
    model.fit(named_columns(table.X, table.feature_names), pd.DataFrame(table.Y, columns=table.label_names))
    seconds = time.perf_counter() - started
    save(model.set_params(verbose=0), output)
    sizes = {
        "row": table.X.shape[0],
        "feature": table.X.shape[1],
        "label": len(table.label_names),
        "distinct label vector": len(model.relevant_set_),
        "bit": len(model.code_),
    }
    counted = ", ".join(f"{n:,} {thing}" + "s" * (n != 1) for thing, n in sizes.items())
    typer.echo(
        f"{counted} for {model.cost_.name} in {seconds:.1f} s; {output}, {decimal(output.stat().st_size)}"
    )


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
