"""What rows' labels are, as it follows from all that was said."""

from __future__ import annotations

import threading
from contextlib import closing

import numpy as np
import pytest

from refpair.labeling.store import ALL, ROW, AnswerStore

BOTH, ALL_THREE = 0b11, 0b111
ME = {"who": "me", "said_in": None, "holder": "here"}


@pytest.fixture
def store(tmp_path):
    with closing(AnswerStore(tmp_path / "answers.sqlite")) as store:
        store.add_labels(["joy", "anger"])
        yield store


@pytest.fixture
def other(store):
    """Another process, as it were."""
    with closing(AnswerStore(store.path)) as other:
        yield other


def say(store, *rows, labels=(0,), kind="labels", asked=BOTH, **changes):
    asked = ALL if kind == "skip" and asked == BOTH else asked
    store.say(kind, rows, [labels] * len(rows), [asked] * len(rows), **{**ME, **changes})


def undo(store, **changes):
    return store.undo(**{**ME, "lease": 1.0, **changes})


def test_nothing_was_said(store):
    assert store.last_words() == []
    assert store.last_words() == []
    assert store.is_open("1")
    assert np.isnan(store.matrix(["1"])[0]).all()


def test_the_last_word_counts_and_what_is_taken_back_uncovers_the_one_before(store):
    said = [("labels", (0,), "me"), ("skip", (), "you"), ("labels", (1,), "me")]
    for kind, labels, who in said:
        say(store, "1", kind=kind, labels=labels, who=who)
        (word,) = store.last_words()
        assert (word.kind, word.labels, word.who) == (kind, labels, who)
        assert not store.is_open("1")
    assert undo(store, who="you").kind == "skip"
    assert store.last_words()[0].labels == (1,)  # it was not the last word that was taken back
    undo(store)
    assert store.last_words()[0].labels == (0,)
    undo(store)
    assert store.last_words() == []
    assert store.is_open("1")
    assert store.last_words() == []
    assert store.state == (6, 2)


def test_none_of_the_labels_is_an_answer_and_a_skip_is_none(store):
    say(store, "1", labels=())
    say(store, "2", kind="skip", labels=())
    Y, is_open, _ = store.matrix(["2", "1", "3"])
    np.testing.assert_array_equal(Y, [[np.nan, np.nan], [0.0, 0.0], [np.nan, np.nan]])
    assert is_open.tolist() == [[False] * 2, [False] * 2, [True] * 2]


def test_rows_that_are_not_there_any_more_are_left_out(store):
    say(store, "gone", labels=[0])
    say(store, "1", labels=[1])
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[0.0, 1.0]])


def test_a_label_that_was_added_is_unknown(store):
    say(store, "1", labels=[0])
    say(store, "2", kind="skip", labels=())
    store.add_labels(["calm"])
    assert store.is_open("1")
    assert [store.is_open("1", place) for place in range(3)] == [False, False, True]
    assert not store.is_open("2")  # who skipped it would do so again
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[1.0, 0.0, np.nan]])
    say(store, "1", labels=[2], asked=ALL_THREE)
    assert not store.is_open("1")
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[0.0, 0.0, 1.0]])


def test_an_answer_about_some_labels_leaves_the_others_as_they_are(store):
    say(store, "1", labels=[1], asked=0b10)
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[np.nan, 1.0]])
    assert store.is_open("1")
    assert not store.is_open("1", 1)
    say(store, "1", kind="skip", labels=(), asked=0b01)
    assert not store.is_open("1")
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[np.nan, 1.0]])
    say(store, "1", labels=(), asked=0b10)  # corrects it
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[np.nan, 0.0]])
    undo(store)
    np.testing.assert_array_equal(store.matrix(["1"])[0], [[np.nan, 1.0]])
    undo(store)
    assert store.is_open("1", 0)


def test_a_row_that_was_skipped_is_open_again_when_some_label_is_answered(store):
    say(store, "1", kind="skip", labels=())
    say(store, "1", labels=[0], asked=0b01)
    assert [store.is_open("1", place) for place in range(2)] == [False, True]


def test_what_is_said_elsewhere_is_heard(store, other):
    say(other, "1")
    other.add_labels(["calm"])
    assert store.is_open("1")  # what is known is only looked at
    assert [word.row for word in store.last_words()] == ["1"]
    assert store.names == ["joy", "anger", "calm"]
    Y, is_open, state = store.matrix(["1", "2"])
    assert np.isnan(Y).tolist() == is_open.tolist() == [[False, False, True], [True] * 3]
    assert state == store.state == (1, 3)


def test_an_answer_with_a_label_that_is_added_in_between_is_understood(store, other, monkeypatch):
    """Labels must be read after the answers that may tell of them."""
    events = store.events

    def slow_events(after=0):
        found = events(after)
        if len(other.names) == 2:
            other.add_labels(["calm"])
            say(other, "1", labels=[2], asked=ALL_THREE)
        return found

    monkeypatch.setattr(store, "events", slow_events)
    Y, _, _ = store.matrix(["1"])
    assert Y.shape == (1, 3)  # the label is known already, the answer is not
    Y, _, _ = store.matrix(["1"])
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
        {"asked": ALL_THREE},
    ],
)
def test_what_differs_in_anything_is_noted(store, change):
    store.add_labels(["calm"])
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
    assert store.last_words()[0].labels == (0,)


def test_closed_rows_are_not_leased_and_unknown_ones_neither(store, other):
    say(other, "1")
    say(other, "2", kind="skip", labels=())
    rows = ["1", "2", "3", "4"]
    how = {"among": [ROW], "holder": "here", "seconds": 60.0, "model": ""}
    assert store.lease(9, rows, [(row, ROW) for row in rows], **how) == [("3", ROW), ("4", ROW)]
    rows.remove("3")
    assert store.lease(9, rows, [(row, ROW) for row in rows], **how) == [("4", ROW)]


def test_nobody_else_has_a_row_together_with_its_labels(store):
    rows = ["1", "2"]

    def lease(holder, *cells):
        among = {place for _, place in cells}
        how = {"among": among, "holder": holder, "seconds": 60.0, "model": holder}
        return store.lease(9, rows, cells, **how)

    assert lease("me", ("1", 0)) == [("1", 0)]
    assert lease("you", ("1", 0), ("1", 1)) == [("1", 1)]
    assert lease("she", ("1", ROW), ("2", ROW)) == [("2", ROW)]
    assert lease("you", ("2", 1), ("1", 1)) == [("1", 1)]  # its own, and the other row is hers
    say(store, "1", labels=(), asked=0b10)
    say(store, "1", labels=())
    assert [event.model for event in store.events()] == ["you", "me"]
    assert lease("she", ("2", 0), ("2", 1)) == [("2", 0), ("2", 1)]  # of her own row


def test_threads_may_share_a_store(store):
    def work(name):
        for number in range(15):
            say(store, f"{name}{number}", who=str(name))
            store.matrix([f"{name}{number}"])
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
