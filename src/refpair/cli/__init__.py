"""The command ``refpair``: its options in :mod:`refpair.cli.app`, and a module for each subcommand."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without the packages that it needs, say what to install."""
    try:
        from refpair.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich", "typer"):
            raise
        print(f"the command refpair needs {error.name}: pip install 'refpair[cli]'", file=sys.stderr)
        sys.exit(2)
    app()
