"""Do strategies ask as libact's do, and how much sooner?

``python -m benchmarks.active --libact PYTHON``: the interpreter of an environment with libact's git version,
scikit-learn < 1.8 and six. Three strategies ask for 12 of 300 rows of yeast, beginning with 5 labeled
ones; the paper's asks for ten of 300 rows of emotions, 30 of them labeled. Milliseconds a query (medians).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from benchmarks.common import Results, load, markdown_table, read_table, records
from refpair import Logistic
from refpair.active import MMC, AdaptiveActive, BinaryMinimization, CostSensitiveUncertainty
from refpair.active._strategy import QueryStrategy

_STRATEGIES = {"mmc": MMC, "adaptive": AdaptiveActive, "binmin": BinaryMinimization}
_DRAWS, _QUERIES = 3, 12
_TIMED = 10  # queries, of which the median counts

Problem = dict[str, npt.NDArray[Any]]


def measure(libact: str) -> Iterator[dict[str, Any]]:
    """Ask both ways, and yield a row for each strategy and draw."""
    for name, make in _STRATEGIES.items():
        for draw in range(_DRAWS):
            problem = draw_rows("yeast", 300, 5, draw, scale=False)
            yield {"strategy": name, "draw": draw} | compare(
                libact, problem, name, make(Logistic(C=1.0)), _QUERIES
            )
    problem = draw_rows("emotions", 300, 30, 0, scale=True)  # libact takes three times as long without
    strategy = CostSensitiveUncertainty("f1", n_bits=100, random_state=0)
    ask(strategy, problem, 2)  # kernels are compiled
    row = compare(libact, problem, "csrpe", strategy, _TIMED)
    yield {"strategy": "csrpe", "draw": 0} | row | {"same": None}  # both draw codes of their own


def draw_rows(name: str, n_rows: int | None, n_start: int, seed: int, *, scale: bool) -> Problem:
    """Return random rows of a data set, and which of them are labeled at first."""
    data, rng = load(name), np.random.default_rng(seed)
    rows = rng.choice(len(data.Y), n_rows or len(data.Y), replace=False)
    X = data.X[rows]
    if scale:
        X = StandardScaler().fit_transform(X)
    return {"X": X, "Y": np.asarray(data.Y)[rows], "start": rng.choice(len(rows), n_start, replace=False)}


def ask(strategy: QueryStrategy, problem: Problem, n_queries: int) -> tuple[list[int], list[float]]:
    """Return which rows a strategy of ours asks for, and how long each query took."""
    truth = problem["Y"].astype(float)
    Y = np.full(truth.shape, np.nan)
    Y[problem["start"]] = truth[problem["start"]]
    asked, seconds = [], []
    for _ in range(n_queries):
        begin = time.perf_counter()
        (row,) = strategy.query(problem["X"], Y)
        seconds.append(time.perf_counter() - begin)
        asked.append(int(row))
        Y[row] = truth[row]
    return asked, seconds


def ask_libact(python: str, problem: Problem, strategy: str, n_queries: int) -> dict[str, list[Any]]:
    """Return the same of libact's, in its own environment."""
    oracle = Path(__file__).with_name("libact_oracle.py")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "problem.npz")
        np.savez(file, **problem)  # type: ignore[arg-type]  # its stubs take the names for other arguments
        command = [python, str(oracle), str(file), strategy, str(n_queries)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    answer: dict[str, list[Any]] = json.loads(done.stdout)
    return answer


def compare(
    libact: str, problem: Problem, name: str, strategy: QueryStrategy, n_queries: int
) -> dict[str, Any]:
    """Return how many of the rows are the same, and the median milliseconds of both."""
    theirs = ask_libact(libact, problem, name, n_queries)
    asked, seconds = ask(strategy, problem, n_queries)
    same = sum(a == b for a, b in zip(asked, theirs["asked"], strict=True))
    times = {"refpair": 1000 * np.median(seconds), "libact": 1000 * np.median(theirs["seconds"])}
    return {"same": same, "of": n_queries} | times


def show() -> str:
    """Return the table of what is stored."""
    rows = [
        [
            row["strategy"],
            row["draw"],
            "–" if np.isnan(row["same"]) else f"{row['same']:.0f} of {row['of']}",
            f"{row['refpair']:.1f}",
            f"{row['libact']:.1f}",
            f"×{row['libact'] / row['refpair']:.0f}",
        ]
        for row in records(read_table("active.csv"))
    ]
    return markdown_table(["strategy", "draw", "same rows", "refpair, ms", "libact, ms", "ratio"], rows)


def main() -> None:
    """Measure each strategy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libact", metavar="PYTHON", required=True, help="an interpreter that has libact")
    results = Results("active.csv")
    for row in measure(parser.parse_args().libact):
        results.add(**row)
    print(show())


if __name__ == "__main__":
    main()
