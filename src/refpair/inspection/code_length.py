"""How the score grows with the length of the code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from refpair.classifiers import CSRPEClassifier
from refpair.classifiers._base import check_count
from refpair.inspection._plotting import add_curve, import_pyplot, new_axes, with_direction
from refpair.inspection.scores import (
    direction_of,
    flat_from,
    labels_and_predictions,
    mean_and_error,
    rows_of,
    score_and_error,
    scores_by_split,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CodeLengthDisplay"]

_SHORTEST, _N_LENGTHS = 10, 12  # of the lengths that are looked at by default
_WIDE = 10  # lengths that differ by this factor are drawn on a logarithmic axis


class CodeLengthDisplay:
    """The score of a model by the length of its code.

    Parameters
    ----------
    n_bits : array-like of int, shape (n_lengths,)
        The lengths, in any order; they are kept in rising order.
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
        One standard error up and down; None if there are no errors.
    flat_line_ : Line2D or None
        Stands at :attr:`flat_from`; None if that is None.

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

    def __init__(
        self,
        n_bits: npt.ArrayLike,
        scores: npt.ArrayLike,
        errors: npt.ArrayLike | None = None,
        *,
        name: str,
        cost_name: str,
        greater_is_better: bool,
    ) -> None:
        lengths = np.asarray(n_bits)
        order = np.argsort(lengths)
        self.n_bits = lengths[order]
        self.scores = _in_order("scores", scores, order)
        self.errors = None if errors is None else _in_order("errors", errors, order)
        self.name = name
        self.cost_name = cost_name
        self.greater_is_better = greater_is_better

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
            Fitted. It is cut by :meth:`~refpair.CSRPEClassifier.shorten`: nothing is learnt anew.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the model was not fitted with.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Their labels. The standard errors are over these rows.
        lengths : iterable of int, optional
            By default a dozen from 10 to all bits, each longer by the same factor.
        name : str, optional
            By default the class of the model.
        ax : Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        CodeLengthDisplay
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

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        data: str,
        cost: str,
        *,
        algorithm: str = "CSRPE-posterior",
        greater_is_better: Mapping[str, bool],
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Average the results of an experiment over its splits, and plot them.

        Parameters
        ----------
        results : DataFrame
            One row a result, with the columns data, cost, algorithm, n_bits, split and score.
        data, cost : str
            Which of the results.
        algorithm : str, default="CSRPE-posterior"
        greater_is_better : mapping of str to bool
            The direction of each cost.
        name : str, optional
            By default the algorithm and the data.
        ax : Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        CodeLengthDisplay
            Of the splits that all lengths have.
        """
        import_pyplot()
        up = direction_of(greater_is_better, cost)
        rows = rows_of(results, data=data, cost=cost, algorithm=algorithm)
        table = scores_by_split(rows, "n_bits", sorted(rows["n_bits"].unique()))
        scores, errors = mean_and_error(table)
        return cls(
            table.columns,
            scores,
            errors if len(table) > 1 else None,
            name=name or f"{algorithm} on {data}",
            cost_name=cost,
            greater_is_better=up,
        ).plot(ax)

    @property
    def flat_from(self) -> int | None:
        """The length from which on longer codes are not worth it; see `refpair.inspection.scores.flat_from`.

        None if that is only the longest one: the curve may not have flattened.
        """
        errors = np.zeros(len(self.n_bits)) if self.errors is None else self.errors
        first = flat_from(self.n_bits, self.scores, errors, self.greater_is_better)
        return first if first < self.n_bits[-1] else None

    def plot(self, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Draw the line, and a band of one standard error up and down.

        Parameters
        ----------
        ax : Axes, optional
            Where to plot, beside what is there; by default in a new figure.
        **line_kw
            For the line, as ``Axes.plot`` takes it.

        Returns
        -------
        self
        """
        ax = new_axes() if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        line = add_curve(
            ax,
            self.n_bits,
            self.scores,
            name=self.name,
            label=self.name,
            **{"marker": "o", "markersize": 4} | line_kw,
        )
        self.line_, self.band_, self.flat_line_ = line, None, None
        if self.errors is not None:
            ends = self.scores - self.errors, self.scores + self.errors
            self.band_ = ax.fill_between(self.n_bits, *ends, color=line.get_color(), alpha=0.2, linewidth=0)
        if (first := self.flat_from) is not None:
            self.flat_line_ = ax.axvline(
                first, color=line.get_color(), ls=":", lw=1, label=f"flat from {first} bits"
            )
        if self.n_bits.max() >= _WIDE * self.n_bits.min() > 0:
            _set_log_scale(ax)
        ax.set_xlabel("bits of the code")
        ax.set_ylabel(with_direction(self.cost_name, self.greater_is_better))
        ax.legend(fontsize="small")
        return self


def _in_order(name: str, values: npt.ArrayLike, order: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    if order.ndim != 1 or len(order) == 0 or array.shape != order.shape:
        raise ValueError(
            f"{name} must have one number for each of n_bits, so the shape {order.shape}, not {array.shape}"
        )
    return array[order]


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
