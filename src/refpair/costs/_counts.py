"""The named costs as functions of the counts.

Each is one correctly rounded division of whole numbers, so that equal fractions such as 2/4 and 3/6 are equal
floats: a tie of two costs is a tie, not a matter of the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refpair.costs._labels import FloatArray


def hamming(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the share of wrong labels."""
    return (fp + fn) / (tp + fp + fn + tn)


def zero_one(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return 1 where any label is wrong."""
    return (fp + fn > 0).astype(np.float64)


def rank(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the number of pairs (relevant, irrelevant) in the wrong order, those that tie counting half."""
    return fp * fn + (tn * fn + fp * tp) / 2


def jaccard(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Return the Jaccard distance."""
    return (fp + fn) / np.maximum(tp + fp + fn, 1.0)  # the bound makes 0/0 a right answer, 0


@dataclass(frozen=True)
class FBeta:
    """1 − F-beta, as wrong / (right + wrong)."""

    beta: float

    def __call__(self, tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
        """Return the costs."""
        square = self.beta**2
        wrong = fp + square * fn
        # A denominator that is not 0 is at least min(1, β²): the bound only makes 0/0 a right answer, 0.
        return wrong / np.maximum((1 + square) * tp + wrong, min(1.0, square))
