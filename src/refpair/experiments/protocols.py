"""What is done in each experiment: choose parameters, fit, and judge what is predicted of the other half."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from refpair.costs import Cost
from refpair.datasets import Table
from refpair.experiments.algorithms import Algorithm, Parameters, find_algorithm
from refpair.experiments.names import find_cost
from refpair.experiments.search import choose_parameters, make_model
from refpair.experiments.settings import half_split
from refpair.experiments.store import Key, Result
from refpair.experiments.tasks import Task

__all__ = ["run_task"]


def run_task(task: Task, table: Table, missing: Collection[Key]) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing, as they come."""
    bench = Bench.of(task, table)
    costs = {name: find_cost(name) for name in task.costs if any(key.cost == name for key in missing)}
    for key, result in _PROTOCOLS[task.experiment](bench, costs):
        if key in missing:
            yield key, result


@dataclass(frozen=True, eq=False)
class Bench:
    """An algorithm and the two halves of a data set.

    Attributes
    ----------
    task : Task
    algorithm : Algorithm
    X, Y : matrices
        The training half.
    X_test, Y_test : matrices
        The test half.
    """

    task: Task
    algorithm: Algorithm
    X: Any
    Y: Any
    X_test: Any
    Y_test: Any

    @classmethod
    def of(cls, task: Task, table: Table) -> Bench:
        """Split the data set."""
        labels = np.asarray(table.Y)
        train, test = half_split(len(labels), task.split, task.settings.max_rows)
        return cls(
            task, find_algorithm(task.algorithm), table.X[train], labels[train], table.X[test], labels[test]
        )

    def choose(self, costs: Mapping[str, Cost]) -> Choice:
        """Choose the parameters for each cost."""
        settings = self.task.settings
        if self.algorithm.out_of_bag and settings.search:
            return self._choose_out_of_bag(costs)
        start = time.perf_counter()
        chosen = choose_parameters(self.algorithm, costs, self.X, self.Y, settings, self.task.split)
        return Choice(chosen, time.perf_counter() - start)

    def _choose_out_of_bag(self, costs: Mapping[str, Cost]) -> Choice:
        """Fit with all parameters, and choose those of the model that is cheapest by its own account."""
        ((name, cost),) = costs.items()  # the account is of one cost
        grid = self.algorithm.grid(self.X)
        fits = [self.fit(cost, **parameters) for parameters in grid]
        best = int(np.argmin([fitted.model.oob_cost_ for fitted in fits]))
        others = sum(fitted.seconds for fitted in fits) - fits[best].seconds
        return Choice({name: grid[best]}, others, {json.dumps(grid[best]): fits[best]})

    def fit(self, cost: Cost, **parameters: Any) -> Fitted:
        """Fit the algorithm to the training half."""
        model = make_model(self.algorithm, cost, self.task.settings, self.Y.shape[1], self.task.split)
        if parameters:  # a model of the user's need not have any
            model.set_params(**parameters)
        start = time.perf_counter()
        model.fit(self.X, self.Y)
        return Fitted(model, time.perf_counter() - start)

    def judge(self, fitted: Fitted, cost: Cost, parameters: Parameters, seconds_search: float) -> Result:
        """Return what the predictions on the test half are worth."""
        start = time.perf_counter()
        answers = self.algorithm.answer(fitted.model, self.X_test, cost)
        seconds_predict = time.perf_counter() - start
        chosen = json.dumps({**parameters, **_chosen_out_of_bag(fitted.model)})
        score = cost.score(self.Y_test, answers)
        return Result(score, seconds_search, fitted.seconds, seconds_predict, chosen)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, and how long it took to fit."""

    model: Any
    seconds: float


@dataclass(frozen=True, eq=False)
class Choice:
    """What a search has found.

    Attributes
    ----------
    parameters : dict
        Those of each cost.
    seconds : float
        How long the search took, besides what is in `fits`.
    fits : dict of str to Fitted
        Models that it has already fitted to the whole training half, by their parameters as JSON.
    """

    parameters: dict[str, Parameters]
    seconds: float
    fits: dict[str, Fitted] = field(default_factory=dict)


def _compare(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score under each cost; costs for which the same parameters are chosen share one fit."""
    choice = bench.choose(costs)
    by_parameters = dict(choice.fits)
    for name, cost in costs.items():
        chosen = choice.parameters[name]
        parameters = json.dumps(chosen)
        if parameters not in by_parameters:
            by_parameters[parameters] = bench.fit(cost, **chosen)
        (key,) = bench.task.result_keys(name)
        yield key, bench.judge(by_parameters[parameters], cost, chosen, choice.seconds)


def _code_length(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score at each length: the longest code is learnt, and cut short."""
    choice = bench.choose(costs)
    for name, cost in costs.items():
        chosen = choice.parameters[name]
        longest = bench.fit(cost, n_bits=max(bench.task.settings.lengths), **chosen)
        n_there = len(longest.model.code_)  # fewer than wanted if there are no more useful pairs
        for key in bench.task.result_keys(name):
            short = replace(longest, model=longest.model.shorten(min(key.n_bits, n_there)))
            yield key, bench.judge(short, cost, chosen, choice.seconds)


def _relevant_set(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the scores with the label vectors of the training half, and with those of both halves."""
    choice = bench.choose(costs)
    both_halves = np.vstack([bench.Y, bench.Y_test])
    for name, cost in costs.items():
        chosen = choice.parameters[name]
        for key, relevant_set in zip(bench.task.result_keys(name), (bench.Y, both_halves), strict=True):
            fitted = bench.fit(cost, relevant_set=relevant_set, **chosen)
            yield key, bench.judge(fitted, cost, chosen, choice.seconds)


def _chosen_out_of_bag(model: Any) -> dict[str, Any]:
    """Return what a model has chosen by itself in the training half."""
    if not hasattr(model, "reading_"):
        return {}
    reading, depth = model.reading_, model.oob_search_["max_depth"].iloc[0]
    return {
        "anchors": reading.anchors,
        "label_share": reading.label_share,
        "temperature": reading.temperature,
        "independent": reading.independent,
        "max_depth": None if pd.isna(depth) else int(depth),
    }


_PROTOCOLS: dict[str, Callable[[Bench, Mapping[str, Cost]], Iterator[tuple[Key, Result]]]] = {
    "compare": _compare,
    "code-length": _code_length,
    "relevant-set": _relevant_set,
}
