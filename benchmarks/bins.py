"""Do fewer bins cost quality? The sets with numeric features, F1 and Hamming, by the number of bins.

Everything else is the same: 1000 bits, depth 12, the same random half splits and seeds. The error is that of
the paired difference to 255 bins.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.common import half_split, load, print_machine, print_table
from refpair import CSRPEClassifier, get_cost

BINS = (255, 128, 64, 32, 16)


def main() -> None:
    """Print a row per data set and cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("emotions", "CAL500", "yeast", "scene"))
    parser.add_argument("--cost", nargs="+", default=("f1", "hamming"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--bits", type=int, default=1000)
    arguments = parser.parse_args()
    print_machine()
    print(
        f"{arguments.bits} bits, depth 12, {arguments.splits} half splits: "
        "score (paired difference to 255 bins ± its error), seconds to fit\n"
    )
    rows = []
    for name in arguments.data:
        data = load(name)
        for cost in arguments.cost:
            scores = np.empty((len(BINS), arguments.splits))
            seconds = np.zeros(len(BINS))
            for split in range(arguments.splits):
                train, test = half_split(len(data.Y), split)
                for b, max_bins in enumerate(BINS):
                    model = CSRPEClassifier(
                        cost,
                        n_bits=arguments.bits,
                        decoder="nearest",
                        max_depth=12,
                        max_bins=max_bins,
                        n_jobs=-1,
                        random_state=split,
                    )
                    start = time.perf_counter()
                    model.fit(data.X[train], data.Y[train])
                    seconds[b] += time.perf_counter() - start
                    scores[b, split] = get_cost(cost).mean(data.Y[test], model.predict(data.X[test]))
            cells = []
            for b in range(len(BINS)):
                difference = scores[b] - scores[0]
                error = difference.std(ddof=1) / np.sqrt(arguments.splits)
                change = "" if b == 0 else f" ({difference.mean():+.4f} ± {error:.4f})"
                cells.append(f"{scores[b].mean():.4f}{change}, {seconds[b] / arguments.splits:.1f} s")
            rows.append([name, cost, *cells])
    print_table(["data", "cost", *(f"{b} bins" for b in BINS)], rows)


if __name__ == "__main__":
    main()
