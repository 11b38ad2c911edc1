"""What a session learns from its answers: a model, which rows to ask for next, and why."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from refpair._extras import pd
from refpair._parallel import chunks_of, run_chunks
from refpair.active import RepresentativeUncertainty, SubSampled
from refpair.active._classifier import KernelFeatures, WrappedClassifier, check_classifier
from refpair.active._pool import Floats, Indices, Labels
from refpair.active._strategy import QueryStrategy
from refpair.bits.binning import Matrix
from refpair.classifiers import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, Logistic
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._checks import check_count
from refpair.costs import Cost
from refpair.costs.cost import PerLabelCost
from refpair.labeling.table import LabelColumns
from refpair.tables.vectorizer import TableVectorizer

Bools = npt.NDArray[np.bool_]

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
_ROWS_A_CALL = 2000  # that are predicted
_SAMPLE = 500  # rows whose predictions are followed
_DOUBT = 0.25  # a label is in doubt from this probability to 1 minus it
_MOST_IN_DOUBT = 5
_NOTHING_ELSE = (
    "It is like many other rows. There is nothing else to go by until two rows have different labels."
)
_NOTHING_KNOWN = "There is nothing to go by yet: this label is not known in any row."


@dataclass(frozen=True)
class Reason:
    """Why a row is asked for, in a sentence, and what the model thinks of it, as far as there is one."""

    text: str
    guess: list[str] = field(default_factory=list)
    probabilities: dict[str, float] = field(default_factory=dict)
    in_doubt: list[str] = field(default_factory=list)
    expected_cost: float | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """What was learned from some answers; no model as long as no two rows with different labels are known.

    The `pipeline` is the `classifier` for rows of the table; both know the `labels` that are known of any
    row. `order` has the rows to ask for, the best one first; the expected cost and the predictions are of a
    sample of rows.
    """

    n_labeled: int
    labels: list[str]
    classifier: Any
    pipeline: Pipeline | None
    order: Indices
    expected_cost: float | None
    predictions: Labels | None
    Y: Floats
    learned: Indices  # the places of the `labels` in it
    cost: Cost  # for the `labels`
    is_open: Bools  # the cells that may be asked for
    cells: dict[int | None, Indices] = field(default_factory=dict)  # ranked, as far as it was wanted

    @property
    def name(self) -> str:
        """Which model it is."""
        if self.classifier is None:
            return f"nothing to go by, {self.n_labeled} answers"
        model = self.classifier
        kind = type(model.estimator_ if isinstance(model, WrappedClassifier) else model).__name__
        return f"{kind}, {self.n_labeled} answers"

    def predict(self, X: Matrix, verbose: int) -> pd.DataFrame:
        """Return what is predicted for rows, given their features.

        Columns are ``<label>_predicted`` and ``<label>_probability`` for each label, and ``expected_cost``,
        as far as the classifier tells them.
        """
        model = self.classifier

        def predict(part: slice) -> list[Any]:
            rows = X[part]
            return [
                np.asarray(model.predict(rows), np.uint8),
                np.asarray(model.predict_proba(rows)) if hasattr(model, "predict_proba") else None,
                np.asarray(model.expected_cost(rows)) if hasattr(model, "expected_cost") else None,
            ]

        chunks = chunks_of(X.shape[0], _ROWS_A_CALL)
        parts = run_chunks(predict, chunks, n_jobs=None, verbose=verbose, title="predicting rows")
        predicted, probabilities, costs = (
            None if some[0] is None else np.concatenate(some) for some in zip(*parts, strict=True)
        )
        assert predicted is not None
        columns: dict[str, Any] = {}
        for place, label in enumerate(self.labels):
            columns[f"{label}_predicted"] = predicted[:, place]
            if probabilities is not None:
                columns[f"{label}_probability"] = probabilities[:, place].round(6)
        if costs is not None:
            columns["expected_cost"] = costs.round(6)
        return pd.DataFrame(columns)

    def reason(self, row: Matrix, label: str | None) -> Reason:
        """Return why a row, or one label of it, is asked for, given its features."""
        model, known = self.classifier, self.labels
        if model is None or (label is not None and label not in known):
            return Reason(_NOTHING_ELSE if label is None else _NOTHING_KNOWN)
        guess = [known[place] for place in np.flatnonzero(np.asarray(model.predict(row))[0]).tolist()]
        cost = float(model.expected_cost(row)[0]) if hasattr(model, "expected_cost") else None
        probabilities: dict[str, float] = {}
        if hasattr(model, "predict_proba"):
            p = np.asarray(model.predict_proba(row))[0]
            probabilities = {label: round(float(p[place]), 4) for place, label in enumerate(known)}
        doubtful = sorted(probabilities, key=lambda label: abs(probabilities[label] - 0.5))
        in_doubt = [one for one in doubtful if _DOUBT <= probabilities[one] <= 1 - _DOUBT][:_MOST_IN_DOUBT]
        if label is not None:
            told = f" {100 * probabilities[label]:.0f} %" if label in probabilities else ""
            text = (
                f"The model gives {label}{told or ' no probability'}. Rows come first where it is unsure, "
                "and that are like many others."
            )
            return Reason(text, guess, probabilities, in_doubt, cost)
        parts = []
        if cost is not None and self.expected_cost is not None:
            parts.append(f"A guess would cost {cost:.2g}, where {self.expected_cost:.2g} is usual")
        parts.append(f"in doubt: {', '.join(in_doubt)}" if in_doubt else "no single label is in doubt")
        text = "; ".join(parts)
        text = f"{text[0].upper()}{text[1:]}. It also stands for rows like it."
        return Reason(text, guess, probabilities, in_doubt, cost)


class SessionModel:
    """Learns from the answers of a session, again and again, and ranks the rows that may be asked for.

    `kinds` of None takes the features of an array X as they are; else TableVectorizer makes them. By default
    the estimator is CSRPE with logistic regressions, on features of a kernel if X is dense, whose C is chosen
    out of bag, and the strategy is RepresentativeUncertainty.
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
        # The same object each time: its bits begin where they ended.
        self._default_strategy = default = RepresentativeUncertainty(cost, random_state=random_state)
        self._is_own = strategy is not None
        self.strategy = strategy or SubSampled(default, n_candidates=_LOOKED_AT, random_state=random_state)
        self.random_state = random_state
        self.sample = np.sort(np.random.default_rng(random_state).permutation(X.shape[0])[:_SAMPLE])
        self.last: Fit | None = None
        self._c = _START
        self._c_chosen_at = 0

    def fit(self, Y: Floats, is_open: Bools, labels: list[str], columns: LabelColumns) -> Fit:
        """Fit the classifier and rank the rows that may be asked for.

        Y is NaN where labels are unknown, and `is_open` where they may be asked for; `labels` are the names
        of its columns, and the pipeline answers in the form of `columns`.
        """
        is_known: Bools = ~np.isnan(Y)
        learned = np.flatnonzero(is_known.any(axis=0))
        # Those of other libraries learn from complete rows only.
        gaps = self.estimator is None or getattr(self.estimator, "_takes_unknown_labels", False)
        enough = is_known[:, learned].any(axis=1) if gaps else is_known[:, learned].all(axis=1)
        known = np.flatnonzero(enough) if len(learned) else np.empty(0, np.intp)
        names = [labels[place] for place in learned]
        some = Y[np.ix_(known, learned)]
        some = some if np.isnan(some).any() else some.astype(np.uint8)
        every = self.cost.for_labels(labels)
        cost = cost_of_some(every, learned, len(labels))
        classifier = pipeline = predictions = expected = None
        if ((some == 0).any(axis=0) & (some == 1).any(axis=0)).any():
            classifier = self._classifier(
                self.features[known],
                pd.DataFrame(some, columns=names),
                cost,
            )
            pipeline = self._pipeline(classifier, columns)
            rows = self.features[self.sample]
            predictions = np.asarray(classifier.predict(rows), np.uint8)
            if hasattr(classifier, "expected_cost"):
                expected = float(classifier.expected_cost(rows).mean())
        order = self._rank(classifier, Y, is_open, learned, every)
        n_labeled = int(is_known.any(axis=1).sum())
        fit = Fit(
            n_labeled, names, classifier, pipeline, order, expected, predictions, Y, learned, cost, is_open
        )  # fmt: skip
        for place in [] if self.last is None else list(self.last.cells):  # what was wanted will be again
            fit.cells[place] = self._rank_cells(fit, place)
        self.last = fit
        return fit

    def _classifier(self, X: Matrix, answers: pd.DataFrame, cost: Cost) -> Any:
        if self.estimator is not None:
            own = isinstance(self.estimator, MultiLabelClassifier)
            return (clone(self.estimator) if own else WrappedClassifier(self.estimator)).fit(X, answers)
        n, n_labels = answers.shape
        if n_labels == 1:  # all bits would be the same one, and too sure of themselves
            one = BinaryRelevance(Logistic(self._c))
            return BayesDecisionClassifier(one, cost=cost, random_state=self.random_state).fit(X, answers)
        n_bits = max(_FEWEST_BITS, min(_N_BITS, _BITS_AND_ANSWERS // n))
        if not max(_ENOUGH, _GROWTH * self._c_chosen_at) <= n <= _TOO_MANY:
            return self._csrpe(cost, self._c, n_bits).fit(X, answers)
        models = {C: self._csrpe(cost, C, n_bits).fit(X, answers) for C in _GRID}
        best = min(models, key=lambda C: models[C].oob_cost_)
        # Rows that were asked for are harder than others, and seem to want less of a penalty than these do.
        if models[best].oob_cost_ < _CLEARLY * models[self._c].oob_cost_:
            self._c = best
        self._c_chosen_at = n
        return models[self._c]

    def _csrpe(self, cost: Cost, C: float, n_bits: int) -> CSRPEClassifier:
        return CSRPEClassifier(cost, n_bits=n_bits, estimator=Logistic(C), random_state=self.random_state)

    def _pipeline(self, classifier: Any, columns: LabelColumns) -> Pipeline:
        """Return what predicts rows of the table, in the form that their labels have."""
        answering = copy.copy(classifier)
        answering._label_format = columns.applied_to(classifier._label_format)
        return Pipeline([*self._steps, (type(classifier).__name__.lower(), answering)])

    def _rank(self, classifier: Any, Y: Floats, is_open: Bools, learned: Indices, cost: Cost) -> Indices:
        """Return the open rows, the best one first: some that are unlike each other, then the others."""
        rows = np.flatnonzero(is_open.any(axis=1))
        places = learned if len(learned) else np.arange(Y.shape[1])
        # Rows of which only labels are unknown that nothing is known of are the last.
        Y = Y[:, places]
        is_complete: Bools = np.asarray(~np.isnan(Y).any(axis=1))
        candidates, last = rows[~is_complete[rows]], rows[is_complete[rows]]
        if not len(candidates):
            return last
        self._default_strategy.cost = cost_of_some(cost, places, is_open.shape[1])
        self._default_strategy.estimator = None if classifier is None else FrozenEstimator(classifier)
        self._default_strategy.bit_estimator = Logistic(self._c)
        first, utilities = self.strategy.query(self.features, Y, _AHEAD, candidates, return_utilities=True)
        worth = np.nan_to_num(utilities[candidates], nan=-np.inf)  # not looked at
        others = candidates[np.argsort(-worth, kind="stable")]
        return np.concatenate([first, others[~np.isin(others, first)], last])

    def rank_cells(self, place: int | None) -> Indices:
        """Return rows and places of labels that may be asked for, of one label or of all, the best first."""
        fit = self.last
        assert fit is not None
        if place not in fit.cells:
            fit.cells[place] = self._rank_cells(fit, place)
        return fit.cells[place]

    def _rank_cells(self, fit: Fit, place: int | None) -> Indices:
        """Rank cells: some by the strategy, then others by the variance of the answer."""
        n_labels = fit.is_open.shape[1]
        is_open = fit.is_open & np.isin(np.arange(n_labels), range(n_labels) if place is None else [place])
        rows, parts = fit.order[:_LOOKED_AT], []
        candidates = np.flatnonzero(is_open[:, fit.learned].any(axis=1))
        if len(candidates):
            label = None if place is None else int(np.searchsorted(fit.learned, place))
            first = self._strategy_of_cells(fit).query_cells(
                self.features, fit.Y[:, fit.learned], _AHEAD, label=label, candidates=candidates
            )
            parts.append(np.column_stack([first[:, 0], fit.learned[first[:, 1]]]))
        p = np.full((len(rows), n_labels), 0.5)
        if len(rows) and hasattr(fit.classifier, "predict_proba"):
            chunks = chunks_of(len(rows), _ROWS_A_CALL)
            told = [np.asarray(fit.classifier.predict_proba(self.features[rows[one]])) for one in chunks]
            p[:, fit.learned] = np.concatenate(told)
        worth = np.where(is_open[rows], p * (1.0 - p), -1.0)
        best = np.argsort(-worth, axis=None, kind="stable")[: min(_LOOKED_AT, (worth >= 0.0).sum())]
        row, column = np.divmod(best, n_labels)
        return np.concatenate([*parts, np.column_stack([rows[row], column])])

    def _strategy_of_cells(self, fit: Fit) -> QueryStrategy:
        """Return what values single labels; another thread may be ranking rows with the default strategy."""
        values = getattr(type(self.strategy), "choose_cells", QueryStrategy.choose_cells)
        if self._is_own and values is not QueryStrategy.choose_cells:
            return self.strategy
        model = BinaryRelevance(Logistic(self._c))
        strategy = RepresentativeUncertainty(fit.cost, estimator=model, random_state=self.random_state)
        return SubSampled(strategy, n_candidates=_LOOKED_AT, random_state=self.random_state)


def cost_of_some(cost: Cost, places: Sequence[int] | Indices, n_labels: int) -> Cost:
    """Return a cost for some of the labels."""
    if not isinstance(cost, PerLabelCost) or len(places) == n_labels:
        return cost
    false_positive, false_negative = (prices[np.asarray(places)].tolist() for prices in cost.prices(n_labels))
    return Cost.per_label(false_positive=false_positive, false_negative=false_negative)
