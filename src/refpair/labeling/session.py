"""A labeling session: asks for rows, keeps the answers, learns from them, and says when to stop."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

from refpair._files import make_private_folder
from refpair.active._strategy import QueryStrategy
from refpair.active.stopping import LowGain, StablePredictions, StoppingRule
from refpair.classifiers._base import check_count, check_positive
from refpair.costs import Cost, get_cost
from refpair.labeling.model import SessionModel
from refpair.labeling.results import SessionResults
from refpair.labeling.rows import Id, id_of_key
from refpair.labeling.store import AnswerStore, Earlier, Label, parse_time
from refpair.labeling.table import (
    Settings,
    check_column_names,
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
    """What was taken back.

    Attributes
    ----------
    id : str or int
        Of the row.
    labels : list of str or None
        What it was answered with; None if it was skipped.
    """

    id: Id
    labels: list[str] | None


class Session(SessionResults):
    """Rows without labels, a person who labels them, and a model that asks for those that teach it most.

    All answers are in one file, and each is on the disk when :meth:`tell` returns. Several people may work
    on one file, in one process or several: a row that was given to one of them is not given to another
    before its lease expires. Open one by :meth:`open`.

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
    n_taken_over : int
        How many answers were taken from the table when the session was opened.

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
        estimator: Any = None,
        rules: Sequence[StoppingRule] | None = None,
        lease: float = _LEASE,
        who: str = "me",
        random_state: int = 0,
        verbose: int = 0,
    ) -> Session:
        """Make a session, or go on with one.

        The file remembers `id_column`, `drop`, `kinds`, `folder`, the path of `features`, and how the table
        has its labels: they need to be given only once.

        Parameters
        ----------
        path : path-like
            The file with the answers; it is made if it is not there.
        X : DataFrame, array or sparse matrix of shape (n, n_features), optional
            All rows. Of a DataFrame, texts, categories and images become features as
            :class:`refpair.tables.TableVectorizer` makes them. Rows may be added or come in another order
            next time: answers are found by ids. Without X, what was answered can be looked at and exported,
            but nothing is asked for.
        labels : sequence of str, optional
            The labels; needed for a new session. To one that goes on, new ones are added: name them behind
            those that it has, in their order. If X has columns of these names, rows whose cells are filled
            there count as answered. A single column of joined names, as in "joy|calm", has all labels.
        cost : str, Cost or callable, optional
            What a wrong prediction costs; "f1" for a new session, else that of the file.
        separator : str, optional
            What stands between joined names; found out by default.
        ids : sequence of str or int, optional
            What rows are called, once and for all.
        id_column : str, optional
            The column of X with the ids. By default that called ``id``, if its cells are filled and
            different; else an index other than 0, 1, 2, …; else checksums of the cells. Rows of arrays are
            called 0, 1, 2, …
        drop : sequence of str
            Columns of X that are shown, but not learnt from.
        kinds : mapping of str to str, optional
            What columns of X are, where :class:`refpair.tables.TableVectorizer` guesses wrong.
        folder : path-like, optional
            Where paths of images in X start.
        features : array, sparse matrix, or path of an .npy or .npz file, optional
            What models see instead of X, such as embeddings: a row for each row of X.
        strategy : QueryStrategy, optional
            What chooses rows; by default :class:`refpair.active.RepresentativeUncertainty`.
        estimator : multi-label classifier, optional
            What learns from the answers; by default :class:`refpair.CSRPEClassifier` with logistic
            regressions.
        rules : sequence of stopping rules, optional
            When to stop; by default :class:`refpair.active.StablePredictions` and
            :class:`refpair.active.LowGain`.
        lease : float, default=600
            For how many seconds a row that was asked for is not given to others.
        who : str, default="me"
            Who answers.
        random_state : int, default=0
            Decides everything random.
        verbose : int, default=0
            1 shows how far the reading of images is.
        """
        check_positive("lease", lease)
        if not who:
            raise ValueError('who must be a name, such as "me"')
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
            rows, seen, forced, settings = read_rows(X, names, settings, path, ids, id_column, features)
            refuse_strangers(store, rows, settings)
            answers = table_answers(X, names, columns)
            model = None
            if seen is not None:
                model = SessionModel(
                    seen, kinds=forced, folder=rows.folder, cost=cost, estimator=estimator,
                    strategy=strategy, random_state=random_state, verbose=verbose,
                )  # fmt: skip
            if store is None:  # not before: nothing is written if anything is wrong
                make_private_folder(path.parent)
                store = AnswerStore(path)
            _note_cost(store, cost)
            settings.note(store)
            store.add_labels([Label(name, "absent") for name in names])
            n_taken_over = take_over(store, rows, *answers)
        except BaseException:
            if store is not None:
                store.close()
            raise
        rules = (StablePredictions(cost), LowGain()) if rules is None else rules
        return cls(store, cost, rows, columns, model, rules, n_taken_over=n_taken_over, lease=lease, who=who)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; rows that were asked for and not answered may be given to others.

        Nothing needs to be saved.
        """
        if not self._store.is_closed:
            # Others write for long, or the disk is full: leases expire anyway.
            with contextlib.suppress(sqlite3.OperationalError, OSError):
                self._store.release(self._holder)
            self._store.close()

    def ask(self, n: int = 1, *, holder: str | None = None, wait: bool = True) -> list[Id]:
        """Return the ids of the rows to label next, the best one first.

        Rows that were asked for and neither answered nor skipped come again, first. Nobody else gets them
        before their lease expires.

        Parameters
        ----------
        n : int, default=1
            How many; fewer if there are no more.
        holder : str, optional
            In which window: two windows get different rows.
        wait : bool, default=True
            Whether to learn from new answers first. If not, rows come as they were ranked last.
        """
        check_count("n", n)
        if wait:
            self.learn()
        fit, holder = self._last_fit(), holder or self._holder
        order = self.rows.ranked(fit.order.tolist())
        keys = self._store.lease(
            n, self.rows.places, order, holder=holder, seconds=self._lease, model=fit.name
        )
        return [id_of_key(key) for key in keys]

    def tell(
        self,
        ids: Iterable[Id],
        Y: Any,
        *,
        who: str | None = None,
        holder: str | None = None,
        at: str | None = None,
    ) -> None:
        """Note the labels of rows; they are on the disk when this returns.

        Parameters
        ----------
        ids : sequence
            As `ask` returned them, or of any other rows: labels that exist already can be imported so. A row
            that was answered before is corrected.
        Y : array of shape (n, n_labels), or sequence of sequences of str
            0 and 1 for each row and label, or the names of the labels that each row has; a row of zeros, or
            no names, says that it has none of the labels.
        who, holder : str, optional
            Who answers, and in which window.
        at : str, optional
            When, in ISO 8601, and in UTC if it does not say; now by default.
        """
        keys, names = self.rows.keys_of(ids), self.labels
        try:
            chosen = read_answers(Y, len(keys), names)
        except ValueError:  # others may have added labels
            self._store.read()
            if self.labels == names:
                raise
            names = self.labels
            chosen = read_answers(Y, len(keys), names)
        self._store.say("labels", keys, chosen, n_labels=len(names), **self._said(who, holder, at))

    def skip(
        self, ids: Iterable[Id], *, who: str | None = None, holder: str | None = None, at: str | None = None
    ) -> None:
        """Note that rows cannot be answered; they are not asked for again, and not learnt from."""
        keys = self.rows.keys_of(ids)
        nothing: list[list[int]] = [[]] * len(keys)
        self._store.say("skip", keys, nothing, n_labels=len(self.labels), **self._said(who, holder, at))

    def undo(self, *, who: str | None = None, holder: str | None = None) -> Undone | None:
        """Take back the last answer or skip; its row is asked for again, unless it corrected an answer.

        Parameters
        ----------
        who, holder : str, optional
            Whose answer; if `holder` is given, only what was said in that window.

        Returns
        -------
        Undone or None
            None if there is nothing to take back.
        """
        event = self._store.undo(
            who=who or self._who, said_in=holder, holder=holder or self._holder, lease=self._lease
        )
        if event is None:
            return None
        names = self.labels
        labels = [names[place] for place in event.labels] if event.kind == "labels" else None
        return Undone(id_of_key(event.row), labels)

    def add_labels(self, names: Sequence[str], *, earlier: Earlier = "absent") -> None:
        """Add labels to those that there are.

        Parameters
        ----------
        names : sequence of str
        earlier : {"absent", "unknown"}, default="absent"
            How answers are read that were given before: as saying that rows do not have the label, or as
            saying nothing of it. In the latter case these rows are asked for again, and not learnt from
            before that.
        """
        if earlier not in ("absent", "unknown"):
            raise ValueError(f'earlier must be "absent" or "unknown", not {earlier!r}')
        self._store.read()
        new = [name for name in read_names(names) if name not in self.labels]
        self._cost.for_labels([*self.labels, *new])  # raises if there are prices of other labels
        check_column_names([*self.labels, *new])
        self._label_columns.check_names(new)
        self._store.add_labels([Label(name, earlier) for name in new])

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
    found.for_labels(labels)  # raises if there are prices of other labels
    return found


def _note_cost(store: AnswerStore, cost: Cost) -> None:
    try:
        store.note("cost", cost.to_dict())
    except ValueError:
        store.note("cost", _OWN)
