"""Is a list better in the order of lowest expected cost than in that of the labels' probabilities?

Both lists are of the same fitted model, on the other half of the rows: a row gains what its list by r_j gains
beyond that by P_j. The mean gain of all rows and splits is compared with its standard error. `independent` is
the list by the r_j that labels of the same probabilities would have if they were independent. `posts` is made
here: topics differ in how many labels come with them, as tags of bookmarks do.

    python -m benchmarks.ranked bibtex Corel5k posts debtags.csv.gz --labels tags --drop package
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from scipy.stats import norm

from benchmarks.common import Results, find_data, half_split, markdown_table, read_table, records
from benchmarks.rivals import forest
from refpair import CSRPEClassifier
from refpair.costs import RankedCost
from refpair.datasets import MultiLabelData
from refpair.decision import top_labels
from refpair.experiments.data import read_numeric
from refpair.posterior import IndependentLabels
from refpair.tables import TableOptions

TABLE = "ranked.csv"
K = 5
COSTS = (RankedCost("recall", K), RankedCost("ndcg", K))
POSTS = "posts"
BY_RISK, BY_PROBABILITY, INDEPENDENT = "by r", "by P", "independent"
MODELS: dict[str, Callable[..., Any]] = {
    "refpair": lambda seed, n_jobs: CSRPEClassifier("ndcg@5", n_jobs=n_jobs, random_state=seed),
    "RF-500": lambda seed, n_jobs: forest(seed).set_params(n_jobs=n_jobs, estimator__n_jobs=n_jobs),
}


def make_posts(n: int = 4000, n_labels: int = 300, n_topics: int = 25, seed: int = 0) -> MultiLabelData:
    """Draw posts of one or two topics: some topics come with a few labels, others with many."""
    rng = np.random.default_rng(seed)
    label_of_topic = rng.dirichlet(np.full(n_labels, 0.08), n_topics)
    size_of_topic = np.exp(rng.normal(np.log(9), 0.8, n_topics))
    features = rng.normal(size=(n_topics, 60))
    Y = np.zeros((n, n_labels), np.uint8)
    X = np.empty((n, 60))
    for row in range(n):
        topics = rng.choice(n_topics, rng.integers(1, 3), replace=False)
        share = rng.dirichlet(np.ones(len(topics)))
        X[row] = share @ features[topics] + rng.normal(scale=1.2, size=60)
        size = rng.poisson(rng.gamma(2.0, share @ size_of_topic[topics] / 2.0)) + 1
        likely = share @ label_of_topic[topics]
        n_there = min(int(size), int(np.count_nonzero(likely)))
        Y[row, rng.choice(n_labels, n_there, replace=False, p=likely)] = 1
    used = Y.any(axis=0)
    names = [f"label {label}" for label in np.flatnonzero(used)]
    return MultiLabelData(POSTS, X, Y[:, used], [f"x{i}" for i in range(60)], names)


def gains_of(
    model: Any, X: Any, Y: npt.NDArray[np.uint8], cost: RankedCost
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the gain of each row by each order."""
    gains: dict[str, list[npt.NDArray[np.float64]]] = {}
    for rows, p in model._distributions(model._read_features(X, reset=False), cost):
        lists = {
            BY_RISK: top_labels(p, cost),
            BY_PROBABILITY: top_labels(p, RankedCost("precision", cost.k)),
            INDEPENDENT: top_labels(IndependentLabels(p.marginals()), cost),
        }
        for name, chosen in lists.items():
            gains.setdefault(name, []).append(1.0 - cost.rows(Y[rows], chosen))
    return {name: np.concatenate(parts) for name, parts in gains.items()}


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
                if results.has(data=name, model=who, split=split):
                    continue
                train, test = half_split(len(Y), split)
                begin = time.perf_counter()
                model = MODELS[who](split, given.jobs).fit(data.X[train], Y[train])
                seconds = time.perf_counter() - begin
                for cost in COSTS:
                    gains = gains_of(model, data.X[test], Y[test], cost)
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
    found = results.groupby(keys, sort=False)[[BY_PROBABILITY, INDEPENDENT, BY_RISK, "gain"]].mean()
    squares = (results["rows"] * (results["deviation"] ** 2 + results["gain"] ** 2)).groupby(
        [results[key] for key in keys], sort=False
    )
    n = results.groupby(keys, sort=False)["rows"].sum()
    error = np.sqrt(np.maximum(squares.sum() / n - found["gain"] ** 2, 1e-300) / n)
    z = found["gain"] / error
    return found.assign(z=z, p=2 * norm.sf(z.abs()))


def show() -> str:
    """Return the table of means."""
    header = ["data", "model", "cost", BY_PROBABILITY, INDEPENDENT, BY_RISK, "gain", "z"]
    rows = [
        [
            row["data"],
            row["model"],
            row["cost"],
            *(f"{row[name]:.4f}" for name in (BY_PROBABILITY, INDEPENDENT, BY_RISK)),
            f"{row['gain']:+.4f}",
            f"{row['z']:+.1f}",
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
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    run(parser.parse_args())
    print(show())


if __name__ == "__main__":
    main()
