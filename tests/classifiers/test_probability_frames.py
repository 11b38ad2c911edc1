"""Probabilities as DataFrames: the labels are the columns, and the index is that of X."""

import numpy as np
import pandas as pd
import pytest

from refpair import CSRPEClassifier
from tests.classifiers.common import CLASSES, make


@pytest.fixture(scope="module")
def frames(small):
    X, Y = small
    index = [f"row {i}" for i in range(len(X))]
    rows = pd.DataFrame(X, index, [f"x{i}" for i in range(X.shape[1])])
    return rows, pd.DataFrame(Y, index, ["joy", "calm", "anger", "fear"])


@pytest.mark.parametrize("name", [name for name in CLASSES if hasattr(make(name), "predict_proba")])
def test_every_classifier_that_tells_probabilities(frames, small, name):
    X, Y = frames
    model = make(name).fit(X, Y)
    found = model.predict_proba(X[80:], as_frame=True)
    assert list(found.columns) == ["joy", "calm", "anger", "fear"]
    assert list(found.index) == list(X.index[80:])
    np.testing.assert_array_equal(found, model.predict_proba(X[80:]))


def test_without_an_index_and_without_names(small):
    X, Y = small
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(X, Y)
    for given in (X, X.tolist()):
        found = model.predict_proba(given, as_frame=True)
        assert list(found.columns) == [0, 1, 2, 3]
        assert list(found.index) == list(range(len(X)))


def test_a_single_label_has_a_column_for_each_of_its_classes(small):
    X, Y = small
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(X, np.where(Y[:, 0], "fraud", "fine"))
    found = model.predict_proba(X, as_frame=True)
    assert list(found.columns) == ["fine", "fraud"]
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_dask_frames_stay_lazy_and_arrays_have_no_index(frames):
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    X, Y = frames
    X = X.reset_index(drop=True)
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(X, Y)
    lazy = model.predict_proba(dd.from_pandas(X, npartitions=3), as_frame=True)
    pd.testing.assert_frame_equal(lazy.compute(), model.predict_proba(X, as_frame=True))
    unnamed = CSRPEClassifier(n_bits=20, random_state=0).fit(X.to_numpy(), Y)
    with pytest.raises(ValueError, match="for a Dask DataFrame"):
        unnamed.predict_proba(da.from_array(X.to_numpy(), chunks=(50, -1)), as_frame=True)
