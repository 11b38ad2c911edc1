"""How time grows with rows, features, labels and bits, as `python -m benchmarks.scaling` measured it."""

from __future__ import annotations

import pandas as pd
from _drawing import BLUE, FOLDER, GREY, ORANGE, Numbers, keep, new_figure
from matplotlib.figure import Figure

RESULTS = FOLDER.parents[1] / "benchmarks" / "results" / "scaling.csv"
MIDDLE = {"rows": 10_000, "features": 500, "labels": 100, "bits": 300}
FEW_BITS = 100  # of all numbers of rows


def numbers() -> Numbers:
    """Take the cases of each axis from the results."""
    cases = pd.read_csv(RESULTS, comment="#")
    found: Numbers = {}
    for axis in MIDDLE:
        fixed = MIDDLE | ({"bits": FEW_BITS} if axis == "rows" else {})
        del fixed[axis]
        own = cases[(cases[list(fixed)] == pd.Series(fixed)).all(axis=1)].sort_values(axis)
        found[axis] = {
            "sizes": own[axis].tolist(),
            "fit": own["fit"].round(2).tolist(),
            "bits learnt": own["bits_learnt"].round(2).tolist(),
            "memory": own["memory"].round().astype(int).tolist(),
        }
    return found


def draw(found: Numbers) -> Figure:
    """Draw a panel an axis."""
    figure = new_figure(4.6)
    panels = figure.subplots(2, 2, sharey=True).ravel()
    for ax, (axis, times) in zip(panels, found.items(), strict=True):
        ax.loglog(times["sizes"], times["fit"], "o-", color=BLUE, ms=4)
        ax.loglog(times["sizes"], times["bits learnt"], "o-", color=ORANGE, ms=4)
        ax.set(xlabel=axis)
        ax.grid(color=GREY, alpha=0.2, lw=0.6)
        ax.minorticks_off()
    panels[0].set(ylabel="seconds of one core")
    panels[2].set(ylabel="seconds of one core")
    panels[0].annotate("fit", (1500, 4), color=BLUE)
    panels[0].annotate("learning bits", (4000, 0.15), color=ORANGE)
    return figure


if __name__ == "__main__":
    keep("growth", numbers, draw)
