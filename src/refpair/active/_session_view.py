"""What a session knows: to learn from it, to look at it and to export it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from refpair.active._course import Course
from refpair.active._ids import Id, Rows, id_of_key
from refpair.active._lesson import Learner
from refpair.active._session_html import session_html
from refpair.active._tables import (
    answers_table,
    check_table_name,
    history_table,
    predict_rows,
    rows_table,
    write_table,
)
from refpair.active.ledger import Ledger
from refpair.active.reason import Reason, explain
from refpair.active.stopping import Round, StoppingRule, reason_to_stop
from refpair.active.store import Said
from refpair.costs import Cost

__all__ = ["SessionView"]


class SessionView:
    """What :class:`refpair.active.Session` learns, shows and exports.

    Parameters
    ----------
    ledger : Ledger
    cost : Cost
    rows : Rows
    learner : Learner or None
        None if the rows are not known.
    rules : sequence of stopping rules
    """

    def __init__(
        self, ledger: Ledger, cost: Cost, rows: Rows, learner: Learner | None, rules: Sequence[StoppingRule]
    ) -> None:
        self.path = ledger.store.path
        self.cost = cost
        self.ids = rows.ids
        self._ledger = ledger
        self._rows = rows
        self._rules = rules
        self._course = Course(ledger, rows, learner)

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return self._ledger.names

    @property
    def n_answered(self) -> int:
        """How many of the rows were answered."""
        return self._count("labels")

    @property
    def n_skipped(self) -> int:
        """How many of the rows were skipped."""
        return self._count("skip")

    def learn(self) -> bool:
        """Learn from the answers so far, if there are new ones, and rank the rows to ask for.

        `ask` does it by itself; a program that asks with ``wait=False`` calls it in a thread of its own.

        Returns
        -------
        bool
            Whether there was anything new.
        """
        return self._course.learn()

    def ranking(self) -> list[Id]:
        """Return all rows that may be asked for, the best one first, whoever has them at the moment."""
        self.learn()
        lesson = self._course.lesson
        order = () if lesson is None else lesson.order.tolist()
        return [id_of_key(key) for key in self._rows.ranked(order) if self._ledger.is_open(key)]

    @property
    def model(self) -> Any:
        """The classifier that was learnt last, or None."""
        return None if self._course.lesson is None else self._course.lesson.model

    @property
    def rounds(self) -> list[Round]:
        """What was known after each round of learning, as stopping rules see it."""
        return self._course.rounds()

    def should_stop(self) -> str | None:
        """Return why to stop, as a sentence, or None."""
        self._ledger.read()
        if self._rows.are_known and not any(map(self._ledger.is_open, self._rows.keys)):
            return "All rows are answered or skipped."
        return reason_to_stop(self._rules, self.rounds)

    @property
    def history(self) -> pd.DataFrame:
        """All that was said, in order: id, kind, labels, who, at, model; undone says what was taken back."""
        return history_table(self._ledger.history(), self.labels)

    def answers(self) -> pd.DataFrame:
        """Return the labels of all rows that were answered: 0 and 1, by id; <NA> for labels not asked for."""
        return answers_table(self._ledger.settled(), self._ledger.labels)

    def predictions(self, *, verbose: int = 0) -> pd.DataFrame | None:
        """Return what the model predicts for all rows, by id, and what that is expected to cost.

        Columns are ``<label>_predicted``, ``<label>_probability`` and ``expected_cost``. None if there is no
        model yet.
        """
        self.learn()
        lesson = self._course.lesson
        if lesson is None or lesson.model is None:
            return None
        X, labels = self._course.learner.X, self.labels[: lesson.n_labels]
        return predict_rows(lesson.model, X, self.ids, labels, verbose)

    def table(self, *, verbose: int = 0) -> pd.DataFrame:
        """Return all rows: what was answered by whom and when, and what the model predicts.

        Columns are ``id``; a column for each label, with its answer, empty where there is none; ``skipped``,
        ``who`` and ``at``; and those of :meth:`predictions`, if there is a model.
        """
        words = self._ledger.settled()
        if not self._rows.are_known:
            return rows_table([id_of_key(word.row) for word in words], words, self._ledger.labels, None)
        predicted = self.predictions(verbose=verbose)
        return rows_table(self.ids, words, self._ledger.labels, predicted)

    def export(self, path: str | PathLike[str], *, verbose: int = 0) -> None:
        """Write :meth:`table` to a .csv or .parquet file, the whole of it or nothing.

        In Parquet, ids are text if some of them are, or if they have more than 64 bits.
        """
        check_table_name(Path(path))
        write_table(self.table(verbose=verbose), Path(path))

    def why(self, row: Id) -> Reason:
        """Return why a row is asked for: what the model thinks of it, and how sure it is."""
        learner = self._course.learner
        (key,) = self._rows.keys_of([row])
        if self._course.lesson is None:
            self.learn()
        return explain(self._course.lesson, learner.X[[self._rows.places[key]]], self.labels)

    def _repr_html_(self) -> str:
        return escape(repr(self)) if self._ledger.store.is_closed else session_html(self)

    def __repr__(self) -> str:
        if self._ledger.store.is_closed:
            return f"Session({self.path.name}: closed)"
        of_all = f" of {len(self.ids)}" if self._rows.are_known else ""
        return (
            f"Session({self.path.name}: {self.n_answered}{of_all} rows answered, "
            f"{self.n_skipped} skipped, {len(self.labels)} labels, cost {self.cost.name})"
        )

    def _count(self, kind: Said) -> int:
        return sum(word.kind == kind and word.row in self._rows for word in self._ledger.settled())
