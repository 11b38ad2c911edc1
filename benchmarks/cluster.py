"""Does a fit on two Dask workers take longer than one in two threads?

``CSRPEClassifier("f1", 3000, n_jobs=2)`` on all rows, by turns in threads and with a local cluster of two
processes of one thread, under ``joblib.parallel_config(backend="dask")``. All have fitted a small model
before: kernels are loaded. What is done at home, such as the choice of how to read codes, takes two threads
in both.
"""

from __future__ import annotations

import argparse
import os
import time

import joblib
import numpy as np
from distributed import Client, LocalCluster

from benchmarks.common import load, print_machine, print_table
from refpair import CSRPEClassifier


def measure(name: str, n_bits: int, turns: int) -> list[list[object]]:
    """Return a row for each turn, and one of the best times: those least disturbed."""
    data = load(name)
    small = CSRPEClassifier("f1", n_bits=200, n_jobs=2, random_state=0)
    model = CSRPEClassifier("f1", n_bits=n_bits, n_jobs=2, random_state=0)
    rows: list[list[object]] = []
    times: list[tuple[float, float]] = []
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**how) as cluster, Client(cluster):  # type: ignore[no-untyped-call]
        for fitted in (small, *[model] * turns):
            load_before = os.getloadavg()[0]
            start = time.perf_counter()
            here = fitted.fit(data.X, data.Y).oob_cost_
            middle = time.perf_counter()
            with joblib.parallel_config(backend="dask"):
                there = fitted.fit(data.X, data.Y).oob_cost_
            end = time.perf_counter()
            assert here == there, "the two models differ"
            if fitted is model:
                times.append((middle - start, end - middle))
                rows.append([name, *_cells(*times[-1]), f"{load_before:.1f}"])
    best_here, best_there = (min(column) for column in zip(*times, strict=True))
    middle_ratio = np.median([there / here for here, there in times])
    return [
        *rows,
        [f"{name}, best of each", *_cells(best_here, best_there), ""],
        [f"{name}, median of the ratios", "", "", f"×{middle_ratio:.2f}", ""],
    ]


def _cells(here: float, there: float) -> list[str]:
    return [f"{here:.2f}", f"{there:.2f}", f"×{there / here:.2f}"]


def main() -> None:
    """Print a row per turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["bibtex"])
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=3)
    arguments = parser.parse_args()
    print_machine()
    print(f"{arguments.bits} bits, seconds\n")
    rows = [row for name in arguments.data for row in measure(name, arguments.bits, arguments.turns)]
    print_table(["data", "two threads", "two Dask workers", "ratio", "load before"], rows)


if __name__ == "__main__":
    main()
