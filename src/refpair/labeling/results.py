"""What comes of a session: a model, the order of rows, reasons to stop, and tables."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from refpair.active.stopping import Round, StoppingRule, reason_to_stop
from refpair.labeling.events import Said
from refpair.labeling.frames import (
    answers_table,
    column_sentences,
    history_table,
    predict_rows,
    rows_table,
)
from refpair.labeling.ids import Id, digest, id_of_key
from refpair.labeling.model import SessionModel
from refpair.labeling.notebook import session_html
from refpair.labeling.opening import Opened
from refpair.labeling.reason import Reason, explain
from refpair.labeling.store import StoredRound
from refpair.persistence import save
from refpair.tables.write import check_table_path, write_table

__all__ = ["SessionResults"]


class SessionResults:
    """What :class:`refpair.labeling.Session` learns, shows and exports.

    Parameters
    ----------
    opened : Opened
    rules : sequence of stopping rules
    """

    def __init__(self, opened: Opened, rules: Sequence[StoppingRule]) -> None:
        self.path = opened.store.path
        self.cost = opened.cost
        self.rows = opened.rows
        self.ids = opened.rows.ids
        self.n_taken_over = opened.n_taken_over
        self._store = opened.store
        self._form = opened.form
        self._model = opened.model
        self.rules = list(rules)
        self._learning = threading.Lock()  # one fit at a time
        self._learnt_from = (-1, -1)
        sample = [] if self._model is None else [self.rows.keys[place] for place in self._model.sample]
        self._n_sample, self._sample = len(sample), digest(sample)

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return self._store.names

    @property
    def n_answered(self) -> int:
        """How many of the rows were answered."""
        return self._count("labels")

    @property
    def n_skipped(self) -> int:
        """How many of the rows were skipped."""
        return self._count("skip")

    @property
    def columns(self) -> pd.DataFrame | None:
        """What became of each column of X: its kind, why, gaps and features; None if X has no names."""
        return None if self._model is None else self._model.columns

    def used(self) -> list[str]:
        """Return what the model looks at, as sentences."""
        return [] if self.columns is None else column_sentences(self.columns)

    def learn(self) -> bool:
        """Learn from the answers so far, if there are new ones, and rank the rows to ask for.

        `ask` does it by itself; a program that asks with ``wait=False`` calls it in a thread of its own.

        Returns
        -------
        bool
            Whether there was anything new.
        """
        model = self._known_model()
        with self._learning:
            self._store.read()
            if self._store.state == self._learnt_from:
                return False
            Y, candidates, state = self._store.matrix(self.rows.places)
            fit = model.fit(Y, candidates, self.labels[: Y.shape[1]], self._form)
            if fit.predictions is not None:
                sample, packed = self._sample_name(fit.n_labels), np.packbits(fit.predictions).tobytes()
                self._store.add_round(
                    StoredRound(state[0], fit.n_labelled, fit.expected_cost, sample, packed)
                )
            self._learnt_from = state
        return True

    @property
    def model(self) -> Pipeline | None:
        """What was learnt last: a scikit-learn pipeline that takes rows like those of X; None before that.

        It predicts labels in the form in which the table has them: 0 and 1 for each label, or joined names.
        """
        return None if self._model is None or self._model.last is None else self._model.last.pipeline

    def save_model(self, path: str | PathLike[str]) -> None:
        """Learn from all answers, and write the model to a file that :func:`refpair.load` reads."""
        self.learn()
        if self.model is None:
            raise ValueError(
                f"{self.path} has no model to save: answer at least two rows with different labels first"
            )
        save(self.model, path)

    def ranking(self) -> list[Id]:
        """Return all rows that may be asked for, the best one first, whoever has them at the moment."""
        self.learn()
        fit = self._known_model().last
        order = () if fit is None else fit.order.tolist()
        return [id_of_key(key) for key in self.rows.ranked(order) if self._store.is_open(key)]

    def why(self, row: Id) -> Reason:
        """Return why a row is asked for: what the model thinks of it, and how sure it is."""
        model = self._known_model()
        (key,) = self.rows.keys_of([row])
        if model.last is None:
            self.learn()
        return explain(model.last, model.features[[self.rows.places[key]]], self.labels)

    @property
    def rounds(self) -> list[Round]:
        """What was known after each round of learning, as stopping rules see it."""
        n_labels = len(self.labels)
        sample = self._sample_name(n_labels)
        rounds = []
        for one in self._store.rounds():
            predictions = None
            if one.sample == sample and one.predictions:
                bits = np.frombuffer(one.predictions, np.uint8)
                predictions = np.unpackbits(bits, count=self._n_sample * n_labels).reshape(-1, n_labels)
            rounds.append(Round(one.n_labelled, predictions, one.expected_cost))
        return rounds

    def should_stop(self) -> str | None:
        """Return why to stop, as a sentence, or None."""
        self._store.read()
        if self.rows.are_known and not any(map(self._store.is_open, self.rows.keys)):
            return "All rows are answered or skipped."
        return reason_to_stop(self.rules, self.rounds)

    @property
    def history(self) -> pd.DataFrame:
        """All that was said, in order: id, kind, labels, who, at, model; undone says what was taken back."""
        events = self._store.events()
        self._store.read()
        return history_table(events, self.labels)

    def answers(self) -> pd.DataFrame:
        """Return the labels of all rows that were answered: 0 and 1, by id; <NA> for labels not asked for."""
        return answers_table(self._store.settled(), self._store.labels)

    def predictions(self, *, verbose: int = 0) -> pd.DataFrame | None:
        """Return what the model predicts for all rows, by id, and what that is expected to cost.

        Columns are ``<label>_predicted``, ``<label>_probability`` and ``expected_cost``. None if there is no
        model yet.
        """
        self.learn()
        model = self._known_model()
        fit = model.last
        if fit is None or fit.classifier is None:
            return None
        return predict_rows(fit.classifier, model.features, self.ids, self.labels[: fit.n_labels], verbose)

    def table(self, *, verbose: int = 0) -> pd.DataFrame:
        """Return all rows: what was answered by whom and when, and what the model predicts.

        Columns are ``id``; a column for each label, with its answer, empty where there is none; ``skipped``,
        ``who`` and ``at``; and those of :meth:`predictions`, if there is a model.
        """
        words = self._store.settled()
        if not self.rows.are_known:
            return rows_table([id_of_key(word.row) for word in words], words, self._store.labels, None)
        predicted = self.predictions(verbose=verbose)
        return rows_table(self.ids, words, self._store.labels, predicted)

    def labelled(self) -> pd.DataFrame:
        """Return the cells of the rows that were answered in full, and their labels as the table has them."""
        return self.rows.with_labels(self.answers().dropna(), self._form)

    def export(self, path: str | PathLike[str]) -> None:
        """Write :meth:`labelled` to a .csv, .tsv, .jsonl or .parquet file, the whole of it or nothing."""
        check_table_path(Path(path))
        table = self.labelled()
        if table.empty:
            raise ValueError(
                f"{self.path} has no answers of rows of this table yet: there is nothing to export"
            )
        write_table(table, Path(path))

    def _repr_html_(self) -> str:
        return escape(repr(self)) if self._store.is_closed else session_html(self)

    def __repr__(self) -> str:
        if self._store.is_closed:
            return f"Session({self.path.name}: closed)"
        of_all = f" of {len(self.ids)}" if self.rows.are_known else ""
        return (
            f"Session({self.path.name}: {self.n_answered}{of_all} rows answered, "
            f"{self.n_skipped} skipped, {len(self.labels)} labels, cost {self.cost.name})"
        )

    def _known_model(self) -> SessionModel:
        if self._model is None:
            raise ValueError(f"the rows are not known: Session.open({str(self.path)!r}, X=…)")
        return self._model

    def _count(self, kind: Said) -> int:
        return sum(word.kind == kind and word.row in self.rows for word in self._store.settled())

    def _sample_name(self, n_labels: int) -> str:
        """Return which rows and labels the predictions of rounds are of."""
        return f"{self._n_sample} rows, {n_labels} labels, {self._sample}"
