"""The algorithms of the paper's comparison by name, and what is searched for each.

The base learners of the competitors are forests, those of CSRPE single trees; both are grown by the same tree
bank. What is searched is the shape of the trees: the size of their leaves in forests; depth and the features
that a split looks at where each bit counts for itself, as in the paper.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone

from refpair.classifiers import (
    MLECC,
    BinaryRelevance,
    ChainClassifier,
    CondensedFilterTree,
    CSRPEClassifier,
    Forest,
    ProbabilisticChain,
    RAkEL,
)
from refpair.classifiers._base import MultiLabelClassifier
from refpair.costs import Cost, RankedCost, get_cost
from refpair.experiments.names import call_with, find_known
from refpair.experiments.settings import LABELS_TIMES_ROUNDS, Settings

NEAREST, POSTERIOR = "CSRPE-nearest", "CSRPE-posterior"

Parameters = Mapping[str, Any]
Grid = Sequence[Parameters]
Make = Callable[[Cost, Settings, int], Any]
FitEach = Callable[[Any, Grid, Any, Any], Iterator[Any]]

_DEPTHS = (None, 40, 20, 12, 8, 5, 3)  # of single trees
_LEAVES = (1, 3)  # rows at least
_DRAFT_BITS, _DRAFT_TREES = 300, 25  # are enough to choose by


def fit_each(model: Any, grid: Grid, X: Any, Y: Any) -> Iterator[Any]:
    """Yield the model fitted with each setting in turn."""
    for parameters in grid:
        yield clone(model).set_params(**parameters).fit(X, Y)


def fit_and_cut(model: Any, grid: Grid, X: Any, Y: Any) -> Iterator[Any]:
    """Do as `fit_each`, but grow trees of all depths at once: the shallow ones are parts of the deepest."""
    fitted: dict[Any, Any] = {}
    for parameters in grid:
        features = parameters["max_features"]
        if features not in fitted:
            fitted[features] = clone(model).set_params(max_depth=None, max_features=features).fit(X, Y)
        shown = copy(fitted[features])
        if parameters["max_depth"] is not None:
            shown.bits_ = shown.bits_.cut(parameters["max_depth"])
        yield shown


@dataclass(frozen=True)
class Algorithm:
    """How an algorithm takes part in experiments; ``make(cost, settings, n_labels)`` is an unfitted model."""

    make: Make
    grid: Callable[[Any], Grid] = field(default=lambda X: [{}])  # what to choose from, the default first
    draft: Parameters = field(default_factory=dict)  # parameters that make the search shorter
    fit_each: FitEach = fit_each
    one_fit: bool = False  # one fitted model answers for all costs

    def answer(self, model: Any, X: Any, cost: Cost) -> Any:
        """Return what a fitted model predicts if it is judged by a cost: lists, or label vectors."""
        if isinstance(cost, RankedCost):
            return cost.lists_of(model, X)
        # What a model of the user's own calls decide is its own affair.
        if self.one_fit and isinstance(model, MultiLabelClassifier) and hasattr(model, "decide"):
            return model.decide(X, cost)
        return model.predict(X)


def _forest_grid(X: Any) -> Grid:
    return [{"estimator__min_samples_leaf": n_rows} for n_rows in _LEAVES]


def _tree_grid(X: Any) -> Grid:
    """Return the settings of single trees; in sparse data, which are words as a rule, all features count."""
    features = (None,) if sp.issparse(X) else (None, "sqrt")
    return [{"max_depth": d, "max_features": f} for f, d in product(features, _DEPTHS)]


def _of_forests(make: Callable[..., Any], *, knows_cost: bool = False) -> Algorithm:
    def make_model(cost: Cost, settings: Settings, n_labels: int) -> Any:
        forest = Forest(settings.n_trees)
        return make(forest, cost=cost) if knows_cost else make(forest)

    return Algorithm(make_model, _forest_grid, draft={"estimator__n_trees": _DRAFT_TREES}, one_fit=True)


def _of_vectors(cost: Cost) -> Cost:
    """Return what an algorithm that compares label vectors is made for if it is judged by a cost."""
    return cost if cost.compares_vectors else get_cost("f1")


def _make_filter_tree(cost: Cost, settings: Settings, n_labels: int) -> CondensedFilterTree:
    n_rounds = min(settings.n_rounds, max(2, LABELS_TIMES_ROUNDS // n_labels))
    return CondensedFilterTree(Forest(settings.n_trees), cost=_of_vectors(cost), n_rounds=n_rounds)


def _make_nearest(cost: Cost, settings: Settings, n_labels: int) -> CSRPEClassifier:
    return CSRPEClassifier(_of_vectors(cost), n_bits=settings.most_bits, decoder="nearest")


def _make_posterior(cost: Cost, settings: Settings, n_labels: int) -> CSRPEClassifier:
    return CSRPEClassifier(cost, n_bits="auto" if settings.n_bits is None else settings.n_bits)


COMPETITORS: dict[str, Algorithm] = {
    "BR": _of_forests(BinaryRelevance),
    "RAkEL": _of_forests(RAkEL),
    "HAMR": _of_forests(partial(MLECC, code="hamr")),
    "CC": _of_forests(ChainClassifier),
    "PCC": _of_forests(ProbabilisticChain, knows_cost=True),
    "CFT": Algorithm(
        _make_filter_tree, _forest_grid, draft={"estimator__n_trees": _DRAFT_TREES, "n_rounds": 2}
    ),
}
ALGORITHMS: dict[str, Algorithm] = COMPETITORS | {
    NEAREST: Algorithm(_make_nearest, _tree_grid, draft={"n_bits": _DRAFT_BITS}, fit_each=fit_and_cut),
    POSTERIOR: Algorithm(_make_posterior),  # it chooses by itself, out of bag
}


def find_algorithm(name: str) -> Algorithm:
    """Return an algorithm by its name, or one of the user's own, which is given `cost` and `random_state`.

    If it has no argument `cost`, one fitted model is judged by all costs.
    """
    found = find_known("algorithm", name, ALGORITHMS, "model")
    if isinstance(found, Algorithm):
        return found
    make = found

    def make_own(cost: Cost, settings: Settings, n_labels: int, random_state: int | None = None) -> Any:
        return call_with(make, cost=cost, random_state=random_state)

    try:
        parameters = inspect.signature(make).parameters
    except ValueError:  # some that are written in C
        raise ValueError(
            f"{name} does not tell its arguments; write a function that returns the model"
        ) from None
    return Algorithm(make_own, one_fit="cost" not in parameters)
