"""What was said in a session: the file, and what follows from it, kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from refpair.active.answers import Answers
from refpair.active.store import AnswerStore, Event, Label, Said

__all__ = ["Ledger"]


class Ledger:
    """Answers in a file that other threads and processes may write to, too.

    Parameters
    ----------
    store : AnswerStore

    Attributes
    ----------
    labels : list of Label
    answers : Answers
    """

    def __init__(self, store: AnswerStore) -> None:
        self.store = store
        self.answers = Answers()
        self.labels: list[Label] = []
        self._lock = threading.RLock()
        self.read()

    @property
    def names(self) -> list[str]:
        """The names of the labels."""
        return [label.name for label in self.labels]

    @property
    def state(self) -> tuple[int, int]:
        """What changes whenever anything is said: the last event, and the number of labels."""
        return self.answers.last_event, len(self.labels)

    def read(self) -> None:
        """Take note of what was said since, by whomever."""
        with self._lock:
            self.answers.read(self.store.events(self.answers.last_event))
            self.labels = self.store.labels()  # not before: answers may tell of new ones

    def matrix(
        self, rows: dict[str, int]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], tuple[int, int]]:
        """Return Y for strategies, the rows that may be asked for, and the state that this is of.

        Parameters
        ----------
        rows : dict of str to int
            Which row of Y each row is.
        """
        with self._lock:
            self.read()
            Y = self.answers.matrix(rows, self.labels)
            is_open = [self.answers.is_open(key, self.labels) for key in rows]
            return Y, np.flatnonzero(is_open), self.state

    def is_open(self, row: str) -> bool:
        """Whether a row may be asked for."""
        with self._lock:
            return self.answers.is_open(row, self.labels)

    def history(self) -> list[Event]:
        """Return all that was said, in order."""
        with self._lock:
            events = self.store.events(after=0)
            self.read()
            return events

    def settled(self) -> list[Event]:
        """Return the last words on all rows that have one."""
        with self._lock:
            self.read()
            return self.answers.settled()

    def say(
        self,
        kind: Said,
        rows: Sequence[str],
        labels: Sequence[Sequence[int]],
        *,
        n_labels: int,
        who: str,
        said_in: str | None,
        holder: str,
        at: str | None = None,
    ) -> None:
        """Store answers or skips, but for those that repeat the last word of a person on a row to the letter.

        A page says it again if it does not know whether the first time arrived.

        Parameters
        ----------
        kind : {"labels", "skip"}
        rows : sequence of str
        labels : sequence of sequence of int
            The places of the labels that each row has.
        n_labels : int
            How many there were to choose from.
        who : str
        said_in : str or None
            If given, only what was said in this session object or page counts as said before.
        holder : str
        at : str, optional
        """
        with self._lock:
            self.read()
            last = {row: self.answers.of(row) for row in rows}
            before = {
                row: (word.kind, word.labels, word.n_labels)
                for row, word in last.items()
                if word is not None and word.who == who and said_in in (None, word.holder)
            }
            new = []
            for row, places in zip(rows, labels, strict=True):
                word = (kind, tuple(places), n_labels)
                if before.get(row) != word:
                    new.append((row, places))
                    before[row] = word
            if new:
                self.store.add_many(kind, new, who=who, holder=holder, at=at, n_labels=n_labels)
                self.read()

    def undo(self, *, who: str, said_in: str | None, holder: str, lease: float) -> Event | None:
        """Take back what a person said last, lease the row to the holder, and return what was taken back."""
        with self._lock:
            event = self.store.undo(who=who, said_in=said_in, holder=holder, lease=lease)
            self.read()
            return event

    def lease(
        self,
        n: int,
        rows: set[str] | dict[str, int],
        order: Iterable[str],
        *,
        holder: str,
        seconds: float,
        model: str,
    ) -> list[str]:
        """Lease rows to a holder: those that it has already, then the first ones in order that are free.

        Parameters
        ----------
        n : int
            How many.
        rows : set or dict of str
            All rows that there are.
        order : iterable of str
            Rows that may be asked for, the best one first; those that were closed since are passed over.
        holder : str
        seconds : float
        model : str
        """

        def choose(others: set[str], own: list[str]) -> Iterator[str]:
            self.read()
            yield from (row for row in own if row in rows and self.is_open(row))
            held = others.union(own)
            yield from (row for row in order if row not in held and self.is_open(row))

        with self._lock:
            return self.store.lease(n, choose, holder=holder, seconds=seconds, model=model)

    def add_labels(self, labels: Sequence[Label]) -> None:
        """Add labels to those that there are."""
        with self._lock:
            self.store.add_labels(labels)
            self.read()
