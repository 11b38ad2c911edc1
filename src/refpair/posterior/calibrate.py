"""Calibrated probabilities of labels, from what several sources say.

    log odds of P_k(x)  =  Σ_s a_s · log p_sk(x)  −  c_s · log (1 − p_sk(x))  +  b        a_s, c_s ≥ 0

Of a single source that is beta calibration; a line in log odds, if a is c. All labels share the few numbers
a, b and c: some of its own would have too few positives on most data (half of medical's labels have fewer
than five training samples). Probabilities next to 0 are taken as `least`: how far
below it they are is noise, as few trees speak of a training sample that they were grown without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from refpair._parallel import one_blas_thread
from refpair._saved import Savable
from refpair.posterior.distribution import Bytes, Floats

LEAST = 1e-2
_PULL = 5.0  # as many cells speak for what was there before: the mean of the sources
_LARGEST = 50.0  # coefficient: no more than rounding is lost
_SURE = 30.0  # log odds, at most: what is far beyond is 1 by rounding


@dataclass(frozen=True, eq=False)
class LogOddsPool(Savable):
    """Calibrated log odds as a weighted sum of the log probabilities of the sources."""

    coefficients: npt.NDArray[np.float64]  # (n_sources, 2): a and c
    shift: float
    least: float = LEAST

    def __post_init__(self) -> None:
        if self.coefficients.ndim != 2 or self.coefficients.shape[1] != 2:
            raise ValueError("coefficients must be two numbers for each source")
        if not ((np.abs(self.coefficients) <= _LARGEST).all() and abs(self.shift) <= _LARGEST):
            raise ValueError("coefficients and shift must be finite numbers, and none of them large")
        if not 0 < self.least < 0.5:
            raise ValueError(f"least is {self.least}, which is not between 0 and ½")

    @classmethod
    def fit(cls, probabilities: Sequence[Floats], truths: Bytes, least: float = LEAST) -> Self:
        """Return the pool of largest likelihood, regularized towards the mean of the log odds.

        Parameters
        ----------
        probabilities : sequence of arrays of shape (n, n_labels)
            Out-of-bag predictions of each source.
        truths : array of shape (n, n_labels)
        least : float
        """
        x = np.stack([logs.ravel() for p in probabilities for logs in _logs(p, least)], axis=1)
        y, n = truths.ravel().astype(np.float64), np.ones(truths.size)
        # Most cells of many labels are as low as can be by all sources: they are one, counted often.
        low = (x[:, ::2] <= np.log(least)).all(axis=1)
        if low.any():
            n = np.append(n[~low], low.sum())
            y = np.append(y[~low], y[low].mean())
            x = np.concatenate([x[~low], x[low][:1]])
        equal = np.full(x.shape[1], 2 / x.shape[1])

        def loss(at: Floats) -> tuple[float, Floats]:
            z, off = x @ at[:-1] + at[-1], at[:-1] - equal
            value = (n * (np.logaddexp(0.0, z) - y * z)).sum() + 0.5 * _PULL * (off @ off) + 0.5 * at[-1] ** 2
            slope = n * (expit(z) - y)
            return float(value), np.append(x.T @ slope + _PULL * off, slope.sum() + at[-1])

        bounds = [(0.0, _LARGEST)] * len(equal) + [(-_LARGEST, _LARGEST)]
        with one_blas_thread():
            found = minimize(loss, np.append(equal, 0.0), jac=True, method="L-BFGS-B", bounds=bounds).x
        return cls(found[:-1].reshape(-1, 2), float(found[-1]), least)

    def __call__(self, probabilities: Sequence[Floats]) -> Floats:
        """Return the calibrated probabilities, all within (0, 1)."""
        total = np.full(probabilities[0].shape, self.shift)
        for (of_p, of_rest), p in zip(self.coefficients, probabilities, strict=True):
            if of_p != 0 or of_rest != 0:
                log_p, minus_log_rest = _logs(p, self.least)
                total += of_p * log_p + of_rest * minus_log_rest
        return np.asarray(expit(np.clip(total, -_SURE, _SURE)))


def _logs(p: Floats, least: float) -> tuple[Floats, Floats]:
    """Return log p and −log (1 − p), of probabilities kept from `least` to 1 − least."""
    kept = np.clip(p, least, 1.0 - least)
    return np.asarray(np.log(kept)), np.asarray(-np.log1p(-kept))


def log_loss(p: Floats, truths: Bytes) -> Floats:
    """Return minus the log likelihood of the labels of each sample, as if they were independent."""
    p = np.clip(p, 1e-6, 1.0 - 1e-6)
    return np.asarray(-np.where(truths, np.log(p), np.log1p(-p)).sum(axis=1))
