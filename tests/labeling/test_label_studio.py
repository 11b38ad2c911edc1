from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from refpair.labeling import label_studio
from refpair.labeling.label_studio import Annotation, labeling_config, write_tasks

EXPORTS = Path(__file__).parent / "label_studio"
REAL_NAMES = ["joy", "R & B", 'say "hi" <b>', "漢字", "1", " two\nlines "]
NAMES = ["joy", "anger", "calm"]
FRAME = pd.DataFrame({"text": ["a", "b", "c"], "tempo": [1.5, np.nan, -3]})
GIVEN = {
    "frame": FRAME,
    "ids": ["x", 2, "3"],
    "labels": NAMES,
    "probabilities": np.full((3, 3), 0.25),
    "predicted": np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]]),
    "scores": np.array([0.5, 0.1, 0.5]),
    "model_version": "first",
}


def read_export(path, labels):
    return pd.DataFrame(label_studio.read_export(path, labels), columns=Annotation._fields, dtype=object)


def written(folder, **changes):
    write_tasks(folder / "tasks.json", **{**GIVEN, **changes})
    return json.loads((folder / "tasks.json").read_text())


def region(*choices, **fields):
    return {
        "from_name": "labels",
        "to_name": "row",
        "type": "choices",
        "value": {"choices": [*choices]},
        **fields,
    }


def annotation(*choices, **fields):
    return {
        "completed_by": 1,
        "result": [region(*choices)] if choices else [],
        "was_cancelled": False,
        "created_at": "2026-03-01T10:00:00.5Z",
        **fields,
    }


def task(row, *annotations, **fields):
    return {"id": 17, "data": {"refpair_id": row}, "annotations": [*annotations], **fields}


def export(folder, *tasks):
    path = folder / "export.json"
    path.write_text(json.dumps([*tasks]))
    return path


def test_tasks(tmp_path):
    first, second, third = written(tmp_path)
    assert [task["data"]["refpair_id"] for task in (first, second, third)] == [2, "x", "3"]  # by score
    assert first == {
        "data": {"text": "b", "tempo": None, "refpair_id": 2},
        "meta": {"refpair_probabilities": {"joy": 0.25, "anger": 0.25, "calm": 0.25}},
        "predictions": [{"model_version": "first", "score": 0.1, "result": []}],
    }
    assert second["data"] == {"text": "a", "tempo": 1.5, "refpair_id": "x"}
    (prediction,) = second["predictions"]
    assert prediction["score"] == 0.5
    assert prediction["result"] == [region("joy", "calm")]


def test_tasks_with_a_table(tmp_path):
    for task in written(tmp_path, table=True):
        cells = task["data"].pop("refpair_row")
        del task["data"]["refpair_id"]
        assert task["data"] == cells


def test_all_kinds_of_cells(tmp_path):
    cells = [
        (None, None),
        (np.nan, None),
        (pd.NA, None),
        (pd.NaT, None),
        (np.datetime64("NaT", "s"), None),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3),
        (np.bool_(True), True),
        (-np.inf, "-inf"),
        (2**70, 2**70),
        ("</script>\u2028漢\x00", "</script>\u2028漢\x00"),
        (pd.Timestamp("2026-01-02 03:04"), "2026-01-02T03:04:00"),
        (np.datetime64("2026-01-02T03:04", "ns"), "2026-01-02T03:04:00"),
        (np.timedelta64(36, "h"), "1 days 12:00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (Decimal("1.10"), "1.10"),
        ([1, "a"], "[1, 'a']"),
    ]
    n = len(cells)
    frame = pd.DataFrame({5: pd.Series([cell for cell, _ in cells], dtype=object)}).set_axis([0] * n)
    tasks = written(
        tmp_path,
        frame=frame,
        ids=range(n),
        probabilities=np.zeros((n, 3)),
        predicted=np.zeros((n, 3), bool),
        scores=np.zeros(n),
    )
    assert [task["data"]["5"] for task in tasks] == [wanted for _, wanted in cells]
    assert [task["data"]["refpair_id"] for task in tasks] == list(range(n))


def test_no_rows(tmp_path):
    nothing = np.zeros((0, 3))
    assert (
        written(tmp_path, frame=FRAME[:0], ids=[], probabilities=nothing, predicted=nothing, scores=[]) == []
    )


@pytest.mark.parametrize("name", ["refpair_id", "refpair_row"])
def test_columns_whose_names_are_taken(tmp_path, name):
    with pytest.raises(ValueError, match=f"column '{name}': refpair writes a field of that name; rename"):
        written(tmp_path, frame=FRAME.rename(columns={"tempo": name}))
    assert not list(tmp_path.iterdir())


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "tasks.json"
    path.write_text("old")

    def full(descriptor):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="no space left"):
            written(tmp_path)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["tasks.json"]
    assert len(written(tmp_path)) == 3
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        written(tmp_path / "missing")


def test_config():
    names = [*REAL_NAMES, "'", "tab\t", "]]>", "$", "5 $", "é", "a,b"]
    view = ElementTree.fromstring(labeling_config(names, text="lyrics"))
    text, choices = view
    assert view.tag == "View"
    assert (text.tag, text.attrib) == ("Text", {"name": "row", "value": "$lyrics"})
    assert choices.tag == "Choices"
    assert {"name": "labels", "toName": "row", "choice": "multiple"}.items() <= choices.attrib.items()
    assert [choice.get("value") for choice in choices] == names
    assert [choice.get("hotkey") for choice in choices] == [*"123456789", *[None] * (len(names) - 9)]


@pytest.mark.parametrize(
    ("options", "objects"),
    [
        ({}, [("Table", "row", "$refpair_row")]),
        ({"image": "url"}, [("Image", "row", "$url")]),
        ({"image": "url", "text": "title"}, [("Image", "row", "$url"), ("Text", "text", "$title")]),
    ],
)
def test_what_a_config_shows(options, objects):
    *shown, choices = ElementTree.fromstring(labeling_config(NAMES, **options))
    assert [(one.tag, one.get("name"), one.get("value")) for one in shown] == objects
    assert choices.get("toName") == "row"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["joy", ""], "label '': it is empty"),
        (["bell\a"], "control characters"),
        (["\ud800"], "control characters"),
        (["$price"], r"label '\$price': Label Studio takes what follows the \$ for a column"),
    ],
)
def test_labels_that_label_studio_would_misread(names, message):
    with pytest.raises(ValueError, match=message):
        labeling_config(names)


@pytest.mark.parametrize(
    ("name", "people"),
    [("export.json", ["1", "2"]), ("export_snapshot.json", ["ann@example.org", "ben@example.org"])],
)
def test_a_real_export(name, people):
    answers = read_export(EXPORTS / name, REAL_NAMES)
    ann, ben = people
    assert answers.drop(columns=["asked", "at"]).to_numpy().tolist() == [
        ["last", "skip", [], ann],
        ["8", "labels", ["joy", "漢字"], ann],
        [7, "labels", REAL_NAMES, ann],
        [7, "labels", ["joy"], ben],
        [9, "labels", [], ann],
    ]
    assert answers["at"][0] == "2026-11-17T08:31:39.808290+00:00"


def test_a_real_export_with_other_names():
    with pytest.raises(
        ValueError, match=r"export\.json: chosen but not among the label names: '1', '漢字'; add"
    ):
        read_export(EXPORTS / "export.json", [name for name in REAL_NAMES if name not in ("1", "漢字")])


def test_a_real_export_as_json_min():
    with pytest.raises(ValueError, match=r'export_min\.json: .*JSON_MIN, which leaves out.*again as "JSON"'):
        read_export(EXPORTS / "export_min.json", REAL_NAMES)


def test_regions(tmp_path):
    rating = {"from_name": "stars", "to_name": "row", "type": "rating", "value": {"rating": 3}}
    result = [region("calm"), rating, region("joy", "calm", from_name="more")]
    answers = read_export(export(tmp_path, task("a", annotation(result=result))), NAMES)
    assert answers["labels"][0] == ["joy", "calm"]
    answers = read_export(export(tmp_path, task("a", annotation(result=[rating]))), NAMES)
    assert answers["labels"][0] == []


def test_skips_have_no_labels(tmp_path):
    answers = read_export(export(tmp_path, task("a", annotation("joy", was_cancelled=True))), NAMES)
    assert answers[["kind", "labels"]].to_numpy().tolist() == [["skip", []]]


def test_several_annotators_in_order_of_time(tmp_path):
    path = export(
        tmp_path,
        task("b", annotation(completed_by=9)),
        task(
            "a",
            annotation(completed_by=5, created_at="2026-03-01T12:30:00+02:00"),
            annotation(completed_by=2, created_at="2026-03-01T10:00:00.25Z"),
            annotation(completed_by={"id": 3}, created_at="2026-03-01T10:00:00"),
            annotation(completed_by=4, created_at="2026-01-01T00:00:00Z", updated_at="2026-03-01T10:29:59Z"),
            annotation(completed_by=None, created_at=None),
            annotation(
                completed_by={"id": 1, "email": "a@example.org"}, created_at="2026-02-28T23:59:59.99Z"
            ),
        ),
        task("c"),
    )
    answers = read_export(path, NAMES)
    assert list(answers["id"]) == ["b"] + ["a"] * 6
    assert list(answers["who"]) == ["9", None, "a@example.org", "3", "2", "4", "5"]
    assert answers["at"][1] is None
    assert answers["at"][6] == "2026-03-01T10:30:00.000000+00:00"
    assert list(answers["at"][2:]) == sorted(answers["at"][2:])


def test_what_may_be_missing(tmp_path):
    bare = {"data": {"refpair_id": 1}, "annotations": [{}]}
    answers = read_export(export(tmp_path, bare), NAMES)
    assert answers.to_numpy().tolist() == [[1, "labels", [], NAMES, None, None]]


def test_nothing_to_read(tmp_path):
    answers = read_export(export(tmp_path, task("a"), {"data": {}, "annotations": []}), NAMES)
    assert len(answers) == 0


def test_byte_order_mark(tmp_path):
    path = export(tmp_path, task("a", annotation("joy")))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_export(path, NAMES)) == 1


NO_EXPORT = 'export the project there as "JSON"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NO_EXPORT),
        ("id,text\n1,a\n", "it is not JSON.*" + NO_EXPORT),
        (b"\xff\xfe[", "it is not JSON.*" + NO_EXPORT),
        ("[NaN]", "NaN is no number of JSON.*" + NO_EXPORT),
        ("[" * 100_000, "nested too deeply.*" + NO_EXPORT),
        ('[{"id": ' + "9" * 5000 + "}]", "it is not JSON.*" + NO_EXPORT),
        ("{}", "an object where a list of tasks should be.*" + NO_EXPORT),
        ("[1]", "item 1 is no task.*" + NO_EXPORT),
        ('[{"id": 1, "text": "a", "label": "b"}]', "item 1 is no task.*" + NO_EXPORT),
        ('[{"id": 1, "data": {}, "completions": []}]', "item 1 is no task.*" + NO_EXPORT),
    ],
)
def test_files_that_are_no_export(tmp_path, text, message):
    path = tmp_path / "e.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=rf"(?s)e\.json: .*{message}"):
        read_export(path, NAMES)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            task(None, annotation()),
            "task 17: 'refpair_id', .* holds null .*import the tasks that refpair writes",
        ),
        (task(1.5, annotation()), "task 17: 'refpair_id', .* holds a number in its data"),
        (task(True, annotation()), "task 17: 'refpair_id', .* holds true or false"),
        (
            task("a", annotation(), data={"text": "b"}),
            "task 17: .refpair_id., .* missing .*refpair writes",
        ),
        (task("a", annotation(), data={}, id=None), "item 1: 'refpair_id', .* is missing"),
        (task("a", 3), "task 17: an annotation is a number where an object should be"),
        (task("a", annotations={}), 'task 17: "annotations" is an object where a list should be'),
        (task("a", annotation(was_cancelled="yes")), '"was_cancelled" is a text where true or false'),
        (task("a", annotation(completed_by=[1])), '"completed_by" holds a list'),
        (task("a", annotation(completed_by=True)), '"completed_by" holds true or false'),
        (task("a", annotation(created_at=5)), "the time of an annotation is a number where a text should be"),
        (task("a", annotation(created_at="yesterday")), "task 17: 'yesterday' is not a time such as"),
        (task("a", annotation(created_at="0001-01-01T00:00:00+23:00")), "task 17: '0001-.* is not a time"),
        (task("a", annotation(result={})), '"result" is an object where a list should be'),
        (task("a", annotation(result=["joy"])), "a region is a text where an object should be"),
        (task("a", annotation(result=[{"type": "choices"}])), 'the "value" of choices is null'),
        (task("a", annotation(result=[{"type": "choices", "value": {}}])), '"choices" is null'),
        (task("a", annotation(["joy", "wild"])), "a choice is a list where a name.*allowNested"),
    ],
)
def test_exports_with_something_wrong(tmp_path, bad, message):
    with pytest.raises(ValueError, match=rf"export\.json: .*{message}"):
        read_export(export(tmp_path, bad), NAMES)
