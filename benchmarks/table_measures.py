"""How good are answers for macro-F1 and micro-F1? Against thresholds that are tuned by cross-validation.

Each set has random halves. Rivals are a forest of 500 trees and logistic regressions, with thresholds that
give the best F1 in five folds of the training half: one for each label for macro-F1, one for all for
micro-F1. Two more use our own probabilities: the model for F1 of rows, and the answers that are best for all
test rows together, which are known only when all rows are there: by xCOLUMNs' block coordinate ascent for
macro-F1, by a threshold for micro-F1. xCOLUMNs has an environment of its own: ``--xcolumns`` is its Python.

    python -m benchmarks.table_measures flags emotions digits birds.npz debtags.csv.gz --labels tags \
        --drop package --xcolumns PYTHON
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from benchmarks.common import Results, find_data, half_split, markdown_table, read_table, records
from benchmarks.rivals import LogisticRegressions
from refpair import CSRPEClassifier, get_cost
from refpair.experiments.data import read_numeric
from refpair.experiments.report.table import show_percent
from refpair.tables import TableOptions

TABLE, BY_FREQUENCY = "table_measures.csv.gz", "table_measures_frequency.csv.gz"
MACRO, MICRO = "macro_f1", "micro_f1"
OURS, FOREST, LOGISTIC, ROWS, TOGETHER = (
    "refpair",
    "RF-500 + thresholds",
    "logistic + thresholds",
    "refpair for F1 of rows",
    "all rows together",
)
MODELS = (OURS, FOREST, LOGISTIC, ROWS, TOGETHER)
FREQUENCIES = {"1-2": (1, 2), "3-5": (3, 5), "6-15": (6, 15), "16-50": (16, 50), "above 50": (51, 10**9)}
LEVEL = 0.01  # what is less is no difference
N_TREES, N_FOLDS, MOST_ROWS = 500, 5, 5000
_XCOLUMNS = """
import sys
import numpy as np
from xcolumns.block_coordinate import predict_optimizing_macro_f1_score_using_bc as best
np.save(sys.argv[2], best(np.load(sys.argv[1]), k=0, seed=0))
"""

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def best_threshold(p: Floats, y: Bytes) -> float:
    """Return the threshold that gives the best F1, by truths or by probabilities in their place."""
    order = np.argsort(-p, kind="stable")
    f1 = 2.0 * np.cumsum(y[order]) / (np.arange(1, len(y) + 1) + max(y.sum(), 1e-12))
    best = int(f1.argmax())
    return float(p[order[best : best + 2]].mean()) if f1[best] > 0 else 1.0


def thresholds(p: Floats, y: Any, measure: str) -> Any:
    """Return the best threshold of each label, or for all labels together."""
    if measure == MICRO:
        return best_threshold(p.ravel(), y.ravel())
    return np.array([best_threshold(*label) for label in zip(p.T, y.T, strict=True)])


def ask_xcolumns(python: str, p: Floats) -> Bytes:
    """Return the answers to all rows that xCOLUMNs finds best for macro-F1."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder, "asked.npy"), Path(folder, "told.npy")
        np.save(asked, p)
        subprocess.run([python, "-c", _XCOLUMNS, asked, told], check=True, capture_output=True)
        return np.asarray(np.load(told), np.uint8)


def probabilities_of(fitted: Any, X: Any) -> Floats:
    """Return the probability of each label by a classifier of scikit-learn."""
    told = fitted.predict_proba(X)
    if not isinstance(told, list):
        return np.asarray(told)
    return np.column_stack([p @ values for p, values in zip(told, fitted.classes_, strict=True)])


def cross_fitted(fit: Callable[[Any, Bytes], Any], X: Any, Y: Bytes, X_test: Any) -> tuple[Floats, Floats]:
    """Return what clones say of rows that they did not learn, and what a model of all says of others."""
    out = np.empty(Y.shape)
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=0).split(Y):
        out[test] = probabilities_of(fit(X[train], Y[train]), X[test])
    return out, probabilities_of(fit(X, Y), X_test)


def answers(X: Any, Y: Bytes, X_test: Any, n_jobs: int, python: str) -> dict[tuple[str, str], Bytes]:
    """Return the answers of all models for both measures."""
    found: dict[tuple[str, str], Any] = {}
    ours = CSRPEClassifier(MACRO, n_jobs=n_jobs, random_state=0).fit(X, Y)
    p = ours.predict_proba(X_test)
    for measure in (MACRO, MICRO):
        found[OURS, measure] = ours.decide(X_test, measure)
    found[TOGETHER, MACRO] = ask_xcolumns(python, p)
    found[TOGETHER, MICRO] = p > thresholds(p, p, MICRO)
    rows = CSRPEClassifier("f1", n_jobs=n_jobs, random_state=0).fit(X, Y).predict(X_test)
    C = LogisticRegressions(0).fit(X, Y).C_

    def forest(X: Any, Y: Bytes) -> Any:
        return RandomForestClassifier(N_TREES, n_jobs=n_jobs, random_state=0).fit(X, Y)

    def logistic(X: Any, Y: Bytes) -> Any:
        return LogisticRegressions(0, strengths=(C,)).fit(X, Y)

    for name, fit in ((FOREST, forest), (LOGISTIC, logistic)):
        out, told = cross_fitted(fit, X, Y, X_test)
        for measure in (MACRO, MICRO):
            found[name, measure] = told > thresholds(out, Y, measure)
    return {key: np.asarray(value, np.uint8) for key, value in found.items()} | {
        (ROWS, measure): rows for measure in (MACRO, MICRO)
    }


def run(given: argparse.Namespace) -> None:
    """Measure what is not stored yet."""
    scores, of_labels = Results(TABLE, go_on=True), Results(BY_FREQUENCY, go_on=True)
    table = TableOptions(labels=tuple(given.labels or ()) or None, drop=tuple(given.drop))
    for split in range(given.first_split, given.first_split + given.splits):
        for name in given.data:
            if scores.has(data=_short(name), split=split):
                continue
            data = read_numeric(name, table if Path(name).suffix else TableOptions())
            X, Y = data.X, np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
            if sp.issparse(X):  # scikit-learn's trees take short indices only
                X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
            train, test = (half[:MOST_ROWS] for half in half_split(len(Y), split))
            for (model, measure), answer in answers(
                X[train], Y[train], X[test], given.jobs, given.xcolumns
            ).items():
                value = get_cost(measure).mean(Y[test], answer)
                scores.add(data=_short(name), split=split, measure=measure, model=model, score=value)
                if measure == MICRO:
                    continue
                own, there = f1_score(Y[test], answer, average=None, zero_division=0), Y[train].sum(axis=0)
                for frequency, (least, most) in FREQUENCIES.items():
                    some = (there >= least) & (there <= most)
                    if some.any():
                        of_labels.add(
                            data=_short(name), split=split, frequency=frequency, model=model,
                            n_labels=int(some.sum()), score=float(own[some].mean()),
                        )  # fmt: skip
            print(_short(name), split, flush=True)


def _short(name: str) -> str:
    return Path(name).name.partition(".")[0]


def cells() -> pd.DataFrame:
    """Return mean scores, a row for each measure and data set, and our gain over the best of the others."""
    means = read_table(TABLE).groupby(["measure", "data", "model"], sort=False)["score"].mean().unstack()
    means = means[list(MODELS)]
    others, tuned = means[list(MODELS[1:])], means[[FOREST, LOGISTIC]].max(axis=1)
    return means.assign(
        best=others.idxmax(axis=1),
        gain=means[OURS] / others.max(axis=1) - 1.0,
        over_tuned=means[OURS] / tuned - 1.0,
    )


def show() -> str:
    """Return the table of means over splits."""
    n_splits = read_table(TABLE).groupby("data")["split"].nunique()
    rows = [
        [
            row["data"],
            str(n_splits[row["data"]]),
            str(row["measure"]).replace("_f1", "-F1"),
            *(f"{row[model]:.3f}" for model in MODELS),
            show_percent(row["over_tuned"]),
            show_percent(row["gain"]),
        ]
        for row in records(cells())
    ]
    return markdown_table(["data", "splits", "measure", *MODELS, "over tuned", "over best"], rows)


def show_frequency() -> str:
    """Return the table of F1 by the number of training rows that have the label."""
    found = read_table(BY_FREQUENCY)
    found = found.assign(total=found["score"] * found["n_labels"])
    sums = found.groupby(["frequency", "model"], sort=False)[["total", "n_labels"]].sum()
    means = (sums["total"] / sums["n_labels"]).unstack()
    counts = found[found["model"] == OURS].groupby("frequency")["n_labels"].sum()
    rows = [
        [name, str(counts[name]), *(f"{float(means[model][name]):.3f}" for model in MODELS)]
        for name in FREQUENCIES
        if name in counts
    ]
    return markdown_table(["training rows with the label", "labels", *MODELS], rows)


def show_summary() -> str:
    """Say how often we are level or better, and by how much."""
    found = cells()
    told = []
    for measure in (MACRO, MICRO):
        own = found.loc[measure]
        told.append(
            f"{measure.replace('_f1', '-F1')}: on average {show_percent(own['over_tuned'].mean())} over the "
            f"better of the tuned models, {show_percent(own['gain'].mean())} over the best of all others; "
            f"ahead of these, or behind by at most {LEVEL:.0%}, in {int((own['gain'] >= -LEVEL).sum())} of "
            f"{len(own)} sets"
        )
    return "; ".join(told)


def main() -> None:
    """Run what is missing, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+", help="names of data sets, tables, or .npz files with X and Y")
    parser.add_argument("--labels", nargs="+")
    parser.add_argument("--drop", nargs="+", default=())
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--xcolumns", required=True, metavar="PYTHON")
    given = parser.parse_args()
    find_data()
    warnings.simplefilter("ignore")  # of regressions that stop early
    run(given)
    print(f"{show()}\n\n{show_frequency()}\n\n{show_summary()}.")


if __name__ == "__main__":
    main()
