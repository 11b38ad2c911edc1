"""Labels into a session and out of it: tables that have some already, exports, and Label Studio."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pandas as pd
import pytest
from refpair.active._tables import write_table
from refpair.labeling.pool import read_pool

from refpair.labeling import Session
from refpair.labeling.exchange import (
    import_label_studio,
    import_table,
    table_with_cells,
    write_label_studio,
)

LABELS = ["joy", "anger"]
CSV = "id,said,tempo\n" + "".join(f"s{i},so {i % 4} and {i % 3},{i}\n" for i in range(12))


@pytest.fixture
def start(tmp_path):
    sessions = []

    def start(text=CSV, labels=LABELS, name="pool.csv", **how):
        (tmp_path / name).write_bytes(text.encode())
        pool = read_pool(str(tmp_path / name), labels, **how)
        session = Session.open(tmp_path / "a.sqlite", X=pool.features.X, labels=pool.labels, ids=pool.ids)
        sessions.append(session)
        return session, pool

    yield start
    for session in sessions:
        session.close()


def answer_some(session, n=6):
    for i in range(n):
        session.tell([session.ids[i]], [[LABELS[i % 2]]])


# -- labels of the table -----------------------------------------------------------------------------------


def test_labels_of_the_table_are_taken_over_once(start):
    session, pool = start("id,n,joy,anger\na,1,1,0\nb,2,,\nc,3,0,0\n")
    assert import_table(session, pool.answered, "pool.csv") == 2
    assert import_table(session, pool.answered, "pool.csv") == 0
    assert session.answers().to_dict("index") == {"a": {"joy": 1, "anger": 0}, "c": {"joy": 0, "anger": 0}}
    assert set(session.history["who"]) == {"pool.csv"}


def test_what_a_person_said_counts_more_than_the_table(start):
    session, pool = start("id,n,joy,anger\na,1,1,0\nb,2,1,1\n")
    session.tell(["a"], [["anger"]], who="Ada")
    assert import_table(session, pool.answered, "pool.csv") == 1
    assert list(session.answers().loc["a"]) == [0, 1]


def test_rows_that_a_person_skipped_stay_skipped(start):
    session, pool = start("id,n,joy,anger\na,1,1,0\nb,2,1,1\n")
    session.skip(["a"])
    assert import_table(session, pool.answered, "pool.csv") == 1
    assert (session.n_answered, session.n_skipped) == (1, 1)
    session.undo()
    assert import_table(session, pool.answered, "pool.csv") == 1  # it was taken back: the table counts again


def test_labels_in_another_order_are_not_mixed_up(start, tmp_path):
    session, _ = start("id,n,joy,anger\na,1,,\nb,2,,\n")
    assert session.labels == LABELS
    pool = read_pool(str(_write(tmp_path, "id,n,joy,anger\na,1,1,0\nb,2,0,1\n")), LABELS[::-1])
    assert import_table(session, pool.answered, "pool.csv") == 2
    assert session.answers().to_dict("index") == {"a": {"joy": 1, "anger": 0}, "b": {"joy": 0, "anger": 1}}


def test_ids_that_are_numbers_stay_numbers(start):
    session, pool = start("id,n,joy,anger\n1,1,1,0\n2,2,,\n30,3,0,1\n")
    assert import_table(session, pool.answered, "pool.csv") == 2
    assert session.answers().index.tolist() == [1, 30]


# -- the export --------------------------------------------------------------------------------------------


def test_the_export_has_the_cells_the_labels_and_the_predictions(start):
    session, pool = start()
    answer_some(session)
    table = table_with_cells(session, pool)
    assert list(table.columns) == [
        "id", "said", "tempo", "joy", "anger", "skipped", "who", "at", "joy_predicted", "joy_probability",
        "anger_predicted", "anger_probability", "expected_cost",
    ]  # fmt: skip
    assert table["id"].tolist() == pool.ids
    assert table["said"].tolist() == pool.frame["said"].tolist()
    assert table.loc[1, ["joy", "anger"]].tolist() == [0, 1]
    assert table["joy"].isna().sum() == 6


NAMES = [
    "joy_predicted",
    "who",
    "at",
    "expected_cost",
    "skipped",
    "who_cell",
    "joy_probability",
    "Joy",
    "<b>",
    "=1+1",
]


def test_the_export_keeps_columns_that_are_called_like_its_own(start):
    rows = [f"s{i}," + ",".join(f"{name} {i} x" for name in NAMES) for i in range(8)]
    session, pool = start("\n".join(["id," + ",".join(NAMES), *rows]) + "\n")
    answer_some(session)
    table = table_with_cells(session, pool)
    assert table.columns.is_unique
    renamed = {
        name: f"{name}_cell"
        for name in ("joy_predicted", "at", "expected_cost", "skipped", "joy_probability")
    }
    renamed["who"] = "who_cell_cell"
    for name in NAMES:
        assert table[renamed.get(name, name)].tolist() == [f"{name} {i} x" for i in range(8)], name
    assert table["who"].tolist()[:6] == ["me"] * 6
    assert table["joy"].tolist()[:2] == [1, 0]


def test_the_export_keeps_an_id_that_does_not_name_the_rows(start):
    session, pool = start("id,n\n7,1\n7,2\n8,3\n", ["joy"])
    table = table_with_cells(session, pool)
    assert table["id"].tolist() == pool.ids
    assert table["id_cell"].tolist() == [7, 7, 8]
    session.close()


def test_the_export_keeps_a_chosen_id_and_the_column_called_id(start, tmp_path):
    pool = read_pool(str(_write(tmp_path, "id,key,n\n1,a,1\n1,b,2\n")), ["joy"], id_column="key")
    with Session.open(tmp_path / "b.sqlite", X=pool.features.X, labels=["joy"], ids=pool.ids) as session:
        table = table_with_cells(session, pool)
    assert table["id"].tolist() == table["key"].tolist() == ["a", "b"]
    assert table["id_cell"].tolist() == [1, 1]


def _write(folder, text):
    (folder / "other.csv").write_text(text)
    return folder / "other.csv"


def test_an_export_is_a_table_to_go_on_with(start, tmp_path):
    session, pool = start()
    answer_some(session)
    session.skip(["s9"])
    text = table_with_cells(session, pool).to_csv(index=False)
    again = read_pool(str(_write(tmp_path, text)), LABELS)
    assert again.ids == pool.ids
    with Session.open(tmp_path / "b.sqlite", X=again.features.X, labels=LABELS, ids=again.ids) as other:
        assert import_table(other, again.answered, "other.csv") == 6
        assert other.answers().to_dict("index") == session.answers().to_dict("index")


HOSTILE = [
    "<script>",
    '"',
    "two\nlines",
    "\u202eright",
    "=1+1",
    "'",
    "a,b",
    "🙂",
    "\t.",
    "%00",
    "a\rb",
    "\r\n.",
]


def test_hostile_cells_are_exported_to_the_letter(start, tmp_path):
    frame = pd.DataFrame(
        {"id": HOSTILE, "said": [f"x {cell} y" for cell in HOSTILE], "n": range(len(HOSTILE))}
    )
    text = frame.to_csv(index=False, lineterminator="\r\n")
    session, pool = start(text, ["<b>joy</b>", "=anger"])
    for row in HOSTILE:
        session.tell([row], [["=anger"]], who=row)
    write_table(table_with_cells(session, pool), tmp_path / "out.csv")
    table = pd.read_csv(tmp_path / "out.csv")
    assert table["id"].tolist() == table["who"].tolist() == HOSTILE
    assert table["said"].tolist() == frame["said"].tolist()
    assert table["=anger"].tolist() == [1] * len(HOSTILE)


# -- Label Studio ------------------------------------------------------------------------------------------


def test_tasks_come_in_the_order_of_the_session_with_its_interface(start, tmp_path):
    session, pool = start()
    answer_some(session)
    config = write_label_studio(session, pool, tmp_path / "tasks.json")
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
    session, pool = start(CSV.replace("said", name, 1))
    config = write_label_studio(session, pool, tmp_path / "tasks.json")
    view = ElementTree.fromstring(config.read_text())
    assert view.find("Table").get("value") == "$refpair_row"
    assert json.loads((tmp_path / "tasks.json").read_text())[0]["data"]["refpair_row"][name].startswith("so ")


def test_wrong_files_of_tasks_are_refused_before_anything_is_written(start, tmp_path):
    session, pool = start()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"tasks.xml: the name of tasks for Label Studio ends in .json"):
        write_label_studio(session, pool, tmp_path / "tasks.xml")
    session.add_labels(["$said"])
    with pytest.raises(ValueError, match=r"label '\$said': Label Studio takes what follows the \$"):
        write_label_studio(session, pool, tmp_path / "tasks.json")
    session.skip(session.ids)
    assert sorted(tmp_path.iterdir()) == before


def test_when_nothing_is_left_there_are_no_tasks(start, tmp_path):
    session, pool = start()
    session.skip(session.ids)
    with pytest.raises(ValueError, match="there is nothing left to label"):
        write_label_studio(session, pool, tmp_path / "tasks.json")


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
    session, _ = start()
    path = exported(
        tmp_path,
        ("s1", ("ada@x", ["joy"], 5), ("bob@x", ["anger"], 3)),
        ("s2", ("ada@x", [], 6)),
        ("s3", ("ada@x", None, 7)),
        ("s4", ("ada@x", None, 8), ("bob@x", ["joy", "anger"], 2)),
        ("s5",),
    )
    assert import_label_studio(session, path) == 5
    assert session.answers().to_dict("index") == {
        "s1": {"joy": 1, "anger": 0},  # the latest counts
        "s2": {"joy": 0, "anger": 0},
        "s4": {"joy": 1, "anger": 1},  # somebody has answered it
    }
    assert session.n_skipped == 1
    history = session.history
    assert history[["id", "who"]].values.tolist()[:2] == [["s1", "bob@x"], ["s1", "ada@x"]]
    assert str(history["at"][1]) == "2026-03-01 10:05:00+00:00"
    assert import_label_studio(session, path) == 0
    assert len(session.history) == 5


def test_tasks_of_another_table_and_labels_of_another_project_are_refused(start, tmp_path):
    session, _ = start()
    with pytest.raises(ValueError, match="there is no row with the id 'other'"):
        import_label_studio(session, exported(tmp_path, ("other", ("ada@x", ["joy"], 1))))
    with pytest.raises(ValueError, match=r"export.json: chosen but not among the label names: 'fear'"):
        import_label_studio(session, exported(tmp_path, ("s1", ("ada@x", ["fear"], 1))))
    assert len(session.history) == 0
