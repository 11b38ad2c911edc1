"""One picture, the probabilities of its digits, and the answer under each of several costs."""

from __future__ import annotations

import numpy as np
from _drawing import BLUE, GREY, ORANGE, PALE, Numbers, digits, keep, new_figure, show_digits
from matplotlib.figure import Figure

from refpair import Cost, CSRPEClassifier, get_cost

COSTS = {
    "F2: recall counts more": get_cost("f2"),
    "rank": get_cost("rank"),
    "F1": get_cost("f1"),
    "Jaccard": get_cost("jaccard"),
    "Hamming": get_cost("hamming"),
    "zero-one: all or nothing": get_cost("zero_one"),
    "a false digit costs 3": Cost.per_label(false_positive=3),
}


def numbers() -> Numbers:
    """Of pictures with five different answers or more, three digits at most under F1, take the surest."""
    X, Y, X_test = digits()
    model = CSRPEClassifier("f1", n_bits=300, random_state=0).fit(X, Y)
    answers = np.stack([model.decide(X_test, cost) for cost in COSTS.values()])
    n_different = np.array([len(np.unique(answers[:, row], axis=0)) for row in range(len(X_test))])
    fits = (n_different >= 5) & (answers[list(COSTS).index("F1")].sum(axis=1) <= 3)
    row = np.where(fits, model.expected_cost(X_test), np.inf).argmin()
    return {
        "picture": X_test[row].tolist(),
        "probabilities": model.predict_proba(X_test[row : row + 1])[0].round(3).tolist(),
        "answers": {
            name: np.flatnonzero(answer).tolist() for name, answer in zip(COSTS, answers[:, row], strict=True)
        },
    }


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.9)
    grid = figure.add_gridspec(2, 2, height_ratios=[1, 1.9], width_ratios=[1, 3.2])
    show_digits(figure.add_subplot(grid[0, 0]), found["picture"])
    bars, table = figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, :])

    bars.bar(range(10), found["probabilities"], color=BLUE, width=0.7)
    bars.axhline(0.5, color=GREY, lw=0.8, ls=":")
    bars.set(xticks=range(10), yticks=[0, 0.5, 1], ylim=(0, 1), title="probability of each digit")

    for place, (name, answer) in enumerate(found["answers"].items()):
        table.scatter(range(10), [place] * 10, s=14, color=PALE)
        table.scatter(answer, [place] * len(answer), s=150, color=ORANGE)
        for digit in answer:
            table.text(
                digit, place, str(digit), ha="center", va="center_baseline", color="white", weight="bold"
            )
        table.text(-0.8, place, name, ha="right", va="center_baseline")
    table.set(
        xlim=(-6.6, 9.6), ylim=(len(found["answers"]) - 0.4, -0.6), title="the answer of lowest expected cost"
    )
    table.set_axis_off()
    return figure


if __name__ == "__main__":
    keep("decisions", numbers, draw)
