"""One ticket, the probabilities of its tags, and the best answer under each of four costs."""

from __future__ import annotations

from textwrap import wrap

import numpy as np
from _drawing import BLUE, FOLDER, GREY, ORANGE, PALE, Numbers, keep, new_figure
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from refpair import Cost, CSRPEClassifier, TableVectorizer, get_cost
from refpair.tables import read_table

TICKETS = FOLDER.parents[1] / "examples" / "tickets"
COSTS = {
    "Hamming: each tag counts alone": get_cost("hamming"),
    "zero-one: all right or nothing": get_cost("zero_one"),
    "price: a wrong tag costs 3": Cost.per_label(false_positive=3),
    "price: a missed tag costs 3": Cost.per_label(false_negative=3),
}


def numbers() -> Numbers:
    """Of the new tickets with four different answers, take the one with the surest answer."""
    known = read_table(TICKETS / "tickets.csv", labels=["tags"])
    new = read_table(TICKETS / "tomorrow.csv").X
    model = make_pipeline(TableVectorizer(), CSRPEClassifier("f1", random_state=0)).fit(known.X, known.Y)
    features, csrpe = model[:-1].transform(new), model[-1]
    answers = np.stack([np.asarray(csrpe.decide(features, cost)).ravel() for cost in COSTS.values()])
    n_different = np.array([len(set(of_row)) for of_row in answers.T])
    row = np.where(n_different == len(COSTS), csrpe.expected_cost(features), np.inf).argmin()
    assert n_different[row] == len(COSTS), "no ticket has four different answers"
    tags = [str(tag) for tag in csrpe.classes_]
    return {
        "text": str(new["text"].iloc[row]),
        "tags": tags,
        "probabilities": csrpe.predict_proba(features[[row]])[0].round(3).tolist(),
        "answers": {
            name: [tags.index(tag) for tag in answer.split("|") if tag]
            for name, answer in zip(COSTS, answers[:, row], strict=True)
        },
    }


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.5, 7.0)
    bars, table = figure.subplots(2, 1, height_ratios=[1, 1.5], sharex=True)
    places = range(len(found["tags"]))
    bars.bar(places, found["probabilities"], color=BLUE, width=0.6)
    for place, p in zip(places, found["probabilities"], strict=True):
        bars.text(place, p + 0.04, f"{p:.2f}", ha="center", size=8)
    bars.set(ylim=(0, 1.15), yticks=[])
    figure.suptitle("\n".join(wrap(f"“{found['text']}”", 80)), size=10, style="italic")
    bars.spines["left"].set_visible(False)
    bars.set_xticks(places, found["tags"])
    bars.tick_params(axis="x", length=0, labelbottom=True)
    bars.text(-0.8, 0.4, "probability of each tag", ha="right", color=GREY)
    for place, (name, answer) in enumerate(found["answers"].items()):
        table.scatter(places, [place] * len(places), s=14, color=PALE)
        table.scatter(answer, [place] * len(answer), s=110, color=ORANGE)
        table.text(-0.8, place, name, ha="right", va="center_baseline")
    table.set(xlim=(-4.4, len(places) - 0.5), ylim=(len(found["answers"]) - 0.4, -0.9))
    table.text(-0.8, -0.8, "best answer under", ha="right", va="center_baseline", color=GREY)
    table.set_axis_off()
    return figure


if __name__ == "__main__":
    keep("costs", numbers, draw)
