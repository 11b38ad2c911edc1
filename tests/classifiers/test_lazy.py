"""Dask arrays and DataFrames are predicted lazily, block by block, with what is predicted in memory."""

import inspect
import pickle
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from refpair import BayesDecisionClassifier, CSRPEClassifier
from tests.classifiers.common import CLASSES, make

HOW = {"decide": {"cost": "f1"}, "predict_set_proba": {"k": 3}, "predict_top": {"k": 3, "cost": "recall@2"}}
N_FIT = 80
BY_BLOCKS = (
    "predict",
    "predict_proba",
    "predict_top",
    "predict_set_proba",
    "expected_cost",
    "decide",
    "predict_code",
)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="module")
def fitted(small):
    X, Y = small
    models = {name: make(name).fit(X[:N_FIT], Y[:N_FIT]) for name in CLASSES}
    return lambda name: models[name]


@pytest.fixture(scope="module")
def csrpe(fitted):
    return fitted("CSRPEClassifier")


def methods(model):
    return [name for name in BY_BLOCKS if hasattr(model, name)]


def assert_same(lazy, expected):
    if isinstance(expected, tuple):
        for part, one in zip(lazy, expected, strict=True):
            assert_same(part, one)
        return
    found = lazy.compute()
    assert type(found) is type(expected)
    if isinstance(expected, pd.DataFrame):
        assert isinstance(lazy, dd.DataFrame)
        assert list(lazy.columns) == list(expected.columns)
        pd.testing.assert_frame_equal(found, expected)
        return
    assert isinstance(lazy, da.Array)
    assert lazy.dtype == found.dtype == expected.dtype
    assert lazy.ndim == expected.ndim
    assert lazy.shape[1:] == expected.shape[1:]
    assert np.isnan(lazy.shape[0]) or lazy.shape == expected.shape
    if sp.issparse(expected):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_array_equal(found, expected)


def cut(X, rows=50):
    return da.from_array(X, chunks=(rows, -1))


def of_unknown_length(X):
    return cut(X)[da.ones(len(X), dtype=bool, chunks=50)]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("form", [cut, of_unknown_length], ids=["known", "unknown"])
def test_all_that_classifiers_tell_of_rows(fitted, small, name, form):
    model, X = fitted(name), small[0]
    lazy = form(X)
    for method in methods(model):
        how = HOW.get(method, {})
        answer = getattr(model, method)(lazy, **how)
        assert_same(answer, getattr(model, method)(X, **how))
        if form is cut and method not in ("predict_set_proba", "predict_top"):
            assert answer.chunks[0] == (50, 50, 20)


def test_blocks_that_are_cut_by_columns_or_sparse_or_small(csrpe, small):
    X = small[0]
    expected = csrpe.predict(X)
    assert_same(csrpe.predict(da.from_array(X, chunks=(50, 2))), expected)
    assert_same(csrpe.predict(cut(X).map_blocks(sp.csr_array, meta=sp.csr_array((0, 0)))), expected)
    assert_same(csrpe.predict(cut(X, 1)[:5]), expected[:5])
    assert_same(csrpe.predict(cut(X.astype(np.float32))), csrpe.predict(X.astype(np.float32)))


def test_blocks_without_rows(csrpe, small):
    X = small[0]
    lazy = cut(X)
    kept = np.arange(len(X)) >= 100
    assert_same(csrpe.predict(lazy[da.from_array(kept, chunks=50)]), csrpe.predict(X[kept]))
    assert csrpe.expected_cost(lazy[lazy[:, 0] > 1e9]).compute().shape == (0,)


@pytest.mark.parametrize(
    "kind",
    [np.asarray, sp.csr_array, sp.csr_matrix, lambda Y: Y[:, 0], lambda Y: np.array(["no", "yes"])[Y[:, 0]]],
)
def test_answers_have_the_kind_of_the_labels(small, kind):
    X, Y = small
    model = make("CSRPEClassifier").fit(X, kind(Y))
    assert_same(model.predict(cut(X)), model.predict(X))
    assert_same(model.predict_proba(cut(X)), model.predict_proba(X))


def frames(small):
    X, Y = small
    rows = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])], index=np.arange(len(X)) * 3)
    return rows, pd.DataFrame(Y, columns=["joy", "calm", "anger", "fear"], index=rows.index)


def test_frames(small):
    X, Y = frames(small)
    lazy = dd.from_pandas(X, npartitions=3)
    model = make("CSRPEClassifier").fit(X, Y)
    for method in methods(model):
        how = HOW.get(method, {})
        assert_same(getattr(model, method)(lazy, **how), getattr(model, method)(X, **how))
    assert model.predict(lazy).divisions == lazy.divisions
    few = model.predict(lazy[lazy.x0 > 1e9])
    assert few.compute().shape == (0, 4)
    plain = make("CSRPEClassifier").fit(X, Y.to_numpy())
    assert_same(plain.predict(lazy), plain.predict(X))


def test_names_and_numbers_of_features_are_checked_at_once(csrpe, small):
    X, Y = frames(small)
    model = make("CSRPEClassifier").fit(X, Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(dd.from_pandas(X[X.columns[::-1]], npartitions=2))
    with pytest.raises(ValueError, match="5 features, but CSRPEClassifier is expecting 6"):
        csrpe.predict(cut(small[0])[:, :5])
    for wrong in (cut(small[0])[:, 0], dd.from_pandas(X.x0, npartitions=2)):
        with pytest.raises(ValueError, match="X must be a Dask array of shape"):
            csrpe.predict(wrong)
    with pytest.raises(ValueError, match="cost must be"):
        csrpe.decide(cut(small[0]), cost=3)
    with pytest.raises(ValueError, match="k must be"):
        csrpe.predict_set_proba(cut(small[0]), k=0)


def test_texts_go_to_a_pipeline(small):
    texts = np.array(["a b", "b c", "c d", "d a"] * 5, dtype=object)
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]] * 5)
    frame = pd.DataFrame({"text": texts})
    pipeline = make_pipeline(OfColumn(), TfidfVectorizer(token_pattern=r"\w"), DecisionTreeClassifier())
    model = BayesDecisionClassifier(pipeline, random_state=0).fit(frame, Y)
    assert_same(model.predict(dd.from_pandas(frame, npartitions=3)), model.predict(frame))


class OfColumn:
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X["text"].astype(str)


def test_nothing_is_computed_before_it_is_asked_for(csrpe, small):
    computed = []

    def note(block):
        computed.append(len(block))
        return block

    lazy = cut(small[0]).map_blocks(note, dtype=float, meta=np.empty((0, 0)))
    answer = csrpe.predict(lazy)
    assert computed == []
    answer[:10].compute()
    assert computed == [50]


def test_expected_costs_of_given_labels(csrpe, small):
    X, Y = small
    expected = csrpe.expected_cost(X, Y)
    for given in (Y, da.from_array(Y, chunks=(70, 2)), of_unknown_length(Y), sp.csr_array(Y)):
        assert_same(csrpe.expected_cost(cut(X), given), expected)
    assert_same(csrpe.expected_cost(of_unknown_length(X), cut(Y)), expected)
    np.testing.assert_array_equal(csrpe.expected_cost(X, cut(Y)), expected)
    for wrong in (Y[:-1], cut(Y)[:70], cut(Y)[:-1]):
        with pytest.raises(ValueError, match="Y must"):
            csrpe.expected_cost(cut(X), wrong)
    with pytest.raises(ValueError, match=r"X.compute_chunk_sizes\(\)"):
        csrpe.expected_cost(of_unknown_length(X), Y)


@pytest.mark.parametrize("name", ["CSRPEClassifier", "BinaryRelevance"])
def test_fit_and_score_bring_the_rows_into_memory(fitted, small, name):
    X, Y = small
    model = fitted(name)
    again = clone(model).fit(cut(X[:N_FIT]), cut(Y[:N_FIT]))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.score(cut(X), cut(Y)) == model.score(X, Y)
    rows, labels = frames(small)
    named = clone(model).fit(dd.from_pandas(rows, npartitions=2), dd.from_pandas(labels, npartitions=2))
    pd.testing.assert_frame_equal(named.predict(rows), clone(model).fit(rows, labels).predict(rows))


def test_methods_are_as_they_were(csrpe, small):
    assert pickle.loads(pickle.dumps(csrpe.predict_proba))(small[0]).shape == (120, 4)
    assert list(inspect.signature(csrpe.expected_cost).parameters) == ["X", "Y", "cost"]
    assert "probability of each label" in CSRPEClassifier.predict_proba.__doc__
    nearest = CSRPEClassifier(decoder="nearest")
    assert not hasattr(nearest, "predict_proba")
    with pytest.raises(AttributeError, match="has no attribute 'expected_cost'"):
        nearest.expected_cost  # noqa: B018


@pytest.mark.slow
def test_nothing_imports_dask():
    code = """
import sys
import numpy as np
from refpair import CSRPEClassifier
from refpair.active import RandomQuery
sys.modules["dask"] = sys.modules["distributed"] = None
X, Y = np.eye(8), np.eye(8, 3, dtype=int)
CSRPEClassifier(n_bits=6, n_jobs=2, random_state=0).fit(X, Y).expected_cost(X)
RandomQuery().query(X, np.full((8, 2), np.nan))
assert not [name for name in sys.modules if name.startswith(("dask.", "distributed."))]
"""
    subprocess.run([sys.executable, "-c", code], check=True)
