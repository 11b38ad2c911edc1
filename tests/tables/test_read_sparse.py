"""ARFF and libsvm files as tables."""

from __future__ import annotations

import gzip
import time

import numpy as np
import pandas as pd
import pytest

from refpair.tables import read_table

nan = np.nan
ARFF = """\
@relation songs
@attribute title string
@attribute ' tempo ' numeric
@attribute joy {0,1}
@attribute live {1,0}
@attribute size {0.5, 1.5}
@attribute place {'New York', Bonn}
@attribute day date "yyyy-MM-dd"
@data
'Hey, you',120,1,0,1.5,Bonn,2024-01-01
Oh,?,0,1,0.5,?,?
"""


def write(folder, text, name):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("quote", ["", "'"])  # without quotes the fast reader, with them the careful one
def test_arff(tmp_path, quote):
    path = write(tmp_path, ARFF.replace("'Hey, you'", "Hey" if not quote else "'Hey, you'"), "s.arff")
    table = read_table(path, ["joy"])
    expected = pd.DataFrame(
        {
            "title": ["Hey, you" if quote else "Hey", "Oh"],
            "tempo": [120, nan],
            "live": [0.0, 1.0],
            "size": [1.5, 0.5],
            "place": ["Bonn", nan],
            "day": ["2024-01-01", nan],
        }
    )
    pd.testing.assert_frame_equal(table.X, expected)
    assert table.Y["joy"].tolist() == [1, 0]
    assert list(read_table(path, drop=["title", "day"]).X) == ["tempo", "joy", "live", "size", "place"]
    for options in ({"labels": ["joi"]}, {"drop": ["joi"]}):
        with pytest.raises(ValueError, match="unknown column 'joi'; did you mean 'joy'"):
            read_table(path, **options)


def test_labels_of_arff_come_from_the_xml(tmp_path):
    path = write(tmp_path, gzip.compress(ARFF.encode()), "s.arff.gz")
    assert read_table(path).Y is None
    write(tmp_path, '<labels><label name="live"/><label name="joy"/></labels>', "s.xml")
    assert list(read_table(path).Y) == ["live", "joy"]
    assert list(read_table(path, ["place"]).Y) == ["place"]
    assert read_table(path, []).Y is None
    write(tmp_path, '<labels><label name="sorrow"/></labels>', "s.xml")
    with pytest.raises(ValueError, match="unknown column 'sorrow'"):
        read_table(path)


def test_names_that_arff_repeats(tmp_path):
    text = "@attribute a numeric\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,2,1\n"
    path = write(tmp_path, text, "s.arff")
    assert list(read_table(path, ["y"]).X) == ["a", "a#2"]
    with pytest.raises(ValueError, match="several attributes are named 'a'; rename all but the label"):
        read_table(path, ["a"])


def test_sparse_arff(tmp_path):
    header = "@attribute n numeric\n@attribute t string\n@attribute w {b,c}\n@attribute joy {0,1}\n@data\n"
    table = read_table(write(tmp_path, header + "{0 2,1 hi,3 1}\n{2 c}\n{1 ?,0 ?}\n", "s.arff"), ["joy"])
    assert table.X["n"].dtype == pd.SparseDtype(np.float64, 0)
    np.testing.assert_array_equal(table.X["n"], [2, 0, nan])
    assert table.X["t"].fillna("").tolist() == ["hi", "", ""]  # a text that is left out is missing
    assert table.X["w"].tolist() == ["b", "c", "b"]
    assert table.Y["joy"].dtype == np.float64
    assert table.Y["joy"].tolist() == [1, 0, 0]


def test_dense_arff_of_zeros_is_sparse(tmp_path):
    header = "".join(f"@attribute a{i} numeric\n" for i in range(20)) + "@attribute y {0,1}\n@data\n"
    table = read_table(write(tmp_path, header + "0," * 19 + "7,1\n", "s.arff"), ["y"])
    assert isinstance(table.X.dtypes.iloc[0], pd.SparseDtype)
    assert table.X.iloc[0].tolist() == [*[0.0] * 19, 7.0]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["arff", "svm"])
def test_fifty_thousand_sparse_columns_take_seconds(tmp_path, form):
    n = 50_000
    if form == "svm":
        text = "".join(f"1 {i + 1}:1 {n}:2\n" for i in range(100))
    else:
        text = "".join(f"@attribute a{i} numeric\n" for i in range(n)) + "@attribute y {0,1}\n@data\n"
        text += "".join(f"{{{i} 1,{n} 1}}\n" for i in range(100))
    path = write(tmp_path, text, f"s.{form}")
    started = time.process_time()
    table = read_table(path, ["1"] if form == "svm" else ["y"])
    assert table.X.shape == (100, n)
    assert table.X.iloc[0, 0] == 1
    assert time.process_time() - started < 20


SVM = "1,3 1:0.5 4:2\n 2:1 # no labels\n10 1:1\n"


@pytest.mark.parametrize("ending", ["svm", "libsvm", "txt", "svm.gz"])
def test_libsvm(tmp_path, ending):
    table = read_table(write(tmp_path, gzip.compress(SVM.encode()) if "gz" in ending else SVM, f"s.{ending}"))
    assert table.X.dtypes.iloc[0] == pd.SparseDtype(np.float64, 0)
    assert list(table.X) == ["1", "2", "3", "4"]
    assert list(table.Y) == ["1", "3", "10"]
    np.testing.assert_array_equal(table.X, [[0.5, 0, 0, 2], [0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(table.Y, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_libsvm_labels_and_columns(tmp_path):
    path = write(tmp_path, SVM, "s.svm")
    table = read_table(path, ["10", "3", "1", "7"], drop=["1", "2"])  # of the columns, not of the labels
    np.testing.assert_array_equal(table.Y, [[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]])
    assert list(table.Y) == ["10", "3", "1", "7"]
    assert list(table.X) == ["3", "4"]
    assert read_table(path, []).Y is None
    with pytest.raises(ValueError, match="row 3: the label 10 is not one of 1, 3; name it, too"):
        read_table(path, ["1", "3"])
    with pytest.raises(ValueError, match="unknown column '5'"):
        read_table(path, drop=["5"])
    with pytest.raises(ValueError, match="no columns are left"):
        read_table(path, drop=["1", "2", "3", "4"])


def test_libsvm_from_zero_and_without_labels(tmp_path):
    table = read_table(write(tmp_path, "1 0:5\n2.5 2:1\n", "s.svm"))
    assert list(table.X) == ["0", "1", "2"]
    assert list(table.Y) == ["1", "2.5"]
    assert read_table(write(tmp_path, "1:2\n", "s.svm")).Y is None


@pytest.mark.parametrize(
    ("text", "message"),
    [("joy 1:x\n", "cannot read it as libsvm .*another ending, such as .csv"), ("", "no rows")],
)
def test_broken_libsvm(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(tmp_path, text, "s.svm"))
