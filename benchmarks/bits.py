"""How much faster is the tree bank than one scikit-learn tree per bit?

The same bits (uniform reference pairs, F1), the same depth, one thread each. scikit-learn's
``DecisionTreeClassifier`` gets dense float32, as the authors' code gives it, with the bit's weights; it
learns a sample of the bits. The bank's time has everything in it: cutting the features into bins, the costs,
the trees. Milliseconds of the processor a bit (medians); "right" is the share of test rows, by weight, whose
bit is predicted right.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks.common import (
    PAPER_SETS,
    Results,
    dense_float32,
    half_split,
    load,
    markdown_table,
    read_table,
    records,
)
from refpair.bits.problem import BitProblems
from refpair.bits.trees import TreeBank
from refpair.coding import draw_code
from refpair.costs import get_cost
from refpair.posterior.distinct_labels import distinct_labels


def measure(name: str, depth: int | None, n_bits: int, seconds: float) -> dict[str, Any]:
    """Return the row of one data set."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    X, distinct = data.X[train], distinct_labels(data.Y[train])
    code = draw_code(get_cost("f1"), distinct.vectors, n_bits, "uniform", rng=np.random.default_rng(0))
    problems = BitProblems(
        distinct.of_row,
        len(code),
        lambda bits: code[bits].differences(distinct.vectors),
        np.arange(len(code), dtype=np.uint64),
    )
    bank = TreeBank(max_depth=depth, n_jobs=1)
    bank.fit(X, problems)  # compiles
    dense, dense_test = dense_float32(X), dense_float32(data.X[test])
    differences = code.differences(distinct.vectors)[distinct.of_row]
    truth = code.differences(data.Y[test])

    # Both sides take turns, so that a disturbance of the machine meets both; the best turn of each counts.
    ours: list[float] = []
    theirs: list[float] = []
    signs: dict[int, npt.NDArray[np.int_]] = {}
    order = np.random.default_rng(1).permutation(len(code))
    start = time.perf_counter()
    for bit in order:
        begin = time.process_time()
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        tree.fit(dense, differences[:, bit] > 0, sample_weight=np.abs(differences[:, bit]))
        theirs.append(time.process_time() - begin)
        signs[bit] = np.where(tree.predict(dense_test), 1, -1)
        if len(ours) < 5 and len(theirs) % 3 == 0:
            begin = time.process_time()
            bank.fit(X, problems)
            ours.append((time.process_time() - begin) / len(code))
        if time.perf_counter() - start > seconds and len(theirs) >= 6:
            break
    learnt = np.array(sorted(signs))
    weights = np.abs(truth[:, learnt])
    right = [
        float((weights * (predicted == np.sign(truth[:, learnt]))).sum() / weights.sum())
        for predicted in (
            bank.predict(data.X[test])[:, learnt],
            np.stack([signs[bit] for bit in learnt], axis=1),
        )
    ]
    return {
        "data": name,
        "sklearn_ms": 1000 * float(np.median(theirs)),
        "refpair_ms": 1000 * float(np.median(ours)),
        "sklearn_right": right[1],
        "refpair_right": right[0],
        "bits_compared": len(theirs),
    }


def show() -> str:
    """Return the table of what is stored."""
    rows = [
        [
            row["data"], f"{row['sklearn_ms']:.2f}", f"{row['refpair_ms']:.3f}", f"×{row['ratio']:.0f}",
            f"{row['sklearn_right']:.3f}", f"{row['refpair_right']:.3f}", row["bits_compared"],
        ]
        for row in records(_ratios())
    ]  # fmt: skip
    header = ["data", "scikit-learn, ms a bit", "refpair, ms a bit", "ratio"]
    return markdown_table([*header, "right: scikit-learn", "right: refpair", "bits compared"], rows)


def show_range() -> str:
    """Return the least and the greatest ratio."""
    ratios = _ratios()["ratio"]
    return f"{ratios.min():.0f} to {ratios.max():.0f}"


def _ratios() -> pd.DataFrame:
    found = read_table("bits.csv")
    return found.assign(ratio=found["sklearn_ms"] / found["refpair_ms"])


def main() -> None:
    """Measure each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=PAPER_SETS)
    parser.add_argument("--depth", type=int, help="the depth of the trees; unlimited by default")
    parser.add_argument("--bits", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0, help="time for each data set")
    given = parser.parse_args()
    results = Results("bits.csv")
    with threadpool_limits(1):
        for name in given.data:
            results.add(**measure(name, given.depth, given.bits, given.seconds))
    print(show())


if __name__ == "__main__":
    main()
