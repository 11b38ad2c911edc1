"""The command ``refpair``: its subcommands, and its error messages.

Subcommands import scikit-learn, pandas and numba only inside the functions that need them: that takes two
seconds, which ``--help`` and mistyped options should not wait for.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import refpair
from refpair.cli.check import check
from refpair.cli.demo import datasets, demo
from refpair.cli.experiments import code_length, compare, paper, relevant_set, simulate
from refpair.cli.label import label
from refpair.cli.models import evaluate, fit, predict
from refpair.cli.warmup import warmup


class _Commands(TyperGroup):
    """Subcommands in which a mistake of the user's ends in one sentence, not in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            super().invoke(ctx)
            sys.stdout.flush()  # so that a closed pipe is noticed here
        except BrokenPipeError:  # the reader, head say, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(128 + 13) from None
        except KeyboardInterrupt:
            typer.echo("interrupted", err=True)
            raise typer.Exit(128 + 2) from None
        except (ImportError, OSError, SyntaxError, ValueError, sqlite3.Error) as error:
            typer.echo(f"{typer.style('error:', fg='red', bold=True)} {_sentence(error)}", err=True)
            raise typer.Exit(2) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        what = error.strerror[0].lower() + error.strerror[1:]
        return what if error.filename is None else f"{error.filename}: {what}"
    if isinstance(error, sqlite3.Error):
        return f"the SQLite file: {error}; if it is damaged, choose another one by --out or --session"
    return str(error) or type(error).__name__


app = typer.Typer(
    name="refpair",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    """Multi-label classification for your own cost.

    Try: refpair demo
    """


_MODELS = (demo, fit, predict, evaluate, check, label, datasets, warmup)
for command in (*_MODELS, compare, code_length, relevant_set, simulate, paper):
    app.command()(command)
