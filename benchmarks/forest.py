"""Does training 3000 bits take longer than scikit-learn's random forest? Two threads each, half of the data.

The forest is ``RandomForestClassifier(n_estimators=500, n_jobs=2)``, multi-output, on dense float32.
"""

from __future__ import annotations

import argparse
import time

from sklearn.ensemble import RandomForestClassifier

from benchmarks.common import PAPER_SETS, dense_float32, half_split, load, print_machine, print_table
from refpair import CSRPEClassifier, get_cost


def measure(name: str, n_bits: int, n_trees: int) -> list[object]:
    """Return the row of one data set."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    X, Y, dense = data.X[train], data.Y[train], dense_float32(data.X[train])
    model = CSRPEClassifier("f1", n_bits=n_bits, decoder="nearest", n_jobs=2, random_state=0)
    CSRPEClassifier("f1", n_bits=20, decoder="nearest", random_state=0).fit(X, Y)  # compiles
    start = time.perf_counter()
    model.fit(X, Y)
    middle = time.perf_counter()
    forest = RandomForestClassifier(n_trees, n_jobs=2, random_state=0).fit(dense, Y)
    end = time.perf_counter()
    f1 = get_cost("f1")
    ours = f1.mean(data.Y[test], model.predict(data.X[test]))
    theirs = f1.mean(data.Y[test], forest.predict(dense_float32(data.X[test])).astype("uint8"))
    ratio = (end - middle) / (middle - start)
    return [
        name,
        f"{end - middle:.2f}",
        f"{middle - start:.2f}",
        f"×{ratio:.1f}",
        f"{theirs:.3f}",
        f"{ours:.3f}",
    ]


def main() -> None:
    """Print a row per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=PAPER_SETS)
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--trees", type=int, default=500)
    arguments = parser.parse_args()
    print_machine()
    print(f"two threads each, {arguments.bits} bits against {arguments.trees} trees, seconds to fit\n")
    rows = [measure(name, arguments.bits, arguments.trees) for name in arguments.data]
    print_table(
        ["data", "forest", "CSRPE", "ratio", "F1 of the forest", "F1 of CSRPE (depth not tuned)"], rows
    )


if __name__ == "__main__":
    main()
