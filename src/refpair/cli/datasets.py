"""``refpair datasets``."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console
from rich.table import Table

from refpair.datasets import DatasetInfo, list_datasets
from refpair.datasets.mulan import cache_dir

__all__ = ["run"]


def run() -> None:
    """Show the data sets that have names, and where they are."""
    table = Table()
    table.add_column("name", style="bold")
    for column in ("labels", "rows", "features"):
        table.add_column(column, justify="right")
    table.add_column("where", overflow="fold")
    found = list_datasets()
    for info in found:
        sizes = (info.n_labels, info.n_instances, info.n_features)
        table.add_row(info.name, *(f"{size:,}" for size in sizes), _where(info))
    console = Console()
    console.print(table)
    if not all(info.is_local for info in found):
        console.print(
            "What is not here is downloaded when it is first used. Without a network, set REFPAIR_DATA to a "
            "folder with <name>/<name>.arff and <name>/<name>.xml.",
            highlight=False,
        )
    console.print("Use one by its name: refpair fit digits -o digits.refpair", highlight=False)


def _where(info: DatasetInfo) -> str:
    if info.name == "digits":
        return "in the package"
    if not info.is_local:
        return "not here yet"
    own = os.environ.get("REFPAIR_DATA")
    if own and Path(own, info.name, f"{info.name}.arff").is_file():
        return f"$REFPAIR_DATA/{info.name}"
    return str(cache_dir() / info.name)
