"""Learns several sources in turns, each for as long as it makes their common answer better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from refpair.posterior.calibrate import LogOddsPool, log_loss
from refpair.posterior.distribution import Bytes, Floats
from refpair.posterior.mixture import Told, labels_of
from refpair.posterior.source import Source, Training

_CELLS, _FEWEST_ROWS = 100_000, 200  # labels of training rows that are looked at
_STEP = 0.002  # of the log loss: what the next step is taken for. It brings half of what the last one did
_WORTH = 0.001  # of it: what a source stays for
_ERRORS = 1.0  # standard errors that a step must be worth besides


class Learner:
    """A source that is being learned, and what it says so far."""

    def __init__(self, source: Source, training: Training, rng: np.random.Generator) -> None:
        self.source = source
        self._steps: Iterator[Floats] = source.learn(training, rng)
        self._vectors = training.vectors
        self.take_step()

    def take_step(self) -> bool:
        """Learn more, if there is more; return whether there was."""
        answer = next(self._steps, None)
        if answer is None:
            return False
        self.told: Told = answer, self.source.tells_vectors
        self.labels = labels_of(self.told, self._vectors)
        return True


def learn_sources(
    sources: Sequence[Source], training: Training, rng: np.random.Generator, *, may_drop: bool
) -> list[Learner]:
    """Learn sources until none gets clearly better, and return those that are of use.

    All take a first step. One without which their pooled labels would be as good takes no other. The rest
    take turns, for as long as the next step is worth it. In the end those that bring nothing are left out, if
    they may be: never the first.
    """
    learners = [
        Learner(source, training, child)
        for source, child in zip(sources, rng.spawn(len(sources)), strict=True)
    ]
    n_rows = max(_CELLS // training.n_labels, _FEWEST_ROWS)
    truths = training.truths[:n_rows]
    row_weight = None if training.row_weight is None else training.row_weight[:n_rows]
    loss = _loss(learners, truths, row_weight)
    going_on = [
        one
        for one in learners
        if len(learners) == 1 or _is_clear(_loss_without(one, learners, truths, row_weight), loss, _STEP)
    ]
    while going_on:
        for one in list(going_on):
            if one.take_step():
                before, loss = loss, _loss(learners, truths, row_weight)
                if _is_clear(before, loss, 2 * _STEP):
                    continue
            going_on.remove(one)
    for one in reversed(learners[1:] if may_drop else []):
        without = _loss_without(one, learners, truths, row_weight)
        if without.mean() - loss.mean() < _WORTH * loss.mean():
            learners.remove(one)
            loss = without
    return learners


def _loss(learners: Sequence[Learner], truths: Bytes, row_weight: Floats | None) -> Floats:
    """Return the log loss of each row by the pooled labels, as often as the row counts."""
    labels = [one.labels[: len(truths)] for one in learners]
    loss = log_loss(LogOddsPool.fit(labels, truths, row_weight=row_weight)(labels), truths)
    return loss if row_weight is None else loss * row_weight


def _loss_without(
    left_out: Learner, learners: Sequence[Learner], truths: Bytes, row_weight: Floats | None
) -> Floats:
    return _loss([one for one in learners if one is not left_out], truths, row_weight)


def _is_clear(before: Floats, after: Floats, part: float) -> bool:
    """Whether the mean falls by more than its error, and by more than a part."""
    gain = before - after
    return bool(gain.mean() > max(part * before.mean(), _ERRORS * gain.std() / len(gain) ** 0.5))
