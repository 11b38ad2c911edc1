"""How much faster is the nearest code word than a ball tree? One thread, 3000 bits, bibtex by default.

The authors' code searches with ``NearestNeighbors(algorithm="ball_tree")``. With bits −1, 0, +1 the Manhattan
distance is twice the paper's Hamming distance with ties at one half, so both search for the same thing.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.common import best_time, half_split, load, print_machine, print_table
from refpair import CSRPEClassifier
from refpair.coding.nearest import CodeBook


def measure(name: str, n_bits: int, n_rows: int) -> list[object]:
    """Return the row of one data set."""
    data = load(name)
    train, test = half_split(len(data.Y), 0)
    model = CSRPEClassifier(
        "f1", n_bits=n_bits, decoder="nearest", max_depth=10, n_jobs=-1, random_state=0
    ).fit(data.X[train], data.Y[train])
    signs, words = model.predict_code(data.X[test]), model.encode(model.relevant_set_)
    book = CodeBook(words)
    book.decode(signs[:1])  # compiles
    ours = best_time(lambda: book.decode(signs), 3) / len(signs)
    ball_tree = NearestNeighbors(n_neighbors=1, algorithm="ball_tree", metric="manhattan").fit(words)
    some = signs[:n_rows]
    theirs = best_time(lambda: ball_tree.kneighbors(some)) / len(some)
    found = words[ball_tree.kneighbors(some, return_distance=False)[:, 0]]
    same = np.abs(found - some).sum(axis=1) == np.abs(words[book.decode(some)] - some).sum(axis=1)
    return [
        name, len(test), len(words), f"{1e6 * theirs:.0f}", f"{1e6 * ours:.1f}", f"×{theirs / ours:.0f}",
        f"{same.sum()} of {len(some)}",
    ]  # fmt: skip


def main() -> None:
    """Print a row per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("bibtex", "yeast"))
    parser.add_argument("--bits", type=int, default=3000)
    parser.add_argument("--rows", type=int, default=300, help="how many rows the ball tree searches")
    arguments = parser.parse_args()
    print_machine()
    print(f"one thread each, {arguments.bits} bits, microseconds a row\n")
    with threadpool_limits(1):
        rows = [measure(name, arguments.bits, arguments.rows) for name in arguments.data]
    print_table(["data", "rows", "code words", "ball tree", "popcount", "ratio", "equally near"], rows)


if __name__ == "__main__":
    main()
