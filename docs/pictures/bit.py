"""What one bit learns: which label vectors are on which side, and how much each counts."""

from __future__ import annotations

import numpy as np
from _drawing import BLUE, GREY, ORANGE, Numbers, digits, keep, name_set, new_figure
from matplotlib.figure import Figure

from refpair import get_cost
from refpair.coding import ReferencePairCode

ALPHA, BETA = [1, 3], [5]
TRUTHS = [[1, 3], [1, 3, 5], [1], [3], [3, 7], [0], [], [1, 5], [3, 5], [0, 5], [5, 8, 9], [5]]


def numbers() -> Numbers:
    """Compare the costs of the two reference vectors for some truths, and count the sides of all rows."""
    code = ReferencePairCode([_vector(ALPHA)], [_vector(BETA)], get_cost("f1"))
    signs = code.encode(digits()[1]).ravel()
    return {
        "truths": [name_set(_vector(truth)) for truth in TRUTHS],
        "differences": code.differences([_vector(truth) for truth in TRUTHS]).ravel().round(3).tolist(),
        "rows": {str(side): int((signs == side).sum()) for side in (1, 0, -1)},
    }


def _vector(labels: list[int]) -> list[int]:
    return np.isin(range(10), labels).astype(int).tolist()


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.6)
    ax = figure.subplots()
    order = np.argsort(found["differences"], kind="stable")
    differences = np.array(found["differences"])[order]
    ax.barh(range(len(order)), differences, color=np.where(differences > 0, BLUE, ORANGE), height=0.7)
    ax.set_yticks(range(len(order)), [found["truths"][place] for place in order])
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set(xlim=(-1.05, 1.05), xlabel="C(y, β) − C(y, α) under F1; its size is the weight", ylabel="truth y")
    rows = found["rows"]
    left_out = f" no difference: left out\n ({rows['0']} of 1500 rows)"
    ax.text(0.02, np.flatnonzero(differences == 0).mean(), left_out, va="center", color=GREY)
    ax.text(1.05, 0.1, f"bit +1: α = {{1, 3}} is cheaper\n{rows['1']} rows", color=BLUE, ha="right")
    ax.text(-1.0, len(order) - 1.9, f"bit −1: β = {{5}} is cheaper\n{rows['-1']} rows", color=ORANGE)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    keep("bit", numbers, draw)
