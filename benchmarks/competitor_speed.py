"""How fast are tree-bank forests in the competitors? Each against the same from scikit-learn's own forests.

Binary relevance, a classifier chain and RAkEL with a forest of 100 trees for each label or label set, one
thread, the training halves of two sets with many labels, of which the most frequent are taken. On them the
tree bank's forests look at a third of the features at a split. "The same" is scikit-learn's forest with a
third: 10 trees are grown and the time is taken tenfold. "Default" is its forest of 100 trees as it is,
which looks at the square root and is worse on such data. Both are given the features in the form, dense or
sparse, in which they grow faster. Last: inference by sampling in a probabilistic chain.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from benchmarks.common import best_time, dense_float32, half_split, load, print_machine, print_table
from refpair import BinaryRelevance, ChainClassifier, ProbabilisticChain, RAkEL


def faster_form(X: Any, y: Any, forest: RandomForestClassifier) -> Any:
    """Return X in the form in which scikit-learn's forests grow faster."""
    forms = (X.astype(np.float32), dense_float32(X))
    return min(forms, key=lambda form: best_time(partial(forest.fit, form, y), 2))


def measure(name: str, n_labels: int) -> list[list[Any]]:
    """Return a row for each algorithm."""
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
    rows = []
    for algorithm, (ours, theirs) in algorithms.items():
        ours("forest", random_state=0).fit(X[:50], Y[:50])  # compiles
        seconds = best_time(partial(ours("forest", random_state=0).fit, X, Y))
        row = [name, algorithm, Y.shape[1], f"{seconds:.2f}"]
        for how, (forest, times) in forests.items():
            other = times * best_time(partial(theirs(forest).fit, forms[how], Y))
            row += [f"{other:.1f}", f"×{other / seconds:.1f}"]
        rows.append(row)
    return rows


def measure_inference(jobs: int) -> str:
    """Return the time that sampling in a chain takes for the test half of yeast."""
    data = load("yeast")
    train, test = half_split(len(data.Y), 0)
    model = ProbabilisticChain("forest", cost="f1", n_samples=100, random_state=0, n_jobs=jobs)
    model.fit(data.X[train], data.Y[train]).predict(data.X[test][:20])
    seconds = best_time(partial(model.predict, data.X[test]), 3)
    return f"{len(test)} rows of yeast, 100 samples, n_jobs={jobs}: {seconds:.2f} s"


def main() -> None:
    """Print a row for each data set and algorithm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("enron", "bibtex"))
    parser.add_argument("--labels", type=int, default=20)
    arguments = parser.parse_args()
    print_machine()
    rows = [row for name in arguments.data for row in measure(name, arguments.labels)]
    print_table(
        ["data", "algorithm", "labels", "tree bank, s", "the same, s", "ratio", "default, s", "ratio"], rows
    )
    print()
    for jobs in (1, 2):
        print(measure_inference(jobs))


if __name__ == "__main__":
    main()
