"""What libact asks for. Run by an interpreter that has libact; see :mod:`benchmarks.active`.

libact's git version runs with scikit-learn < 1.8 and six. It is given a file with the arrays X, Y and start
(the rows whose labels are known at first), and prints the rows it asks for, and how long each query took.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
import warnings
from typing import Any

import numpy as np
from libact.base.dataset import Dataset
from libact.models import LogisticRegression
from libact.models.multilabel import BinaryRelevance
from libact.query_strategies.multilabel import (
    MMC,
    AdaptiveActiveLearning,
    BinaryMinimization,
    CostSensitiveReferencePairEncoding,
)
from libact.utils.multilabel import pairwise_f1_score

_EXACT = {"solver": "lbfgs", "tol": 1e-10, "max_iter": 10000, "C": 1.0}


def make_strategy(name: str, dataset: Any) -> Any:
    """Return a strategy; all but CSRPE's have logistic regressions fitted to the last digits."""
    if name == "mmc":
        return MMC(dataset, br_base=LogisticRegression(**_EXACT), logreg_param=_EXACT, random_state=0)
    if name == "adaptive":
        return AdaptiveActiveLearning(dataset, base_clf=LogisticRegression(**_EXACT), random_state=0)
    if name == "binmin":
        return BinaryMinimization(dataset, base_clf=LogisticRegression(**_EXACT), random_state=0)
    return CostSensitiveReferencePairEncoding(
        dataset,
        scoring_fn=pairwise_f1_score,
        model=BinaryRelevance(LogisticRegression()),
        base_model=LogisticRegression(),
        n_models=100,
        random_state=0,
    )


def main() -> None:
    """Ask, answer, and print what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("strategy", choices=["mmc", "adaptive", "binmin", "csrpe"])
    parser.add_argument("queries", type=int)
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    with np.load(given.data) as arrays:
        X, truth, start = arrays["X"], arrays["Y"].tolist(), set(arrays["start"].tolist())
    dataset = Dataset(X, [truth[row] if row in start else None for row in range(len(X))])
    # Two of the strategies look at the labels of row 0 when they are made, and fail if there are none.
    hidden = dataset._y[0] is None
    if hidden:
        dataset._y[0] = truth[0]
    strategy = make_strategy(given.strategy, dataset)
    if hidden:
        dataset._y[0] = None
    asked, seconds = [], []
    for _ in range(given.queries):
        begin = time.perf_counter()
        row = int(strategy.make_query())
        seconds.append(time.perf_counter() - begin)
        asked.append(row)
        dataset.update(row, truth[row])
    print(json.dumps({"asked": asked, "seconds": seconds}))


if __name__ == "__main__":
    main()
