"""What a session learns from its answers: a model, and which rows to ask for next."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from refpair.active import RepresentativeUncertainty, SubSampled
from refpair.active._classifier import check_classifier
from refpair.active._classifier import WrappedClassifier
from refpair.active._kernel import KernelFeatures
from refpair.active._strategy import QueryStrategy
from refpair.bits.binning import Matrix
from refpair.classifiers import CSRPEClassifier, Logistic
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._parameters import check_count
from refpair.costs import Cost
from refpair.labeling.labels import LabelForm
from refpair.tables.vectorizer import TableVectorizer

__all__ = ["Fit", "SessionModel"]

_GRID = (3.0, 30.0, 300.0)  # of C, for rows whose mean squared length is 1
_START = 30.0
_ENOUGH, _TOO_MANY = 10, 1000  # answers, to choose C by: with more, it would take minutes
_GROWTH = 1.5  # of the answers, after which C is chosen anew
_CLEARLY = 0.95  # of the cost out of bag: what another C must be below
_N_BITS = 600
_FEWEST_BITS = 100
_BITS_AND_ANSWERS = 300_000  # their product, above which there are fewer bits: many answers need fewer
_AHEAD = 20  # rows that are chosen to be unlike each other; those behind them are by their worth alone
_LOOKED_AT = 10_000  # rows that may be ranked; of more, some at random
_SAMPLE = 500  # rows whose predictions are followed

Indices = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Fit:
    """What was learnt from some answers.

    Attributes
    ----------
    n_labelled : int
        How many answers there were.
    n_labels : int
        How many labels.
    classifier : multi-label classifier or None
        Of features; None as long as no two rows with different labels are known.
    pipeline : Pipeline or None
        The same for rows of the table.
    order : ndarray of int
        The rows to ask for, the best one first.
    expected_cost : float or None
        Of the predictions of a sample of rows.
    predictions : ndarray of uint8 or None
        Of the same rows.
    """

    n_labelled: int
    n_labels: int
    classifier: Any
    pipeline: Pipeline | None
    order: Indices
    expected_cost: float | None
    predictions: Bytes | None

    @property
    def name(self) -> str:
        """Which model it is."""
        if self.classifier is None:
            return f"nothing to go by, {self.n_labelled} answers"
        model = self.classifier
        kind = type(model.estimator_ if isinstance(model, WrappedClassifier) else model).__name__
        return f"{kind}, {self.n_labelled} answers"


class SessionModel:
    """Learns from the answers of a session, again and again, and ranks the rows that may be asked for.

    Parameters
    ----------
    X : DataFrame, ndarray or CSR matrix
        All rows.
    kinds : mapping of str to str, or None
        None takes the features of an array as they are. Else :class:`refpair.tables.TableVectorizer` makes
        them, and these are the kinds of columns that it should not guess.
    folder : path-like or None
        Where paths of images start.
    cost : Cost
    estimator : multi-label classifier or None
        None is CSRPE with logistic regressions, on features of a kernel if X is dense; their C is chosen out
        of bag.
    strategy : QueryStrategy or None
        None is :class:`RepresentativeUncertainty`.
    random_state : int
    verbose : int

    Attributes
    ----------
    features : ndarray or CSR matrix of shape (n, n_features)
        All rows, as the classifier and the strategy see them.
    columns : DataFrame or None
        What became of the columns of the table.
    sample : ndarray of int
        Rows whose predictions are followed from fit to fit.
    last : Fit or None
    """

    def __init__(
        self,
        X: Any,
        *,
        kinds: Mapping[str, Any] | None,
        folder: Any,
        cost: Cost,
        estimator: Any,
        strategy: QueryStrategy | None,
        random_state: int,
        verbose: int = 0,
    ) -> None:
        check_classifier(estimator)
        if strategy is not None and (isinstance(strategy, type) or not hasattr(strategy, "query")):
            raise ValueError(f"strategy must be a query strategy such as RandomQuery(), not {strategy!r}")
        check_count("random_state", random_state, low=0, high=2**32 - 1)
        self.columns: pd.DataFrame | None = None
        self._steps: list[tuple[str, Any]] = []
        if kinds is not None:
            vectorizer = TableVectorizer(dict(kinds), folder=folder, verbose=verbose)
            X = vectorizer.fit_transform(X)
            self.columns = vectorizer.columns_
            self._steps.append(("tablevectorizer", vectorizer))
        if estimator is None:
            kernel = KernelFeatures(random_state=random_state)
            X = kernel.fit_transform(X)
            self._steps.append(("kernelfeatures", kernel))
        self.features: Matrix = X
        self.cost = cost
        self.estimator = estimator
        self.strategy = strategy
        self._default_strategy = RepresentativeUncertainty(cost, random_state=random_state)
        self.random_state = random_state
        self.sample = np.sort(np.random.default_rng(random_state).permutation(X.shape[0])[:_SAMPLE])
        self.last: Fit | None = None
        self._c = _START
        self._c_chosen_at = 0

    def fit(self, Y: Floats, candidates: Indices, labels: list[str], form: LabelForm) -> Fit:
        """Fit the classifier and rank the rows that may be asked for.

        Parameters
        ----------
        Y : ndarray of shape (n, n_labels)
            The answers; rows without one are NaN.
        candidates : ndarray of int
        labels : list of str
            The names of the columns of Y.
        form : LabelForm
            In which the pipeline answers.
        """
        known = np.flatnonzero(~np.isnan(Y).any(axis=1))
        answers = pd.DataFrame(Y[known].astype(np.uint8), columns=labels)
        classifier = pipeline = predictions = expected = None
        if len(known) > 1 and (answers != answers.iloc[0]).any(axis=None):
            classifier = self._classifier(self.features[known], answers)
            pipeline = self._pipeline(classifier, form)
            rows = self.features[self.sample]
            predictions = np.asarray(classifier.predict(rows), np.uint8)
            if hasattr(classifier, "expected_cost"):
                expected = float(classifier.expected_cost(rows).mean())
        order = self._rank(classifier, Y, candidates)
        self.last = Fit(len(known), Y.shape[1], classifier, pipeline, order, expected, predictions)
        return self.last

    def _classifier(self, X: Matrix, answers: pd.DataFrame) -> Any:
        if self.estimator is not None:
            own = isinstance(self.estimator, MultiLabelClassifier)
            return (clone(self.estimator) if own else WrappedClassifier(self.estimator)).fit(X, answers)
        n = len(answers)
        n_bits = max(_FEWEST_BITS, min(_N_BITS, _BITS_AND_ANSWERS // n))
        if not max(_ENOUGH, _GROWTH * self._c_chosen_at) <= n <= _TOO_MANY:
            return self._csrpe(self._c, n_bits).fit(X, answers)
        models = {C: self._csrpe(C, n_bits).fit(X, answers) for C in _GRID}
        best = min(models, key=lambda C: models[C].oob_cost_)
        # Rows that were asked for are harder than others, and seem to want less of a penalty than these do.
        if models[best].oob_cost_ < _CLEARLY * models[self._c].oob_cost_:
            self._c = best
        self._c_chosen_at = n
        return models[self._c]

    def _csrpe(self, C: float, n_bits: int) -> CSRPEClassifier:
        return CSRPEClassifier(
            self.cost, n_bits=n_bits, estimator=Logistic(C), random_state=self.random_state
        )

    def _pipeline(self, classifier: Any, form: LabelForm) -> Pipeline:
        """Return what predicts rows of the table, in the form that their labels have."""
        answering = copy.copy(classifier)
        answering._label_format = form.applied_to(classifier._label_format)
        return Pipeline([*self._steps, (type(classifier).__name__.lower(), answering)])

    def _rank(self, classifier: Any, Y: Floats, candidates: Indices) -> Indices:
        """Return the candidates, the best one first: some that are unlike each other, then the others."""
        if not len(candidates):
            return candidates
        strategy = self.strategy or self._ranking(classifier)
        first, utilities = strategy.query(self.features, Y, _AHEAD, candidates, return_utilities=True)
        worth = np.nan_to_num(utilities[candidates], nan=-np.inf)  # not looked at
        others = candidates[np.argsort(-worth, kind="stable")]
        return np.concatenate([first, others[~np.isin(others, first)]])

    def _ranking(self, classifier: Any) -> QueryStrategy:
        """Return the default strategy, which goes by the classifier that was just fitted, and by its C."""
        strategy = self._default_strategy  # the same object each time: its bits begin where they ended
        strategy.estimator = None if classifier is None else FrozenEstimator(classifier)
        strategy.bit_estimator = Logistic(self._c)
        return SubSampled(strategy, n_candidates=_LOOKED_AT, random_state=self.random_state)
