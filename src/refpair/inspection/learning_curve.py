"""How the score grows with the number of labelled rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from refpair.costs import get_cost
from refpair.inspection._plotting import add_curve, import_pyplot, new_axes, with_direction
from refpair.inspection.scores import direction_of, mean_and_error, rows_of, scores_by_split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LearningCurveDisplay"]


class LearningCurveDisplay:
    """The score of a classifier by the number of rows that a strategy has asked for.

    Parameters
    ----------
    n_labelled : array-like of int, shape (n_points,)
        In rising order.
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
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection or None
        One standard error up and down.

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
    >>> display.n_labelled
    array([20, 40, 60, 80])
    """

    def __init__(
        self,
        n_labelled: npt.ArrayLike,
        scores: npt.ArrayLike,
        errors: npt.ArrayLike | None = None,
        *,
        name: str,
        cost_name: str,
        greater_is_better: bool,
    ) -> None:
        self.n_labelled = np.asarray(n_labelled)
        self.scores = self._points("scores", scores)
        self.errors = None if errors is None else self._points("errors", errors)
        self.name = name
        self.cost_name = cost_name
        self.greater_is_better = greater_is_better

    def _points(self, name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        array = np.asarray(values, np.float64)
        shape = self.n_labelled.shape
        if len(shape) != 1 or len(array) == 0 or array.shape != shape:
            raise ValueError(
                f"{name} must have one number for each of n_labelled, so the shape {shape}, not {array.shape}"
            )
        return array

    @classmethod
    def from_curves(
        cls,
        curves: Sequence[pd.DataFrame],
        *,
        cost: Any = "f1",
        name: str = "strategy",
        ax: Axes | None = None,
    ) -> Self:
        """Average curves of several runs, and plot them.

        Parameters
        ----------
        curves : sequence of DataFrame
            As :func:`refpair.active.learning_curve` returns them; those numbers of labelled rows count that
            all have.
        cost : str, Cost or callable, default="f1"
            What was scored.
        name : str, default="strategy"
        ax : Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        LearningCurveDisplay
        """
        import_pyplot()
        if len(curves) == 0:
            raise ValueError("curves must not be empty")
        measure = get_cost(cost)
        table = pd.concat([curve.set_index("n_labelled")["score"] for curve in curves], axis=1, join="inner")
        if table.empty:
            raise ValueError("curves must have some number of labelled rows in common")
        scores, errors = mean_and_error(table.T)
        return cls(
            table.index,
            scores,
            errors if len(curves) > 1 else None,
            name=name,
            cost_name=measure.name,
            greater_is_better=measure.greater_is_better,
        ).plot(ax)

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        data: str,
        cost: str,
        *,
        strategy: str,
        greater_is_better: Mapping[str, bool],
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Average the results of a simulation over its runs, and plot them.

        Parameters
        ----------
        results : DataFrame
            One row a result, with the columns data, cost, algorithm, n_labelled, split and score.
        data, cost : str
            Which of the results.
        strategy : str
            The algorithm.
        greater_is_better : mapping of str to bool
            The direction of each cost.
        name : str, optional
            By default the strategy.
        ax : Axes, optional
            Where to plot; by default in a new figure.

        Returns
        -------
        LearningCurveDisplay
            Of the runs that have all numbers of labelled rows.
        """
        import_pyplot()
        up = direction_of(greater_is_better, cost)
        rows = rows_of(results, "n_labelled", data=data, cost=cost, algorithm=strategy)
        table = scores_by_split(rows, "n_labelled", sorted(rows["n_labelled"].unique()))
        scores, errors = mean_and_error(table)
        return cls(
            table.columns,
            scores,
            errors if len(table) > 1 else None,
            name=name or strategy,
            cost_name=cost,
            greater_is_better=up,
        ).plot(ax)

    @property
    def area(self) -> float:
        """The mean height of the curve, as the trapezoidal rule has it."""
        if len(self.n_labelled) == 1:
            return float(self.scores[0])
        means = (self.scores[1:] + self.scores[:-1]) / 2
        return float(np.average(means, weights=np.diff(self.n_labelled)))

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
        line = add_curve(ax, self.n_labelled, self.scores, name=self.name, label=self.name, **line_kw)
        self.line_, self.band_ = line, None
        if self.errors is not None:
            ends = self.scores - self.errors, self.scores + self.errors
            self.band_ = ax.fill_between(
                self.n_labelled, *ends, color=line.get_color(), alpha=0.15, linewidth=0
            )
        ax.set_xlabel("labelled rows")
        ax.set_ylabel(with_direction(self.cost_name, self.greater_is_better))
        ax.legend(fontsize="small")
        return self
