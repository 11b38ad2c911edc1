"""What holds for features of any table, and that models learn from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refpair.features import guess_kinds, make_features
from sklearn.linear_model import LogisticRegression

from refpair.datasets import load_dataset
from tests.features.test_features import dense, squared_lengths

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
KINDS_OF_CELLS = [
    CELLS,
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.one_of(st.none(), st.text(max_size=8)),
    st.one_of(st.none(), st.sampled_from(["red", "blue"])),
    st.one_of(st.none(), st.datetimes()),
]


@st.composite
def frames(draw):
    n = draw(st.integers(2, 12))
    columns = draw(st.lists(st.sampled_from(KINDS_OF_CELLS), min_size=1, max_size=4))
    cells = {f"p_{i // 2}_{i % 2}": draw(st.lists(c, min_size=n, max_size=n)) for i, c in enumerate(columns)}
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in cells.items()})


fewer = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def features_or_none(frame):
    try:
        return make_features(frame)
    except ValueError as error:
        assert str(error).startswith("nothing to learn from in")  # noqa: PT017
        return None


@fewer
@given(frame=frames(), infer=st.booleans())
def test_any_table_has_finite_features(frame, infer):
    frame = frame.infer_objects() if infer else frame
    before = frame.copy(deep=True)
    features = features_or_none(frame)
    pd.testing.assert_frame_equal(frame, before)
    if features is None:
        return
    X = dense(features.X)
    assert X.shape == (len(frame), len(features.names))
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    np.testing.assert_allclose(squared_lengths(X).mean(), 1)
    pixel = [features.kinds.get(name) == "image" for name in features.names]
    assert ((X != 0).any(axis=0) | pixel).all()  # only pixels may be 0 in all rows
    assert sp.issparse(features.X) == ((X != 0).mean() < 0.2)
    assert list(features.kinds) == list(frame.columns)
    assert features.kinds == guess_kinds(frame) or "ignored" in features.kinds.values()


@fewer
@given(frame=frames(), data=st.data())
def test_the_order_of_rows_does_not_matter(frame, data):
    order = data.draw(st.permutations(range(len(frame))))
    features, other = features_or_none(frame), features_or_none(frame.iloc[order])
    if features is None or other is None:
        assert features is other
        return
    assert features.names == other.names
    assert features.used == other.used
    np.testing.assert_allclose(dense(features.X)[order], dense(other.X), atol=1e-9)


def accuracy(X, Y, n_train):
    right = []
    for y in Y.T:
        model = LogisticRegression(C=100, max_iter=500).fit(X[:n_train], y[:n_train])
        right.append((model.predict(X[n_train:]) == y[n_train:]).mean())
    return np.mean(right)


def test_digits_are_learned():
    data = load_dataset("digits")
    frame = pd.DataFrame(data.X[:1200], columns=data.feature_names)
    features = make_features(frame)
    Y = data.Y[:1200, :4]
    guessing = np.maximum(Y[800:].mean(axis=0), 1 - Y[800:].mean(axis=0)).mean()
    assert set(features.kinds.values()) == {"image"}
    assert features.names == data.feature_names
    assert accuracy(features.X, Y, 800) > guessing + 0.04


def test_text_is_learned():
    rng = np.random.default_rng(0)
    joy, anger = ["happy", "great", "love", "sunny"], ["hate", "awful", "angry", "worst"]
    filler = [f"word{i}" for i in range(40)]
    Y = rng.integers(0, 2, (300, 2))
    said = []
    for glad, cross in Y:
        words = [*rng.choice(filler, 6), *rng.choice(joy, 2 * glad), *rng.choice(anger, 2 * cross)]
        said.append(" ".join(rng.permutation(words)))
    X = make_features(pd.DataFrame({"said": said})).X
    assert sp.issparse(X)
    assert accuracy(X, Y, 150) > 0.95
    assert accuracy(X, rng.permutation(Y), 150) < 0.65  # it is the words that tell
