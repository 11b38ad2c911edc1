"""What all multi-label classifiers of the package share: answers, decisions and scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
)

from refpair._extras import is_dataframe, pd
from refpair._parallel import in_memory, is_lazy
from refpair.classifiers._asking import AnswersAndQuestions, asking_curve, predict_or_ask
from refpair.classifiers._checks import check_count
from refpair.classifiers._dask import answer_lazily
from refpair.classifiers._reading import ReadingClassifier
from refpair.classifiers._top import list_cost, top_of
from refpair.costs import Cost, Measure, PerLabelCost, RankedCost, get_cost
from refpair.decision.condition import conditioned
from refpair.decision.decide import decide, decide_blocks
from refpair.decision.expected import expected_cost
from refpair.decision.rule_set import RuleSet
from refpair.decision.thresholds import HeldOut
from refpair.posterior.distribution import Bytes, Floats, IndependentLabels
from refpair.tables._cells import dense

Method = TypeVar("Method", bound=Callable[..., Any])

_NEVER = 1e-6  # no label is thought less likely than this, nor more likely than 1 minus this


def _if_knows(*hooks: str) -> Callable[[Method], Method]:
    """Hide a method of models that have none of the hooks, or whose `_tells_probabilities` says why not."""

    def knows(model: Any) -> bool:
        return any(hasattr(model, hook) for hook in hooks) and bool(model._tells_probabilities())

    return cast(Callable[[Method], Method], available_if(knows))


class MultiLabelClassifier(ReadingClassifier):
    """Base of the package's classifiers.

    A subclass sets ``cost_`` in ``fit`` and knows a distribution: ``_distributions(X, cost)`` yields blocks
    of rows, in order, and what their label vectors may be, as far as decisions for the cost need it; without
    a cost, the probability of each label must be right. One that knows but these probabilities has
    ``_marginals(X)`` instead, and one that answers in another way than by decisions ``_predict_labels(X)``.
    All of them take X as ``_read_features`` returns it.

    Decisions for a measure of a whole table need what the model says of samples that it did not learn:
    ``fit`` gives these to ``_keep_held_out``.
    """

    _distributions: ClassVar[Any]
    _marginals: ClassVar[Any]

    def _tells_probabilities(self) -> bool:
        """Return True, or raise an AttributeError that says what to do."""
        return True

    def _predict_labels(self, X: Any) -> Bytes:
        return self._decide(X, self.cost_, self._own_rules)

    def _decide(self, X: Any, cost: Cost, rules: RuleSet | None) -> Bytes:
        cost = self._in_prices(cost)
        return decide_blocks(self._distributions(X, cost), cost, rules=rules, n_jobs=self.n_jobs)

    def _in_prices(self, cost: Cost) -> Cost:
        """Return a cost of label vectors to decide by: for a measure of a table, prices that stand for it."""
        if not isinstance(cost, Measure):
            return cost
        if hasattr(self, "_prices") and cost == self.cost_:
            return self._prices
        if not hasattr(self, "_held_out"):
            raise ValueError(
                f"thresholds for {cost.name!r} are found in fit, on samples that are kept from the model; "
                f"this {type(self).__name__} was fitted without such: fit it with cost={cost.name!r}"
            )
        return self._held_out.prices(cost)

    def _keep_held_out(self, held_out: HeldOut | None) -> None:
        """Keep what the model says of samples that it did not learn, and find thresholds if it needs any."""
        for name in ("_held_out", "_prices"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if held_out is not None:
            self._held_out = held_out
            if isinstance(self.cost_, Measure):
                self._prices = held_out.prices(self.cost_)

    @property
    def thresholds_(self) -> Floats:
        """The probability above which each label is predicted, if the cost is a measure of a whole table."""
        if not hasattr(self, "_prices"):
            raise AttributeError("there are thresholds_ after a fit for a measure of a whole table only")
        false_positive, false_negative = cast(PerLabelCost, self._prices).prices(self._label_format.n_labels)
        return false_positive / (false_positive + false_negative)

    def predict(self, X: Any) -> Any:
        """Predict the label vectors of samples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            A Dask array or DataFrame is predicted lazily, block by block.

        Returns
        -------
        Y : of shape (n, n_labels)
            In the form that the labels had in ``fit``: array, sparse (CSR, as scikit-learn's
            ``sparse_interface`` says: an array or a matrix), DataFrame, lists or joined names. For Dask: a
            DataFrame if X is one and the labels have names, an array otherwise.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return answer_lazily(self, "predict", X)
        labels = self._predict_labels(self._read_features(X, reset=False))
        return self._label_format.write(labels, X)

    @_if_knows("_marginals", "_distributions")
    def predict_proba(self, X: Any, *, as_frame: bool = False) -> Any:
        """Return the probability of each label.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the result is lazy, too.
        as_frame : bool, default=False
            Whether to return a DataFrame with the labels as columns and the index of X.

        Returns
        -------
        probabilities : ndarray or DataFrame of shape (n, n_labels)
            Between 0.000001 and 0.999999, also for labels that no training row has. If y was
            one-dimensional in ``fit``, a column for each class.
        """
        check_is_fitted(self)
        if is_lazy(X):
            return answer_lazily(self, "predict_proba", X, as_frame=as_frame)
        read = self._read_features(X, reset=False)
        if hasattr(self, "_marginals"):
            marginals = self._marginals(read)
        else:
            marginals = np.concatenate([p.marginals() for _, p in self._distributions(read, None)])
        told = self._label_format.write_probabilities(np.clip(marginals, _NEVER, 1.0 - _NEVER))
        index = X.index if is_dataframe(X) else None
        return pd.DataFrame(told, index, self.classes_) if as_frame else told

    @_if_knows("_marginals", "_distributions")
    def predict_top(self, X: Any, k: int | None = None, cost: Any = None) -> tuple[Any, Floats]:
        """Return a list of labels for each sample, the best ones first, and the probability of each.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the results are Dask arrays.
        k : int, optional
            Number of labels in a list, by default that of the cost, or 5; at most all labels.
        cost : str or RankedCost, optional
            What a list costs, such as "precision@3", "recall@5" or "ndcg@10"; by default the model's own cost
            if it is one of lists. Without one, labels are in the order of their probabilities, which is best
            for precision. The other orders use what the model knows of how many labels come together.

        Returns
        -------
        labels : ndarray of shape (n, k)
            The names of the labels, as in ``classes_``.
        probabilities : ndarray of float64, shape (n, k)
            As from ``predict_proba``; in another order than the probabilities' own if the cost is not
            precision.
        """
        check_is_fitted(self)
        own = cost is None and isinstance(self.cost_, RankedCost)
        listed = list_cost(self.cost_ if own else cost)
        k = listed.k if k is None else k
        check_count("k", k)
        if is_lazy(X):
            return cast(tuple[Any, Floats], answer_lazily(self, "predict_top", X, k=k, cost=listed))
        numbers, probabilities = self._top(X, k, listed)
        return self.classes_[-self._label_format.n_labels :][numbers], probabilities

    def _top(self, X: Any, k: int, cost: RankedCost) -> tuple[npt.NDArray[np.int64], Floats]:
        read = self._read_features(X, reset=False)
        if hasattr(self, "_marginals"):
            blocks: Any = [IndependentLabels(np.clip(self._marginals(read), 0.0, 1.0))]
        else:
            blocks = (p for _, p in self._distributions(read, cost))
        numbers, probabilities = top_of(blocks, k, cost)
        return numbers, np.clip(probabilities, _NEVER, 1.0 - _NEVER)

    @_if_knows("_distributions")
    def predict_set_proba(self, X: Any, k: int = 5) -> tuple[Bytes, Floats]:
        """Return the most probable label vectors of each sample and their probabilities.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the result is a Dask array.
        k : int, default=5
            Number of label vectors. If a sample has fewer, the rest are empty and have probability 0.

        Returns
        -------
        labels : ndarray of uint8, shape (n, k, n_labels)
        probabilities : ndarray of float64, shape (n, k)
            In descending order in each row.
        """
        check_is_fitted(self)
        check_count("k", k)
        if is_lazy(X):
            return cast(tuple[Bytes, Floats], answer_lazily(self, "predict_set_proba", X, k=k))
        # The most probable vector is the best answer for the zero-one loss.
        blocks = self._distributions(self._read_features(X, reset=False), get_cost("zero_one"))
        labels, probabilities = zip(*(p.most_likely(k) for _, p in blocks), strict=True)
        return np.concatenate(labels), np.concatenate(probabilities)

    @_if_knows("_distributions")
    def completed_labels(self, X: Any, Y: Any, *, as_frame: bool = False) -> Any:
        """Return the probability of each label, given the labels that are known.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        Y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Empty cells (NaN, None) are unknown. What is known of a row tells about its other labels, as far
            as the model knows how labels depend on each other.
        as_frame : bool, default=False
            Whether to return a DataFrame with the labels as columns and the index of X.

        Returns
        -------
        probabilities : ndarray or DataFrame of shape (n, n_labels)
            0 and 1 where a label is known.

        Examples
        --------
        >>> from refpair import CSRPEClassifier
        >>> X = [[x] for x in range(40)]
        >>> Y = [[0, 0]] * 10 + [[1, 1]] * 10 + [[0, 0]] * 10 + [[1, 1]] * 10
        >>> model = CSRPEClassifier("f1", n_bits=20, random_state=0).fit(X, Y)
        >>> model.completed_labels([[20]], [[1, None]]).round(1)
        array([[1., 1.]])
        """
        check_is_fitted(self)
        read = self._read_features(in_memory(X), reset=False)
        labels = self._label_format.read_more(in_memory(Y), may_miss=True)
        check_consistent_length(read, labels)
        observed = dense(labels)
        # For the zero-one loss, distributions are of whole label vectors.
        blocks = self._distributions(read, get_cost("zero_one"))
        marginals = np.concatenate([p.given(observed[rows]).marginals() for rows, p in blocks])
        told = self._label_format.write_probabilities(marginals)
        index = X.index if is_dataframe(X) else None
        return pd.DataFrame(told, index, self.classes_) if as_frame else told

    @_if_knows("_distributions")
    def expected_cost(self, X: Any, Y: Any = None, *, cost: Any = None) -> Floats:
        """Return the expected cost of the predictions.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the result is a Dask array.
        Y : array, sparse matrix or DataFrame of shape (n, n_labels), optional
            The predictions to evaluate; by default the best ones for the cost, as of ``predict``.
        cost : str, Cost or callable, optional
            As in ``decide``; by default the model's own.

        Returns
        -------
        costs : ndarray of shape (n,)
        """
        check_is_fitted(self)
        how = {} if cost is None else {"cost": self._check_cost(cost)}
        if is_lazy(X):
            return cast(Floats, answer_lazily(self, "expected_cost", X, Y, **how))
        X = self._read_features(X, reset=False)
        given = None if Y is None else self._label_format.read_more(in_memory(Y))
        if given is not None:
            check_consistent_length(X, given)
        checked = how.get("cost", self.cost_)
        checked._check_n_rows(X.shape[0])
        return self._expected_cost(X, given, checked)

    def _expected_cost(self, X: Any, labels: Any, cost: Cost) -> Floats:
        """Return the expected cost of labels, or of the own answer if they are None."""
        if isinstance(cost, Measure):
            raise ValueError(
                f"{cost.name!r} is a measure of a whole table, in which no row has a cost of its own: "
                "expected_score(X) is what it is expected to be for the table"
            )
        costs = []
        rules = self._own_rules
        for rows, p in self._distributions(X, cost):
            own = cost.for_rows(rows)
            answer = labels[rows] if labels is not None else decide(p, own, rules=rules, n_jobs=self.n_jobs)
            parts = [(slice(None), p)] if rules is None else conditioned(p, rules)
            costs += [expected_cost(part, answer[some], own.for_rows(some)) for some, part in parts]
        return np.concatenate(costs)

    @_if_knows("_distributions")
    def decide(self, X: Any, cost: Any = None, *, rules: Any = None, ask: Any = None) -> Any:
        """Predict for another cost or by other rules, without fitting again.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            For Dask, the result is lazy, too.
        cost : str, Cost or callable, optional
            As in the constructor; by default the cost of the model. Prices of rows are those of the rows
            of X.
        rules : list of rules, optional
            What answers must keep, such as ``[AtMost(3)]``; by default the rules of the model, and with
            ``[]`` none. See :class:`refpair.AtMost`.
        ask : float, array of shape (n,) or dict, optional
            The price of a question to a person: then the result is that of :meth:`predict_or_ask`.

        Returns
        -------
        Y : of shape (n, n_labels)
            In the form that the labels had in ``fit``, as from ``predict``.

        Examples
        --------
        A label that half of such rows have: to miss it costs little in the first row, and much in the second.

        >>> from refpair import Cost, CSRPEClassifier
        >>> X, Y = [[0], [1]] * 20, [[0], [0], [0], [1]] * 10
        >>> model = CSRPEClassifier("f1", n_bits=20, random_state=0).fit(X, Y)
        >>> model.decide([[1], [1]], Cost.per_label(false_negative=[[0.1], [100]]))
        array([[0],
               [1]])
        """
        if ask is not None:
            return self.predict_or_ask(X, ask, cost=cost, rules=rules)
        cost, kept = self._asked_for(cost, rules)
        if is_lazy(X):
            return answer_lazily(self, "decide", X, cost=cost, rules=rules)
        read = self._read_features(X, reset=False)
        cost._check_n_rows(read.shape[0])
        return self._label_format.write(self._decide(read, cost, kept), X)

    def _asked_for(self, cost: Any, rules: Any) -> tuple[Cost, RuleSet | None]:
        """Return a cost and rules to decide by: the model's own where none are given."""
        check_is_fitted(self)
        kept = self._own_rules if rules is None else RuleSet.resolve(rules, self._label_format.label_names)
        return self.cost_ if cost is None else self._check_cost(cost), kept

    @_if_knows("_distributions")
    def predict_or_ask(
        self, X: Any, ask: Any, *, cost: Any = None, rules: Any = None, known: Any = None
    ) -> AnswersAndQuestions:
        """Predict, and tell what to ask a person rather, since the answer is worth more than its price.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        ask : float, array of shape (n,) or dict
            The price of a question about all labels of a row, in units of the cost: one for all rows, or one
            for each. Or by label names the prices of questions about single labels; no others are asked.
        cost, rules : optional
            As in :meth:`decide`.
        known : array, sparse matrix or DataFrame of shape (n, n_labels), optional
            Labels that are known already; empty cells (NaN, None) are unknown. After the first questions
            about labels are answered, this tells which to ask next.

        Returns
        -------
        found : AnswersAndQuestions
            ``found.answers``, ``found.asked``, ``found.questions`` in the order to ask them, and what all of
            it is expected to cost. ``answers, asked = found`` takes the first two.

        Notes
        -----
        A row is asked about if its answer is expected to cost more than the question does, beyond what the
        truth itself costs (which is 0 for all costs with a name). A label is, if knowing it lowers the
        expected cost of the answer by more than its price.

        Examples
        --------
        Rows of two kinds; nobody can tell whether one of the second kind has the label.

        >>> from refpair import CSRPEClassifier
        >>> X, Y = [[0], [1]] * 20, [[0], [0], [0], [1]] * 10
        >>> model = CSRPEClassifier("hamming", n_bits=20, random_state=0).fit(X, Y)
        >>> found = model.predict_or_ask([[0], [1]], 0.2)
        >>> found.asked
        array([False,  True])
        >>> round(found.expected_total, 1)
        0.2
        """
        cost, kept = self._asked_for(cost, rules)
        return predict_or_ask(self, X, ask, cost, kept, known)

    @_if_knows("_distributions")
    def asking_curve(self, X: Any, ask: Any = None, *, cost: Any = None, rules: Any = None) -> Any:
        """Return what answers and questions are expected to cost, by the price of a question.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        ask : array or dict, optional
            The prices to look at, by default up to one at which nothing is asked; or the price of a question
            about each label by its name, of which several multiples are looked at.
        cost, rules : optional
            As in :meth:`decide`.

        Returns
        -------
        curve : DataFrame
            A row for each ``price``, or each ``multiple`` of the prices of labels: the
            ``expected_questions`` and the ``expected_total`` of their prices and the cost of answers.
        """
        cost, kept = self._asked_for(cost, rules)
        return asking_curve(self, X, ask, cost, kept)

    @_if_knows("_distributions")
    def expected_score(self, X: Any) -> float:
        """Return what :meth:`score` is expected to be, without the labels.

        For a measure of a whole table, it is that of the expected counts of its labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        X, cost, rules = self._read_features(in_memory(X), reset=False), self.cost_, self._own_rules
        if not isinstance(cost, Measure):
            return cost.as_score(float(self._expected_cost(X, None, cost).mean()))
        tp, said, there = np.zeros((3, self._label_format.n_labels))
        for _, p in self._distributions(X, self._prices):
            answer, marginals = decide(p, self._prices, rules=rules, n_jobs=self.n_jobs), p.marginals()
            tp += (answer * marginals).sum(axis=0)
            said += answer.sum(axis=0)
            there += marginals.sum(axis=0)
        value = cost.of_counts(tp, said - tp, there - tp, X.shape[0] - said - there + tp)
        return value if cost.greater_is_better else -value

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the predictions under the model's own cost.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            The true labels.
        sample_weight : array of shape (n,), optional
            The weight of each sample.

        Returns
        -------
        score : float
            By ``cost_``, and greater is better: the mean of 1 − cost for F-beta, Jaccard and zero-one loss
            (there it is subset accuracy, as in scikit-learn) and for the lists of ``predict_top``;
            minus the mean cost for all others. ``cost_.mean`` has the number as papers report it.

        Notes
        -----
        To compare models with different costs, use one of them: ``get_cost("f1").scorer()(model, X, y)``.
        Classifiers without a cost (binary relevance, chains, label powersets, RAkEL, ML-ECC) have zero-one
        loss as ``cost_``.
        """
        check_is_fitted(self)
        if isinstance(self.cost_, RankedCost):
            return self.cost_(self, X, in_memory(y), in_memory(sample_weight))
        predicted = self._predict_labels(self._read_features(X, reset=False))
        truths = self._label_format.read_more(in_memory(y), may_miss=True)
        return self.cost_._score(truths, predicted, in_memory(sample_weight))
