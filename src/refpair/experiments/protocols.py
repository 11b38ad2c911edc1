"""What is done in each experiment: choose parameters, fit, and judge what is predicted of the other half.

Parameters are chosen inside the training half, by 3-fold cross-validation as in the paper, or out of bag.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from refpair.costs import Cost
from refpair.datasets import MultiLabelData
from refpair.experiments.algorithms import Algorithm, Parameters, find_algorithm
from refpair.experiments.names import call_with, find_cost
from refpair.experiments.settings import Settings
from refpair.experiments.simulation import simulate_task
from refpair.experiments.store import Key, Result
from refpair.experiments.tasks import Task

_FOLDS = 3
_MOST_ROWS = 1000  # to choose by


def run_task(task: Task, table: MultiLabelData, missing: Collection[Key]) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing, as they come."""
    if task.experiment == "simulate":
        yield from simulate_task(task, table, missing)
        return
    evaluation = Evaluation.of(task, table)
    costs = {name: find_cost(name) for name in task.costs if any(key.cost == name for key in missing)}
    for key, result in _PROTOCOLS[task.experiment](evaluation, costs):
        if key in missing:
            yield key, result


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
    """Return, for each cost, the parameters whose predictions cost least in folds of at most 1,000 rows."""
    grid = algorithm.grid(X)
    if not settings.search or len(grid) == 1:
        return dict.fromkeys(costs, grid[0])
    model = make_model(algorithm, next(iter(costs.values())), settings, Y.shape[1], seed)
    model.set_params(**algorithm.draft)
    totals = {name: np.zeros(len(grid)) for name in costs}
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:_MOST_ROWS]
    for train, test in KFold(min(_FOLDS, len(rows))).split(rows):
        X_train, Y_train, X_test, Y_test = X[rows[train]], Y[rows[train]], X[rows[test]], Y[rows[test]]
        for place, fitted in enumerate(algorithm.fit_each(model, grid, X_train, Y_train)):
            for name, cost in costs.items():
                answers = algorithm.answer(fitted, X_test, cost)
                totals[name][place] -= cost.mean(Y_test, answers) * cost.sign * len(test)
    return {name: grid[int(np.argmin(total))] for name, total in totals.items()}


class Fitted(NamedTuple):
    """A model, and how long it took to fit."""

    model: Any
    seconds: float


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The parameters that were chosen for each cost, besides those given, and what the search took."""

    parameters: dict[str, Parameters]
    given: Parameters
    seconds: float
    fits: dict[str, Fitted] = field(default_factory=dict)  # to the training half, by parameters as JSON


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An algorithm, and a training and a test half of a data set."""

    task: Task
    algorithm: Algorithm
    X: Any
    Y: Any
    X_test: Any
    Y_test: Any

    @classmethod
    def of(cls, task: Task, table: MultiLabelData) -> Evaluation:
        """Split the data set."""
        X, Y = table.X, table.Y
        train, test = task.settings.halves(Y, task.split)
        return cls(task, find_algorithm(task.algorithm), X[train], Y[train], X[test], Y[test])

    def choose(self, costs: Mapping[str, Cost], **given: Any) -> SearchResult:
        """Choose the parameters for each cost, besides those given."""
        settings = self.task.settings
        start = time.perf_counter()
        chosen = choose_parameters(self.algorithm, costs, self.X, self.Y, settings, self.task.split)
        return SearchResult(chosen, given, time.perf_counter() - start)

    def fit_chosen(self, choice: SearchResult, name: str, cost: Cost) -> Fitted:
        """Fit with what was chosen for a cost, unless such a model is already there."""
        chosen = choice.parameters[name]
        key = json.dumps(chosen)
        if key not in choice.fits:
            choice.fits[key] = self.fit(cost, **chosen, **choice.given)
        return choice.fits[key]

    def fit(self, cost: Cost, **parameters: Any) -> Fitted:
        """Fit the algorithm to the training half."""
        model = make_model(self.algorithm, cost, self.task.settings, self.Y.shape[1], self.task.split)
        if parameters:  # a model of the user's need not have any
            model.set_params(**parameters)
        start = time.perf_counter()
        model.fit(self.X, self.Y)
        return Fitted(model, time.perf_counter() - start)

    def judge(
        self, fitted: Fitted, cost: Cost, parameters: Parameters, seconds_search: float, **notes: Any
    ) -> Result:
        """Return what the predictions on the test half are worth; notes stand beside what was chosen."""
        start = time.perf_counter()
        answers = self.algorithm.answer(fitted.model, self.X_test, cost)
        seconds_predict = time.perf_counter() - start
        searched = parameters if self.task.settings.search else {}
        chosen = json.dumps({**searched, **_chosen_out_of_bag(fitted.model), **notes})
        score = cost.mean(self.Y_test, answers)
        return Result(score, seconds_search, fitted.seconds, seconds_predict, chosen)


def _compare(run: Evaluation, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score under each cost; costs for which the same parameters are chosen share one fit."""
    choice = run.choose(costs)
    for name, cost in costs.items():
        fitted = run.fit_chosen(choice, name, cost)
        (key,) = run.task.result_keys(name)
        yield key, run.judge(fitted, cost, choice.parameters[name], choice.seconds)


def _code_length(run: Evaluation, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score at each length: the longest code is learned, and cut short.

    If there are fewer useful pairs than a code should have bits, the result notes how many there are.
    """
    choice = run.choose(costs, n_bits=max(run.task.settings.lengths))
    for name, cost in costs.items():
        longest = run.fit_chosen(choice, name, cost)
        n_there = len(longest.model.code_)
        for key in run.task.result_keys(name):
            is_whole = key.size >= n_there
            short = longest if is_whole else longest._replace(model=longest.model.shorten(key.size))
            notes = {"n_bits": n_there} if key.size > n_there else {}
            yield key, run.judge(short, cost, choice.parameters[name], choice.seconds, **notes)


def _relevant_set(run: Evaluation, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the scores with the label vectors of the training half, and with those of both halves."""
    choice = run.choose(costs, relevant_set=run.Y)
    both_halves = np.vstack([run.Y, run.Y_test])
    for name, cost in costs.items():
        chosen = choice.parameters[name]
        plain, extended = run.task.result_keys(name)
        yield plain, run.judge(run.fit_chosen(choice, name, cost), cost, chosen, choice.seconds)
        fitted = run.fit(cost, relevant_set=both_halves, **chosen)
        yield extended, run.judge(fitted, cost, chosen, choice.seconds)


def _chosen_out_of_bag(model: Any) -> dict[str, Any]:
    """Return what a model has chosen by itself in the training half."""
    if not hasattr(model, "posterior_"):
        return {}
    by_code, mixture = model.posterior_.sources[0].settings, model.posterior_.mixture
    return {
        "n_bits": len(model.code_),
        "anchors": by_code.compared_with,
        "temperature": by_code.temperature,
        "max_depth": by_code.max_depth,
        "sources": [source.name for source in model.posterior_.sources],
        "coefficients": mixture.pool.coefficients.mean(axis=1).round(3).tolist(),
        "new_share": round(mixture.new_share, 3),
    }


_PROTOCOLS: dict[str, Callable[[Evaluation, Mapping[str, Cost]], Iterator[tuple[Key, Result]]]] = {
    "compare": _compare,
    "code-length": _code_length,
    "relevant-set": _relevant_set,
}
