"""Lessons, one after the other, and what each round brought."""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from refpair.active._ids import Rows, digest
from refpair.active._lesson import Learner, Lesson
from refpair.active.ledger import Ledger
from refpair.active.stopping import Round
from refpair.active.store import StoredRound

__all__ = ["Course"]


class Course:
    """Learns from the answers in a ledger, and notes in it what each round brought.

    Parameters
    ----------
    ledger : Ledger
    rows : Rows
    learner : Learner or None
        None if the rows are not known: then there are only the rounds of before.

    Attributes
    ----------
    lesson : Lesson or None
        The last one.
    """

    def __init__(self, ledger: Ledger, rows: Rows, learner: Learner | None) -> None:
        self.lesson: Lesson | None = None
        self._ledger = ledger
        self._rows = rows
        self._learner = learner
        self._learning = threading.Lock()  # one lesson at a time
        self._learnt_from = (-1, -1)
        sample = [] if learner is None else [rows.keys[place] for place in learner.sample]
        self._n_sample = len(sample)
        self._sample = digest(sample)

    @property
    def learner(self) -> Learner:
        """What learns; if there is none, an error says what is missing."""
        if self._learner is None:
            raise ValueError(f"the rows are not known: Session.open({str(self._ledger.store.path)!r}, X=…)")
        return self._learner

    def learn(self) -> bool:
        """Learn from the answers so far, and return whether there were new ones."""
        learner = self.learner
        with self._learning:
            self._ledger.read()
            if self._ledger.state == self._learnt_from:
                return False
            Y, candidates, state = self._ledger.matrix(self._rows.places)
            lesson = learner.learn(Y, candidates)
            if lesson.model is not None:
                self._note_round(lesson, event=state[0])
            self.lesson, self._learnt_from = lesson, state
        return True

    def rounds(self) -> list[Round]:
        """Return what was known after each round; predictions are of the rows and labels of now, or None."""
        n_labels = len(self._ledger.labels)
        sample = self._sample_name(n_labels)
        return [
            Round(
                one.n_labelled,
                self._unpack(one.predictions, n_labels) if one.sample == sample and one.predictions else None,
                one.expected_cost,
            )
            for one in self._ledger.store.rounds()
        ]

    def _note_round(self, lesson: Lesson, event: int) -> None:
        packed = None if lesson.predictions is None else np.packbits(lesson.predictions).tobytes()
        sample = self._sample_name(lesson.n_labels)
        self._ledger.store.add_round(
            StoredRound(event, lesson.n_labelled, lesson.expected_cost, sample, packed)
        )

    def _sample_name(self, n_labels: int) -> str:
        """Return which rows and labels the predictions of rounds are of."""
        return f"{self._n_sample} rows, {n_labels} labels, {self._sample}"

    def _unpack(self, packed: bytes, n_labels: int) -> npt.NDArray[np.uint8]:
        shape = self._n_sample, n_labels
        bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=shape[0] * shape[1])
        return bits.reshape(shape)
