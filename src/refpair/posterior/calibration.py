"""Probabilities that mean what they say: one line through the log odds of all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

__all__ = ["LogOddsLine"]

Floats = npt.NDArray[np.float64]

_SURE = 1e-6
_CELLS = 512  # that log odds are counted in
_PULL = 5.0  # as many cells speak for the line that changes nothing
_STEPS = 50


@dataclass(frozen=True)
class LogOddsLine:
    """Calibrated log odds = slope · log odds + shift, the same for all labels.

    A label of its own line would have too few positives on most data: half of medical's labels have fewer
    than five training rows.

    Examples
    --------
    >>> p = np.full((1000, 1), 0.9)
    >>> y = (np.arange(1000) < 600).astype(np.uint8)[:, None]
    >>> LogOddsLine.fit(p, y)(p[:1]).round(2)
    array([[0.6]])
    """

    slope: float
    shift: float

    @classmethod
    def fit(cls, probabilities: Floats, truths: npt.NDArray[np.uint8]) -> Self:
        """Return the line of largest likelihood, pulled a little towards the one that changes nothing."""
        x = _log_odds(probabilities).ravel()
        edge = -np.log(_SURE)
        cell = np.minimum(((x + edge) * (_CELLS / (2 * edge))).astype(np.int64), _CELLS - 1)
        n = np.bincount(cell, minlength=_CELLS).astype(np.float64)
        positive = np.bincount(cell, weights=truths.ravel(), minlength=_CELLS)
        middle = np.bincount(cell, weights=x, minlength=_CELLS) / np.maximum(n, 1.0)
        design = np.column_stack([middle, np.ones(_CELLS)])
        start = np.array([1.0, 0.0])
        line = start
        for _ in range(_STEPS):
            p = 1.0 / (1.0 + np.exp(-(design @ line)))
            slope = design.T @ (positive - n * p) - _PULL * (line - start)
            curvature = (design.T * (n * p * (1.0 - p))) @ design + _PULL * np.eye(2)
            step = np.linalg.solve(curvature, slope)
            line = line + step * min(1.0, 2.0 / np.abs(step).max())  # far steps overshoot
            if np.abs(step).max() < 1e-9:
                break
        # A falling line would turn the order of the labels around: it never says less than nothing.
        return cls(max(float(line[0]), 0.0), float(line[1]))

    def __call__(self, probabilities: Floats) -> Floats:
        """Return the calibrated probabilities."""
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * _log_odds(probabilities) + self.shift))))


def _log_odds(p: Floats) -> Floats:
    p = np.clip(p, _SURE, 1.0 - _SURE)
    return np.asarray(np.log(p) - np.log1p(-p))
