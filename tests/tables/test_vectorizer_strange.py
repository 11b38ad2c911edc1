"""Features of tables with strange cells, and of any table."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from refpair import TableVectorizer
from refpair.datasets import load_dataset


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": []}), "the table has no rows"),
        (pd.DataFrame(), "the table has no rows"),
        (pd.DataFrame(index=[0, 1]), r"nothing to learn from in 0 columns and 2 rows \(there are none\)"),
        (pd.DataFrame({"a": [1], "b": ["so good"]}), "nothing to learn from in 2 columns and 1 row"),
        (pd.DataFrame({"a": [None] * 3, "b": [""] * 3}), r"in 2 columns and 3 rows \(a, b: no values\)"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "2 columns are named 'a'; rename all but one"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), "2 columns are named '1'; rename all but one"),
        (pd.DataFrame({f"c{i}": [1, 1] for i in range(9)}), r"\(c0, c1, c2, c3 and 5 more: all values are"),
    ],
)
def test_tables_without_anything(frame, message):
    with pytest.raises(ValueError, match=message):
        TableVectorizer().fit(frame)


STRANGE = {
    "lists": [[1, 2], [], None, [1, 2]],
    "dicts": [{"x": 1}, {"y": 2}, {"x": 1}],
    "arrays": [np.zeros(2), np.ones(3), np.zeros(2)],
    "mixed": [1, "x", None, 2.5, True, 1, "x"],
    "complex": [1j, 2j, 1j, 2j],
    "periods": pd.period_range("2024-01", periods=4, freq="M"),
    "intervals": pd.interval_range(0, 3),
    "bytes": [b"a b", b"c d", b"a c"],
    "surrogates": pd.Series(["\ud800 bad", "\ud800 ok", "x y"], dtype=object),
    "zeros": ["a\0b c", "a\0b d", "e f"],
    "clock": [datetime.time(1), datetime.time(2), datetime.time(1), datetime.time(2)],
    "categories of dates": pd.Categorical(pd.to_datetime(["2024-01-01", "2024-01-02"] * 2)),
    "sparse words": pd.arrays.SparseArray(["a", "b", "a", "b"], fill_value="a"),
    "sparse truth": pd.arrays.SparseArray([True, False, True, False]),
}


@pytest.mark.parametrize("what", STRANGE)
def test_strange_cells(what):
    frame = pd.DataFrame({"a": STRANGE[what]})
    frame["n"] = np.arange(len(frame)) ** 2
    vectorizer = TableVectorizer()
    X = dense(vectorizer.fit_transform(frame))
    assert np.isfinite(X).all()
    np.testing.assert_allclose(dense(vectorizer.transform(frame)), X)


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["red", "blue", "so good", "../a.png", "a.png", "😀", "\x00"]),
    st.dates(),
    st.complex_numbers(),
    st.lists(st.integers(), max_size=2),
)
COLUMNS = [
    CELLS,
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.one_of(st.none(), st.text(max_size=8)),
    st.one_of(st.none(), st.sampled_from(["red", "blue"])),
    st.one_of(st.none(), st.sampled_from(["so good", "so bad", "not bad"])),
    st.one_of(st.none(), st.booleans()),
    st.one_of(st.none(), st.datetimes()),
    st.dates().map(str),
]


@st.composite
def frames(draw):
    n = draw(st.integers(2, 12))
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=5))
    cells = {f"p_{i // 2}_{i % 2}": draw(st.lists(c, min_size=n, max_size=n)) for i, c in enumerate(columns)}
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})
    return frame.infer_objects() if draw(st.booleans()) else frame


def fitted_or_none(frame):
    try:
        return TableVectorizer().fit(frame)
    except ValueError as error:
        assert str(error).startswith("nothing to learn from in")  # noqa: PT017
        return None


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(frames(), st.data())
def test_features_are_finite_and_those_of_parts_are_those_of_the_whole(frame, data):
    before = frame.copy(deep=True)
    vectorizer = fitted_or_none(frame)
    pd.testing.assert_frame_equal(frame, before)
    if vectorizer is None:
        return
    X = vectorizer.transform(frame)
    assert dense(X).shape == (len(frame), len(vectorizer.get_feature_names_out()))
    assert np.isfinite(dense(X)).all()
    assert vectorizer.columns_.index.tolist() == list(frame.columns)
    rows = data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1))
    part = vectorizer.transform(frame.iloc[rows])
    assert type(part) is type(X)
    np.testing.assert_allclose(dense(part), dense(X)[rows], atol=1e-12)
    np.testing.assert_allclose(dense(TableVectorizer().fit_transform(frame)), dense(X), atol=1e-12)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(frames(), frames())
def test_any_other_table_has_finite_features_or_a_sentence(frame, other):
    vectorizer = fitted_or_none(frame)
    if vectorizer is None:
        return
    try:
        X = dense(vectorizer.transform(other))
    except ValueError as error:
        assert "the table lacks the column" in str(error) or "must hold numbers" in str(error)  # noqa: PT017
        return
    assert np.isfinite(X).all()
    assert X.shape == (len(other), len(vectorizer.get_feature_names_out()))


# ---- models learn from it ----


def accuracy(X, Y, n_train):
    right = []
    for y in Y.T:
        model = LogisticRegression(C=100, max_iter=500).fit(X[:n_train], y[:n_train])
        right.append((model.predict(X[n_train:]) == y[n_train:]).mean())
    return np.mean(right)


def test_digits_are_learned():
    data = load_dataset("digits")
    frame = pd.DataFrame(data.X[:1200], columns=data.feature_names)
    vectorizer = TableVectorizer()
    X = vectorizer.fit_transform(frame)
    Y = data.Y[:1200, :4]
    guessing = np.maximum(Y[800:].mean(axis=0), 1 - Y[800:].mean(axis=0)).mean()
    assert set(vectorizer.columns_["kind"]) == {"image"}
    assert accuracy(X, Y, 800) > guessing + 0.04


def test_text_is_learned():
    rng = np.random.default_rng(0)
    joy, anger = ["happy", "great", "love", "sunny"], ["hate", "awful", "angry", "worst"]
    filler = [f"word{i}" for i in range(40)]
    Y = rng.integers(0, 2, (300, 2))
    said = []
    for glad, cross in Y:
        words = [*rng.choice(filler, 6), *rng.choice(joy, 2 * glad), *rng.choice(anger, 2 * cross)]
        said.append(" ".join(rng.permutation(words)))
    X = TableVectorizer().fit_transform(pd.DataFrame({"said": said}))
    assert sp.issparse(X)
    assert accuracy(X, Y, 150) > 0.95
    assert accuracy(X, rng.permutation(Y), 150) < 0.65  # it is the words that tell
