from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from refpair import CSRPEClassifier, get_cost
from refpair.datasets import MultiLabelData
from refpair.experiments import algorithms
from refpair.experiments.algorithms import Algorithm
from refpair.experiments.data import Source
from refpair.experiments.protocols import make_model, run_task
from refpair.experiments.settings import Settings, half_split
from refpair.experiments.tasks import Task


class Watching(BaseEstimator):
    """Notes the rows that it learns from and those that it predicts, told by their first feature."""

    learnt: ClassVar[set[float]] = set()
    predicted: ClassVar[set[float]] = set()

    def __init__(self, leaf=1):
        self.leaf = leaf

    def fit(self, X, Y):
        self.learnt.update(X[:, 0])
        self.n_labels_ = Y.shape[1]
        return self

    def predict(self, X):
        self.predicted.update(X[:, 0])
        return np.ones((len(X), self.n_labels_), int)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = np.hstack([np.arange(61.0)[:, None], rng.normal(size=(61, 3))])
    Y = (X[:, 1:] + rng.normal(size=(61, 3)) > 0).astype(np.uint8)
    return MultiLabelData("rows", X, Y, list("abcd"), list("xyz"))


def make_task(experiment, algorithm, costs=("f1",), **settings):
    fingerprints = ("0",) * len(costs)
    return Task(
        experiment, Source("rows", "rows.csv"), costs, algorithm, 2, Settings(**settings), fingerprints
    )


def run(task, table):
    return dict(run_task(task, table, task.result_keys()))


def test_the_test_half_is_only_predicted_and_only_at_the_end(table, monkeypatch):
    grid = [{"leaf": 1}, {"leaf": 2}]
    watched = Algorithm(lambda cost, settings, n_labels: Watching(), lambda X: grid, one_fit=True)
    monkeypatch.setitem(algorithms.ALGORITHMS, "watched", watched)
    seen = []
    monkeypatch.setattr(Watching, "learnt", set())
    monkeypatch.setattr(Watching, "predicted", set())
    task = make_task("compare", "watched", ("f1", "rank"))
    train, test = (set(table.X[rows, 0]) for rows in half_split(61, task.split))
    for _ in run_task(task, table, task.result_keys()):
        seen.append((set(Watching.learnt), set(Watching.predicted)))
    assert seen == [(train, train | test)] * 2, "searched and learned in one half, judged on the other"


@pytest.mark.parametrize("algorithm", ["BR", algorithms.POSTERIOR])
def test_lists_of_labels_are_judged_by_their_order(table, algorithm):
    task = make_task("compare", algorithm, ("recall@2",), n_trees=2, n_bits=20)
    ((_, result),) = run(task, table).items()
    train, test = half_split(61, task.split)
    settings, cost = task.settings, get_cost("recall@2")
    model = make_model(algorithms.ALGORITHMS[algorithm], cost, settings, 3, task.split)
    model.set_params(**{name: value for name, value in json.loads(result.chosen).items() if "__" in name})
    lists, _ = model.fit(table.X[train], table.Y[train]).predict_top(table.X[test], cost=cost)
    assert result.score == cost.mean(table.Y[test], lists)


@pytest.mark.parametrize("algorithm", ["BR", "PCC", "CFT", algorithms.NEAREST, algorithms.POSTERIOR])
def test_a_measure_is_one_of_the_test_half(table, algorithm):
    task = make_task("compare", algorithm, ("macro_f1",), n_trees=2, n_bits=20, search=False)
    ((_, result),) = run(task, table).items()
    train, test = half_split(61, task.split)
    cost = get_cost("macro_f1")
    model = make_model(algorithms.ALGORITHMS[algorithm], cost, task.settings, 3, task.split)
    model.fit(table.X[train], table.Y[train])
    assert result.score == cost.mean(table.Y[test], model.predict(table.X[test]))
    assert hasattr(model, "thresholds_") == (algorithm in ("PCC", algorithms.POSTERIOR))


def test_an_algorithm_without_an_order_of_labels_is_told(table):
    task = make_task("compare", algorithms.NEAREST, ("recall@2",), search=False)
    with pytest.raises(ValueError, match="'recall@2' needs an order of labels"):
        run(task, table)


def test_only_what_is_missing_is_given(table):
    task = make_task("compare", "BR", ("f1", "rank"), search=False, n_trees=2)
    f1, rank = task.result_keys()
    everything = run(task, table)
    assert list(everything) == [f1, rank]
    ((key, result),) = run_task(task, table, [rank])
    assert key == rank
    assert result.score == everything[rank].score


def test_lengths_are_those_of_one_longer_model(table):
    task = make_task("code-length", "CSRPE-nearest", lengths=(2, 5, 900), search=False)
    found = run(task, table)
    train, test = half_split(61, task.split)
    model = CSRPEClassifier(
        "f1", n_bits=900, decoder="nearest", max_depth=None, max_features=None, random_state=2
    )
    model.fit(table.X[train], table.Y[train])
    assert len(model.code_) < 900, "the length that there is not is the longest there is"
    for key, result in found.items():
        short = model.shorten(min(key.size, len(model.code_)))
        assert result.score == get_cost("f1").mean(table.Y[test], short.predict(table.X[test]))
        noted = {"n_bits": len(model.code_)} if key.size == 900 else {}
        assert json.loads(result.chosen) == noted, "without a search nothing was chosen"


@pytest.mark.slow
def test_the_posterior_s_longest_code_is_cut_short(table):
    task = make_task("code-length", "CSRPE-posterior", lengths=(5, 30), n_bits=9)
    short, long = run(task, table).values()
    train, test = half_split(61, 2)
    model = CSRPEClassifier("f1", n_bits=30, random_state=2).fit(table.X[train], table.Y[train])
    for result, part in ((short, model.shorten(5)), (long, model)):
        assert json.loads(result.chosen)["n_bits"] == len(part.code_)
        assert result.score == get_cost("f1").mean(table.Y[test], part.predict(table.X[test]))


def test_the_posterior_is_given_vectors_of_the_test_half(table):
    task = make_task("relevant-set", "CSRPE-posterior", n_bits=20)
    plain, extended = run(task, table).values()
    train, test = half_split(61, 2)
    model = CSRPEClassifier("f1", n_bits=20, relevant_set=table.Y[train], random_state=2)
    model.fit(table.X[train], table.Y[train])
    assert plain.score == get_cost("f1").mean(table.Y[test], model.predict(table.X[test]))
    larger = clone(model).set_params(relevant_set=table.Y).fit(table.X[train], table.Y[train])
    assert extended.score == get_cost("f1").mean(table.Y[test], larger.predict(table.X[test]))


@pytest.mark.parametrize("experiment", ["compare", "code-length", "relevant-set"])
@pytest.mark.parametrize("algorithm", ["CSRPE-nearest", "CSRPE-posterior"])
def test_a_single_label_vector_is_all_that_is_predicted(table, experiment, algorithm):
    same = replace(table, Y=np.tile(np.uint8([1, 0, 1]), (61, 1)))
    task = make_task(experiment, algorithm, n_bits=20, lengths=(5, 30))
    results = run(task, same)
    assert len(results) == len(task.result_keys())
    assert {result.score for result in results.values()} == {1.0}


def test_the_larger_relevant_set_has_the_vectors_of_both_halves(table):
    task = make_task("relevant-set", "CSRPE-nearest", ("hamming",), n_bits=20, search=False)
    found = {key.algorithm: result.score for key, result in run(task, table).items()}
    train, test = half_split(61, task.split)
    for name, relevant_set in {"CSRPE-nearest": table.Y[train], "CSRPE-ext-nearest": table.Y}.items():
        model = CSRPEClassifier(
            "hamming", n_bits=20, decoder="nearest", max_depth=None, max_features=None,
            relevant_set=relevant_set,
            random_state=2,
        ).fit(table.X[train], table.Y[train])  # fmt: skip
        assert found[name] == get_cost("hamming").mean(table.Y[test], model.predict(table.X[test]))
