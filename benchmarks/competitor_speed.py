"""How fast are tree-bank forests in the competitors? Each against the same from scikit-learn's own forests.

Binary relevance, a classifier chain and RAkEL with a forest of 100 trees for each label or label set, one
thread, the training halves of two sets with many labels, of which the most frequent are taken. On them the
tree bank's forests look at a third of the features at a split. "The same" is scikit-learn's forest with a
third: 10 trees are grown and the time is taken tenfold. "Default" is its forest of 100 trees as it is,
which looks at the square root and is worse on such data. Both are given the features in the form, dense or
sparse, in which they grow faster. Seconds of the processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from benchmarks.common import (
    Results,
    dense_float32,
    half_split,
    least_time,
    load,
    markdown_table,
    read_table,
    records,
)
from refpair import BinaryRelevance, ChainClassifier, RAkEL


def faster_form(X: Any, y: Any, forest: RandomForestClassifier) -> Any:
    """Return X in the form in which scikit-learn's forests grow faster."""
    forms = (X.astype(np.float32), dense_float32(X))
    return min(forms, key=lambda form: least_time(partial(forest.fit, form, y), 2))


def measure(name: str, n_labels: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each algorithm."""
    data = load(name)
    train, _ = half_split(len(data.Y), 0)
    X, Y = data.X[train], data.Y[train]
    Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:n_labels]]
    algorithms = {
        "BR": (BinaryRelevance, MultiOutputClassifier),
        "CC": (ChainClassifier, ClassifierChain),
        "RAkEL": (RAkEL, partial(RAkEL, random_state=0)),
    }
    forests = {
        "the same": (RandomForestClassifier(10, max_features=1 / 3, random_state=0), 10),
        "default": (RandomForestClassifier(100, random_state=0), 1),
    }
    forms = {how: faster_form(X, Y[:, 0], forest) for how, (forest, _) in forests.items()}
    for algorithm, (ours, theirs) in algorithms.items():
        ours("forest", random_state=0).fit(X[:50], Y[:50])  # compiles
        row = {"data": name, "algorithm": algorithm, "labels": Y.shape[1]}
        row["refpair"] = least_time(partial(ours("forest", random_state=0).fit, X, Y))
        for how, (forest, times) in forests.items():
            row[how] = times * least_time(partial(theirs(forest).fit, forms[how], Y))
        yield row


def show() -> str:
    """Return the table of what is stored."""
    found = read_table("competitor_speed.csv")
    rows = []
    for row in records(found):
        cells = [row["data"], row["algorithm"], f"{row['refpair']:.2f}"]
        for how in ("the same", "default"):
            cells += [f"{row[how]:.1f}", f"×{row[how] / row['refpair']:.1f}"]
        rows.append(cells)
    return markdown_table(
        ["data", "algorithm", "refpair, s", "the same, s", "ratio", "default, s", "ratio"], rows
    )


def main() -> None:
    """Measure each data set and algorithm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("enron", "bibtex"))
    parser.add_argument("--labels", type=int, default=20)
    given = parser.parse_args()
    results = Results("competitor_speed.csv")
    for name in given.data:
        for row in measure(name, given.labels):
            results.add(**row)
    print(show())


if __name__ == "__main__":
    main()
