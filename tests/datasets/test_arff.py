from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from refpair.datasets.arff import read_arff
from refpair.tables._arff import read_label_names

HEADER = """\
% a comment
@RELATION 'odd one'

@Attribute 'a name with blanks' NUMERIC
@attribute\t"it's"\tReal   % a comment
@ATTRIBUTE it\\'s integer
@attribute size {1, 2,\t3}
@attribute 'the place' {'New York', "it's", Bonn}
@attribute joy {0,1}
@attribute anger\t{ 0 , 1 }
@DATA
"""
NAMES = ["a name with blanks", "it's", "it\\'s", "size", "the place"]


def write(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "set.arff"
    path.write_bytes(text.encode(encoding))
    return path


def test_dense_oddities(tmp_path):
    rows = """\
1.5, -2e-1 ,3,2,'New York',0,1

% between rows
?,0,?,?,?,1,0
.5,1,+7,3,Bonn,1,1 % behind a row
1,\t2,3,1,'it\\'s',0,0
"""
    data = read_arff(write(tmp_path, HEADER + rows), ["joy", "anger"])
    assert data.name == "set"
    assert data.feature_names == NAMES
    assert data.label_names == ["joy", "anger"]
    nan = np.nan
    np.testing.assert_array_equal(
        data.X, [[1.5, -0.2, 3, 2, 0], [nan, 0, nan, nan, nan], [0.5, 1, 7, 3, 2], [1, 2, 3, 1, 1]]
    )
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.Y, [[0, 1], [1, 0], [1, 1], [0, 0]])
    assert data.Y.dtype == np.uint8


@pytest.mark.parametrize("quote", ["", "'"])  # without quotes the fast reader, with them the careful one
def test_what_sparse_rows_leave_out(tmp_path, quote):
    header = (
        "@relation r\n@attribute n numeric\n@attribute size {3,0,5}\n@attribute word {yes,no}\n"
        "@attribute joy {0,1}\n@attribute anger {1,0}\n@data\n"
    ).replace("{yes,no}", "{yes,no}" if quote else "{0,1}")
    word = "no" if quote else "1"
    rows = f"{{}}\n{{ 0 2.5,1 5, 2 {quote}{word}{quote} }}\n{{1 0,4 0,0 0}}\n{{3 1}}\n"
    data = read_arff(write(tmp_path, header + rows), ["anger", "joy"])
    assert isinstance(data.X, csr_array)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32
    assert data.X.nnz == np.count_nonzero(data.X.toarray())
    np.testing.assert_array_equal(data.X.toarray(), [[0, 3, 0], [2.5, 5, 1], [0, 0, 0], [0, 3, 0]])
    np.testing.assert_array_equal(data.Y, [[1, 0], [1, 0], [0, 0], [1, 1]])


def test_missing_values_in_sparse_rows(tmp_path):
    text = "@attribute n numeric\n@attribute s {2,1}\n@attribute y {0,1}\n@data\n{0 ?}\n{1 ?,2 1}\n"
    data = read_arff(write(tmp_path, text), ["y"])
    np.testing.assert_array_equal(data.X.toarray(), [[np.nan, 2], [0, np.nan]])


def test_blanks_may_separate_dense_values(tmp_path):
    text = (
        "@attribute n numeric\n@attribute w {'a' 'b c'}\n@attribute y {0 1}\n@data\n1 a 0\n2\t'b c' 1 % end\n"
    )
    data = read_arff(write(tmp_path, text), ["y"])
    np.testing.assert_array_equal(data.X, [[1, 0], [2, 1]])


def test_bare_values_may_hold_blanks(tmp_path):
    text = "@attribute place {New York, Bonn}\n@attribute y {0,1}\n@data\nNew York, 0\nBonn,1\n"
    data = read_arff(write(tmp_path, text), ["y"])
    np.testing.assert_array_equal(data.X, [[0], [1]])


def test_a_quoted_question_mark_is_a_value(tmp_path):
    text = "@attribute w {'?',b}\n@attribute y {0,1}\n@data\n'?',0\n?,1\nb,1\n"
    data = read_arff(write(tmp_path, text), ["y"])
    np.testing.assert_array_equal(data.X, [[0], [np.nan], [1]])


def test_nan_may_be_a_value(tmp_path):
    text = "@attribute w {nan, b}\n@attribute n real\n@attribute y {0,1}\n@data\nnan, ? ,0\n ?,nan,1\nb,1,1\n"
    data = read_arff(write(tmp_path, text), ["y"])
    np.testing.assert_array_equal(data.X, [[0, np.nan], [np.nan, np.nan], [1, 1]])


@pytest.mark.parametrize("row", ["nan,1", "'nan',1", "{0 nan}", "{0 'nan'}"])
def test_nan_is_no_whole_number(tmp_path, row):
    path = write(tmp_path, f"@attribute w {{1,2}}\n@attribute y {{0,1}}\n@data\n{row}\n")
    with pytest.raises(ValueError, match=r"line 4: 'nan' in column 'w' is not one of \{1, 2\}"):
        read_arff(path, ["y"])


def test_numbers_that_are_two_values_are_words(tmp_path):
    text = "@attribute w {1,01,7}\n@attribute y {0,1}\n@data\n1,0\n01,1\n7,1\n"
    np.testing.assert_array_equal(read_arff(write(tmp_path, text), ["y"]).X, [[0], [1], [2]])


def test_labels_may_be_numeric(tmp_path):
    text = "@attribute a real\n@attribute y numeric\n@data\n5,1\n6,0.0\n"
    np.testing.assert_array_equal(read_arff(write(tmp_path, text), ["y"]).Y, [[1], [0]])


def test_repeated_names_get_numbers(tmp_path):
    header = "".join(f"@attribute {name} numeric\n" for name in ["a", "a#2", "a", "y", "a"])
    data = read_arff(write(tmp_path, header + "@data\n1,2,3,1,4\n"), ["y"])
    assert data.feature_names == ["a", "a#2", "a#3", "a#4"]
    np.testing.assert_array_equal(data.X, [[1, 2, 3, 4]])


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_line_ends_and_encodings(tmp_path, newline, encoding):
    text = "@attribute größe real\n@attribute y {0,1}\n@data\n1,0\n2,1\n".replace("\n", newline)
    data = read_arff(write(tmp_path, text, encoding), ["y"])
    assert data.feature_names == ["größe"]
    np.testing.assert_array_equal(data.X, [[1], [2]])


def test_labels_come_from_the_xml_in_its_order(tmp_path):
    path = write(tmp_path, "@attribute a {0,1}\n@attribute x real\n@attribute b {0,1}\n@data\n1,5,0\n")
    xml = '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
    path.with_suffix(".xml").write_text(xml.format('<label name="b"><label name="a"></label></label>'))
    data = read_arff(path)
    assert data.label_names == ["b", "a"]
    np.testing.assert_array_equal(data.Y, [[0, 1]])
    assert data.feature_names == ["x"]


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels><label", "not a valid XML file"),
        ("<labels></labels>", "every label needs"),
        ("<labels><label/></labels>", "every label needs"),
        ('<labels><label name="a"/><label name="a"/></labels>', "'a' is listed twice"),
    ],
)
def test_broken_label_files(tmp_path, xml, message):
    path = tmp_path / "set.xml"
    path.write_text(xml)
    with pytest.raises(ValueError, match=rf"set\.xml: .*{message}"):
        read_label_names(path)


@pytest.mark.parametrize(
    ("density", "is_sparse"),
    [(0.05, True), (0.5, False)],
)
def test_storage(tmp_path, density, is_sparse):
    values = np.zeros(100)
    values[: round(100 * density)] = 2
    header = "".join(f"@attribute a{i} numeric\n" for i in range(100))
    row = ",".join(f"{v:g}" for v in values)
    data = read_arff(write(tmp_path, f"{header}@attribute y {{0,1}}\n@data\n{row},1\n"), ["y"])
    assert isinstance(data.X, csr_array) == is_sparse
    np.testing.assert_array_equal(data.X.toarray() if is_sparse else data.X, [values])


def test_scikit_learn_takes_the_sparse_form(tmp_path):
    header = "@attribute a numeric\n@attribute b {0,1}\n@attribute y {0,1}\n@data\n"
    data = read_arff(write(tmp_path, header + "{0 1}\n{1 1,2 1}\n{0 2}\n{0 1,1 1,2 1}\n"), ["y"])
    for model in (DecisionTreeClassifier(random_state=0), LogisticRegression(C=100)):
        assert model.fit(data.X, data.Y[:, 0]).score(data.X, data.Y[:, 0]) == 1


TWO = "@relation r\n@attribute x numeric\n@attribute y {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("@relation r\n@attribute x numeric\n", 3, "ends before @data"),
        ("@relation r\n@data\n1\n", 2, "@data comes before any @attribute"),
        ("@relation r\nx,y\n", 2, "expected @relation, @attribute or @data, got 'x,y'"),
        ("@attributes x numeric\n", 1, "expected @relation"),
        ("@attribute\n", 1, "expected @attribute <name> <type>"),
        ("@attribute 'x numeric\n", 1, "quote a name that holds blanks"),
        ("@attribute x\n", 1, "'x' has no type"),
        ("@attribute x {a,b\n", 1, "close quotes and braces"),
        ("@attribute x {a,'b}\n", 1, "close quotes and braces"),
        ("@attribute x {'a'b,c}\n", 1, "close quotes and braces"),
        ("@attribute x {}\n", 1, "cannot read the values of 'x'"),
        ("@attribute x {50%, 20%}\n", 1, "quote a value that holds %"),
        ("@attribute x {a,b,a}\n", 1, "lists a value twice"),
        (
            "@attribute x string\n@attribute y {0,1}\n@data\n'a',1\n",
            1,
            "of type string; drop it, or use read_table",
        ),
        ("@attribute x date 'yyyy'\n@data\n2020\n", 1, "of type date"),
        (TWO, 4, "no rows follow @data"),
        (TWO + "1,0\n1\n", 6, "1 values for 2 attributes"),
        (TWO + "1,0\n\n1,0,1\n", 7, "3 values for 2 attributes"),
        (TWO + "1,0\n,1\n", 6, "'' in column 'x' is not a number"),
        (TWO + "abc,0\n", 5, "'abc' in column 'x' is not a number"),
        (TWO + "1,2\n", 5, "'2' in column 'y' is not one of {0, 1}"),
        (TWO + "1,yes\n", 5, "'yes' in column 'y' is not one of {0, 1}"),
        (TWO + "1,'0\n", 5, "a quote is not closed"),
        (TWO + "'1'2,0\n", 5, "text follows a closing quote"),
        (TWO + "1,0\n{0 1}\n", 6, "must not mix sparse"),
        (TWO + "1,0\n1,?\n", 6, "label 'y' is missing; write 0 or 1"),
        (TWO + "{0 1}\n{0 1,1 0\n", 6, "close quotes and braces"),
        (TWO + "{0 1}\n{0 1}, {5}\n", 6, "and nothing more"),
        (TWO + "{0 1,2 1}\n", 5, r"index 2, but indices end at 1 \(the first is 0\)"),
        (TWO + f"{{{10**30} 1}}\n", 5, "but indices end at 1"),
        (TWO + "{0 1,1 1,0 1}\n", 5, "index 0 comes twice"),
        (TWO + "{0 1 1,1}\n", 5, "is not a number|expected 'index value'"),
        (TWO + "{0 1,,1 1}\n", 5, "expected 'index value'"),
        (TWO + "{0 1,-1 1}\n", 5, "expected 'index value'"),
        (TWO + "{0 a}\n", 5, "'a' in column 'x' is not a number"),
        (TWO + "{1 7}\n", 5, "'7' in column 'y' is not one of"),
        ("@attribute y {no,yes}\n@data\nno\n", 1, "label 'y' has the values no, yes; write 0 and 1"),
        ("@attribute y numeric\n@data\n1\n2\n", 4, "label 'y' is 2; write 0 or 1"),
    ],
)
def test_errors_name_the_file_the_line_and_the_way_out(tmp_path, text, line, message):
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=rf"set\.arff, line {line}: .*(?:{message})"):
        read_arff(path, ["y"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["z"], "unknown label 'z'; there are 'x', 'y'"),
        (["y", "y"], "'y' is named twice"),
        (None, "there is no set.xml beside it; add it or name the labels"),
    ],
)
def test_wrong_label_names(tmp_path, labels, message):
    path = write(tmp_path, TWO + "1,0\n")
    with pytest.raises(ValueError, match=message):
        read_arff(path, labels)


def test_a_label_must_be_one_column(tmp_path):
    path = write(tmp_path, "@attribute y {0,1}\n@attribute y {0,1}\n@data\n1,0\n")
    with pytest.raises(ValueError, match="several attributes are named 'y'; rename"):
        read_arff(path, ["y"])


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arff(tmp_path / "set.arff", ["y"])
