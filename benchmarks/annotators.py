"""Is a model of two annotators better than the majority? One of them flips 2 % of the labels, the other 20 %.

Half of the rows of a set are for training: 40 % of them are answered by both, and 30 % by either alone. Ties
of the majority are drawn, and of two answers either is the first. The other half measures the models, which
are all `CSRPEClassifier("f1")`.

    python -m benchmarks.annotators emotions scene yeast image.npz
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import Results, find_data, half_split, markdown_table, read_table, records
from refpair import CSRPEClassifier, get_cost
from refpair.annotators import FromAnnotators
from refpair.experiments.data import read_numeric
from refpair.tables import TableOptions

Floats = npt.NDArray[np.float64]

FLIPPED = {"careful": 0.02, "careless": 0.2}
BOTH, CAREFUL = 0.4, 0.3
LEARNED = {"first": "first answer", "majority": "majority", "refpair": "refpair", "truth": "true labels"}


def answer(truth: Floats, rng: np.random.Generator) -> tuple[dict[str, Floats], npt.NDArray[np.bool_]]:
    """Return the answers of both, NaN where there is none, and which rows are of the careful one's first."""
    n, chance = len(truth), rng.random(len(truth))
    seen = {"careful": chance < BOTH + CAREFUL, "careless": (chance < BOTH) | (chance >= BOTH + CAREFUL)}
    said = {}
    for name, share in FLIPPED.items():
        flips = rng.random(truth.shape) < share
        said[name] = np.where(seen[name][:, None], np.where(flips, 1.0 - truth, truth), np.nan)
    return said, seen["careful"] & (~seen["careless"] | (rng.random(n) < 0.5))


def measure(X: Any, Y: Floats, seed: int) -> dict[str, float]:
    """Return the F1 of each model, shares of wrong labels they learn from, and errors of reliabilities."""
    train, test = half_split(len(Y), seed)
    rng = np.random.default_rng(seed)
    truth = Y[train].astype(np.float64)
    said, careful_first = answer(truth, rng)
    careful, careless = said.values()
    mean = np.nanmean([careful, careless], axis=0)
    labels = {
        "first": np.where(careful_first[:, None], careful, careless),
        "majority": np.where(mean == 0.5, rng.integers(0, 2, mean.shape), mean),
        "truth": truth,
    }
    model = CSRPEClassifier("f1", random_state=0, n_jobs=1)
    found = FromAnnotators(model).fit(X[train], said)
    labels["refpair"] = found.consensus_.to_numpy() > 0.5
    row = {}
    for name in LEARNED:
        fitted = found.model_ if name == "refpair" else model.fit(X[train], labels[name])
        row[name] = get_cost("f1").mean(Y[test], fitted.predict(X[test]))
        row[f"wrong_{name}"] = float((labels[name] != truth).mean())
    for name, answers in said.items():
        for value, column in ((1, "sensitivity"), (0, "specificity")):
            right = (answers == truth)[(truth == value) & ~np.isnan(answers)].mean()
            row[f"{name}_{column}"] = float(found.reliability_.loc[name, column] - right)
    return row


def show() -> str:
    """Return the table of means over seeds."""
    table = read_table("annotators.csv").groupby("data", sort=False).mean(numeric_only=True)
    table.loc["mean"] = table.mean()
    rows = [
        [
            row["data"],
            *(f"{row[name]:.3f}" for name in LEARNED),
            *(f"{row[f'wrong_{name}']:.1%}" for name in ("majority", "refpair")),
        ]
        for row in records(table)
    ]
    wrong = ("wrong labels: majority", "refpair")
    return markdown_table(["data", *(f"F1: {name}" for name in LEARNED.values()), *wrong], rows)


def show_errors() -> str:
    """Say how far estimated reliabilities are from the true ones."""
    table = read_table("annotators.csv")
    columns = [name for name in table.columns if name.startswith("care")]
    off = table[columns].abs().to_numpy()
    return f"{off.mean():.3f} on average, at most {off.max():.3f}"


def main() -> None:
    """Measure each set with each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets, or .npz files with X and Y")
    parser.add_argument("--first-seed", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--go-on", action="store_true", help="keep what is stored, and measure the rest")
    given = parser.parse_args()
    find_data()
    results = Results("annotators.csv", go_on=given.go_on)
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.data:
            case = {"data": Path(name).stem, "seed": seed}
            if not results.has(**case):
                data = read_numeric(name, TableOptions())
                results.add(**case, **measure(data.X, np.asarray(data.Y), seed))
    print(f"{show()}\n\nReliabilities are off by {show_errors()}")


if __name__ == "__main__":
    main()
