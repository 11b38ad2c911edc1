"""One picture: its posterior, what each answer is expected to cost under two costs, and the decisions."""

from __future__ import annotations

import numpy as np
from _drawing import BLUE, GREY, ORANGE, PALE, Numbers, digits, keep, name_set, new_figure, show_digits
from matplotlib.figure import Figure

from refpair import Cost, CSRPEClassifier, get_cost
from refpair.decision import decide, expected_cost
from refpair.posterior import LabelDistribution

COSTS = {"F1": get_cost("f1"), "price": Cost.per_label(false_positive=3, false_negative=1)}
N_LIKELY = 6


def numbers() -> Numbers:
    """Find the first picture that is no clear case and has two different answers, of some digits each."""
    X, Y, X_test = digits()
    model = CSRPEClassifier("f1", n_bits=300, random_state=0).fit(X, Y)
    vectors, weights = model.predict_set_proba(X_test, k=60)
    for row in np.flatnonzero(weights[:, 0] < 0.45):
        kept = weights[row] > 0
        p = LabelDistribution.from_dense(vectors[row, kept], weights[row, kept][None])
        answers = {name: decide(p, cost)[0] for name, cost in COSTS.items()}
        if answers["price"].any() and (answers["F1"] != answers["price"]).any():
            break
    shown = list(p.vectors[:N_LIKELY])
    for answer in answers.values():
        if not any((answer == other).all() for other in shown):
            shown.append(answer)
    return {
        "picture": X_test[row].tolist(),
        "sets": [name_set(vector) for vector in shown],
        "probabilities": [_weight_of(vector, p) for vector in shown],
        "expected": {
            name: [round(float(expected_cost(p, vector[None], cost)[0]), 3) for vector in shown]
            for name, cost in COSTS.items()
        },
        "decisions": {name: name_set(answer) for name, answer in answers.items()},
    }


def _weight_of(vector: np.ndarray, p: LabelDistribution) -> float:
    same = (p.vectors == vector).all(axis=1)
    return round(float(p.weights().toarray()[0, same].sum()), 3)


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.3)
    figure.get_layout_engine().set(wspace=0.08)
    picture, *panels = figure.subplots(1, 4, width_ratios=[1, 1.5, 1.5, 1.5])
    show_digits(picture, found["picture"])
    places = np.arange(len(found["sets"]))
    columns = {"probability": found["probabilities"], **found["expected"]}
    titles = {"probability": "posterior", "F1": "expected\n1 − F1", "price": "expected\nprice"}
    for ax, (name, values) in zip(panels, columns.items(), strict=True):
        answer = found["decisions"].get(name)
        colours = [ORANGE if one == answer else PALE if answer else BLUE for one in found["sets"]]
        ax.barh(places, values, color=colours, height=0.7)
        for place, value, one in zip(places, values, found["sets"], strict=True):
            weight = "bold" if one == answer else "normal"
            ax.text(value, place, f" {value:.2f}", va="center_baseline", weight=weight)
        ax.set(ylim=(len(places) - 0.4, -0.6), xlim=(0, 1.45 * max(values)), xticks=[], title=titles[name])
        ax.spines[["bottom", "left"]].set_visible(False)
        ax.set_yticks(places, found["sets"] if ax is panels[0] else [""] * len(places))
        ax.tick_params(length=0)
        if answer:
            ax.set_xlabel(f"answer: {answer}", color=ORANGE, weight="bold")
    panels[0].set_xlabel("of label vectors", color=GREY)
    return figure


if __name__ == "__main__":
    keep("posterior", numbers, draw)
