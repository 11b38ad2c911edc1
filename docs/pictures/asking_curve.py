"""What answers and questions about tickets cost together, by the price of a question."""

from __future__ import annotations

import numpy as np
from _drawing import FOLDER, Numbers, keep, new_figure
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline

from refpair import CSRPEClassifier, TableVectorizer
from refpair.inspection import AskingCurveDisplay
from refpair.tables import read_table

TICKETS = FOLDER.parents[1] / "examples" / "tickets"
PARTS = ("prices", "expected", "ask_all", "realised")


def numbers() -> Numbers:
    """Compare totals that are expected of new tickets with what they did cost."""
    known, new = (read_table(TICKETS / f"{name}.csv", labels=["tags"]) for name in ("tickets", "checked"))
    model = make_pipeline(TableVectorizer(), CSRPEClassifier("zero_one", n_bits=200, random_state=0))
    model.fit(known.X, known.Y)
    found = AskingCurveDisplay.from_estimator(model[-1], model[:-1].transform(new.X), new.Y)
    kept = {name: np.round(getattr(found, name), 3).tolist() for name in PARTS}
    return kept | {"answer_all": round(found.answer_all, 3)}


def draw(found: Numbers) -> Figure:
    """Draw it."""
    figure = new_figure(3.4)
    AskingCurveDisplay(**found, name="150 tickets", cost_name="zero-one loss").plot(figure.subplots())
    return figure


if __name__ == "__main__":
    keep("asking_curve", numbers, draw)
