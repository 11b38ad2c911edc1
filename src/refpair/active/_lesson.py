"""What is learnt from the answers so far: a model, and which rows to ask for next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from refpair.active._batches import diverse_rows
from refpair.active._classifier import check_classifier
from refpair.active._coverage import variance_removed
from refpair.active._kernel import with_kernel
from refpair.active._other_model import OtherModel
from refpair.active._pool import Indices
from refpair.active._strategy import QueryStrategy
from refpair.active.representative import RepresentativeUncertainty
from refpair.active.spread import SpreadQuery
from refpair.bits.binning import Matrix
from refpair.bits.problem import chunks_of
from refpair.classifiers import CSRPEClassifier, Logistic
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._parameters import check_count
from refpair.costs import Cost

__all__ = ["Learner", "Lesson"]

_GRID = (3.0, 30.0, 300.0)  # of C, for rows whose mean squared length is 1
_START = 30.0
_ENOUGH = 10  # answers, to choose C by
_GROWTH = 1.5  # of the answers, after which C is chosen anew
_CLEARLY = 0.95  # of the cost out of bag: what another C must be below
_N_BITS = 600
_AHEAD = 20  # rows that are chosen to be unlike each other; those behind them are by their worth alone
_LOOKED_AT = 10_000  # rows that may be ranked; of more, some at random
_ROWS_A_CALL = 1000
_SAMPLE = 500  # rows whose predictions are followed

Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What was learnt from some answers.

    Attributes
    ----------
    n_labelled : int
        How many answers there were.
    n_labels : int
        How many labels.
    model : multi-label classifier or None
        None as long as no two rows with different labels are known.
    order : ndarray of int
        The rows to ask for, the best one first.
    expected_cost : float or None
        Of the model's predictions, on a sample of rows.
    predictions : ndarray of uint8 or None
        Of the same rows.
    """

    n_labelled: int
    n_labels: int
    model: Any
    order: Indices
    expected_cost: float | None
    predictions: Bytes | None

    @property
    def name(self) -> str:
        """Which model it is."""
        if self.model is None:
            return f"nothing to go by, {self.n_labelled} answers"
        kind = self.model.name if isinstance(self.model, OtherModel) else type(self.model).__name__
        return f"{kind}, {self.n_labelled} answers"


class Learner:
    """Learns from answers, again and again.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    cost : Cost
    estimator : multi-label classifier or None
        None is CSRPE with logistic regressions, on features of a kernel if X is dense; their C is chosen out
        of bag.
    strategy : QueryStrategy or None
        None asks for rows whose predictions are expected to cost much, and which tell much about others.
    random_state : int
    """

    def __init__(
        self, X: Matrix, cost: Cost, estimator: Any, strategy: QueryStrategy | None, random_state: int
    ) -> None:
        check_classifier(estimator)
        if strategy is not None and (isinstance(strategy, type) or not hasattr(strategy, "query")):
            raise ValueError(f"strategy must be a query strategy such as RandomQuery(), not {strategy!r}")
        check_count("random_state", random_state, low=0, high=2**32 - 1)
        mapped = with_kernel(X, random_state) if estimator is None or strategy is None else X
        self.X = X if estimator is not None else mapped  # as the model sees it
        self._seen = X if strategy is not None else mapped  # as rows are compared
        self.cost = cost
        self.estimator = estimator
        self.strategy = strategy
        self.random_state = random_state
        rows = np.random.default_rng(random_state).permutation(X.shape[0])[:_SAMPLE]
        self.sample = np.sort(rows)
        self._c = _START
        self._c_chosen_at = 0

    def learn(self, Y: Floats, candidates: Indices) -> Lesson:
        """Fit the model and rank the rows that may be asked for.

        Parameters
        ----------
        Y : ndarray of shape (n, n_labels)
            The answers; rows without one are NaN.
        candidates : ndarray of int
        """
        known = np.flatnonzero(~np.isnan(Y).any(axis=1))
        labels = Y[known].astype(np.uint8)
        varied = len(known) > 1 and bool((labels != labels[0]).any())
        model = self._fit(self.X[known], labels) if varied else None
        order = self._rank(model, Y, candidates)
        predictions, expected = None, None
        if model is not None:
            rows = self.X[self.sample]
            predictions = np.asarray(model.predict(rows), np.uint8)
            if hasattr(model, "expected_cost"):
                expected = float(model.expected_cost(rows).mean())
        return Lesson(len(known), Y.shape[1], model, order, expected, predictions)

    def _fit(self, X: Matrix, labels: Bytes) -> Any:
        if isinstance(self.estimator, MultiLabelClassifier):
            return clone(self.estimator).fit(X, labels)
        if self.estimator is not None:
            return OtherModel(self.estimator, X, labels)
        n = len(labels)
        if n < _ENOUGH or n < _GROWTH * self._c_chosen_at:
            return self._csrpe(self._c).fit(X, labels)
        models = {C: self._csrpe(C).fit(X, labels) for C in _GRID}
        best = min(models, key=lambda C: models[C].oob_cost_)
        # Rows that were asked for are harder than others, and seem to want less of a penalty than these do.
        if models[best].oob_cost_ < _CLEARLY * models[self._c].oob_cost_:
            self._c = best
        self._c_chosen_at = n
        return models[self._c]

    def _csrpe(self, C: float) -> CSRPEClassifier:
        return CSRPEClassifier(self.cost, _N_BITS, learner=Logistic(C), random_state=self.random_state)

    def _rank(self, model: Any, Y: Floats, candidates: Indices) -> Indices:
        """Return the candidates, the best one first: some that are unlike each other, then the others."""
        if not len(candidates):
            return candidates
        if self.strategy is None and hasattr(model, "expected_cost"):
            first, worth = self._representative_risk(model, Y, candidates)
        else:
            strategy = self.strategy or self._default_strategy(model)
            first, utilities = strategy.query(self._seen, Y, _AHEAD, candidates, return_utilities=True)
            worth = utilities[candidates]
        worth = np.nan_to_num(worth, nan=-np.inf)  # not looked at
        others = candidates[np.argsort(-worth, kind="stable")]
        return np.concatenate([first, others[~np.isin(others, first)]])

    def _representative_risk(self, model: Any, Y: Floats, candidates: Indices) -> tuple[Indices, Floats]:
        """Return rows to ask for first, and what each candidate is worth.

        That is what the model's answer is expected to cost, times how much a label of the row would tell
        about others. :class:`RepresentativeUncertainty` is the same for classifiers that know no cost.
        """
        rng = np.random.default_rng((self.random_state, len(candidates)))
        looked_at = np.sort(rng.permutation(len(candidates))[:_LOOKED_AT])
        rows = candidates[looked_at]
        labelled = np.flatnonzero(~np.isnan(Y).any(axis=1))
        costs = [model.expected_cost(self.X[rows[part]]) for part in chunks_of(len(rows), _ROWS_A_CALL)]
        utilities = np.concatenate(costs) * variance_removed(self._seen, labelled, rows, rng)
        worth = np.full(len(candidates), np.nan)
        worth[looked_at] = utilities
        n = min(_AHEAD, len(rows))
        return rows[diverse_rows(self._seen[rows], utilities, n, rng)], worth

    def _default_strategy(self, model: Any) -> QueryStrategy:
        if model is None:
            return SpreadQuery(random_state=self.random_state)
        return RepresentativeUncertainty(self.cost, self.estimator, random_state=self.random_state)
