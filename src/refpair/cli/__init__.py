"""The command ``refpair``: its options in :mod:`refpair.cli.app`, and a module for each subcommand."""

from refpair.cli.app import main

__all__ = ["main"]
