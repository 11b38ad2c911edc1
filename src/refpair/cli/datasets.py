"""``refpair datasets``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from refpair.cli.printing import Output, new_table

if TYPE_CHECKING:
    from refpair.datasets import DatasetInfo


def datasets() -> None:
    """List the data sets that can be used by name."""
    from refpair.datasets import list_datasets
    from refpair.datasets.mulan import cache_dir

    def where(info: DatasetInfo) -> str:
        own = os.environ.get("REFPAIR_DATA")
        if info.name == "digits":
            return "in the package"
        if not info.is_local:
            return "not here yet"
        if own and Path(own, info.name, f"{info.name}.arff").is_file():
            return f"$REFPAIR_DATA/{info.name}"
        return str(cache_dir() / info.name)

    sizes = ("labels", "rows", "features")
    table = new_table("name", *sizes, "where", numbers=sizes)
    found = list_datasets()
    for info in found:
        counts = (info.n_labels, info.n_instances, info.n_features)
        table.add_row(f"[bold]{info.name}[/]", *(f"{n:,}" for n in counts), where(info))
    console = Output()
    console.print(table)
    if not all(info.is_local for info in found):
        console.print(
            "What is not here is downloaded when it is first used. Without a network, set REFPAIR_DATA to a "
            "folder with <name>/<name>.arff and <name>/<name>.xml."
        )
    console.print("Use one by its name: refpair fit digits -o digits.refpair")
