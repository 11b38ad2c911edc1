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
from refpair.datasets import MultiLabelData
from refpair.experiments.algorithms import Algorithm, Parameters, find_algorithm
from refpair.experiments.names import find_cost
from refpair.experiments.search import choose_parameters, make_model
from refpair.experiments.settings import half_split
from refpair.experiments.simulation import simulate_task
from refpair.experiments.store import Key, Result
from refpair.experiments.tasks import Task

__all__ = ["run_task"]


def run_task(task: Task, table: MultiLabelData, missing: Collection[Key]) -> Iterator[tuple[Key, Result]]:
    """Yield those results of a task that are missing, as they come."""
    if task.experiment == "simulate":
        yield from simulate_task(task, table, missing)
        return
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
    def of(cls, task: Task, table: MultiLabelData) -> Bench:
        """Split the data set."""
        labels = table.Y
        train, test = half_split(len(labels), task.split, task.settings.max_rows)
        return cls(
            task, find_algorithm(task.algorithm), table.X[train], labels[train], table.X[test], labels[test]
        )

    def choose(self, costs: Mapping[str, Cost], **given: Any) -> Choice:
        """Choose the parameters for each cost, besides those given."""
        settings = self.task.settings
        if self.algorithm.out_of_bag and settings.search:
            return self._choose_out_of_bag(costs, given)
        start = time.perf_counter()
        chosen = choose_parameters(self.algorithm, costs, self.X, self.Y, settings, self.task.split)
        return Choice(chosen, given, time.perf_counter() - start)

    def _choose_out_of_bag(self, costs: Mapping[str, Cost], given: Parameters) -> Choice:
        """Fit with all parameters, and choose those of the model that is cheapest by its own account."""
        ((name, cost),) = costs.items()  # the account is of one cost
        grid = self.algorithm.grid(self.X)
        fits = [self.fit(cost, **parameters, **given) for parameters in grid]
        # A model that has seen a single label vector predicts nothing else and has no account.
        best = int(np.argmin([getattr(fitted.model, "oob_cost_", 0.0) for fitted in fits]))
        others = sum(fitted.seconds for fitted in fits) - fits[best].seconds
        return Choice({name: grid[best]}, given, others, {json.dumps(grid[best]): fits[best]})

    def fit_chosen(self, choice: Choice, name: str, cost: Cost) -> Fitted:
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
    given : Mapping
        Parameters that were not to be chosen.
    seconds : float
        How long the search took, besides what is in `fits`.
    fits : dict of str to Fitted
        Models that are already fitted to the whole training half, by their parameters as JSON.
    """

    parameters: dict[str, Parameters]
    given: Parameters
    seconds: float
    fits: dict[str, Fitted] = field(default_factory=dict)


def _compare(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score under each cost; costs for which the same parameters are chosen share one fit."""
    choice = bench.choose(costs)
    for name, cost in costs.items():
        fitted = bench.fit_chosen(choice, name, cost)
        (key,) = bench.task.result_keys(name)
        yield key, bench.judge(fitted, cost, choice.parameters[name], choice.seconds)


def _code_length(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the score at each length: the longest code is learnt, and cut short.

    If there are fewer useful pairs than a code should have bits, the result notes how many there are.
    """
    choice = bench.choose(costs, n_bits=max(bench.task.settings.lengths))
    for name, cost in costs.items():
        longest = bench.fit_chosen(choice, name, cost)
        n_there = len(longest.model.code_)
        for key in bench.task.result_keys(name):
            is_whole = key.size >= n_there
            short = longest if is_whole else replace(longest, model=longest.model.shorten(key.size))
            notes = {"n_bits": n_there} if key.size > n_there else {}
            yield key, bench.judge(short, cost, choice.parameters[name], choice.seconds, **notes)


def _relevant_set(bench: Bench, costs: Mapping[str, Cost]) -> Iterator[tuple[Key, Result]]:
    """Yield the scores with the label vectors of the training half, and with those of both halves."""
    choice = bench.choose(costs, relevant_set=bench.Y)
    both_halves = np.vstack([bench.Y, bench.Y_test])
    for name, cost in costs.items():
        chosen = choice.parameters[name]
        plain, extended = bench.task.result_keys(name)
        yield plain, bench.judge(bench.fit_chosen(choice, name, cost), cost, chosen, choice.seconds)
        fitted = bench.fit(cost, relevant_set=both_halves, **chosen)
        yield extended, bench.judge(fitted, cost, chosen, choice.seconds)


def _chosen_out_of_bag(model: Any) -> dict[str, Any]:
    """Return what a model has chosen by itself in the training half."""
    if not hasattr(model, "posterior_"):
        return {}
    settings, depth = model.posterior_.settings, model.oob_search_["max_depth"].iloc[0]
    return {
        "anchors": settings.compared_with,
        "label_share": settings.label_share,
        "temperature": settings.temperature,
        "independent": settings.independent,
        "max_depth": None if pd.isna(depth) else int(depth),
    }


_PROTOCOLS: dict[str, Callable[[Bench, Mapping[str, Cost]], Iterator[tuple[Key, Result]]]] = {
    "compare": _compare,
    "code-length": _code_length,
    "relevant-set": _relevant_set,
}
