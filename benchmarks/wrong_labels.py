"""Which labels of a table are wrong? Of all cells, 5 % are flipped at random, and cells are ranked.

The rankings are that of `suspicious_labels`, that by the probabilities of labels alone, and cleanlab's with
the same probabilities, which are out of sample. cleanlab has an environment of its own: ``--cleanlab`` is its
Python. Names of data sets or .npz files with X and Y are given.

    python -m benchmarks.wrong_labels emotions scene yeast enron digits image.npz --cleanlab PYTHON
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score

from benchmarks.common import Results, find_data, markdown_table, read_table, records
from refpair import CSRPEClassifier
from refpair._cross_fitting import cross_fit, given_others
from refpair.experiments.data import read_numeric
from refpair.inspection.wrong_labels import chance_of_mistake, most_suspicious
from refpair.tables import TableOptions

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]

SHARE = 0.05
RANKINGS = {"refpair": "refpair", "marginals": "probabilities alone", "cleanlab": "cleanlab"}
_CLEANLAB = """
import sys
import numpy as np
from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class
cells = np.load(sys.argv[1])
lists = [list(np.flatnonzero(row)) for row in cells["labels"]]
np.save(sys.argv[2], get_label_quality_scores_per_class(lists, cells["p"]))
"""


def ask_cleanlab(python: str, labels: Bytes, p: Floats) -> Floats:
    """Return how suspicious each cell is to cleanlab."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "asked.npz"), Path(folder, "told.npy")
        np.savez(asked, labels=labels, p=p)
        subprocess.run([python, "-c", _CLEANLAB, asked, told], check=True)
        return np.asarray(-np.load(told))


def measure(X: Any, truths: Bytes, seed: int, python: str) -> dict[str, float]:
    """Return the average precision of each ranking, and what their probabilities took."""
    flipped = np.random.default_rng(seed).random(truths.shape) < SHARE
    given = (truths ^ flipped).astype(np.uint8)
    start = time.process_time()
    names = list(range(truths.shape[1]))
    p, _ = cross_fit(CSRPEClassifier("f1", random_state=0, n_jobs=1), X, given, names, random_state=seed)
    fits = time.process_time() - start
    conditional = given_others(given, p)
    others = time.process_time() - start - fits
    row, label = most_suspicious(given, conditional, chance_of_mistake(given, conditional))
    ours = np.empty(given.shape)
    ours[row, label] = -np.arange(len(row))
    scores = {
        "refpair": ours,
        "marginals": np.where(given, 1.0 - p, p),
        "cleanlab": ask_cleanlab(python, given, p),
    }
    right = flipped.ravel()
    found = {name: float(average_precision_score(right, one.ravel())) for name, one in scores.items()}
    return {**found, "seconds_folds": fits, "seconds_others": others}


def show() -> str:
    """Return the table of means over seeds."""
    found = read_table("wrong_labels.csv").groupby("data", sort=False).mean(numeric_only=True)
    found.loc["mean"] = found.mean()
    rows = [
        [
            row["data"],
            *(f"{row[name]:.3f}" for name in RANKINGS),
            *(
                "" if row["data"] == "mean" else f"{row[f'seconds_{what}']:.0f}"
                for what in ("folds", "others")
            ),
        ]
        for row in records(found)
    ]
    return markdown_table(["data", *RANKINGS.values(), "five fits, s", "labels given others, s"], rows)


def show_gain() -> str:
    """Say how much better the ranking is than cleanlab's, on average."""
    found = read_table("wrong_labels.csv").groupby("data").mean(numeric_only=True)
    gain = found["refpair"] - found["cleanlab"]
    return f"{gain.mean():+.3f} on average, {gain.min():+.3f} to {gain.max():+.3f} on single sets"


def main() -> None:
    """Measure each set with each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets, or .npz files with X and Y")
    parser.add_argument("--first-seed", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cleanlab", default=sys.executable, help="a Python that has cleanlab")
    parser.add_argument("--go-on", action="store_true", help="keep what is stored, and measure the rest")
    given = parser.parse_args()
    find_data()
    results = Results("wrong_labels.csv", go_on=given.go_on)
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.data:
            case = {"data": Path(name).stem, "seed": seed}
            if not results.has(**case):
                data = read_numeric(name, TableOptions())
                results.add(**case, **measure(data.X, np.asarray(data.Y, np.uint8), seed, given.cleanlab))
    print(f"{show()}\n\n{show_gain()}")


if __name__ == "__main__":
    main()
