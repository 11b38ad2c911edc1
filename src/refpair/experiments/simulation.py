"""The simulation of active learning: one half is asked for its labels, the other tells what they taught.

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
from refpair.experiments.settings import Simulation
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


def _uncertainty(part: Any) -> Make:
    def make(s: StrategyContext) -> QueryStrategy:
        return CostSensitiveUncertainty(
            s.cost,
            estimator=s.estimator,
            n_bits=s.n_bits,
            bit_estimator=s.bit_estimator,
            part=part,
            random_state=s.random_state,
        )

    return make


def _representative(s: StrategyContext) -> QueryStrategy:
    return RepresentativeUncertainty(
        s.cost,
        estimator=s.estimator,
        n_bits=s.n_bits,
        bit_estimator=s.bit_estimator,
        random_state=s.random_state,
    )


def _adaptive(s: StrategyContext) -> QueryStrategy:
    return AdaptiveActive(s.bit_estimator, max_looked_at=_ADAPTIVE_ROWS, random_state=s.random_state)


STRATEGIES: dict[str, Make] = {
    "random": lambda s: RandomQuery(random_state=s.random_state),
    "spread": lambda s: SpreadQuery(random_state=s.random_state),
    "BinMin": lambda s: BinaryMinimization(s.bit_estimator, random_state=s.random_state),
    "MMC": lambda s: MMC(s.bit_estimator, random_state=s.random_state),
    "adaptive": _adaptive,
    "risk": lambda s: BayesRisk(s.cost, estimator=s.estimator, random_state=s.random_state),
    "CSRPE": _uncertainty("both"),
    "CSRPE-estimation": _uncertainty("estimation"),
    "CSRPE-utility": _uncertainty("utility"),
    DEFAULT_STRATEGY: _representative,
}


def find_strategy(name: str) -> Make:
    """Return a strategy by its name, or one of the user's own.

    ``module:name`` is a class or a function that returns a query strategy. It is given the arguments `cost`,
    `estimator`, `bit_estimator`, `n_bits` and `random_state` if it has them.
    """
    found = find_known("strategy", name, STRATEGIES, "strategy")
    return (lambda s: call_with(found, **vars(s))) if is_own(name) else found


def simulate_task(
    task: Task, table: MultiLabelData, missing: Collection[Key]
) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing: the score after so many answers.

    If there are fewer rows than are to be asked for, the score with all of them is repeated.
    """
    labels = table.Y
    pool, test = task.settings.halves(labels, task.split)
    X, X_test = scale_features(table.X[pool], table.X[test])
    simulation = task.settings.simulation
    n_start = min(simulation.n_start, len(pool) - 1)
    (name,) = task.costs
    cost = find_cost(name)
    begin = time.perf_counter()
    C = choose_c(X[:n_start], labels[pool[:n_start]], cost, task.split)
    seconds_search = time.perf_counter() - begin
    context = _context(simulation, cost, C, task.split)
    curve = learning_curve(
        find_strategy(task.algorithm)(context),
        context.estimator,
        X,
        labels[pool],
        X_test,
        labels[test],
        start=np.arange(n_start),
        n_queries=simulation.n_queries,
        cost=cost,
        batch_size=simulation.batch_size,
        test_each=simulation.test_each,
    )
    for place, key in enumerate(task.result_keys(name)):
        row = curve.iloc[min(place, len(curve) - 1)]
        if key in missing:
            yield key, Result(row["score"], seconds_search, row["seconds"], 0.0, json.dumps({"C": C}))


def _context(simulation: Simulation, cost: Cost, C: float, seed: int) -> StrategyContext:
    logistic = Logistic(C, tol=_TOL)
    estimator: Any = BinaryRelevance(logistic)
    if simulation.classifier == "CSRPE":
        estimator = CSRPEClassifier(cost, n_bits=simulation.n_bits, estimator=logistic, random_state=seed)
    return StrategyContext(cost, estimator, logistic, simulation.n_bits, seed)


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
    """Return both halves with features of like scales, and rows whose mean squared length is 1.

    The features of dense data get mean 0 and variance 1 in the first half; sparse ones stay sparse, and keep
    their scales. No labels are needed for that.
    """
    if not sp.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = np.nan_to_num(scaler.transform(X)), np.nan_to_num(scaler.transform(X_test))
    squares = X.multiply(X).sum() if sp.issparse(X) else (X * X).sum()
    length = np.sqrt(squares / X.shape[0]) or 1.0
    return X / length, X_test / length
