"""The figures of a report, as matplotlib figures and as SVG; matplotlib is an extra (``refpair[plot]``)."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from refpair.experiments.report.code_length_tables import code_length_curve
from refpair.experiments.report.showing import cost_title, in_order
from refpair.experiments.statistics import shared_means, summarise
from refpair.experiments.strategies import DEFAULT_STRATEGY
from refpair.inspection import CodeLengthDisplay, LearningCurveDisplay
from refpair.inspection._plotting import BEST, COLOURS, import_matplotlib
from refpair.inspection.scores import direction_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "code_length_figure",
    "comparison_figure",
    "critical_difference_diagram",
    "figure_svg",
    "learning_curve_figure",
]

_MARKERS = "oDs^vP*X"  # with the colours
_OURS = ("CSRPE-nearest", "CSRPE-posterior")
_PAPER_BITS = 3000
_PANELS, _CURVE_PANELS = 5, 3  # side by side


def critical_difference_diagram(
    ranks: pd.Series, critical_difference: float, *, title: str = "Mean ranks (1 is the best)"
) -> Figure:
    """Draw mean ranks on a line, with bars that join the algorithms that do not differ (Demšar, JMLR 2006).

    Parameters
    ----------
    ranks : Series
        The mean rank of each algorithm, by name.
    critical_difference : float
        How far apart two mean ranks must be to differ.
    title : str, optional
        What stands above.

    Examples
    --------
    >>> ranks = pd.Series({"CSRPE-posterior": 1.2, "PCC": 2.1, "BR": 2.7})
    >>> figure = critical_difference_diagram(ranks, 0.8)
    >>> [text.get_text() for text in figure.axes[0].texts if "." in text.get_text()]
    ['CSRPE-posterior  1.20', 'PCC  2.10', '2.70  BR']
    """
    ranks = ranks.sort_values(kind="stable")
    low, high = 1, max(len(ranks), 2)
    left = (len(ranks) + 1) // 2
    joined = _joined(ranks.to_numpy(), critical_difference)
    first_name = 0.7 + 0.25 * len(joined)  # below the line: the bars, then the names
    depth = first_name + 0.5 * left
    margin = 0.6 + 0.08 * max(len(str(name)) for name in ranks.index)  # inches, for the names
    figure = _new_figure(5.0 + 2 * margin, 0.9 + 0.4 * depth)
    axes = figure.subplots()  # what the layout makes room for has the names in it
    axes.set(xlim=(low - 0.1, high + 0.1), ylim=(depth, -1.0))
    axes.axis("off")
    axes.set_title(title, loc="center", fontsize=11)
    axes.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        axes.plot([tick, tick], [0, -0.15], color="black", linewidth=1.2)
        axes.text(tick, -0.2, str(tick), ha="center", va="bottom", fontsize=9)
    _draw_names(axes, ranks, left, first_name, low, high)
    for row, (start, end) in enumerate(joined):
        y = 0.4 + 0.25 * row
        axes.plot([start - 0.04, end + 0.04], [y, y], color=BEST, linewidth=3.5, solid_capstyle="butt")
    return figure


def code_length_figure(results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]) -> Figure:
    """Draw the scores for one cost by code length, a panel for each data set, a curve for each decoder.

    Examples
    --------
    >>> rows = [("flags", "f1", "CSRPE-nearest", bits, 0, bits / 1000) for bits in (100, 500)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_bits", "split", "score"])
    >>> code_length_figure(results, "f1", {"f1": True}).axes[0].get_title()
    'flags'
    """
    results = results[(results["cost"] == cost) & (results["n_bits"] > 0)]
    datas, algorithms = in_order(results["data"]), in_order(results["algorithm"])
    columns = min(len(datas), _PANELS)
    rows = -(-len(datas) // columns)
    figure = _new_figure(max(2.5 * columns, 4.5), 2.1 * rows + 0.7)
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for axes, data in zip(panels, datas, strict=False):
        for algorithm in algorithms:
            curve = code_length_curve(results, cost, data, algorithm)
            if len(curve):
                errors = None if curve["error"].isna().any() else curve["error"]
                display = CodeLengthDisplay(
                    curve.index,
                    curve["mean"],
                    errors,
                    name=algorithm,
                    cost_name=cost,
                    greater_is_better=direction_of(greater_is_better, cost),
                )
                _draw_curve(axes, display, _style(algorithms, algorithm)["color"])
        axes.axvline(_PAPER_BITS, color="grey", linestyle=":", linewidth=1)
        axes.set_title(data, fontsize=10)
        axes.tick_params(labelsize=8)
    for axes in panels[len(datas) :]:
        axes.axis("off")
    figure.supxlabel("bits (dotted: 3000)", fontsize=9)
    figure.supylabel(cost_title(cost, greater_is_better), fontsize=9)
    _add_legend(figure, panels[0])
    return figure


def learning_curve_figure(results: pd.DataFrame, cost: str, greater_is_better: Mapping[str, bool]) -> Figure:
    """Draw the scores for one cost by the number of labelled rows: a panel a data set, a curve a strategy.

    Examples
    --------
    >>> rows = [("flags", "f1", "MMC", n, 0, n / 100) for n in (20, 40)]
    >>> results = pd.DataFrame(rows, columns=["data", "cost", "algorithm", "n_labelled", "split", "score"])
    >>> learning_curve_figure(results, "f1", {"f1": True}).axes[0].get_title()
    'flags'
    """
    results = results[results["cost"] == cost]
    datas, strategies = in_order(results["data"]), in_order(results["algorithm"])
    columns = min(len(datas), _CURVE_PANELS)
    rows = -(-len(datas) // columns)
    figure = _new_figure(max(4.2 * columns, 5.5), 3.0 * rows + 0.7)
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for axes, data in zip(panels, datas, strict=False):
        for strategy in strategies:
            if not ((results["data"] == data) & (results["algorithm"] == strategy)).any():
                continue
            how = _strategy_style(strategies, strategy)
            mean = summarise(
                results[(results["data"] == data) & (results["algorithm"] == strategy)], ["n_labelled"]
            ).sort_index()
            LearningCurveDisplay(
                mean.index,
                mean["mean"],
                None if mean["error"].isna().any() else mean["error"],
                name=strategy,
                cost_name=cost,
                greater_is_better=direction_of(greater_is_better, cost),
            ).plot(axes, **how)
        axes.legend().remove()
        axes.set(xlabel="", ylabel="")
        axes.set_title(data, fontsize=10)
        axes.tick_params(labelsize=8)
    for axes in panels[len(datas) :]:
        axes.axis("off")
    figure.supxlabel("labelled rows", fontsize=9)
    figure.supylabel(cost_title(cost, greater_is_better), fontsize=9)
    _add_legend(figure, panels[0])
    return figure


def comparison_figure(results: pd.DataFrame, greater_is_better: Mapping[str, bool]) -> Figure:
    """Draw how far each algorithm is from the best mean, a panel for each cost, a line for each data set.

    The means are over the splits that all algorithms of a cost and data set share. Where the best is 0, only
    those that are 0 too have a place.

    Examples
    --------
    >>> results = pd.DataFrame([("flags", "f1", "BR", 0, 0.6), ("flags", "f1", "CC", 0, 0.7)])
    >>> results.columns = ["data", "cost", "algorithm", "split", "score"]
    >>> comparison_figure(results, {"f1": True}).axes[0].get_title()
    'F1 score ↑'
    """
    costs, algorithms = in_order(results["cost"]), in_order(results["algorithm"])
    datas = in_order(results["data"])
    columns = min(len(costs), 2)
    rows = -(-len(costs) // columns)
    figure = _new_figure(5.5 * columns + 0.5, rows * (0.28 * len(datas) + 1.0) + 0.6)
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    for axes, cost in zip(panels, costs, strict=False):
        means = shared_means(results[results["cost"] == cost]).droplevel("cost")
        means = means.reindex(index=datas, columns=algorithms)
        best = means.max(axis=1) if direction_of(greater_is_better, cost) else means.min(axis=1)
        apart = means.sub(best, axis=0).abs()
        worse = 100 * apart.div(best.abs().where(best != 0), axis=0).mask(apart == 0, 0.0)
        for algorithm in algorithms:
            how = _style(algorithms, algorithm) | {"linestyle": "", "markersize": 6, "alpha": 0.85}
            axes.plot(worse[algorithm], range(len(datas)), label=algorithm, **how)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(-0.1, None)
        axes.set_ylim(len(datas) - 0.5, -0.5)
        axes.set_yticks(range(len(datas)), datas, fontsize=9)
        axes.set_title(cost_title(cost, greater_is_better), fontsize=10)
        axes.grid(axis="y", linewidth=0.4)
        axes.xaxis.set_major_formatter("{x:g}")
    for axes in panels[len(costs) :]:
        axes.axis("off")
    figure.supxlabel("percent worse than the best mean", fontsize=9)
    _add_legend(figure, panels[0])
    return figure


def figure_svg(draw: Callable[[], Figure], name: str) -> str:
    """Draw a figure in matplotlib's own style and return it as SVG, always the same for the same data.

    Parameters
    ----------
    draw : callable
        Returns the figure.
    name : str
        Stands before all ids, so that several figures can share a page.

    Examples
    --------
    >>> svg = figure_svg(lambda: critical_difference_diagram(pd.Series({"A": 1.0, "B": 2.0}), 1.5), "ranks")
    >>> svg[:4], 'id="ranks-' in svg
    ('<svg', True)
    """
    matplotlib = import_matplotlib()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "refpair"
        matplotlib.rcParams["text.parse_math"] = False  # names of data may have a $
        file = io.StringIO()
        draw().savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    for mark in (' id="', 'href="#', "url(#"):
        svg = svg.replace(mark, f"{mark}{name}-")
    return svg


def _new_figure(width: float, height: float) -> Figure:
    figure: Figure = import_matplotlib().figure.Figure(figsize=(width, height), layout="constrained")
    return figure


def _style(algorithms: list[str], algorithm: str) -> dict[str, Any]:
    """Return the colour and marker of an algorithm: those of CSRPE are the same in all figures."""
    order = [*_OURS, *(name for name in algorithms if name not in _OURS)]
    i = order.index(algorithm)
    return {"color": COLOURS[i % len(COLOURS)], "marker": _MARKERS[i % len(_MARKERS)]}


def _strategy_style(strategies: list[str], strategy: str) -> dict[str, Any]:
    """Return how a strategy's curve is drawn: the default thick, random in grey, the others thin."""
    if strategy == "random":
        return {"color": "#888888", "linestyle": "--", "linewidth": 1.4}
    others = [name for name in strategies if name not in ("random", DEFAULT_STRATEGY)]
    if strategy == DEFAULT_STRATEGY:
        return {"color": BEST, "linestyle": "-", "linewidth": 2.2}
    colours = [colour for colour in COLOURS if colour != BEST]
    i = others.index(strategy)
    style = ("-", "-.", ":")[i // len(colours) % 3]
    return {"color": colours[i % len(colours)], "linestyle": style, "linewidth": 1.0}


def _draw_curve(axes: Axes, display: CodeLengthDisplay, colour: str) -> None:
    """Draw a curve without what has no room in a small panel: the figure has it once for all of them."""
    display.plot(axes, markersize=3, linewidth=1.2, color=colour)
    if display.flat_line_ is not None:
        display.flat_line_.remove()
    axes.legend().remove()
    axes.set(xlabel="", ylabel="")


def _add_legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=8, fontsize=8, frameon=False)


def _joined(ranks: np.ndarray, apart: float) -> list[tuple[float, float]]:
    """Return the longest runs of rising ranks that are less than ``apart`` wide, each as its ends."""
    ends = np.searchsorted(ranks, ranks + apart, side="left") - 1
    runs = [(i, int(end)) for i, end in enumerate(ends) if end > i and (i == 0 or ends[i - 1] < end)]
    return [(float(ranks[i]), float(ranks[end])) for i, end in runs]


def _draw_names(axes: Axes, ranks: pd.Series, left: int, top: float, low: int, high: int) -> None:
    """Write the better half of the names on the left, the others on the right, with lines to their ranks."""
    for i, (name, rank) in enumerate(ranks.items()):
        on_left = i < left
        y = top + 0.5 * (i if on_left else len(ranks) - 1 - i)
        side = low - 0.1 if on_left else high + 0.1
        axes.plot([rank, rank, side], [0, y, y], color="black", linewidth=0.8, clip_on=False)
        text = f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}"
        axes.annotate(
            text,
            (side, y),
            (-4 if on_left else 4, 0),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
