"""From a table as people have it to predictions: texts, categories, gaps, yes/no, and a column of tags."""

from __future__ import annotations

import contextlib
import io
import json

import numpy as np
import pandas as pd
import pytest

import refpair
from refpair import get_cost
from tests.cli.running import refpair_, works

TAGS = ["bad", "big", "good"]
FIT = ("--n-bits", 20, "-o", "model")


def make_table(n):
    rng = np.random.default_rng(0)
    words = np.array(["good", "bad", "day", "sad", "what", "not", "very", "so", "long", "tale"])
    frame = pd.DataFrame(
        {
            "key": [f"{i * 7919:08x}" for i in range(n)],
            "said": [" ".join(rng.choice(words, 5)) for _ in range(n)],
            "hue": rng.choice(["red", "blue", "green"], n),
            "size": rng.normal(10, 3, n).round(2),
            "live": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[::7, "size"] = np.nan
    frame.loc[5, "hue"] = None
    named = [[word for word in ("good", "bad") if word in said] for said in frame["said"]]
    sizes = frame["size"].tolist()
    for row, size in zip(named, sizes, strict=True):
        row += ["big"] * (size > 12)
    frame["tags"] = ["|".join(row) for row in named]
    return frame


def columns_of(frame):
    """Return the table with a column of 0 and 1 for each tag."""
    tags = frame["tags"].str.split("|")
    return frame.drop(columns="tags").assign(**{tag: [int(tag in row) for row in tags] for tag in TAGS})


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder with two halves of a table in many forms, and a model of the first one."""
    path = tmp_path_factory.mktemp("tables")
    frame = make_table(160)
    with contextlib.chdir(path):
        for name, part in (("train", frame[:100]), ("test", frame[100:])):
            part.to_csv(f"{name}.csv", index=False)
            part.to_csv(f"{name}_semicolon.csv", index=False, sep=";", decimal=",")
            part.to_csv(f"{name}.tsv.gz", index=False, sep="\t")
            part.to_csv(f"{name}_hash.csv", index=False, sep="#", encoding="utf-16")
            part.to_json(f"{name}.jsonl", orient="records", lines=True)
            part.to_parquet(f"{name}.parquet")
            columns_of(part).to_csv(f"{name}_columns.csv", index=False)
            listed = part.assign(tags=[row.split("|") if row else [] for row in part["tags"]])
            listed.to_json(f"{name}_lists.jsonl", orient="records", lines=True)
            listed.to_parquet(f"{name}_lists.parquet")
            part.assign(tags=part["tags"].str.replace("|", " ")).to_csv(f"{name}_blanks.csv", index=False)
        works("fit", "train.csv", "--labels", "tags", *FIT)
    return path


@pytest.fixture
def here(tables, monkeypatch):
    monkeypatch.chdir(tables)
    return tables


def read(printed):
    return pd.read_csv(io.StringIO(printed), keep_default_na=False)


def as_matrix(column):
    return np.array([[tag in row.split("|") for tag in TAGS] for row in column], int)


def test_fit_tells_what_became_of_the_columns(here):
    said = works("fit", "train.csv", "--labels", "tags", "--n-bits", 20, "-o", here / "again")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines() if "│" in line]
    assert [row[:2] for row in rows] == [
        ["key", "ignored"], ["said", "text"], ["hue", "category"], ["size", "number"], ["live", "boolean"],
    ]  # fmt: skip
    assert [row[3] for row in rows] == ["", "", "1", "15", ""]
    assert "out of bag, on the 100 training rows: f1 0." in said
    assert (here / "again").stat().st_size > 1000
    (here / "again").unlink()


@pytest.mark.usefixtures("here")
def test_fit_predict_evaluate():
    predicted = read(works("predict", "model", "test.csv"))
    assert predicted.columns.tolist() == ["tags"]
    test = pd.read_csv("test.csv", keep_default_na=False)
    score = get_cost("f1").mean(as_matrix(test["tags"]), as_matrix(predicted["tags"]))
    assert score > 0.9
    assert f"│ f1 *              │ {score:.4f} │ higher │" in works("evaluate", "model", "test.csv")
    model = refpair.load("model")
    frame = pd.read_csv("test.csv", keep_default_na=False)
    frame["size"] = pd.to_numeric(frame["size"])
    assert model.predict(frame)["tags"].tolist() == predicted["tags"].tolist()


FORMS = [
    ("_semicolon.csv",),
    (".tsv.gz",),
    (".jsonl",),
    (".parquet",),
    ("_hash.csv", "--sep", "#", "--encoding", "utf-16"),
]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_every_format_gives_the_same_predictions(form, tmp_path):
    ending, *options = form
    expected = works("predict", "model", "test.csv", "--proba")
    assert works("predict", "model", f"test{ending}", "--proba", *options) == expected
    told = works("evaluate", "model", "test.csv").splitlines()[1:]
    assert works("evaluate", "model", f"test{ending}", *options).splitlines()[1:] == told
    other = tmp_path / "other"
    works("fit", f"train{ending}", "--labels", "tags", *options, "--n-bits", 20, "-o", other)
    assert works("predict", other, "test.csv", "--proba") == expected


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_standard_input(ending, tables, tmp_path):
    expected = works("predict", "model", "test.csv")
    assert works("predict", "model", "-", stdin=(tables / f"test.{ending}").read_text()) == expected
    train = (tables / f"train.{ending}").read_text()
    works("fit", "-", "--labels", "tags", "--n-bits", 20, "-o", tmp_path / "model", stdin=train)
    assert works("predict", tmp_path / "model", "test.csv") == expected
    test = (tables / f"test.{ending}").read_text()
    assert "standard input, 60 rows" in works("evaluate", "model", "-", stdin=test)


@pytest.mark.usefixtures("here")
def test_tags_as_columns_give_the_same_predictions(tmp_path):
    works("fit", "train_columns.csv", "--labels", "bad,big,good", "--n-bits", 20, "-o", tmp_path / "model")
    found = read(works("predict", tmp_path / "model", "test.csv"))
    assert found.columns.tolist() == TAGS
    expected = as_matrix(read(works("predict", "model", "test.csv"))["tags"])
    np.testing.assert_array_equal(found, expected)
    # And a model of names can be compared with columns.
    told = works("evaluate", "model", "test.csv").splitlines()[1:]
    assert works("evaluate", "model", "test_columns.csv").splitlines()[1:] == told
    assert works("evaluate", tmp_path / "model", "test_columns.csv").splitlines()[1:] == told


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "options"), [("lists.jsonl", ()), ("lists.parquet", ()), ("blanks.csv", ("--label-sep", " "))]
)
def test_tags_as_lists_or_with_another_separator(name, options, tmp_path):
    model = tmp_path / "model"
    works("fit", f"train_{name}", "--labels", "tags", *options, "--n-bits", 20, "-o", model, "--holdout", 0.1)
    works("fit", f"train_{name}", "--labels", "tags", *options, "--n-bits", 20, "-o", model)
    expected = read(works("predict", "model", "test.csv"))["tags"].str.split("|").map(set)
    works("predict", model, "test.csv", "-o", tmp_path / "out.jsonl")
    found = [json.loads(line)["tags"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    parted = [row if isinstance(row, list) else (row or "").split(" ") for row in found]
    assert [set(row) or {""} for row in parted] == expected.tolist()
    told = works("evaluate", "model", "test.csv").splitlines()[1:]
    assert works("evaluate", model, f"test_{name}").splitlines()[1:] == told


@pytest.mark.usefixtures("here")
def test_more_than_the_labels():
    printed = works("predict", "model", "test.csv", "--id", "key", "--proba", "--expected-cost", "--sets", 3)
    found = read(printed)
    sets = [f"set_{k}{more}" for k in (1, 2, 3) for more in ("", "_probability")]
    chances = [f"{tag}_probability" for tag in TAGS]
    assert found.columns.tolist() == ["key", "tags", *chances, "expected_cost", *sets]
    assert found["key"].tolist() == pd.read_csv("test.csv", dtype=str)["key"].tolist()
    model = refpair.load("model")
    X = model[0].transform(pd.read_csv("test.csv"))
    np.testing.assert_allclose(found[chances], model[-1].predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(found["expected_cost"], model[-1].expected_cost(X), atol=1e-6)
    vectors, probabilities = model[-1].predict_set_proba(X, 3)
    np.testing.assert_allclose(found["set_2_probability"], probabilities[:, 1], atol=1e-6)
    np.testing.assert_array_equal(as_matrix(found["set_1"]), vectors[:, 0])


@pytest.mark.usefixtures("here")
def test_predictions_beside_the_table():
    found = read(works("predict", "model", "test.csv", "--join"))
    given = pd.read_csv("test.csv", keep_default_na=False)
    assert found.columns.tolist() == [*given.columns, "tags_predicted"]
    assert found["said"].tolist() == given["said"].tolist()
    assert found["tags"].tolist() == given["tags"].tolist()
    assert found["tags_predicted"].tolist() == read(works("predict", "model", "test.csv"))["tags"].tolist()


@pytest.mark.usefixtures("here")
def test_quality_on_other_rows(tmp_path):
    how = ("--labels", "tags", "--n-bits", 20, "-o", tmp_path / "model")
    said = works("fit", "train.csv", *how, "--test", "test.csv").splitlines()
    table = works("evaluate", tmp_path / "model", "test.csv")
    (score,) = (line.split("│")[2].strip() for line in table.splitlines() if "f1 *" in line)
    assert said[-2] == f"measured on 60 other rows: f1 {score} (higher is better)"
    said = works("fit", "train.csv", *how, "--holdout", 0.2).splitlines()
    assert said[-3].startswith("out of bag, on the 80 training rows: f1 ")
    assert said[-2].startswith("measured on 20 other rows: f1 ")
    assert said[-1].startswith("80 rows, ")


def test_each_label_has_its_share_of_the_held_out_rows(tmp_path):
    rows = [f"{i % 7}.5,label{i % 10}" for i in range(20)]
    (tmp_path / "twice.csv").write_text("\n".join(["a,tags", *rows]))
    how = ("--labels", "tags", "--n-bits", 8, "-o", tmp_path / "m", "--holdout", 0.5)
    assert "10 rows, 1 feature, 10 labels" in works("fit", tmp_path / "twice.csv", *how)


@pytest.mark.parametrize("cost", [("--cost", "f1"), ("--false-negative", "2")])
def test_labels_of_held_out_rows_that_no_training_row_has(tmp_path, cost):
    rows = [f"{i % 7}.5,{'x|y' if i % 2 else 'y'}|rare{i}" for i in range(40)]
    (tmp_path / "rare.csv").write_text("\n".join(["a,tags", *rows]))
    how = ("--labels", "tags", "--n-bits", 8, "-o", tmp_path / "m", "--holdout", 0.25, *cost)
    said = works("fit", tmp_path / "rare.csv", *how)
    assert "measured on 10 other rows" in said
    assert "32 labels" in said


@pytest.mark.usefixtures("here")
def test_kinds_and_dropped_columns(tmp_path):
    how = ("--labels", "tags", "--kind", "hue=ignored", "--kind", "live = category", "--drop", "size")
    works("fit", "train.csv", *how, "--n-bits", 20, "-o", tmp_path / "model")
    columns = refpair.load(tmp_path / "model")[0].columns_
    assert columns["kind"].to_dict() == {
        "key": "ignored", "said": "text", "hue": "ignored", "live": "category",
    }  # fmt: skip
    pd.read_csv("test.csv").drop(columns=["size", "hue", "key"]).to_csv(tmp_path / "less.csv", index=False)
    expected = works("predict", tmp_path / "model", "test.csv")
    assert works("predict", tmp_path / "model", tmp_path / "less.csv") == expected


def test_rows_without_labels_are_left_out_and_said(tmp_path):
    (tmp_path / "t.csv").write_text("a,joy,sad\n1,yes,no\n2,,\n4,no,yes\n7,yes,yes\n8,,\n")
    result = refpair_("fit", tmp_path / "t.csv", "--labels", "joy,sad", "--n-bits", 8, "-o", tmp_path / "m")
    assert result.stderr == "t.csv: 2 of 5 rows have no labels and are left out\n"
    assert result.stdout.splitlines()[-1].startswith("3 rows, 1 feature, 2 labels, ")
    predicted = works("predict", tmp_path / "m", tmp_path / "t.csv").splitlines()
    assert predicted[0] == "joy,sad"
    assert len(predicted) == 6
    assert set(",".join(predicted[1:]).split(",")) <= {"yes", "no"}
    result = refpair_("evaluate", tmp_path / "m", tmp_path / "t.csv")
    assert result.stderr == "t.csv: 2 of 5 rows have no labels and are left out\n"
    assert "m on t.csv, 3 rows" in result.stdout


def test_an_empty_cell_of_names_is_none_of_them(tmp_path):
    (tmp_path / "t.csv").write_text("a,tags\n1,x\n2,\n4,y\n")
    result = refpair_("fit", tmp_path / "t.csv", "--labels", "tags", "--n-bits", 8, "-o", tmp_path / "m")
    assert result.stderr == "t.csv: 1 of 3 rows has an empty cell in 'tags', taken as none of the labels\n"
    assert "3 rows" in result.stdout


@pytest.mark.parametrize(
    ("train", "test"),
    [
        ("a;tags\n1;1,2\n2;2\n3;3,1\n5;2,3\n", "a;tags\n1;1,2\n5;2,3\n"),  # no decimal comma
        ("a,tags\n1,1|2\n2,2\n3,3\n5,\n", "a,tags\n1,1\n3,3\n5,\n"),
        ("a,tags\n1,0|1\n2,1\n5,0\n", "a,tags\n1,1\n2,0\n"),
    ],
)
def test_names_that_are_numbers(tmp_path, train, test):
    (tmp_path / "train.csv").write_text(train)
    (tmp_path / "test.csv").write_text(test)
    works("fit", tmp_path / "train.csv", "--labels", "tags", "--n-bits", 8, "-o", tmp_path / "m")
    printed = works("evaluate", tmp_path / "m", tmp_path / "test.csv", "--per-label")
    assert "does not know" not in printed
    names = [line.split("│")[1].strip() for line in printed.splitlines()[-4:] if "│" in line]
    assert set(names) <= {"0", "1", "2", "3"}


@pytest.mark.usefixtures("here")
def test_labels_that_the_model_does_not_know(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("said,hue,size,live,tags\nso good,red,1,yes,good|novel\nbad,blue,2,no,bad\n")
    printed = works("evaluate", "model", path, "--per-label")
    assert "The model does not know the labels novel: where they apply, they are missed." in printed
    assert "│ novel │         – │  0.000 │ 0.000 │            1 │         0 │" in printed
