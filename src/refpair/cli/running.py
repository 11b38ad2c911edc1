"""Do the work of a subcommand, and turn mistakes of the user's into sentences."""

from __future__ import annotations

import os
import sqlite3
import sys
from importlib import import_module
from typing import Any

import typer

__all__ = ["run_command"]


def run_command(command: str, /, **options: Any) -> None:
    """Do the work of a subcommand; a mistake of the user's ends in one sentence, not in a traceback.

    The work is imported only now: scikit-learn, pandas and numba take two seconds, which ``--help`` and
    mistyped options should not wait for. This is the one place where that happens.
    """
    try:
        import_module(f"refpair.cli.{command}").run(**options)
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
        return f"the store of the results: {error}; if it is damaged, choose another --out"
    return str(error) or type(error).__name__
