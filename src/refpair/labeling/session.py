"""A labeling session: asks for rows, stores answers, learns from them, and says when to stop."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, overload

from refpair._files import make_private_folder
from refpair.active import RandomQuery
from refpair.active._strategy import QueryStrategy
from refpair.active.stopping import LowGain, StablePredictions, StoppingRule
from refpair.classifiers._checks import check_count, check_positive
from refpair.costs import Cost, get_cost, vector_cost
from refpair.labeling.answer_rules import broken_rules, note_rules, rules_of
from refpair.labeling.model import SessionModel
from refpair.labeling.results import SessionResults
from refpair.labeling.rows import Id, id_of_key
from refpair.labeling.store import ALL, ROW, AnswerStore, Cell, labels_of, parse_time
from refpair.labeling.table import (
    Settings,
    check_column_names,
    label_place,
    read_answers,
    read_names,
    read_rows,
    refuse_strangers,
    session_names,
    table_answers,
    take_over,
    with_text_names,
)

_LEASE = 600.0  # seconds
_OWN = "a function"  # is noted instead of a cost that cannot be stored


class Undone(NamedTuple):
    """An undone answer.

    Attributes
    ----------
    id : str or int
        Of the row.
    labels : list of str or None
        The answer; None if it was a skip.
    about : list of str or None
        The labels that it was about; None if the row was skipped as a whole.
    """

    id: Id
    labels: list[str] | None
    about: list[str] | None


class Session(SessionResults):
    """A labeling session: rows, answers in a file, and a model that chooses the rows to label next.

    Each answer is on the disk when :meth:`tell` returns. Several people may work on one file, in one process
    or several: a row that was given to one of them is not given to another before its lease expires.
    :meth:`open` opens a session.

    Attributes
    ----------
    path : Path
        The file.
    cost : Cost
    ids : list
        Of all rows.
    rows : Rows
        The rows themselves.
    rules : list of stopping rules
    label_rules : list of rules
        What answers should keep.
    in_order : bool
        Whether rows come in the order of the table.
    n_taken_over : int
        Number of rows with labels that were imported from the table when the session was opened.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from refpair.datasets import load_dataset
    >>> from refpair.labeling import Session
    >>> digits = load_dataset("digits")
    >>> folder = TemporaryDirectory()
    >>> session = Session.open(
    ...     Path(folder.name, "digits.sqlite"), X=digits.X, labels=digits.label_names, cost="f1"
    ... )
    >>> for _ in range(3):
    ...     rows = session.ask(5)
    ...     session.tell(rows, digits.Y[rows])  # ask a person
    >>> session
    Session(digits.sqlite: 15 of 3000 rows answered, 0 skipped, 10 labels, cost f1)
    >>> session.undo().id == rows[-1]
    True
    >>> session.should_stop() is None
    True
    >>> session.close()
    >>> folder.cleanup()
    """

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        X: Any = None,
        labels: Sequence[str] | None = None,
        cost: Any = None,
        *,
        separator: str | None = None,
        ids: Sequence[Hashable] | None = None,
        id_column: str | None = None,
        drop: Sequence[str] = (),
        kinds: Mapping[str, Any] | None = None,
        folder: str | PathLike[str] | None = None,
        features: Any = None,
        strategy: QueryStrategy | None = None,
        in_order: bool = False,
        estimator: Any = None,
        rules: Sequence[StoppingRule] | None = None,
        label_rules: Any = None,
        lease: float = _LEASE,
        who: str = "me",
        random_state: int = 0,
        verbose: int = 0,
    ) -> Session:
        """Create a session, or continue one.

        The file stores `id_column`, `drop`, `kinds`, `folder`, the path of `features`, and the form of the
        labels: give them only once.

        Parameters
        ----------
        path : path-like
            The file of the answers; it is created if it does not exist.
        X : DataFrame, array or sparse matrix of shape (n, n_features), optional
            All rows. Columns of a DataFrame become features by :class:`refpair.tables.TableVectorizer`. Rows
            may be added or reordered next time: answers are matched by id. Without X, answers can be read and
            exported, but no rows are asked for.
        labels : sequence of str, optional
            The labels; required for a new session. To add labels to an existing session, append them to its
            labels; they are unknown in rows that were answered before. If X has columns of these names, their
            filled cells count as answered. Or the name of a single column of joined names, as in "joy|calm".
        cost : str, Cost or callable, optional
            The cost of a prediction; "f1" for a new session, else that of the file.
        separator : str, optional
            The separator of joined names; detected by default.
        ids : sequence of str or int, optional
            The ids of the rows.
        id_column : str, optional
            The column of X with the ids. By default the column ``id``, if its cells are filled and distinct;
            else an index other than 0, 1, 2, …; else checksums of the cells. The ids of arrays are 0, 1, 2, …
        drop : sequence of str
            Columns of X that are shown but are no features.
        kinds : mapping of str to str, optional
            Kinds of columns, where :class:`refpair.tables.TableVectorizer` detects the wrong one.
        folder : path-like, optional
            The folder that image paths in X are relative to.
        features : array, sparse matrix, or path of an .npy or .npz file, optional
            Features to use instead of X, such as embeddings: a row for each row of X.
        strategy : QueryStrategy, optional
            The query strategy; by default :class:`refpair.active.RepresentativeUncertainty`.
        in_order : bool, default=False
            Whether to ask for rows in the order of X instead, as for the questions of
            ``refpair predict --ask``; there are no stopping rules then by default.
        estimator : multi-label classifier, optional
            The model that learns from the answers; by default :class:`refpair.CSRPEClassifier` with logistic
            regressions.
        rules : sequence of stopping rules, optional
            When to stop; by default :class:`refpair.active.StablePredictions` and
            :class:`refpair.active.LowGain`.
        label_rules : list of rules, optional
            What answers should keep, such as ``[AtMost(3)]``; by default those of the file, or of the
            estimator. The page asks again before it saves an answer that breaks one; see
            :meth:`broken_rules`.
        lease : float, default=600
            Seconds for which a row that was asked for is not given to others.
        who : str, default="me"
            Who answers.
        random_state : int, default=0
            The seed of all random choices.
        verbose : int, default=0
            1 shows a progress bar while images are read.
        """
        check_positive("lease", lease)
        if not who:
            raise ValueError('who must be a name, such as "me"')
        if in_order and strategy is not None:
            raise ValueError("a strategy chooses the rows, and in_order takes them as they come: give either")
        path, X = Path(path), with_text_names(X)
        if not path.exists() and labels is None:
            raise ValueError(f"{path} is a new session: what are the labels? Give labels=['joy', 'anger', …]")
        store = AnswerStore(path) if path.exists() else None
        try:
            settings = Settings.read(store).changed(
                path, drop=drop, kinds=kinds, folder=folder, features=features
            )
            names, columns = session_names(path, store, X, labels, separator, settings.labels)
            cost = _cost_of(cost, store, names)
            settings = replace(settings, labels=columns)
            kept = rules_of(label_rules, estimator, store, names)
            rows, seen, forced, settings = read_rows(X, names, settings, path, ids, id_column, features)
            refuse_strangers(store, rows, settings)
            answers = table_answers(X, names, columns)
            model = None
            if seen is not None:
                # It takes no time, and nobody looks at its ranking.
                strategy = RandomQuery(random_state) if in_order else strategy
                model = SessionModel(
                    seen, kinds=forced, folder=rows.folder, cost=cost, estimator=estimator,
                    strategy=strategy, random_state=random_state, verbose=verbose,
                )  # fmt: skip
            if store is None:  # not before: nothing is written if anything is wrong
                make_private_folder(path.parent)
                store = AnswerStore(path)
            _note_cost(store, cost)
            note_rules(store, kept)
            settings.note(store)
            store.add_labels(names)
            n_taken_over = take_over(store, rows, answers)
        except BaseException:
            if store is not None:
                store.close()
            raise
        if rules is None:
            rules = () if in_order else (StablePredictions(cost), LowGain())
        opened = cls(
            store, cost, rows, columns, model, rules, n_taken_over=n_taken_over, lease=lease, who=who
        )
        opened.label_rules, opened.in_order = kept, in_order
        return opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release rows that were asked for and not answered.

        Nothing needs to be saved.
        """
        if not self._store.is_closed:
            # Others write for long, or the disk is full: leases expire anyway.
            with contextlib.suppress(sqlite3.OperationalError, OSError):
                self._store.release(self._holder)
            self._store.close()

    @overload
    def ask(
        self,
        n: int = ...,
        *,
        label: str | None = ...,
        per: Literal["row"] = ...,
        holder: str | None = ...,
        wait: bool = ...,
    ) -> list[Id]: ...

    @overload
    def ask(
        self,
        n: int = ...,
        *,
        label: str | None = ...,
        per: Literal["cell"],
        holder: str | None = ...,
        wait: bool = ...,
    ) -> list[tuple[Id, str]]: ...

    def ask(
        self,
        n: int = 1,
        *,
        label: str | None = None,
        per: Literal["row", "cell"] = "row",
        holder: str | None = None,
        wait: bool = True,
    ) -> list[Id] | list[tuple[Id, str]]:
        """Return the ids of the rows to label next, the best first.

        Rows that were asked for and neither answered nor skipped come first again. Nobody else gets them
        before their lease expires. Then come those to :meth:`review`.

        Parameters
        ----------
        n : int, default=1
            Number of rows or cells; fewer if there are no more.
        label : str, optional
            The one label to ask for: in rows where it is not known, those first where it is worth the most.
        per : {"row", "cell"}, default="row"
            "cell" returns single questions instead, each an id and a label.
        holder : str, optional
            The browser window that asks: two windows get different rows.
        wait : bool, default=True
            Whether to learn from new answers first; if not, the last ranking is used.
        """
        check_count("n", n)
        if per not in ("row", "cell"):
            raise ValueError(f'per must be "row" or "cell", not {per!r}')
        if wait:
            self.learn()
        fit, holder, labels = self._last_fit(), holder or self._holder, self.labels
        order: Iterable[Cell]
        rows, review = self._ranked(), self._store.to_review()
        if label is None and per == "row":
            places, order = [ROW], ((key, ROW) for key in chain((key for key, _ in review), rows))
        else:
            place = None if label is None else self._place(label)
            places = list(range(len(labels))) if place is None else [place]
            best = [] if self.in_order else self._known_model().rank_cells(place).tolist()
            order = chain(
                ((key, one) for key, asked in review for one in places if asked >> one & 1),
                ((self.rows.keys[row], one) for row, one in best),
                product(rows, places),
            )
        cells = self._store.lease(
            n, self.rows.places, order, among=places, holder=holder, seconds=self._lease, model=fit.name
        )
        if per == "row":
            return [id_of_key(key) for key, _ in cells]
        return [(id_of_key(key), labels[one]) for key, one in cells]

    def tell(
        self,
        ids: Iterable[Id],
        Y: Any,
        *,
        who: str | None = None,
        holder: str | None = None,
        at: str | None = None,
    ) -> None:
        """Store the labels of rows; they are on the disk when this returns.

        Parameters
        ----------
        ids : sequence
            Ids from `ask`, or of any other rows, to import existing labels. A row that was answered before is
            corrected.
        Y : array of shape (n, n_labels), or sequence of sequences of str or of mappings
            0 and 1 for each row and label, or the names of the labels of each row. A row of zeros, or no
            names, means none of the labels. Or what is known of some labels only: NaN for the others, or
            mappings such as ``{"fraud": True}``.
        who, holder : str, optional
            Who answers, and the window.
        at : str, optional
            The time in ISO 8601, UTC by default; now if not given.
        """
        keys, names = self.rows.keys_of(ids), self.labels
        try:
            answers = read_answers(Y, len(keys), names)
        except ValueError:  # others may have added labels
            self._store.read()
            if self.labels == names:
                raise
            answers = read_answers(Y, len(keys), self.labels)
        said = [(key, *one) for key, one in zip(keys, answers, strict=True) if one.asked]
        self._store.say(
            "labels",
            [key for key, _, _ in said],
            [yes for _, yes, _ in said],
            [labels_of(asked) for _, _, asked in said],
            **self._said(who, holder, at),
        )

    def broken_rules(self, row: Id, answer: Mapping[str, bool]) -> list[str]:
        """Return the rules that a row would break with an answer, as texts; `tell` does not ask.

        Parameters
        ----------
        row : str or int
            The id of the row.
        answer : mapping of str to bool
            Labels, and whether the row has them; others stay as they are known.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from refpair import AtMost
        >>> with TemporaryDirectory() as folder, Session.open(
        ...     Path(folder, "s.sqlite"), [[1.0], [2.0]], ["joy", "anger"], label_rules=[AtMost(1)]
        ... ) as session:
        ...     session.broken_rules(0, {"joy": True, "anger": True})
        ['at most 1']
        """
        return broken_rules(self.label_rules, {**self.known(row), **answer}, self.labels)

    def skip(
        self,
        ids: Iterable[Id],
        *,
        labels: Sequence[str] | None = None,
        who: str | None = None,
        holder: str | None = None,
        at: str | None = None,
    ) -> None:
        """Skip rows, or some labels of them: they are neither asked for again nor learned from."""
        keys = self.rows.keys_of(ids)
        asked = ALL if labels is None else labels_of(map(self._place, labels))
        self._store.say("skip", keys, [[]] * len(keys), [asked] * len(keys), **self._said(who, holder, at))

    def review(self, cells: Iterable[tuple[Id, str]], *, who: str | None = None) -> None:
        """Ask for answered rows again, before all others.

        Parameters
        ----------
        cells : sequence of (id, label)
            Labels that may be wrong, such as :func:`refpair.inspection.suspicious_labels` finds, the worst
            first. What is not known, or was to be reviewed before, is passed over.
        who : str, optional
            Who wishes so.
        """
        try:
            ids, labels = zip(*found, strict=True) if (found := list(cells)) else ((), ())
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"cells must be pairs of a row's id and a label, such as {(0, self.labels[0])!r}"
            ) from error
        doubted: dict[str, int] = {}
        for key, label in zip(self.rows.keys_of(ids), labels, strict=True):
            doubted[key] = doubted.get(key, 0) | 1 << self._place(label)
        self._store.review(list(doubted), list(doubted.values()), who=who or self._who, holder=self._holder)

    def undo(self, *, who: str | None = None, holder: str | None = None) -> Undone | None:
        """Undo the last answer or skip; its row is asked for again, unless it corrected an answer.

        Parameters
        ----------
        who, holder : str, optional
            Whose answer; with `holder`, only answers of that window.

        Returns
        -------
        Undone or None
            None if there is nothing to undo.
        """
        event = self._store.undo(
            who=who or self._who, said_in=holder, holder=holder or self._holder, lease=self._lease
        )
        if event is None:
            return None
        names = self.labels
        labels = [names[place] for place in event.labels] if event.kind == "labels" else None
        return Undone(id_of_key(event.row), labels, self._about(event))

    def add_labels(self, names: Sequence[str]) -> None:
        """Add labels to the session; they are unknown in rows that were answered before."""
        self._store.read()
        new = [name for name in read_names(names) if name not in self.labels]
        self._cost.for_labels([*self.labels, *new])  # raises if there are prices of other labels
        check_column_names([*self.labels, *new])
        self._label_columns.check_names(new)
        self._store.add_labels(new)

    def _place(self, label: str) -> int:
        if label not in self.labels:  # others may have added it
            self._store.read()
        return label_place(label, self.labels)

    def _said(self, who: str | None, holder: str | None, at: str | None) -> dict[str, Any]:
        time = None if at is None else parse_time(at).isoformat(timespec="milliseconds")
        return {"who": who or self._who, "said_in": holder, "holder": holder or self._holder, "at": time}


def _cost_of(cost: Any, store: AnswerStore | None, labels: Sequence[str]) -> Cost:
    """Return the cost that is given, or that of the file; "f1" for a new session."""
    if cost is not None:
        found = get_cost(cost)
    else:
        noted = None if store is None else store.about("cost")
        if store is not None and noted == _OWN:
            raise ValueError(f"{store.path} has a cost that is a Python function: give cost= again")
        found = get_cost("f1") if noted is None else Cost.from_dict(noted)
    vector_cost(found, "a session").for_labels(labels)  # raises if there are prices of other labels
    return found


def _note_cost(store: AnswerStore, cost: Cost) -> None:
    try:
        store.note("cost", cost.to_dict())
    except ValueError:
        store.note("cost", _OWN)
