"""Thresholds of labels for measures of a whole table, from what a model says of samples it did not learn.

Such a measure needs the probabilities of labels only. A macro measure is a mean over labels: each has its own
threshold, above which it is predicted. A micro measure has one threshold for all labels, since their counts
are added up.

The threshold is the best one for the samples here. Their truths are known, but a rare label is in three of
them, and what is best for these three is not best for others. So labels are taken to be there as often as the
model says: the measure of expected counts is maximised, by one sweep over the sorted probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable
from refpair.costs import Measure, PerLabelCost
from refpair.posterior.calibrate import LogOddsPool
from refpair.posterior.distribution import Bytes, Floats

_STEP = 1e-3  # of a count, to tell by how much a measure changes
_LEAST_WORTH = 1e-6  # of a label, as a part of the most that one is worth
_FEWEST, _MOST_CELLS = 200, 1 << 22  # samples that are kept, and probabilities
_NOISE = 1e-12  # relative: what differs by less is the same but for rounding
_MARGIN = 1e-3  # of the gap between two probabilities, that a threshold stays away from both


@dataclass(frozen=True, eq=False)
class HeldOut(Savable):
    """Samples that a model did not learn, as a table like those that it will be asked about.

    Parameters
    ----------
    probabilities : array of shape (n, n_labels)
        What the model says.
    weight : array of shape (n,)
        How many samples of the table each of them stands for.
    calibrated : array of shape (n, n_labels) or None
        How often labels are there, if that is not what the model says.
    """

    probabilities: npt.NDArray[np.float16]
    weight: npt.NDArray[np.float64]
    calibrated: npt.NDArray[np.float16] | None = None

    def __post_init__(self) -> None:
        p = self.probabilities
        chances = p if self.calibrated is None else self.calibrated
        right = p.ndim == 2 and p.size > 0 and p.shape == chances.shape and self.weight.shape == p.shape[:1]
        if not right or not all(((one >= 0) & (one <= 1)).all() for one in (p, chances)):
            raise ValueError("samples that were held out need probabilities from 0 to 1, and a weight each")
        if not ((self.weight >= 0).all() and 0 < self.weight.sum() < np.inf):
            raise ValueError("samples that were held out must have weights that are finite, and not all 0")

    @classmethod
    def of(
        cls, probabilities: Floats, n_rows: int, row_weight: Floats | None, truths: Bytes | None = None
    ) -> Self:
        """Return samples as a table of `n_rows`; with truths, probabilities need not be calibrated.

        They are kept in 16 bits, which moves thresholds by less than 0.1 %. Of many labels only the first
        samples are kept, which have no order: most of a model file would be theirs.
        """
        calibrated = None
        if truths is not None:
            pool = LogOddsPool.fit([probabilities], truths, row_weight=row_weight)
            pool = pool.fit_labels([probabilities], truths, row_weight)
            calibrated = pool([probabilities]).astype(np.float16)
        some = slice(max(_FEWEST, _MOST_CELLS // probabilities.shape[1]))
        weight = (np.ones(len(probabilities)) if row_weight is None else row_weight)[some]
        kept = probabilities[some].astype(np.float16)
        return cls(kept, weight * (n_rows / weight.sum()), None if calibrated is None else calibrated[some])

    def _work(self, *, exact: bool) -> int:
        return 0  # no prediction looks at it

    def prices(self, measure: Measure) -> PerLabelCost:
        """Return prices of mistakes: decisions of lowest price are best for the measure.

        A label is predicted above its threshold, false_positive / (false_positive + false_negative). The sum
        of both is what the label is worth to the measure, which counts where labels depend on each other.
        """
        n_labels, weight = self.probabilities.shape[1], self.weight
        p = self.probabilities.astype(np.float64)
        chances = p if self.calibrated is None else self.calibrated.astype(np.float64)
        if measure.average == "micro":
            p, chances, weight = p.reshape(-1, 1), chances.reshape(-1, 1), np.repeat(weight, n_labels)
        found = [_prices(measure, *label, weight) for label in zip(p.T, chances.T, strict=True)]
        threshold, worth = np.array(found).T
        worth = np.maximum(worth, _LEAST_WORTH * worth.max()) if worth.max() > 0 else np.ones_like(worth)
        of_both = worth * threshold, worth * (1.0 - threshold)
        return PerLabelCost(
            measure.name, False, *(tuple(np.broadcast_to(one, n_labels).tolist()) for one in of_both)
        )


def _prices(measure: Measure, p: Floats, chances: Floats, weight: Floats) -> tuple[float, float]:
    """Return the threshold that is best for labels, and what a label more or less is worth there."""
    order = np.argsort(-p, kind="stable")
    p = p[order]
    said = np.concatenate([[0.0], np.cumsum(weight[order])])
    tp = np.concatenate([[0.0], np.cumsum((chances * weight)[order])])
    cuts = np.flatnonzero(np.concatenate([[True], p[1:] < p[:-1], [True]]))
    fp, fn = np.maximum(said - tp, 0.0), tp[-1] - tp
    counts = np.stack([tp, fp, fn, np.maximum(said[-1] - said - fn, 0.0)])[:, cuts]
    values = measure.sign * measure.of_each(*counts)
    # Of cuts that are as good, but for rounding, the one of fewest mistakes.
    as_good = values >= values.max() - _NOISE * np.abs(values.max())
    best = int(np.where(as_good, counts[1] + counts[2], np.inf).argmin())
    # What one more sample with the label adds if it is predicted, and one without it takes away.
    moves = _STEP * np.array([[0, 0, 0, 0], [1, 0, -1, 0], [0, 1, 0, -1]]).T
    at = np.maximum(counts[:, [best]], _STEP)
    now, right, wrong = measure.sign * measure.of_each(*(at + moves)) / _STEP
    gain, loss = max(right - now, 0.0), max(now - wrong, 0.0)
    above, below = p[cuts[best] - 1] if best > 0 else 1.0, p[cuts[best]] if cuts[best] < len(p) else 0.0
    # A sample at the threshold brings nothing: gain · threshold = loss · (1 − threshold).
    threshold = loss / (gain + loss) if gain > 0 and loss > 0 else (above + below) / 2.0
    # Strictly between the two, so that rounding moves neither to the other side.
    margin = _MARGIN * (above - below)
    return float(np.clip(threshold, below + margin, above - margin)), gain + loss
