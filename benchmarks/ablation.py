"""What does each default of posterior decoding do? One parameter changed at a time, the same splits.

The number is the mean over splits and data sets of by how much the score is better (+) or worse (−) than with
the defaults, in percent of the default's. Splits start at a seed that no default was chosen on.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import COSTS, half_split, load, print_machine, print_table
from benchmarks.posterior import dense, relative
from refpair import CSRPEClassifier

SETS = ("flags", "emotions", "medical", "enron", "yeast", "scene")
VARIANTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "1000 bits": {"n_bits": 1000},
    "uniform pairs": {"pairs": "uniform"},
    "pairs at density": {"pairs": "density"},
    "full depth": {"max_depth": None},
    "depth 6": {"max_depth": 6},
    "all features": {"max_features": None},
    "√d features": {"max_features": "sqrt"},
    "nearest": {"decoder": "nearest"},
}


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", nargs="+", default=("flags", "emotions", "medical", "enron", "yeast", "scene")
    )
    parser.add_argument("--cost", nargs="+", default=COSTS)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/ablation.jsonl"))
    arguments = parser.parse_args()
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    results = [json.loads(line) for line in lines]
    scores = {(r["data"], r["cost"], r["split"], r["variant"]): r["score"] for r in results}
    splits = range(arguments.first, arguments.first + arguments.splits)
    cells = [(name, cost, split) for name in arguments.data for split in splits for cost in arguments.cost]
    for name, cost, split in cells:
        data = load(name)
        train, test = half_split(len(data.Y), split)
        for variant, changed in VARIANTS.items():
            if (name, cost, split, variant) in scores:
                continue
            model = CSRPEClassifier(cost, n_jobs=arguments.jobs, random_state=split).set_params(**changed)
            predicted = dense(model.fit(data.X[train], data.Y[train]).predict(data.X[test]))
            score = model.cost_.mean(dense(data.Y[test]), predicted)
            scores[name, cost, split, variant] = score
            result = {"data": name, "cost": cost, "split": split, "variant": variant, "score": score}
            with arguments.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
    by = defaultdict(list)
    for name, cost, split in cells:
        default = scores[name, cost, split, "defaults"]
        for variant in VARIANTS:
            by[variant, cost].append(100 * relative(cost, scores[name, cost, split, variant], default))
    print_machine()
    print(f"{', '.join(arguments.data)}; {len(splits)} half splits from seed {arguments.first} on\n")
    rows = [
        [variant, *(f"{np.mean(by[variant, cost]):+.1f} %" for cost in arguments.cost)]
        for variant in VARIANTS
        if variant != "defaults"
    ]
    print_table(["instead of the default", *arguments.cost], rows)


if __name__ == "__main__":
    main()
