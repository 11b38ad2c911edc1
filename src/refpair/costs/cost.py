"""Costs of label vectors, their three kinds, and the lookup of costs by name."""

from __future__ import annotations

import contextlib
import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from refpair.costs import _counts
from refpair.costs._counts import FloatArray, LabelMatrix, Labels, NamedPrices, Prices
from refpair.costs.row_prices import RowPrices, Rows, read_prices
from refpair.tables.labels import read_predictions, with_gaps

CountFunction: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], npt.ArrayLike]
LabelFunction: TypeAlias = Callable[[npt.NDArray[np.int64], npt.NDArray[np.int64]], npt.ArrayLike]


@dataclass(frozen=True, repr=False)
class Cost(ABC):
    """A cost C(truth, prediction) of label vectors; :func:`get_cost` and the static methods here make one.

    Costs are only compared: any numbers up to 1e100 are valid. Methods take label matrices of 0 and 1, dense
    or sparse, with one label vector in each row. Truths may have NaN in :meth:`rows` and :meth:`mean`: labels
    that are not known do not count. A cost is also a scorer, as in
    ``GridSearchCV(model, grid, scoring=cost)``; see :meth:`scorer`.

    What else a model may be judged by is a cost, too: a :class:`Measure` of a whole table, such as macro-F1,
    and a :class:`RankedCost` of lists of labels, such as precision@3. Of a measure :meth:`rows` and
    :meth:`matrix` raise a ValueError, since no row has a cost of its own.

    Parameters
    ----------
    name : str
        The name in tables and error messages.
    greater_is_better : bool
        Whether :meth:`mean` reports 1 − cost instead of the cost.

    Examples
    --------
    >>> get_cost("f1").matrix([[1, 1, 0]], [[1, 1, 0], [1, 0, 0], [0, 0, 1]]).round(2)
    array([[0.  , 0.33, 1.  ]])
    """

    name: str
    greater_is_better: bool

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, not {type(self.name).__name__}")

    @property
    def sign(self) -> int:
        """1 if greater is better in what :meth:`mean` reports, −1 otherwise."""
        return 1 if self.greater_is_better else -1

    @property
    def compares_vectors(self) -> bool:
        """Whether it is a cost of predicting one label vector when another one is right."""
        return True

    def matrix(self, Y: Labels, Z: Labels) -> FloatArray:
        """Return the (n, m) costs of predicting Z[j] when the truth is Y[i].

        Examples
        --------
        >>> get_cost("hamming").matrix([[1, 0], [0, 0]], [[1, 0], [1, 1]])
        array([[0. , 0.5],
               [0.5, 1. ]])
        """
        return self._for_columns(Y, Z)._matrix(*_counts.check_pair(Y, Z))

    def rows(self, Y: Labels, Z: Labels) -> FloatArray:
        """Return the n costs of predicting Z[i] when the truth is Y[i].

        Truths that are NaN are not known: the cost is that of the other labels alone, and NaN in a row
        without any. A cost made by :meth:`from_function` needs all labels of a row, or none.

        Examples
        --------
        >>> get_cost("rank").rows([[1, 0, 0], [1, 1, 0]], [[1, 0, 0], [0, 1, 1]])
        array([0. , 1.5])
        >>> get_cost("hamming").rows([[1, 0, np.nan], [np.nan, np.nan, np.nan]], [[0, 0, 1], [0, 0, 1]])
        array([0.5, nan])
        """
        given, known = _counts.split_unknown(Y)
        truths, predictions = _counts.check_pair(given, Z)
        n, m = truths.shape[0], predictions.shape[0]
        if n != m:
            raise ValueError(f"Y has {n} rows and Z has {m}: row i of Z must predict row i of Y")
        cost = self._for_columns(Y, Z)
        cost._check_n_rows(n)
        if known is None:
            # A copy: what a function returned may be an array that it keeps.
            return np.array(cost._rows(truths, predictions))
        costs, some = np.full(n, np.nan), np.flatnonzero(known.any(axis=1))
        if len(some):
            known = known[some]
            both = truths[some], _counts.dense(predictions[some]).astype(np.uint8) * known
            costs[some] = cost.for_rows(some)._rows(*both, known.sum(axis=1, dtype=np.float64))
        return costs

    def mean(self, Y: Labels, Z: Labels, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the mean over the rows as papers report it: 1 − cost if greater is better, else the cost.

        Rows in which no label is known do not count; see :meth:`rows`.

        Examples
        --------
        >>> get_cost("f1").mean([[1, 1, 0], [0, 0, 0]], [[1, 0, 1], [0, 0, 0]], sample_weight=[3, 1])
        0.625
        """
        mean = _counts.mean_over_rows(self.rows(Y, Z), sample_weight)
        return 1.0 - mean if self.greater_is_better else mean

    def scorer(self) -> Self:
        """Return a scorer for scikit-learn's ``GridSearchCV``, ``cross_val_score`` and so on.

        The scorer is the cost itself, called with a fitted model, features, true labels in any form that
        ``fit`` takes, of which some may be unknown, and optionally ``sample_weight``. Greater is better: 1 −
        the mean cost for F-beta, Jaccard, zero-one loss (there it is subset accuracy) and all costs with
        ``greater_is_better``; minus the mean cost for all others. ``score`` of every classifier is the scorer
        of its ``cost_``.

        Examples
        --------
        >>> from refpair import BinaryRelevance, CSRPEClassifier
        >>> from refpair.datasets import load_dataset
        >>> digits = load_dataset("digits")
        >>> X, Y, X_test, Y_test = digits.X[:500], digits.Y[:500], digits.X[500:], digits.Y[500:]
        >>> scorer = get_cost("f1").scorer()
        >>> round(scorer(BinaryRelevance("tree", random_state=0).fit(X, Y), X_test, Y_test), 2)
        0.63
        >>> round(scorer(CSRPEClassifier("f1", n_bits=100, random_state=0).fit(X, Y), X_test, Y_test), 2)
        0.84
        """
        return self

    def __call__(
        self, estimator: Any, X: Any = None, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Score a fitted model; see :meth:`scorer`."""
        self._check_called_with(estimator)
        truths, predictions, names = read_predictions(estimator, estimator.predict(X), y, may_miss=True)
        return self.for_labels(names)._score(truths, predictions, sample_weight)

    def _check_called_with(self, estimator: Any) -> None:
        if not hasattr(estimator, "predict"):
            raise TypeError(
                "a cost is called with a fitted model, X and y, as scikit-learn's scorers are: for true and "
                f"predicted labels use {self!r}.mean(Y, Z), or .rows(Y, Z) for the cost of each row"
            )

    def _score(self, Y: LabelMatrix, Z: Labels, sample_weight: npt.ArrayLike | None) -> float:
        """Return the mean as a number of which the greater is the better, by labels as they were read."""
        mean = self.mean(with_gaps(Y), Z, sample_weight)
        return mean if self.greater_is_better else self.as_score(mean)

    def as_score(self, mean_cost: float) -> float:
        """Return a mean cost as a number of which the greater is the better; see :meth:`scorer`."""
        return 1.0 - mean_cost if self.greater_is_better or self == NAMED["zero_one"] else -mean_cost

    def for_labels(self, names: Iterable[Hashable]) -> Cost:
        """Return the cost for labels with these names, in this order; ``fit`` calls it.

        Prices by label name become one price for each label. An unknown name, or a wrong number of prices, is
        a ValueError. Other costs do not depend on names.

        Examples
        --------
        >>> Cost.per_label(false_negative={"fraud": 50}).for_labels(["spam", "fraud"])
        Cost.per_label(false_positive=1.0, false_negative=(1.0, 50.0))
        """
        return self

    @property
    def n_rows(self) -> int | None:
        """The number of rows that have prices of their own; None if all rows have the same cost."""
        return None

    def for_rows(self, rows: Rows) -> Cost:
        """Return the cost of some rows, by a slice or an array: prices of rows are those of these rows.

        Examples
        --------
        >>> cost = Cost.per_label(false_negative=[[5], [20], [80]])
        >>> cost.for_rows(slice(1, 3))
        Cost.per_label(false_positive=1.0, false_negative=<prices of 2 rows>)
        >>> get_cost("f1").for_rows(slice(1, 3))
        get_cost('f1')
        """
        return self

    def with_mean_prices(self, sample_weight: npt.ArrayLike | None = None) -> Cost:
        """Return the cost with the mean price of each label, where rows have prices of their own.

        Examples
        --------
        >>> Cost.per_label(false_negative=[[5], [20], [80]]).with_mean_prices()
        Cost.per_label(false_positive=1.0, false_negative=35.0)
        """
        return self

    def _check_n_rows(self, n: int) -> None:
        """Raise a ValueError if it has prices of another number of rows."""
        if self.n_rows not in (None, n):
            raise ValueError(
                f"the cost {self.name!r} has prices of {self.n_rows} rows, and here are {n}: give the prices "
                "of these rows, or take cost.with_mean_prices()"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as plain JSON types for :meth:`from_dict`.

        Only named and per-label costs have such a form; a cost made from a function raises ValueError.

        Examples
        --------
        >>> get_cost("f2").to_dict()
        {'name': 'f2'}
        >>> Cost.from_dict({"name": "f2"})
        get_cost('f2')
        """
        raise ValueError(
            f"the cost {self.name!r} is a Python function, and only named and per-label costs can be stored; "
            "pass cost= when loading"
        )

    @staticmethod
    def from_dict(stored: dict[str, Any]) -> Cost:
        """Return the cost that :meth:`to_dict` wrote."""
        if not isinstance(stored, dict) or not {"name"} <= stored.keys() <= _STORED:
            raise ValueError(
                f"a stored cost is a dictionary with a name, and perhaps prices: not {stored!r:.100}"
            )
        if not isinstance(stored["name"], str):
            raise ValueError(f"the name of a stored cost must be a string, not {stored['name']!r:.100}")
        if len(stored) == 1:
            return get_cost(stored["name"])
        cost = Cost.per_label(**{what: _counts.prices_from_pairs(value) for what, value in stored.items()})
        if cost.n_rows is not None:
            raise ValueError("a stored cost has one price for each label, not one for each row")
        return cost

    @staticmethod
    def from_counts(f: CountFunction, name: str | None = None, greater_is_better: bool = False) -> Cost:
        """Make a cost from the counts of right and wrong labels.

        Parameters
        ----------
        f : callable
            ``f(tp, fp, fn, tn)`` takes four read-only float arrays of one shape and returns the costs in this
            shape.
        name : str, optional
            By default the name of the function.
        greater_is_better : bool, default=False
            Whether to report 1 − cost.

        Examples
        --------
        >>> missed_twice = Cost.from_counts(lambda tp, fp, fn, tn: fp + 2 * fn, name="missed_twice")
        >>> missed_twice.rows([[1, 1, 0]], [[0, 0, 1]])
        array([5.])
        """
        return CountCost(name or _counts.name_of(f), greater_is_better, _counts.check_function(f))

    @staticmethod
    def from_function(f: LabelFunction, name: str | None = None, greater_is_better: bool = False) -> Cost:
        """Make a cost from any function of truths and predictions.

        Parameters
        ----------
        f : callable
            ``f(Y, Z)`` takes two read-only int64 arrays of shape (n, n_labels) and returns the n costs
            C(Y[i], Z[i]). It is called with blocks of rows, so that memory is bounded.
        name, greater_is_better
            As in :meth:`from_counts`.

        Examples
        --------
        >>> first_wrong = Cost.from_function(lambda Y, Z: Y[:, 0] != Z[:, 0], name="first_wrong")
        >>> first_wrong.matrix([[1, 0], [0, 1]], [[1, 1], [0, 0], [0, 1]])
        array([[0., 1., 1.],
               [1., 0., 0.]])
        """
        return FunctionCost(name or _counts.name_of(f), greater_is_better, _counts.check_function(f))

    @staticmethod
    def per_label(
        *,
        false_positive: npt.ArrayLike | Mapping[Any, npt.ArrayLike] = 1.0,
        false_negative: npt.ArrayLike | Mapping[Any, npt.ArrayLike] = 1.0,
        default: float = 1.0,
        name: str = "per_label",
    ) -> Cost:
        """Make a cost that adds up over the labels, each with its own price for a mistake.

        Parameters
        ----------
        false_positive : float, array-like, DataFrame or dict, default=1.0
            The price of predicting a label that does not apply, not negative. One for all labels, one for
            each, or a dictionary of prices by label name (or by column number, if labels have no names).
            Prices of rows are an array of shape (n, n_labels) or (n, 1), a DataFrame with labels as columns,
            or a dictionary in which a label has an array of shape (n,). Row i is row i of the data, whatever
            its index.
        false_negative : float, array-like, DataFrame or dict, default=1.0
            The price of missing a label that applies, likewise.
        default : float, default=1.0
            The price of labels that are not in a dictionary or DataFrame.
        name : str, default="per_label"
            The name in tables and error messages.

        Examples
        --------
        Missing the second label costs 50, every other mistake costs 1.

        >>> cost = Cost.per_label(false_positive=1, false_negative=[1, 50])
        >>> cost.rows([[0, 1], [1, 0]], [[1, 0], [0, 1]])
        array([51.,  2.])

        Missing the first label costs what the row says.

        >>> cost = Cost.per_label(false_negative={"fraud": [20, 300]}).for_labels(["fraud", "spam"])
        >>> cost.rows([[1, 0], [1, 0]], [[0, 0], [0, 1]])
        array([ 20., 301.])
        """
        fp = read_prices("false_positive", false_positive, default)
        return PerLabelCost(name, False, fp, read_prices("false_negative", false_negative, default))

    @staticmethod
    def f_beta(beta: float) -> Cost:
        """Make the cost 1 − F-beta, in which recall has beta > 0 times the weight of precision; 1 gives F1.

        Examples
        --------
        >>> Cost.f_beta(2).rows([[1, 1, 0]], [[1, 0, 0]]).round(3)
        array([0.444])
        """
        if not (isinstance(beta, int | float | np.number) and 0 < beta < 1e150 and beta * beta > 0):
            raise ValueError(f"beta must be a finite number above zero, got {beta!r:.100}")
        beta = float(beta)
        return CountCost(f"f{beta}".removesuffix(".0"), True, _counts.FBeta(beta))

    def _for_columns(self, *labels: Any) -> Cost:
        """Return the cost for labels that a DataFrame names."""
        named = [matrix.columns for matrix in labels if hasattr(matrix, "columns")]
        return self.for_labels(named[0]) if named else self

    def _is_named(self) -> bool:
        try:
            return get_cost(self.name) == self
        except ValueError:
            return False

    @abstractmethod
    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray: ...

    @abstractmethod
    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        """Return the cost of each row, of which `n_known` labels are known; others are 0 in Y and Z."""


@dataclass(frozen=True, repr=False)
class CountCost(Cost):
    """A cost ``counts(tp, fp, fn, tn)``; see :meth:`Cost.from_counts`."""

    counts: CountFunction

    def __repr__(self) -> str:
        if self._is_named():
            return f"get_cost({self.name!r})"
        return f"Cost.from_counts({_counts.name_of(self.counts)}, name={self.name!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the name, if the cost has one that is known."""
        return {"name": self.name} if self._is_named() else super().to_dict()

    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
        overlap = _counts.intersections(Y, Z)
        y_size, z_size = _counts.sizes(Y), _counts.sizes(Z)
        costs = np.empty(overlap.shape)
        for block in _counts.blocks(*overlap.shape):
            costs[block] = self._of_counts(overlap[block], y_size[block, None], z_size, Y.shape[1])
        return costs

    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        overlap = _counts.row_intersections(Y, Z)
        n_labels = Y.shape[1] if n_known is None else n_known
        return self._of_counts(overlap, _counts.sizes(Y), _counts.sizes(Z), n_labels)

    def _of_counts(
        self,
        overlap: npt.NDArray[np.floating],
        y_size: FloatArray,
        z_size: FloatArray,
        n_labels: int | FloatArray,
    ) -> FloatArray:
        tp = overlap.astype(np.float64)
        fp, fn = z_size - tp, y_size - tp
        tn = n_labels - y_size - fp
        shape = tp.shape
        with np.errstate(all="ignore"):  # what comes of 0/0 is reported with its counts
            costs = _counts.ask(self.counts, self.name, tp, fp, fn, tn)
        return _counts.check_costs(
            costs, shape, self.name, lambda at: f"tp={tp[at]:g}, fp={fp[at]:g}, fn={fn[at]:g}, tn={tn[at]:g}"
        )


@dataclass(frozen=True, repr=False)
class FunctionCost(Cost):
    """A cost ``function(Y, Z)``, row by row; see :meth:`Cost.from_function`."""

    function: LabelFunction

    def __repr__(self) -> str:
        return f"Cost.from_function({_counts.name_of(self.function)}, name={self.name!r})"

    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
        Y, Z = _counts.dense(Y), _counts.dense(Z)
        costs = np.empty(len(Y) * len(Z))
        for block in _counts.blocks(costs.size, Y.shape[1]):
            i, j = np.divmod(np.arange(block.start, block.stop), len(Z))
            costs[block] = self._rows(Y[i], Z[j])
        return costs.reshape(len(Y), len(Z))

    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        if n_known is not None and n_known.min() < Y.shape[1]:
            raise ValueError(
                f"the cost {self.name!r} is a function of whole label vectors, and some labels in Y are not "
                "known (NaN): make it by Cost.from_counts or Cost.per_label, or drop these rows"
            )
        # int64, because the obvious Y - Z wraps around in uint8.
        truths, predictions = _counts.dense(Y).astype(np.int64), _counts.dense(Z).astype(np.int64)
        return _counts.check_costs(
            _counts.ask(self.function, self.name, truths, predictions),
            (len(truths),),
            self.name,
            lambda at: f"the truth {truths[at].tolist()} and the prediction {predictions[at].tolist()}",
        )


@dataclass(frozen=True, repr=False)
class PerLabelCost(Cost):
    """A cost that adds up over the labels; see :meth:`Cost.per_label`."""

    false_positive: Prices | RowPrices
    false_negative: Prices | RowPrices

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = [len(prices) for prices in self._both() if isinstance(prices, RowPrices)]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"false_positive has prices of {sizes[0]} rows, and false_negative of {sizes[1]}"
            )

    def __repr__(self) -> str:
        defaults = {
            prices.default
            for prices in self._both()
            if isinstance(prices, NamedPrices) or (isinstance(prices, RowPrices) and prices.names)
        } - {1.0}
        default = "".join(f", default={price}" for price in defaults)
        both = f"false_positive={self.false_positive}, false_negative={self.false_negative}"
        return f"Cost.per_label({both}{default})"

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the prices; those by label name as pairs."""
        if self.n_rows is not None:
            raise ValueError(f"prices of rows are not stored; {self!r}.with_mean_prices() can be")
        stored: dict[str, Any] = {"name": self.name}
        for what in ("false_positive", "false_negative"):
            prices = getattr(self, what)
            if isinstance(prices, NamedPrices):
                stored |= {what: [list(pair) for pair in prices.pairs], "default": prices.default}
            else:
                stored[what] = np.asarray(prices).tolist()
        return stored

    def for_labels(self, names: Iterable[Hashable]) -> PerLabelCost:
        """Return the cost with one price for each label."""
        listed = list(names)
        fp, fn = (
            prices.resolve(listed) if isinstance(prices, NamedPrices | RowPrices) else prices
            for prices in self._both()
        )
        cost = replace(self, false_positive=fp, false_negative=fn)
        cost.prices(len(listed))  # raises if there are not as many as labels
        return cost

    @property
    def n_rows(self) -> int | None:
        """The number of rows that have prices of their own; None if all rows have the same."""
        return next((len(prices) for prices in self._both() if isinstance(prices, RowPrices)), None)

    def for_rows(self, rows: Rows) -> PerLabelCost:
        """Return the cost of some rows; see :meth:`Cost.for_rows`."""
        if self.n_rows is None:
            return self
        fp, fn = (prices.take(rows) if isinstance(prices, RowPrices) else prices for prices in self._both())
        return replace(self, false_positive=fp, false_negative=fn)

    def with_mean_prices(self, sample_weight: npt.ArrayLike | None = None) -> PerLabelCost:
        """Return the cost with the mean price of each label; see :meth:`Cost.with_mean_prices`."""
        if self.n_rows is None:
            return self
        weights = _counts.check_row_weights(sample_weight, self.n_rows)
        fp, fn = (
            prices.mean(weights) if isinstance(prices, RowPrices) else prices for prices in self._both()
        )
        return replace(self, false_positive=fp, false_negative=fn)

    def prices(self, n_labels: int, n_rows: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the false-positive and the false-negative prices.

        Each is an array of n_labels, or of shape (n, n_labels) where rows have prices of their own; n must be
        `n_rows`, if that is given.
        """
        if n_rows is not None:
            self._check_n_rows(n_rows)
        fp, fn = (
            self._of_labels(what, prices, n_labels)
            for what, prices in zip(("false_positive", "false_negative"), self._both(), strict=True)
        )
        return fp, fn

    def _of_labels(self, what: str, prices: Prices | RowPrices, n_labels: int) -> FloatArray:
        given = f"{what} of the cost {self.name!r} has"
        if isinstance(prices, NamedPrices) or (isinstance(prices, RowPrices) and prices.names):
            raise ValueError(
                f"{given} prices by label name, and these labels have no names: give DataFrames, or the cost "
                "as cost.for_labels([...all names, in order...])"
            )
        if isinstance(prices, RowPrices):
            if prices.n_columns not in (1, n_labels):
                raise ValueError(f"{given} {prices.n_columns} prices in each row for {n_labels} labels")
            return np.broadcast_to(prices.array, (len(prices), n_labels))
        if isinstance(prices, tuple) and len(prices) != n_labels:
            hint = "; a price for each row is an array of shape (n, 1)"
            raise ValueError(f"{given} {len(prices)} prices for {n_labels} labels{hint}")
        return np.full(n_labels, prices)

    def _both(self) -> tuple[Prices | RowPrices, Prices | RowPrices]:
        return self.false_positive, self.false_negative

    def _matrix(self, Y: LabelMatrix, Z: LabelMatrix) -> FloatArray:
        if self.n_rows is not None:
            raise ValueError(
                f"the cost {self.name!r} has prices of {self.n_rows} rows, and a matrix is of label vectors "
                "without rows: use rows(Y, Z), or with_mean_prices().matrix(Y, Z)"
            )
        fp, fn = self.prices(Y.shape[1])
        # [fn·y, 1−y] · [1−z, fp·z]: a sum without differences, so that no digits are lost and ties stay ties.
        predictions = _counts.dense(Z)
        right = np.hstack([1.0 - predictions, fp * predictions]).T
        costs = np.empty((Y.shape[0], Z.shape[0]))
        for block in _counts.blocks(Y.shape[0], 2 * Y.shape[1]):
            truths = _counts.dense(Y[block])
            costs[block] = np.hstack([fn * truths, 1.0 - truths]) @ right
        return costs

    def _rows(self, Y: LabelMatrix, Z: LabelMatrix, n_known: FloatArray | None = None) -> FloatArray:
        fp, fn = self.prices(Y.shape[1], Y.shape[0])
        Y, Z = _counts.dense(Y), _counts.dense(Z)
        return _paid(Y > Z, fn) + _paid(Z > Y, fp)


def _paid(mistakes: npt.NDArray[np.bool_], prices: FloatArray) -> FloatArray:
    """Return the sum of the prices of each row's mistakes."""
    return np.asarray(mistakes @ prices if prices.ndim == 1 else (mistakes * prices).sum(axis=1))


NAMED: dict[str, Cost] = {
    cost.name: cost
    for cost in (
        CountCost("hamming", False, _counts.hamming),
        CountCost("zero_one", False, _counts.zero_one),
        CountCost("rank", False, _counts.rank),
        Cost.f_beta(1),
        CountCost("jaccard", True, _counts.jaccard),
    )
}
ALIASES = {"accuracy": "jaccard", "f1_samples": "f1", "jaccard_samples": "jaccard"}
NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"  # float() takes much more: 1_0, NaN, digits of any script
FAMILIES: dict[str, tuple[re.Pattern[str], Callable[[str], Cost]]] = {
    "f<beta>": (re.compile(f"f({NUMBER})", re.ASCII), lambda beta: Cost.f_beta(float(beta)))
}
_STORED = {"name", "false_positive", "false_negative", "default"}


def cost_names() -> list[str]:
    """Return the names that :func:`get_cost` knows, besides those with a number in them.

    These are F-beta as ``f0.5``, ``f2`` and so on, and costs of lists such as ``precision@3``.

    Examples
    --------
    >>> cost_names()[:8]
    ['hamming', 'zero_one', 'rank', 'f1', 'jaccard', 'macro_f1', 'macro_jaccard', 'micro_f1']
    """
    return [*NAMED, *ALIASES]


def get_cost(cost: str | Cost | LabelFunction) -> Cost:
    """Return the cost of a name, a plain function as :meth:`Cost.from_function` takes it, or a cost itself.

    Examples
    --------
    >>> get_cost("f0.5")
    get_cost('f0.5')
    >>> get_cost("haming")
    Traceback (most recent call last):
    ValueError: unknown cost 'haming', did you mean 'hamming'? Known: hamming, ..., f<beta>, ...
    """
    if isinstance(cost, Cost):
        return cost
    if not isinstance(cost, str):
        if not callable(cost) or isinstance(cost, type):
            what = f"the class {cost.__name__}" if isinstance(cost, type) else type(cost).__name__
            raise TypeError(f"a cost is a name, a Cost or a function, not {what}")
        return Cost.from_function(cost)
    name = ALIASES.get(cost, cost)
    if name in NAMED:
        return NAMED[name]
    for pattern, make in FAMILIES.values():
        if found := pattern.fullmatch(name):
            with contextlib.suppress(ValueError):
                return make(found[1])
    near = difflib.get_close_matches(cost.lower(), cost_names(), n=1)
    hint = f", did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"unknown cost {cost!r}{hint} Known: {', '.join([*cost_names(), *FAMILIES])}")


def vector_cost(cost: str | Cost | LabelFunction, needed_by: str) -> Cost:
    """Return a cost that compares label vectors; for others the error says what needs one.

    Examples
    --------
    >>> vector_cost("macro_f1", "BayesRisk")
    Traceback (most recent call last):
    ValueError: BayesRisk needs a cost of label vectors, such as "f1", not 'macro_f1'
    """
    found = get_cost(cost)
    if not found.compares_vectors:
        raise ValueError(f'{needed_by} needs a cost of label vectors, such as "f1", not {found.name!r}')
    return found
