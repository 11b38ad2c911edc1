"""Rows in the order of the table, as of questions that a model has put in order."""

from __future__ import annotations

import pytest

from refpair.active import RandomQuery
from refpair.labeling import Session
from tests.labeling.requests import LabelServer
from tests.labeling.sessions import LABELS, Commonest, make_rows

IDS = [7, 3, 9, 1, 8, 2, 6, 0, 5, 4, *range(10, 50)]
WINDOWS = ["a-window-of-one-label", "a-window-of-all-labels"]
CSV = "id,tempo,ask\n" + "".join(f"{i},{i * 7 % 11},joy|calm\n" for i in IDS)


@pytest.fixture
def server(tmp_path):
    server = LabelServer(tmp_path, CSV, LABELS, in_order=True, drop=["ask"])
    yield server
    server.session.close()


def test_the_page_shows_rows_in_the_order_of_the_table(server):
    seen = []
    for place in range(30):  # more than a ranking has at its head, and the model learns in between
        row = server.ask()
        seen.append(row["id"])
        assert row["why"] == "Rows come in the order of the table."
        assert {"name": "ask", "kind": "ignored", "value": "joy|calm"} in row["fields"]
        assert server.answer(row["id"], LABELS[place % 3 :][:1]).status == 200
        if place % 10 == 0:
            server.session.learn()
    assert seen == IDS[:30]
    assert set(row["probabilities"]) == set(LABELS)  # the model learns all the same
    assert server.session.ranking() == IDS[30:]
    assert server.session.rules == []  # each question is worth its price


def test_one_label_and_single_cells_come_in_that_order_too(server):
    def ask():
        return server.post("/api/ask", {"holder": WINDOWS[0], "label": "anger"}).json()["row"]["id"]

    seen = []
    for place in range(25):
        seen.append(ask())
        about = {"about": ["anger"], "holder": WINDOWS[0]}
        assert server.answer(seen[-1], ["anger"] * (place % 2), **about).status == 200
    assert seen == IDS[:25]
    assert server.ask(WINDOWS[1])["id"] == IDS[0]  # of which only one label is known


def test_cells_are_row_by_row(tmp_path):
    X, _ = make_rows()
    with Session.open(tmp_path / "s", X, LABELS, in_order=True, estimator=Commonest()) as session:
        session.tell([0], [{"anger": True}])
        assert session.ask(4, per="cell") == [(0, "joy"), (0, "calm"), (1, "joy"), (1, "anger")]


def test_rows_to_review_are_still_the_first(tmp_path):
    X, Y = make_rows()
    with Session.open(tmp_path / "s", X, LABELS, in_order=True, estimator=Commonest()) as session:
        session.tell(range(5), Y[:5])
        session.review([(3, "joy")])
        assert session.ask(3) == [3, 5, 6]


def test_a_strategy_and_an_order_are_refused(tmp_path):
    with pytest.raises(ValueError, match="in_order takes them as they come: give either"):
        Session.open(tmp_path / "s", make_rows()[0], LABELS, in_order=True, strategy=RandomQuery())
    assert not (tmp_path / "s").exists()
