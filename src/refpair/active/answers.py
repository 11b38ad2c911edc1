"""What rows' labels are, as it follows from all that was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from refpair.active.store import Event, Label

__all__ = ["Answers"]


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
