"""What the benchmarks share: data, half splits, a table, the machine."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair.datasets import MultiLabelData, load_dataset
from refpair.experiments.settings import half_split

__all__ = [
    "COSTS",
    "PAPER_SETS",
    "Results",
    "best_time",
    "dense_float32",
    "find_data",
    "half_split",
    "load",
    "print_machine",
    "print_table",
]

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
COSTS = ("f1", "jaccard", "hamming", "rank")


def find_data() -> None:
    """Let the paper's data sets be found beside the repository, where they may stand in a checkout."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    if "REFPAIR_DATA" not in os.environ and beside.is_dir():
        os.environ["REFPAIR_DATA"] = str(beside)


def load(name: str) -> MultiLabelData:
    """Load one of the paper's data sets."""
    find_data()
    return load_dataset(name)


def dense_float32(X: Any) -> npt.NDArray[np.float32]:
    """Return X as scikit-learn's trees want it."""
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float32)


def best_time(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the shortest wall time of several runs: the one least disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class Results:
    """Results in a file of JSON lines, written as they come: a run that is stopped goes on where it was."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._all = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._all)

    def has(self, **case: object) -> bool:
        """Whether there is a result of this case."""
        return any(all(result[key] == value for key, value in case.items()) for result in self._all)

    def add(self, result: dict[str, Any]) -> None:
        """Keep a result."""
        self._all.append(result)
        with self.path.open("a") as file:
            file.write(json.dumps(result) + "\n")


def print_table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table."""
    header = list(header)
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def print_machine() -> None:
    """Print what the numbers were measured on."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("refpair", "scikit-learn", "numba", "numpy"))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}\n")
