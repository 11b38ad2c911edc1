"""What does a parameter do? One changed at a time, the same splits, through a study that goes on if stopped.

* ``defaults``: those of posterior decoding, against others; 3000 bits.
* ``bins``: the number of bins of numeric features; nearest decoding, 1000 bits, depth 12.

The numbers are means over splits and data sets: by how much the score is better (+) or worse (−) than that of
the first, in percent of it, with the standard error over splits and data sets, and the seconds of a fit.
Defaults were settled by test scores of splits 0 to 2, so ``--from-split 3`` leaves these out.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.common import COSTS, find_data, print_machine, print_table
from refpair import CSRPEClassifier, get_cost
from refpair.experiments import Part, Study

default = CSRPEClassifier
bits_1000 = partial(CSRPEClassifier, n_bits=1000)
uniform_pairs = partial(CSRPEClassifier, pairs="uniform")
pairs_at_density = partial(CSRPEClassifier, pairs="density")
full_depth = partial(CSRPEClassifier, max_depth=None)
depth_6 = partial(CSRPEClassifier, max_depth=6)
all_features = partial(CSRPEClassifier, max_features=None)
sqrt_features = partial(CSRPEClassifier, max_features="sqrt")
nearest = partial(CSRPEClassifier, decoder="nearest")

_binned = partial(CSRPEClassifier, n_bits=1000, decoder="nearest", max_depth=12)
bins_255 = partial(_binned, max_bins=255)
bins_128 = partial(_binned, max_bins=128)
bins_64 = partial(_binned, max_bins=64)
bins_32 = partial(_binned, max_bins=32)
bins_16 = partial(_binned, max_bins=16)

GROUPS = {
    "defaults": (
        "default", "bits_1000", "uniform_pairs", "pairs_at_density", "full_depth", "depth_6", "all_features",
        "sqrt_features", "nearest",
    ),
    "bins": ("bins_255", "bins_128", "bins_64", "bins_32", "bins_16"),
}  # fmt: skip
SETS = {
    "defaults": ("flags", "emotions", "medical", "enron", "yeast", "scene"),
    "bins": ("emotions", "CAL500", "yeast", "scene"),
}


def compare(results: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return a row for each variant: by how many percent it is better than the first, cost by cost."""
    scores = results.pivot(index=["cost", "data", "split"], columns="algorithm", values="score")[
        names
    ].dropna()
    gains = 100 * scores.sub(scores[names[0]], axis=0).div(scores[names[0]].abs(), axis=0)
    signs = [1 if get_cost(cost).greater_is_better else -1 for cost, _, _ in gains.index]
    by_cost = gains.mul(signs, axis=0).groupby(level="cost", sort=False)
    shown = by_cost.mean().T.map("{:+.1f} ± ".format) + by_cost.sem().T.map("{:.1f} %".format)
    shown["fit, s"] = results.groupby("algorithm")["seconds_fit"].mean().map("{:.1f}".format)
    return shown.set_axis([name.partition(":")[2] for name in names], axis=0)


def main() -> None:
    """Run what is missing of a group and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", choices=list(GROUPS), default="defaults")
    parser.add_argument("--data", nargs="+")
    parser.add_argument("--cost", nargs="+", default=COSTS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--from-split", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/variants"))
    given = parser.parse_args()
    find_data()
    names = [f"benchmarks.variants:{name}" for name in GROUPS[given.group]]
    part = Part("compare", given.splits, algorithms=tuple(names))
    study = Study(given.out, [part], given.data or SETS[given.group], given.cost)
    study.run(jobs=given.jobs, verbose=1)
    results = study.results("compare")
    shown = compare(results[results["split"] >= given.from_split], names)
    print_machine()
    print_table(["variant", *shown.columns], ([name, *cells] for name, *cells in shown.itertuples(name=None)))


if __name__ == "__main__":
    main()
