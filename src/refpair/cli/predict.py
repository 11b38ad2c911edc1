"""``refpair predict``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from refpair.cli.data import Model, table_options
from refpair.datasets import read_data
from refpair.tables import Table, write_table
from refpair.tables._names import check_known
from refpair.tables.write import check_table_path, csv_text

__all__ = ["run"]


def run(
    *,
    model: Path,
    data: str,
    output: Path | None,
    id_column: str | None,
    proba: bool,
    expected_cost: bool,
    sets: int,
    join: bool,
    **reading: Any,
) -> None:
    """Write the predicted labels as a table."""
    if output is not None:
        check_table_path(output)
    fitted = Model(model)
    table = read_data(data, **table_options(**reading).reading)
    if id_column is not None:
        check_known([id_column], list(table.X.columns), table.name)
    try:
        answers = _answers(fitted, table, proba=proba, expected_cost=expected_cost, sets=sets)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    cells = table.X if join else table.X[[id_column]] if id_column is not None else None
    if cells is not None:
        taken = set(cells.columns)
        renamed = {name: f"{name}_predicted" for name in answers.columns if name in taken}
        answers = pd.concat([cells, answers.rename(columns=renamed)], axis=1)
    if output is None:
        sys.stdout.write(csv_text(answers))
        return
    write_table(answers, output)
    typer.echo(f"{len(answers):,} rows, {len(fitted.labels)} labels; {output}", err=True)


def _answers(model: Model, table: Table, *, proba: bool, expected_cost: bool, sets: int) -> pd.DataFrame:
    """Return the predictions in the form that the labels had, and what else is asked for."""
    assert model.form is not None
    form = replace(model.form, within="list")
    predicted = form.write(model.predict(table), None)
    if form.kind == "names":
        answers = pd.DataFrame({form.name or "labels": predicted})
    else:
        dense = np.asarray(predicted.toarray() if hasattr(predicted, "toarray") else predicted)
        dense = dense.astype(int) if dense.dtype.kind == "f" else dense  # ARFF files have no whole numbers
        answers = pd.DataFrame(dense, columns=model.labels).infer_objects()
    if proba:
        found = np.concatenate(model.ask("predict_proba", table)).round(6)
        names = [f"{name}_probability" for name in model.labels]
        answers = pd.concat([answers, pd.DataFrame(found, columns=names)], axis=1)
    if expected_cost:
        answers["expected_cost"] = np.concatenate(model.ask("expected_cost", table)).round(6)
    if sets:
        parts = model.ask("predict_set_proba", table, sets)
        vectors = np.concatenate([labels for labels, _ in parts])
        chances = np.concatenate([own for _, own in parts]).round(6)
        labels = np.array(model.labels, object)
        for k in range(sets):
            answers[f"set_{k + 1}"] = [
                "|".join(labels[np.flatnonzero(row)]) if chance > 0 else None
                for row, chance in zip(vectors[:, k], chances[:, k], strict=True)
            ]
            answers[f"set_{k + 1}_probability"] = chances[:, k]
    return answers
