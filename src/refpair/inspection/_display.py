"""What all displays share: scores with their standard errors, colors, and how one is drawn.

matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from refpair._extras import from_extra, pd
from refpair.costs import Cost, Measure
from refpair.tables.labels import LabelMatrix, read_predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = npt.NDArray[np.float64]

# Okabe and Ito's colors, which people who confuse red and green can tell apart too, and a brown.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
BEST, OTHER = COLOURS[1], "#444444"
_LINES = ("-", "--", "-.", ":")
_CURVE = "refpair:"  # and its name: tells our lines in an axes from others
_COLUMNS = ["data", "cost", "algorithm", "split", "score"]


# ---- scores ----


def direction_of(greater_is_better: Mapping[str, bool], cost: Hashable) -> bool:
    """Return whether a greater score is a better one for a cost, or say that nobody told."""
    name = str(cost)
    if name not in greater_is_better:
        raise ValueError(
            f"greater_is_better must say whether a greater score is better for the cost {cost!r}"
        )
    return greater_is_better[name]


def mean_and_error(values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the means over the first axis and their standard errors, NaN of a single value."""
    array = np.asarray(values, np.float64)
    n = len(array)
    mean = array.mean(axis=0)
    return mean, array.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.nan * mean


def score_and_error(cost: Cost, truths: LabelMatrix, predicted: LabelMatrix) -> tuple[float, float]:
    """Return the score of predictions and its standard error over the rows, NaN if rows have no score."""
    if isinstance(cost, Measure):
        return cost.mean(truths, predicted), np.nan
    costs = cost.rows(truths, predicted)
    mean, error = mean_and_error(1.0 - costs if cost.greater_is_better else costs)
    return float(mean), float(error)


def labels_and_predictions(model: Any, X: Any, y: Any) -> tuple[LabelMatrix, LabelMatrix]:
    """Return the true and the predicted labels as 0/1 matrices, of a model of this package or any other."""
    truths, predicted, _ = read_predictions(model, model.predict(X), y)
    return truths, predicted


def rows_of(results: pd.DataFrame, size: str = "n_bits", **wanted: str) -> pd.DataFrame:
    """Return the rows of results with these values, at least one; they also have a size."""
    columns = [*_COLUMNS[:3], size, *_COLUMNS[3:]]
    if missing := [column for column in columns if column not in results.columns]:
        raise ValueError(f"results must have the columns {', '.join(columns)}, but lack {missing}")
    for column, value in wanted.items():
        if value not in set(results[column]):
            known = ", ".join(map(repr, results[column].unique()))
            raise ValueError(f"results have no {column} {value!r}, but {known or 'nothing at all'}")
        results = results[results[column] == value]
    return results


def scores_by_split(rows: pd.DataFrame, by: str, order: Iterable[Any]) -> pd.DataFrame:
    """Return the scores of one data set and cost: a row a split that all have, a column a value of ``by``."""
    if rows.duplicated([by, "split"]).any():
        raise ValueError(f"results have a split twice for the same {by}: drop the duplicates")
    table = rows.pivot(index="split", columns=by, values="score")[list(order)].dropna()
    if table.empty:
        raise ValueError(f"results have no split that every {by} has: leave some of them out")
    return table


def flat_from(
    n_bits: npt.ArrayLike, means: npt.ArrayLike, errors: npt.ArrayLike, greater_is_better: bool
) -> int:
    """Return the shortest code length from which on longer codes are not worth it; the lengths rise.

    From it on no mean is worse than the last by more than the last's standard error or 1 %, whichever is
    more: the error alone would see a slope in tiny but certain differences on large data sets, 1 % alone in a
    single mistake more where there are few.
    """
    lengths, scores = np.asarray(n_bits), np.asarray(means, dtype=np.float64)
    if lengths.ndim != 1 or not len(lengths) or (np.diff(lengths) <= 0).any():
        raise ValueError("n_bits must be at least one length, rising")
    allowed = max(float(np.nan_to_num(np.asarray(errors)[-1])), 0.01 * abs(scores[-1]))
    behind = (scores[-1] - scores) * (1 if greater_is_better else -1)
    short = np.flatnonzero(behind > allowed)
    return int(lengths[short[-1] + 1 if len(short) else 0])


# ---- drawing ----


def import_matplotlib() -> Any:
    """Return ``matplotlib`` with its ``figure``, or say how to install it."""
    from_extra("matplotlib.figure", "plot", "plotting needs matplotlib")
    return import_module("matplotlib")


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say how to install it."""
    import_matplotlib()
    from matplotlib import pyplot  # noqa: PLC0415 (an extra)

    return pyplot


def with_direction(cost_name: str, greater_is_better: bool) -> str:
    """Return what an axis of scores is called."""
    return f"{cost_name} ({'higher' if greater_is_better else 'lower'} is better)"


def entitle(ax: Axes, name: str) -> None:
    """Give an axes a title, unless it has one."""
    if not ax.get_title():
        ax.set_title(name)


class Display:
    """Numbers that can be drawn, in one panel as a rule."""

    name: str
    _n_panels: int = 1

    def plot(self, ax: Any = None, **line_kw: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to plot, one for each panel; by default in a new figure.
        **line_kw
            Passed to ``Axes.plot`` for the lines.

        Returns
        -------
        self
        """
        import_pyplot()
        self.axes_ = np.atleast_1d(self._new_axes() if ax is None else ax).ravel()
        if len(self.axes_) != self._n_panels:
            raise ValueError(f"ax must have {self._n_panels} Axes, one for each panel, not {len(self.axes_)}")
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        self._draw(line_kw)
        return self

    def _new_axes(self) -> Any:
        return import_pyplot().subplots(layout="constrained")[1]

    def _draw(self, line_kw: dict[str, Any]) -> None:
        raise NotImplementedError

    def _add_line(self, x: Any, y: Any, label: str, **how: Any) -> Line2D:
        """Draw a line that differs from those in the axes; its name is the title while it is the only one."""
        ax: Axes = self.ax_
        curves = [line for line in ax.lines if str(line.get_gid()).startswith(_CURVE)]
        style = {
            "color": COLOURS[len(curves) % len(COLOURS)],
            "linestyle": _LINES[len(curves) % len(_LINES)],
        }
        if not curves:
            entitle(ax, self.name)
        elif _CURVE + ax.get_title() in [line.get_gid() for line in curves]:
            ax.set_title("")
        (line,) = ax.plot(x, y, **style | {"label": label, "gid": _CURVE + self.name} | how)
        return line
