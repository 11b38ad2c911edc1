"""``refpair predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from refpair.cli.options import Data, Encoding, Model, Sep


def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .tsv, .jsonl or .parquet file.", show_default="the terminal"
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="The probability of each label, too.")] = False,
    expected_cost: Annotated[
        bool, typer.Option("--expected-cost", help="What each answer is expected to cost, too.")
    ] = False,
    sets: Annotated[
        int, typer.Option(min=0, help="How many of the most probable label sets to tell, too.")
    ] = 0,
    join: Annotated[bool, typer.Option("--join", help="All columns of DATA before the answers.")] = False,
    id_column: Annotated[
        str | None, typer.Option("--id", help="A column of DATA to copy.", metavar="COLUMN")
    ] = None,
    sep: Sep = None,
    encoding: Encoding = None,
) -> None:
    """Predict the labels of a table, in the form that the training table had.

    For example:

    refpair predict songs.refpair new.csv

    refpair predict songs.refpair new.csv --join --proba --expected-cost -o labels.csv
    """
    import pandas as pd

    from refpair import load
    from refpair.cli.data import TableModel
    from refpair.datasets import read_data
    from refpair.tables import write_table
    from refpair.tables._names import check_known
    from refpair.tables.write import check_table_path, csv_text

    if output is not None:
        check_table_path(output)
    fitted = TableModel(str(model), load(model))
    table = read_data(data, sep=sep, encoding=encoding)
    if id_column is not None:
        check_known([id_column], list(table.X.columns), table.name)
    answers = fitted.predict(table, proba=proba, expected_cost=expected_cost, sets=sets)
    if join or id_column is not None:
        cells = table.X if join else table.X[[id_column]]
        renamed = {name: f"{name}_predicted" for name in answers.columns if name in set(cells.columns)}
        answers = pd.concat([cells, answers.rename(columns=renamed)], axis=1)
    if output is None:
        sys.stdout.write(csv_text(answers))
    else:
        write_table(answers, output)
        typer.echo(f"{len(answers):,} rows, {len(fitted.labels)} labels; {output}", err=True)
