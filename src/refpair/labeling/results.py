"""Results of a session: model, ranking, reasons to stop, tables, display in notebooks."""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from refpair._extras import pd
from refpair.active.stopping import Round, StablePredictions, StoppingRule, reason_to_stop
from refpair.costs import Cost
from refpair.decision.rules import Rule
from refpair.labeling.model import Fit, Reason, SessionModel, cost_of_some
from refpair.labeling.rows import Id, Rows, id_key, id_of_key
from refpair.labeling.store import ALL, AnswerStore, Event, StoredRound, as_matrix, places_of
from refpair.labeling.table import LabelColumns, label_place
from refpair.persistence import save
from refpair.tables.write import check_table_path, write_table

_WIDTH, _HEIGHT, _MARGIN = 320, 80, 6
_LAST = 5  # answers that a notebook shows
_IN_ORDER = "Rows come in the order of the table."


class Progress(NamedTuple):
    """How far a session is: numbers of rows.

    Attributes
    ----------
    n_answered : int
        Rows with labels that are known.
    n_partly : int
        Those among them whose other labels may be asked for.
    n_skipped : int
    n_with : int
        Rows that have one of the labels.
    n_to_review : int
        Answered rows that are asked for again, see :meth:`Session.review`.
    """

    n_answered: int
    n_partly: int
    n_skipped: int
    n_with: int
    n_to_review: int


class SessionResults:
    """What :class:`refpair.labeling.Session` learns, shows and exports."""

    def __init__(
        self,
        store: AnswerStore,
        cost: Cost,
        rows: Rows,
        label_columns: LabelColumns,
        model: SessionModel | None,
        rules: Sequence[StoppingRule],
        *,
        n_taken_over: int,
        lease: float,
        who: str,
    ) -> None:
        self.path = store.path
        self._cost = cost  # prices may be by label name: there may be more labels later
        self.rows = rows
        self.ids = rows.ids
        self.rules = list(rules)
        self.label_rules: list[Rule] = []
        self.in_order = False
        self.n_taken_over = n_taken_over
        self._lease = lease
        self._who = who
        self._holder = uuid.uuid4().hex
        self._store = store
        self._label_columns = label_columns
        self._model = model  # None if the rows are not known
        self._learning = threading.Lock()  # one fit at a time
        self._learnt_from = (-1, -1)
        self._to_note: list[StoredRound] = []
        sample = [] if model is None else [rows.keys[place] for place in model.sample]
        digest = hashlib.sha256("\n".join(sample).encode()).hexdigest()[:16]
        self._n_sample, self._sample = len(sample), digest

    @property
    def labels(self) -> list[str]:
        """The names of the labels."""
        return self._store.names

    @property
    def cost(self) -> Cost:
        """The cost of a prediction, with a price for each label if it has prices."""
        return self._cost.for_labels(self.labels)

    @property
    def n_answered(self) -> int:
        """Number of answered rows, also of those with some labels that are unknown."""
        return self.progress().n_answered

    @property
    def n_skipped(self) -> int:
        """Number of skipped rows."""
        return self.progress().n_skipped

    def progress(self, label: str | None = None) -> Progress:
        """Count the answered and the skipped rows, of one label if it is given."""
        cells = [cells for row, cells in self._store.all_cells().items() if row in self.rows]
        n = len(self.labels)
        which = ALL if label is None else 1 << label_place(label, self.labels)
        answered = [one for one in cells if one.known & which]
        skipped = [one for one in cells if not (one.known | one.open(n)) & which]
        return Progress(
            len(answered),
            sum(one.open(n) & which != 0 for one in answered),
            len(skipped),
            sum(one.yes & which != 0 for one in answered),
            sum(one.review & which != 0 for one in answered),
        )

    @property
    def columns(self) -> pd.DataFrame | None:
        """Kind, reason, missing cells and features of each column of X; None if X has no names."""
        return None if self._model is None else self._model.columns

    def learn(self) -> bool:
        """Learn from the answers so far, if there are new ones, and rank the rows to ask for.

        `ask` calls it, unless ``wait=False``; then call it in a thread.

        Returns
        -------
        bool
            Whether there were new answers.
        """
        model = self._known_model()
        with self._learning:
            self._store.read()
            is_new = self._store.state != self._learnt_from
            if is_new:
                Y, is_open, state = self._store.matrix(self.rows.keys)
                fit = model.fit(Y, is_open, self.labels[: Y.shape[1]], self._label_columns)
                self._learnt_from = state
                if fit.predictions is not None:
                    sample, packed = self._sample_name(fit.labels), np.packbits(fit.predictions).tobytes()
                    self._to_note.append(
                        StoredRound(state[0], fit.n_labeled, fit.expected_cost, sample, packed)
                    )
            while self._to_note:  # also what a full disk did not take before
                self._store.add_round(self._to_note[0])
                del self._to_note[0]
        return is_new

    @property
    def model(self) -> Pipeline | None:
        """The current model, a scikit-learn pipeline that takes rows like those of X; None if there is none.

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
        """Return all unanswered rows, the best first, including those given to somebody."""
        self.learn()
        return [id_of_key(key) for key in self._ranked() if self._store.is_open(key)]

    def why(self, row: Id, label: str | None = None) -> Reason:
        """Return why a row, or one label of it, is asked for: the model's prediction and its uncertainty."""
        (key,) = self.rows.keys_of([row])
        features = self._known_model().features[[self.rows.places[key]]]
        reason = self._last_fit().reason(features, label)
        return replace(reason, text=_IN_ORDER) if self.in_order else reason

    def known(self, row: Id) -> dict[str, bool]:
        """Return the labels of a row that are known, and whether it has them."""
        (key,) = self.rows.keys_of([row])
        cells, names = self._store.cells(key), self.labels
        return {names[place]: bool(cells.yes >> place & 1) for place in places_of(cells.known)}

    def to_review(self) -> dict[Id, list[str]]:
        """Return the rows that are to be reviewed, in order, and the labels of each that may be wrong."""
        self._store.read()
        names = self.labels
        return {
            id_of_key(row): [names[place] for place in places_of(labels)]
            for row, labels in self._store.to_review()
            if row in self.rows
        }

    @property
    def rounds(self) -> list[Round]:
        """The state after each round of learning, for stopping rules."""
        labels = self._followed()
        n_labels, sample = len(labels), self._sample_name(labels)
        rounds = []
        for one in self._store.rounds():
            predictions = None
            if one.sample == sample and one.predictions:
                bits = np.frombuffer(one.predictions, np.uint8)
                predictions = np.unpackbits(bits, count=self._n_sample * n_labels).reshape(-1, n_labels)
            rounds.append(Round(one.n_labeled, predictions, one.expected_cost))
        return rounds

    def should_stop(self) -> str | None:
        """Return a sentence that says why to stop, or None."""
        self._store.read()
        if self._store.to_review():
            return None
        if self.rows.are_known and not any(map(self._store.is_open, self.rows.keys)):
            return "All rows are answered or skipped."
        names = self.labels
        cost = cost_of_some(self.cost, [names.index(one) for one in self._followed()], len(names))
        rules = [
            replace(rule, cost=cost)
            if isinstance(rule, StablePredictions) and rule.cost is self._cost
            else rule
            for rule in self.rules
        ]
        return reason_to_stop(rules, self.rounds)

    @property
    def history(self) -> pd.DataFrame:
        """All answers in order: id, kind, labels, about, who, at, model, and whether they were undone.

        `about` has the labels that an answer or a skip is about; it is None for the row as a whole.
        """
        events = self._store.events()
        self._store.read()
        names, undone = self.labels, {event.undone for event in events if event.kind == "undo"}
        table = pd.DataFrame(events, columns=Event._fields)
        table["id"] = [id_of_key(event.row) for event in events]
        table["labels"] = [[names[place] for place in event.labels] for event in events]
        table["about"] = pd.Series([self._about(event) for event in events], dtype=object)
        table["at"] = [pd.Timestamp(event.at) for event in events]
        table["undone"] = [event.number in undone for event in events]
        return table[["id", "kind", "labels", "about", "who", "at", "model", "undone"]]

    def answers(self) -> pd.DataFrame:
        """Return the labels of all answered rows: 0 and 1, by id; <NA> for those that are unknown."""
        known = {row: cells for row, cells in self._store.all_cells().items() if cells.known}
        names = self.labels
        Y = as_matrix(list(known.values()), len(names))
        return pd.DataFrame(Y, _index(list(map(id_of_key, known))), names).astype("Int8")

    def predictions(self, *, verbose: int = 0) -> pd.DataFrame | None:
        """Return predictions and expected costs of all rows, by id.

        Columns are ``<label>_predicted``, ``<label>_probability`` and ``expected_cost``. None if there is no
        model yet; a label that is not known of any row has no columns.
        """
        self.learn()
        fit, features = self._last_fit(), self._known_model().features
        if fit.classifier is None:
            return None
        return fit.predict(features, verbose).set_axis(_index(self.ids))

    def table(self, *, verbose: int = 0) -> pd.DataFrame:
        """Return all rows with answers, who gave them and when, and predictions.

        Columns are ``id``, the answer of each label (empty if there is none), ``skipped``, ``who``, ``at``,
        and, if there is a model, those of :meth:`predictions`.
        """
        last = {id_of_key(word.row): word for word in self._store.last_words()}
        ids = self.ids if self.rows.are_known else list(last)
        said = [last.get(one) for one in ids]
        table = self.answers().reindex(_index(ids))
        table["skipped"] = [word is not None and self._is_skipped(word.row) for word in said]
        table["who"] = [None if word is None else word.who for word in said]
        table["at"] = [None if word is None else word.at for word in said]
        if self.rows.are_known:
            table = pd.concat([table, self.predictions(verbose=verbose)], axis=1)
        table = table.reset_index()
        table["id"] = table["id"].infer_objects()
        return table

    def labeled(self) -> pd.DataFrame:
        """Return the cells of answered rows, with labels in the form of the table.

        Labels that are unknown are <NA>; a column of joined names cannot say so, and then gives way to one
        column for each label.
        """
        answers = self.answers()
        answers = answers.loc[[one for one in answers.index if id_key(one) in self.rows]]
        return self.rows.with_labels(self._label_columns.write(answers))

    def export(self, path: str | PathLike[str], *, for_spreadsheets: bool = False) -> None:
        """Write :meth:`labeled` to a .csv, .tsv, .jsonl or .parquet file, completely or not at all.

        `for_spreadsheets` is that of :func:`refpair.tables.write_table`.
        """
        check_table_path(Path(path), for_spreadsheets=for_spreadsheets)
        table = self.labeled()
        if table.empty:
            raise ValueError(
                f"{self.path} has no answers of rows of this table yet: there is nothing to export"
            )
        write_table(table, Path(path), for_spreadsheets=for_spreadsheets)

    def _repr_html_(self) -> str:
        return escape(repr(self)) if self._store.is_closed else _html(self)

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

    def _ranked(self) -> Iterable[str]:
        """Return the keys of all rows, in the order to ask for them."""
        return self.rows.keys if self.in_order else self.rows.ranked(self._last_fit().order.tolist())

    def _last_fit(self) -> Fit:
        """Return what was learned last, after learning if nothing was yet."""
        model = self._known_model()
        if model.last is None:
            self.learn()
        assert model.last is not None
        return model.last

    def _is_skipped(self, row: str) -> bool:
        return not self._store.is_open(row) and not self._store.cells(row).known

    def _about(self, event: Event) -> list[str] | None:
        names = self.labels
        return None if event.asked == ALL else [names[place] for place in places_of(event.asked)]

    def _followed(self) -> list[str]:
        """Return the labels whose predictions are compared: those that the last model knows."""
        last = None if self._model is None else self._model.last
        return (last and last.labels) or self.labels

    def _sample_name(self, labels: Sequence[str]) -> str:
        """Return which rows and labels the predictions of rounds are of."""
        return f"{self._n_sample} rows, {', '.join(labels)}, {self._sample}"


def _index(ids: Sequence[Id]) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(np.array([*ids, None], dtype=object)[:-1], name="id")
    return index


def _html(session: SessionResults) -> str:
    """Return a summary: how far it is, the expected cost so far, and the last answers."""
    done, skipped = session.n_answered, session.n_skipped
    of_all = f" of {len(session.ids):,}" if session.ids else ""
    rounds = [one for one in session.rounds if one.expected_cost is not None]
    reason = session.should_stop()
    parts = [
        f"<b>{escape(session.path.name)}</b>: {done:,}{of_all} rows answered, {skipped:,} skipped",
        f"labels: {escape(', '.join(session.labels))}",
        f"cost: {escape(session.cost.name)}",
    ]
    if rounds:
        parts.append(f"expected cost of a prediction: {rounds[-1].expected_cost:.3g}")
    if len(rounds) > 1:
        parts.append(_curve(rounds))
    if reason is not None:
        parts.append(f"<i>{escape(reason)}</i>")
    lines = ["<tr><th>row</th><th>answer</th><th>who</th></tr>"]
    for row, kind, labels, about, who, *_ in session.history.tail(_LAST).itertuples(index=False):
        none = "none of the labels" if about == session.labels else f"not {', '.join(about or [])}"
        said = {
            "labels": ", ".join(labels) or none,
            "skip": "skipped",
            "undo": "taken back",
            "review": "to review",
        }
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in (row, said[kind], who))
        lines.append(f"<tr>{cells}</tr>")
    if len(lines) > 1:
        parts.append(f"<table>{''.join(lines)}</table>")
    return "<div>" + "".join(f"<div>{part}</div>" for part in parts) + "</div>"


def _curve(rounds: Sequence[Round]) -> str:
    costs = [float(one.expected_cost or 0.0) for one in rounds]
    sizes = [one.n_labeled for one in rounds]
    width = (_WIDTH - 2 * _MARGIN) / max(1, sizes[-1] - sizes[0])  # of one more answer
    height = (_HEIGHT - 2 * _MARGIN) / (max(costs) - min(costs) or 1.0)
    points = " ".join(
        f"{_MARGIN + width * (size - sizes[0]):.1f},{_MARGIN + height * (max(costs) - cost):.1f}"
        for size, cost in zip(sizes, costs, strict=True)
    )
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="expected cost by answers">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )
