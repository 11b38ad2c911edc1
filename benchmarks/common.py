"""What the benchmarks share: data, halves, times, and tables that are stored and shown."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from refpair._files import written_whole
from refpair.datasets import MultiLabelData, load_dataset
from refpair.experiments.names import greater_is_better
from refpair.experiments.runner import describe_machine
from refpair.experiments.settings import half_split

__all__ = [
    "PAPER_SETS",
    "ROOT",
    "Results",
    "cost_name",
    "dense_float32",
    "find_data",
    "half_split",
    "heading",
    "least_time",
    "load",
    "markdown_table",
    "read_table",
    "records",
    "stored",
    "tell_origin",
    "write_table",
]

ROOT = Path(__file__).parents[1]
PAPER_SETS = (
    "flags",
    "emotions",
    "CAL500",
    "genbase",
    "medical",
    "enron",
    "yeast",
    "scene",
    "Corel5k",
    "bibtex",
)
_FOLDER = ROOT / "benchmarks" / "results"
_COSTS = {
    "f1": "F1",
    "jaccard": "Jaccard",
    "hamming": "Hamming loss",
    "rank": "rank loss",
    "zero_one": "zero-one loss",
}


def cost_name(cost: str) -> str:
    """Return the name of a cost in a sentence."""
    return _COSTS.get(cost, cost)


def heading(cost: str) -> str:
    """Return the name of a cost with an arrow to where it is better."""
    name = cost_name(cost)
    return f"{name[0].upper()}{name[1:]} {'↑' if greater_is_better(cost) else '↓'}"


def find_data() -> None:
    """Let the paper's data sets be found beside the repository, where they may stand in a checkout."""
    beside = ROOT.parent / "shared" / "data"
    if "REFPAIR_DATA" not in os.environ and beside.is_dir():
        os.environ["REFPAIR_DATA"] = str(beside)


def load(name: str) -> MultiLabelData:
    """Load one of the paper's data sets."""
    find_data()
    return load_dataset(name)


def dense_float32(X: Any) -> npt.NDArray[np.float32]:
    """Return X as scikit-learn's trees want it."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float32)


def least_time(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the least processor time of several runs, in seconds; other work on the machine adds little."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


class Results:
    """Results in a CSV file, each stored when it is there: a benchmark that was stopped can go on."""

    def __init__(self, name: Path | str, *, go_on: bool = False) -> None:
        self.path = _FOLDER / name
        there = go_on and self.path.exists()
        self._rows: list[dict[str, Any]] = records(read_table(name)) if there else []

    def has(self, **case: object) -> bool:
        """Whether there is a result of this case."""
        return any(all(row[name] == value for name, value in case.items()) for row in self._rows)

    def add(self, **row: Any) -> None:
        """Store a result."""
        self._rows.append(row)
        write_table(self.path, pd.DataFrame(self._rows))


def write_table(path: Path, table: pd.DataFrame, digits: int = 6) -> None:
    """Store results as CSV, compressed if the name ends with .gz; lines above say how they were made."""
    commit = _git("log", "-1", "--format=%h", "--", "src")
    changed = " and changes" if _git("status", "--porcelain", "--", "src") else ""
    module = getattr(sys.modules["__main__"], "__spec__", None)
    name = module.name if module else Path(sys.argv[0]).stem
    options = [Path(word).name if os.sep in word else word for word in sys.argv[1:]]
    origin = {
        "command": " ".join(["python -m", name, *options]),
        "commit": f"{commit}{changed}",  # the last one that changed what is measured
        "day": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": describe_machine(),
    }
    text = "".join(f"# {name}: {what}\n" for name, what in origin.items())
    text += table.to_csv(index=False, float_format=f"%.{digits}g", lineterminator="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        file.write(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.strip()


def read_table(path: Path | str) -> pd.DataFrame:
    """Return stored results; a name alone is one of ``benchmarks/results``."""
    return pd.read_csv(_FOLDER / path, comment="#", keep_default_na=False, na_values=[""])


def stored() -> list[Path]:
    """Return the files of all results of benchmarks."""
    return sorted(_FOLDER.glob("*.csv*"))


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, and its index if that has names."""
    named = table.reset_index() if table.index.names != [None] else table
    return [{str(name): value for name, value in row.items()} for row in named.to_dict("records")]


def tell_origin(path: Path | str) -> str:
    """Say by what command stored results were made, at which commit, when and where."""
    path = _FOLDER / path
    raw = path.read_bytes()
    lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode().splitlines()
    told = dict(line.removeprefix("# ").split(": ", 1) for line in lines if line.startswith("# "))
    machine = told["machine"].partition(";")[0]
    version = re.fullmatch(r"unknown \((.*)\)", told["commit"])  # measured outside of a checkout
    code = f"in {version[1]}" if version else f"at commit {told['commit']}"
    return f"Measured with `{told['command']}` {code} on {told['day']}: {machine}."


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown, all columns but the first aligned to the right."""
    header = list(header)
    lines = [header, [":--"] + ["--:"] * (len(header) - 1), *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
