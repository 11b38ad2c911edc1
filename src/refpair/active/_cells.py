"""Single labels of single rows: what they are worth, and which of them to ask for together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from refpair.active._coverage import squared_distances, usual_distance
from refpair.active._pool import Floats, Indices, Pool
from refpair.classifiers import BayesDecisionClassifier, BinaryRelevance
from refpair.classifiers._base import MultiLabelClassifier
from refpair.costs import CountCost, PerLabelCost, get_cost, vector_cost
from refpair.decision.value import LabelsGiven, least_expected_cost, values_of_labels
from refpair.posterior import IndependentLabels
from refpair.posterior.distribution import MOST_ENUMERATED
from refpair.tables.labels import UNKNOWN

_LOOKED_AT = 1000  # rows whose labels are valued one by one; of more, those of highest expected cost
_SURE = 1e-6  # no probability is thought less than this, nor more than 1 minus this


@dataclass(frozen=True, eq=False)
class Cells:
    """What :meth:`QueryStrategy.query_cells` chooses from: unknown labels of the candidates of a pool.

    Attributes
    ----------
    pool : Pool
        All rows, what is known of their labels, and which rows may be asked for.
    columns : ndarray of int
        The labels that may be asked for.
    """

    pool: Pool
    columns: Indices

    @cached_property
    def unknown(self) -> npt.NDArray[np.bool_]:
        """Which labels may be asked for, of shape (n_candidates, n_labels)."""
        unknown = self.pool.known_of(self.pool.candidates) == UNKNOWN
        others = np.delete(np.arange(unknown.shape[1]), self.columns)
        unknown[:, others] = False
        return np.asarray(unknown)

    def of_rows(self, some: Indices) -> Cells:
        """Return those of some candidates."""
        return Cells(replace(self.pool, candidates=self.pool.candidates[some]), self.columns)

    def best(self, worth: Floats, n: int, rng: np.random.Generator) -> Indices:
        """Return the n cells that are worth most, the best first; of those worth the same, any."""
        row, column = np.nonzero(self.unknown)
        order = rng.permutation(len(row))
        order = order[np.argsort(-worth[row[order], column[order]], kind="stable")][:n]
        return np.column_stack([self.pool.candidates[row[order]], column[order]])

    def diverse(self, worth: Floats, n: int, rng: np.random.Generator) -> Indices:
        """Return n cells that are worth much, such that rows asked for one label are unlike each other.

        The best comes first. Each next one is that of the greatest worth times the distance to the nearest
        row that is chosen for the same label, as a part of a usual distance of rows.
        """
        shuffled = rng.permutation(len(worth))  # of cells that are worth the same, any
        rows = self.pool.candidates[shuffled]
        X = self.pool.features[rows]
        factor = np.ones(worth.shape)
        unknown, worth = self.unknown[shuffled], worth[shuffled]
        score = np.where(unknown, worth, -1.0)
        unit = usual_distance(X)
        chosen = np.empty((n, 2), np.intp)
        for place in range(n):
            row, label = divmod(int(np.argmax(score)), score.shape[1])
            chosen[place] = rows[row], label
            unknown[row, label] = False
            near = np.sqrt(np.minimum(squared_distances(X, X[row : row + 1])[:, 0] / unit, 1.0))
            factor[:, label] = np.minimum(factor[:, label], near)
            score[:, label] = np.where(unknown[:, label], worth[:, label] * factor[:, label], -1.0)
        return chosen


def fitted_to(
    pool: Pool, estimator: Any, rng: np.random.Generator, *, as_it_is: bool, cost: Any = "f1"
) -> Any:
    """Fit a clone of an estimator, or Bayes decisions over it unless it is to stay as it is."""
    model = clone(BinaryRelevance("logistic") if estimator is None else estimator)
    if not as_it_is:
        model = BayesDecisionClassifier(model, cost=cost, calibrate=False)  # few rows are labeled
    if model.get_params().get("random_state", 0) is None:
        model.set_params(random_state=int(rng.integers(2**31)))
    return model.fit(pool.rows(pool.labeled), pool.labels_for(model))


def valued_cells(
    cells: Cells, estimator: Any, cost: Any, n: int, rng: np.random.Generator
) -> tuple[Cells, Floats]:
    """Return the cells of rows that were looked at, at least n if there are, and what each is worth.

    That is how much less the answer for the row is expected to cost, by what an estimator says, fitted to all
    that is known. Labels are independent, given the features and what is known of a row.
    """
    cost = vector_cost(cost, "a query of single labels").for_labels(cells.pool.label_names)
    if not isinstance(cost, CountCost | PerLabelCost) and len(cells.pool.label_names) > MOST_ENUMERATED:
        cost = get_cost("hamming")  # of many labels, a function is called too often
    p = label_probabilities(estimator, cells.pool, rng)
    if len(p) > _LOOKED_AT:
        ranked = np.argsort(-least_expected_cost(IndependentLabels(p), cost), kind="stable")
        enough = int(np.searchsorted(np.cumsum(cells.unknown.sum(axis=1)[ranked]), n)) + 1
        some = np.sort(ranked[: max(_LOOKED_AT, enough)])
        cells, p = cells.of_rows(some), p[some]
    nothing = np.full(p.shape, UNKNOWN, np.uint8)  # besides what the probabilities tell already
    given = LabelsGiven(IndependentLabels(p))
    return cells, values_of_labels(given, np.arange(len(p)), nothing, cells.unknown, cost)


def label_probabilities(estimator: Any, pool: Pool, rng: np.random.Generator) -> Floats:
    """Return the probabilities of the labels of the candidates, given what is known of each of them.

    A label that is there in all m rows where it is known, or in none, has the probability 1 / (m + 2) to be
    otherwise in the next one.
    """
    knows = isinstance(estimator, MultiLabelClassifier) and hasattr(estimator, "predict_set_proba")
    model = fitted_to(pool, estimator, rng, as_it_is=knows)
    there, absent = ((pool.known == value).sum(axis=0) for value in (1, 0))
    least = np.where((there > 0) & (absent > 0), _SURE, 1.0 / (there + absent + 2.0))

    def probabilities(which: Indices) -> Floats:
        known = pool.known_of(which)
        X = model._read_features(pool.rows(which), reset=False)
        parts = [told.given(known[rows]).marginals() for rows, told in model._distributions(X, None)]
        p = np.clip(np.concatenate(parts), least, 1.0 - least)
        return np.where(known == UNKNOWN, p, known)

    return pool.by_chunks(probabilities)
