"""Scores of several models under several costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from refpair._extras import pd
from refpair.costs import get_cost
from refpair.inspection._display import (
    BEST,
    OTHER,
    Display,
    direction_of,
    entitle,
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

__all__ = ["CostComparisonDisplay"]

_OTHERS: dict[str, Any] = {
    "fmt": "o",
    "color": OTHER,
    "markerfacecolor": "white",
    "elinewidth": 1,
    "markersize": 5,
}
_COLUMNS = 2  # of panels in a new figure
_WIDTH, _HEIGHT, _ROW_HEIGHT = 3.2, 1.0, 0.22  # of a panel, and of each algorithm in it, in inches


class CostComparisonDisplay(Display):
    """The scores of several models, a panel for each cost; the best one is filled.

    Parameters
    ----------
    scores : DataFrame
        A row for each model and a column for each cost; NaN where a model has no score.
    errors : DataFrame, optional
        Their standard errors, in the same form.
    greater_is_better : mapping of str to bool
        The direction of each cost.
    name : str
        The name of the data in the title.

    Attributes
    ----------
    axes_ : ndarray of Axes, shape (n_costs,)
    figure_ : Figure
    bars_ : list of ErrorbarContainer
        The error bars of each panel.

    Examples
    --------
    >>> from refpair import BinaryRelevance, CSRPEClassifier
    >>> from refpair.datasets import load_dataset
    >>> from refpair.inspection import CostComparisonDisplay
    >>> digits = load_dataset("digits")
    >>> models = {
    ...     "BR": BinaryRelevance().fit(digits.X[:500], digits.Y[:500]),
    ...     "CSRPE": CSRPEClassifier("f1", n_bits=200, random_state=0).fit(digits.X[:500], digits.Y[:500]),
    ... }
    >>> new = digits.X[500:], digits.Y[500:]
    >>> display = CostComparisonDisplay.from_estimators(models, *new, costs=["f1", "hamming"])
    >>> display.best("f1")
    ['CSRPE']
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        errors: pd.DataFrame | None = None,
        *,
        greater_is_better: Mapping[str, bool],
        name: str,
    ) -> None:
        if scores.empty:
            raise ValueError("scores must have a row for each model and a column for each cost, not be empty")
        for cost in scores.columns:
            direction_of(greater_is_better, cost)  # raises if nobody told
        if errors is not None and not (
            errors.index.equals(scores.index) and errors.columns.equals(scores.columns)
        ):
            raise ValueError("errors must have the rows and columns of scores")
        self.scores = scores
        self.errors = errors
        self.greater_is_better = greater_is_better
        self.name = name
        self._n_panels = len(scores.columns)

    @classmethod
    def from_estimators(
        cls,
        models: Mapping[str, Any],
        X: Any,
        y: Any,
        costs: Iterable[Any],
        *,
        name: str = "test rows",
        ax: Any = None,
    ) -> Self:
        """Score the predictions of models under each cost, and plot the scores.

        Parameters
        ----------
        models : mapping of str to classifier
            Fitted models by name, of this package or others.
        X : array, sparse matrix or DataFrame of shape (n, n_features)
            Rows that the models were not fitted on.
        y : array, sparse matrix or DataFrame of shape (n, n_labels)
            Their labels. The standard errors are over these rows.
        costs : iterable of str, Cost or callable
        name : str, default="test rows"
            The name of the data in the title.
        ax : array of Axes, optional
            Where to plot, one for each cost; by default in a new figure.
        """
        import_pyplot()
        made = [get_cost(cost) for cost in costs]
        directions = {cost.name: cost.greater_is_better for cost in made}
        if len(directions) < len(made):
            raise ValueError(f"costs must have different names, not {[cost.name for cost in made]}")
        read = {model: labels_and_predictions(fitted, X, y) for model, fitted in models.items()}
        found = {
            cost.name: {model: score_and_error(cost, *labels) for model, labels in read.items()}
            for cost in made
        }
        scores, errors = (
            pd.DataFrame({cost: {m: pair[k] for m, pair in of.items()} for cost, of in found.items()})
            for k in (0, 1)
        )
        return cls(scores, errors, greater_is_better=directions, name=name).plot(ax)

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        data: str,
        costs: Iterable[str] | None = None,
        algorithms: Iterable[str] | None = None,
        *,
        greater_is_better: Mapping[str, bool],
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Average the results of an experiment, under each cost over the splits that all have, and plot them.

        Parameters
        ----------
        results : DataFrame
            One row for each result, with the columns data, cost, algorithm, n_bits, split and score. Of codes
            of several lengths the longest is used.
        data : str
            Which of the data sets.
        costs, algorithms : iterable of str, optional
            Which of them, and in which order; by default all, as they come.
        greater_is_better : mapping of str to bool
            The direction of each cost.
        name : str, optional
            By default the data and the number of splits.
        ax : array of Axes, optional
            Where to plot, one for each cost; by default in a new figure.
        """
        import_pyplot()
        rows = rows_of(results, data=data)
        wanted = list(rows["algorithm"].unique() if algorithms is None else algorithms)
        for algorithm in wanted:
            rows_of(rows, algorithm=algorithm)  # raises if there are none
        rows = rows[rows["algorithm"].isin(wanted)]
        tables = {
            cost: _compared(rows_of(rows, cost=cost), wanted)
            for cost in (rows["cost"].unique() if costs is None else costs)
        }
        found = {cost: mean_and_error(table) for cost, table in tables.items()}
        scores, errors = (
            pd.DataFrame({cost: pd.Series(pair[k], tables[cost].columns) for cost, pair in found.items()})
            for k in (0, 1)
        )
        n_splits = sorted({len(table) for table in tables.values()})
        return cls(
            scores.reindex(wanted),
            errors.reindex(wanted),
            greater_is_better=greater_is_better,
            name=name or f"{data}, splits: {' to '.join(map(str, n_splits[:1] + n_splits[1:][-1:]))}",
        ).plot(ax)

    def best(self, cost: str) -> list[str]:
        """Return the names of the best models under a cost; several if they are equally good."""
        scores = self.scores[cost]
        best = scores.max() if self.greater_is_better[cost] else scores.min()
        return list(scores.index[scores == best])

    def _draw(self, line_kw: dict[str, Any]) -> None:
        if not self.figure_.get_suptitle():
            entitle(self.ax_, self.name)
        panels = zip(self.axes_, self.scores.columns, strict=True)
        self.bars_ = [self._plot_cost(panel, cost, line_kw) for panel, cost in panels]

    def _new_axes(self) -> npt.NDArray[Any]:
        n_columns = min(self._n_panels, _COLUMNS)
        n_rows = -(-self._n_panels // n_columns)
        figure, axes = import_pyplot().subplots(
            n_rows,
            n_columns,
            sharey=True,
            squeeze=False,
            layout="constrained",
            figsize=(_WIDTH * n_columns, n_rows * (_HEIGHT + _ROW_HEIGHT * len(self.scores))),
        )
        figure.suptitle(self.name)
        for unused in axes.ravel()[self._n_panels :]:
            unused.remove()
        return np.asarray(axes.ravel()[: self._n_panels])

    def _plot_cost(self, ax: Axes, cost: str, line_kw: dict[str, Any]) -> Any:
        names = list(self.scores.index)
        scores, places = self.scores[cost].to_numpy(), np.arange(len(names))
        is_best = np.isin(names, self.best(cost))
        bars = ax.errorbar(
            scores,
            places,
            xerr=None if self.errors is None else self.errors[cost].to_numpy(),
            **_OTHERS | line_kw,
        )
        ax.plot(scores[is_best], places[is_best], "D", color=BEST, markersize=7, zorder=3, linestyle="none")
        ax.set_yticks(places, names, fontsize="small")
        ax.set_ylim(len(names) - 0.4, -0.6)  # the first on top
        ax.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.margins(x=0.12)
        ax.locator_params(axis="x", nbins=4)
        ax.tick_params(axis="x", labelsize="small")
        # Short lines: panels may be narrow.
        lines = with_direction(cost, self.greater_is_better[cost]).replace(" (", "\n(")
        best = [f"\nbest: {score:#.3g}".rstrip(".") for score in scores[is_best][:1]]
        ax.set_xlabel("".join([lines, *best]), fontsize="small")
        return bars


def _compared(rows: pd.DataFrame, algorithms: list[str]) -> pd.DataFrame:
    """Return the scores of the algorithms that have any under a cost, by split."""
    longest = rows.groupby("algorithm")["n_bits"].transform("max")
    present = [algorithm for algorithm in algorithms if algorithm in set(rows["algorithm"])]
    return scores_by_split(rows[rows["n_bits"] == longest], "algorithm", present)
