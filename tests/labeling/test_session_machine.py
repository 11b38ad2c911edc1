"""Whatever is said in whatever order, a session knows what a slow and obvious model of it knows."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
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
    n_labels: int
    who: str
    holder: str


class Model:
    """All that was said, in a list; what follows from it is found by reading it from the beginning."""

    def __init__(self, labels):
        self.labels = [(name, "absent") for name in labels]
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

    def is_open(self, row):
        word = self.word(row)
        if word is None:
            return True
        return word.kind == "labels" and any(how == "unknown" for _, how in self.labels[word.n_labels :])

    def say(self, row, kind, labels, who, window, holder):
        one = Said(row, kind, frozenset(labels), len(self.labels), who, holder)
        word = self.word(row)
        if word is not None and window is None:
            word = word._replace(holder=holder)
        if word != one:
            self.log.append(one)
            self.leases.pop(_key(row), None)

    def undo(self, who, window, holder):
        for place, one in reversed(self.valid()):
            if one.who == who and window in (None, one.holder):
                self.log.append(place)
                self.leases.pop(_key(one.id), None)
                self.leases[_key(one.id)] = holder
                return Undone(one.id, sorted(one.labels) if one.kind == "labels" else None)
        return None

    def answers(self):
        told = {}
        for row in IDS:
            word = self.word(row)
            if word is not None and word.kind == "labels":
                told[_key(row)] = {
                    name: None if place >= word.n_labels and how == "unknown" else int(name in word.labels)
                    for place, (name, how) in enumerate(self.labels)
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
        names = [name for name, _ in self.model.labels]
        labels = data.draw(st.sets(st.sampled_from(names)))
        session, holder = self.session_and_holder(which, window)
        session._store.read()  # the labels of others are known by now
        if data.draw(st.booleans()):
            session.tell([row], [labels], who=who, holder=window)
        else:
            session.tell([row], np.array([[name in labels for name in names]]), who=who, holder=window)
        self.model.say(row, "labels", labels, who, window, holder)

    @rule(which=st.integers(0, 1), rows=st.lists(ids, max_size=3), who=people, window=windows)
    def skip(self, which, rows, who, window):
        session, holder = self.session_and_holder(which, window)
        session._store.read()
        session.skip(rows, who=who, holder=window)
        for row in rows:
            self.model.say(row, "skip", (), who, window, holder)

    @rule(which=st.integers(0, 1), who=people, window=windows)
    def undo(self, which, who, window):
        session, holder = self.session_and_holder(which, window)
        undone = session.undo(who=who, holder=window)
        if undone is not None and undone.labels is not None:
            undone = undone._replace(labels=sorted(undone.labels))
        assert undone == self.model.undo(who, window, holder)

    @rule(which=st.integers(0, 1), n=st.integers(1, 6), window=windows, wait=st.booleans())
    def ask(self, which, n, window, wait):
        session, holder = self.session_and_holder(which, window)
        asked = session.ask(n, holder=window, wait=wait)
        leases = self.model.leases
        opened = [_key(row) for row in IDS if self.model.is_open(row)]
        own = [key for key, who in leases.items() if who == holder and key in opened]
        free = [key for key in opened if key not in leases]
        got = [_key(row) for row in asked]
        assert got[: len(own)] == own[:n]
        assert set(got[len(own) :]) <= set(free)
        assert len(got) == len(set(got)) == min(n, len(own) + len(free))
        leases.update(dict.fromkeys(got, holder))

    @precondition(lambda self: len(self.model.labels) < 2 + len(NEW))
    @rule(which=st.integers(0, 1), earlier=st.sampled_from(["absent", "unknown"]))
    def add_label(self, which, earlier):
        name = NEW[len(self.model.labels) - 2]
        self.sessions[which].add_labels([name], earlier=earlier)
        self.model.labels.append((name, earlier))

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
        assert session.labels == [name for name, _ in model.labels]
        words = [model.word(row) for row in IDS]
        assert session.n_answered == sum(word is not None and word.kind == "labels" for word in words)
        assert session.n_skipped == sum(word is not None and word.kind == "skip" for word in words)
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


TestSessions = SessionMachine.TestCase
TestSessions.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
