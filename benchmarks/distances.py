"""Why do some cells miss the paper's number? Other ways to read the same predicted bits, where it misses.

* nearest: the paper's decoder. A bit on which a label vector ties is half a bit away whatever is predicted,
  so vectors with many ties are never near.
* known bits: the share of wrong bits among those on which the vector does not tie.
* weighted: bits vote with the cost they decide about instead of one vote each.

Depth and features a split are set by hand, near what cross-validation chose: compare the columns with each
other, not with the paper.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.common import half_split, load, print_machine, print_table
from refpair import CSRPEClassifier, get_cost

CELLS: tuple[tuple[str, str, int, Literal["sqrt"] | None], ...] = (
    ("scene", "accuracy", 20, "sqrt"),
    ("medical", "accuracy", 20, None),
    ("medical", "rank", 12, None),
    ("flags", "rank", 5, "sqrt"),
)


def main() -> None:
    """Print a row per cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--bits", type=int, default=2000)
    parser.add_argument("--paper", type=Path, default=Path("../shared/paper/table_comparison.json"))
    arguments = parser.parse_args()
    paper = json.loads(arguments.paper.read_text())
    rows = []
    for name, cost, depth, features in CELLS:
        data, measure = load(name), get_cost(cost)
        scores = np.empty((arguments.splits, 3))
        for split in range(arguments.splits):
            train, test = half_split(len(data.Y), split)
            model = CSRPEClassifier(
                cost,
                n_bits=arguments.bits,
                decoder="nearest",
                max_depth=depth,
                max_features=features,
                n_jobs=-1,
                random_state=split,
            ).fit(data.X[train], data.Y[train])
            signs = model.predict_code(data.X[test]).astype(np.float32)
            words = model.encode(model.relevant_set_).astype(np.float32)
            differences = model.code_.differences(model.relevant_set_).astype(np.float32)
            agreement = signs @ words.T
            known = np.maximum(np.abs(words).sum(axis=1), 1.0)
            for way, votes in enumerate((agreement, agreement / known, signs @ differences.T)):
                predicted = model.relevant_set_[votes.argmax(axis=1)]
                scores[split, way] = measure.mean(data.Y[test], predicted)
        means, errors = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(arguments.splits)
        ways = [f"{mean:.4g} ± {error:.2g}" for mean, error in zip(means, errors, strict=True)]
        rows.append([name, cost, paper[cost][name]["CSRPE"]["mean"], *ways, f"{(words == 0).mean():.0%}"])
    print_machine()
    print(f"{arguments.splits} half splits, {arguments.bits} bits\n")
    print_table(["data", "cost", "paper", "nearest", "known bits", "weighted", "bits that tie"], rows)


if __name__ == "__main__":
    main()
