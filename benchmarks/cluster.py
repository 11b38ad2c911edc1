"""Does a fit on two Dask workers take longer than one in two threads?

``CSRPEClassifier("f1", 3000, n_jobs=2)`` on all rows, by turns in threads and with a local cluster of two
processes of one thread, under ``joblib.parallel_config(backend="dask")``. All have fitted a small model
before: kernels are loaded. What is done at home, such as the choice of how to read codes, takes two threads
in both.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import joblib

from benchmarks.common import Results, load, markdown_table, read_table, records
from refpair import CSRPEClassifier


def measure(name: str, n_bits: int, turns: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each turn."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - the tables are shown without it

    data = load(name)
    small = CSRPEClassifier("f1", n_bits=200, n_jobs=2, random_state=0)
    model = CSRPEClassifier("f1", n_bits=n_bits, n_jobs=2, random_state=0)
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**how) as cluster, Client(cluster):  # type: ignore[no-untyped-call]
        for fitted in (small, *[model] * turns):
            start = time.perf_counter()
            here = fitted.fit(data.X, data.Y).oob_cost_
            middle = time.perf_counter()
            with joblib.parallel_config(backend="dask"):
                there = fitted.fit(data.X, data.Y).oob_cost_
            end = time.perf_counter()
            assert here == there, "the two models differ"
            if fitted is model:
                yield {"data": name, "threads": middle - start, "dask": end - middle}


def show() -> str:
    """Return the table of what is stored, and the median of the ratios."""
    found = read_table("cluster.csv")
    ratio = found["dask"] / found["threads"]
    rows = [
        [row["data"], f"{row['threads']:.1f}", f"{row['dask']:.1f}", f"×{row['dask'] / row['threads']:.2f}"]
        for row in records(found)
    ]
    rows.append(["median", "", "", f"×{ratio.median():.2f}"])
    return markdown_table(["data", "two threads, s", "two Dask workers, s", "ratio"], rows)


def show_ratio() -> str:
    """Return the median of the ratios."""
    found = read_table("cluster.csv")
    return f"{(found['dask'] / found['threads']).median():.2f}"


def main() -> None:
    """Measure each turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=["bibtex"])
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    results = Results("cluster.csv")
    for name in given.data:
        for row in measure(name, given.bits, given.turns):
            results.add(**row)
    print(show())


if __name__ == "__main__":
    main()
