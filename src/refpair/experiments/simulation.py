"""The simulation of active learning: one half is asked for its labels, the other tells what they taught.

As in the paper, the classifier is a logistic regression for each label, and so are the bits of strategies
that have some; the parameter C is chosen by 5-fold cross-validation on the first labels.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from refpair.active import learning_curve
from refpair.active._classifier import WrappedClassifier
from refpair.classifiers import BinaryRelevance, CSRPEClassifier, Logistic
from refpair.costs import Cost
from refpair.datasets import MultiLabelData
from refpair.experiments.names import find_cost
from refpair.experiments.settings import Simulation, half_split
from refpair.experiments.store import Key, Result
from refpair.experiments.strategies import Situation, find_strategy
from refpair.experiments.tasks import Task

__all__ = ["scale_features", "simulate_task"]

_TOL = 1e-3  # of logistic regressions
_GRID = (0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0)  # of C, for rows of length 1
_FOLDS = 5


def simulate_task(
    task: Task, table: MultiLabelData, missing: Collection[Key]
) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing: the score after so many answers.

    If there are fewer rows than are to be asked for, the score with all of them is repeated.
    """
    labels = table.Y
    pool, test = half_split(len(labels), task.split, task.settings.max_rows)
    X, X_test = scale_features(table.X[pool], table.X[test])
    simulation = task.settings.simulation
    n_start = min(simulation.n_start, len(pool) - 1)
    (name,) = task.costs
    cost = find_cost(name)
    begin = time.perf_counter()
    C = choose_c(X[:n_start], labels[pool[:n_start]], cost, task.split)
    seconds_search = time.perf_counter() - begin
    situation = _situation(simulation, cost, C, task.split)
    curve = learning_curve(
        find_strategy(task.algorithm)(situation),
        situation.estimator,
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


def _situation(simulation: Simulation, cost: Cost, C: float, seed: int) -> Situation:
    learner = Logistic(C, tol=_TOL)
    estimator: Any = BinaryRelevance(learner)
    if simulation.classifier == "CSRPE":
        estimator = CSRPEClassifier(cost, n_bits=simulation.n_bits, estimator=learner, random_state=seed)
    return Situation(cost, estimator, learner, simulation.n_bits, seed)


def choose_c(X: Any, Y: Any, cost: Cost, seed: int) -> float:
    """Return the C of logistic regressions whose predictions in the folds cost least; of several, the least.

    Examples
    --------
    >>> from refpair.costs import get_cost
    >>> X = np.array([[0.0], [1.0]] * 10)
    >>> choose_c(X, X, get_cost("hamming"), seed=0)
    1.0
    """
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

    Examples
    --------
    >>> X, _ = scale_features(np.array([[1.0, 100.0], [3.0, 300.0]]), np.zeros((1, 2)))
    >>> X.round(2)
    array([[-0.71, -0.71],
           [ 0.71,  0.71]])
    """
    if not sp.issparse(X):
        scaler = StandardScaler().fit(X)
        X, X_test = np.nan_to_num(scaler.transform(X)), np.nan_to_num(scaler.transform(X_test))
    squares = X.multiply(X).sum() if sp.issparse(X) else (X * X).sum()
    length = np.sqrt(squares / X.shape[0]) or 1.0
    return X / length, X_test / length
