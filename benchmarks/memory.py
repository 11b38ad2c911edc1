"""How much memory does training take at its peak? bibtex, 3000 bits, in a process of its own."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

from benchmarks.common import half_split, load, print_machine, print_table
from refpair import CSRPEClassifier


def measure(name: str, n_bits: int) -> None:
    """Fit and predict, then print the peak of this process in MB."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = CSRPEClassifier("f1", n_bits=n_bits, decoder="nearest", n_jobs=2, random_state=0).fit(
        data.X[train], data.Y[train]
    )
    fitted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.predict(data.X[test])
    predicted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(before / 1024, fitted / 1024, predicted / 1024)


def main() -> None:
    """Print a row per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("bibtex", "Corel5k"))
    parser.add_argument("--bits", type=int, default=3000)
    arguments = parser.parse_args()
    print_machine()
    rows = []
    for name in arguments.data:
        call = f"from benchmarks.memory import measure; measure({name!r}, {arguments.bits})"
        done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=True)
        rows.append([name, *(f"{float(size):.0f}" for size in done.stdout.split())])
    print(f"peak of the process in MB, {arguments.bits} bits, 2 threads\n")
    print_table(["data", "data loaded", "fitted", "predicted"], rows)


if __name__ == "__main__":
    main()
