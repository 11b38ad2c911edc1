"""What the pictures share: the data, the colors, and how they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from refpair.datasets import load_dataset

FOLDER = Path(__file__).parent
WIDTH = 5.4  # inches: a phone shows that without making letters too small
BLUE, ORANGE, GREY, PALE = "#0072B2", "#D55E00", "#767676", "#D9D9D9"
N_TRAIN = 1500

Numbers = dict[str, Any]


def digits() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8], npt.NDArray[np.float64]]:
    """Return the pictures to learn from, their digits, and the pictures to ask about."""
    data = load_dataset("digits")
    return data.X[:N_TRAIN], data.Y[:N_TRAIN], data.X[N_TRAIN:]


def name_set(vector: npt.ArrayLike) -> str:
    """Return a label vector as the digits that it has."""
    return "{" + ", ".join(map(str, np.flatnonzero(vector))) + "}" if np.any(vector) else "none"


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure in the style of all."""
    mpl.rcParams.update(
        {
            "font.size": 9,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "svg.fonttype": "none",  # letters stay letters: a third of the size, and they can be searched
            "svg.hashsalt": "refpair",
            "figure.facecolor": "white",
        }
    )
    return Figure(figsize=(width, height), layout="constrained")


def show_digits(ax: Axes, picture: list[float]) -> None:
    """Draw the 8 × 8 pixels of a picture."""
    ax.imshow(np.reshape(picture, (8, 8)), cmap="gray_r")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(True)


def keep(name: str, numbers: Callable[[], Numbers], draw: Callable[[Numbers], Figure]) -> None:
    """Write a picture, and beside it the numbers that it shows."""
    found = numbers()
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    FOLDER.joinpath(f"{name}.json").write_text(f"{{\n{lines}\n}}\n")
    draw(found).savefig(FOLDER / f"{name}.svg", metadata={"Date": None, "Creator": None})
