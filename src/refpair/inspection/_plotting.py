"""What all drawing shares; matplotlib is imported only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = [
    "BEST",
    "COLOURS",
    "OTHER",
    "add_curve",
    "entitle",
    "import_matplotlib",
    "import_pyplot",
    "new_axes",
    "with_direction",
]

# Okabe and Ito's colours, which people who confuse red and green can tell apart too, and a brown.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
_STYLES = ("-", "--", "-.", ":")
BEST, OTHER = COLOURS[1], "#444444"
_CURVE = "refpair:"  # and its name: tells our lines in an axes from others


def import_matplotlib() -> Any:
    """Return ``matplotlib`` with its ``figure``, or say how to install it."""
    try:
        import matplotlib  # noqa: PLC0415 (an extra)
        import matplotlib.figure  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise ImportError("plotting needs matplotlib: pip install 'refpair[plot]'") from error
    return matplotlib


def import_pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say how to install it."""
    import_matplotlib()
    from matplotlib import pyplot  # noqa: PLC0415 (an extra)

    return pyplot


def new_axes() -> Axes:
    """Return the axes of a new figure."""
    ax: Axes = import_pyplot().subplots(layout="constrained")[1]
    return ax


def with_direction(cost_name: str, greater_is_better: bool) -> str:
    """Return what an axis of scores is called.

    Examples
    --------
    >>> with_direction("f1", True)
    'f1 (higher is better)'
    """
    return f"{cost_name} ({'higher' if greater_is_better else 'lower'} is better)"


def entitle(ax: Axes, name: str) -> None:
    """Give an axes a title, unless it has one."""
    if not ax.get_title():
        ax.set_title(name)


def add_curve(ax: Axes, x: Any, y: Any, *, name: str, label: str, **how: Any) -> Line2D:
    """Draw a line that differs from those in the axes; its name is the title while it is the only one."""
    curves = [line for line in ax.lines if str(line.get_gid()).startswith(_CURVE)]
    style = {
        "color": COLOURS[len(curves) % len(COLOURS)],
        "linestyle": _STYLES[len(curves) % len(_STYLES)],
    }
    if not curves:
        entitle(ax, name)
    elif _CURVE + ax.get_title() in [line.get_gid() for line in curves]:
        ax.set_title("")
    (line,) = ax.plot(x, y, **style | {"label": label, "gid": _CURVE + name} | how)
    return line
