"""Choose parameters inside the training half, by 3-fold cross-validation as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from refpair.costs import Cost
from refpair.experiments.algorithms import Algorithm, Parameters, call_with
from refpair.experiments.settings import Settings

__all__ = ["choose_parameters", "make_model"]

FOLDS = 3
MOST_ROWS = 1000  # to choose by


def make_model(algorithm: Algorithm, cost: Cost, settings: Settings, n_labels: int, seed: int) -> Any:
    """Return an unfitted model whose random numbers come from a seed."""
    model = call_with(partial(algorithm.make, cost, settings, n_labels), random_state=seed)
    parameters: Parameters = getattr(model, "get_params", dict)()  # the user's own models may have none
    if "random_state" in parameters:
        model.set_params(random_state=seed)
    return model


def choose_parameters(
    algorithm: Algorithm, costs: Mapping[str, Cost], X: Any, Y: Any, settings: Settings, seed: int
) -> dict[str, Parameters]:
    """Return, for each cost, the parameters whose predictions cost least on rows that were not learnt from.

    Parameters
    ----------
    algorithm : Algorithm
    costs : mapping of str to Cost
        Just one, unless one fitted model answers for all.
    X, Y : matrices
        The training half. At most 1,000 rows of it are used.
    settings : Settings
    seed : int
        Of the folds and of the models.
    """
    grid = algorithm.grid(X)
    if not settings.search or len(grid) == 1:
        return dict.fromkeys(costs, grid[0])
    model = make_model(algorithm, next(iter(costs.values())), settings, Y.shape[1], seed)
    model.set_params(**algorithm.draft)
    totals = {name: np.zeros(len(grid)) for name in costs}
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:MOST_ROWS]
    for train, test in KFold(min(FOLDS, len(rows))).split(rows):
        X_train, Y_train, X_test, Y_test = X[rows[train]], Y[rows[train]], X[rows[test]], Y[rows[test]]
        for place, fitted in enumerate(algorithm.fit_each(model, grid, X_train, Y_train)):
            for name, cost in costs.items():
                answers = algorithm.answer(fitted, X_test, cost)
                totals[name][place] += cost.rows(Y_test, answers).sum()
    return {name: grid[int(np.argmin(total))] for name, total in totals.items()}
