"""Answer the rows for which a promise holds, and leave the others to a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from refpair._doc_link import DocLinked
from refpair._extras import pd
from refpair._fitting import all_or_nothing
from refpair._parallel import in_memory
from refpair._saved import IfThere, require
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._checks import check_amount, check_between, check_positive, is_integer
from refpair.classifiers._saved_cost import SavableWithCost
from refpair.classifiers._wanted import Told, Wanted, of_labels, refusal
from refpair.classifiers._weights import take_rows
from refpair.costs import Cost, Measure, RankedCost, get_cost
from refpair.costs.largest import largest_cost
from refpair.decision.promises import find_thresholds, limit_of_share
from refpair.tables._cells import dense
from refpair.tables.labels import LabelFormat, LabelMatrix, has_unknown, read_labels

_FEWEST_ROWS = 10  # to calibrate by


# scikit-learn carries no types, so mypy sees a class of type Any among the bases.
class CostGuarantee(DocLinked, MetaEstimatorMixin, BaseEstimator, SavableWithCost):  # type: ignore[misc]
    """Answer as many rows as a promise allows, and leave the others to a person.

    The promise is that the answered rows cost at most ``max_cost`` on average, with confidence
    ``confidence``: of 100 models that are calibrated on new rows, about 5 at most may break a promise of
    confidence 0.95. It holds for any model and any number of rows, as long as new rows are drawn as those of
    calibration were, which the model has not seen. Instead or as well, the recall and precision of labels can
    be promised.

    There is no ``predict``: answers to all rows would not keep the promise. ``estimator_.predict`` has them.

    Parameters
    ----------
    estimator : classifier
        A classifier of this package with ``expected_cost``, such as :class:`CSRPEClassifier`, or
        :class:`BayesDecisionClassifier` around any of scikit-learn's; or a pipeline that ends in one.
    max_cost : float, optional
        What answered rows may cost on average.
    coverage : float, optional
        The share of rows to answer. The lowest cost that can be promised of them is found, ``promise_``.
    recall : dict, optional
        The least recall of labels by name (or number, if labels have no names), such as ``{"fraud": 0.95}``:
        of the answered rows that have the label, how many are given it.
    precision : dict, optional
        The least precision of labels: of the answered rows that are given the label, how many have it.
    cost : str, Cost or callable, optional
        What answers cost, and what they are best for; by default the cost of the estimator.
    largest_cost : float, optional
        The most that an answer can cost. It is found for named costs and prices of labels, and for functions
        if there are few labels; for others it must be given. Where costs are far below it, more rows are
        needed to calibrate by.
    confidence : float, default=0.95
        The probability that all promises hold.
    calibration_size : float or int, default=0.25
        The share, or number, of rows that ``fit`` keeps from the model.
    random_state : int, RandomState instance or None, default=0
        The seed for which rows are kept, and the order in which they are looked at.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    promise_ : dict
        What is promised: ``{"cost": 0.1}``, and ``"recall of fraud"``, ``"precision of fraud"`` and so on.
    threshold_ : dict
        For each promise the largest score of answered rows. That of a cost is its expected cost; that of a
        recall or precision is the probability that the label is missed, or given wrongly.
    coverage_ : float
        The share of calibration rows that are answered.
    classes_ : ndarray
        The names of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from refpair import CostGuarantee, CSRPEClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> Y = (X + rng.normal(size=(3000, 2)) > 0).astype(int)
    >>> model = CSRPEClassifier("hamming", n_bits=100, random_state=0)
    >>> promising = CostGuarantee(model, max_cost=0.2).fit(X[:2000], Y[:2000])
    >>> answers, asks = promising.predict_or_ask(X[2000:])
    >>> wrong = (answers != Y[2000:])[~asks].mean()
    >>> print(f"{1 - asks.mean():.2f} of rows are answered, {wrong:.2f} of their labels are wrong")
    0.42 of rows are answered, 0.17 of their labels are wrong
    """

    _doc_page = "classifiers"
    estimator_: Any
    promise_: dict[str, float]
    threshold_: dict[str, float]
    coverage_: float
    cost_: Cost
    _wanted: list[Wanted]
    _own_format: IfThere[LabelFormat]  # if the estimator was fitted on labels in another form

    def __init__(
        self,
        estimator: Any,
        max_cost: float | None = None,
        *,
        coverage: float | None = None,
        recall: Mapping[Any, float] | None = None,
        precision: Mapping[Any, float] | None = None,
        cost: Any = None,
        largest_cost: float | None = None,
        confidence: float = 0.95,
        calibration_size: float = 0.25,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.max_cost = max_cost
        self.coverage = coverage
        self.recall = recall
        self.precision = precision
        self.cost = cost
        self.largest_cost = largest_cost
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Fit a clone of the estimator on some rows, and make the promise by the others, drawn at random.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
        y : array, sparse matrix or DataFrame of shape (n, n_labels), or names of labels
            As the estimator takes them, all known.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the promise cannot be made; the error says which ones could be.
        """
        self._check_parameters()
        X, y = in_memory(X), in_memory(y)
        labels, form = read_labels(y, may_miss=True)
        _check_known(labels)
        check_consistent_length(X, labels)
        rng = self._rng()
        n, size = labels.shape[0], self.calibration_size
        n_kept = int(size) if is_integer(size) else round(size * n)
        if n_kept >= n:
            raise ValueError(f"calibration_size={size!r} leaves none of the {n} rows to fit the estimator on")
        _check_enough(n_kept)
        order = rng.permutation(n)
        kept, rest = order[:n_kept], np.sort(order[n_kept:])
        self.__dict__.pop("_own_format", None)  # of an earlier fit
        given = take_rows(y, rest)
        if form.kind == "names" and not (np.asarray(labels[rest].sum(axis=0)) > 0).all():
            # Names that only rows of calibration have are labels, too.
            given, self._own_format = pd.DataFrame(dense(labels[rest]), columns=form.classes), form
        self.estimator_ = clone(self.estimator).fit(take_rows(X, rest), given)
        self._promise(take_rows(X, kept), labels[kept], rng)
        return self

    @all_or_nothing
    def calibrate(self, X: Any, y: Any) -> Self:
        """Make the promise for an estimator that is fitted already; it becomes ``estimator_`` as it is.

        If ``estimator`` is not fitted, that is the one of an earlier ``fit``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the estimator has not seen; otherwise the promise is worth nothing.
        y : array, sparse matrix or DataFrame of shape (n, n_labels), or names of labels

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in ``fit``.
        """
        self._check_parameters()
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            if not hasattr(self, "estimator_"):
                raise NotFittedError(f"{error} Or let fit of the {type(self).__name__} do so.") from error
        else:
            self.estimator_ = self.estimator
            self.__dict__.pop("_own_format", None)
        X = in_memory(X)
        labels = self._label_format.read_more(in_memory(y), "y", may_miss=True)
        _check_known(labels)
        check_consistent_length(X, labels)
        _check_enough(labels.shape[0])
        self._promise(X, labels, self._rng())
        return self

    def predict_or_ask(self, X: Any) -> tuple[Any, npt.NDArray[np.bool_]]:
        """Return answers to all rows, and which of these rows a person has to answer instead.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n, n_features)

        Returns
        -------
        answers : of shape (n, n_labels)
            In the form that the labels had in ``fit``. The promise is not about those of rows to ask about.
        asks : ndarray of bool, shape (n,)
            Whether a person has to answer.
        """
        check_is_fitted(self, "promise_")
        answers, told = self._answers(in_memory(X))
        return answers, ~self._answered(told)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The names of the labels, or the classes of a one-dimensional y."""
        return self._label_format.classes

    @property
    def _label_format(self) -> LabelFormat:
        form: LabelFormat = getattr(self, "_own_format", None) or self._classifier._label_format
        return form

    @property
    def _classifier(self) -> Any:
        """The fitted classifier that decides, at the end of a pipeline if there is one."""
        return _last_of(self.estimator_)

    def _get_saved(self) -> dict[str, Any]:
        saved = super()._get_saved()
        if self.cost is not None and not isinstance(self.cost, str):
            saved["cost"] = get_cost(self.cost)
        return saved

    def _check_saved(self) -> None:
        if not hasattr(self, "estimator_"):
            return
        model = self._classifier
        known = isinstance(model, MultiLabelClassifier) and hasattr(model, "_label_format")
        require(known, "the estimator is none that is fitted")
        names = [one.name for one in self._wanted]
        promised = list(self.promise_) == list(self.threshold_) == names and len(names) > 0
        n_labels = self._label_format.n_labels
        require(promised, "the promises have no thresholds")
        require(all(one.label < n_labels for one in self._wanted), "a promise is about no label")
        require(model._label_format.n_labels == n_labels, "the estimator has other labels")
        self.cost_.for_labels(self._label_format.label_names)

    def _rng(self) -> np.random.Generator:
        state = check_random_state(self.random_state)
        return np.random.default_rng(state.randint(2**31, size=4, dtype=np.int64))

    def _answers(self, X: Any) -> tuple[Any, Told]:
        """Return the best answers as they are given, and what the model says of them."""
        model, cost, read = self._classifier, self.cost_, X
        if model is not self.estimator_ and len(self.estimator_) > 1:
            read = self.estimator_[:-1].transform(X)
        labels = np.asarray(dense(model._label_format.read_more(model.decide(read, cost))))
        kinds = {one.what for one in self._wanted}
        expected = model.expected_cost(read, cost=cost) if "cost" in kinds else None
        p = model.predict_proba(read)[:, -labels.shape[1] :] if kinds - {"cost"} else None
        return self._label_format.write(labels, X), Told(labels, expected, p)

    def _answered(self, told: Told) -> npt.NDArray[np.bool_]:
        within = [one.score(told) <= self.threshold_[one.name] for one in self._wanted]
        return np.asarray(np.all(within, axis=0))

    def _promise(self, X: Any, truths: LabelMatrix, rng: np.random.Generator) -> None:
        """Find which rows can be answered, by rows that the estimator has not seen."""
        self.cost_, self._wanted = self._read_wanted()
        told = self._answers(X)[1]
        promises = [one.promise(told, np.asarray(dense(truths)), self.cost_) for one in self._wanted]
        n = len(told.labels)
        order, delta = rng.permutation(n), 1.0 - self.confidence
        self.promise_ = {one.name: one.value for one in self._wanted}
        if self.coverage is None:
            found = find_thresholds(promises, delta, order)
            if found is None:
                raise ValueError(refusal(self._wanted, promises, delta, order))
            thresholds = found.tolist()
        else:
            threshold, limit = limit_of_share(promises[0], self.coverage, delta, order)
            if limit >= 1.0:
                raise ValueError(
                    f"nothing can be promised of {self.coverage:g} of the rows with confidence "
                    f"{self.confidence:g}: {n:,} rows of calibration are too few, or too many of them have "
                    "the same expected cost"
                )
            thresholds, self.promise_ = [threshold], {"cost": self._wanted[0].value_of(limit)}
        self.threshold_ = dict(zip(self.promise_, thresholds, strict=True))
        self.coverage_ = float(self._answered(told).mean())

    def _read_wanted(self) -> tuple[Cost, list[Wanted]]:
        """Return the cost of answers, and what is to be promised."""
        names = self._label_format.label_names
        cost = (self._classifier.cost_ if self.cost is None else get_cost(self.cost)).for_labels(names)
        wanted = [*of_labels("recall", self.recall, names), *of_labels("precision", self.precision, names)]
        if self.max_cost is None and self.coverage is None:
            return cost, wanted
        if isinstance(cost, Measure | RankedCost):
            what = "a measure of a whole table" if isinstance(cost, Measure) else "a cost of lists"
            raise ValueError(
                f"{cost.name!r} is {what}, and only costs of label vectors can be promised: give one as "
                'cost=, such as "f1", or promise the recall or precision of labels'
            )
        largest = self.largest_cost if self.largest_cost is not None else largest_cost(cost, len(names))
        if not largest > 0.0:
            raise ValueError(f"the cost {cost.name!r} is 0 whatever is answered: there is nothing to promise")
        return cost, [Wanted("cost", float(self.max_cost or 0.0), float(largest)), *wanted]

    def _check_parameters(self) -> None:
        """Refuse bad parameters, naming them and what they may be."""
        classifier = _last_of(self.estimator)
        if isinstance(classifier, type) or not hasattr(classifier, "expected_cost"):
            raise ValueError(
                "estimator must be a classifier with expected_cost, such as CSRPEClassifier, not "
                f"{classifier!r}: BayesDecisionClassifier gives it to classifiers of scikit-learn"
            )
        of_labels = {"recall": self.recall, "precision": self.precision}
        given = [name for name in ("max_cost", "coverage") if getattr(self, name) is not None]
        if len(given) == 2 or not (given or any(of_labels.values())):
            raise ValueError("give either max_cost or coverage, or the recall or precision of labels")
        if self.coverage is not None and any(of_labels.values()):
            raise ValueError("coverage cannot be given with recall or precision: they find it themselves")
        for name in ("max_cost", "largest_cost"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        for what, wanted in of_labels.items():
            if wanted is not None and not isinstance(wanted, Mapping):
                raise ValueError(f"{what} must be a dictionary of labels, not {wanted!r}")
            for label, least in (wanted or {}).items():
                check_between(f"the {what} of {label!r}", least)
        check_between("confidence", self.confidence)
        if self.coverage is not None and self.coverage != 1:
            check_between("coverage", self.coverage)
        check_amount("calibration_size", self.calibration_size, "a share of rows below 1, or their number")
        for cost in (self.cost, getattr(classifier, "cost", None)):
            if isinstance(cost, Cost) and cost.n_rows is not None:
                raise ValueError(
                    f"the cost {cost.name!r} has prices of {cost.n_rows} rows, and a promise is about "
                    "others: take cost.with_mean_prices()"
                )


def _last_of(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) and estimator.steps else estimator


def _check_enough(n_rows: int) -> None:
    if n_rows < _FEWEST_ROWS:
        raise ValueError(f"{n_rows} rows are too few to calibrate by: {_FEWEST_ROWS} are needed at least")


def _check_known(labels: LabelMatrix) -> None:
    if has_unknown(labels):
        raise ValueError(
            "y has empty cells, and what an answer costs is not known there: fit the estimator on such rows "
            "by itself, and give calibrate() rows whose labels are all known"
        )
