"""Thresholds of labels for measures of a whole table, from what a model says of samples it did not learn.

Such a measure needs the probabilities of labels only. A macro measure is a mean over labels: each has its own
threshold, above which it is predicted. A micro measure needs one threshold for all labels, since their counts
are added up.

The best threshold is that of a table like those to come: the samples here, as many as the training set had.
Their truths are known, but a rare label is in three of them, and a threshold that is best for these three is
not best for others. So they are taken as unknown: labels are as probable as the model says. Where many
samples have a label, its counts are near their expectations, and the measure of expected counts is maximised.
Where few have it, the expectation of the measure is, over all counts that may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from refpair._kernels.counts import count_chances
from refpair._saved import Savable
from refpair.costs import Measure, PerLabelCost
from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.distribution import Bytes, Floats, Longs

_FEW = 16.0  # samples with a label: of more, expected counts are near enough
_ALL_CUTS, _NEXT_CUT = 64, 1.05  # of few samples: the first cuts are all tried, then each so many times the last
_LEAST_WORTH = 1e-6  # of a label, as a part of the most that one is worth


@dataclass(frozen=True, eq=False)
class HeldOut(Savable):
    """Samples that a model did not learn, as a table like those that it will be asked about.

    Parameters
    ----------
    probabilities : array of shape (n, n_labels)
        What the model says.
    chances : array of shape (n, n_labels)
        How probable the labels are. That is the same if the model is calibrated.
    copies : array of shape (n,)
        How many samples of a table each of them stands for.
    """

    probabilities: npt.NDArray[np.float32]
    chances: npt.NDArray[np.float32]
    copies: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        p, chances = self.probabilities, self.chances
        right = p.ndim == 2 and p.shape == chances.shape and self.copies.shape == p.shape[:1] and p.size > 0
        if not right or not all(((one >= 0) & (one <= 1)).all() for one in (p, chances)):
            raise ValueError("held-out samples need probabilities from 0 to 1, and a number of copies each")
        if not ((self.copies >= 0).all() and 0 < self.copies.sum() < np.inf):
            raise ValueError("held-out samples must stand for others, and not for fewer than none")

    @classmethod
    def of(cls, probabilities: Floats, n_rows: int, row_weight: Floats | None = None) -> Self:
        """Return the samples as a table of `n_rows`, by calibrated probabilities."""
        p = probabilities.astype(np.float32)
        return cls(p, p, _copies(len(p), n_rows, row_weight))

    @classmethod
    def calibrated(
        cls, probabilities: Floats, truths: Bytes, n_rows: int, row_weight: Floats | None = None
    ) -> Self:
        """Return the samples as a table of `n_rows`, by probabilities that are not calibrated."""
        pool = LogOddsPool.fit([probabilities], truths, row_weight=row_weight)
        chances = pool.fit_labels([probabilities], truths, row_weight)([probabilities])
        p = probabilities.astype(np.float32)
        return cls(p, chances.astype(np.float32), _copies(len(p), n_rows, row_weight))

    def _work(self, *, exact: bool) -> int:
        return 0  # no prediction looks at it

    def prices(self, measure: Measure) -> PerLabelCost:
        """Return the prices of mistakes whose decisions are best for a measure.

        A label is predicted above its threshold, false_positive / (false_positive + false_negative). What both
        prices add up to is what a right prediction of the label is worth to the measure.
        """
        together = measure.average == "micro"
        chances, p = self.chances.astype(np.float64), self.probabilities.astype(np.float64)
        copies = self.copies
        if together:
            copies = np.repeat(copies, p.shape[1])
            chances, p = chances.reshape(-1, 1), p.reshape(-1, 1)
        found = np.array([_best_cut(measure, *label, copies) for label in zip(p.T, chances.T, strict=True)])
        thresholds, worths = found.T
        worths = np.maximum(worths, _LEAST_WORTH * worths.max()) if worths.max() > 0 else np.ones_like(worths)
        if together:
            thresholds, worths = (np.repeat(one, self.chances.shape[1]) for one in (thresholds, worths))
        false_positive, false_negative = worths * thresholds, worths * (1.0 - thresholds)
        return PerLabelCost(measure.name, False, tuple(false_positive.tolist()), tuple(false_negative.tolist()))


def _copies(n: int, n_rows: int, row_weight: Floats | None) -> Floats:
    weight = np.ones(n) if row_weight is None else row_weight
    return np.asarray(weight * (n_rows / weight.sum()))


def _best_cut(measure: Measure, p: Floats, chances: Floats, copies: Floats) -> tuple[float, float]:
    """Return the threshold that is best for a label, and what the label is worth to the measure."""
    order = np.argsort(-p, kind="stable")
    p, chances, copies = p[order], chances[order], copies[order]
    n_before = np.concatenate([[0.0], np.cumsum(copies)])
    found = np.concatenate([[0.0], np.cumsum(chances * copies)])
    cuts = np.concatenate([[True], p[1:] < p[:-1], [True]]).nonzero()[0]
    is_few = measure.average == "macro" and found[-1] <= _FEW
    if is_few:
        cuts = cuts[_some(len(cuts))]
        values = _expected_values(measure, chances, copies, cuts, n_before)
    else:
        values = measure.of_each(*_counts_at(cuts, n_before, found))
    cut = int(cuts[(values if measure.greater_is_better else -values).argmax()])
    above, below = p[cut - 1] if cut > 0 else 1.0, p[cut] if cut < len(p) else 0.0
    threshold = 1.0 if cut == 0 else 0.0 if cut == len(p) else (above + below) / 2.0
    counts = _counts_at(np.array([cut]), n_before, found)
    return threshold, _worth(measure, *(float(one[0]) for one in counts))


def _counts_at(cuts: Longs, n_before: Floats, found: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the expected tp, fp, fn and tn if the samples before each cut are predicted to have the label."""
    tp, n_said = found[cuts], n_before[cuts]
    fp, fn = np.maximum(n_said - tp, 0.0), found[-1] - tp
    return tp, fp, fn, np.maximum(n_before[-1] - n_said - fn, 0.0)


def _some(n: int) -> Longs:
    """Return the numbers of cuts that are tried, of n: all of the first ones, and the last one."""
    chosen = list(range(min(n, _ALL_CUTS)))
    while chosen[-1] < n - 1:
        chosen.append(min(n - 1, max(chosen[-1] + 1, int(chosen[-1] * _NEXT_CUT))))
    return np.array(chosen, np.int64)


def _expected_values(
    measure: Measure, chances: Floats, copies: Floats, cuts: Longs, n_before: Floats
) -> Floats:
    """Return what a measure of a rare label is expected to be at each cut: tp and fn are independent."""
    mean = float((chances * copies).sum())
    largest = int(mean + 6.0 * mean**0.5 + 8.0)  # more samples have the label as good as never
    hits, misses = np.zeros((2, len(cuts), largest + 1))
    count_chances(chances, copies, cuts, hits)
    backwards = np.ascontiguousarray(len(chances) - cuts[::-1])
    count_chances(np.ascontiguousarray(chances[::-1]), np.ascontiguousarray(copies[::-1]), backwards, misses)
    counts = np.arange(largest + 1.0)
    n_said = n_before[cuts][:, None, None]
    tp, fn, n_said = np.broadcast_arrays(counts[None, :, None], counts[None, None, :], n_said)
    # Where there are more of a count than samples, its probability is 0.
    fp, tn = np.maximum(n_said - tp, 0.0), np.maximum(n_before[-1] - n_said - fn, 0.0)
    values = measure.of_each(tp, fp, fn, tn)
    return np.einsum("ca,cb,cab->c", hits, misses[::-1], values)


def _worth(measure: Measure, tp: float, fp: float, fn: float, tn: float) -> float:
    """Return by how much a right prediction is better than a wrong one, at these counts."""

    def value(*counts: float) -> float:
        found = measure.of_each(*(np.array([one]) for one in counts))[0]
        return float(found if measure.greater_is_better else -found)

    now, more, less = value(tp, fp, fn, tn), min(1.0, fn), min(1.0, tn)
    gain = (value(tp + more, fp, fn - more, tn) - now) / more if more > 0 else 0.0
    loss = (now - value(tp, fp + less, fn, tn - less)) / less if less > 0 else 0.0
    return max(gain + loss, 0.0)
