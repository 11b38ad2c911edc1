from __future__ import annotations

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from refpair.datasets import Table, match_columns, read_table

CSV = """\
title,tempo,live,joy,anger
"Hey, you",120.5,True,1,false
Oh,,False,0,TRUE
Ah,-3e2,True,1,false
"""
X = [[120.5, 1], [np.nan, 0], [-300, 1]]
Y = [[1, 0], [0, 1], [1, 0]]


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text(CSV)
    return path


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_csv(csv):
    table = read_table(csv, ["joy", "anger"], drop=["title"])
    assert repr(table) == "Table('songs.csv': 3 instances, 2 features, 2 labels)"
    assert table.feature_names == ["tempo", "live"]
    assert table.label_names == ["joy", "anger"]
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.Y, Y)
    assert table.X.dtype == np.float64
    assert table.Y.dtype == np.uint8
    np.testing.assert_array_equal(read_table(csv, ["anger", "joy"], drop=["title"]).Y, np.array(Y)[:, ::-1])


def test_other_ways_to_write_it(tmp_path, csv):
    frame = pd.read_csv(csv)
    paths = [tmp_path / name for name in ("s.tsv", "s.csv.gz", "s.TSV.gz", "s.parquet")]
    frame.to_csv(paths[0], sep="\t", index=False)
    paths[1].write_bytes(gzip.compress(CSV.encode()))
    frame.to_csv(paths[2], sep="\t", index=False)
    frame.to_parquet(paths[3])
    for path in paths:
        table = read_table(path, ["joy", "anger"], drop=["title"])
        np.testing.assert_array_equal(table.X, X)
        np.testing.assert_array_equal(table.Y, Y)


def test_byte_order_mark_and_blanks_in_the_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa, b ,joy\n1, 2,1\n")
    table = read_table(path, ["joy"])
    assert table.feature_names == ["a", "b"]
    np.testing.assert_array_equal(table.X, [[1, 2]])


def test_kinds_of_number_columns(tmp_path):
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "truth": pd.array([True, None, False], dtype="boolean"),
            "empty": [None, None, None],
            "small": np.array([1, 2, 3], dtype=np.int8),
            "joy": pd.array([True, False, True], dtype="boolean"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    nan = np.nan
    expected = [[1, 1, nan, 1], [nan, nan, nan, 2], [3, 0, nan, 3]]
    table = read_table(tmp_path / "t.parquet", ["joy"])
    np.testing.assert_array_equal(table.X, expected)
    frame.to_csv(tmp_path / "t.csv", index=False)
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv", ["joy"]).X, expected)


def test_labels_may_be_absent(csv):
    table = read_table(csv, drop=["title", "joy", "anger"], require_labels=False)
    assert table.Y is None
    assert table.label_names == []
    assert repr(table).endswith("no labels)")
    # Of three labels two are there: not enough for Y, but none of them is a feature.
    table = read_table(csv, ["joy", "anger", "sorrow"], drop=["title"], require_labels=False)
    assert table.Y is None
    assert table.feature_names == ["tempo", "live"]
    full = read_table(csv, ["joy"], drop=["title", "anger"], require_labels=False)
    np.testing.assert_array_equal(full.Y[:, 0], [1, 0, 1])


def test_a_model_takes_its_columns_and_ignores_text(csv):
    table = read_table(csv, features=["live", "tempo"], require_labels=False)
    assert table.feature_names == ["live", "tempo"]
    np.testing.assert_array_equal(table.X, np.array(X)[:, ::-1])
    with pytest.raises(
        ValueError, match=r"1 of 2 feature columns are missing: 'temp'; .*did you mean 'tempo'"
    ):
        read_table(csv, features=["tempo", "temp"], require_labels=False)
    with pytest.raises(ValueError, match="column 'title' does not hold numbers"):
        read_table(csv, features=["title"], require_labels=False)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            CSV,
            {"labels": ["joy"]},
            r"column 'title' does not hold numbers \(row 1: 'Hey, you'\).*--drop 'title'",
        ),
        ("a,joy\n1,1\nx,0\n", {"labels": ["joy"]}, r"column 'a' does not hold numbers \(row 2: 'x'\)"),
        (CSV, {"labels": ["angr"]}, "unknown column 'angr'; did you mean 'anger'"),
        (CSV, {"labels": ["joy"], "drop": ["titel"]}, "unknown column 'titel'; did you mean 'title'"),
        (CSV, {"labels": ["joy", "joy"]}, "'joy' is named twice"),
        (CSV, {}, "which columns are the labels"),
        (CSV, {"labels": []}, "which columns are the labels"),
        ("a,joy\n1,1\n2,\n", {"labels": ["joy"]}, "label column 'joy', row 2: .* got an empty cell"),
        ("a,joy\n1,1\n2,2\n", {"labels": ["joy"]}, "label column 'joy', row 2: expected 0, 1, true or false"),
        ("a,joy\n1,true\n2,maybe\n", {"labels": ["joy"]}, "label column 'joy', row 2: .* got 'maybe'"),
        ("a,joy\n1,true\n2,\n", {"labels": ["joy"]}, "label column 'joy', row 2: .* got an empty cell"),
        ("a,joy,a\n1,1,2\n", {"labels": ["joy"]}, "2 columns are named 'a'"),
        (",a,joy\n0,1,1\n", {"labels": ["joy"]}, "column 1 has no name .*--drop 'Unnamed: 0'"),
        ("a,joy\n", {"labels": ["joy"]}, "no rows below the header"),
        ("", {"labels": ["joy"]}, "cannot read it as a table"),
        ("a,joy\n1,1,5\n1,0,5\n", {"labels": ["joy"]}, "rows have more cells than the header"),
        ("a,joy\n0,1,5\n1,0,5\n", {"labels": ["joy"]}, "rows have more cells than the header"),
        ("a,joy\n1,1\n1,0,5\n", {"labels": ["joy"]}, "cannot read it as a table .*line 3"),
        ("joy\n1\n", {"labels": ["joy"]}, "no feature columns are left"),
    ],
)
def test_errors(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, text), **options)


def test_unnamed_column_can_be_dropped(tmp_path):
    path = write(tmp_path, ",a,joy\n0,1,1\n")
    assert read_table(path, ["joy"], drop=["Unnamed: 0"]).feature_names == ["a"]


@pytest.mark.parametrize("content", [b"plain", gzip.compress(CSV.encode(), mtime=0)[:-20]])
def test_broken_gzip(tmp_path, content):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"t\.csv\.gz: cannot read it as a table"):
        read_table(path, ["joy"])


def test_dates_are_no_numbers(tmp_path):
    frame = pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-02"]), "joy": [0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'when' does not hold numbers"):
        read_table(tmp_path / "t.parquet", ["joy"])


def test_parquet_trouble(tmp_path, monkeypatch):
    path = write(tmp_path, "not parquet", "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: cannot read it as Parquet"):
        read_table(path, ["joy"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'refpair\[parquet\]'"):
        read_table(path, ["joy"])


def test_unknown_ending(tmp_path):
    with pytest.raises(ValueError, match=r"known endings are \.csv, .*\.parquet.*\.arff, \.svm"):
        read_table(tmp_path / "t.xlsx", ["joy"])
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "t.csv", ["joy"])


ARFF = """\
@relation songs
@attribute title string
@attribute tempo numeric
@attribute joy {0,1}
@attribute live {1,0}
@data
'Hey, you',120,1,0
Oh,?,0,1
"""


def test_arff(tmp_path):
    path = write(tmp_path, ARFF, "s.arff")
    expected = [[120, 0], [np.nan, 1]]
    table = read_table(path, ["joy"], drop=["title"])
    np.testing.assert_array_equal(table.X, expected)
    np.testing.assert_array_equal(table.Y, [[1], [0]])
    with pytest.raises(ValueError, match=r"column 'title' is of type string; .*drop it"):
        read_table(path, ["joy"])
    with pytest.raises(ValueError, match="which columns are the labels"):
        read_table(path, drop=["title"])
    with pytest.raises(ValueError, match="unknown column 'titel'; did you mean 'title'"):
        read_table(path, ["joy"], features=["tempo"], drop=["titel"])
    with pytest.raises(ValueError, match="unknown column 'joi'; did you mean 'joy'"):
        read_table(path, ["joi"], drop=["title"])
    table = read_table(path, drop=["title"], require_labels=False)
    assert table.Y is None
    assert table.feature_names == ["tempo", "joy", "live"]
    table = read_table(path, ["sorrow", "joy"], drop=["title"], require_labels=False)
    assert table.Y is None
    assert table.feature_names == ["tempo", "live"]
    path.with_suffix(".xml").write_text('<labels><label name="joy"/></labels>')
    table = read_table(path, features=["live", "tempo"])
    assert table.label_names == ["joy"]
    np.testing.assert_array_equal(table.X, np.array(expected)[:, ::-1])


SVM = "1,3 1:0.5 4:2\n 2:1 # no labels\n10 1:1\n"


@pytest.mark.parametrize("ending", ["svm", "libsvm", "txt"])
def test_libsvm(tmp_path, ending):
    table = read_table(write(tmp_path, SVM, f"s.{ending}"))
    assert isinstance(table.X, csr_array)
    assert table.X.indices.dtype == np.int32
    assert table.feature_names == ["1", "2", "3", "4"]
    assert table.label_names == ["1", "3", "10"]
    np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 0, 2], [0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(table.Y, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_libsvm_takes_the_models_features_and_labels(tmp_path):
    path = write(tmp_path, SVM, "s.svm")
    table = read_table(path, ["10", "3", "1", "7"], features=["1", "2", "6"])
    np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 0], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(table.Y, [[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    assert table.label_names == ["10", "3", "1", "7"]
    assert read_table(path, drop=["2"]).feature_names == ["1", "3", "4"]
    with pytest.raises(ValueError, match="row 3: the label 10 is not one of 1, 3"):
        read_table(path, ["1", "3"])
    assert read_table(path, ["1", "3"], require_labels=False).Y is None
    with pytest.raises(ValueError, match="the model has a feature 'tempo'"):
        read_table(path, features=["tempo"])


def test_libsvm_from_zero(tmp_path):
    table = read_table(write(tmp_path, "1 0:5\n2.5 2:1\n", "s.svm"))
    assert table.feature_names == ["0", "1", "2"]
    assert table.label_names == ["1", "2.5"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("joy 1:x\n", "cannot read it as libsvm"), ("", "no rows"), ("1:2\n", "which columns")],
)
def test_broken_libsvm(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, text, "s.svm"))


def test_match_columns():
    table = Table("t", np.arange(6.0).reshape(2, 3), np.ones((2, 1), np.uint8), ["a", "b", "c"], ["y"])
    picked = match_columns(table, ["c", "a"])
    np.testing.assert_array_equal(picked.X, [[2, 0], [5, 3]])
    assert picked.feature_names == ["c", "a"]
    assert picked.Y is table.Y
    names = [f"missing{i}" for i in range(11)]
    with pytest.raises(
        ValueError, match=r"t: 11 of 12 feature columns are missing: 'missing0', .*'missing9', \.\.\.;"
    ):
        match_columns(table, ["a", *names])
