"""Probabilities that mean what they say: one line through the log odds of all labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable, require

__all__ = ["LogOddsLine"]

Floats = npt.NDArray[np.float64]

_SURE = 1e-6
_CELLS = 512  # that log odds are counted in
_PULL = 5.0  # as many cells speak for the line that changes nothing
_STEPS, _NEAR = 50, 1e-9
_LEAST_SLOPE = 1e-3  # where the line must tell more from less than ½


@dataclass(frozen=True)
class LogOddsLine(Savable):
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

    def __post_init__(self) -> None:
        finite = np.isfinite(self.slope) and np.isfinite(self.shift)
        require(finite, f"slope and shift must be finite numbers, not {self.slope} and {self.shift}")

    @classmethod
    def fit(cls, probabilities: Floats, truths: npt.NDArray[np.uint8], *, keep_half: bool = False) -> Self:
        """Return the line of largest likelihood, pulled a little towards the one that changes nothing.

        Parameters
        ----------
        probabilities, truths : ndarray of shape (n, n_labels)
        keep_half : bool, default=False
            Whether ½ stays ½: then rounding says the same before and after.
        """
        x = _log_odds(probabilities).ravel()
        edge = -np.log(_SURE)
        cell = np.minimum(((x + edge) * (_CELLS / (2 * edge))).astype(np.int64), _CELLS - 1)
        n = np.bincount(cell, minlength=_CELLS).astype(np.float64)
        positive = np.bincount(cell, weights=truths.ravel(), minlength=_CELLS).astype(np.float64)
        middle = np.bincount(cell, weights=x, minlength=_CELLS) / np.maximum(n, 1.0)
        design = np.column_stack([middle, np.ones(_CELLS)])
        if keep_half:
            (slope,) = _climb(design[:, :1], n, positive, np.ones(1))
            return cls(max(float(slope), _LEAST_SLOPE), 0.0)
        slope, shift = _climb(design, n, positive, np.array([1.0, 0.0]))
        if slope < 0:  # a falling line would turn the order of the labels around: a level one, then
            slope, (shift,) = 0.0, _climb(design[:, 1:], n, positive, np.zeros(1))
        return cls(float(slope), float(shift))

    def __call__(self, probabilities: Floats) -> Floats:
        """Return the calibrated probabilities, all within (0, 1)."""
        log_odds = self.slope * _log_odds(probabilities) + self.shift
        return np.clip(0.5 * (1.0 + np.tanh(log_odds / 2.0)), _SURE, 1.0 - _SURE)


def _climb(design: Floats, n: Floats, positive: Floats, start: Floats) -> Floats:
    """Return the line of largest penalised likelihood, by Newton's steps that never go down."""

    def height(line: Floats) -> float:
        log_odds = design @ line
        fit = positive @ log_odds - n @ np.logaddexp(0.0, log_odds)
        return float(fit - _PULL / 2 * ((line - start) ** 2).sum())

    line = start
    for _ in range(_STEPS):
        p = 0.5 * (1.0 + np.tanh(design @ line / 2.0))
        slope = design.T @ (positive - n * p) - _PULL * (line - start)
        curvature = (design.T * (n * p * (1.0 - p))) @ design + _PULL * np.eye(len(start))
        step = np.linalg.solve(curvature, slope)
        if np.abs(step).max() < _NEAR:
            break
        while height(line + step) < height(line) and np.abs(step).max() > _NEAR:
            step = step / 2.0
        line = line + step
    return line


def _log_odds(p: Floats) -> Floats:
    p = np.clip(p, _SURE, 1.0 - _SURE)
    return np.asarray(np.log(p) - np.log1p(-p))
