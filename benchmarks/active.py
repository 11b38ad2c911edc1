"""Do strategies ask as libact's do, and how much sooner?

``python -m benchmarks.active --libact PYTHON``: the interpreter of an environment with libact's git version,
scikit-learn < 1.8 and six. Without it only our own times are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from benchmarks.common import load, print_machine, print_table
from refpair import Logistic
from refpair.active import MMC, AdaptiveActive, BinaryMinimization, CostSensitiveUncertainty
from refpair.active._strategy import QueryStrategy

_STRATEGIES = {"mmc": MMC, "adaptive": AdaptiveActive, "binmin": BinaryMinimization}
_DRAWS, _QUERIES = 3, 12
_TIMED = 10  # queries, of which the median counts

Problem = dict[str, npt.NDArray[Any]]


def main() -> None:
    """Compare, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libact", metavar="PYTHON", help="an interpreter that has libact")
    libact: str | None = parser.parse_args().libact
    print_machine()
    if libact is not None:
        print_table(["strategy", "draw", "same of 12", "ours, ms", "libact, ms", "faster"], parity(libact))
    print_table(["problem", "ours, ms", "libact, ms", "faster"], speed(libact))


def parity(libact: str) -> list[list[str]]:
    """Ask for 12 of 300 rows of yeast, beginning with 5 labelled ones, both ways."""
    rows = []
    for name, strategy in _STRATEGIES.items():
        for draw in range(_DRAWS):
            problem = draw_rows("yeast", 300, 5, draw, scale=False)
            theirs = ask_libact(libact, problem, name, _QUERIES)
            asked, seconds = ask(strategy(Logistic(C=1.0)), problem, _QUERIES)
            same = sum(a == b for a, b in zip(asked, theirs["asked"], strict=True))
            rows.append([name, str(draw), str(same), *compare(seconds, theirs["seconds"])])
    return rows


def speed(libact: str | None) -> list[list[str]]:
    """Time the paper's strategy: as small as libact's example, and as large as the paper's codes."""
    small = draw_rows("emotions", 300, 30, 0, scale=True)
    strategy = CostSensitiveUncertainty("f1", n_bits=100, random_state=0)
    ask(strategy, small, 2)  # kernels are compiled
    _, seconds = ask(strategy, small, _TIMED)
    theirs = None if libact is None else ask_libact(libact, small, "csrpe", _TIMED)["seconds"]
    rows = [["100 bits, 30 of 300 rows of emotions labelled", *compare(seconds, theirs)]]
    large = draw_rows("enron", None, 200, 0, scale=False)
    strategy = CostSensitiveUncertainty("f1", n_bits=3000, random_state=0)
    _, seconds = ask(strategy, large, _TIMED)
    rows.append(["3000 bits, 200 of 1702 rows of enron labelled: first", *compare(seconds[:1], None)])
    rows.append(["the same, each further one", *compare(seconds[1:], None)])
    return rows


def draw_rows(name: str, n_rows: int | None, n_start: int, seed: int, *, scale: bool) -> Problem:
    """Return random rows of a data set, and which of them are labelled at first."""
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


def compare(ours: list[float], theirs: list[float] | None) -> list[str]:
    """Return both medians in milliseconds, and their ratio."""
    mine = 1000 * float(np.median(ours))
    if theirs is None:
        return [f"{mine:.1f}", "", ""]
    other = 1000 * float(np.median(theirs))
    return [f"{mine:.1f}", f"{other:.1f}", f"×{other / mine:.0f}"]


if __name__ == "__main__":
    main()
