"""``refpair label``."""

from __future__ import annotations

import re
import sys
import webbrowser
from importlib import import_module
from pathlib import Path

from rich.console import Console

from refpair.active import Budget, LowGain, Session, StablePredictions
from refpair.active._tables import check_column_names, check_table_name, write_table
from refpair.active.stopping import StoppingRule
from refpair.active.store import AnswerStore
from refpair.cli.data import split_names
from refpair.cli.fit import cost_of
from refpair.costs import Cost, get_cost
from refpair.labeling.exchange import (
    check_tasks_name,
    import_label_studio,
    import_table,
    table_with_cells,
    write_label_studio,
)
from refpair.labeling.pool import LabelPool, read_pool

__all__ = ["run"]

_ENDINGS = (".gz", ".csv", ".tsv", ".parquet", ".pq", ".arff", ".svm", ".libsvm", ".txt")


def run(
    *,
    data: str,
    labels: str | None,
    cost: str | None,
    false_positive: list[str],
    false_negative: list[str],
    id_column: str | None,
    drop: list[str],
    features: Path | None,
    session: Path | None,
    budget: int | None,
    host: str,
    port: int | None,
    token: str | None,
    browser: bool,
    export: Path | None,
    to_label_studio: Path | None,
    from_label_studio: Path | None,
) -> None:
    """Open the labelling page, or exchange what it knows with files."""
    if cost is not None:
        get_cost(cost)  # a mistyped name is told before a large table is read
    if export is not None:
        check_table_name(export)
    if to_label_studio is not None:
        check_tasks_name(to_label_studio)
    if from_label_studio is not None:
        from_label_studio.stat()  # is it there?
    if token is not None and not re.fullmatch("[A-Za-z0-9._~-]{16,}", token):
        raise ValueError(
            "--token must have 16 characters or more, a to z, digits and ._~- only; by default it is made at "
            "random"
        )
    named = split_names(labels)
    path = session or _session_path(data)
    chosen: Cost | None = None
    if path.exists():
        known, chosen = _known(path)
        named = _in_order(named, known)
    pool = read_pool(
        data, named, id_column=id_column, drop=drop, features=features, verbose=int(sys.stderr.isatty())
    )
    check_column_names(pool.labels)  # before there is a file
    console = Console(stderr=True, highlight=False)
    if cost or false_positive or false_negative or chosen is None:
        chosen = cost_of(cost, false_positive, false_negative, pool.labels)
    with Session.open(
        path,
        X=pool.features.X,
        labels=pool.labels,
        cost=chosen,
        ids=pool.ids,
        rules=_rules(budget, chosen),
    ) as opened:
        n_new = import_table(opened, pool.answered, pool.name)
        if from_label_studio is not None:
            n_new += import_label_studio(opened, from_label_studio)
        _tell(console, opened, pool, n_new)
        if export is not None:
            write_table(table_with_cells(opened, pool), export)
            console.print(f"Labels and predictions are in {export}", markup=False)
        if to_label_studio is not None:
            config = write_label_studio(opened, pool, to_label_studio)
            console.print(f"Tasks for Label Studio are in {to_label_studio}", markup=False)
            console.print(f"Its labelling interface is {config}; choose Uncertainty sampling", markup=False)
        if export is None and to_label_studio is None and from_label_studio is None:
            _serve(console, opened, pool, host=host, port=port, token=token, browser=browser)


def _serve(
    console: Console,
    session: Session,
    pool: LabelPool,
    *,
    host: str,
    port: int | None,
    token: str | None,
    browser: bool,
) -> None:
    serving = import_module("refpair.labeling.serve")  # only now: files can be exchanged without the extra
    with serving.open_socket(host, port) as listening:
        token = token or serving.kept_token(session.path)
        address = serving.page_address(listening, token)

        def ready() -> None:
            console.print(f"Label at {address}", markup=False, soft_wrap=True)
            console.print("Ctrl-C ends; the same command goes on where you were.")
            if browser:
                webbrowser.open(address)

        console.print("Looking for the first row …")
        serving.serve(session, pool, listening, token=token, names=(host,), ready=ready)
    console.print(f"\n{session.n_answered:,} rows are answered; they are in {session.path}", markup=False)


def _tell(console: Console, session: Session, pool: LabelPool, n_new: int) -> None:
    console.print(f"{pool.name}: {len(pool.ids):,} rows, labels {', '.join(session.labels)}", markup=False)
    for sentence in pool.features.used:
        console.print(f"  {sentence}", markup=False)
    if n_new:
        console.print(f"{n_new:,} answers are taken over", markup=False)
    if session.n_answered or session.n_skipped:
        console.print(
            f"{session.n_answered:,} rows are answered already, {session.n_skipped:,} skipped", markup=False
        )
    elsewhere = len(session.answers()) - session.n_answered
    if elsewhere:
        console.print(f"{elsewhere:,} answers are of rows that are not in the table", markup=False)
    console.print(f"Answers are kept in {session.path}", markup=False)


def _session_path(data: str) -> Path:
    """Return the file of a table's answers: beside it, with its name."""
    path = Path(data)
    while path.suffix.lower() in _ENDINGS:
        path = path.with_suffix("")
    return path.with_name(f"{path.name}.labels.sqlite")


def _known(path: Path) -> tuple[list[str], Cost | None]:
    """Return the labels and the cost of a session; it may have been begun without any."""
    with AnswerStore(path) as store:
        if not store.labels():
            return [], None
    with Session.open(path) as session:
        return session.labels, session.cost


def _in_order(named: list[str] | None, known: list[str]) -> list[str]:
    """Return labels in the order in which the session has them, new ones behind them."""
    if named is None:
        return known
    return [*(name for name in known if name in named), *(name for name in named if name not in known)]


def _rules(budget: int | None, cost: Cost) -> list[StoppingRule]:
    rules: list[StoppingRule] = [] if budget is None else [Budget(budget)]
    return [*rules, StablePredictions(cost), LowGain()]
