"""Tables as numbers: exactly what is written, and a sentence for what is no number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from refpair.datasets import load_dataset
from refpair.experiments.data import numeric_data, read_numeric
from refpair.tables import Table, read_table

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
        read_table(write("a,live,joy,anger\n1,True,1,false\n,,0.0,TRUE\n2,False,1,false\n"), ["joy", "anger"])
    )
    np.testing.assert_array_equal(data.X, [[1, 1], [nan, nan], [2, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 1], [1, 0]])
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.uint8)
    assert (data.name, data.feature_names, data.label_names) == ("t.csv", ["a", "live"], ["joy", "anger"])


def test_sparse_tables_are_sparse_matrices(write):
    data = numeric_data(read_table(write("1,3 1:0.5 4:2\n3 2:1\n", "t.svm")))
    assert isinstance(data.X, csr_array)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 0, 2], [0, 1, 0, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 1]])


@pytest.mark.parametrize("name", ["digits", "emotions", "medical", "flags"])
def test_data_sets_by_name_are_as_they_were(paper_data, monkeypatch, name):
    monkeypatch.setenv("REFPAIR_DATA", str(paper_data))
    expected, found = load_dataset(name), read_numeric(name)
    assert type(found.X) is type(expected.X)
    if isinstance(found.X, csr_array):
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
    np.testing.assert_array_equal(read_numeric(str(path), ["y"], drop=["t"]).X, [[1], [0]])
    with pytest.raises(ValueError, match="unknown column 'u'"):
        read_numeric(str(path), ["y"], drop=["t", "u"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,joy\n1,1\nx,0\n", "t.csv: column 'a' does not hold numbers .*'x'.* --drop 'a'"),
        ("a,joy\n1,1\n2,\n", "label column 'joy', row 2: .* got an empty cell"),
        ("a,joy\n1,1\n2,2\n", "label column 'joy', row 2: expected 0, 1, true or false, got 2"),
        ("a,joy\n1,true\n2,maybe\n", "label column 'joy', row 2: .* got 'maybe'"),
    ],
)
def test_what_is_no_number(write, text, message):
    with pytest.raises(ValueError, match=message):
        numeric_data(read_table(write(text), ["joy"]))


def test_labels_must_be_named():
    with pytest.raises(ValueError, match="t: which columns are the labels"):
        numeric_data(Table("t", pd.DataFrame({"a": [1]}), None, None))
