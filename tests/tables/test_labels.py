"""Labels in any form give the same matrix, and predictions come back in that form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import MultiLabelBinarizer

from refpair import CSRPEClassifier, load, save
from refpair.tables import partial_labels
from refpair.tables._cells import truth_values
from refpair.tables.labels import UNKNOWN, label_columns, labeled_rows, read_labels

rng = np.random.default_rng(0)
NAMES = ["anger", "calm", "joy"]  # sorted, as names are
X = rng.normal(size=(60, 3))
Y = (X + rng.normal(size=X.shape) / 3 > 0).astype(int)
ROWS = [[NAMES[i] for i in np.flatnonzero(row)] for row in Y]
JOINED = ["|".join(row) for row in ROWS]


def words(no, yes, dtype=None):
    return np.array([no, yes], dtype)[Y]


def objects(rows):
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


def binarizer(sparse):
    return MultiLabelBinarizer(sparse_output=sparse).fit_transform(ROWS)


MATRICES = {
    "0/1": Y,
    "int8": Y.astype(np.int8),
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "yes/no": words("no", "yes"),
    "objects": words("no", "yes", object),
    "Yes/No": words("No", "Yes"),
    "letters": words("N", "Y"),
    '"0"/"1"': words("0", "1"),
    '"0.0"/"1.0"': words("0.0", "1.0"),
    "-1/1": words(-1, 1),
    "-1.0/1.0": words(-1.0, 1.0),
    "MultiLabelBinarizer": binarizer(sparse=False),
    "sparse MultiLabelBinarizer": binarizer(sparse=True),
    "csr_array": sp.csr_array(Y),
    "csr_matrix": sp.csr_matrix(Y),
    "frame": pd.DataFrame(Y, columns=NAMES),
    "bool frame": pd.DataFrame(Y.astype(bool), columns=NAMES),
    "-1/1 frame": pd.DataFrame(words(-1, 1), columns=NAMES),
    "yes/no frame": pd.DataFrame(words("no", "yes"), columns=NAMES),
    "category frame": pd.DataFrame(words("no", "yes"), columns=NAMES).astype("category"),
    "mixed frame": pd.DataFrame(
        {
            "anger": words("no", "yes")[:, 0],
            "calm": words(False, True)[:, 1],
            "joy": words(-1, 1)[:, 2],
        }
    ),
    "polars": pl.DataFrame(Y, schema=NAMES),
    "polars yes/no": pl.DataFrame(words("no", "yes").tolist(), schema=NAMES, orient="row"),
}
NAMED = {
    "lists": ROWS,
    "tuples": [tuple(row) for row in ROWS],
    "sets": [set(row) for row in ROWS],
    "frozensets": [frozenset(row) for row in ROWS],
    "objects": objects(ROWS),
    "series of lists": pd.Series(ROWS, name="moods"),
    "series of sets": pd.Series(list(map(set, ROWS)), name="moods"),
    "frame of lists": pd.DataFrame({"moods": ROWS}),
    "joined": JOINED,
    "joined array": np.array(JOINED),
    "joined objects": np.array(JOINED, object),
    "joined series": pd.Series(JOINED, name="moods"),
    "joined by ;": [row.replace("|", ";") for row in JOINED],
    "joined by ,": [row.replace("|", ",") for row in JOINED],
    "joined frame": pd.DataFrame({"moods": JOINED}),
    "frame without a name": pd.DataFrame(JOINED),
    "polars series": pl.Series("moods", JOINED),
    "polars lists": pl.Series("moods", ROWS),
    "polars frame": pl.DataFrame({"moods": JOINED}),
}
FORMS = {**MATRICES, **{f"{name} of names": form for name, form in NAMED.items()}}


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


def assert_same(found, expected):
    """Check that two forms are the same: type, dtype, containers, names, and cells."""
    assert type(found) is (sp.csr_matrix if sp.issparse(expected) else type(expected))
    if isinstance(expected, pd.DataFrame):
        assert found.columns.tolist() == expected.columns.tolist()
        kinds = [object if isinstance(kind, pd.CategoricalDtype) else kind for kind in expected.dtypes]
        for name, kind in zip(expected, kinds, strict=True):
            assert kind is object or found[name].dtype == kind
            assert found[name].tolist() == expected[name].tolist()
    elif isinstance(expected, pd.Series):
        assert (found.name, found.dtype) == (expected.name, expected.dtype)
        assert found.tolist() == expected.tolist()
    elif isinstance(expected, pl.DataFrame | pl.Series):
        assert found.equals(expected)
    elif isinstance(expected, list):
        assert found == expected
        assert list(map(type, found)) == list(map(type, expected))
    else:
        assert found.dtype == expected.dtype or found.dtype == object  # strings of several lengths
        assert dense(found).tolist() == dense(expected).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_matrix_and_is_written_back(form):
    matrix, how = read_labels(FORMS[form])
    np.testing.assert_array_equal(dense(matrix), Y)
    assert matrix.dtype == np.uint8
    assert [str(name) for name in how.classes] in (NAMES, ["0", "1", "2"])
    assert how.n_labels == 3
    assert_same(how.write(dense(matrix), None), FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_a_model_answers_in_the_form_it_was_given(form, tmp_path):
    expected = CSRPEClassifier(n_bits=12, random_state=0).fit(X, Y)
    model = CSRPEClassifier(n_bits=12, random_state=0).fit(X, FORMS[form])
    save(model, tmp_path / "model")
    truth = expected.predict(X)
    rows = [[NAMES[i] for i in np.flatnonzero(row)] for row in truth]
    for fitted in (model, load(tmp_path / "model")):
        predicted = fitted.predict(X)
        assert type(predicted) is (sp.csr_matrix if sp.issparse(FORMS[form]) else type(FORMS[form]))
        np.testing.assert_array_equal(dense(read_labels(predicted)[0]), truth)
        assert fitted.score(X, predicted) == expected.score(X, truth)
        assert fitted.score(X, FORMS[form]) == fitted.score(X, Y) == expected.score(X, Y)
    if model.classes_.tolist() == NAMES:  # such labels can be named
        assert model.score(X, ROWS) == expected.score(X, Y)
        if "joined by" not in form:
            assert model.score(X, JOINED) == expected.score(X, Y)
        assert model.score(X, rows) == expected.score(X, truth)


def test_rows_of_predictions_have_the_names_of_the_rows():
    frame = pd.DataFrame(X, columns=list("abc"), index=[f"song {i}" for i in range(60)])
    for form in ("joined series", "frame of lists"):
        model = CSRPEClassifier(n_bits=4, random_state=0).fit(frame, NAMED[form])
        assert model.predict(frame[3:5]).index.tolist() == ["song 3", "song 4"]


# ---- what could be read in two ways ----


def test_lists_of_zeros_and_ones_are_a_matrix():
    assert read_labels([[0, 1], [1, 0]])[1].kind == "array"
    assert read_labels([["yes", 0], ["no", 1]])[0].tolist() == [[1, 0], [0, 1]]
    assert read_labels(((0, 1), (1, 0)))[0].tolist() == [[0, 1], [1, 0]]
    assert read_labels([[True, False]])[0].tolist() == [[1, 0]]


def test_other_lists_are_names():
    matrix, how = read_labels([["a"], ["b", "c"]])
    assert (matrix.tolist(), how.classes.tolist()) == ([[1, 0, 0], [0, 1, 1]], ["a", "b", "c"])
    for rows in ([[0], [1, 2], []], [[2, 0], [1, 0]], [["a", "b"], ["b", "c"]], [{0}, {1}], [{0, 1}, {1, 0}]):
        assert read_labels(rows)[1].kind == "names"
    assert read_labels([["a", None], [], None, [np.nan]])[0].tolist() == [[1], [0], [0], [0]]


def test_a_matrix_with_a_mistake_is_not_taken_for_names():
    for wrong, told in ((2, "2"), (0.5, "0.5"), (np.nan, "an empty cell"), (None, "an empty cell")):
        with pytest.raises(ValueError, match=f"column 1 has {told} in row 1"):
            read_labels([[0, 1, 0], [0, wrong, 0], [1, 1, 1]])
    with pytest.raises(ValueError, match=r"column 1 has 2\.0 in row 2"):
        read_labels(np.array([[0, np.nan], [1, 1], [1, 2.0]]), may_miss=True)


def test_names_that_are_numbers_can_be_scored():
    rows = [[0], [1], [0, 1]] * 20
    model = CSRPEClassifier(n_bits=8, random_state=0).fit(X, rows)
    assert model.classes_.tolist() == [0, 1]
    predicted = model.predict(X)
    assert model.score(X, predicted) == 1.0
    expected = read_labels(rows)[0]
    assert model.score(X, rows) == model.score(X, expected)
    # Rows that could be a matrix are names, for that is what the model was given.
    assert model._label_format.read_more([[0, 1], [0, 1]]).tolist() == [[1, 1], [1, 1]]
    other = CSRPEClassifier(n_bits=8, random_state=0).fit(X, expected)
    assert other._label_format.read_more([[0, 1], [0, 1]]).tolist() == [[0, 1], [0, 1]]


@pytest.mark.parametrize("classes", [["calm", "joy"], ["no", "yes"], [0, 1], [False, True], [-1, 1]])
def test_two_classes_are_a_single_label(classes):
    for y in (np.array(classes)[Y[:, 0]], np.array(classes)[Y[:, 0]].tolist(), pd.Series(classes * 2)):
        matrix, how = read_labels(y)
        assert (how.kind, how.classes.tolist(), how.n_labels) == ("classes", classes, 1)
        assert how.write(matrix, None).tolist() == list(y)


def test_a_column_of_a_table_may_be_a_label_or_names():
    assert read_labels(pd.DataFrame({"live": ["yes", "no"]}))[1].kind == "pandas"
    matrix, how = read_labels(pd.DataFrame({"mood": ["joy", "calm"]}))
    assert (how.kind, matrix.tolist(), how.classes.tolist()) == ("names", [[0, 1], [1, 0]], ["calm", "joy"])
    assert read_labels(["joy", "calm", "anger"])[1].kind == "names"
    assert read_labels(["joy", None, "calm"])[0].tolist() == [[0, 1], [0, 0], [1, 0]]
    assert read_labels(["joy", None])[0].tolist() == [[1], [0]]


def test_the_first_separator_that_occurs_parts_names():
    for rows, expected in [
        (["a|b,c", "b,c"], ["a", "b,c"]),
        (["a; b", "b ;a;;"], ["a", "b"]),
        (["a\tb", ""], ["a", "b"]),
    ]:
        assert read_labels(rows)[1].classes.tolist() == expected
    assert read_labels(["a b", "b"], separator=" ")[0].tolist() == [[1, 1], [0, 1]]


def test_a_separator_of_the_user():
    table = label_columns(pd.DataFrame({"mood": ["joy calm", "calm", "anger calm"]}), " ")
    matrix, how = read_labels(table)
    assert matrix.tolist() == [[0, 1, 1], [0, 1, 0], [1, 1, 0]]
    assert how.write(matrix, None)["mood"].tolist() == ["calm joy", "calm", "anger calm"]
    model = CSRPEClassifier(n_bits=4, random_state=0).fit(X[:3], table)
    assert model.score(X[:3], ["joy calm", "calm", "anger calm"]) == model.score(X[:3], matrix)


@given(arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 1)))
@settings(deadline=None)
def test_any_matrix_in_any_spelling(matrix):
    names = list("abcd")[: matrix.shape[1]]
    for pair in ((0, 1), (False, True), ("no", "yes"), ("0", "1"), ("F", "T")):
        for labels in (np.array(pair)[matrix], pd.DataFrame(np.array(pair)[matrix], columns=names)):
            found, how = read_labels(labels)
            np.testing.assert_array_equal(found, matrix)
            assert_same(how.write(found, None), labels)


def test_a_value_that_never_occurs_is_spelled_as_the_other():
    for no, yes in (("no", "yes"), ("No", "Yes"), ("N", "Y"), ("FALSE", "TRUE"), (False, True), (-1, 1)):
        for column, pair in (([no, no], [no, yes]), ([yes], [0 if yes == 1 else no, yes])):
            assert truth_values(column) == pair
    _, how = read_labels(np.array([["no", "no"], ["no", "no"]]))
    assert how.write(np.ones((1, 2), np.uint8), None).tolist() == [["yes", "yes"]]


# ---- labels that are not known ----

GAPS = rng.random(Y.shape) < 0.3
GAPS[:3] = ~np.eye(3, dtype=bool)  # some cell of each label is known
TRUE_OR_UNKNOWN = np.where(GAPS, UNKNOWN, Y)


def with_gaps(labels, gap):
    """Return a matrix of labels in which cells are empty."""
    is_nan = isinstance(gap, float)
    if sp.issparse(labels):
        return type(labels)(np.where(GAPS, np.nan, labels.toarray()))
    if isinstance(labels, pl.DataFrame):
        columns = zip(labels.columns, GAPS.T, strict=True)
        cells = {
            name: [None if no else one for one, no in zip(labels[name], own, strict=True)]
            for name, own in columns
        }
        return pl.DataFrame(cells)
    if isinstance(labels, pd.DataFrame):
        return labels.mask(GAPS) if is_nan else labels.astype(object).mask(GAPS, gap)
    return np.where(GAPS, gap, labels if is_nan and labels.dtype.kind in "fi" else labels.astype(object))


def test_masked_cells_are_not_taken_for_what_is_below_the_mask():
    masked = np.ma.MaskedArray(Y, mask=GAPS)
    _, form = read_labels(Y)
    for read in (read_labels, form.read_more):
        with pytest.raises(ValueError, match=r"labels must not be masked: Y\.astype"):
            read(masked, may_miss=True)
    np.testing.assert_array_equal(
        read_labels(masked.astype(float).filled(np.nan), may_miss=True)[0], TRUE_OR_UNKNOWN
    )


@pytest.mark.parametrize("gap", [np.nan, None, pd.NA, "", " "])
@pytest.mark.parametrize("form", MATRICES)
def test_empty_cells_are_unknown_labels(form, gap):
    complete = MATRICES[form]
    labels = with_gaps(complete, gap)
    matrix, how = read_labels(labels, may_miss=True)
    assert type(matrix) is np.ndarray
    assert matrix.dtype == np.uint8
    np.testing.assert_array_equal(matrix, TRUE_OR_UNKNOWN)
    np.testing.assert_array_equal(how.read_more(labels, may_miss=True), matrix)
    kind, expected = type(complete), read_labels(complete)[1]
    assert how.kind == expected.kind
    assert how.classes.tolist() == expected.classes.tolist()
    written = how.write(Y.astype(np.uint8), None)
    assert type(written) is (sp.csr_matrix if sp.issparse(complete) else kind)
    np.testing.assert_array_equal(dense(read_labels(written)[0]), Y)
    if isinstance(complete, pl.DataFrame):
        assert written.equals(complete)
    for wrong in (lambda: read_labels(labels), lambda: how.read_more(labels)):
        with pytest.raises(
            ValueError, match=r"Y: column .* has an empty cell in row [01]: CSRPEClassifier, "
        ):
            wrong()


@pytest.mark.parametrize(
    "kind", ["Int64", "Int8", "boolean", "Float64", "float32", "category", "string", "bool[pyarrow]"]
)
def test_columns_with_gaps_of_any_type(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    truth = np.where(Y, "yes", "no") if kind in ("category", "string") else Y
    frame = pd.DataFrame(truth, columns=NAMES).astype(kind)
    np.testing.assert_array_equal(read_labels(frame.mask(GAPS), may_miss=True)[0], TRUE_OR_UNKNOWN)
    one = frame["joy"].mask(GAPS[:, 2])
    for single in (one, one.tolist(), one.to_frame(), one.to_numpy()):
        matrix, how = read_labels(single, may_miss=True)
        np.testing.assert_array_equal(matrix, TRUE_OR_UNKNOWN[:, 2:])
        np.testing.assert_array_equal(how.read_more(single, may_miss=True), matrix)
        np.testing.assert_array_equal(
            how.write(Y[:, 2:].astype(np.uint8), None), how.write(matrix % 2 | Y[:, 2:], None)
        )


def test_names_are_not_unknown():
    for form in (["joy", None], [["joy"], None], pd.DataFrame({"mood": ["joy", None]})):
        assert read_labels(form, may_miss=True)[0].tolist() == [[1], [0]]
    assert read_labels(["", "spam"], may_miss=True)[1].classes.tolist() == ["", "spam"]


def test_all_of_a_label_may_be_unknown_in_more_labels():
    _, how = read_labels(pd.DataFrame(Y, columns=NAMES))
    frame = pd.DataFrame({"anger": [np.nan, None], "calm": ["no", None], "joy": [None, 1]})
    assert how.read_more(frame, may_miss=True).tolist() == [[2, 0, 2], [2, 2, 1]]
    _, named = read_labels(ROWS)
    assert named.read_more(frame[NAMES[::-1]], may_miss=True).tolist() == [[2, 0, 2], [2, 2, 1]]
    _, single = read_labels(Y[:, 0])
    assert single.read_more([np.nan, 1], may_miss=True).tolist() == [[2], [1]]


def test_labels_that_were_looked_at():
    names = pd.Series(["joy|calm", None, ""], index=["x", "y", "z"])
    found = partial_labels(names, [["joy", "calm"], ["joy"], None])
    assert found.index.tolist() == ["x", "y", "z"]
    pd.testing.assert_frame_equal(
        found, pd.DataFrame({"calm": [1, np.nan, np.nan], "joy": [1, 0, np.nan]}, index=names.index)
    )
    assert partial_labels([{"b"}, []], [("b", "a"), {"a"}], classes=["b", "a"]).columns.tolist() == ["b", "a"]
    assert partial_labels(pl.Series([["b"], []]), ["a|b", "a"]).fillna(2).to_numpy().tolist() == [
        [0, 1],
        [0, 2],
    ]
    assert partial_labels([[], []], [[0, 1], [1]]).fillna(2).to_numpy().tolist() == [[0, 0], [2, 0]]
    assert partial_labels([[], None], [["a"], []]).fillna(2).to_numpy().tolist() == [[0], [2]]


@pytest.mark.parametrize(
    ("names", "looked_at", "message"),
    [
        ([["a"]], [["a"], []], "names has 1 rows and looked_at has 2"),
        ([[], ["a"]], [["a"], ["b"]], "names, row 1: the label 'a' applies, but is not in looked_at"),
        (
            pd.Series(["a"], index=["x"]),
            [["b"]],
            "names, row x: the label 'a' applies, but is not in looked_at",
        ),
        ([["a"], "b"], [["a"], ["b"]], "names must be lists of names of labels, or joined names"),
        ([[1]], [3], "looked_at must be lists of names of labels, or joined names"),
        ([[]], [None], "names names no label in any row"),
    ],
)
def test_what_cannot_have_been_looked_at(names, looked_at, message):
    with pytest.raises(ValueError, match=message):
        partial_labels(names, looked_at)
    with pytest.raises(ValueError, match="there is no label 'c'; the labels are a, b"):
        partial_labels([["a"]], [["a", "c"]], classes=["a", "b"])


# ---- what is refused, or left out ----


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (pd.DataFrame({"joy": ["yes", "no", "maybe"], "b": 0}), "column joy has maybe in row 3"),
        (pd.DataFrame({"joy": ["yes", None], "b": 0}), "column joy has an empty cell in row 2"),
        (pd.DataFrame({"joy": [1, np.inf], "b": ["0", "1"]}), "column joy has inf in row 2"),
        (pd.DataFrame({"joy": [1, 3], "b": 0}, index=["x", "y"]), "column joy has 3 in row y"),
        (pd.DataFrame({"joy": ["yes", "1"], "b": 0}), "column joy has 1 in row 2"),
        (np.array([["no", "yes"], ["no", "?"]]), r"column 1 has \? in row 1"),
        (np.array([[-1, 1], [0, 1]]), "column 0 has -1 in row 0"),
        (sp.csr_array([[-1, 1]]), "column 0 has -1 in row 0"),
        ([[], [], []], "Y names no label in any row"),
        (["|", "", "|"], "Y names no label in any row"),
        ([["a"], [1]], "names of labels of several types; make them all strings"),
        ([[["a"]], [["b"]]], "Y must have a row for each sample and a column for each label, or names"),
        ([0, 1, 2], "Only binary classification is supported"),
        (
            pd.DataFrame({"joy": ["no", None]}, index=["x", "y"]),
            "column joy has an empty cell in row y: CSRPEC",
        ),
        (
            pd.DataFrame({"joy": [None, None]}),
            "column joy has empty cells only, so there is nothing to learn",
        ),
        (np.array([[np.nan, 1], [np.nan, 0]]), "Y: column 0 has empty cells only.*or leave the column out"),
        ([1, np.nan, 0], "y has an empty cell in row 1: CSRPEClassifier, BinaryRelevance and Bayes"),
        ([np.nan, np.nan], "y has empty cells only"),
    ],
)
def test_what_is_no_label_is_named(labels, message):
    with pytest.raises(ValueError, match=message):
        read_labels(labels)


def test_labels_that_the_model_does_not_know():
    _, how = read_labels(pd.Series(["a|b", "b", "c"], index=[4, 5, 6]))
    with pytest.raises(ValueError, match="Y, row 9: there is no label 'd'; the labels are a, b, c"):
        how.read_more(pd.Series(["a", "b|d"], index=[8, 9]))
    with pytest.raises(ValueError, match=r"Y has 2 labels \(columns\), but the model has 3"):
        how.read_more([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"the columns of Y are .* but the labels of the model are"):
        how.read_more(pd.DataFrame(Y, columns=list("abd")))
    _, unnamed = read_labels(Y)
    with pytest.raises(ValueError, match="there is no label 'a'; the labels are 0, 1, 2"):
        unnamed.read_more(["a|b", "b", "c"])
    assert unnamed.read_more([[0], [1, 2]]).tolist() == [[1, 0, 0], [0, 1, 1]]
    _, single = read_labels(pd.DataFrame({"joy": [0, 1]}))
    assert single.read_more([["joy"], [], ["joy"]]).tolist() == [[1], [0], [1]]
    assert single.read_more(["no", "yes"]).tolist() == [[0], [1]]
    assert single.read_more(pd.Series([True, False])).tolist() == [[1], [0]]


def test_names_may_be_scored_by_columns_in_any_order():
    _, how = read_labels(ROWS)
    assert (how.read_more(pd.DataFrame(Y, columns=NAMES)[NAMES[::-1]]) == Y).all()


def test_rows_without_labels():
    table = pd.DataFrame({"joy": ["yes", None, " "], "calm": ["no", None, ""]})
    kept, sentence = labeled_rows(table)
    assert (kept.tolist(), sentence) == ([True, False, False], "2 of 3 rows have no labels and are left out")
    assert labeled_rows(table[:1])[1] == ""
    kept, sentence = labeled_rows(pd.DataFrame({"mood": ["joy", None]}))
    assert kept.all()
    assert sentence == "1 of 2 rows has an empty cell in 'mood', taken as none of the labels"
    assert labeled_rows(pd.DataFrame({"live": ["yes", None]}))[0].tolist() == [True, False]
    table["calm"] = ["no", "yes", ""]
    kept, sentence = labeled_rows(table)
    assert kept.tolist() == [True, True, False]
    assert sentence == (
        "1 of 3 rows has no labels and is left out; "
        "1 of 4 cells in the label columns is empty, and taken as an unknown label"
    )
    for yes in ("yes", 1, True):
        _, sentence = labeled_rows(
            pd.DataFrame({"joy": [yes, None, yes], "calm": ["", yes, yes]}, dtype=object)
        )
        assert sentence == (
            "2 of 6 cells in the label columns are empty, which is taken as unknown labels; "
            "no cell says that a label is absent: if empty ones do, write 0 or no into them"
        )
    lists = pd.DataFrame({"joy": [["a"], None], "calm": [None, ["b"]]})
    assert "absent" not in labeled_rows(lists)[1]
    table = pd.DataFrame({"joy": ["yes", None, " "], "calm": ["no", None, ""]})
    with pytest.raises(ValueError, match="no row has labels in joy, calm"):
        labeled_rows(table[1:])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_entries_that_add_up_are_checked_by_their_sum(kind):
    twice = sp.coo_array(([1, 1], ([1, 1], [2, 2])), shape=(3, 4))
    with pytest.raises(ValueError, match="column 2 has 2 in row 1"):
        read_labels(kind(twice))
    halves = sp.coo_array(([0.5, 0.5, 3.0, -3.0], ([1, 1, 0, 0], [2, 2, 0, 0])), shape=(3, 4))
    matrix, _ = read_labels(kind(halves))
    assert matrix.toarray().tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert matrix.nnz == 1


def test_a_sparse_vector_is_no_label_matrix():
    with pytest.raises(ValueError, match="Y must have a row for each sample and a column for each label"):
        read_labels(sp.coo_array(np.array([0, 1, 1])))


def test_labels_of_one_row_each_are_a_mistake():
    with pytest.raises(ValueError, match=r"no label is that of two rows.*are these ids or texts"):
        read_labels(pd.Series([f"package-{i}" for i in range(20)], name="package"))
    assert read_labels(pd.Series([f"package-{i // 2}" for i in range(20)]))[0].shape == (20, 10)


def test_lists_that_were_written_into_cells():
    """CSV files have no lists: pandas writes them as Python does, others as JSON."""
    cells = ["['joy', 'calm']", "[]", '["anger"]', "", " ['it''s'] "]
    labels, form = read_labels(pd.DataFrame({"tags": cells}))
    assert form.classes.tolist() == ["anger", "calm", "its", "joy"]
    assert labels.tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert form.write(labels[:1], None)["tags"].tolist() == [["calm", "joy"]]
    for strange in ("['joy', 'calm'", "[joy, calm]", "[1, 2]", "[" * 9000):
        labels, form = read_labels(pd.DataFrame({"tags": [*cells[:3], strange]}))
        assert form.container == "joined"
