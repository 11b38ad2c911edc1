"""A session as tables, in files and in notebooks."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from refpair.active import Budget
from refpair.labeling import Session
from tests.labeling.sessions import LABELS, N_ROWS, QUICK, Costly, make_rows

X, Y = make_rows()
NAMES = [f"row {number}" for number in range(N_ROWS)]


@pytest.fixture
def session(tmp_path):
    """One that learns as it does by default."""
    with Session.open(tmp_path / "answers.sqlite", X, LABELS, ids=NAMES) as session:
        yield session


def teach(session, *places):
    session.tell([session.ids[place] for place in places], Y[list(places)])


def test_the_table_is_of_all_rows(session):
    teach(session, *range(4))
    session.skip(["row 7"], who="you", at="2026-01-01")
    table = session.table()
    predicted = session.predictions()
    assert list(table.columns) == ["id", *LABELS, "skipped", "who", "at", *predicted.columns]
    assert table["id"].tolist() == NAMES
    np.testing.assert_array_equal(table.loc[:3, LABELS], Y[:4])
    assert table.loc[4:, LABELS].isna().all(axis=None)
    assert table.index[table["skipped"]].tolist() == [7]
    assert table["who"][[0, 7]].tolist() == ["me", "you"]
    assert table["at"][7] == "2026-01-01T00:00:00.000+00:00"
    assert table.loc[8:, ["who", "at"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(table.set_index("id")[predicted.columns], predicted, check_index_type=False)


@pytest.mark.parametrize("name", ["out.csv", "OUT.CSV", "out.parquet"])
def test_an_export_has_the_rows_that_were_answered_and_empty_cells_of_what_is_unknown(
    session, tmp_path, name
):
    teach(session, *range(4))
    session.skip(["row 7"])
    session.add_labels(["awe"])
    given = [[label for label, has in zip(LABELS, row, strict=True) if has] for row in Y[8:12]]
    session.tell(NAMES[8:12], given)
    session.export(tmp_path / name)
    found = (pd.read_parquet if name.endswith("parquet") else pd.read_csv)(tmp_path / name)
    assert list(found.columns) == ["id", *LABELS, "awe"]
    assert found["id"].tolist() == [*NAMES[:4], *NAMES[8:12]]
    np.testing.assert_array_equal(found[LABELS], [*Y[:4], *Y[8:12]])
    assert found["awe"].isna().tolist() == [True] * 4 + [False] * 4
    assert found["awe"].tolist()[4:] == [0] * 4
    assert sorted(file.name for file in tmp_path.iterdir() if "answers" not in file.name) == [name]


def test_export_replaces_the_whole_file_or_nothing(session, tmp_path, monkeypatch):
    out = tmp_path / "out.parquet"
    with pytest.raises(
        ValueError, match="has no answers of rows of this table yet: there is nothing to export"
    ):
        session.export(out)
    assert not out.exists()
    teach(session, 0)
    session.export(out)
    before = out.read_bytes()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r"out\.parquet: writing Parquet needs pyarrow: pip install 'refpair\["
    ):
        session.export(out)
    assert out.read_bytes() == before
    session.export(tmp_path / "out.csv")  # needs no pyarrow


def test_paths_that_no_table_can_be_written_to(session, tmp_path):
    with pytest.raises(
        ValueError, match=r"out\.xlsx: the name of a table ends in \.csv, \.tsv, \.csv\.gz, \.jsonl or"
    ):
        session.export(tmp_path / "out.xlsx")
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        session.export(tmp_path / "nowhere" / "out.csv")
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        session.export(tmp_path)
    assert session.rounds == []


# ---- in a notebook ----


def test_a_notebook_shows_a_summary_and_no_markup_of_others(tmp_path):
    evil = '<script>alert("x")</script>'
    rows = [f"{evil} {number}" for number in range(N_ROWS)]
    path = tmp_path / "<b>&.sqlite"

    def cost(Y, Z):
        return (Y != Z).sum(axis=1)

    cost.__name__ = evil
    options = {**QUICK, "estimator": Costly(), "rules": [Budget(3)]}
    with Session.open(path, X, [f"{evil} label", "joy"], cost, ids=rows, who=evil, **options) as session:
        assert "0 of 30 rows answered" in session._repr_html_()
        session.tell(rows[:2], [[f"{evil} label"], []])
        session.learn()
        session.skip(rows[2:3])
        session.tell(rows[3:4], [["joy"]])
        session.undo()
        session.tell(rows[4:5], [["joy"]])
        session.learn()
        html = session._repr_html_()
    assert "<script" not in html
    assert html.count("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;") >= 5
    for part in (
        "&lt;b&gt;&amp;.sqlite",
        "3 of 30 rows answered, 1 skipped",
        "expected cost of a prediction: 0.25",
    ):
        assert part in html
    for part in (
        "<svg",
        "skipped</td>",
        "taken back</td>",
        "none of the labels</td>",
        "The budget is used up",
    ):
        assert part in html
