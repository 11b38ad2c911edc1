"""Does `predict` take longer than that of scikit-learn's random forest, for one row, for 100, and for many?

The forest is ``RandomForestClassifier(n_estimators=500)``, multi-output, on dense float32; the model has its
defaults. Both have the same threads, and answer for the same rows: half of a data set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

from sklearn.ensemble import RandomForestClassifier

from benchmarks.common import (
    PAPER_SETS,
    best_time,
    dense_float32,
    half_split,
    load,
    print_machine,
    print_table,
)
from refpair import CSRPEClassifier

_N_TREES = 500
_REPEATS = {1: 20, 100: 7}  # of more rows, 5


def measure(name: str, threads: list[int]) -> Iterator[list[object]]:
    """Yield the rows of one data set."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    X, dense = data.X[test], dense_float32(data.X[test])
    forest = RandomForestClassifier(_N_TREES, n_jobs=-1, random_state=0)
    forest.fit(dense_float32(data.X[train]), data.Y[train])
    model = CSRPEClassifier("f1", n_jobs=-1, random_state=0).fit(data.X[train], data.Y[train])
    for n in (1, 100, len(test)):
        some, dense_some = X[:n], dense[:n]
        repeats = _REPEATS.get(n, 5)
        cells: list[object] = []
        ours = []
        for n_jobs in threads:
            forest.n_jobs = model.n_jobs = n_jobs
            vars(model.bits_)["n_jobs"] = n_jobs
            model.predict(some)  # compiles
            ours.append(best_time(partial(model.predict, some), repeats))
            theirs = best_time(partial(forest.predict, dense_some), repeats)
            cells += [f"{1e3 * theirs:.1f}", f"{1e3 * ours[-1]:.1f}", f"×{theirs / ours[-1]:.1f}"]
        yield [name, len(some), *cells, f"×{ours[0] / ours[-1]:.2f}"]


def main() -> None:
    """Print three rows per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=(*PAPER_SETS, "digits"))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    arguments = parser.parse_args()
    print_machine()
    print(f"milliseconds a call, best of several; the forest has {_N_TREES} trees\n")
    rows = [row for name in arguments.data for row in measure(name, arguments.threads)]
    by_threads = [f"{what}, {n} thr." for n in arguments.threads for what in ("forest", "CSRPE", "faster")]
    print_table(["data", "rows", *by_threads, "more threads"], rows)


if __name__ == "__main__":
    main()
