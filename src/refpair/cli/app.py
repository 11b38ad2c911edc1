"""The subcommands and their options; what they do is in the modules beside this one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import refpair
from refpair.cli import experiment_commands
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
    Model,
    Sep,
)
from refpair.cli.running import run_command

__all__ = ["app", "main"]

app = typer.Typer(
    name="refpair",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"refpair {refpair.__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Multi-label classification that is best for your own cost.

    Try: refpair demo
    """


@app.command()
def demo() -> None:
    """Show in half a minute what it is to be made for a cost."""
    run_command("demo")


@app.command()
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
            help="The share of rows not to learn from, but to measure the model on, as in 0.2.",
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
    run_command(
        "fit",
        data=data,
        output=output,
        labels=labels,
        label_sep=label_sep,
        drop=drop,
        kinds=kind,
        sep=sep,
        encoding=encoding,
        cost=cost,
        false_positive=false_positive or [],
        false_negative=false_negative or [],
        text_model=text_model,
        test=test,
        holdout=holdout,
        n_bits=n_bits,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        max_features=max_features,
        max_samples=max_samples,
        jobs=jobs,
        seed=seed,
    )


@app.command()
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
    run_command(
        "predict",
        model=model,
        data=data,
        output=output,
        sep=sep,
        encoding=encoding,
        id_column=id_column,
        proba=proba,
        expected_cost=expected_cost,
        sets=sets,
        join=join,
    )


@app.command()
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
    run_command(
        "evaluate",
        model=model,
        data=data,
        sep=sep,
        encoding=encoding,
        costs=cost or [],
        per_label=per_label,
    )


@app.command()
def label(
    data: Data,
    labels: Annotated[
        str | None,
        typer.Option(
            help="The labels, as in joy,anger,calm; or a column of joined names, as in joy|calm. More can be "
            "added later.",
            show_default="those of before",
        ),
    ] = None,
    label_sep: LabelSep = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="What a wrong prediction costs: f1, f2, f0.5, ..., accuracy, hamming, rank or zero_one.",
            show_default="f1, or that of before",
        ),
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", help="The column with the names of rows.", metavar="COLUMN", show_default="id, if there"
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A column that is shown, but not learnt from. Can be repeated.", metavar="COLUMN"),
    ] = None,
    kinds: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    features: Annotated[
        Path | None,
        typer.Option(help="An .npy or .npz file with features of your own, such as embeddings."),
    ] = None,
    session: Annotated[
        Path | None, typer.Option(help="Where answers are kept.", show_default="DATA.labels.sqlite")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="How many rows to label before the page says stop.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port.", show_default="8732 or a free one")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="The secret of the page.", show_default="made at random and kept")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Whether to open the page.")] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Instead of the page: write the answered rows with their labels to a table."),
    ] = None,
    save_model: Annotated[
        Path | None,
        typer.Option(help="Instead of the page: write the model, for refpair predict.", metavar="FILE"),
    ] = None,
    to_label_studio: Annotated[
        Path | None, typer.Option(help="Instead of the page: write tasks for Label Studio, in JSON.")
    ] = None,
    from_label_studio: Annotated[
        Path | None, typer.Option(help="Instead of the page: read Label Studio's JSON export.")
    ] = None,
) -> None:
    """Label a table in the browser, the rows first that teach most.

    For example:

    refpair label mails.csv --labels spam,fraud,urgent --cost f1

    refpair label mails.csv --export labels.csv

    refpair label mails.csv --save-model mails.refpair

    refpair label digits
    """
    run_command(
        "label",
        data=data,
        labels=labels,
        label_sep=label_sep,
        cost=cost,
        false_positive=false_positive or [],
        false_negative=false_negative or [],
        id_column=id_column,
        drop=drop,
        kinds=kinds,
        sep=sep,
        encoding=encoding,
        features=features,
        session=session,
        budget=budget,
        host=host,
        port=port,
        token=token,
        browser=browser,
        export=export,
        save_model=save_model,
        to_label_studio=to_label_studio,
        from_label_studio=from_label_studio,
    )


@app.command()
def datasets() -> None:
    """List the data sets that can be used by name."""
    run_command("datasets")


for command in (
    experiment_commands.compare,
    experiment_commands.code_length,
    experiment_commands.relevant_set,
    experiment_commands.simulate,
    experiment_commands.paper,
):
    app.command()(command)
