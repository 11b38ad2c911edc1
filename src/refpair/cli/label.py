"""``refpair label``."""

from __future__ import annotations

import sys
import webbrowser
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from refpair._extras import pd
from refpair.cli.options import (
    Data,
    Encoding,
    FalseNegative,
    FalsePositive,
    ForSpreadsheets,
    Kinds,
    LabelSep,
    RuleTexts,
    Sep,
)
from refpair.cli.printing import Output, tell_columns

if TYPE_CHECKING:
    from refpair.labeling import Session

_ENDINGS = (".gz", ".csv", ".tsv", ".jsonl", ".parquet", ".pq", ".xlsx", ".arff", ".svm", ".libsvm", ".txt")
_DOUBTFUL = 0.1  # the probability to be wrong from which on a label is worth a second look


def label(
    data: Data,
    labels: Annotated[
        str | None,
        typer.Option(
            help="The labels, as in joy,anger,calm; or a column of joined names, as in joy|calm. More can be "
            "added later.",
            show_default="those of the session",
        ),
    ] = None,
    label_sep: LabelSep = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="One label to ask for: the page then shows one question for each row, yes or no.",
            show_default="all",
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="The cost of a prediction: f1, f2, f0.5, ..., jaccard, hamming, rank or zero_one.",
            show_default="f1, or that of the session",
        ),
    ] = None,
    false_positive: FalsePositive = None,
    false_negative: FalseNegative = None,
    rule: RuleTexts = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", help="The column with the ids of rows.", metavar="COLUMN", show_default="id, if it exists"
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="A column that is shown, but is no feature. Can be repeated.", metavar="COLUMN"),
    ] = None,
    kinds: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    features: Annotated[
        Path | None,
        typer.Option(help="An .npy or .npz file with features to use instead, such as embeddings."),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            help="A table that refpair check has written: rows with labels that are wrong with a probability "
            f"of {_DOUBTFUL:.0%} or more are shown first, with their labels.",
            metavar="FILE",
        ),
    ] = None,
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="Ask for rows in the order of the table, such as that of refpair predict --questions.",
        ),
    ] = False,
    session: Annotated[
        Path | None, typer.Option(help="The file of the answers.", show_default="DATA.labels.sqlite")
    ] = None,
    budget: Annotated[
        int | None, typer.Option(min=1, help="Number of rows to label before the page says to stop.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="The port.", show_default="8732 or a free one")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="A file with the token of the page; the environment variable REFPAIR_TOKEN sets one, too.",
            show_default="a new token at each start",
        ),
    ] = None,
    keep_token: Annotated[
        bool,
        typer.Option(
            "--keep-token", help="Use the same token next time, so that bookmarks and open pages still work."
        ),
    ] = False,
    browser: Annotated[bool, typer.Option(help="Whether to open the page.")] = True,
    export: Annotated[
        Path | None,
        typer.Option(help="Instead of the page: write the answered rows with their labels to a table."),
    ] = None,
    save_model: Annotated[
        Path | None,
        typer.Option(help="Instead of the page: write the model, for refpair predict.", metavar="FILE"),
    ] = None,
    for_spreadsheets: ForSpreadsheets = False,
    to_label_studio: Annotated[
        Path | None, typer.Option(help="Instead of the page: write tasks for Label Studio, in JSON.")
    ] = None,
    from_label_studio: Annotated[
        Path | None, typer.Option(help="Instead of the page: read Label Studio's JSON export.")
    ] = None,
) -> None:
    """Label a table in the browser, the most informative rows first, or in the order of the table.

    For example:

    refpair label mails.csv --labels spam,fraud,urgent --cost f1

    refpair label mails.csv --label fraud

    refpair label mails.csv --rule "at most 2"

    refpair label mails.csv --review suspects.csv

    refpair label ask.csv --labels spam,fraud,urgent --drop price,gain,guess --in-order

    refpair label mails.csv --export labels.csv

    refpair label mails.csv --save-model mails.refpair

    refpair label digits
    """
    from refpair._files import check_output
    from refpair.active import Budget
    from refpair.cli.data import built_in_cost, cost_of, table_options
    from refpair.cli.rules import parse_rule
    from refpair.datasets.load import is_file, read_data
    from refpair.labeling import Session
    from refpair.labeling.access import given_token, kept_token, new_token
    from refpair.labeling.label_studio import check_tasks_name, import_annotations, write_project
    from refpair.labeling.table import label_place, session_labels
    from refpair.tables.write import check_table_path

    options = table_options(labels, label_sep, drop, kinds, sep, encoding)
    if cost is not None:
        built_in_cost(cost)  # find mistyped names before a large table is read
    if export is not None:
        check_table_path(export, for_spreadsheets=for_spreadsheets)
    if save_model is not None:
        check_output(save_model)
    if to_label_studio is not None:
        check_tasks_name(to_label_studio)
    if from_label_studio is not None:
        from_label_studio.stat()  # is it there?
    token = given_token(token_file)
    if keep_token and token_file is not None:
        raise ValueError("--token-file goes without --keep-token: it is the file that keeps the token")
    path = session or _session_path(data)
    table = read_data(data, sep=options.sep, encoding=options.encoding)
    X, named, ids = table.X, list(options.labels or ()) or None, None
    if table.Y is not None:  # the format tells the labels
        named = named or [str(name) for name in table.Y.columns]
        if is_file(data):
            X = pd.concat([X, table.Y], axis=1)
        elif id_column is not None:
            raise ValueError(f"{data}: a data set has no column of ids; leave out --id")
        else:
            ids = range(len(X))  # a data set is to try it out: its labels are not told
    names = session_labels(path, X, named, options.label_sep)
    if not names:
        raise ValueError(f"{data}: what are the labels? For example --labels joy,anger,calm")
    chosen = None
    if cost or false_positive or false_negative:
        chosen = cost_of(cost, false_positive, false_negative, names)
    label_rules = [parse_rule(text, names) for text in rule] if rule else None
    console = Output(stderr=True)
    with Session.open(
        path,
        X,
        named if named is None or len(named) == 1 else names,
        chosen,
        ids=ids,
        id_column=id_column,
        separator=options.label_sep,
        drop=options.drop,
        kinds=dict(options.kinds) or None,
        folder=table.folder,
        features=features,
        label_rules=label_rules,
        in_order=in_order,
        verbose=int(sys.stderr.isatty()),
    ) as opened:
        if label is not None:
            label_place(label, opened.labels)  # is there such a label?
        if budget is not None:
            opened.rules = [Budget(budget), *opened.rules]
        n_new = opened.n_taken_over
        if from_label_studio is not None:
            n_new += import_annotations(opened, from_label_studio)
        if review is not None:
            opened.review(_suspects(review, opened, X))
        _tell(console, opened, table.name, n_new)
        if export is not None:
            opened.export(export, for_spreadsheets=for_spreadsheets)
            console.print(f"Rows that are answered are in {export}, with their labels", markup=False)
        if save_model is not None:
            opened.save_model(save_model)
            console.print(f"The model is in {save_model}; refpair predict takes it", markup=False)
        if to_label_studio is not None:
            config = write_project(opened, to_label_studio)
            console.print(f"Tasks for Label Studio are in {to_label_studio}", markup=False)
            console.print(f"Its labeling interface is {config}; choose Uncertainty sampling", markup=False)
        if all(one is None for one in (export, save_model, to_label_studio, from_label_studio)):
            if token is None:
                token = kept_token(path) if keep_token else new_token()
            _serve(
                console, opened, table.name, host=host, port=port, token=token, browser=browser,
                for_spreadsheets=for_spreadsheets, label=label,
            )  # fmt: skip


def _serve(
    console: Console,
    session: Session,
    name: str,
    *,
    host: str,
    port: int | None,
    token: str,
    browser: bool,
    for_spreadsheets: bool,
    label: str | None,
) -> None:
    from refpair.labeling.access import Redirect

    serving = import_module("refpair.labeling.server")  # only now: files can be exchanged without the extra
    with serving.open_socket(host, port) as listening:
        address = serving.page_address(listening, token)
        redirect = Redirect(session.path, address)

        def ready() -> None:
            console.print(f"Label at {address}", markup=False, soft_wrap=True)
            console.print("Ctrl-C ends; the same command continues.")
            if browser:
                try:
                    page = redirect.write()
                except OSError as error:  # a full disk, say
                    console.print(f"Open the page in a browser: {error}", markup=False)
                else:  # not here: some are waited for until they end, and need the page before that
                    Thread(target=webbrowser.open, args=[page], name="browser", daemon=True).start()

        console.print("Looking for the first row …")
        try:
            serving.serve(
                session, listening, name=name, token=token, names=(host,), ready=ready,
                entered=redirect.remove, for_spreadsheets=for_spreadsheets, label=label,
            )  # fmt: skip
        finally:
            redirect.remove()
    console.print(f"\n{session.n_answered:,} rows are answered; they are in {session.path}", markup=False)


def _tell(console: Console, session: Session, name: str, n_new: int) -> None:
    console.print(f"{name}: {len(session.ids):,} rows, labels {', '.join(session.labels)}", markup=False)
    if session.columns is not None:
        tell_columns(console, session.columns)
    if n_new:
        console.print(f"{n_new:,} answers are imported", markup=False)
    progress = session.progress()
    if progress.n_answered or progress.n_skipped:
        in_part = f" ({progress.n_partly:,} of them in part)" if progress.n_partly else ""
        console.print(
            f"{progress.n_answered:,} rows are answered already{in_part}, {progress.n_skipped:,} skipped",
            markup=False,
        )
    if progress.n_to_review:
        console.print(f"{progress.n_to_review:,} rows are to be reviewed; they come first", markup=False)
    elsewhere = len(session.answers()) - session.n_answered
    if elsewhere:
        console.print(f"{elsewhere:,} answers are of rows that are not in the table", markup=False)
    console.print(f"Answers are stored in {session.path}", markup=False)


def _suspects(path: Path, session: Session, X: pd.DataFrame) -> list[tuple[str | int, str]]:
    """Return the labels that a table of ``refpair check`` takes for wrong, each with the id of its row."""
    from refpair.tables import read_table

    table = read_table(path).X
    if missing := {"row", "label", "wrong"} - set(table.columns):
        raise ValueError(f"{path} has no column {sorted(missing)[0]!r}: give the table of refpair check -o")
    wrong, row = (pd.to_numeric(table[name], errors="coerce") for name in ("wrong", "row"))
    if wrong.isna().any():
        raise ValueError(f"{path}: the column 'wrong' has cells that are no numbers")
    if not (row.between(1, len(session.ids)) & (row % 1 == 0)).all():
        raise ValueError(f"{path} is not of this table: 'row' is to be from 1 to {len(session.ids):,}")
    name = table.columns[1]  # that of --id, if there was one
    if name != "label" and name in X.columns:
        told, there = (
            one.astype(str).reset_index(drop=True) for one in (table[name], X[name].iloc[row.astype(int) - 1])
        )
        number, other = (pd.to_numeric(one, errors="coerce") for one in (told, there))  # 1 is 1.0
        if (moved := (told != there) & (number != other)).any():
            first = int(moved.argmax())
            raise ValueError(
                f"{path} is not of this table: {name!r} of row {row[first]} is {there[first]!r}, not "
                f"{told[first]!r}; run refpair check again"
            )
    doubtful = (wrong >= _DOUBTFUL).to_numpy()
    if not doubtful.any():
        raise ValueError(f"{path}: no label is wrong with a probability of {_DOUBTFUL:.0%} or more")
    found = zip(row.to_numpy()[doubtful], table["label"].to_numpy()[doubtful], strict=True)
    return [(session.ids[int(place) - 1], str(name)) for place, name in found]


def _session_path(data: str) -> Path:
    """Return the file of a table's answers: beside it, with its name."""
    path = Path(data)
    while path.suffix.lower() in _ENDINGS:
        path = path.with_suffix("")
    return path.with_name(f"{path.name}.labels.sqlite")
