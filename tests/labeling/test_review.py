"""Answered rows that are asked for again, because some of their labels may be wrong."""

from __future__ import annotations

import pandas as pd
import pytest

from refpair.labeling import Session
from tests.cli.running import refpair_, refuses
from tests.labeling.sessions import LABELS, N_ROWS, make_rows, open_quick

X, Y = make_rows()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def session(path):
    with open_quick(path) as session:
        session.tell(range(N_ROWS), Y)
        yield session


def test_they_come_first_and_in_order(path):
    with open_quick(path) as session:
        session.tell([3, 4, 5], Y[3:6])
        session.review([(5, "joy"), (3, "calm"), (5, "calm"), (9, "joy")])
        assert session.to_review() == {5: ["joy", "calm"], 3: ["calm"]}, "row 9 has no answer"
        assert session.progress().n_to_review == 2
        assert session.ask(2) == [5, 3]
        session.tell([5], [Y[5]])  # it was right
        assert session.to_review() == {3: ["calm"]}
        assert session.ask(2)[0] == 3
        session.tell([3], [1 - Y[3]])
        assert session.progress().n_to_review == 0
        assert not {3, 4, 5} & set(session.ask(N_ROWS))
        assert session.answers().loc[3].tolist() == (1 - Y[3]).tolist()


def test_what_was_reviewed_is_not_asked_for_again(session, path):
    session.review([(1, "joy"), (2, "joy")])
    session.tell([1], [Y[1]])
    session.close()
    with open_quick(path) as session:
        session.review([(1, "joy"), (2, "joy"), (1, "calm")])
        assert session.to_review() == {2: ["joy"], 1: ["calm"]}
        assert session.ask(3) == [2, 1]


def test_single_labels_are_reviewed(session):
    session.review([(7, "calm"), (6, "joy"), (7, "joy")])
    assert session.ask(5, label="calm") == [7]
    session.tell([7], [{"calm": not Y[7, 2]}])
    assert session.to_review() == {6: ["joy"], 7: ["joy"]}
    assert session.progress("calm").n_to_review == 0
    assert session.ask(5, per="cell") == [(7, "joy"), (6, "joy")]


def test_a_skip_leaves_the_label_open_and_undo_asks_again(session):
    session.review([(8, "anger")])
    assert session.ask(1) == [8]
    session.skip([8], labels=["anger"])
    assert "anger" not in session.known(8)
    assert session.to_review() == {}
    assert session.undo().id == 8
    assert session.to_review() == {8: ["anger"]}
    assert session.known(8)["anger"] == bool(Y[8, 1])
    assert session.ask(1) == [8]
    session.tell([8], [Y[8]])
    session.undo()  # of a person's answers alone: the wish is nobody's answer
    session.undo()
    assert "review" in session.history["kind"].tolist()
    assert not session.history.loc[session.history["kind"] == "review", "undone"].any()


def test_it_goes_on_until_all_is_reviewed(session):
    assert session.should_stop() == "All rows are answered or skipped."
    session.review([(0, "joy")])
    assert session.should_stop() is None
    exported = session.labeled()
    assert len(exported) == N_ROWS, "answers hold until they are corrected"
    assert session.table()["who"].tolist() == ["me"] * N_ROWS


def test_who_the_rows_are_with(path):
    with open_quick(path) as one, open_quick(path, X=None) as other:
        one.tell(range(N_ROWS), Y)
        one.review([(3, "joy"), (4, "joy")])
        assert one.ask(1) == [3]
        assert other.ask(2) == [4]
        one.tell([3], [Y[3]])
        assert other.to_review() == {4: ["joy"]}


def test_mistakes(session):
    with pytest.raises(ValueError, match="no row with the id 99"):
        session.review([(99, "joy")])
    with pytest.raises(ValueError, match="unknown label 'joi'"):
        session.review([(1, "joi")])
    with pytest.raises(ValueError, match="a label is called by its name, such as 'joy', not 1"):
        session.review([(1, 1)])
    for wrong in ([(1, "joy", 1)], [1], pd.DataFrame({"row": [1], "label": ["joy"]})):
        with pytest.raises(ValueError, match=r"pairs of a row's id and a label, such as \(0, 'joy'\)"):
            session.review(wrong)
    session.review([])
    assert session.to_review() == {}


# -- the command -------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=list("abcd")).join(pd.DataFrame(Y, columns=LABELS))
    frame.to_csv("rows.csv", index=False)
    cells = [
        (9, "joy", 0, 0.9, 1.0),
        (4, "calm", 1, 0.8, 1.0),
        (9, "calm", 0, 0.6, 1.0),
        (2, "joy", 1, 0.05, 1.0),
    ]
    suspects = pd.DataFrame(cells, columns=["row", "label", "given", "wrong", "cost"])
    suspects.to_csv("suspects.csv", index=False)
    return suspects


REVIEW = (
    "label",
    "rows.csv",
    "--labels",
    ",".join(LABELS),
    "--review",
    "suspects.csv",
    "--export",
    "done.csv",
)


def test_the_command_reads_what_check_wrote(table):
    for _ in range(2):  # the second time goes on
        assert "2 rows are to be reviewed; they come first" in refpair_(*REVIEW).stderr
    with Session.open("rows.labels.sqlite", pd.read_csv("rows.csv")) as session:
        ids = [session.ids[8], session.ids[3]]
        assert session.to_review() == {ids[0]: ["joy", "calm"], ids[1]: ["calm"]}


def test_a_table_that_was_sorted_since(table):
    rows = pd.read_csv("rows.csv")
    rows.insert(0, "ticket", [f"T{i}" for i in range(1, 31)])
    rows.to_csv("rows.csv", index=False)
    table.insert(1, "ticket", "T" + table["row"].astype(str))
    table.to_csv("suspects.csv", index=False)
    assert "2 rows are to be reviewed" in refpair_(*REVIEW).stderr
    rows[::-1].to_csv("rows.csv", index=False)
    assert (
        "suspects.csv is not of this table: 'ticket' of row 9 is 'T22', not 'T9'; run refpair check again"
    ) in refuses(*REVIEW)


def test_tables_that_check_did_not_write(table):
    table.drop(columns="wrong").to_csv("suspects.csv", index=False)
    assert "suspects.csv has no column 'wrong': give the table of refpair check -o" in refuses(*REVIEW)
    for row in ([9, 31, 9, 2], [9, 1.5, 9, 2], "x"):
        table.assign(row=row).to_csv("suspects.csv", index=False)
        assert "suspects.csv is not of this table: 'row' is to be from 1 to 30" in refuses(*REVIEW)
    table.assign(wrong=0.09).to_csv("suspects.csv", index=False)
    assert "suspects.csv: no label is wrong with a probability of 10% or more" in refuses(*REVIEW)
    table.assign(wrong="much").to_csv("suspects.csv", index=False)
    assert "suspects.csv: the column 'wrong' has cells that are no numbers" in refuses(*REVIEW)
