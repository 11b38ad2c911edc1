"""How the score grows with the length of the code: with all sources, with the code alone, as in the paper."""

from __future__ import annotations

from _drawing import BLUE, GREY, N_TRAIN, ORANGE, Numbers, digits, keep, new_figure
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from refpair import CSRPEClassifier
from refpair.datasets import load_dataset

LENGTHS = [10, 20, 40, 80, 160, 320, 640, 1280]
MODELS = {"all sources": {}, "code alone": {"sources": ("code",)}, "nearest": {"decoder": "nearest"}}


def numbers() -> Numbers:
    """Score models that are cut to each length; nothing is learned anew."""
    X, Y, X_test = digits()
    Y_test = load_dataset("digits").Y[N_TRAIN:]
    scores = {}
    for name, how in MODELS.items():
        model = CSRPEClassifier("f1", n_bits=LENGTHS[-1], random_state=0, **how).fit(X, Y)
        scores[name] = [round(model.shorten(n).score(X_test, Y_test), 3) for n in LENGTHS]
    return {"n_bits": LENGTHS, "scores": scores}


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(2.8)
    ax = figure.subplots()
    places = {
        "all sources": (BLUE, "all sources (the default)", 3, (0, 9), "center"),
        "code alone": (GREY, "the code alone", 2, (-8, 4), "right"),
        "nearest": (ORANGE, "nearest code word (the paper's)", 3, (8, -10), "left"),
    }
    for name, (colour, text, point, away, side) in places.items():
        scores = found["scores"][name]
        ax.plot(found["n_bits"], scores, "o-", color=colour, ms=4)
        at = found["n_bits"][point], scores[point]
        ax.annotate(text, at, away, textcoords="offset points", color=colour, ha=side)
    ax.set_xscale("log")
    ax.set_xticks(found["n_bits"])
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="bits of the code", ylabel="F1 on 1500 new pictures", ylim=(None, 0.96))
    ax.grid(axis="y", color=GREY, alpha=0.25, lw=0.6)
    return figure


if __name__ == "__main__":
    keep("code_length", numbers, draw)
