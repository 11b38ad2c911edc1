"""Scores by the length of the code, or by the number of labeled rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from refpair._extras import pd
from refpair.classifiers import CSRPEClassifier
from refpair.classifiers._checks import check_count
from refpair.costs import get_cost
from refpair.inspection._display import (
    Display,
    direction_of,
    flat_from,
    import_pyplot,
    labels_and_predictions,
    mean_and_error,
    rows_of,
    score_and_error,
    scores_by_split,
    with_direction,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CodeLengthDisplay", "LearningCurveDisplay"]

_SHORTEST, _N_LENGTHS = 10, 12  # of the lengths that are looked at by default
_WIDE = 10  # lengths that differ by this factor are drawn on a logarithmic axis


class CurveDisplay(Display):
    """Scores and their standard errors by a size: a line, and a band of one standard error up and down."""

    _size: ClassVar[str]  # what the sizes are called
    _x_label: ClassVar[str]
    _algorithm: ClassVar[str]  # whose results are looked at by default
    _line_kw: ClassVar[dict[str, Any]] = {}
    _band_alpha: ClassVar[float] = 0.2

    def __init__(
        self,
        sizes: npt.ArrayLike,
        scores: npt.ArrayLike,
        errors: npt.ArrayLike | None = None,
        *,
        name: str,
        cost_name: str,
        greater_is_better: bool,
    ) -> None:
        order = np.argsort(np.asarray(sizes))
        self.sizes = np.asarray(sizes)[order]
        self.scores = self._points("scores", scores, order)
        self.errors = None if errors is None else self._points("errors", errors, order)
        self.name = name
        self.cost_name = cost_name
        self.greater_is_better = greater_is_better

    def _points(
        self, name: str, values: npt.ArrayLike, order: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.float64]:
        array = np.asarray(values, np.float64)
        if order.ndim != 1 or len(order) == 0 or array.shape != order.shape:
            raise ValueError(
                f"{name} must have one number for each of {self._size}, so the shape {order.shape}, not "
                f"{array.shape}"
            )
        return array[order]

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        data: str,
        cost: str,
        *,
        algorithm: str | None = None,
        greater_is_better: Mapping[str, bool],
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Average the results of an experiment over the splits that have all sizes, and plot them.

        Parameters
        ----------
        results : DataFrame
            One row for each result, with the columns data, cost, algorithm, split, score, and n_bits or
            n_labeled.
        data, cost : str
            Which of the results.
        algorithm : str, optional
            Or the strategy; by default CSRPE-posterior, or the strategy representative.
        greater_is_better : mapping of str to bool
            The direction of each cost.
        name : str, optional
            By default the algorithm and the data.
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        up, algorithm = direction_of(greater_is_better, cost), algorithm or cls._algorithm
        rows = rows_of(results, cls._size, data=data, cost=cost, algorithm=algorithm)
        table = scores_by_split(rows, cls._size, sorted(rows[cls._size].unique()))
        scores, errors = mean_and_error(table)
        shown = errors if len(table) > 1 else None
        name = name or f"{algorithm} on {data}"
        return cls(table.columns, scores, shown, name=name, cost_name=cost, greater_is_better=up).plot(ax)

    def _draw(self, line_kw: dict[str, Any]) -> None:
        ax = self.ax_
        self.line_ = self._add_line(self.sizes, self.scores, self.name, **self._line_kw | line_kw)
        self.band_ = None
        if self.errors is not None:
            ends = self.scores - self.errors, self.scores + self.errors
            how = {"color": self.line_.get_color(), "alpha": self._band_alpha, "linewidth": 0}
            self.band_ = ax.fill_between(self.sizes, *ends, **how)
        ax.set_xlabel(self._x_label)
        ax.set_ylabel(with_direction(self.cost_name, self.greater_is_better))
        ax.legend(fontsize="small")


class CodeLengthDisplay(CurveDisplay):
    """The score of a model by the length of its code.

    Parameters
    ----------
    sizes : array-like of int, shape (n_lengths,)
        The lengths, in any order; they are sorted.
    scores : array-like of float, shape (n_lengths,)
    errors : array-like of float, shape (n_lengths,), optional
        Their standard errors.
    name : str
        What the title and the legend call the model.
    cost_name : str
        What the axis calls the score.
    greater_is_better : bool

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    line_ : Line2D
    band_ : FillBetweenPolyCollection or None
        One standard error on each side; None if there are no errors.
    flat_line_ : Line2D or None
        At :attr:`flat_from`; None if that is None.

    Examples
    --------
    >>> from refpair import CSRPEClassifier
    >>> from refpair.datasets import load_dataset
    >>> from refpair.inspection import CodeLengthDisplay
    >>> digits = load_dataset("digits")
    >>> model = CSRPEClassifier(cost="f1", n_bits=300, random_state=0).fit(digits.X[:500], digits.Y[:500])
    >>> display = CodeLengthDisplay.from_estimator(model, digits.X[500:], digits.Y[500:], lengths=[30, 300])
    >>> bool(display.scores[0] < display.scores[1])
    True
    """

    _size, _algorithm = "n_bits", "CSRPE-posterior"
    _x_label = "bits of the code"
    _line_kw: ClassVar[dict[str, Any]] = {"marker": "o", "markersize": 4}

    @classmethod
    def from_estimator(
        cls,
        model: CSRPEClassifier,
        X: Any,
        y: Any,
        *,
        lengths: Iterable[int] | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Score a model cut to several lengths, by its own cost, and plot it.

        Parameters
        ----------
        model : CSRPEClassifier
            Fitted. It is shortened by :meth:`~refpair.CSRPEClassifier.shorten`, not fitted again.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the model was not fitted on.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Their labels. The standard errors are over these rows.
        lengths : iterable of int, optional
            By default a dozen from 10 to all bits, evenly spaced on a logarithmic scale.
        name : str, optional
            By default the class of the model.
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        if not isinstance(model, CSRPEClassifier):
            raise ValueError(f"model must be a CSRPEClassifier, which has a code, not {type(model).__name__}")
        check_is_fitted(model)
        n_bits = _check_lengths(lengths, len(model.code_))
        cost = model.cost_
        found = [
            score_and_error(cost, *labels_and_predictions(model.shorten(length), X, y)) for length in n_bits
        ]
        scores, errors = np.transpose(found)
        return cls(
            n_bits,
            scores,
            None if np.isnan(errors).any() else errors,
            name=name or type(model).__name__,
            cost_name=cost.name,
            greater_is_better=cost.greater_is_better,
        ).plot(ax)

    @property
    def flat_from(self) -> int | None:
        """The shortest sufficient length; None if only the longest is.

        From this length on, no score is worse than that of the longest code by more than a standard error or
        1 %, whichever is more.
        """
        errors = np.zeros(len(self.sizes)) if self.errors is None else self.errors
        first = flat_from(self.sizes, self.scores, errors, self.greater_is_better)
        return first if first < self.sizes[-1] else None

    def _draw(self, line_kw: dict[str, Any]) -> None:
        super()._draw(line_kw)
        self.flat_line_ = None
        if (first := self.flat_from) is not None:
            how = {"color": self.line_.get_color(), "ls": ":", "lw": 1, "label": f"flat from {first} bits"}
            self.flat_line_ = self.ax_.axvline(first, **how)
            self.ax_.legend(fontsize="small")
        if self.sizes.max() >= _WIDE * self.sizes.min() > 0:
            _set_log_scale(self.ax_)


class LearningCurveDisplay(CurveDisplay):
    """The score of a classifier by the number of labeled rows.

    Parameters
    ----------
    sizes : array-like of int, shape (n_points,)
        The numbers of labeled rows, in any order; they are sorted.
    scores : array-like of float, shape (n_points,)
    errors : array-like of float, shape (n_points,), optional
        Their standard errors over runs.
    name : str
        What the legend calls the strategy.
    cost_name : str
        What the axis calls the score.
    greater_is_better : bool

    Attributes
    ----------
    ax_, figure_ : Axes and Figure of matplotlib
    line_ : Line2D
    band_ : FillBetweenPolyCollection or None
        One standard error on each side; None if there are no errors.

    Examples
    --------
    >>> from refpair import BinaryRelevance
    >>> from refpair.active import RandomQuery, learning_curve
    >>> from refpair.datasets import load_dataset
    >>> from refpair.inspection import LearningCurveDisplay
    >>> digits = load_dataset("digits")
    >>> halves = digits.X[:900], digits.Y[:900], digits.X[900:], digits.Y[900:]
    >>> how = {"start": range(20), "n_queries": 60, "test_each": 20}
    >>> learner = BinaryRelevance("logistic")
    >>> curves = [learning_curve(RandomQuery(random_state=i), learner, *halves, **how) for i in range(3)]
    >>> display = LearningCurveDisplay.from_curves(curves, cost="f1", name="random")
    >>> display.sizes
    array([20, 40, 60, 80])
    """

    _size, _algorithm = "n_labeled", "representative"
    _x_label = "labeled rows"
    _band_alpha = 0.15

    @classmethod
    def from_curves(
        cls,
        curves: Sequence[Mapping[str, Any]],
        *,
        cost: Any = "f1",
        name: str = "strategy",
        ax: Axes | None = None,
    ) -> Self:
        """Average curves of several runs, and plot them.

        Parameters
        ----------
        curves : sequence of dict or DataFrame
            As :func:`refpair.active.learning_curve` returns them; only numbers of labeled rows that all
            curves have are used.
        cost : str, Cost or callable, default="f1"
            What was scored.
        name : str, default="strategy"
        ax : Axes, optional
            Where to plot; by default in a new figure.
        """
        import_pyplot()
        if len(curves) == 0:
            raise ValueError("curves must not be empty")
        measure = get_cost(cost)
        table = pd.concat(
            [pd.Series(np.asarray(curve["score"]), np.asarray(curve["n_labeled"])) for curve in curves],
            axis=1, join="inner",
        )  # fmt: skip
        if table.empty:
            raise ValueError("curves must have some number of labeled rows in common")
        scores, errors = mean_and_error(table.T)
        return cls(
            table.index,
            scores,
            errors if len(curves) > 1 else None,
            name=name,
            cost_name=measure.name,
            greater_is_better=measure.greater_is_better,
        ).plot(ax)

    @property
    def area(self) -> float:
        """The mean height of the curve, by the trapezoidal rule."""
        if len(self.sizes) == 1:
            return float(self.scores[0])
        means = (self.scores[1:] + self.scores[:-1]) / 2
        return float(np.average(means, weights=np.diff(self.sizes)))


def _check_lengths(lengths: Iterable[int] | None, n_bits: int) -> list[int]:
    if n_bits == 0:
        raise ValueError("model has no bits: all rows that it was fitted with have the same labels")
    if lengths is None:
        steps = np.geomspace(min(_SHORTEST, n_bits), n_bits, _N_LENGTHS)
        return sorted({round(step) for step in steps})
    given = list(lengths)
    if not given:
        raise ValueError("lengths must not be empty: leave it out, or name some numbers of bits")
    for length in given:
        check_count("each of lengths", length, high=n_bits)
    return sorted(set(given))


def _set_log_scale(ax: Axes) -> None:
    """Make the axis logarithmic, with ticks at 1, 3, 10, 30, … as plain numbers."""
    from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter  # noqa: PLC0415 (an extra)

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_locator(NullLocator())
