"""Tables as numbers: exactly what is written, and a sentence for what is no number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

from refpair.datasets import load_dataset
from refpair.experiments import QUICK, Part, Study
from refpair.experiments.data import numeric_data, read_numeric
from refpair.tables import Table, TableOptions, read_table

nan = np.nan


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_numbers_truths_and_gaps(write):
    data = numeric_data(
        read_table(write("a,b,joy,anger\n1,1,1,false\n,,0.0,TRUE\n2,0,1,false\n"), ["joy", "anger"]),
        TableOptions(),
    )
    np.testing.assert_array_equal(data.X, [[1, 1], [nan, nan], [2, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1], [1, 0]])
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.uint8)
    assert (data.name, data.feature_names, data.label_names) == ("t.csv", ["a", "b"], ["joy", "anger"])


def test_sparse_tables_are_sparse_matrices(write):
    data = numeric_data(read_table(write("1,3 1:0.5 4:2\n3 2:1\n", "t.svm")), TableOptions())
    assert isinstance(data.X, csr_array)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 0, 2], [0, 1, 0, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1]])


@pytest.mark.parametrize("name", ["digits", "emotions", "medical", "flags"])
def test_data_sets_by_name_are_as_they_were(paper_data, monkeypatch, name):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    expected, found = load_dataset(name), read_numeric(name, TableOptions())
    assert issparse(found.X) == issparse(expected.X)
    if issparse(found.X):
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found.X, part), getattr(expected.X, part))
            assert getattr(found.X, part).dtype == getattr(expected.X, part).dtype
    else:
        np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.Y, expected.Y)
    assert (found.feature_names, found.label_names) == (expected.feature_names, expected.label_names)


def test_nominal_values_of_arff_files_are_numbers(write):
    path = write(
        "@attribute w {b,a}\n@attribute t string\n@attribute y {0,1}\n@data\na,x,1\nb,y,0\n", "t.arff"
    )
    options = TableOptions(labels=("y",), drop=("t",))
    np.testing.assert_array_equal(read_numeric(str(path), options).X, [[1], [0]])
    with pytest.raises(ValueError, match="unknown column 'u'"):
        read_numeric(str(path), replace(options, drop=("t", "u")))


def test_other_cells_are_vectorized(write):
    path = write("a;said;tags\n1;so good;joy calm\n2;so bad;sad\n5;not good;\n")
    options = TableOptions(labels=("tags",), label_sep=" ", kinds=(("a", "category"),))
    data = read_numeric(str(path), options)
    assert data.label_names == ["calm", "joy", "sad"]
    np.testing.assert_array_equal(data.Y, [[1, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert data.feature_names == ["a = 1", "a = 2", "a = 5", "said: good", "said: so"]
    assert data.X.shape == (3, 5)


def test_rows_without_labels_are_left_out(write):
    options = TableOptions(labels=("joy", "sad"))
    data = read_numeric(str(write("a,joy,sad\n1,yes,no\n2,,\n3.5,no,yes\n")), options)
    np.testing.assert_array_equal(data.X, [[1], [3.5]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1]])


def test_labels_that_are_not_all_known(write, tmp_path):
    text = "a,joy,b\n" + "".join(f"{i},{i % 2},{(i // 3) % 2}\n" for i in range(30)) + "31,,1\n32,1,\n"
    options = TableOptions(labels=("joy", "b"))
    data = read_numeric(str(write(text)), options)
    np.testing.assert_array_equal(data.Y[-2:], [[np.nan, 1], [1, np.nan]])

    def study(*parts):
        return Study(tmp_path / "study", parts, [str(write(text))], ["f1"], table=options, settings=QUICK)

    with pytest.raises(ValueError, match=r"t: 2 labels are not known .* and RAkEL, .*; compare BR, CSRPE-ne"):
        study(Part("compare", 2))
    with pytest.raises(ValueError, match=r"t: 2 labels .* only the experiment compare can do with"):
        study(Part("simulate", 2))
    able = study(Part("compare", 2, algorithms=("BR", "CSRPE-nearest", "CSRPE-posterior")))
    assert able.run() == []
    assert able.results("compare")["score"].between(0, 1).sum() == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,joy,b\nx,1,1\ny,0,0\n", "t.csv: nothing to learn from in 1 column and 2 rows"),
        ("a,joy,b\n1,1,1\n2,2,0\n", "t.csv: the labels .* column joy has 2.* in row 2"),
        ("a,joy,b\n1,,\n1,yes,1\n2,maybe,0\n", "t.csv: the labels .* column joy has maybe in row 3"),
        ("a,joy,b\n1,,\n1,,\n", "t.csv: no row has labels in joy, b"),
    ],
)
def test_what_cannot_be_read(write, text, message):
    with pytest.raises(ValueError, match=message):
        numeric_data(read_table(write(text), ["joy", "b"]), TableOptions())


def test_labels_must_be_named():
    with pytest.raises(ValueError, match="t: which columns are the labels"):
        numeric_data(Table("t", pd.DataFrame({"a": [1]}), None, None), TableOptions())


def test_arrays_are_read_from_npz(tmp_path):
    X, Y = np.eye(8, 6, dtype=np.float32) / 3, np.eye(8, 2, dtype=np.uint8)
    np.savez(tmp_path / "mine.npz", X=X, Y=Y)
    np.savez(tmp_path / "full.npz", X=X + 1, Y=Y.astype(float))
    sparse, full = (read_numeric(str(tmp_path / name), TableOptions()) for name in ("mine.npz", "full.npz"))
    assert sparse.name == "mine"
    assert isinstance(sparse.X, csr_array)
    assert isinstance(full.X, np.ndarray)
    np.testing.assert_array_equal(sparse.X.toarray(), X.astype(np.float64))
    np.testing.assert_array_equal(full.X, (X + 1).astype(np.float64))
    np.testing.assert_array_equal(full.Y, Y)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.zeros((3, 2)), "y": np.zeros((3, 1))}, "X and Y are expected, and there are X, y"),
        ({"X": np.zeros((3, 2)), "Y": np.zeros((2, 1))}, "as many rows"),
        ({"X": np.zeros((3, 2)), "Y": np.full((3, 1), 2)}, "Y of 0 and 1"),
    ],
)
def test_wrong_arrays_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "mine.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_numeric(str(tmp_path / "mine.npz"), TableOptions())
