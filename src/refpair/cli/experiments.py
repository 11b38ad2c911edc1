"""``refpair compare``, ``code-length``, ``relevant-set``, ``simulate`` and ``paper``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refpair.cli.options import Drop, Encoding, Kinds, Labels, LabelSep, Sep

if TYPE_CHECKING:
    from refpair.experiments import Part

__all__ = ["code_length", "compare", "paper", "relevant_set", "simulate"]

_COSTS = ("f1", "hamming")  # one of whole label vectors, one of single labels
_SPLITS, _QUICK_SPLITS, _RUNS = 5, 2, 10
_PAPER_SPLITS, _PAPER_COMPETITORS, _PAPER_PARTS = 20, 5, 3  # of CSRPE; of the others; of other experiments


def _data(default: str) -> Any:
    return typer.Option(
        help="A data set by name (see refpair datasets), a file, or a folder of <name>/<name>.arff. "
        "Can be repeated.",
        metavar="DATA",
        show_default=default,
    )


def _costs(default: str) -> Any:
    return typer.Option(
        help="A cost: f1, f2, ..., jaccard, hamming, rank, zero_one, a measure of the table such as "
        "macro_f1, or module:name for your own (a refpair.Cost, or a function of truths and predictions). "
        "Can be repeated.",
        metavar="COST",
        show_default=default,
    )


def _splits(default: str) -> Any:
    return typer.Option(min=1, help="Number of random half splits.", show_default=default)


def _competitor_splits(default: str) -> Any:
    return typer.Option(
        min=1,
        help="Number of splits for all algorithms but CSRPE: fewer, as they take longer.",
        show_default=default,
    )


def _out(command: str) -> Any:
    return typer.Option(
        help="The folder for results, tables, figures and the report. A stopped run continues there.",
        show_default=f"refpair-{command}",
    )


DataSets = Annotated[list[str] | None, _data("digits")]
PaperDataSets = Annotated[list[str] | None, _data("the paper's ten")]
Costs = Annotated[list[str] | None, _costs("f1, hamming")]
PaperCosts = Annotated[list[str] | None, _costs("f1, jaccard, hamming, rank")]
Splits = Annotated[int | None, _splits("5, with --quick 2")]
PaperSplits = Annotated[int | None, _splits("20, with --quick 2; the other two experiments 3 at most")]
FirstSplit = Annotated[int, typer.Option(min=0, help="The number of the first split: its random state.")]
CompetitorSplits = Annotated[int | None, _competitor_splits("as --splits")]
PaperCompetitorSplits = Annotated[int | None, _competitor_splits("5, or --splits if that is less")]
Algorithms = Annotated[
    list[str] | None,
    typer.Option(
        help="BR, RAkEL, HAMR, CC, PCC, CFT, CSRPE-nearest, CSRPE-posterior, or module:name for a class or "
        "function of your own that makes a model. Can be repeated.",
        metavar="NAME",
        show_default="all",
    ),
]
Bits = Annotated[
    int | None,
    typer.Option(
        min=1, help="The length of the code.", show_default="3000; for CSRPE-posterior auto; with --quick 500"
    ),
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategies",
        help="As in random,MMC: random, spread, BinMin, MMC, adaptive, risk, CSRPE (the paper's), "
        "CSRPE-estimation, CSRPE-utility, representative, or module:name for a class or function of your own "
        "that makes one. Can be repeated.",
        metavar="NAMES",
        show_default="all",
    ),
]
Jobs = Annotated[int, typer.Option(help="Processes; -1 is one for each processor.")]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick",
        help="A first look: 600 rows a data set, 500 bits, forests of 20 trees, no search, 2 splits.",
    ),
]
ReportOnly = Annotated[
    bool, typer.Option("--report-only", help="Run nothing; report what is in the folder already.")
]


def _run(
    command: str,
    parts: Sequence[Part],
    data: Sequence[str] | None,
    reading: tuple[Any, ...],
    cost: Sequence[str] | None,
    out: Path | None,
    jobs: int,
    quick: bool,
    report_only: bool,
    *,
    simulation: dict[str, Any] | None = None,
    **settings: Any,
) -> None:
    """Run a study and report it; settings that are None are those of the paper, or the quick ones."""
    from refpair.cli.data import table_options
    from refpair.experiments import QUICK, Settings, Study
    from refpair.experiments.study import summarize_failures

    base = QUICK if quick else Settings()
    steps = replace(base.simulation, **_given(simulation or {}))
    study = Study(
        out or Path(f"refpair-{command}"),
        parts,
        data or ["digits"],
        cost or _COSTS,
        table=table_options(*reading),
        settings=replace(base, simulation=steps, **_given(settings)),
        any_sources=report_only,
    )
    failures = []
    n_there = study.count()[0]
    if report_only and n_there == 0:
        raise ValueError(
            f"{study.folder} has no results of these data, costs, algorithms and settings; were they made "
            "with --quick, or other --bits?"
        )
    if not report_only:
        study.any_sources = True
        n_others = study.count()[0] - n_there
        study.any_sources = False
        if n_others:
            typer.echo(
                f"{n_others:,} results are of another version of refpair, and are computed again", err=True
            )
        try:
            failures = study.run(jobs=jobs, verbose=1)
        except KeyboardInterrupt:
            n_there, n_wanted = study.count()
            said = f"{n_there:,} of {n_wanted:,} results are stored; the same command continues"
            typer.echo(said, err=True)
            raise
    for text in summarize_failures(failures):
        typer.echo(f"failed: {text}", err=True)
    if failures:
        typer.echo(f"tracebacks: {study.failures_path}", err=True)
    sections = study.sections()
    report = study.report(shlex.join(["refpair", *sys.argv[1:]]), failures, sections)
    for section in sections:
        typer.secho(section.heading, bold=True)
        typer.echo(section.tables[0].shown.to_string() if section.tables else section.text)
        typer.echo()
    n_there, n_wanted = study.count()
    typer.echo(f"{n_there:,} of {n_wanted:,} results; {report}")
    if failures:
        raise typer.Exit(1)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def compare(
    data: DataSets = None,
    labels: Labels = None,
    label_sep: LabelSep = None,
    drop: Drop = None,
    kind: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    cost: Costs = None,
    algorithm: Algorithms = None,
    splits: Splits = None,
    first_split: FirstSplit = 0,
    competitor_splits: CompetitorSplits = None,
    stratified: Annotated[
        bool,
        typer.Option(
            "--stratified", help="Halves in which labels, and pairs of labels, are equally frequent."
        ),
    ] = False,
    bits: Bits = None,
    out: Annotated[Path | None, _out("compare")] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    report_only: ReportOnly = False,
) -> None:
    """Compare algorithms on data sets under costs, and write a report with tables and figures.

    Parameters are chosen inside the training half. Ctrl-C stops; the same command continues.

    For example:

    refpair compare --data digits --splits 3

    refpair compare --data mine.csv --labels joy,anger --cost my_costs:price

    refpair compare --data digits --algorithm BR --algorithm my_models:Mine
    """
    from refpair.experiments import Part

    n_splits = splits or (_QUICK_SPLITS if quick else _SPLITS)
    algorithms = tuple(algorithm) if algorithm else None
    parts = [Part("compare", n_splits, competitor_splits, algorithms, first_split)]
    reading = labels, label_sep, drop, kind, sep, encoding
    how: dict[str, Any] = {"n_bits": bits, "stratified": stratified}
    _run("compare", parts, data, reading, cost, out, jobs, quick, report_only, **how)


def code_length(
    data: DataSets = None,
    labels: Labels = None,
    label_sep: LabelSep = None,
    drop: Drop = None,
    kind: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    cost: Costs = None,
    splits: Splits = None,
    out: Annotated[Path | None, _out("code-length")] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    report_only: ReportOnly = False,
) -> None:
    """Show how the score grows with the length of the code: one fit of 5,000 bits, shortened.

    For example:

    refpair code-length --data emotions --cost f1
    """
    from refpair.experiments import Part

    parts = [Part("code-length", splits or (_QUICK_SPLITS if quick else _SPLITS))]
    reading = labels, label_sep, drop, kind, sep, encoding
    _run("code-length", parts, data, reading, cost, out, jobs, quick, report_only)


def relevant_set(
    data: DataSets = None,
    labels: Labels = None,
    label_sep: LabelSep = None,
    drop: Drop = None,
    kind: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    cost: Costs = None,
    splits: Splits = None,
    bits: Bits = None,
    out: Annotated[Path | None, _out("relevant-set")] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    report_only: ReportOnly = False,
) -> None:
    """Show the loss from comparing codes only with label vectors of the training half.

    For example:

    refpair relevant-set --data CAL500 --cost f1
    """
    from refpair.experiments import Part

    parts = [Part("relevant-set", splits or (_QUICK_SPLITS if quick else _SPLITS))]
    reading = labels, label_sep, drop, kind, sep, encoding
    _run("relevant-set", parts, data, reading, cost, out, jobs, quick, report_only, n_bits=bits)


def simulate(
    data: DataSets = None,
    labels: Labels = None,
    label_sep: LabelSep = None,
    drop: Drop = None,
    kind: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    cost: Costs = None,
    strategies: Strategies = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Number of runs.", show_default="10, with --quick 2")
    ] = None,
    start: Annotated[
        int | None, typer.Option(min=0, help="Rows that are labeled at the beginning.", show_default="20")
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Rows to ask for.", show_default="100, with --quick 40")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Rows to ask for at a time.", show_default="1")
    ] = None,
    classifier: Annotated[
        str | None,
        typer.Option(
            help="The classifier to improve: BR (a logistic regression for each label), CSRPE, or "
            "module:name for a class or function of your own that makes a classifier.",
            metavar="NAME",
            show_default="BR",
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(min=1, help="The length of codes.", show_default="300, with --quick 100"),
    ] = None,
    out: Annotated[Path | None, _out("simulate")] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    report_only: ReportOnly = False,
) -> None:
    """Compare query strategies on labeled data by learning curves.

    Rows of one half of each data set are asked for; the other half tests the classifier. Ctrl-C stops;
    the same command continues.

    For example:

    refpair simulate --data emotions --cost f1 --strategies random,MMC,representative

    refpair simulate --data mine.csv --labels joy,anger --cost my_costs:price --batch 10
    """
    from refpair.experiments import Part

    names = tuple(name for given in strategies or () for name in given.split(",")) or None
    parts = [Part("simulate", runs or (_QUICK_SPLITS if quick else _RUNS), algorithms=names)]
    reading = labels, label_sep, drop, kind, sep, encoding
    steps = {
        "n_start": start,
        "n_queries": queries,
        "batch_size": batch,
        "classifier": classifier,
        "n_bits": bits,
    }
    _run("simulate", parts, data, reading, cost, out, jobs, quick, report_only, simulation=steps)


def paper(
    data: PaperDataSets = None,
    labels: Labels = None,
    label_sep: LabelSep = None,
    drop: Drop = None,
    kind: Kinds = None,
    sep: Sep = None,
    encoding: Encoding = None,
    cost: PaperCosts = None,
    algorithm: Algorithms = None,
    splits: PaperSplits = None,
    competitor_splits: PaperCompetitorSplits = None,
    bits: Bits = None,
    out: Annotated[Path | None, _out("paper")] = None,
    jobs: Jobs = -1,
    quick: Quick = False,
    report_only: ReportOnly = False,
) -> None:
    """Run all of the paper's experiments: compare, code-length and relevant-set, in one report.

    It takes a night on a laptop; --quick takes minutes. Ctrl-C stops; the same command continues.

    For example:

    refpair paper --quick

    refpair paper --data folder_of_data_sets --out results
    """
    from refpair.datasets import list_datasets
    from refpair.experiments import PAPER_COSTS, Part

    n_splits = splits or (_QUICK_SPLITS if quick else _PAPER_SPLITS)
    n_others = competitor_splits or min(n_splits, _PAPER_COMPETITORS)
    parts = [
        Part("compare", n_splits, n_others, tuple(algorithm) if algorithm else None),
        Part("code-length", min(n_splits, _PAPER_PARTS)),
        Part("relevant-set", min(n_splits, _PAPER_PARTS)),
    ]
    data = data or [info.name for info in list_datasets() if info.name != "digits"]
    reading = labels, label_sep, drop, kind, sep, encoding
    _run("paper", parts, data, reading, cost or PAPER_COSTS, out, jobs, quick, report_only, n_bits=bits)
