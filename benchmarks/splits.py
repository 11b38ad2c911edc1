"""Are folds as even as those of iterative stratification, and how much sooner are they there?

It compares with two public packages, which are no dependencies:

    pip install --no-deps scikit-multilearn iterative-stratification

"iterstrat" is iterative-stratification, "multilearn" ``IterativeStratification(order=2)`` of
scikit-multilearn. Evenness: mean absolute deviations of the frequencies of labels, and of pairs of labels
that occur, between parts and the whole set. Speed: labels drawn at random, 10,000 samples × 100 labels,
milliseconds of the processor.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import PAPER_SETS, Results, least_time, load, markdown_table, read_table
from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

Labels = npt.NDArray[np.int64]
Parts = list[npt.NDArray[np.intp]]
_TOO_LONG = ("Corel5k", "bibtex")  # for scikit-multilearn
CASES = ("5 folds", "10 folds", "half", "20 %")


def refpair_parts(Y: Labels, case: str, seed: int) -> Parts:
    """Split by refpair."""
    return _parts(MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit, Y, case, seed)


def iterstrat_parts(Y: Labels, case: str, seed: int) -> Parts:
    """Split by the package iterative-stratification."""
    from iterstrat import ml_stratifiers as own  # noqa: PLC0415 - the tables are shown without it

    return _parts(own.MultilabelStratifiedKFold, own.MultilabelStratifiedShuffleSplit, Y, case, seed)


def _parts(folds: Any, shuffled: Any, Y: Labels, case: str, seed: int) -> Parts:
    if case.endswith("folds"):
        n = int(case.removesuffix(" folds"))
        return [test for _, test in folds(n, shuffle=True, random_state=seed).split(Y, Y)]
    share = 0.5 if case == "half" else 0.2
    train, test = next(shuffled(1, test_size=share, random_state=seed).split(Y, Y))
    return [test, train]


def multilearn_parts(Y: Labels, case: str, seed: int) -> Parts:
    """Split by the package scikit-multilearn, which draws from NumPy's own state."""
    from skmultilearn.model_selection import IterativeStratification  # noqa: PLC0415

    np.random.seed(seed)  # noqa: NPY002
    shuffled = np.random.permutation(len(Y))  # noqa: NPY002
    n = int(case.removesuffix(" folds")) if case.endswith("folds") else 2
    shares = {"half": [0.5, 0.5], "20 %": [0.2, 0.8]}.get(case)
    stratifier = IterativeStratification(n, order=2, sample_distribution_per_fold=shares)
    return [shuffled[test] for _, test in stratifier.split(Y[shuffled], Y[shuffled])]


METHODS: dict[str, Callable[[Labels, str, int], Parts]] = {
    "refpair": refpair_parts,
    "iterstrat": iterstrat_parts,
    "multilearn": multilearn_parts,
}


def deviations(Y: Labels, parts: Parts) -> tuple[float, float]:
    """Return how far the frequencies of labels and of pairs that occur are from those in all, on average."""
    both = Y.T.astype(float) @ Y
    is_pair = np.triu(both, 1) > 0
    off = []
    for part in parts:
        own = Y[part].astype(float)
        off.append(np.abs(own.T @ own / len(part) - both / len(Y)))
    labels = np.mean([np.diag(one).mean() for one in off])
    return float(labels), float(np.mean([one[is_pair].mean() for one in off]))


def measure_evenness(name: str, n_seeds: int) -> Iterator[dict[str, Any]]:
    """Yield the mean deviations on a data set, in each case by each method."""
    Y = np.asarray(load(name).Y, np.int64)
    for case in CASES:
        for method, split in METHODS.items():
            off = np.mean([deviations(Y, split(Y, case, seed)) for seed in range(n_seeds)], axis=0)
            yield {"data": name, "case": case, "method": method, "labels": off[0], "pairs": off[1]}


def draw_labels(n: int, n_labels: int, density: float) -> Labels:
    """Draw labels, few of them frequent."""
    rng = np.random.default_rng(0)
    shares = np.minimum(rng.pareto(1, n_labels) + 0.2, 20)
    shares = np.minimum(shares / shares.mean() * density, 0.9)
    return np.asarray(rng.random((n, n_labels), np.float32) < shares, np.int64)


def measure_speed() -> Iterator[dict[str, Any]]:
    """Yield times on drawn labels."""
    for density in (0.02, 0.03, 0.05, 0.1):
        Y = draw_labels(10_000, 100, density)
        for case in CASES:
            refpair_parts(Y, case, 0)
            ours = least_time(partial(refpair_parts, Y, case, 0), 30)
            theirs = least_time(partial(iterstrat_parts, Y, case, 0), 3)
            labels = float(Y.sum(axis=1).mean())
            yield {"labels": labels, "case": case, "refpair": 1e3 * ours, "iterstrat": 1e3 * theirs}


def show_evenness() -> str:
    """Return refpair's deviation to the others', and in how many cases it is not larger."""
    found = read_table("splits.csv")
    tables = {
        what: found.pivot(index=["data", "case"], columns="method", values=what)
        for what in ("labels", "pairs")
    }
    rows = []
    for what, table in tables.items():
        cells = []
        for other in list(METHODS)[1:]:
            ratio = table["refpair"] / table[other]
            mean = np.exp(np.log(np.maximum(ratio, 1e-9)).mean())
            cells.append(f"{mean:.2f}, {(ratio <= 1 + 1e-9).sum()} of {len(ratio)}")
        rows.append([what, *cells])
    return markdown_table(["refpair's deviation", *(f"to {other}'s" for other in list(METHODS)[1:])], rows)


def show_speed() -> str:
    """Return a row for each number of labels a sample."""
    found = read_table("splits_speed.csv")
    ratio = found.assign(ratio=found["iterstrat"] / found["refpair"])
    rows = []
    for labels, own in ratio.groupby("labels", sort=False):
        rows.append(
            [f"{labels:.1f}", *(f"{a:.1f}, ×{b:.0f}" for a, b in own[["refpair", "ratio"]].to_numpy())]
        )
    return markdown_table(["labels a sample", *CASES], rows)


def main() -> None:
    """Measure evenness on the paper's data sets, and speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=[name for name in PAPER_SETS if name not in _TOO_LONG])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    speed, evenness = Results("splits_speed.csv"), Results("splits.csv")
    for row in measure_speed():
        speed.add(**row)
    for name in given.data:
        for row in measure_evenness(name, given.seeds):
            evenness.add(**row)
    print(f"{show_speed()}\n\n{show_evenness()}")


if __name__ == "__main__":
    main()
