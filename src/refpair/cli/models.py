"""``refpair fit``, ``predict`` and ``evaluate``: models in files."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from refpair.cli.options import (
    Ask,
    Confidence,
    Data,
    Drop,
    Encoding,
    FalseNegative,
    FalsePositive,
    ForSpreadsheets,
    Kinds,
    Known,
    Labels,
    LabelSep,
    Promise,
    Questions,
    RuleTexts,
    Sep,
)
from refpair.cli.printing import Output, new_table, per_label_table, tell_columns

Model = Annotated[
    Path, typer.Argument(help="A file written by refpair fit.", metavar="MODEL", show_default=False)
]


def fit(
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write the model to.", show_default=False)
    ],
    labels: Labels = None,
    label_sep: LabelSep = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="What you are judged by. Of a row: f1, f2, f0.5, ..., jaccard, hamming, rank or zero_one; "
            "of the table: macro_f1, micro_f1, macro_jaccard, micro_jaccard or balanced_accuracy; of lists "
            "of labels: precision@3, recall@5, ndcg@10, ...",
            show_default="f1",
        ),
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    rule: RuleTexts = None,
    test: Annotated[
        str | None, typer.Option(help="Another table with labels, to score the model on.", metavar="DATA")
    ] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="The share of rows, stratified by label, to keep out of the fit and to score the "
            "model on, as in 0.2.",
        ),
    ] = None,
    promise: Promise = None,
    confidence: Confidence = None,
    drop: Drop = None,
    kind: Kinds = None,
    text_model: Annotated[
        str | None, typer.Option(help="The folder of a sentence-transformers model, for embeddings of texts.")
    ] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    n_bits: Annotated[
        int | None, typer.Option(help="The length of the code.", show_default="chosen out of bag")
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option(help="The depth of the trees.", show_default="auto")
    ] = None,
    min_samples_leaf: Annotated[int, typer.Option(help="The minimum number of rows in a leaf.")] = 1,
    max_features: Annotated[
        str, typer.Option(help="Features that a split considers: number, share, sqrt, log2 or auto.")
    ] = "auto",
    max_samples: Annotated[
        str, typer.Option(help="Rows that a bit is learned from: number, share or auto.")
    ] = "auto",
    jobs: Annotated[int, typer.Option(help="Threads; -1 is one for each processor.")] = -1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
) -> None:
    """Fit a model to a table and save it. The first fit takes longer: it compiles kernels.

    --promise keeps a quarter of the rows from the model, to say what can be promised of new ones.

    For example:

    refpair fit tickets.csv --labels tags -o tickets.refpair

    refpair fit songs.csv --labels joy,anger --drop title --holdout 0.2 -o songs.refpair

    refpair fit mail.csv --labels spam,fraud --false-negative fraud=50 -o m

    refpair fit payments.csv --labels fraud,refund --false-negative fraud=amount -o m

    refpair fit songs.csv --labels joy,anger --rule "at most 1" -o songs.refpair

    refpair fit songs.csv --labels joy,anger --cost macro_f1 -o songs.refpair

    refpair fit tickets.csv --labels tags --promise 0.1 -o tickets.refpair

    refpair fit emotions --cost rank -o emotions.refpair
    """
    from sklearn.pipeline import make_pipeline

    from refpair import CSRPEClassifier, TableVectorizer, save
    from refpair._files import check_output
    from refpair.cli.data import TableModel, amount, built_in_cost, cost_of, read_labeled, table_options
    from refpair.cli.held_out import split_holdout, split_promise
    from refpair.cli.prices import options_again
    from refpair.cli.promises import promising, tell_promise
    from refpair.cli.rules import parse_rule
    from refpair.costs import PerLabelCost
    from refpair.tables.labels import read_labels

    options = table_options(labels, label_sep, drop, kind, sep, encoding)
    check_output(output)  # now, not when the work is done
    if cost is not None:
        built_in_cost(cost)  # find mistyped names before a large table is read
    if test is not None and holdout is not None:
        raise ValueError("--test and --holdout are two ways to score the model; choose one")
    if promise is not None and holdout is not None:
        raise ValueError("--promise keeps rows from the model and scores it on them; leave --holdout out")
    table = read_labeled(data, options)
    held_out = None if test is None else read_labeled(test, options)
    if holdout is not None:
        table, held_out = split_holdout(table, holdout, seed)
    if promise is not None:
        table, kept = split_promise(table, seed)
        held_out = kept if held_out is None else held_out
    Y, form = read_labels(table.Y, f"{table.name}: the labels", may_miss=True)
    names = [str(name) for name in form.classes]
    rules = [parse_rule(text, names) for text in rule or ()]
    verbose = int(sys.stderr.isatty())
    vectorizer = TableVectorizer(
        dict(options.kinds), text_model=text_model, folder=table.folder, verbose=verbose
    )
    priced = (cost, false_positive, false_negative, [str(name) for name in form.classes])
    chosen = cost_of(*priced, table)
    classifier = CSRPEClassifier(
        chosen,
        rules=rules or None,
        n_bits="auto" if n_bits is None else n_bits,
        max_depth="auto" if max_depth is None else max_depth,
        min_samples_leaf=min_samples_leaf,
        max_features=amount(max_features),
        max_samples=amount(max_samples),
        n_jobs=jobs,
        random_state=seed,
        verbose=verbose,
    )
    guarantee = promising(classifier, promise, confidence, chosen, seed)
    model = make_pipeline(vectorizer, classifier)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", message=".* break a rule", category=UserWarning)
        try:
            model.fit(table.X, table.Y)
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None
    for warning in told:
        typer.echo(f"{table.name}: {warning.message}", err=True)
    seconds = time.perf_counter() - started
    tell_columns(Output(), vectorizer.columns_)
    own = classifier.cost_
    better = "higher is better" if own.greater_is_better else "lower is better"
    if hasattr(classifier, "oob_cost_"):
        found = 1 - classifier.oob_cost_ if own.greater_is_better else classifier.oob_cost_
        typer.echo(f"out of bag, on the {len(table.X):,} training rows: {own.name} {found:.4f} ({better})")
    if held_out is not None:
        if chosen.n_rows is not None:
            own = cost_of(*priced, held_out)
        asked = None if chosen.n_rows is None else own
        fitted = TableModel(str(output), model)
        _, truth, predicted = fitted.compare(held_out, asked)
        # There are no prices for labels that the model does not know.
        compared = slice(form.n_labels if isinstance(own, PerLabelCost) else None)
        found = fitted.score(held_out, truth[:, compared], predicted[:, compared], own)
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
    if chosen.n_rows is not None:
        again = options_again(false_positive, false_negative)
        typer.echo(f"the file has mean prices; with those of each row: refpair predict {output} DATA {again}")
    if guarantee is not None:
        typer.echo(tell_promise(guarantee, TableModel(str(output), model), kept))


def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .tsv, .jsonl or .parquet file.", show_default="the terminal"
        ),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each label.")] = False,
    expected_cost: Annotated[
        bool, typer.Option("--expected-cost", help="Add the expected cost of each answer.")
    ] = False,
    rule: RuleTexts = None,
    sets: Annotated[int, typer.Option(min=0, help="How many of the most probable label sets to add.")] = 0,
    top: Annotated[
        int, typer.Option(min=0, help="How many labels to list, the best ones first, with probabilities.")
    ] = 0,
    join: Annotated[
        bool, typer.Option("--join", help="Write all columns of DATA before the answers.")
    ] = False,
    id_column: Annotated[
        str | None, typer.Option("--id", help="A column of DATA to copy.", metavar="COLUMN")
    ] = None,
    cost: Annotated[
        str | None, typer.Option(help="Another cost to answer for, as in refpair fit.", metavar="NAME")
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    ask: Ask = None,
    questions: Questions = None,
    known: Known = False,
    for_spreadsheets: ForSpreadsheets = False,
    sep: Sep = None,
    encoding: Encoding = None,
) -> None:
    """Predict the labels of a table, in the form that the training table had.

    With --ask, the answers of all rows have a column ask: whether a person should be asked, or about which
    labels. These rows go to a file of their own.

    For example:

    refpair predict songs.refpair new.csv

    refpair predict songs.refpair new.csv --join --proba --expected-cost -o labels.csv

    refpair predict songs.refpair new.csv --top 3

    refpair predict songs.refpair new.csv --rule "at least 1"

    refpair predict payments.refpair new.csv --false-negative fraud=amount

    refpair predict songs.refpair new.csv --ask 0.2 --questions ask.csv -o answers.csv

    refpair predict mail.refpair new.csv --ask fraud=1,spam=0.1 --questions ask.csv -o answers.csv
    """
    from refpair import load
    from refpair.cli.asking import Asking, check_asking
    from refpair.cli.data import TableModel, beside, cost_of
    from refpair.datasets.load import read_data
    from refpair.tables import write_table
    from refpair.tables._names import check_known
    from refpair.tables.write import check_table_path, csv_text

    if output is not None:
        check_table_path(output, for_spreadsheets=for_spreadsheets)
    check_asking(ask, questions, output, known=known, for_spreadsheets=for_spreadsheets)
    if known and (proba or expected_cost or sets or top):
        raise ValueError("--proba, --expected-cost, --sets and --top tell nothing of --known labels")
    fitted = TableModel(str(model), load(model))
    fitted.add_rules(rule or ())
    table = read_data(data, sep=sep, encoding=encoding)
    if id_column is not None:
        check_known([id_column], list(table.X.columns), table.name)
    is_own = cost is None and not false_positive and not false_negative
    asked = None if is_own else cost_of(cost, false_positive, false_negative, fitted.labels, table)
    asking = Asking.of(fitted, table, ask, asked, known=known) if ask else None
    labels = None if asking is None else asking.labels
    answers = fitted.predict(
        table, proba=proba, expected_cost=expected_cost, sets=sets, top=top, cost=asked, labels=labels
    )
    if asking is not None:
        answers = beside(answers, asking.asks.to_frame("ask"))
    if join or id_column is not None:
        answers = beside(table.X if join else table.X[[id_column]], answers)
    if asking is not None and questions is not None:
        to_ask = asking.questions(known=known)
        write_table(to_ask, questions, for_spreadsheets=for_spreadsheets)
        typer.echo(asking.told(questions, to_ask, id_column), err=True)
    if output is None:
        sys.stdout.write(csv_text(answers, for_spreadsheets=for_spreadsheets))
    else:
        write_table(answers, output, for_spreadsheets=for_spreadsheets)
        typer.echo(f"{len(answers):,} rows, {len(fitted.labels)} labels; {output}", err=True)


def evaluate(
    model: Model,
    data: Data,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            help="A cost to report besides that of the model. Can be repeated.",
            metavar="NAME",
            show_default="all built-in ones",
        ),
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Add precision and recall of each label.")
    ] = False,
    promise: Promise = None,
    confidence: Confidence = None,
    sep: Sep = None,
    encoding: Encoding = None,
) -> None:
    """Score a model on a table with labels: by costs of rows and of lists first, then of the whole table.

    --promise takes the table for rows that the model has not seen, with all labels known; if nothing of the
    kind can be promised, it says what can be, and the exit code is 2.

    For example:

    refpair evaluate songs.refpair test.csv --per-label

    refpair evaluate songs.refpair test.csv --cost f1 --cost f2

    refpair evaluate payments.refpair test.csv --false-negative fraud=amount

    refpair evaluate songs.refpair test.csv --promise 0.1
    """
    from refpair import load
    from refpair.cli.data import TableModel, built_in_cost, cost_of, table_options
    from refpair.cli.prices import options_again, tell_paid
    from refpair.cli.promises import promising, tell_promise
    from refpair.costs import Cost, Measure, PerLabelCost, cost_names
    from refpair.tables.labels import with_gaps

    asked_for = [built_in_cost(name) for name in cost or cost_names()]
    fitted = TableModel(str(model), load(model))
    table = fitted.read_with_labels(data, table_options(sep=sep, encoding=encoding))
    priced: Cost | None = None
    if false_positive or false_negative:
        priced = cost_of(None, false_positive, false_negative, fitted.labels, table)
    guarantee = promising(fitted.classifier, promise, confidence, priced or fitted.classifier.cost_)
    names, truth, predicted = fitted.compare(table, priced)
    console = Output()
    # Names may mean the same cost, and the model's own need not be among them. Some are made for none.
    own: Cost | None = priced or (fitted.classifier.cost_ if hasattr(fitted.classifier, "cost") else None)
    new = names[len(fitted.labels) :]
    if new:
        told = f"The model does not know the labels {', '.join(new)}: where they apply, they are missed."
        console.print(told, markup=False)
        if isinstance(own, PerLabelCost):
            own = None  # which has no price for them
    console.print(f"{model.name} on {table.name}, {len(truth):,} rows", markup=False)
    costs = new_table("cost", "value", "better", numbers=("value",))
    found = dict.fromkeys(asked_for if own is None else [own, *asked_for])
    of_table = [one for one in found if isinstance(one, Measure)]
    for group in ([one for one in found if one not in of_table], of_table):
        for one in group:
            costs.add_row(
                escape(f"{one.name} *" if one is own else one.name),
                f"{fitted.score(table, truth, predicted, one):.4f}",
                "higher" if one.greater_is_better else "lower",
                style="bold" if one is own else None,
            )
        costs.add_section()
    console.print(costs)
    if own is not None:
        console.print(
            f"* the cost of the {'model' if priced is None else 'options, which the answers are for'}"
        )
    if priced is not None:
        n = len(fitted.labels)
        expected = fitted.expected_cost(table, priced)
        told = tell_paid(priced, with_gaps(truth[:, :n]), predicted[:, :n], expected)
        console.print(told, markup=False)
    if per_label:
        console.print(per_label_table(names, truth, predicted))
    if guarantee is not None:
        typer.echo(tell_promise(guarantee, fitted, table, options_again(false_positive, false_negative)))
