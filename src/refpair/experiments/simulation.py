"""The simulation of active learning: labels are asked for in one half, and models are tested on the other.

As in the paper, the classifier is a logistic regression for each label, and so are the bits of strategies
that have some; the parameter C is chosen by 5-fold cross-validation on the first labels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from refpair.active import (
    MMC,
    AdaptiveActive,
    BayesRisk,
    BinaryMinimization,
    CostSensitiveUncertainty,
    RandomQuery,
    RepresentativeUncertainty,
    SpreadQuery,
    learning_curve,
)
from refpair.active._classifier import WrappedClassifier
from refpair.active._strategy import QueryStrategy
from refpair.classifiers import BinaryRelevance, CSRPEClassifier, Logistic
from refpair.costs import Cost
from refpair.datasets import MultiLabelData
from refpair.experiments.names import call_with, find_cost, find_known, is_own
from refpair.experiments.store import Key, Result
from refpair.experiments.tasks import Task

_TOL = 1e-3  # of logistic regressions
_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)  # of C, for rows of length 1
_FOLDS = 5
DEFAULT_STRATEGY = "representative"
_ADAPTIVE_ROWS = 10  # that tie are looked at for each β: all would take hours


@dataclass(frozen=True, eq=False)
class StrategyContext:
    """What a strategy is made for: the classifier to be improved, a regression with the C that was chosen."""

    cost: Cost
    estimator: Any
    bit_estimator: Logistic
    n_bits: int
    random_state: int


Make = Callable[[StrategyContext], QueryStrategy]
MakeClassifier = Callable[[Cost, Logistic, int, int], Any]  # of cost, regression, n_bits and random_state

CLASSIFIERS: dict[str, MakeClassifier] = {
    "BR": lambda cost, logistic, n_bits, seed: BinaryRelevance(logistic),
    "CSRPE": lambda cost, logistic, n_bits, seed: CSRPEClassifier(
        cost, n_bits=n_bits, estimator=logistic, random_state=seed
    ),
}

STRATEGIES: dict[str, Make] = {
    "random": lambda s: RandomQuery(random_state=s.random_state),
    "spread": lambda s: SpreadQuery(random_state=s.random_state),
    "BinMin": lambda s: BinaryMinimization(s.bit_estimator, random_state=s.random_state),
    "MMC": lambda s: MMC(s.bit_estimator, random_state=s.random_state),
    "adaptive": lambda s: AdaptiveActive(
        s.bit_estimator, max_looked_at=_ADAPTIVE_ROWS, random_state=s.random_state
    ),
    "risk": lambda s: BayesRisk(s.cost, estimator=s.estimator, random_state=s.random_state),
    "CSRPE": lambda s: CostSensitiveUncertainty(**vars(s), part="both"),
    "CSRPE-estimation": lambda s: CostSensitiveUncertainty(**vars(s), part="estimation"),
    "CSRPE-utility": lambda s: CostSensitiveUncertainty(**vars(s), part="utility"),
    DEFAULT_STRATEGY: lambda s: RepresentativeUncertainty(**vars(s)),
}


def find_strategy(name: str) -> Make:
    """Return a strategy by its name, or one of the user's own, which is given what it has arguments for."""
    found = find_known("strategy", name, STRATEGIES, "strategy")
    return (lambda s: call_with(found, **vars(s))) if is_own(name) else found


def find_classifier(name: str) -> MakeClassifier:
    """Return what makes the classifier to be improved; the user's own is given `cost` and `random_state`."""
    found = find_known("classifier", name, CLASSIFIERS, "classifier")
    if not is_own(name):
        return found
    return lambda cost, logistic, n_bits, seed: call_with(found, cost=cost, random_state=seed)


def simulate_task(
    task: Task, table: MultiLabelData, missing: Collection[Key]
) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing; with too few rows the score of all is repeated."""
    Y = table.Y
    pool, test = task.settings.halves(Y, task.split)
    X, X_test = scale_features(table.X[pool], table.X[test])
    simulation = task.settings.simulation
    n_start = min(simulation.n_start, len(pool) - 1)
    (name,) = task.costs
    cost = find_cost(name)
    begin = time.perf_counter()
    C = choose_c(X[:n_start], Y[pool[:n_start]], cost, task.split)
    seconds_search = time.perf_counter() - begin
    logistic = Logistic(C, tol=_TOL)
    estimator = find_classifier(simulation.classifier)(cost, logistic, simulation.n_bits, task.split)
    context = StrategyContext(cost, estimator, logistic, simulation.n_bits, task.split)
    curve = learning_curve(
        find_strategy(task.algorithm)(context),
        context.estimator,
        *(X, Y[pool], X_test, Y[test]),
        start=np.arange(n_start),
        n_queries=simulation.n_queries,
        cost=cost,
        batch_size=simulation.batch_size,
        test_each=simulation.test_each,
    )
    for place, key in enumerate(task.result_keys(name)):
        row = {name: float(column[min(place, len(column) - 1)]) for name, column in curve.items()}
        if key in missing:
            yield key, Result(row["score"], seconds_search, row["seconds"], 0.0, json.dumps({"C": C}))


def choose_c(X: Any, Y: Any, cost: Cost, seed: int) -> float:
    """Return the C of regressions whose predictions in the folds cost least; of several the least."""
    n_folds = min(_FOLDS, len(Y))
    if n_folds < 2:
        return _GRID[len(_GRID) // 2]
    folds = list(KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(Y))))
    costs = []
    for C in _GRID:
        model = BinaryRelevance(Logistic(C, tol=_TOL))
        parts = [
            cost.rows(
                Y[held_out],
                WrappedClassifier(model).fit(X[kept], np.asarray(Y[kept], np.uint8)).predict(X[held_out]),
            )
            for kept, held_out in folds
        ]
        costs.append(float(np.concatenate(parts).mean()))
    return _GRID[int(np.argmin(np.round(costs, 12)))]


def scale_features(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Return both halves with rows whose mean squared length is 1, dense features of like scales."""
    if not sp.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = np.nan_to_num(scaler.transform(X)), np.nan_to_num(scaler.transform(X_test))
    squares = X.multiply(X).sum() if sp.issparse(X) else (X * X).sum()
    length = np.sqrt(squares / X.shape[0]) or 1.0
    return X / length, X_test / length
