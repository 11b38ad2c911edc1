"""The figures of a report, as matplotlib figures and as SVG; matplotlib is an extra (``refpair[plot]``)."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from refpair._extras import pd
from refpair.experiments.names import greater_is_better
from refpair.experiments.report.table import cost_title, in_order
from refpair.experiments.simulation import DEFAULT_STRATEGY
from refpair.experiments.statistics import code_length_curve, shared_means, summarise
from refpair.inspection import CodeLengthDisplay, LearningCurveDisplay
from refpair.inspection._display import BEST, COLOURS, import_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "oDs^vP*X"  # with the colors
_OURS = ("CSRPE-nearest", "CSRPE-posterior")
PAPER_BITS = 3000
_PANELS, _CURVE_PANELS = 5, 3  # side by side


def critical_difference_diagram(ranks: pd.Series, critical_difference: float) -> Figure:
    """Draw mean ranks on a line, with bars that join algorithms that do not differ (Demšar, JMLR 2006)."""
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
    axes.set_title("Mean ranks (1 is the best)", loc="center", fontsize=11)
    axes.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for tick in range(low, high + 1):
        axes.plot([tick, tick], [0, -0.15], color="black", linewidth=1.2)
        axes.text(tick, -0.2, str(tick), ha="center", va="bottom", fontsize=9)
    _draw_names(axes, ranks, left, first_name, low, high)
    for row, (start, end) in enumerate(joined):
        y = 0.4 + 0.25 * row
        axes.plot([start - 0.04, end + 0.04], [y, y], color=BEST, linewidth=3.5, solid_capstyle="butt")
    return figure


def code_length_figure(results: pd.DataFrame, cost: str) -> Figure:
    """Draw the scores for one cost by code length, a panel for each data set, a curve for each decoder."""
    results = results[(results["cost"] == cost) & (results["n_bits"] > 0)]
    algorithms = in_order(results["algorithm"])
    datas = in_order(results["data"])
    figure, panels = _new_panels(datas, _PANELS, 2.5, 2.1, 4.5)
    for axes, data in zip(panels, datas, strict=True):
        for name in algorithms:
            curve = code_length_curve(results, cost, data, name)
            how = {"markersize": 3, "linewidth": 1.2, "color": _style(algorithms, name)["color"]}
            display = _plot_curve(CodeLengthDisplay, axes, curve, name, cost, how)
            if display is not None and display.flat_line_ is not None:
                display.flat_line_.remove()  # has no room in a small panel
        axes.axvline(PAPER_BITS, color="gray", linestyle=":", linewidth=1)
    return _finish_curves(figure, panels, f"bits (dotted: {PAPER_BITS})", cost)


def learning_curve_figure(results: pd.DataFrame, cost: str) -> Figure:
    """Draw the scores for one cost by the number of labeled rows: a panel a data set, a curve a strategy."""
    results = results[results["cost"] == cost]
    datas, strategies = in_order(results["data"]), in_order(results["algorithm"])
    figure, panels = _new_panels(datas, _CURVE_PANELS, 4.2, 3.0, 5.5)
    for axes, data in zip(panels, datas, strict=True):
        for name in strategies:
            here = results[(results["data"] == data) & (results["algorithm"] == name)]
            curve = summarise(here, ["n_labeled"]).sort_index()
            if name not in ("random", DEFAULT_STRATEGY):  # bands of all would hide each other
                curve["error"] = np.nan
            _plot_curve(LearningCurveDisplay, axes, curve, name, cost, _strategy_style(strategies, name))
    return _finish_curves(figure, panels, "labeled rows", cost)


def comparison_figure(results: pd.DataFrame) -> Figure:
    """Draw how far each algorithm is from the best mean, a panel for each cost, a line for each data set.

    The means are over the splits that all algorithms of a cost and data set share. Where the best is 0, only
    those that are 0 too have a place.
    """
    costs, algorithms = in_order(results["cost"]), in_order(results["algorithm"])
    datas = in_order(results["data"])
    titles = [cost_title(cost) for cost in costs]
    n_columns = min(len(costs), 2)
    figure, panels = _new_panels(titles, 2, 5.5 + 0.5 / n_columns, 0.28 * len(datas) + 1.0, 0.0, legend=0.6)
    for axes, cost in zip(panels, costs, strict=True):
        means = shared_means(results[results["cost"] == cost]).droplevel("cost")
        means = means.reindex(index=datas, columns=algorithms)
        best = means.max(axis=1) if greater_is_better(cost) else means.min(axis=1)
        apart = means.sub(best, axis=0).abs()
        worse = 100 * apart.div(best.abs().where(best != 0), axis=0).mask(apart == 0, 0.0)
        for algorithm in algorithms:
            how = _style(algorithms, algorithm) | {"linestyle": "", "markersize": 6, "alpha": 0.85}
            axes.plot(worse[algorithm], range(len(datas)), label=algorithm, **how)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xlim(-0.1, None)
        axes.set_ylim(len(datas) - 0.5, -0.5)
        axes.set_yticks(range(len(datas)), datas, fontsize=9)
        axes.grid(axis="y", linewidth=0.4)
        axes.xaxis.set_major_formatter("{x:g}")
    figure.supxlabel("percent worse than the best mean", fontsize=9)
    _add_legend(figure, panels[0])
    return figure


def figure_svg(draw: Callable[[], Figure], name: str) -> str:
    """Draw a figure in matplotlib's own style and return it as SVG, always the same for the same data.

    The name stands before all ids, so that several figures can share a page.
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


def _new_panels(
    titles: list[str], most: int, width: float, height: float, narrowest: float, legend: float = 0.7
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a titled panel for each of the titles, so many of them side by side at most."""
    columns = min(len(titles), most)
    rows = -(-len(titles) // columns)
    figure = _new_figure(max(width * columns, narrowest), height * rows + legend)
    panels = list(np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel())
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title, fontsize=10)
    for axes in panels[len(titles) :]:
        axes.axis("off")
    return figure, panels[: len(titles)]


def _plot_curve(kind: Any, axes: Axes, curve: pd.DataFrame, name: str, cost: str, how: dict[str, Any]) -> Any:
    """Plot a curve of means, if it has any, with their errors, if all have one."""
    if curve.empty:
        return None
    errors = None if curve["error"].isna().any() else curve["error"]
    up = greater_is_better(cost)
    return kind(curve.index, curve["mean"], errors, name=name, cost_name=cost, greater_is_better=up).plot(
        axes, **how
    )


def _finish_curves(figure: Figure, panels: list[Axes], x: str, cost: str) -> Figure:
    """Name the axes and the curves once for all panels."""
    for axes in panels:
        axes.legend().remove()
        axes.set(xlabel="", ylabel="")
        axes.tick_params(labelsize=8)
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(cost_title(cost), fontsize=9)
    _add_legend(figure, panels[0])
    return figure


def _style(algorithms: list[str], algorithm: str) -> dict[str, Any]:
    """Return the color and marker of an algorithm: those of CSRPE are the same in all figures."""
    order = [*_OURS, *(name for name in algorithms if name not in _OURS)]
    i = order.index(algorithm)
    return {"color": COLOURS[i % len(COLOURS)], "marker": _MARKERS[i % len(_MARKERS)]}


def _strategy_style(strategies: list[str], strategy: str) -> dict[str, Any]:
    """Return how a strategy's curve is drawn: the default thick, random in gray, the others thin."""
    if strategy == "random":
        return {"color": "#888888", "linestyle": "--", "linewidth": 1.4}
    if strategy == DEFAULT_STRATEGY:
        return {"color": BEST, "linestyle": "-", "linewidth": 2.2}
    colours = [colour for colour in COLOURS if colour != BEST]
    i = [name for name in strategies if name not in ("random", DEFAULT_STRATEGY)].index(strategy)
    style = ("-", "-.", ":")[i // len(colours) % 3]
    return {"color": colours[i % len(colours)], "linestyle": style, "linewidth": 1.0}


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
        axes.annotate(
            f"{name}  {rank:.2f}" if on_left else f"{rank:.2f}  {name}",
            (side, y),
            (-4 if on_left else 4, 0),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="center",
            fontsize=9,
            annotation_clip=False,
        )
