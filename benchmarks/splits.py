"""Are folds as even as those of iterative stratification, and how much sooner are they there?

It compares with two public packages, which are no dependencies:

    pip install --no-deps scikit-multilearn iterative-stratification
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.common import PAPER_SETS, best_time, load, print_machine, print_table
from refpair.model_selection import MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit

try:
    from iterstrat import ml_stratifiers
    from skmultilearn.model_selection import IterativeStratification
except ImportError:
    raise SystemExit(f"{__doc__}") from None

Labels = npt.NDArray[np.int64]
Parts = list[npt.NDArray[np.intp]]
CASES = ("5 folds", "10 folds", "half", "20 %")


def refpair_parts(Y: Labels, case: str, seed: int) -> Parts:
    """Split by refpair."""
    return _parts(MultilabelStratifiedKFold, MultilabelStratifiedShuffleSplit, Y, case, seed)


def iterstrat_parts(Y: Labels, case: str, seed: int) -> Parts:
    """Split by the package iterative-stratification."""
    own = ml_stratifiers
    return _parts(own.MultilabelStratifiedKFold, own.MultilabelStratifiedShuffleSplit, Y, case, seed)


def _parts(folds: Any, shuffled: Any, Y: Labels, case: str, seed: int) -> Parts:
    if case.endswith("folds"):
        n = int(case.removesuffix(" folds"))
        return [test for _, test in folds(n, shuffle=True, random_state=seed).split(Y, Y)]
    share = 0.5 if case == "half" else 0.2
    train, test = next(shuffled(1, test_size=share, random_state=seed).split(Y, Y))
    return [test, train]


def multilearn_parts(Y: Labels, case: str, seed: int, order: int) -> Parts:
    """Split by the package scikit-multilearn, which draws from NumPy's own state."""
    np.random.seed(seed)  # noqa: NPY002
    shuffled = np.random.permutation(len(Y))  # noqa: NPY002
    n = int(case.removesuffix(" folds")) if case.endswith("folds") else 2
    shares = {"half": [0.5, 0.5], "20 %": [0.2, 0.8]}.get(case)
    stratifier = IterativeStratification(n, order=order, sample_distribution_per_fold=shares)
    return [shuffled[test] for _, test in stratifier.split(Y[shuffled], Y[shuffled])]


METHODS: dict[str, Callable[[Labels, str, int], Parts]] = {
    "refpair": refpair_parts,
    "iterstrat": iterstrat_parts,
    "multilearn 1": lambda Y, case, seed: multilearn_parts(Y, case, seed, 1),
    "multilearn 2": lambda Y, case, seed: multilearn_parts(Y, case, seed, 2),
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


def print_evenness(names: list[str], n_seeds: int) -> None:
    """Print a row for each data set and case: mean deviations, in 1/10,000."""
    rows, ratios = [], []
    for name in names:
        Y = np.asarray(load(name).Y, np.int64)
        for case in CASES:
            found = {
                method: np.mean([deviations(Y, split(Y, case, seed)) for seed in range(n_seeds)], axis=0)
                for method, split in METHODS.items()
            }
            ratios.append([found["refpair"] / found[method] for method in METHODS])
            rows.append([name, case, *(f"{1e4 * a:.1f} · {1e4 * b:.1f}" for a, b in found.values())])
    print_table(["data", "split", *METHODS], rows)
    print("\nrefpair's deviation to the others', geometric mean, and in how many rows it is not larger:\n")
    logs = np.log(np.maximum(ratios, 1e-9))
    means, n_even = np.exp(logs.mean(axis=0)), (np.array(ratios) <= 1.0 + 1e-9).sum(axis=0)
    print_table(
        ["", *list(METHODS)[1:]],
        [
            [what, *(f"{means[j, k]:.2f}, {n_even[j, k]} of {len(rows)}" for j in range(1, len(METHODS)))]
            for k, what in enumerate(("labels", "pairs"))
        ],
    )


def draw_labels(n: int, n_labels: int, density: float) -> Labels:
    """Draw labels, few of them frequent."""
    rng = np.random.default_rng(0)
    shares = np.minimum(rng.pareto(1, n_labels) + 0.2, 20)
    shares = np.minimum(shares / shares.mean() * density, 0.9)
    return np.asarray(rng.random((n, n_labels), np.float32) < shares, np.int64)


def print_speed() -> None:
    """Print times on drawn labels."""
    rows = []
    for density in (0.02, 0.03, 0.05, 0.1):
        Y = draw_labels(10_000, 100, density)
        for case in CASES:
            refpair_parts(Y, case, 0)
            ours = best_time(partial(refpair_parts, Y, case, 0), 15)
            theirs = best_time(partial(iterstrat_parts, Y, case, 0), 3)
            own, other = (deviations(Y, split(Y, case, 0)) for split in (refpair_parts, iterstrat_parts))
            both = [f"{1e4 * a:.1f} · {1e4 * b:.1f}" for a, b in (own, other)]
            times = [f"{1e3 * ours:.1f} ms", f"{1e3 * theirs:.0f} ms", f"×{theirs / ours:.0f}"]
            rows.append([f"{Y.sum(axis=1).mean():.1f}", case, *times, *both])
    print("\n10,000 samples, 100 labels:\n")
    evenness = ["refpair's deviations", "iterstrat's"]
    print_table(["labels a sample", "split", "refpair", "iterstrat", "ratio", *evenness], rows)
    rows = []
    for density in (0.01, 0.1):
        Y = draw_labels(100_000, 500, density)
        for form, labels in (("dense", Y), ("sparse", sp.csr_array(Y))):
            start = time.perf_counter()
            parts = refpair_parts(labels, "5 folds", 0)
            taken = time.perf_counter() - start
            off, _ = deviations(Y[:, :100], parts)
            rows.append([f"{Y.sum(axis=1).mean():.1f}", form, f"{taken:.2f} s", f"{1e4 * off:.2f}"])
    print("\n100,000 samples, 500 labels, 5 folds by refpair:\n")
    print_table(["labels a sample", "form", "time", "deviation of 100 labels"], rows)


def main() -> None:
    """Print evenness on the paper's data sets, and speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=PAPER_SETS)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print_machine()
    print_speed()
    print("\nmean deviations of labels · pairs, in 1/10,000:\n")
    print_evenness(list(arguments.data), arguments.seeds)


if __name__ == "__main__":
    main()
