"""What rows' labels are, as it follows from all that was said."""

from __future__ import annotations

import threading
from contextlib import closing

import numpy as np
import pytest

from refpair.labeling.store import AnswerStore, Label

JOY, ANGER = Label("joy", "absent"), Label("anger", "absent")
ABSENT, UNKNOWN = Label("calm", "absent"), Label("calm", "unknown")
ME = {"who": "me", "said_in": None, "holder": "here"}


@pytest.fixture
def store(tmp_path):
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        store.add_labels([JOY, ANGER])
        yield store


@pytest.fixture
def other(store):
    """Another process, as it were."""
    with closing(AnswerStore(store.path)) as other:
        yield other


def say(store, *rows, labels=(0,), kind="labels", **changes):
    store.say(kind, rows, [labels] * len(rows), **{"n_labels": 2, **ME, **changes})


def undo(store, **changes):
    return store.undo(**{**ME, "lease": 1.0, **changes})


def test_nothing_was_said(store):
    assert store.last_word("1") is None
    assert store.last_words() == []
    assert store.is_open("1")
    assert np.isnan(store.matrix({"1": 0})[0]).all()


def test_the_last_word_counts_and_what_is_taken_back_uncovers_the_one_before(store):
    said = [("labels", (0,), "me"), ("skip", (), "you"), ("labels", (1,), "me")]
    for kind, labels, who in said:
        say(store, "1", kind=kind, labels=labels, who=who)
        word = store.last_word("1")
        assert (word.kind, word.labels, word.who) == (kind, labels, who)
        assert not store.is_open("1")
    assert undo(store, who="you").kind == "skip"
    assert store.last_word("1").labels == (1,)  # it was not the last word that was taken back
    undo(store)
    assert store.last_word("1").labels == (0,)
    undo(store)
    assert store.last_word("1") is None
    assert store.is_open("1")
    assert store.last_words() == []
    assert store.state == (6, 2)


def test_none_of_the_labels_is_an_answer_and_a_skip_is_none(store):
    say(store, "1", labels=())
    say(store, "2", kind="skip", labels=())
    Y, candidates, _ = store.matrix({"2": 0, "1": 1, "3": 2})
    np.testing.assert_array_equal(Y, [[np.nan, np.nan], [0.0, 0.0], [np.nan, np.nan]])
    assert candidates.tolist() == [2]


def test_rows_that_are_not_there_any_more_are_left_out(store):
    say(store, "gone", labels=[0])
    say(store, "1", labels=[1])
    np.testing.assert_array_equal(store.matrix({"1": 0})[0], [[0.0, 1.0]])


@pytest.mark.parametrize("label", [ABSENT, UNKNOWN])
def test_a_label_that_was_added_is_absent_or_unknown(store, label):
    say(store, "1", labels=[0])
    say(store, "2", kind="skip", labels=())
    store.add_labels([label])
    assert store.is_open("1") == (label is UNKNOWN)
    assert not store.is_open("2")  # who skipped it would do so again
    expected = [[1.0, 0.0, 0.0]] if label is ABSENT else [[np.nan] * 3]
    np.testing.assert_array_equal(store.matrix({"1": 0})[0], expected)
    say(store, "1", labels=[2], n_labels=3)
    assert not store.is_open("1")
    np.testing.assert_array_equal(store.matrix({"1": 0})[0], [[0.0, 0.0, 1.0]])


def test_what_is_said_elsewhere_is_heard(store, other):
    say(other, "1")
    other.add_labels([UNKNOWN])
    assert store.is_open("1")  # what is known is only looked at
    assert [word.row for word in store.last_words()] == ["1"]
    assert store.names == ["joy", "anger", "calm"]
    Y, candidates, state = store.matrix({"1": 0, "2": 1})
    assert np.isnan(Y).all()
    assert candidates.tolist() == [0, 1]
    assert state == store.state == (1, 3)


def test_an_answer_with_a_label_that_is_added_in_between_is_understood(store, other, monkeypatch):
    """Labels must be read after the answers that may tell of them."""
    events = store.events

    def slow_events(after=0):
        found = events(after)
        if len(other.labels) == 2:
            other.add_labels([ABSENT])
            say(other, "1", labels=[2], n_labels=3)
        return found

    monkeypatch.setattr(store, "events", slow_events)
    Y, _, _ = store.matrix({"1": 0})
    assert Y.shape == (1, 3)  # the label is known already, the answer is not
    Y, _, _ = store.matrix({"1": 0})
    assert Y.tolist() == [[0.0, 0.0, 1.0]]


def n_events(store):
    return len(store.events())


def test_a_repetition_is_not_noted(store, other):
    say(store, "1", "2", "1")
    say(store, "2")
    say(store, "2", said_in="here")
    say(other, "1", holder="there")  # in no window in particular
    say(store, "3", kind="skip", labels=())
    say(store, "3", kind="skip", labels=())
    assert [one.row for one in store.events()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "change",
    [
        {"labels": [1]},
        {"labels": []},
        {"kind": "skip", "labels": []},
        {"who": "you"},
        {"said_in": "there", "holder": "there"},
        {"n_labels": 3},
    ],
)
def test_what_differs_in_anything_is_noted(store, change):
    store.add_labels([UNKNOWN])
    say(store, "1")
    say(store, "1", **change)
    assert n_events(store) == 2


def test_what_was_corrected_may_be_said_again(store):
    say(store, "1")
    say(store, "1", labels=[1])
    say(store, "1")
    assert n_events(store) == 3
    undo(store)
    undo(store)
    say(store, "1")
    assert n_events(store) == 5
    assert store.last_word("1").labels == (0,)


def test_closed_rows_are_not_leased_and_unknown_ones_neither(store, other):
    say(other, "1")
    say(other, "2", kind="skip", labels=())
    rows = {"1": 0, "2": 1, "3": 2, "4": 3}
    lease = {"holder": "here", "seconds": 60.0, "model": ""}
    assert store.lease(9, rows, ["1", "2", "3", "4"], **lease) == ["3", "4"]
    del rows["3"]
    assert store.lease(9, rows, ["1", "2", "4"], **lease) == ["4"]


def test_threads_may_share_a_store(store):
    def work(name):
        for number in range(15):
            say(store, f"{name}{number}", who=str(name))
            store.matrix({f"{name}{number}": 0})
            if number % 3 == 0:
                undo(store, who=str(name))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {f"{name}{number}" for name in range(4) for number in range(15) if number % 3}
    assert {word.row for word in store.last_words()} == wanted
    assert n_events(store) == 4 * 20
