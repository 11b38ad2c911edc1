"""How fast are tree-bank forests in the competitors? Each against the same from scikit-learn's own forests.

Binary relevance, a classifier chain and RAkEL with a forest of 100 trees for each label or label set, one
thread, the training halves of two sets with many labels. scikit-learn's forests are given the features in the
form, dense or sparse, in which they grow faster. A last row: inference by sampling in a probabilistic chain.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

from benchmarks.common import best_time, dense_float32, half_split, load, print_machine, print_table
from benchmarks.posterior import dense
from refpair import BinaryRelevance, ChainClassifier, ProbabilisticChain, RAkEL

N_TREES = 100


def faster_form(X: Any, y: Any) -> tuple[str, Any]:
    """Return X in the form in which scikit-learn's forests grow faster."""
    forms = {"sparse": X.astype(np.float32), "dense": dense_float32(X)}
    forest = RandomForestClassifier(20, random_state=0)
    times = {name: best_time(partial(forest.fit, form, y), 2) for name, form in forms.items()}
    form = min(times, key=lambda name: times[name])
    return form, forms[form]


def measure(name: str) -> list[list[Any]]:
    """Return a row for each algorithm."""
    data = load(name)
    train, _ = half_split(len(data.Y), 0)
    X, Y = data.X[train], dense(data.Y[train])
    Y = Y[:, Y.min(axis=0) < Y.max(axis=0)]  # scikit-learn's fail on constant labels
    form, theirs = faster_form(X, Y[:, Y.sum(axis=0).argmax()])
    forest = RandomForestClassifier(N_TREES, random_state=0)
    pairs = {
        "BR": (BinaryRelevance("forest", random_state=0), MultiOutputClassifier(forest)),
        "CC": (ChainClassifier("forest", random_state=0), ClassifierChain(forest)),
        "RAkEL": (RAkEL("forest", random_state=0), RAkEL(forest, random_state=0)),
    }
    rows = []
    for algorithm, (ours, others) in pairs.items():
        type(ours)("forest", random_state=0).fit(X[:50], Y[:50])  # compiles
        time_ours = best_time(partial(ours.fit, X, Y))
        time_theirs = best_time(partial(others.fit, theirs, Y))
        rows.append(
            [name, algorithm, Y.shape[1], f"{time_ours:.2f}", f"{time_theirs:.1f} ({form})",
             f"×{time_theirs / time_ours:.1f}"]
        )  # fmt: skip
    return rows


def measure_inference(jobs: int) -> str:
    """Return the time that sampling in a chain takes for the test half of yeast."""
    data = load("yeast")
    train, test = half_split(len(data.Y), 0)
    model = ProbabilisticChain("forest", "f1", n_samples=100, random_state=0, n_jobs=jobs)
    model.fit(data.X[train], data.Y[train]).predict(data.X[test][:20])
    seconds = best_time(partial(model.predict, data.X[test]), 3)
    return f"{len(test)} rows of yeast, 100 samples, n_jobs={jobs}: {seconds:.2f} s"


def main() -> None:
    """Print a row for each data set and algorithm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=("enron", "bibtex"))
    arguments = parser.parse_args()
    print_machine()
    rows = [row for name in arguments.data for row in measure(name)]
    print_table(["data", "algorithm", "labels", "tree bank, s", "scikit-learn, s", "ratio"], rows)
    print()
    for jobs in (1, 2):
        print(measure_inference(jobs))


if __name__ == "__main__":
    main()
