"""Chooses the mixture of sources whose decisions are cheapest on samples that they were learnt without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refpair.costs import PerLabelCost
from refpair.decision.decide import decide
from refpair.posterior.calibrate import LEAST, LogOddsPool, log_loss
from refpair.posterior.distribution import Floats
from refpair.posterior.mixture import Mixture, Told, labels_of, likeliest_weights, new_share
from refpair.posterior.source import Training

_LEASTS = (LEAST, 1e-3)  # what probabilities are taken as at least
_CLEAR, _VERY_CLEAR = 1.0, 2.0  # standard errors that others must be better by than the first choice


@dataclass(frozen=True, eq=False)
class Choice:
    """The mixture that was chosen, all that were tried, and what its decisions cost out of bag."""

    mixture: Mixture
    search: dict[str, Floats]
    cost: float


SEARCH = ("least", "new_share", "cost", "log_loss")


def choose_mixture(training: Training, told: Sequence[Told], *, may_be_new: bool) -> Choice:
    """Choose what sources count by their answers on the training rows, which they were learnt without.

    The weights of vectors and the pool have the largest likelihood. What is left to choose by the cost is
    small: where probabilities next to 0 are cut off, and whether all labels are independent, if vectors
    `may_be_new`. The first choice stays unless another one is clearly cheaper.
    """
    vectors, truths, cost = training.vectors, training.truths, training.cost
    weights = likeliest_weights([one for one, tells_vectors in told if tells_vectors], training)
    labels = [labels_of(one, vectors) for one in told]
    leasts = _LEASTS[::-1] if isinstance(cost, PerLabelCost) else _LEASTS  # prices may ask for what is seldom
    pools = [LogOddsPool.fit(labels, truths, least) for least in leasts]
    shares = dict.fromkeys((new_share(training), 1.0) if may_be_new else (0.0,))
    tried = []
    for mixture in (Mixture(weights, pool, share) for share in shares for pool in pools):
        p = mixture.mix(told, vectors)
        costs = cost.rows(truths, decide(p, cost, n_jobs=training.n_jobs))
        tried.append((mixture, costs, float(log_loss(p.marginals(), truths).mean())))
    first, best = tried[0], tried[0]
    for one in tried[1:]:
        n_errors = _CLEAR if one[0].new_share == first[0].new_share else _VERY_CLEAR
        if one[1].mean() < best[1].mean() and _is_clear(first[1] - one[1], n_errors):
            best = one
    rows = [(one.pool.least, one.new_share, float(costs.mean()), loss) for one, costs, loss in tried]
    search = {name: np.array(column) for name, column in zip(SEARCH, zip(*rows, strict=True), strict=True)}
    return Choice(best[0], search, float(best[1].mean()))


def _is_clear(gains: Floats, n_errors: float) -> bool:
    """Whether costs are lower by more than so many standard errors."""
    n, largest = len(gains), np.abs(gains).max(initial=0.0)
    if n < 2 or largest == 0:
        return False
    gains = gains / largest  # squares of tiny costs are 0
    return bool(gains.mean() > n_errors * gains.std(ddof=1) / n**0.5)
