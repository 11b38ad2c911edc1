"""Chooses the mixture of sources, by their predictions on samples that they were learned without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost, Measure, PerLabelCost, RankedCost
from refpair.decision.decide import decide
from refpair.decision.ranked import top_labels
from refpair.decision.thresholds import HeldOut
from refpair.posterior.calibrate import LogOddsPool, cell_weight, log_loss
from refpair.posterior.distribution import Distribution, Floats
from refpair.posterior.mixture import Mixture, Told, labels_of, likeliest_weights, new_share
from refpair.posterior.source import Training
from refpair.tables.labels import with_gaps

_LEAST = 3e-3  # what probabilities are taken as at least
_LEAST_PRICED = 1e-3  # under prices of labels: they may ask for what is seldom
_CLEAR = 2.0  # standard errors that independent labels must be better by
_LIKELY = 1.0  # and that label vectors must be, for lists


@dataclass(frozen=True, eq=False)
class Choice:
    """The mixture that was chosen, all that were tried, and what it says and costs out of bag."""

    mixture: Mixture
    search: dict[str, Floats]
    cost: float
    held_out: HeldOut


SEARCH = ("new_share", "cost", "log_loss")


def choose_mixture(training: Training, told: Sequence[Told], *, may_be_new: bool) -> Choice:
    """Choose the weights of sources, by their predictions on training rows that they were learned without.

    The weights of vectors and the pool have the largest likelihood. One choice is by the cost: if vectors
    `may_be_new`, all labels are taken as independent where that is cheaper by more than two standard errors.
    For lists, they are independent unless vectors are cheaper by more than one: independent labels are listed
    by their probabilities, which is seldom far from best, and vectors say of rare labels what few rows say.
    For a measure of a whole table there is nothing to choose: the probabilities of labels are all it needs.
    Each half of the rows measures a pool, and thresholds, that were fitted to the other half.
    """
    vectors, truths, cost = training.vectors, training.truths, training.cost.for_rows(training.rows)
    row_weight = training.row_weight
    weights = likeliest_weights([one for one, tells_vectors in told if tells_vectors], training)
    everything = np.arange(len(truths))
    halves = [part for part in (everything[::2], everything[1::2]) if len(part)]
    parts = [_Part(told, training, rows) for rows in halves[::-1]]  # a single row judges itself
    shares = _shares(training) if may_be_new else [0.0]
    costs, losses = np.empty((2, len(shares), len(truths)))
    for place, share in enumerate(shares):
        answers = np.empty(truths.shape, np.int64)
        for judged, part in zip(halves, parts, strict=True):
            p = Mixture(weights, part.pool, share).mix(_of_rows(told, judged), vectors)
            answers[judged] = part.answers(p, cost.for_rows(judged), training)
            losses[place, judged] = log_loss(p.marginals(), truths[judged])
        if isinstance(cost, Measure):
            value = cost.mean(with_gaps(truths), answers, row_weight)
            costs[place] = 1.0 - value if cost.greater_is_better else value
        else:
            costs[place] = cost.rows(with_gaps(truths), answers)
    scale = 1.0 if row_weight is None else row_weight
    costs, losses = costs * scale, losses * scale
    errors = _LIKELY if isinstance(cost, RankedCost) else _CLEAR
    best = int(len(shares) > 1 and _is_lower(costs[0] - costs[1], errors))
    columns = (np.array(shares), costs.mean(axis=1), losses.mean(axis=1))
    search = dict(zip(SEARCH, columns, strict=True))
    whole = _Part(told, training, everything)
    mixture = Mixture(weights, whole.pool, shares[best])
    return Choice(mixture, search, float(costs[best].mean()), whole.held_out)


class _Part:
    """Some of the rows: the pool that was fitted to them, and the table that they are."""

    def __init__(self, told: Sequence[Told], training: Training, rows: npt.NDArray[np.intp]) -> None:
        labels = [labels_of(one, training.vectors) for one in _of_rows(told, rows)]
        row_weight = None if training.row_weight is None else training.row_weight[rows]
        least = _LEAST_PRICED if isinstance(training.cost, PerLabelCost) else _LEAST
        cost = training.cost.for_rows(training.rows[rows])
        weight = cell_weight(cost, training.n_labels, row_weight)
        pool = LogOddsPool.fit(labels, training.truths[rows], least, weight)
        self.pool = pool.fit_labels(labels, training.truths[rows], weight)
        self.held_out = HeldOut.of(self.pool(labels), training.X.shape[0], row_weight)

    def answers(self, p: Distribution, cost: Cost, training: Training) -> npt.NDArray[np.integer]:
        """Return the decisions on other rows; for lists all labels in order, since some may be unknown."""
        if isinstance(cost, RankedCost):
            return top_labels(p, cost, training.n_labels)
        return decide(
            p, self.held_out.prices(cost) if isinstance(cost, Measure) else cost, n_jobs=training.n_jobs
        )


def _shares(training: Training) -> list[float]:
    """Return the shares of new label vectors to try, first the one that is taken in doubt."""
    share = new_share(training)
    if isinstance(training.cost, Measure):
        return [share]
    if isinstance(training.cost, RankedCost):
        return [1.0, share if share < 1.0 else 0.0]
    return list(dict.fromkeys((share, 1.0)))


def _of_rows(told: Sequence[Told], rows: npt.NDArray[np.intp]) -> list[Told]:
    return [(answer[rows], tells_vectors) for answer, tells_vectors in told]


def _is_lower(gains: Floats, errors: float) -> bool:
    """Whether costs are lower by more than some standard errors."""
    n, largest = len(gains), np.abs(gains).max(initial=0.0)
    if n < 2 or largest == 0:
        return False
    gains = gains / largest  # squares of tiny costs are 0
    return bool(gains.mean() > errors * gains.std(ddof=1) / n**0.5)
