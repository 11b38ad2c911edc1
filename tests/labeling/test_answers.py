"""What rows' labels are, as it follows from all that was said."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from refpair.labeling.store import Answers, AnswerStore, Event, Label

JOY, ANGER = Label("joy", "absent"), Label("anger", "absent")
ABSENT, UNKNOWN = Label("calm", "absent"), Label("calm", "unknown")
ME = {"who": "me", "said_in": None, "holder": "here"}


def event(number, row, kind="labels", labels=(), n_labels=2, undone=None):
    return Event(number, row, kind, tuple(labels), n_labels, undone, "me", "here", "2026-01-01", "")


def answers_of(*events):
    answers = Answers()
    answers.read(events)
    return answers


def test_nothing_was_said():
    answers = Answers()
    assert answers.of("1") is None
    assert answers.settled() == []
    assert answers.is_open("1", [JOY])
    assert np.isnan(answers.matrix({"1": 0}, [JOY])).all()


def test_the_last_word_counts():
    first, second, third = event(1, "1", labels=[0]), event(2, "1", "skip"), event(3, "1", labels=[1])
    answers = Answers()
    for number, said in enumerate((first, second, third), start=1):
        answers.read([said])
        assert answers.of("1") == said
        assert answers.last_event == number
        assert not answers.is_open("1", [JOY, ANGER])


def test_what_is_taken_back_uncovers_what_was_said_before():
    first, second, third = event(1, "1", labels=[0]), event(2, "1", "skip"), event(3, "1", labels=[1])
    answers = answers_of(first, second, third, event(4, "1", "undo", undone=2))
    assert answers.of("1") == third  # it was not the last word that was taken back
    answers.read([event(5, "1", "undo", undone=3)])
    assert answers.of("1") == first
    answers.read([event(6, "1", "undo", undone=1)])
    assert answers.of("1") is None
    assert answers.is_open("1", [JOY])
    assert answers.settled() == []
    assert answers.last_event == 6


def test_none_of_the_labels_is_an_answer_and_a_skip_is_none():
    answers = answers_of(event(1, "1"), event(2, "2", "skip"))
    Y = answers.matrix({"2": 0, "1": 1, "3": 2}, [JOY, ANGER])
    np.testing.assert_array_equal(Y, [[np.nan, np.nan], [0.0, 0.0], [np.nan, np.nan]])


def test_rows_that_are_not_there_any_more_are_left_out():
    answers = answers_of(event(1, "gone", labels=[0]), event(2, "1", labels=[1]))
    np.testing.assert_array_equal(answers.matrix({"1": 0}, [JOY, ANGER]), [[0.0, 1.0]])


def test_a_label_that_was_added_is_absent_or_unknown():
    answers = answers_of(event(1, "1", labels=[0]), event(2, "2", "skip"))
    assert not answers.is_open("1", [JOY, ANGER, ABSENT])
    np.testing.assert_array_equal(answers.matrix({"1": 0}, [JOY, ANGER, ABSENT]), [[1.0, 0.0, 0.0]])
    assert answers.is_open("1", [JOY, ANGER, UNKNOWN])
    assert not answers.is_open("2", [JOY, ANGER, UNKNOWN])  # who skipped it would do so again
    assert np.isnan(answers.matrix({"1": 0}, [JOY, ANGER, UNKNOWN])).all()
    answers.read([event(3, "1", labels=[2], n_labels=3)])
    assert not answers.is_open("1", [JOY, ANGER, UNKNOWN])
    np.testing.assert_array_equal(answers.matrix({"1": 0}, [JOY, ANGER, UNKNOWN]), [[0.0, 0.0, 1.0]])


# ---- those of a store ----


@pytest.fixture
def store(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.add_labels([JOY, ANGER])
        yield store


@pytest.fixture
def other(store):
    """Another process, as it were."""
    with AnswerStore(store.path) as other:
        yield other


def say(store, *rows, labels=(0,), kind="labels", **changes):
    store.say(kind, rows, [labels] * len(rows), **{"n_labels": 2, **ME, **changes})


def test_what_is_said_elsewhere_is_heard(store, other):
    say(other, "1")
    other.add_labels([UNKNOWN])
    assert store.is_open("1")  # what is known is only looked at
    assert [word.row for word in store.settled()] == ["1"]
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
    store.undo(who="me", said_in=None, holder="here", lease=1.0)
    store.undo(who="me", said_in=None, holder="here", lease=1.0)
    say(store, "1")
    assert n_events(store) == 5
    assert store.answers.of("1").labels == (0,)


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
                store.undo(who=str(name), said_in=None, holder="here", lease=1.0)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {f"{name}{number}" for name in range(4) for number in range(15) if number % 3}
    assert {word.row for word in store.settled()} == wanted
    assert n_events(store) == 4 * 20
