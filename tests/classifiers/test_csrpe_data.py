"""X and Y in all the kinds that people have them in, and strange ones."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from refpair import CSRPEClassifier

NAMES = ["joy", "calm", "anger", "fear"]
FEATURES = [f"x{i}" for i in range(6)]


def fit(X, Y, **parameters):
    return CSRPEClassifier(**{"n_bits": 40, "random_state": 0} | parameters).fit(X, Y)


def dense(Y):
    return Y.toarray() if sp.issparse(Y) else Y.to_numpy() if hasattr(Y, "to_numpy") else Y


# ---- features ----


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


KINDS_OF_X = {
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "read-only": read_only,
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "pandas": lambda X: pd.DataFrame(X, columns=FEATURES),
    "polars": lambda X: pl.DataFrame(X, schema=FEATURES),
}


@pytest.mark.parametrize("share", [0.1, 0.7], ids=["sparse", "dense"])
@pytest.mark.parametrize("kind", KINDS_OF_X)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
def test_all_kinds_of_features_give_the_same_model(small, kind, share):
    X, Y = small
    X = np.float32(X * (np.random.default_rng(0).random(X.shape) < share)).astype(float)
    expected, given = fit(X, Y), KINDS_OF_X[kind](X)
    model = fit(given, Y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    np.testing.assert_array_equal(model.predict(given), expected.predict(X))
    np.testing.assert_array_equal(expected.predict(given), expected.predict(X))
    assert model.n_features_in_ == 6
    if kind in ("pandas", "polars"):
        assert model.feature_names_in_.tolist() == FEATURES
    else:
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, bool])
def test_whole_numbers_and_truth_values(small, dtype):
    X, Y = small
    X = (np.abs(X) > 0.5).astype(dtype) if dtype is bool else np.abs(3 * X).astype(dtype)
    np.testing.assert_array_equal(fit(X, Y).predict(X), fit(X.astype(float), Y).predict(X.astype(float)))


def test_columns_of_several_types_with_missing_values(small):
    X, Y = small
    frame = pd.DataFrame(X, columns=FEATURES)
    frame["x1"] = pd.array(np.round(X[:, 1]), dtype="Int64")
    frame.loc[::5, "x1"] = pd.NA
    frame["x2"] = X[:, 2] > 0
    plain = frame.astype(float).to_numpy()
    assert np.isnan(plain).any()
    np.testing.assert_array_equal(fit(frame, Y).predict(frame), fit(plain, Y).predict(plain))


def test_a_sparse_matrix_with_a_cell_twice_is_read_as_its_sum(small):
    X, Y = small
    whole = sp.csr_array(X)
    twice = sp.csr_array(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape
    )
    assert not twice.has_canonical_format
    stored = twice.data.copy()
    model = fit(twice, Y)
    np.testing.assert_array_equal(model.predict(twice), fit(X, Y).predict(X))
    np.testing.assert_array_equal(twice.data, stored)  # and the caller's matrix is left as it was


def test_features_are_checked_by_number_and_name(small):
    X, Y = small
    model = fit(pd.DataFrame(X, columns=FEATURES), Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=FEATURES[::-1]))
    with pytest.raises(ValueError, match="X has 5 features, but CSRPEClassifier is expecting 6"):
        fit(X, Y).predict(X[:, :5])
    with pytest.raises(ValueError, match="infinity"):
        fit(np.where(X > 1, np.inf, X), Y)


# ---- labels ----

KINDS_OF_Y = {
    "int": lambda Y: Y,
    "bool": lambda Y: Y.astype(bool),
    "float": lambda Y: Y.astype(np.float32),
    "uint8": lambda Y: Y.astype(np.uint8),
    "list": lambda Y: Y.tolist(),
    "pandas": lambda Y: pd.DataFrame(Y, columns=NAMES),
    "pandas bool": lambda Y: pd.DataFrame(Y.astype(bool), columns=NAMES),
    "polars": lambda Y: pl.DataFrame(Y, schema=NAMES),
    "polars bool": lambda Y: pl.DataFrame(Y.astype(bool), schema=NAMES),
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
    "coo_matrix": sp.coo_matrix,
    "csr_array": sp.csr_array,
    "csc_array": lambda Y: sp.csc_array(Y.astype(bool)),
    "coo_array": lambda Y: sp.coo_array(Y.astype(np.float64)),
}


@pytest.mark.parametrize("kind", KINDS_OF_Y)
def test_predictions_come_in_the_kind_of_the_labels(small, kind):
    X, Y = small
    expected, given = fit(X, Y).predict(X), KINDS_OF_Y[kind](Y)
    model = fit(X, given)
    predicted = model.predict(X)
    np.testing.assert_array_equal(dense(predicted).astype(int), expected)
    assert model.score(X, given) == model.score(X, Y)
    if kind == "list":
        assert type(predicted) is np.ndarray
        return
    assert type(predicted) is {
        kind: sp.csr_matrix for kind in KINDS_OF_Y if kind[:3] in ("csr", "csc", "coo")
    }.get(kind, type(given))
    assert dense(predicted).dtype == dense(given).dtype
    if hasattr(given, "columns"):
        assert list(predicted.columns) == NAMES
        assert model.classes_.tolist() == NAMES
    else:
        assert model.classes_.tolist() == [0, 1, 2, 3]


def test_rows_of_frames_keep_their_names(small):
    X, Y = small
    labels = pd.DataFrame(Y, columns=NAMES)
    features = pd.DataFrame(X, columns=FEATURES, index=[f"row {i}" for i in range(120)])
    model = fit(features, labels)
    assert model.predict(features[5:9]).index.tolist() == ["row 5", "row 6", "row 7", "row 8"]
    with pytest.warns(UserWarning, match="feature names"):
        assert model.predict(X[5:9]).index.tolist() == [0, 1, 2, 3]


def test_as_many_rows_as_labels_are_not_mixed_up(small):
    X, Y = small
    expected = fit(X, Y).predict(X[:4])
    assert (expected != expected.T).any()
    np.testing.assert_array_equal(fit(X, pl.DataFrame(Y, schema=NAMES)).predict(X[:4]).to_numpy(), expected)


def test_columns_of_several_types(small):
    X, Y = small
    mixed = pd.DataFrame(Y, columns=NAMES).astype({"calm": bool, "fear": "Int64"})
    predicted = fit(X, mixed).predict(X)
    assert predicted.dtypes.tolist() == [np.int64, bool, np.int64, np.int64]
    np.testing.assert_array_equal(predicted.astype(int), fit(X, Y).predict(X))


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], ["no", "yes"], [False, True], [2.0, 5.0]])
@pytest.mark.parametrize(
    "container", [np.array, list, pd.Series, lambda y: pd.Series(y, index=range(7, 127))]
)
def test_a_single_label_as_a_column_of_two_classes(small, classes, container):
    X, Y = small
    y = np.array(classes)[Y[:, 0]]
    model = fit(X, container(y))
    assert model.classes_.tolist() == classes
    predicted = model.predict(X)
    assert predicted.shape == (120,)
    assert predicted.dtype == np.asarray(container(y)).dtype
    np.testing.assert_array_equal(predicted == classes[1], fit(X, Y[:, :1]).predict(X)[:, 0])
    assert model.score(X, container(y)) == fit(X, Y[:, :1]).score(X, Y[:, :1])


def test_the_labels_left_as_they_were(small):
    X, Y = small
    Y = sp.csr_matrix(Y)
    Y.data[::7] = 0  # stored zeros
    before = [Y.data.copy(), Y.indices.copy(), Y.indptr.copy()]
    model = fit(X, Y)
    assert model.predict(X).nnz > 0
    for array, copy in zip([Y.data, Y.indices, Y.indptr], before, strict=True):
        np.testing.assert_array_equal(array, copy)


# ---- what is wrong with Y ----


@pytest.mark.parametrize("wrong", [2, -1, 0.5, np.inf])
def test_what_is_no_label_is_named(small, wrong):
    X, Y = small
    Y = Y.astype(float)
    Y[7, 2] = wrong
    of_frame = pd.DataFrame(Y, columns=NAMES)
    told = rf"{wrong}(\.0)?"
    for given, column, row in [
        (Y, "2", 7),
        (Y.tolist(), "2", 7),
        (sp.csr_array(Y), "2", 7),
        (sp.coo_matrix(Y), "2", 7),
        (of_frame, "anger", 8),
        (of_frame.astype(object), "anger", 8),
        (pl.DataFrame(Y, schema=NAMES), "anger", 8),
    ]:
        with pytest.raises(
            ValueError, match=f"Y must be 0/1, boolean or yes/no: column {column} has {told} in row {row}"
        ):
            fit(X, given)


def test_a_frame_with_strings_needs_a_vectorizer(small):
    X, Y = small
    frame = pd.DataFrame(X, columns=FEATURES).assign(said="so good")
    with pytest.raises(
        ValueError, match=r"'said'.*make_pipeline\(TableVectorizer\(\), CSRPEClassifier\(\.\.\.\)\)"
    ):
        fit(frame, Y)


def test_shapes_that_do_not_fit(small):
    X, Y = small
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(X, Y[:100])
    for empty in (np.empty((120, 0)), sp.csr_array((120, 0)), pd.DataFrame(index=range(120)), Y[:, :, None]):
        with pytest.raises(ValueError, match="Y must have a row for each sample and a column for each label"):
            fit(X, empty)
    with pytest.raises(ValueError, match="requires y to be passed"):
        fit(X, None)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        fit(X, np.arange(120) % 3)
    with pytest.raises(ValueError, match="0 sample"):
        fit(X[:0], Y[:0])


def test_other_labels_when_scoring(small):
    X, Y = small
    model = fit(X, pd.DataFrame(Y, columns=NAMES))
    with pytest.raises(ValueError, match=r"Y has 3 labels \(columns\), but the model has 4"):
        model.score(X, Y[:, :3])
    with pytest.raises(
        ValueError, match=r"the columns of Y are .*'fear'.* the labels of the model are .*'joy'"
    ):
        model.score(X, pd.DataFrame(Y, columns=NAMES[::-1]))
    with pytest.raises(ValueError, match="Y has 100 rows and Z has 120"):
        model.score(X, Y[:100])
    assert model.score(X, Y) == model.score(X, pl.DataFrame(Y, schema=NAMES))
    assert model.encode(Y[:3]).shape == (3, 40)


def test_other_classes_when_scoring(small):
    X, Y = small
    model = fit(X, np.array(["no", "yes"])[Y[:, 0]], cost="hamming")
    with pytest.raises(ValueError, match=r"y has the class np.str_\('maybe'\), but the model knows"):
        model.score(X, np.where(Y[:, 0] == 1, "maybe", "no"))
    only = fit(X, np.full(120, "no"), cost="hamming")
    assert only.score(X, np.full(120, "no")) == 0.0
    assert only.score(X, np.full(120, "yes")) == -1.0
    column = fit(X, Y[:, :1], cost="hamming")
    assert column.score(X, np.ones(120)) == column.score(X, np.ones((120, 1)))
