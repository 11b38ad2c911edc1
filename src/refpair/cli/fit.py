"""``refpair fit``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from refpair.cli.options import (
    Cost,
    Data,
    Drop,
    Encoding,
    FalseNegative,
    FalsePositive,
    Kinds,
    Labels,
    LabelSep,
    Sep,
)
from refpair.cli.printing import Output, tell_columns


def fit(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.", show_default=False)],
    labels: Labels = None,
    label_sep: LabelSep = None,
    cost: Cost = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    test: Annotated[
        str | None, typer.Option(help="Another table with labels, to measure the model on.", metavar="DATA")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="The share of rows not to learn from, but to measure the model on, as in 0.2; each label "
            "has its share of them.",
        ),
    ] = None,
    drop: Drop = None,
    kind: Kinds = None,
    text_model: Annotated[
        str | None,
        typer.Option(help="The folder of a sentence-transformers model, for embeddings of texts."),
    ] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    n_bits: Annotated[int, typer.Option(help="The length of the code.")] = 3000,
    max_depth: Annotated[
        int | None, typer.Option(help="The depth of the trees.", show_default="auto")
    ] = None,
    min_samples_leaf: Annotated[int, typer.Option(help="How many rows a leaf has at least.")] = 1,
    max_features: Annotated[
        str, typer.Option(help="Features a split looks at: number, share, sqrt, log2 or auto.")
    ] = "auto",
    max_samples: Annotated[
        str, typer.Option(help="Rows a bit is learnt from: number, share or auto.")
    ] = "auto",
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
) -> None:
    """Fit a model to a table and save it. The very first time takes longer: kernels are compiled.

    For example:

    refpair fit tickets.csv --labels tags -o tickets.refpair

    refpair fit songs.csv --labels joy,anger --drop title --holdout 0.2 -o songs.refpair

    refpair fit mail.csv --labels spam,fraud --false-negative fraud=50 -o m

    refpair fit emotions --cost rank -o emotions.refpair
    """
    import numpy as np
    from sklearn.pipeline import make_pipeline

    from refpair import CSRPEClassifier, TableVectorizer, get_cost, save
    from refpair._files import check_output
    from refpair.cli.data import TableModel, amount, cost_of, read_labelled, table_options
    from refpair.costs import PerLabelCost
    from refpair.model_selection import MultilabelStratifiedShuffleSplit
    from refpair.tables import Table
    from refpair.tables.labels import read_labels

    options = table_options(labels, label_sep, drop, kind, sep, encoding)
    check_output(output)  # now, not when the work is done
    if cost is not None:
        get_cost(cost)  # a mistyped name is told before a large table is read
    if test is not None and holdout is not None:
        raise ValueError("--test and --holdout are two ways to measure the model; choose one")
    table = read_labelled(data, options)
    held_out = None if test is None else read_labelled(test, options)
    if holdout is not None:
        assert table.Y is not None
        n, n_out = len(table.X), round(holdout * len(table.X))
        if not 0 < n_out < n - 1:
            raise ValueError(
                f"{table.name}: --holdout {holdout:g} of {n:,} rows leaves nothing to learn or to measure"
            )
        Y, _ = read_labels(table.Y, f"{table.name}: the labels")
        splits = MultilabelStratifiedShuffleSplit(1, test_size=n_out, random_state=seed)
        table, held_out = (
            Table(table.name, table.X.iloc[rows], table.Y.iloc[rows], table.folder)
            for rows in map(np.sort, next(splits.split(None, Y)))
        )
    Y, form = read_labels(table.Y, f"{table.name}: the labels")
    verbose = int(sys.stderr.isatty())
    vectorizer = TableVectorizer(
        dict(options.kinds), text_model=text_model, folder=table.folder, verbose=verbose
    )
    classifier = CSRPEClassifier(
        cost_of(cost, false_positive, false_negative, [str(name) for name in form.classes]),
        n_bits=n_bits,
        max_depth="auto" if max_depth is None else max_depth,
        min_samples_leaf=min_samples_leaf,
        max_features=amount(max_features),
        max_samples=amount(max_samples),
        n_jobs=jobs,
        random_state=seed,
        verbose=verbose,
    )
    model = make_pipeline(vectorizer, classifier)
    started = time.perf_counter()
    try:
        model.fit(table.X, table.Y)
    except ValueError as error:
        raise ValueError(f"{table.name}: {error}") from None
    seconds = time.perf_counter() - started
    tell_columns(Output(), vectorizer.columns_)
    own = classifier.cost_
    better = "higher is better" if own.greater_is_better else "lower is better"
    if hasattr(classifier, "oob_cost_"):
        found = 1 - classifier.oob_cost_ if own.greater_is_better else classifier.oob_cost_
        typer.echo(f"out of bag, on the {len(table.X):,} training rows: {own.name} {found:.4f} ({better})")
    if held_out is not None:
        _, truth, predicted = TableModel(str(output), model).compare(held_out)
        # There are no prices for labels that the model does not know.
        compared = slice(form.n_labels if isinstance(own, PerLabelCost) else None)
        found = own.mean(truth[:, compared], predicted[:, compared])
        typer.echo(f"measured on {len(held_out.X):,} other rows: {own.name} {found:.4f} ({better})")
    vectorizer.set_params(folder=None, verbose=0)
    classifier.set_params(verbose=0)
    save(model, output)
    sizes = {
        "row": len(table.X),
        "feature": classifier.n_features_in_,
        "label": Y.shape[1],
        "distinct label vector": len(classifier.relevant_set_),
        "bit": len(classifier.code_),
    }
    counted = ", ".join(f"{n:,} {thing}" + "s" * (n != 1) for thing, n in sizes.items())
    size = decimal(output.stat().st_size)
    typer.echo(f"{counted} for {own.name} in {seconds:.1f} s; {output}, {size}")
