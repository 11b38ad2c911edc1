"""``refpair compare``, ``code-length``, ``relevant-set``, ``simulate`` and ``paper``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from refpair.cli.data import table_options
from refpair.datasets import list_datasets
from refpair.experiments import PAPER_COSTS, QUICK, Part, Settings, Study
from refpair.experiments.report import Section
from refpair.experiments.study import summarize_failures

__all__ = ["run"]

_COSTS = ("f1", "hamming")  # one of whole label vectors, one of single labels
_SPLITS, _QUICK_SPLITS, _RUNS = 5, 2, 10
_PAPER_SPLITS, _PAPER_COMPETITORS, _PAPER_PARTS = 20, 5, 3  # of CSRPE; of the others; of other experiments


def run(
    *,
    command: str,
    data: list[str] | None,
    kind: list[str] | None,
    cost: list[str] | None,
    splits: int | None,
    out: Path | None,
    jobs: int,
    quick: bool,
    report_only: bool,
    algorithm: list[str] | None = None,
    competitor_splits: int | None = None,
    bits: int | None = None,
    stratified: bool = False,
    simulation: dict[str, Any] | None = None,
    **reading: Any,
) -> None:
    """Run a study and report it; the options are called as on the command line."""
    settings = QUICK if quick else Settings()
    given = {name: value for name, value in (simulation or {}).items() if value is not None}
    settings = replace(settings, stratified=stratified, simulation=replace(settings.simulation, **given))
    study = Study(
        out or Path(f"refpair-{command}"),
        make_parts(command, splits, competitor_splits, algorithm, quick=quick),
        data or default_data(command),
        cost or (PAPER_COSTS if command == "paper" else _COSTS),
        table=table_options(kinds=kind, **reading),
        settings=settings if bits is None else replace(settings, n_bits=bits),
        any_sources=report_only,
    )
    shown = shlex.join(["refpair", *sys.argv[1:]])
    failures = []
    if report_only:
        _check_results(study)
    else:
        _tell_other_sources(study)
        try:
            failures = study.run(jobs=jobs, verbose=1)
        except KeyboardInterrupt:
            n_there, n_wanted = study.count()
            typer.echo(f"{n_there:,} of {n_wanted:,} results are stored; the same command goes on", err=True)
            raise
    for text in summarize_failures(failures):
        typer.echo(f"failed: {text}", err=True)
    if failures:
        typer.echo(f"tracebacks: {study.failures_path}", err=True)
    sections = study.sections()
    report = study.report(shown, failures, sections)
    for section in sections:
        _tell(section)
    n_there, n_wanted = study.count()
    typer.echo(f"{n_there:,} of {n_wanted:,} results; {report}")
    if failures:
        raise typer.Exit(1)


def _tell(section: Section) -> None:
    """Print the summary of a section of the report."""
    typer.secho(section.heading, bold=True)
    typer.echo(section.tables[0].shown.to_string() if section.tables else section.text)
    typer.echo()


def _tell_other_sources(study: Study) -> None:
    """Say if there are results that are not taken, since other code has made them."""
    n_present = study.count()[0]
    study.any_sources = True
    n_others = study.count()[0] - n_present
    study.any_sources = False
    if n_others:
        typer.echo(f"{n_others:,} results were made by other sources of refpair, and are made anew", err=True)


def _check_results(study: Study) -> None:
    if study.count()[0] == 0:
        raise ValueError(
            f"{study.folder} has no results of these data, costs, algorithms and settings; were they made "
            "with --quick, or other --bits?"
        )


def make_parts(
    command: str,
    splits: int | None,
    competitor_splits: int | None,
    algorithms: list[str] | None,
    *,
    quick: bool,
) -> list[Part]:
    """Return the experiments of a command."""
    chosen = None if algorithms is None else tuple(algorithms)
    if command != "paper":
        n_splits = splits or (_QUICK_SPLITS if quick else _RUNS if command == "simulate" else _SPLITS)
        return [Part(command, n_splits, competitor_splits, chosen)]  # type: ignore[arg-type]  # one of its names
    n_splits = splits or (_QUICK_SPLITS if quick else _PAPER_SPLITS)
    n_others = competitor_splits or min(n_splits, _PAPER_COMPETITORS)
    n_parts = min(n_splits, _PAPER_PARTS)
    return [
        Part("compare", n_splits, n_others, chosen),
        Part("code-length", n_parts),
        Part("relevant-set", n_parts),
    ]


def default_data(command: str) -> list[str]:
    """Return the data sets to take if none is named: the paper's, or the one that needs no download."""
    if command != "paper":
        return ["digits"]
    return [info.name for info in list_datasets() if info.name != "digits"]
