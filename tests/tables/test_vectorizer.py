"""Tables of every kind of column, and what holds for all of them."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from PIL import Image
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from refpair import CSRPEClassifier, TableVectorizer, load, save

nan = np.nan


@parametrize_with_checks([TableVectorizer()])
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for i in range(40):
        Image.fromarray(rng.integers(0, 255, (9, 9), np.uint8)).save(folder / f"{i}.png")
    return folder


def table(n=40):
    """Return a table with a column of each kind, and gaps."""
    rng = np.random.default_rng(0)
    words = np.array(["so", "good", "bad", "day", "sad", "what", "not", "very"])
    frame = pd.DataFrame(
        {
            "size": rng.normal(100, 20, n),
            "count": rng.integers(0, 9, n),
            "live": rng.choice(["yes", "no"], n),
            "day": pd.Series(pd.date_range("2024-01-01", periods=n, freq="37h")).dt.strftime("%d.%m.%Y"),
            "hue": rng.choice(["red", "blue", "green"], n),
            "name": [f"lib-{a}-{b}{i}" for i, (a, b) in enumerate(rng.choice(words, (n, 2)))],
            "said": [" ".join(rng.choice(words, 4)) for _ in range(n)],
            "photo": [f"{i}.png" for i in range(n)],
            "id": [f"{i * 7919:08x}" for i in range(n)],
        }
    )
    frame.loc[3, ["size", "live", "day", "hue", "name", "said", "photo"]] = None
    return frame


def as_polars(frame):
    return pl.DataFrame({name: [None if pd.isna(x) else x for x in frame[name]] for name in frame})


KINDS = ["number", "number", "boolean", "date", "category", "string", "text", "image", "ignored"]


@pytest.fixture(scope="module")
def fitted(photos):
    return TableVectorizer(folder=photos).fit(table())


def test_every_kind(fitted):
    assert fitted.columns_["kind"].tolist() == KINDS
    assert fitted.columns_["missing"].tolist() == [1, 0, 1, 1, 1, 1, 1, 1, 0]
    X = fitted.transform(table())
    names = fitted.get_feature_names_out()
    assert X.shape == (40, len(names))
    assert X.dtype == np.float64
    assert np.isfinite(dense(X)).all()
    assert fitted.columns_["features"].sum() == len(names)
    assert fitted.n_features_in_ == 9
    assert fitted.feature_names_in_.tolist() == list(table().columns)
    for name in ("size", "live", "day", "hue", "name", "said", "photo"):
        column = dense(X)[:, names.tolist().index(f"{name} is missing")]
        assert (column > 0).tolist() == [i == 3 for i in range(40)]


def test_each_kind_of_block_has_the_same_weight(fitted):
    X, names = dense(fitted.transform(table())), fitted.get_feature_names_out().tolist()
    of_numbers = [n for n in names if n.split(":")[0] in ("size", "count", "live", "day") or "missing" in n]
    blocks = [of_numbers, *([n for n in names if n.startswith(start) and "missing" not in n] for start in
              ("hue =", "name:", "said:", "photo:"))]  # fmt: skip
    assert sum(map(len, blocks)) == len(names)
    for block in blocks:
        squares = X[:, [names.index(name) for name in block]] ** 2
        np.testing.assert_allclose(squares.sum(axis=1).mean(), 1)


def test_a_fitted_one_is_saved_with_all_it_knows(fitted, photos, tmp_path):
    save(make_pipeline(fitted), tmp_path / "model")
    loaded = load(tmp_path / "model")[0]
    assert loaded.folder is None  # of this machine
    loaded.set_params(folder=photos)
    np.testing.assert_array_equal(dense(loaded.transform(table())), dense(fitted.transform(table())))
    pd.testing.assert_frame_equal(loaded.columns_, fitted.columns_)
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_a_pipeline_takes_tables_and_can_be_saved(tmp_path):
    frame = table().drop(columns="photo")
    tags = [["good"] * ("good" in str(said)) + ["bad"] * ("bad" in str(said)) for said in frame["said"]]
    model = make_pipeline(TableVectorizer({"count": "category"}), CSRPEClassifier("f1", n_bits=20))
    model.fit(frame, tags)
    assert model.score(frame, tags) > 0.8
    save(model, tmp_path / "model")
    new = frame.sample(frac=1, random_state=0)
    assert load(tmp_path / "model").predict(new) == model.predict(new)


def test_parameters_and_clone():
    vectorizer = TableVectorizer({"a": "text"}, folder="here", verbose=1)
    assert clone(vectorizer).get_params() == vectorizer.get_params()
    assert vectorizer.get_params() == {
        "kinds": {"a": "text"}, "text_model": None, "folder": "here", "verbose": 1,
    }  # fmt: skip
    with pytest.raises(NotFittedError):
        TableVectorizer().transform(table())
    with pytest.raises(NotFittedError):
        _ = TableVectorizer().columns_


def test_output_as_a_frame():
    frame = pd.DataFrame({"a": [1.5, 2, 4], "b": [3, 1, 2]}, index=["x", "y", "z"])
    found = TableVectorizer().set_output(transform="pandas").fit_transform(frame)
    assert (found.index.tolist(), found.columns.tolist()) == (["x", "y", "z"], ["a", "b"])


# ---- numbers ----


def test_numbers_are_centred_scaled_and_bent():
    values = np.r_[np.random.default_rng(0).normal(5, 2, 1000), 1e9]
    X = TableVectorizer().fit_transform(pd.DataFrame({"a": values}))[:, 0]
    assert (np.argsort(X) == np.argsort(values)).all()
    assert abs(np.median(X)) < 1e-9
    assert 0.9 < X.std() < 1.1
    assert X.max() < 3.5


def test_columns_that_are_mostly_zero_stay_sparse():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.1, (50, 20)).astype(float)
    for given_ in (
        counts,
        sp.csr_array(counts),
        pd.DataFrame(counts),
        pd.DataFrame(counts).astype("Sparse[float]"),
    ):
        X = TableVectorizer().fit_transform(given_)
        assert sp.issparse(X)
        used = counts.any(axis=0) if X.shape[1] < 20 else slice(None)
        np.testing.assert_array_equal(dense(X) != 0, counts[:, used] != 0)


@pytest.mark.parametrize(
    "values",
    [
        [1.7e308, -1.7e308, 0],
        [1.7e308, 1.6e308, 1.5e308, 1.4e308],
        [5e-324, 0, 5e-324],
        [1e15, 1e15 + 1, 1e15 + 2.5],
        [1.7e308, 5e-324, nan, -np.inf],
        [0.0, -0.0, nan],
        [Decimal(1), Decimal("2.5"), Decimal("NaN")],
        [10**400, 1, 2],
        np.array([1, 2, 4], np.float16),
        np.array([1, 2, 4], np.longdouble),
        np.array([0, 2**64 - 1, 5], np.uint64),
    ],
)
def test_numbers_of_any_size(values):
    column = pd.Series(values, dtype=object if isinstance(values[0], int) else None)
    vectorizer = TableVectorizer().fit(pd.DataFrame({"a": column}))
    X = vectorizer.transform(pd.DataFrame({"a": [*column, 1.7e308, -1.7e308, nan]}, dtype=object))
    assert np.isfinite(dense(X)).all()


@pytest.mark.parametrize("value", [5e-324, 1.7e308, nan, np.inf])
def test_sparse_numbers_of_any_size(value):
    given_ = sp.csr_array([[0, value], [0, -value], [1, 0]])
    X = TableVectorizer().fit(given_).transform(sp.csr_array([[0, 1.7e308], [0, -np.inf], [nan, 5e-324]]))
    assert np.isfinite(dense(X)).all()


def test_numbers_of_sparse_tables_are_those_of_dense_ones():
    frame = pd.DataFrame({"a": [0, 0, 0, 0, 0, 2.0, nan, np.inf], "b": [0, 1.0, 0, 0, 0, 0, 0, 4]})
    vectorizer = TableVectorizer().fit(frame)
    filled = frame.astype(pd.SparseDtype(float, fill_value=0.0))
    np.testing.assert_allclose(dense(vectorizer.transform(filled)), dense(vectorizer.transform(frame)))
    gaps = frame.astype(pd.SparseDtype(float, fill_value=nan))
    np.testing.assert_allclose(dense(vectorizer.transform(gaps)), dense(vectorizer.transform(frame)))
    assert np.isfinite(dense(TableVectorizer().fit_transform(gaps))).all()


def test_columns_that_hold_the_same_in_other_ways():
    span = datetime.timedelta(seconds=1)
    frame = pd.DataFrame(
        {
            "plain": [1, nan, 3],
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "objects": pd.Series([1, None, 3.0], dtype=object),
            "decimal": [Decimal(1), None, Decimal(3)],
            "span": [span, None, 3 * span],
            "sparse": pd.arrays.SparseArray([1.0, nan, 3.0]),
            "arrow": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
        }
    )
    vectorizer = TableVectorizer().fit(frame)
    assert set(vectorizer.columns_["kind"]) == {"number"}
    column = dict(zip(vectorizer.get_feature_names_out(), dense(vectorizer.transform(frame)).T, strict=True))
    for name in frame:
        np.testing.assert_allclose(column[name], column["plain"])
        np.testing.assert_allclose(column[f"{name} is missing"], column["plain is missing"])


# ---- yes and no, categories ----


def test_yes_and_no_in_any_spelling():
    expected = [[1], [0], [1], [0]]
    for yes, no in ((True, False), ("yes", "no"), ("Y", "N"), ("TRUE", "false"), ("1", "0"), (" t", "f")):
        frame = pd.DataFrame({"a": [yes, no, yes, no]})
        vectorizer = TableVectorizer({"a": "boolean"}).fit(frame)
        np.testing.assert_array_equal(dense(vectorizer.transform(frame)) > 0, expected)
        other = pd.DataFrame({"a": ["yes", "no", True, 0.0]}, dtype=object)
        np.testing.assert_array_equal(dense(vectorizer.transform(other)) > 0, expected)


def test_categories_and_what_was_never_seen():
    frame = pd.DataFrame({"hue": ["red", "blue"] * 4 + [None]})
    vectorizer = TableVectorizer().fit(frame)
    assert vectorizer.get_feature_names_out().tolist() == ["hue is missing", "hue = blue", "hue = red"]
    X = dense(vectorizer.transform(pd.DataFrame({"hue": ["red", "green", None, " blue ", 7]})))
    np.testing.assert_array_equal(X > 0, [[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    rare = TableVectorizer().fit(pd.DataFrame({"hue": ["red", "blue"] * 4 + ["pink"]}))
    assert rare.get_feature_names_out()[-1] == "hue = another value"
    X = dense(rare.transform(pd.DataFrame({"hue": ["green", "pink", "red"]})))
    np.testing.assert_array_equal(X[:, -1] > 0, [True, True, False])


def test_numbers_as_categories_are_the_same_with_gaps():
    vectorizer = TableVectorizer({"zip": "category"}).fit(pd.DataFrame({"zip": [10115, 20095] * 3}))
    X = vectorizer.transform(pd.DataFrame({"zip": [10115, nan, 20095]}))
    np.testing.assert_array_equal(dense(X) > 0, [[1, 0], [0, 0], [0, 1]])


def test_at_most_a_hundred_categories_have_a_column():
    values = [f"v{i}" for i in range(150)] * 2 + ["v0"] * 5
    vectorizer = TableVectorizer({"a": "category"}).fit(pd.DataFrame({"a": values}))
    assert vectorizer.columns_.loc["a", "features"] == 101


# ---- columns by name ----


def test_columns_are_found_by_name(fitted):
    frame = table()
    expected = dense(fitted.transform(frame))
    others = (
        frame[frame.columns[::-1]].assign(remark="x").drop(columns="id").set_index(pd.Index(range(99, 139)))
    )
    np.testing.assert_array_equal(dense(fitted.transform(others)), expected)
    np.testing.assert_array_equal(dense(fitted.transform(as_polars(frame))), expected)
    for kind in (object, "string", "category"):
        typed = frame.astype({"hue": kind, "said": kind, "name": kind})
        np.testing.assert_array_equal(dense(fitted.transform(typed)), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="hue"), "the table lacks the column 'hue' that the model needs; there"),
        (lambda f: f.rename(columns={"hue": "hues"}), "lacks the column 'hue' .*did you mean 'hues'"),
        (lambda f: f[["id"]], "lacks the column 'size' and 7 more that the model needs"),
        (lambda f: f.assign(size=["large"] * 40), "column 'size' must hold numbers, and row 1 is 'large'"),
        (lambda f: f[10:].astype({"size": object}).replace({"size": {f["size"][12]: "x"}}), "row 13 is 'x'"),
        (lambda f: f.assign(hue2=1).rename(columns={"hue2": "hue"}), "2 columns are named 'hue'; rename"),
        (lambda f: f[:0], r"the table has no rows"),
        (lambda f: f.to_numpy(), "the training table had named columns; give a DataFrame that has them"),
        (lambda f: f.assign(photo="../x.png"), "column 'photo', row 1: '../x.png' leads out of the folder"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit(fitted, change, message):
    with pytest.raises(ValueError, match=message):
        fitted.transform(change(table()))


def test_columns_of_sparse_files_that_never_occur_are_zero():
    X = sp.csr_array(np.eye(4))
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=["1", "2", "3", "4"])
    vectorizer = TableVectorizer().fit(frame)
    found = dense(vectorizer.transform(frame[["2", "4"]][1:3]))
    np.testing.assert_array_equal(found != 0, [[0, 1, 0, 0], [0, 0, 0, 0]])
    with pytest.raises(ValueError, match="lacks the column '1' and 1 more"):
        vectorizer.transform(pd.DataFrame({"2": [1.0], "4": [0.0]}))


def test_names_of_any_kind():
    frame = pd.DataFrame([[1, 2.5], [3, 5], [2, 2]], columns=[0, ("a", 1)], index=["x", "x", "x"])
    vectorizer = TableVectorizer().fit(frame)
    assert vectorizer.get_feature_names_out().tolist() == ["0", "('a', 1)"]
    assert vectorizer.transform(frame).shape == (3, 2)
    with pytest.raises(ValueError, match="the training table had named columns"):
        vectorizer.transform(frame.to_numpy())


def test_trees_of_scikit_learn_take_its_sparse_features():
    texts = pd.DataFrame({"text": [f"word{i % 7} and word{i % 5} or another one" for i in range(60)]})
    texts["kind"] = [f"k{i % 40}" for i in range(60)]
    X = TableVectorizer(kinds={"text": "text", "kind": "category"}).fit_transform(texts)
    assert sp.issparse(X)
    RandomForestClassifier(3).fit(X, np.arange(60) % 7 == 0)
