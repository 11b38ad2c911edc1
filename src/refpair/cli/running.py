"""Do the work of a subcommand, which is imported only now."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["run_command"]


def run_command(command: str, /, **options: Any) -> None:
    """Call ``run`` of a module beside this one."""
    import_module(f"refpair.cli.{command}").run(**options)
