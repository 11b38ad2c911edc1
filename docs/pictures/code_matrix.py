"""A code: label vectors by reference pairs, for two costs."""

from __future__ import annotations

import numpy as np
from _drawing import BLUE, ORANGE, PALE, Numbers, keep, new_figure
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from refpair import get_cost
from refpair.coding import ReferencePairCode, draw_code

N_BITS = 12


def numbers() -> Numbers:
    """Encode all vectors of three labels with the same pairs under two costs."""
    vectors = np.array([[row >> k & 1 for k in (2, 1, 0)] for row in range(8)], np.uint8)
    vectors = vectors[np.lexsort((-vectors @ [4, 2, 1], vectors.sum(axis=1)))]
    drawn = draw_code(get_cost("f1"), vectors, N_BITS, "uniform", np.random.default_rng(3))
    return {
        "vectors": vectors.tolist(),
        "pairs": [drawn.alpha.tolist(), drawn.beta.tolist()],
        "codes": {
            name: ReferencePairCode(drawn.alpha, drawn.beta, get_cost(name)).encode(vectors).tolist()
            for name in ("f1", "zero_one")
        },
    }


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(4.6)
    panels = figure.subplots(2, 1, sharex=True)
    words = {name: np.array(code) for name, code in found["codes"].items()}
    names = ["".join(map(str, vector)) for vector in found["vectors"]]
    pairs = ["".join(map(str, a)) + "\n" + "".join(map(str, b)) for a, b in zip(*found["pairs"], strict=True)]
    for ax, (cost, word) in zip(panels, words.items(), strict=True):
        ax.imshow(word, cmap=ListedColormap([ORANGE, PALE, BLUE]), vmin=-1, vmax=1, aspect="auto")
        ax.set_yticks(range(len(names)), names, family="monospace")
        ax.set_xticks(np.arange(-0.5, len(pairs)), minor=True)
        ax.set_yticks(np.arange(-0.5, len(names)), minor=True)
        ax.grid(which="minor", color="white", lw=1.5)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set_ylabel("label vector y")
        ax.set_title(
            {"f1": "F1: nearly every pair tells something", "zero_one": "zero-one: most are ties"}[cost]
        )
    panels[-1].set_xticks(range(len(pairs)), pairs, family="monospace", fontsize=8)
    panels[-1].set_xlabel("reference pair: α above β")
    meaning = {BLUE: "α is cheaper", ORANGE: "β is cheaper", PALE: "no difference"}
    figure.legend(
        handles=[Patch(color=colour, label=text) for colour, text in meaning.items()],
        loc="outside lower center", ncols=3, frameon=False,
    )  # fmt: skip
    return figure


if __name__ == "__main__":
    keep("code_matrix", numbers, draw)
