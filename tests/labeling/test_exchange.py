"""Labels out of a session and into it: exports, and Label Studio."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from refpair.datasets.load import read_data
from refpair.labeling import Session
from refpair.labeling.label_studio import import_annotations, write_project

LABELS = ["joy", "anger"]
CSV = "id,said,tempo\n" + "".join(f"s{i},so {i % 4} and {i % 3},{i * 5 % 7}\n" for i in range(12))


@pytest.fixture
def start(tmp_path):
    sessions = []

    def start(text=CSV, labels=LABELS, name="pool.csv", session="a.sqlite", **how):
        (tmp_path / name).write_bytes(text.encode())
        opened = Session.open(tmp_path / session, read_data(str(tmp_path / name)).X, labels, **how)
        sessions.append(opened)
        return opened

    yield start
    for session in sessions:
        session.close()


def answer_some(session, n=6):
    for i in range(n):
        session.tell([session.ids[i]], [[LABELS[i % 2]]])


# -- the export --------------------------------------------------------------------------------------------


def test_the_export_has_the_cells_and_the_labels_of_answered_rows(start, tmp_path):
    session = start()
    answer_some(session)
    session.skip(["s9"])
    session.export(tmp_path / "out.csv")
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns) == ["id", "said", "tempo", "joy", "anger"]
    assert table["id"].tolist() == session.ids[:6]
    assert table["said"].tolist() == session.rows.cells["said"].tolist()[:6]
    assert table[LABELS].to_numpy().tolist() == [[1, 0], [0, 1]] * 3


def test_labels_stay_where_the_table_has_them(start, tmp_path):
    session = start("joy,id,n,anger,said\n1,a,1,0,so\n,b,5,,well\n,c,3,,oh\n")
    session.tell(["c"], [["anger"]])
    session.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "joy,id,n,anger,said\n1,a,1,0,so\n0,c,3,1,oh\n"


def test_the_export_of_rows_that_are_called_by_their_cells_has_no_ids(start, tmp_path):
    session = start("said,n\nso good,1\nso bad,5\nwell,3\n", ["joy"])
    session.tell(session.ids[:2], [["joy"], []])
    session.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "said,n,joy\nso good,1,1\nso bad,5,0\n"


def test_ids_that_are_in_no_column_are_exported(tmp_path):
    frame = pd.DataFrame({"said": ["so good", "so bad", "well"]}, index=pd.Index([7, 5, 3], name="key"))
    with Session.open(tmp_path / "a.sqlite", frame, ["joy"]) as session:
        session.tell([5, 3], [["joy"], []])
        wanted = [{"key": 5, "said": "so bad", "joy": 1}, {"key": 3, "said": "well", "joy": 0}]
        assert session.labeled().to_dict("records") == wanted
    with Session.open(tmp_path / "b.sqlite", frame, ["joy"], ids=["x", "y", "z"]) as session:
        session.tell(["y"], [["joy"]])
        assert session.labeled().to_dict("records") == [{"id": "y", "said": "so bad", "joy": 1}]
    with Session.open(tmp_path / "c.sqlite", np.eye(3), ["joy"]) as session:
        session.tell([2, 0], [["joy"], []])
        assert session.labeled().to_dict("records") == [{"id": 2, "joy": 1}, {"id": 0, "joy": 0}]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet"])
def test_an_export_is_a_table_to_go_on_with(start, tmp_path, name):
    session = start()
    answer_some(session)
    session.export(tmp_path / name)
    table = read_data(str(tmp_path / name)).X
    with Session.open(tmp_path / "b.sqlite", table, LABELS) as other:
        assert other.n_taken_over == 6
        assert other.answers().to_dict("index") == session.answers().to_dict("index")


HOSTILE = ["<script>", '"', "two\nlines", "\u202eright", "=1+1", "'", "a,b", "🙂", "%00", "a\rb"]


def test_hostile_cells_are_exported_to_the_letter(tmp_path):
    frame = pd.DataFrame({"id": HOSTILE, "said": [f"x {cell} y" for cell in HOSTILE]})
    with Session.open(tmp_path / "a.sqlite", frame, ["<b>joy</b>", "=anger"]) as session:
        for row in HOSTILE:
            session.tell([row], [["=anger"]], who=row)
        session.export(tmp_path / "out.csv")
    table = pd.read_csv(tmp_path / "out.csv")
    assert table["id"].tolist() == HOSTILE
    assert table["said"].tolist() == frame["said"].tolist()
    assert table["=anger"].tolist() == [1] * len(HOSTILE)


# -- Label Studio ------------------------------------------------------------------------------------------


def test_tasks_come_in_the_order_of_the_session_with_its_interface(start, tmp_path):
    session = start()
    answer_some(session)
    config = write_project(session, tmp_path / "tasks.json")
    assert config == tmp_path / "tasks.xml"
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    assert [task["data"]["refpair_id"] for task in tasks] == session.ranking()
    assert len(tasks) == 6
    scores = [task["predictions"][0]["score"] for task in tasks]
    assert scores == sorted(scores)
    assert tasks[0]["predictions"][0]["model_version"] == "refpair, 6 answers"
    view = ElementTree.fromstring(config.read_text())
    assert view.find("Text").get("value") == "$said"
    assert [choice.get("value") for choice in view.iter("Choice")] == LABELS


@pytest.mark.parametrize("name", ["what was said", "said?", "$said", "<b>", "über"])
def test_columns_that_label_studio_cannot_show_by_name_are_shown_in_a_table(start, tmp_path, name):
    session = start(CSV.replace("said", name, 1))
    config = write_project(session, tmp_path / "tasks.json")
    view = ElementTree.fromstring(config.read_text())
    assert view.find("Table").get("value") == "$refpair_row"
    assert json.loads((tmp_path / "tasks.json").read_text())[0]["data"]["refpair_row"][name].startswith("so ")


def test_wrong_files_of_tasks_are_refused_before_anything_is_written(start, tmp_path):
    session = start()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"tasks.xml: the name of tasks for Label Studio ends in .json"):
        write_project(session, tmp_path / "tasks.xml")
    session.add_labels(["$said"])
    with pytest.raises(ValueError, match=r"label '\$said': Label Studio takes what follows the \$"):
        write_project(session, tmp_path / "tasks.json")
    session.skip(session.ids)
    assert sorted(tmp_path.iterdir()) == before


def test_when_nothing_is_left_there_are_no_tasks(start, tmp_path):
    session = start()
    session.skip(session.ids)
    with pytest.raises(ValueError, match="there is nothing left to label"):
        write_project(session, tmp_path / "tasks.json")


def exported(folder, *tasks):
    """An export of Label Studio: for each task the id, and who said what and when."""
    content = []
    for row, *answers in tasks:
        made = [
            {
                "completed_by": {"email": who},
                "was_cancelled": labels is None,
                "result": [{"type": "choices", "value": {"choices": labels or []}}],
                "updated_at": f"2026-03-01T10:{minute:02d}:00Z",
            }
            for who, labels, minute in answers
        ]
        content.append({"data": {"refpair_id": row}, "annotations": made})
    path = folder / "export.json"
    path.write_text(json.dumps(content))
    return path


def test_annotations_are_taken_over_once_with_who_and_when(start, tmp_path):
    session = start()
    path = exported(
        tmp_path,
        ("s1", ("ada@x", ["joy"], 5), ("bob@x", ["anger"], 3)),
        ("s2", ("ada@x", [], 6)),
        ("s3", ("ada@x", None, 7)),
        ("s4", ("ada@x", None, 8), ("bob@x", ["joy", "anger"], 2)),
        ("s5",),
    )
    assert import_annotations(session, path) == 5
    assert session.answers().to_dict("index") == {
        "s1": {"joy": 1, "anger": 0},  # the latest counts
        "s2": {"joy": 0, "anger": 0},
        "s4": {"joy": 1, "anger": 1},  # somebody has answered it
    }
    assert session.n_skipped == 1
    history = session.history
    assert history[["id", "who"]].values.tolist()[:2] == [["s1", "bob@x"], ["s1", "ada@x"]]
    assert str(history["at"][1]) == "2026-03-01 10:05:00+00:00"
    assert import_annotations(session, path) == 0
    assert len(session.history) == 5


def test_tasks_of_another_table_and_labels_of_another_project_are_refused(start, tmp_path):
    session = start()
    with pytest.raises(ValueError, match="there is no row with the id 'other'"):
        import_annotations(session, exported(tmp_path, ("other", ("ada@x", ["joy"], 1))))
    with pytest.raises(ValueError, match=r"export.json: chosen but not among the label names: 'fear'"):
        import_annotations(session, exported(tmp_path, ("s1", ("ada@x", ["fear"], 1))))
    assert len(session.history) == 0
