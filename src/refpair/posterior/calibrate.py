"""Calibrated probabilities of labels, from what several sources say.

    log odds of P_k(x)  =  Σ_s a_s · log p_sk(x) − c_s · log (1 − p_sk(x)) + b                a_s, c_s ≥ 0
                           + Σ_s d_sk · log odds of p_sk(x) + e_k

For a single source the first line is beta calibration, and if a = c, a line in log odds. Labels share a, b
and c. Each label has slopes d and a shift e of its own, which a ridge regression pulls towards 0: half of
medical's labels have fewer than five training samples. Probabilities below `least` are taken as `least`: how
far below it they are is noise, since out of bag a sample is predicted by few trees.

Calibrated probabilities are right on average over the rows that have the same one. If prices go with the
features, as amounts do, the dear ones of these rows may have the label more often than the cheap ones, and
expected costs are too low. So labels count by the square root of what a mistake costs in their row. By the
full price, a few dear rows would decide everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from refpair._parallel import one_blas_thread
from refpair._saved import Savable
from refpair.costs import Cost, PerLabelCost
from refpair.posterior.distribution import Bytes, Floats
from refpair.tables.labels import UNKNOWN

LEAST = 1e-2
_PULL = 5.0  # as strong as so many cells: towards the mean of the sources
_SHIFT_PULL, _SLOPE_PULL = 2.0, 100.0  # and towards what labels share: of e, and of d
_NEWTON_STEPS, _LONGEST, _NEAR = 20, 1.0, 1e-4
_CELLS = 1 << 18  # of labels that are looked at at a time
_LARGEST = 50.0  # coefficient: no more than rounding is lost
_SURE = 30.0  # log odds, at most: what is far beyond is 1 by rounding


@dataclass(frozen=True, eq=False)
class LogOddsPool(Savable):
    """Calibrated log odds of labels: a weighted sum of the log probabilities of the sources.

    Labels share the weights; each label may have a shift and slopes of its own.
    """

    coefficients: npt.NDArray[np.float64]  # (n_sources, 2): a and c
    shift: float
    least: float = LEAST
    of_labels: npt.NDArray[np.float64] | None = None  # (n_labels, 1 + n_sources): e, and d of each source

    def __post_init__(self) -> None:
        if self.coefficients.ndim != 2 or self.coefficients.shape[1] != 2:
            raise ValueError("coefficients must be two numbers for each source")
        if not ((np.abs(self.coefficients) <= _LARGEST).all() and abs(self.shift) <= _LARGEST):
            raise ValueError("coefficients and shift must be finite numbers, and none of them large")
        if self.of_labels is not None:
            if self.of_labels.ndim != 2 or self.of_labels.shape[1] != 1 + len(self.coefficients):
                raise ValueError("of_labels must be a number for each label, and one for each of its sources")
            if not (np.abs(self.of_labels) <= _LARGEST).all():
                raise ValueError("of_labels must be finite numbers, and none of them large")
        if not 0 < self.least < 0.5:
            raise ValueError(f"least is {self.least}, which is not between 0 and ½")

    @classmethod
    def fit(
        cls,
        probabilities: Sequence[Floats],
        truths: Bytes,
        least: float = LEAST,
        row_weight: Floats | None = None,
    ) -> Self:
        """Return the pool of largest likelihood that all labels share, regularized towards the mean odds.

        Parameters
        ----------
        probabilities : sequence of arrays of shape (n, n_labels)
            Out-of-bag predictions of each source; cells of NaN do not count.
        truths : array of shape (n, n_labels)
            Cells that are UNKNOWN do not count.
        least : float
        row_weight : array of shape (n,) or (n, n_labels), optional
            How often each row counts, or each of its cells.
        """
        weight = _of_cells(row_weight, truths)
        counts = ~np.isnan(probabilities[0]) & (truths != UNKNOWN) & (weight > 0)
        x = np.stack([logs[counts] for p in probabilities for logs in _logs(p, least)], axis=1)
        y = truths[counts].astype(np.float64)
        n = weight[counts]
        # Most cells of many labels are as low as can be by all sources: they are one, counted often.
        low = (x[:, ::2] <= np.log(least)).all(axis=1)
        if low.any():
            n_low, y_low = n[low], y[low]
            n = np.append(n[~low], n_low.sum())
            y = np.append(y[~low], np.average(y_low, weights=n_low))
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

    def fit_labels(
        self, probabilities: Sequence[Floats], truths: Bytes, row_weight: Floats | None = None
    ) -> Self:
        """Return the pool with a shift and slopes for each label, by the samples that :meth:`fit` was given.

        A ridge regression for each label adds them to the log odds that all labels share.
        """
        counts = ~np.isnan(probabilities[0]) & (truths != UNKNOWN)
        shared = np.where(counts, self._log_odds(probabilities), 0.0)
        x = np.stack([np.ones(truths.shape), *(sum(_logs(p, self.least)) for p in probabilities)], axis=2)
        x[~counts] = 0.0
        weight = _of_cells(row_weight, truths)
        step = max(1, _CELLS // max(1, len(truths) * x.shape[2]))
        labels = [slice(first, first + step) for first in range(0, truths.shape[1], step)]
        with one_blas_thread():
            found = [_ridge(x[:, some], shared[:, some], truths[:, some], weight[:, some]) for some in labels]
        return replace(self, of_labels=np.clip(np.concatenate(found), -_LARGEST, _LARGEST))

    def fits(self, n_sources: int, n_labels: int) -> bool:
        """Whether it has these numbers of sources and labels."""
        own = self.of_labels
        return len(self.coefficients) == n_sources and (own is None or len(own) == n_labels)

    def __call__(self, probabilities: Sequence[Floats]) -> Floats:
        """Return the calibrated probabilities, all within (0, 1)."""
        return np.asarray(expit(np.clip(self._log_odds(probabilities), -_SURE, _SURE)))

    def _log_odds(self, probabilities: Sequence[Floats]) -> Floats:
        total = np.full(probabilities[0].shape, self.shift)
        own = np.zeros((1, 1 + len(probabilities))) if self.of_labels is None else self.of_labels
        total += own[:, 0]
        for coefficients, of_odds, p in zip(self.coefficients, own[:, 1:].T, probabilities, strict=True):
            if coefficients.any() or of_odds.any():
                log_p, minus_log_rest = _logs(p, self.least)
                of_p, of_rest = coefficients
                total += (of_p + of_odds) * log_p + (of_rest + of_odds) * minus_log_rest
        return total


def cell_weight(cost: Cost, n_labels: int, row_weight: Floats | None = None) -> Floats | None:
    """Return how often each label of a row counts; the labels of a row count the same without prices of rows.

    Parameters
    ----------
    cost : Cost
        In which these rows may have prices of their own.
    n_labels : int
    row_weight : array of shape (n,), optional
        How often each row counts, whatever its prices.

    Returns
    -------
    weights : array of shape (n, n_labels)
        All labels count equally in total. Where rows have no prices of their own, it is `row_weight`.

    Examples
    --------
    >>> from refpair import Cost
    >>> cell_weight(Cost.per_label(false_negative=[[4], [100], [4]]), 1)
    array([[0.42857143],
           [2.14285714],
           [0.42857143]])
    """
    if not isinstance(cost, PerLabelCost) or cost.n_rows is None:
        return row_weight
    weight = np.sqrt(np.maximum(*cost.prices(n_labels)))
    mean = np.average(weight, axis=0, weights=row_weight)
    weight = np.where(mean > 0, weight, 1.0) / np.where(mean > 0, mean, 1.0)  # a label may cost nothing
    return weight if row_weight is None else weight * row_weight[:, None]


def _of_cells(weight: Floats | None, truths: Bytes) -> Floats:
    """Return how often each cell counts, by weights of rows or of cells."""
    if weight is None:
        weight = np.ones((1, 1))
    return np.broadcast_to(weight if weight.ndim == 2 else weight[:, None], truths.shape)


def _ridge(x: Floats, shared: Floats, truths: Bytes, weight: Floats) -> Floats:
    """Return by Newton's method what x, of shape (n, n_labels, m), adds to the log odds of each label."""
    n_numbers = x.shape[2]
    pull = np.full(n_numbers, _SLOPE_PULL)
    pull[0] = _SHIFT_PULL
    at = np.zeros((truths.shape[1], n_numbers))
    weighted = x * weight[:, :, None]
    for _ in range(_NEWTON_STEPS):
        p = expit(shared + np.einsum("nkm,km->nk", x, at))
        slope = np.einsum("nkm,nk->km", weighted, p - truths) + pull * at
        curvature = np.einsum("nkl,nkm->klm", weighted * (p * (1.0 - p))[:, :, None], x) + np.diag(pull)
        step = np.clip(np.linalg.solve(curvature, slope[:, :, None])[:, :, 0], -_LONGEST, _LONGEST)
        at -= step
        if np.abs(step).max() < _NEAR:
            break
    return at


def _logs(p: Floats, least: float) -> tuple[Floats, Floats]:
    """Return log p and −log (1 − p), of probabilities kept from `least` to 1 − least."""
    kept = np.clip(p, least, 1.0 - least)
    return np.asarray(np.log(kept)), np.asarray(-np.log1p(-kept))


def log_loss(p: Floats, truths: Bytes) -> Floats:
    """Return minus the log likelihood of each sample's known labels, as if they were independent."""
    p = np.clip(p, 1e-6, 1.0 - 1e-6)
    likelihood = np.where(truths, np.log(p), np.log1p(-p))
    likelihood[truths == UNKNOWN] = 0.0
    return np.asarray(-likelihood.sum(axis=1))
