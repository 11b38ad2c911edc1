"""How time grows with rows, features, labels and bits, as `python -m benchmarks.scaling` measured it."""

from __future__ import annotations

import json

from _drawing import BLUE, FOLDER, GREY, ORANGE, Numbers, keep, new_figure
from matplotlib.figure import Figure

RESULTS = FOLDER.parents[1] / "benchmarks" / "results" / "scaling.jsonl"
MIDDLE = {"rows": 10_000, "features": 500, "labels": 100, "bits": 300}
FEW_BITS = 100  # of all numbers of rows


def numbers() -> Numbers:
    """Take the cases of each axis from the results."""
    cases = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    found: Numbers = {}
    for axis in MIDDLE:
        fixed = MIDDLE | ({"bits": FEW_BITS} if axis == "rows" else {})
        own = [case for case in cases if all(case[name] == fixed[name] for name in fixed if name != axis)]
        own.sort(key=lambda case: case[axis])
        found[axis] = {
            "sizes": [case[axis] for case in own],
            "fit": [round(case["fit"], 2) for case in own],
            "bits learnt": [round(case["bits_learnt"], 2) for case in own],
            "memory": [round(case["memory"]) for case in own],
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
