"""What people said in a session, and what rows' labels are as it follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Answers", "Earlier", "Event", "Label", "Said", "read_time"]

Said = Literal["labels", "skip"]
Earlier = Literal["absent", "unknown"]


class Event(NamedTuple):
    """Something that a person has said.

    Attributes
    ----------
    number : int
        Events are numbered as they come.
    row : str
        The id of the row, as JSON.
    kind : {"labels", "skip", "undo"}
    labels : tuple of int
        The places of the labels that the row has; empty for other kinds.
    n_labels : int
        How many labels there were to choose from.
    undone : int or None
        The event that an undo takes back.
    who, holder : str
        The person, and the session object or page that it was said in.
    at : str
        When, in ISO 8601, UTC.
    model : str
        Which model asked; empty if none did.
    """

    number: int
    row: str
    kind: Literal["labels", "skip", "undo"]
    labels: tuple[int, ...]
    n_labels: int
    undone: int | None
    who: str
    holder: str
    at: str
    model: str


class Label(NamedTuple):
    """A label, and how answers are read that were given before there was such a label."""

    name: str
    earlier: Earlier


class Answers:
    """The last word on each row.

    A later answer corrects an earlier one; when it is taken back, the earlier one holds again.

    Examples
    --------
    >>> said = {"who": "me", "holder": "a", "at": "2026-01-01", "model": ""}
    >>> answers = Answers()
    >>> answers.read([
    ...     Event(1, '"Hey"', "labels", (1,), 2, None, **said),
    ...     Event(2, '"Oh"', "skip", (), 2, None, **said),
    ...     Event(3, '"Oh"', "undo", (), 0, 2, **said),
    ... ])
    >>> answers.of('"Hey"').labels, answers.of('"Oh"')
    ((1,), None)
    """

    def __init__(self) -> None:
        self.last_event = 0
        self._words: dict[str, list[Event]] = {}  # what was said of a row and not taken back, in order

    def read(self, events: Iterable[Event]) -> None:
        """Take note of further events."""
        for event in events:
            words = self._words.setdefault(event.row, [])
            if event.kind == "undo":
                words[:] = [word for word in words if word.number != event.undone]
            else:
                words.append(event)
            self.last_event = event.number

    def of(self, row: str) -> Event | None:
        """Return the last word on a row: an answer, a skip, or None."""
        words = self._words.get(row)
        return words[-1] if words else None

    def is_open(self, row: str, labels: Sequence[Label]) -> bool:
        """Whether a row may be asked for: it was neither answered in full nor skipped."""
        word = self.of(row)
        return word is None or (word.kind == "labels" and not _is_complete(word, labels))

    def settled(self) -> list[Event]:
        """Return the last words on all rows that have one."""
        return [words[-1] for words in self._words.values() if words]

    def matrix(self, rows: dict[str, int], labels: Sequence[Label]) -> npt.NDArray[np.float64]:
        """Return Y for strategies: 0 and 1 where rows were answered in full, NaN elsewhere.

        Parameters
        ----------
        rows : dict of str to int
            Which row of Y a row is; others are left out.
        labels : sequence of Label
        """
        Y = np.full((len(rows), len(labels)), np.nan)
        for word in self.settled():
            place = rows.get(word.row)
            if place is not None and word.kind == "labels" and _is_complete(word, labels):
                Y[place] = 0.0
                Y[place, list(word.labels)] = 1.0
        return Y


def _is_complete(answer: Event, labels: Sequence[Label]) -> bool:
    return all(label.earlier == "absent" for label in labels[answer.n_labels :])


def read_time(at: str | None) -> str | None:
    """Return a time in ISO 8601 as it is stored: in UTC, which it is taken to be in if it does not say.

    Examples
    --------
    >>> read_time("2026-03-01T10:00:00+02:00")
    '2026-03-01T08:00:00.000+00:00'
    """
    if at is None:
        return None
    try:
        time = datetime.fromisoformat(at)
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(f'at must be a time such as "2026-03-01T10:00:00+00:00", not {at!r}') from None
    return time.isoformat(timespec="milliseconds")
