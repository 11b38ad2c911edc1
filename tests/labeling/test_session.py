"""A labeling session as its user sees it: questions, answers, corrections, and going on another day."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from refpair.active import Budget
from refpair.labeling import Session
from refpair.labeling.session import Undone
from tests.labeling.sessions import LABELS, N_ROWS, QUICK, make_rows, open_quick

X, Y = make_rows()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def session(path):
    with open_quick(path) as session:
        yield session


@pytest.fixture
def other(session):
    """Another one on the same file."""
    with open_quick(session.path, labels=None, who="you") as other:
        yield other


def said(session):
    """Return the rows of the history as tuples."""
    columns = session.history[["id", "kind", "labels", "who", "undone"]]
    return [tuple(row) for row in columns.to_numpy().tolist()]


# ---- asking ----


def test_rows_are_asked_for_and_answered_until_there_are_none(session):
    asked = []
    while rows := session.ask(7):
        assert session.should_stop() is None
        asked += rows
        session.tell(rows, Y[rows])
    assert sorted(asked) == list(range(N_ROWS))
    assert session.should_stop() == "All rows are answered or skipped."
    assert session.ranking() == []
    assert session.n_answered == N_ROWS
    np.testing.assert_array_equal(session.answers().loc[range(N_ROWS)], Y)


def test_the_same_rows_are_asked_for_until_they_are_answered(session):
    first = session.ask(4)
    assert session.ask(4) == first
    assert session.ask(2) == first[:2]
    assert session.ask(6)[:4] == first
    session.tell(first[:1], Y[first[:1]])
    assert session.ask(3) == first[1:]
    session.skip(first[1:2])
    assert session.ask(2) == first[2:]


def test_fewer_rows_come_if_there_are_no_more(session):
    assert sorted(session.ask(1000)) == list(range(N_ROWS))
    session.tell(range(N_ROWS - 2), Y[:-2])
    assert sorted(session.ask(1000)) == [N_ROWS - 2, N_ROWS - 1]


def test_two_people_get_different_rows(session, other):
    mine, yours = session.ask(20), other.ask(20)
    assert len(mine) == 20
    assert sorted(mine + yours) == list(range(N_ROWS))
    assert session.ask(20) == mine
    assert session.ask(1, holder="left") == []  # all are with others
    assert session.should_stop() is None


def test_two_windows_get_different_rows(session):
    left, right = session.ask(3, holder="left"), session.ask(3, holder="right")
    assert not set(left) & set(right)
    assert session.ask(3, holder="left") == left


def test_a_lease_expires(path):
    with open_quick(path, lease=0.05) as one, open_quick(path) as other:
        held = one.ask(N_ROWS)
        while not (got := other.ask(N_ROWS, wait=False)):
            pass  # no longer than the lease
        assert sorted(got) == sorted(held)
        assert one.ask(1) == []


def test_what_a_closed_session_asked_for_is_free_again(session, other):
    held = session.ask(N_ROWS)
    assert other.ask() == []
    session.close()
    assert sorted(other.ask(N_ROWS)) == sorted(held)


def test_a_row_that_another_one_holds_may_be_answered(session, other):
    (row,) = session.ask()
    other.tell([row], [["joy"]])
    assert session.ask() != [row]
    session.tell([row], [["calm"]])  # corrects it
    assert other.answers().loc[row].tolist() == [0, 0, 1]


def test_without_waiting_rows_come_as_they_were_ranked(session):
    session.tell(range(9), Y[:9])
    assert session.model is None
    session.ask(wait=False)  # nothing was ranked: that is waited for
    model = session.model
    assert model[-1].estimator_.n_rows_ == 9
    session.tell(range(9, 12), Y[9:12])
    assert not set(session.ask(N_ROWS, wait=False)) & set(range(12))
    assert session.model is model
    session.ask()
    assert session.model[-1].estimator_.n_rows_ == 12
    assert not session.learn()


def test_ranking_is_of_all_open_rows_whoever_has_them(session, other):
    other.ask(5)
    session.skip([3])
    assert sorted(session.ranking()) == [row for row in range(N_ROWS) if row != 3]
    assert session.ask(2) == [row for row in session.ranking() if row not in other.ask(5)][:2]


# ---- answering ----


def test_answers_come_in_many_forms(session):
    names = ["anger", "joy", "calm"]
    forms = [
        [[0, 1, 1]],
        np.array([[False, True, True]]),
        np.array([[0.0, 1.0, 1.0]]),
        [["calm", "anger"]],
        [("calm", "anger", "calm")],
        [{"calm", "anger"}],
        pd.Series([["calm", "anger"]], index=[77]),
        np.array([["calm", "anger"], None], dtype=object)[:1],
        pd.DataFrame([[1, 0, 1]], columns=names),
        pd.DataFrame([[True, False, True]], columns=names),
        pd.DataFrame([[1, 0, 1]], columns=names, dtype="Int8"),
    ]
    for row, form in enumerate(forms):
        session.tell([row], form)
        assert session.answers().loc[row].tolist() == [0, 1, 1], form


def test_sparse_answers_and_an_iterator_of_ids(session):
    import scipy.sparse as sp

    session.tell(iter([4, np.int8(2)]), sp.csr_array(Y[[4, 2]]))
    np.testing.assert_array_equal(session.answers().loc[[4, 2]], Y[[4, 2]])
    assert [type(row) for row in session.history["id"].tolist()] == [int, int]


def test_nothing_said_is_nothing_noted(session):
    session.tell([], [])
    session.tell([], np.zeros((0, 3)))
    session.skip([])
    assert len(session.history) == 0


def test_none_of_the_labels_is_an_answer_and_a_skip_is_none(session):
    session.tell([1, 2], [[], []])
    session.skip([3])
    assert session.answers().index.tolist() == [1, 2]
    assert not session.answers().to_numpy().any()
    assert (session.n_answered, session.n_skipped) == (2, 1)
    assert not {1, 2, 3} & set(session.ranking())
    session.tell([4], [["joy"]])
    session.learn()
    assert session.model[-1].estimator_.n_rows_ == 3  # the skipped one taught nothing


def test_a_skipped_row_may_be_answered_and_an_answered_one_skipped(session):
    session.skip([1])
    session.tell([1], [["joy"]])
    assert (session.n_answered, session.n_skipped) == (1, 0)
    session.skip([1])
    assert (session.n_answered, session.n_skipped) == (0, 1)
    assert len(session.answers()) == 0


def test_the_same_answer_again_adds_nothing(session, path):
    for _ in range(2):
        session.tell([1, 2, 1], [["joy"], [], ["joy"]])
        session.skip([3, 3])
    assert len(session.history) == 3
    session.close()
    with open_quick(path) as again:  # as does a script that imports labels each time it runs
        again.tell([1, 2], [[1, 0, 0], [0, 0, 0]])
        assert len(again.history) == 3
        again.tell([1], [["joy"]], who="you")
        assert len(again.history) == 4


def test_labels_that_exist_already_can_be_imported(session):
    session.tell(range(10), Y[:10], who="songs.csv", at="2020-02-02")
    history = session.history
    assert set(history["who"]) == {"songs.csv"}
    assert set(history["at"]) == {pd.Timestamp("2020-02-02", tz="UTC")}
    assert set(history["model"]) == {""}
    assert set(session.ask(N_ROWS)) == set(range(10, N_ROWS))


# ---- the history ----


def test_history_tells_who_said_what_when_and_which_model_asked(session):
    before = pd.Timestamp.now("UTC").floor("ms")
    (row,) = session.ask()
    session.tell([row], [["anger", "joy"]])
    session.tell([row], [["calm"]], who="you", at="2026-03-01T10:00:00.25+02:00")
    session.skip([5], who="she")
    session.undo(who="you")
    history = session.history
    assert list(history.columns) == ["id", "kind", "labels", "about", "who", "at", "model", "undone"]
    assert said(session) == [
        (row, "labels", ["joy", "anger"], "me", False),
        (row, "labels", ["calm"], "you", True),
        (5, "skip", [], "she", False),
        (row, "undo", [], "you", False),
    ]
    assert history["about"].tolist() == [LABELS, LABELS, None, []]
    assert before <= history["at"][0] <= pd.Timestamp.now("UTC")
    assert history["at"][1] == pd.Timestamp("2026-03-01T08:00:00.25Z")
    assert str(history["at"].dtype).endswith("UTC]")
    assert history["model"].tolist() == ["nothing to go by, 0 answers", "", "", ""]


def test_the_model_that_asked_is_named(session):
    session.tell([0, 1, 2], [["joy"], [], ["calm"]])
    rows = session.ask(2)
    session.tell(rows, Y[rows])
    assert session.history["model"].tolist()[3:] == ["Commonest, 3 answers"] * 2


def test_the_history_of_nothing(session):
    assert session.history.shape == (0, 8)
    assert session.answers().shape == (0, 3)
    assert session.undo() is None
    assert session.rounds == []


# ---- taking back ----


def test_undo_goes_back_step_by_step_and_its_rows_are_asked_for_again(session):
    rows = session.ask(2)
    session.tell(rows, [["joy"], []])
    session.skip([9 if 9 not in rows else 10])
    assert session.undo() == Undone(9 if 9 not in rows else 10, None, None)
    assert session.undo() == Undone(rows[1], [], LABELS)
    assert session.undo() == Undone(rows[0], ["joy"], LABELS)
    assert session.undo() is None
    assert session.n_answered == session.n_skipped == 0
    assert set(rows) <= set(session.ask(3))


def test_undo_of_a_correction_brings_back_what_was_corrected(session):
    session.tell([1], [["joy"]])
    session.tell([1], [["anger"]])
    session.skip([1])
    assert session.undo() == Undone(1, None, None)
    assert session.answers().loc[1].tolist() == [0, 1, 0]
    assert 1 not in session.ask(N_ROWS)
    assert session.undo() == Undone(1, ["anger"], LABELS)
    assert session.answers().loc[1].tolist() == [1, 0, 0]


def test_undo_goes_back_across_reopening(session, path):
    session.tell([1, 2], [["joy"], ["calm"]])
    session.undo()
    session.close()
    with open_quick(path, X[::-1], ids=range(N_ROWS)[::-1]) as again:
        assert again.answers().index.tolist() == [1]
        assert again.undo() == Undone(1, ["joy"], LABELS)
        assert again.undo() is None
        assert [one[-1] for one in said(again)] == [True, True, False, False]


def test_undo_takes_back_what_the_person_said_in_that_window(session, other):
    session.tell([1], [["joy"]], holder="left")
    other.tell([2], [["joy"]], holder="left")
    session.tell([3], [["joy"]], holder="right")
    assert session.undo(holder="left") == Undone(1, ["joy"], LABELS)
    assert session.undo(holder="left") is None
    assert session.undo(who="you", holder="left") == Undone(2, ["joy"], LABELS)
    assert session.undo() == Undone(3, ["joy"], LABELS)


def test_what_was_learnt_is_unlearnt(session):
    session.tell([1, 2, 3], [["joy"], [], ["joy"]])
    session.learn()
    session.undo()
    session.learn()
    assert session.model[-1].estimator_.n_rows_ == 2
    session.undo()
    session.learn()
    assert session.model is None


# ---- going on ----


def test_rows_may_come_in_another_order_be_added_and_removed(path):
    names = [f"row {number}" for number in range(N_ROWS)]
    with open_quick(path, X[:20], ids=names[:20]) as session:
        session.tell(names[:4], Y[:4])
        session.skip(names[4:6])
    order = np.random.default_rng(1).permutation(np.arange(2, N_ROWS))
    with open_quick(path, X[order], None, ids=[names[place] for place in order]) as session:
        assert (session.n_answered, session.n_skipped) == (2, 2)
        assert set(session.ranking()) == set(names[6:])
        assert session.answers().index.tolist() == names[:4]  # what was said is not forgotten
        table = session.table().set_index("id")
        assert table.index.tolist() == [names[place] for place in order]
        np.testing.assert_array_equal(table.loc[names[2:4], LABELS], Y[2:4])
        assert table[LABELS].notna().all(axis=1).sum() == 2
        assert table.index[table["skipped"]].tolist() == [name for name in table.index if name in names[4:6]]
        session.learn()
        assert session.model is None or session.model[-1].estimator_.n_rows_ == 2
        with pytest.raises(ValueError, match="there is no row with the id 'row 0'"):
            session.tell(["row 0"], [["joy"]])


def test_without_rows_answers_can_be_looked_at(session, path, tmp_path):
    session.tell([1], [["joy"]])
    session.skip([2])
    session.close()
    with Session.open(path) as again:
        assert repr(again) == "Session(answers.sqlite: 1 rows answered, 1 skipped, 3 labels, cost f1)"
        assert again.answers().loc[1].tolist() == [1, 0, 0]
        assert again.table()["id"].tolist() == [1, 2]
        again.export(tmp_path / "answers.csv")
        assert pd.read_csv(tmp_path / "answers.csv")["joy"].tolist()[0] == 1
        assert "1 rows answered, 1 skipped" in again._repr_html_()
        assert again.ids == again.rounds == []
        assert again.should_stop() is None
        again.tell(["any row"], [["calm"]])
        for needs_rows in (again.ask, again.learn, again.ranking, again.predictions, lambda: again.why(1)):
            with pytest.raises(ValueError, match=r"the rows are not known: Session\.open\('.*', X=…\)"):
                needs_rows()


def test_what_others_say_is_known_at_once(session, other):
    session.ask()
    other.add_labels(["awe"])
    other.tell([1], [["awe"]])
    assert said(session) == [(1, "labels", ["awe"], "you", False)]
    assert session.answers().loc[1].tolist() == [0, 0, 0, 1]
    assert session.n_answered == 1
    assert 1 not in session.ask(N_ROWS)
    session.undo(who="you")
    assert other.n_answered == 0
    other.skip(range(N_ROWS))
    assert session.should_stop() == "All rows are answered or skipped."


def test_a_closed_session_says_so(session):
    session.close()
    session.close()
    assert repr(session) == session._repr_html_() == "Session(answers.sqlite: closed)"


def test_a_session_shows_how_far_it_is(session):
    session.tell([1], [["joy"]])
    session.skip([2, 3])
    assert repr(session) == "Session(answers.sqlite: 1 of 30 rows answered, 2 skipped, 3 labels, cost f1)"


def test_rules_say_when_to_stop(path):
    with open_quick(path, rules=[Budget(3)]) as session:
        session.tell([0, 1], [["joy"], []])
        session.learn()
        assert session.should_stop() is None
        session.tell([2], [["joy"]])
        session.learn()
        assert session.should_stop() == "The budget is used up: 3 of 3 rows have labels."


def test_a_session_in_a_new_folder(tmp_path):
    with Session.open(tmp_path / "deep" / "down.sqlite", X, LABELS, **QUICK) as session:
        assert session.path == tmp_path / "deep" / "down.sqlite"
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["down.sqlite"]
