"""A model is the same after it was saved and loaded."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import refpair
from refpair import Cost, CSRPEClassifier
from refpair.classifiers import _mixture_choice
from refpair.persistence import load, save

LABELS = ["joy", "anger", "calm"]


def round_trip(model, folder, **how):
    save(model, folder / "m")
    return load(folder / "m", **how)


def to_numpy(Y):
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


KINDS = {
    "array": np.asarray,
    "bool": lambda Y: Y.astype(bool),
    "float32": lambda Y: Y.astype(np.float32),
    "sparse": sp.csr_array,
    "sparse matrix": sp.csr_matrix,
    "pandas": lambda Y: pd.DataFrame(Y, columns=LABELS),
    "pandas with numbers for names": lambda Y: pd.DataFrame(Y, columns=[3, 1, 2]),
    "pandas with mixed names": lambda Y: pd.DataFrame(Y, columns=["a", 1, 2.5]),
    "polars": lambda Y: pl.DataFrame(Y, schema=LABELS),
    "classes of strings": lambda Y: np.array(["no", "yes"])[Y[:, 0]],
    "classes of objects": lambda Y: np.array(["no", "yes"], dtype=object)[Y[:, 0]],
    "classes of numbers": lambda Y: np.array([-1, 7], dtype=np.int16)[Y[:, 0]],
    "classes of bools": lambda Y: Y[:, 0] == 1,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_labels_comes_back_as_it_was(kind, data, tmp_path):
    X, Y = data[0], KINDS[kind](data[1])
    model = CSRPEClassifier(n_bits=30, random_state=0).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    before, after = model.predict(X), loaded.predict(X)
    assert type(after) is type(before)
    np.testing.assert_array_equal(to_numpy(after), to_numpy(before))
    if isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(after, before)
    elif isinstance(before, pl.DataFrame):
        assert after.equals(before)
        assert after.schema == before.schema
    else:
        assert after.dtype == before.dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.score(X, Y) == model.score(X, Y)
    np.testing.assert_array_equal(loaded.encode(Y), model.encode(Y))
    np.testing.assert_array_equal(loaded.predict_code(X), model.predict_code(X))


@pytest.mark.parametrize(
    "how",
    [
        {"cost": "jaccard"},
        {"cost": "f0.5", "pairs": "observed"},
        {"cost": refpair.get_cost("rank"), "max_features": "sqrt"},
        {"cost": Cost.per_label(false_negative=[1, 5, 0.1], name="own")},
        {"max_depth": 2, "min_samples_leaf": 3, "max_features": 0.5, "max_samples": 50, "max_bins": 7},
        {"relevant_set": [[1, 0, 0], [1, 1, 1], [0, 0, 0]]},
        {"n_jobs": 2, "verbose": 0, "random_state": 3},
        {"decoder": "nearest"},
    ],
    ids=str,
)
def test_parameters_come_back(how, data, tmp_path):
    X, Y = data
    X = np.where(X > 1.5, np.nan, X)
    model = CSRPEClassifier(**{"n_bits": 30, "random_state": 0, **how}).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    before, after = model.get_params(), loaded.get_params()
    np.testing.assert_equal(after, before)
    assert loaded.cost_ == model.cost_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for name in ("relevant_set_", "relevant_counts_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
    if model.bits_.bags_ is None:
        assert loaded.bits_.bags_ is None
    else:
        np.testing.assert_array_equal(loaded.bits_.bags_.seeds, model.bits_.bags_.seeds)
        np.testing.assert_array_equal(loaded.bits_.bags_.rows(3), model.bits_.bags_.rows(3))
    if hasattr(model, "oob_search_"):
        np.testing.assert_equal(loaded.oob_search_, model.oob_search_)
        assert loaded.oob_cost_ == model.oob_cost_
        assert loaded.posterior_.sources[0].settings == model.posterior_.sources[0].settings
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_labels_that_are_independent_stay_so(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_mixture_choice, "new_share", lambda training: 1.0)
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(*data)
    assert model.posterior_.mixture.new_share == 1
    loaded = round_trip(model, tmp_path)
    assert loaded.posterior_.mixture.new_share == 1
    np.testing.assert_array_equal(loaded.expected_cost(data[0]), model.expected_cost(data[0]))


def test_a_given_relevant_set_comes_back_in_the_kind_of_the_labels(data, tmp_path):
    X, y = data[0], np.array(["no", "yes"])[data[1][:, 0]]
    model = CSRPEClassifier(n_bits=4, relevant_set=["yes"], random_state=0).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.predict(X).tolist() == ["yes"] * len(X)
    assert clone(loaded).fit(X, y).predict(X).tolist() == ["yes"] * len(X)


def test_a_model_of_a_single_label_vector(data, tmp_path):
    X, Y = data[0], np.tile([1, 0, 1], (len(data[0]), 1))
    loaded = round_trip(CSRPEClassifier(n_bits=4).fit(X, Y), tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), Y)


def test_names_of_features_come_back_and_are_checked(data, tmp_path):
    X = pd.DataFrame(data[0], columns=list("abcde"))
    loaded = round_trip(CSRPEClassifier(n_bits=10, random_state=0).fit(X, data[1]), tmp_path)
    assert loaded.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X[list("edcba")])


def test_sparse_features(data, tmp_path):
    X = sp.csr_array(np.where(data[0] > 1, data[0], 0))
    model = CSRPEClassifier(n_bits=10, random_state=0).fit(X, data[1])
    np.testing.assert_array_equal(round_trip(model, tmp_path).predict(X), model.predict(X))


def test_numbers_of_numpy_become_plain_and_generators_are_left_out(data, tmp_path):
    model = CSRPEClassifier(
        n_bits=np.int64(20), max_samples=np.float64(0.5), random_state=np.random.RandomState(0)
    )
    loaded = round_trip(model.fit(*data), tmp_path)
    assert type(loaded.n_bits) is int
    assert type(loaded.max_samples) is float
    assert loaded.random_state is None


def test_a_loaded_model_can_be_cloned_pickled_saved_and_fitted_again(model, data, tmp_path):
    X, Y = data
    loaded = round_trip(model, tmp_path)
    np.testing.assert_array_equal(clone(loaded).fit(X, Y).predict(X), model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).predict(X), model.predict(X))
    save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_another_process_predicts_the_same(data, tmp_path):
    X = data[0]
    model = CSRPEClassifier(n_bits=10, random_state=0).fit(X, pl.DataFrame(data[1], schema=LABELS))
    save(model, tmp_path / "m")
    np.save(tmp_path / "X.npy", X)
    script = (
        "import sys, numpy, refpair; print(refpair.load(sys.argv[1]).predict(numpy.load(sys.argv[2])).rows())"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "m"), str(tmp_path / "X.npy")]
    assert subprocess.check_output(command, text=True).strip() == str(model.predict(X).rows())
