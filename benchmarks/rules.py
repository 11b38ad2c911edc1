"""What is it worth to decide by rules, instead of deciding freely and repairing the answer?

The same model is asked twice: for the best label vector that keeps the rules, and for the best one, which is
then repaired in one of two ways: parents of children are added, or children without parents are left out;
then the least probable labels are left out, with their children, until there are no more than there may be.
The posterior is that of CSRPE or of a random forest, which know how labels depend on each other, or of
logistic regressions, which do not know the rules. `debtags` are packages of Debian, 8 % of which have more
than the 4 tags that answers may have; `taxonomy` has 60 labels in three levels.

    python -m benchmarks.rules debtags.csv.gz
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.common import Results, half_split, least_time, markdown_table, read_table, records
from refpair import AtMost, BayesDecisionClassifier, Cost, CSRPEClassifier, Implies, Taxonomy, get_cost
from refpair.decision import decide
from refpair.decision.rules import Rule
from refpair.tables import TableVectorizer
from refpair.tables import read_table as read_data

TABLE = "rules.csv"
COSTS = ("f1", "f2", "jaccard", "hamming", "rank", "zero_one", "prices")
MODELS = {
    "CSRPE": CSRPEClassifier("f1", random_state=0),
    "forest": BayesDecisionClassifier(RandomForestClassifier(200, random_state=0), random_state=0),
    "logistic": BayesDecisionClassifier(LogisticRegression(max_iter=200), calibrate=False, random_state=0),
}
N_ROOTS, N_MIDDLE, N_LABELS, N_FEATURES, N_ROWS, NOISE = 6, 24, 60, 40, 3000, 2.0
LEVEL = 1e-3  # of a cost: what differs by less is the same

Labels = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


class Data(NamedTuple):
    """Features, labels and the rules that answers are to keep: parents, and the largest number of labels."""

    X: Any
    Y: Labels
    parents: Mapping[int, int]
    at_most: int
    rules: list[Rule]


def debtags(path: str) -> Data:
    """Return the packages of Debian with their tags."""
    table = read_data(path, labels=["tags"], drop=["package"])
    assert table.Y is not None
    rows = [str(one).split("|") for one in table.Y.iloc[:, 0]]
    names = sorted({name for row in rows for name in row})
    Y = np.array([[name in row for name in names] for row in map(set, rows)], np.uint8)
    child, parent = names.index("works-with::image:raster"), names.index("works-with::image")
    return Data(table.X, Y, {child: parent}, 4, [Implies(child, parent), AtMost(4)])


def taxonomy(seed: int = 0) -> Data:
    """Return rows of one to four labels of any level and all above, with noisy features of the former."""
    rng = np.random.default_rng(seed)
    parents = {k: int(rng.integers(N_ROOTS)) for k in range(N_ROOTS, N_MIDDLE)}
    parents |= {k: int(rng.integers(N_ROOTS, N_MIDDLE)) for k in range(N_MIDDLE, N_LABELS)}
    own = np.zeros((N_ROWS, N_LABELS))
    for row in own:
        row[rng.choice(N_LABELS, rng.integers(1, 5), replace=False)] = 1.0
    Y = own.astype(np.uint8)
    for child in reversed(parents):
        Y[:, parents[child]] |= Y[:, child]
    X = own @ rng.normal(size=(N_LABELS, N_FEATURES)) + NOISE * rng.normal(size=(N_ROWS, N_FEATURES))
    return Data(X, Y, parents, N_LABELS, [Taxonomy(parents)])


def repaired(labels: Labels, p: Floats, data: Data, *, add: bool) -> Labels:
    """Return answers that keep the rules, after parents were added or children left out."""
    fixed = labels.copy()
    if add:
        for child, parent in reversed(list(data.parents.items())):
            fixed[:, parent] |= fixed[:, child]
    drop_orphans(fixed, data)
    while (large := np.flatnonzero(fixed.sum(axis=1) > data.at_most)).size:
        chances = np.where(fixed[large], p[large], np.inf)
        fixed[large, chances.argmin(axis=1)] = 0
        drop_orphans(fixed, data)
    return fixed


def drop_orphans(labels: Labels, data: Data) -> None:
    """Leave out children whose parents are not there; parents come before their children."""
    for child, parent in data.parents.items():
        labels[:, child] &= labels[:, parent]


def run(name: str, data: Data, results: Results, n_splits: int, n_rows: int) -> None:
    """Measure all costs on some half splits."""
    prices = np.random.default_rng(0).uniform(0.2, 5.0, (2, data.Y.shape[1]))
    for split in range(n_splits):
        train, test = half_split(len(data.Y), split)
        test = test[:n_rows]
        if isinstance(data.X, pd.DataFrame):
            vectorizer = TableVectorizer().fit(data.X.iloc[train], data.Y[train])
            X, X_test = vectorizer.transform(data.X.iloc[train]), vectorizer.transform(data.X.iloc[test])
        else:
            X, X_test = data.X[train], data.X[test]
        for learner, unfitted in MODELS.items():
            with warnings.catch_warnings():  # of rows that break a rule
                warnings.simplefilter("ignore")
                model = clone(unfitted).set_params(rules=data.rules).fit(X, data.Y[train])
            p = model.predict_proba(X_test)
            for key in COSTS:
                measure(name, learner, key, split, model, X_test, data, test, p, prices, results)


def measure(
    name: str,
    learner: str,
    key: str,
    split: int,
    model: Any,
    X: Any,
    data: Data,
    test: npt.NDArray[np.int64],
    p: Floats,
    prices: Floats,
    results: Results,
) -> None:
    """Store what both ways cost, and how long a row takes."""
    cost = (
        Cost.per_label(false_positive=prices[0], false_negative=prices[1])
        if key == "prices"
        else get_cost(key)
    )
    free = np.asarray(model.decide(X, cost, rules=[]), np.uint8)
    kept = np.asarray(model.decide(X, cost), np.uint8)
    added, dropped = (repaired(free, p, data, add=add) for add in (True, False))
    blocks = [block for _, block in model._distributions(X, cost)]

    def seconds(rules: Any) -> float:
        return least_time(lambda: [decide(block, cost, rules=rules) for block in blocks], 2)

    def mean(labels: Labels) -> float:
        return float(cost.rows(data.Y[test], labels).mean())

    results.add(
        data=name,
        model=learner,
        cost=key,
        split=split,
        by_rules=mean(kept),
        added=mean(added),
        dropped=mean(dropped),
        free=mean(free),
        broken=float((added != free).any(axis=1).mean()),
        differ=float((kept != free).any(axis=1).mean()),
        ms_free=1e3 * seconds(None) / len(test),
        ms_by_rules=1e3 * seconds(model.rules_) / len(test),
    )


def means_of_cells() -> pd.DataFrame:
    """Return means over splits, with the cost of the repair that is cheaper on average of all cells."""
    means = read_table(TABLE).groupby(["data", "model", "cost"], sort=False).mean()
    ratio = np.log(means["added"] / means["dropped"]).mean()
    return means.assign(repaired=means["added" if ratio < 0 else "dropped"])


def show() -> str:
    """Return a table of means over splits."""
    means = means_of_cells()
    header = ["data", "model", "cost", "by rules", "repaired", "free", "broken", "ms", "ms free"]
    rows = [
        [
            row["data"],
            row["model"],
            row["cost"],
            *(f"{row[one]:.4g}" for one in ("by_rules", "repaired", "free")),
            f"{100 * row['broken']:.0f} %",
            *(f"{row[one]:.3f}" for one in ("ms_by_rules", "ms_free")),
        ]
        for row in records(means)
    ]
    return markdown_table(header, rows)


def show_summary() -> str:
    """Say in how many cases rules cost less than repairs."""
    means = means_of_cells()
    gain = (means["repaired"] - means["by_rules"]) / means["repaired"]
    lower, higher = int((gain > LEVEL).sum()), int((gain < -LEVEL).sum())
    return (
        f"lower in {lower} of {len(gain)} cases, the same in {len(gain) - lower - higher}, "
        f"higher in {higher}; the mean gain is {100 * gain.mean():.1f} %"
    )


def main() -> None:
    """Measure, and store all results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("debtags")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000, help="rows of the other half that are answered")
    given = parser.parse_args()
    results = Results(TABLE)
    run("taxonomy", taxonomy(), results, given.splits, given.rows)
    run("debtags", debtags(given.debtags), results, given.splits, given.rows)
    print(f"{show()}\n\nDecisions by rules cost {show_summary()}.")


if __name__ == "__main__":
    main()
