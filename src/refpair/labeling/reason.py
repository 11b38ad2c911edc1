"""Why a row is asked for, in words and numbers that a person can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refpair.bits.binning import Matrix
from refpair.labeling.model import Fit

__all__ = ["Reason", "explain"]

_DOUBT = 0.25  # a label is in doubt from this probability to 1 minus it
_MOST_IN_DOUBT = 5


@dataclass(frozen=True)
class Reason:
    """What the model thinks of a row.

    Attributes
    ----------
    text : str
        Why the row is asked for, as a sentence.
    guess : list of str
        The labels that are predicted.
    probabilities : dict of str to float
        Of each label; empty if there is no model, or if it does not tell.
    in_doubt : list of str
        The labels of which it is least sure, the most doubtful first.
    expected_cost : float or None
        Of the guess.
    """

    text: str
    guess: list[str]
    probabilities: dict[str, float]
    in_doubt: list[str]
    expected_cost: float | None


def explain(fit: Fit | None, row: Matrix, labels: Sequence[str]) -> Reason:
    """Return what was learnt about a row.

    Parameters
    ----------
    fit : Fit or None
    row : ndarray or CSR matrix of shape (1, n_features)
    labels : sequence of str
    """
    if fit is None or fit.classifier is None:
        text = (
            "It is like many other rows. There is nothing else to go by until two rows have different labels."
        )
        return Reason(text, [], {}, [], None)
    model, known = fit.classifier, labels[: fit.n_labels]  # labels may have been added since
    guess = [known[place] for place in np.flatnonzero(np.asarray(model.predict(row))[0]).tolist()]
    cost = float(model.expected_cost(row)[0]) if hasattr(model, "expected_cost") else None
    probabilities: dict[str, float] = {}
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(row))[0]
        probabilities = {label: round(float(p[place]), 4) for place, label in enumerate(known)}
    doubtful = sorted(probabilities, key=lambda label: abs(probabilities[label] - 0.5))
    in_doubt = [label for label in doubtful if _DOUBT <= probabilities[label] <= 1 - _DOUBT][:_MOST_IN_DOUBT]
    return Reason(_sentence(cost, fit.expected_cost, in_doubt), guess, probabilities, in_doubt, cost)


def _sentence(cost: float | None, usual: float | None, in_doubt: Sequence[str]) -> str:
    parts = []
    if cost is not None and usual is not None:
        parts.append(f"A guess would cost {cost:.2g}, where {usual:.2g} is usual")
    parts.append(f"in doubt: {', '.join(in_doubt)}" if in_doubt else "no single label is in doubt")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}. It also stands for rows like it."
