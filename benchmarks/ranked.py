"""Is a list better in the order of lowest expected cost than in that of the labels' probabilities?

Both lists are of the same model, fitted for the cost, on the other half of the rows: a row gains what its
list by r_j is better than that by P_j. The mean gain over all rows and splits is compared with its error.
`joint` is the share of splits in which the model uses label vectors; with independent labels both lists are
the same. `posts` is made here: as with tags of bookmarks, topics differ in how many labels come with them.

    python -m benchmarks.ranked bibtex Corel5k posts debtags.csv.gz --labels tags --drop package
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier

from benchmarks.common import Results, find_data, half_split, markdown_table, read_table, records
from refpair import BayesDecisionClassifier, CSRPEClassifier
from refpair.costs import RankedCost
from refpair.datasets import MultiLabelData
from refpair.decision import top_labels
from refpair.experiments.data import read_numeric
from refpair.tables import TableOptions

TABLE = "ranked.csv"
K = 5
COSTS = (RankedCost("recall", K), RankedCost("ndcg", K))
POSTS = "posts"
BY_RISK, BY_PROBABILITY, JOINT = "by r", "by P", "joint"
N_TREES = 200
OURS, FOREST = "refpair", f"RF-{N_TREES}"


def make_model(name: str, cost: RankedCost, seed: int, n_jobs: int) -> Any:
    """Return an unfitted model."""
    if name == OURS:
        return CSRPEClassifier(cost, n_jobs=n_jobs, random_state=seed)
    forest = RandomForestClassifier(N_TREES, n_jobs=n_jobs, random_state=seed)
    return BayesDecisionClassifier(forest, cost=cost, n_jobs=n_jobs, random_state=seed)


def make_posts(n: int = 4000, n_labels: int = 300, n_topics: int = 40, seed: int = 0) -> MultiLabelData:
    """Draw posts of topics that the features hardly tell, with few labels or with many."""
    rng = np.random.default_rng(seed)
    of_topic = rng.dirichlet(np.full(n_labels, 0.05), n_topics)
    n_drawn = np.exp(rng.normal(np.log(20.0), 1.0, n_topics))
    features = rng.normal(size=(n_topics, 40))
    topic = rng.integers(n_topics, size=n)
    X = features[topic] + rng.normal(scale=3.5, size=(n, 40))
    Y = np.zeros((n, n_labels), np.uint8)
    for row, times in enumerate(1 + rng.poisson(rng.gamma(4.0, n_drawn[topic] / 4.0))):
        Y[row, rng.choice(n_labels, times, p=of_topic[topic[row]])] = 1
    names = [f"x{i}" for i in range(40)], [f"label {label}" for label in np.flatnonzero(Y.any(axis=0))]
    return MultiLabelData(POSTS, X, Y[:, Y.any(axis=0)], *names)


def gains_of(
    model: Any, X: Any, Y: npt.NDArray[np.uint8], cost: RankedCost
) -> tuple[dict[str, npt.NDArray[np.float64]], bool]:
    """Return the gain of each row by each order, and whether labels depend on each other."""
    gains: dict[str, list[npt.NDArray[np.float64]]] = {}
    is_joint = False
    for rows, p in model._distributions(model._read_features(X, reset=False), cost):
        lists = {
            BY_RISK: top_labels(p, cost),
            BY_PROBABILITY: top_labels(p, RankedCost("precision", cost.k)),
        }
        for name, chosen in lists.items():
            gains.setdefault(name, []).append(1.0 - cost.rows(Y[rows], chosen))
        is_joint |= not p.is_independent
    return {name: np.concatenate(parts) for name, parts in gains.items()}, is_joint


def run(given: argparse.Namespace) -> None:
    """Measure what is not stored yet."""
    find_data()
    options = TableOptions(labels=tuple(given.labels or ()) or None, drop=tuple(given.drop))
    results = Results(TABLE, go_on=True)
    for word in given.data:
        data = (
            make_posts()
            if word == POSTS
            else read_numeric(word, options if Path(word).suffix else TableOptions())
        )
        name = data.name.partition(".")[0]
        Y = np.asarray(sp.csr_array(data.Y).toarray(), np.uint8)
        for split in range(given.first_split, given.first_split + given.splits):
            for who in given.models:
                train, test = half_split(len(Y), split)
                for cost in COSTS:
                    if results.has(data=name, model=who, cost=cost.name, split=split):
                        continue
                    begin = time.perf_counter()
                    model = make_model(who, cost, split, given.jobs).fit(data.X[train], Y[train])
                    seconds = time.perf_counter() - begin
                    gains, is_joint = gains_of(model, data.X[test], Y[test], cost)
                    gain = gains[BY_RISK] - gains[BY_PROBABILITY]
                    results.add(
                        data=name,
                        model=who,
                        cost=cost.name,
                        split=split,
                        rows=len(test),
                        **{key: one.mean() for key, one in gains.items()},
                        gain=gain.mean(),
                        deviation=gain.std(),
                        joint=int(is_joint),
                        seconds_fit=seconds,
                    )
                    print(name, who, split, cost.name, gain.mean(), gain.std() / len(test) ** 0.5, flush=True)


def pooled() -> pd.DataFrame:
    """Return a row for each set, model and cost: the mean scores, the mean gain of a row, and how sure it is.

    ``z`` is the gain in standard errors over the rows of all splits, and ``p`` the chance of one as far from
    zero if both orders were as good.
    """
    results = read_table(TABLE)
    keys = ["data", "model", "cost"]
    found = results.groupby(keys, sort=False)[[BY_PROBABILITY, BY_RISK, "gain", JOINT]].mean()
    squares = (results["rows"] * (results["deviation"] ** 2 + results["gain"] ** 2)).groupby(
        [results[key] for key in keys], sort=False
    )
    n = results.groupby(keys, sort=False)["rows"].sum()
    error = np.sqrt(np.maximum(squares.sum() / n - found["gain"] ** 2, 1e-300) / n)
    z = found["gain"] / error
    return found.assign(z=z, p=2 * norm.sf(z.abs()))


def show() -> str:
    """Return the table of means."""
    header = ["data", "model", "cost", BY_PROBABILITY, BY_RISK, "gain", "z", JOINT]
    rows = [
        [
            row["data"],
            row["model"],
            row["cost"],
            *(f"{row[name]:.4f}" for name in (BY_PROBABILITY, BY_RISK)),
            f"{row['gain']:+.4f}",
            f"{row['z']:+.1f}",
            f"{row[JOINT]:.2f}",
        ]
        for row in records(pooled())
    ]
    return markdown_table(header, rows)


def main() -> None:
    """Run what is missing, and show all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", help=f"data sets by name, tables, or {POSTS}")
    parser.add_argument("--labels", nargs="+")
    parser.add_argument("--drop", nargs="+", default=())
    parser.add_argument("--models", nargs="+", choices=[OURS, FOREST], default=[OURS])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    run(parser.parse_args())
    print(show())


if __name__ == "__main__":
    main()
