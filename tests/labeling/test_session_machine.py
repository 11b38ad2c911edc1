"""Whatever is said in whatever order, a session knows what a slow and obvious model of it knows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from refpair.labeling.session import Undone
from tests.labeling.sessions import open_quick

IDS = ["a", 1, "1", "é", 0]
NEW = ["calm", "awe", "fear"]
X = np.random.default_rng(0).standard_normal((len(IDS), 2))

ids = st.sampled_from(IDS)
people = st.sampled_from(["me", "you"])
windows = st.sampled_from([None, "left", "right"])


class Said(NamedTuple):
    id: Any
    kind: str
    labels: frozenset
    about: frozenset  # of labels, None for all, also later ones
    who: str
    holder: str


class Model:
    """All that was said, in a list; what follows from it is found by reading it from the beginning."""

    def __init__(self, labels):
        self.labels = list(labels)
        self.log = []  # of Said, or of the place in the log of what was taken back
        self.leases = {}  # of ids to holders, in the order in which they were given

    def taken_back(self):
        return {one for one in self.log if isinstance(one, int)}

    def valid(self):
        return [
            (place, one)
            for place, one in enumerate(self.log)
            if isinstance(one, Said) and place not in self.taken_back()
        ]

    def word(self, row):
        return next((one for _, one in reversed(self.valid()) if one.id == row and _same(one.id, row)), None)

    def cells(self, row):
        """What is known of each label, and whether the row was skipped as a whole since."""
        known, is_skipped = {}, False
        for _, one in self.valid():
            if not _same(one.id, row):
                continue
            if one.about is None:
                known, is_skipped = {}, True
            elif one.kind == "skip":
                if not is_skipped:  # as a whole, until it is answered
                    known.update(dict.fromkeys(one.about, "skipped"))
            else:
                known.update({name: int(name in one.labels) for name in one.about})
                is_skipped = False
        return known, is_skipped

    def is_open(self, row, *labels):
        known, is_skipped = self.cells(row)
        return not is_skipped and any(name not in known for name in labels or self.labels)

    def say(self, row, kind, labels, about, who, window, holder):
        about = None if about is None else frozenset(about)
        one = Said(row, kind, frozenset(labels), about, who, holder)
        word = self.word(row)
        if word is not None and window is None:
            word = word._replace(holder=holder)
        if word != one:
            self.log.append(one)
            for lease in list(self.leases):
                key, label = lease
                if key == _key(row) and (about in (None, set(self.labels)) or label in about):
                    del self.leases[lease]

    def undo(self, who, window, holder):
        for place, one in reversed(self.valid()):
            if one.who == who and window in (None, one.holder):
                self.log.append(place)
                is_one = one.about is not None and len(one.about) == 1 < len(self.labels)
                lease = _key(one.id), next(iter(one.about)) if is_one else None
                self.leases.pop(lease, None)
                self.leases[lease] = holder
                about = None if one.about is None else sorted(one.about)
                return Undone(one.id, sorted(one.labels) if one.kind == "labels" else None, about)
        return None

    def answers(self):
        """What is known of the rows with known labels, in the order in which something was said of them."""
        told = {}
        for row in IDS:
            cells, _ = self.cells(row)
            if set(cells.values()) & {0, 1}:
                told[_key(row)] = {
                    name: None if cells.get(name) == "skipped" else cells.get(name) for name in self.labels
                }
        return told


def _key(row):
    return type(row).__name__, row


def _same(one, other):
    return _key(one) == _key(other)


class SessionMachine(RuleBasedStateMachine):
    @initialize()
    def begin(self):
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name, "answers.sqlite")
        self.model = Model(["joy", "anger"])
        self.sessions = [self.open(["joy", "anger"]), self.open(None)]

    def open(self, labels, order=slice(None)):
        return open_quick(self.path, X[order], labels, ids=IDS[order])

    def session_and_holder(self, which, window):
        session = self.sessions[which]
        return session, window or session._holder

    @rule(which=st.integers(0, 1), row=ids, data=st.data(), who=people, window=windows)
    def tell(self, which, row, data, who, window):
        names = self.model.labels
        labels = data.draw(st.sets(st.sampled_from(names)))
        session, holder = self.session_and_holder(which, window)
        session._store.read()  # the labels of others are known by now
        about = set(names)
        how = data.draw(st.sampled_from(["names", "matrix", "some", "gaps"]))
        if how == "names":
            answer = [labels]
        elif how == "matrix":
            answer = np.array([[name in labels for name in names]])
        else:
            about = data.draw(st.sets(st.sampled_from(names), min_size=1))
            labels &= about
            answer = [{name: name in labels for name in about}]
            if how == "gaps":
                answer = np.array([[name in labels if name in about else np.nan for name in names]])
        session.tell([row], answer, who=who, holder=window)
        self.model.say(row, "labels", labels, about, who, window, holder)

    @rule(which=st.integers(0, 1), rows=st.lists(ids, max_size=3), data=st.data(), who=people, window=windows)
    def skip(self, which, rows, data, who, window):
        session, holder = self.session_and_holder(which, window)
        names = st.lists(st.sampled_from(self.model.labels), min_size=1, unique=True)
        about = data.draw(st.none() | names)
        session.skip(rows, labels=about, who=who, holder=window)
        for row in rows:
            self.model.say(row, "skip", (), about, who, window, holder)

    @rule(which=st.integers(0, 1), who=people, window=windows)
    def undo(self, which, who, window):
        session, holder = self.session_and_holder(which, window)
        undone = session.undo(who=who, holder=window)
        if undone is not None and undone.labels is not None:
            undone = undone._replace(labels=sorted(undone.labels))
        if undone is not None and undone.about is not None:
            undone = undone._replace(about=sorted(undone.about))
        assert undone == self.model.undo(who, window, holder)

    @rule(which=st.integers(0, 1), n=st.integers(1, 6), window=windows, wait=st.booleans(), data=st.data())
    def ask(self, which, n, window, wait, data):
        session, holder = self.session_and_holder(which, window)
        session._store.read()
        names, leases = self.model.labels, self.model.leases
        how = data.draw(st.sampled_from(["rows", "label", "cells"]))
        labels = {"rows": [None], "label": [data.draw(st.sampled_from(names))], "cells": names}[how]
        options = {"rows": {}, "label": {"label": labels[0]}, "cells": {"per": "cell"}}[how]
        asked = session.ask(n, holder=window, wait=wait, **options)
        got = [(_key(row), label) for row, label in asked] if how == "cells" else [
            (_key(row), labels[0]) for row in asked
        ]  # fmt: skip
        opened = [
            (_key(row), label)
            for row in IDS
            for label in labels
            if self.model.is_open(row, *([] if label is None else [label]))
        ]
        own = [cell for cell, who in leases.items() if who == holder and cell in opened]
        others = {cell for cell, who in leases.items() if who != holder}
        rows_of_others = {row for row, _ in others}
        free = [
            (row, label)
            for row, label in opened
            if (row, None) not in others and (row, label) not in others
            and not (label is None and row in rows_of_others)
        ]  # fmt: skip
        assert got[: len(own)] == own[:n]
        assert set(got) <= set(own) | set(free)
        assert len(got) == len(set(got)) == min(n, len({*own, *free}))
        for cell in got:
            if cell not in own:
                leases.pop(cell, None)
            leases[cell] = holder

    @precondition(lambda self: len(self.model.labels) < 2 + len(NEW))
    @rule(which=st.integers(0, 1))
    def add_label(self, which):
        name = NEW[len(self.model.labels) - 2]
        self.sessions[which].add_labels([name])
        self.model.labels.append(name)

    @rule(which=st.integers(0, 1), order=st.sampled_from([slice(None), slice(None, None, -1)]))
    def reopen(self, which, order):
        closed = self.sessions[which]
        closed.close()
        self.model.leases = {row: who for row, who in self.model.leases.items() if who != closed._holder}
        self.sessions[which] = self.open(None, order)

    @invariant()
    def all_know_the_same(self):
        for session in self.sessions:
            self.check(session)

    def check(self, session):
        model = self.model
        table = session.answers()
        told = {_key(row): table.iloc[place].to_dict() for place, row in enumerate(table.index)}
        assert told == model.answers()
        assert session.labels == model.labels
        assert session.n_answered == len(told)
        closed = [row for row in IDS if not model.is_open(row)]
        assert session.n_skipped == sum(_key(row) not in told for row in closed)
        assert session.progress().n_partly == sum(_key(row) in told for row in IDS if row not in closed)
        opened = {_key(row) for row in IDS if model.is_open(row)}
        assert {_key(row) for row in session.ranking()} == opened
        assert (session.should_stop() == "All rows are answered or skipped.") == (not opened)
        self.check_history(session)

    def check_history(self, session):
        log, history = self.model.log, session.history
        said = [log[one] if isinstance(one, int) else one for one in log]
        assert [_key(row) for row in history["id"]] == [_key(one.id) for one in said]
        kinds = ["undo" if isinstance(one, int) else one.kind for one in log]
        assert history["kind"].tolist() == kinds
        labels = [frozenset() if isinstance(one, int) else one.labels for one in log]
        assert [frozenset(one) for one in history["labels"]] == labels
        assert history["undone"].tolist() == [place in self.model.taken_back() for place in range(len(log))]

    def teardown(self):
        for session in getattr(self, "sessions", []):
            session.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestSessions = pytest.mark.slow(SessionMachine.TestCase)
TestSessions.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
