"""Chooses the mixture of sources, by their predictions on samples that they were learned without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refpair.costs import PerLabelCost
from refpair.decision.decide import decide
from refpair.posterior.calibrate import LogOddsPool, log_loss
from refpair.posterior.distribution import Floats
from refpair.posterior.mixture import Mixture, Told, labels_of, likeliest_weights, new_share
from refpair.posterior.source import Training
from refpair.tables.labels import with_gaps

_LEAST = 3e-3  # what probabilities are taken as at least
_LEAST_PRICED = 1e-3  # under prices of labels: they may ask for what is seldom
_CLEAR = 2.0  # standard errors that independent labels must be better by


@dataclass(frozen=True, eq=False)
class Choice:
    """The mixture that was chosen, all that were tried, and what its decisions cost out of bag."""

    mixture: Mixture
    search: dict[str, Floats]
    cost: float


SEARCH = ("new_share", "cost", "log_loss")


def choose_mixture(training: Training, told: Sequence[Told], *, may_be_new: bool) -> Choice:
    """Choose the weights of sources, by their predictions on training rows that they were learned without.

    The weights of vectors and the pool have the largest likelihood. One choice is by the cost: if vectors
    `may_be_new`, all labels are taken as independent where that is cheaper by more than two standard errors.
    Each half of the rows measures a pool that was fitted to the other half.
    """
    vectors, truths, cost = training.vectors, training.truths, training.cost.for_rows(training.rows)
    scale = 1.0 if training.row_weight is None else training.row_weight
    weights = likeliest_weights([one for one, tells_vectors in told if tells_vectors], training)
    everything = np.arange(len(truths))
    halves = [part for part in (everything[::2], everything[1::2]) if len(part)]
    pools = [_fit_pool(told, training, rows) for rows in halves[::-1]]  # a single row judges itself
    shares = list(dict.fromkeys((new_share(training), 1.0) if may_be_new else (0.0,)))
    costs, losses = np.empty((2, len(shares), len(truths)))
    for place, share in enumerate(shares):
        for judged, pool in zip(halves, pools, strict=True):
            p = Mixture(weights, pool, share).mix(_of_rows(told, judged), vectors)
            own = cost.for_rows(judged)
            answers = decide(p, own, n_jobs=training.n_jobs)
            costs[place, judged] = own.rows(with_gaps(truths[judged]), answers)
            losses[place, judged] = log_loss(p.marginals(), truths[judged])
    costs, losses = costs * scale, losses * scale
    best = int(len(shares) > 1 and _is_clear(costs[0] - costs[1]))
    columns = (np.array(shares), costs.mean(axis=1), losses.mean(axis=1))
    search = dict(zip(SEARCH, columns, strict=True))
    mixture = Mixture(weights, _fit_pool(told, training, everything), shares[best])
    return Choice(mixture, search, float(costs[best].mean()))


def _of_rows(told: Sequence[Told], rows: npt.NDArray[np.intp]) -> list[Told]:
    return [(answer[rows], tells_vectors) for answer, tells_vectors in told]


def _fit_pool(told: Sequence[Told], training: Training, rows: npt.NDArray[np.intp]) -> LogOddsPool:
    labels = [labels_of(one, training.vectors) for one in _of_rows(told, rows)]
    truths = training.truths[rows]
    row_weight = None if training.row_weight is None else training.row_weight[rows]
    least = _LEAST_PRICED if isinstance(training.cost, PerLabelCost) else _LEAST
    pool = LogOddsPool.fit(labels, truths, least, row_weight)
    return pool.fit_labels(labels, truths, row_weight)


def _is_clear(gains: Floats) -> bool:
    """Whether costs are lower by more than two standard errors."""
    n, largest = len(gains), np.abs(gains).max(initial=0.0)
    if n < 2 or largest == 0:
        return False
    gains = gains / largest  # squares of tiny costs are 0
    return bool(gains.mean() > _CLEAR * gains.std(ddof=1) / n**0.5)
