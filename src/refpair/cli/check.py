"""``refpair check``: labels of a table that are probably wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from refpair.cli.options import (
    Data,
    Drop,
    Encoding,
    FalseNegative,
    FalsePositive,
    ForSpreadsheets,
    Kinds,
    Labels,
    LabelSep,
    Sep,
)
from refpair.cli.printing import Output, new_table

_COLUMNS = ("row", "label", "given", "wrong", "cost")  # of the list that is written


def check(
    data: Data,
    labels: Labels = None,
    label_sep: LabelSep = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write all cells, too: a .csv, .tsv, .jsonl or .parquet file.",
            metavar="FILE",
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many cells to print.")] = 20,
    cost: Annotated[
        str | None,
        typer.Option(
            help="The cost of wrong labels: f1, f2, f0.5, ..., jaccard, hamming, rank or zero_one.",
            show_default="f1",
        ),
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", help="A column that names the rows, and is no feature.", metavar="COLUMN"),
    ] = None,
    drop: Drop = None,
    kind: Kinds = None,
    for_spreadsheets: ForSpreadsheets = False,
    sep: Sep = None,
    encoding: Encoding = None,
    folds: Annotated[int, typer.Option(min=2, help="How many models to fit, each without some rows.")] = 5,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 0,
) -> None:
    """List the labels of a table that are probably wrong, the most suspicious first.

    A row's number is its place in the table, from 1 on, without the header.

    For example:

    refpair check songs.csv --labels joy,anger --id title

    refpair check tickets.csv --labels tags --top 50 -o suspects.csv
    """
    from sklearn.pipeline import make_pipeline

    from refpair import CSRPEClassifier, TableVectorizer, get_cost
    from refpair.cli.data import cost_of, read_labeled, table_options
    from refpair.costs import vector_cost
    from refpair.inspection import suspicious_labels
    from refpair.tables import write_table
    from refpair.tables._names import check_known
    from refpair.tables.labels import read_labels
    from refpair.tables.write import check_table_path

    options = table_options(labels, label_sep, drop, kind, sep, encoding)
    if output is not None:
        check_table_path(output, for_spreadsheets=for_spreadsheets)
    if cost is not None:
        vector_cost(cost, "refpair check")  # find mistyped names before a large table is read
    table = read_labeled(data, options)
    X = table.X
    if id_column is not None:
        check_known([id_column], list(X.columns), table.name)
        if id_column in _COLUMNS:
            raise ValueError(f"--id {id_column}: the list has a column of this name, too; rename that column")
        X = X.drop(columns=id_column)
    _, form = read_labels(table.Y, f"{table.name}: the labels", may_miss=True)
    vectorizer = TableVectorizer(dict(options.kinds), folder=table.folder)
    names = [str(name) for name in form.classes]
    classifier = CSRPEClassifier(
        cost_of(cost, false_positive, false_negative, names), n_jobs=jobs, random_state=seed
    )
    model = make_pipeline(vectorizer, classifier)
    verbose = int(sys.stderr.isatty())
    try:
        found = suspicious_labels(model, X, table.Y, n_folds=folds, random_state=seed, verbose=verbose)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    if id_column is not None:
        found.insert(1, id_column, table.X[id_column].loc[found["row"]].to_numpy())
    console = Output()
    columns = ["row", *([] if id_column is None else [id_column])]
    shown = new_table(*columns, "label", "given", "wrong", "cost", numbers=("row", "wrong", "cost"))
    for row in found.head(top).to_dict("records"):
        told = [escape(str(row[name])) for name in (*columns, "label")]
        shown.add_row(*told, "yes" if row["given"] else "no", f"{row['wrong']:.0%}", f"{row['cost']:.3g}")
    console.print(shown)
    paid = get_cost(classifier.cost).name
    console.print(
        f"About {found['wrong'].sum():,.0f} of {len(found):,} labels may be wrong. The cost is that of the "
        f"row's labels, by {paid}, if this one is.",
        markup=False,
    )
    if output is not None:
        write_table(found.round({"wrong": 6, "cost": 6}), output, for_spreadsheets=for_spreadsheets)
        typer.echo(f"{len(found):,} labels of {len(X):,} rows; {output}", err=True)
