"""A model of rows on disk is that of the same rows in memory."""

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from refpair import BinaryRelevance, CSRPEClassifier
from refpair.datasets import load_dataset
from refpair.on_disk import open_rows
from tests.on_disk.test_open_rows import NAMES, write


@pytest.fixture(scope="module")
def digits():
    data = load_dataset("digits")
    X = data.X[:800].astype(float)
    X[::7, 3] = np.nan
    return X, data.Y[:800]


def assert_same_model(model, other, X):
    for field in fields(model.bits_.trees_):
        np.testing.assert_array_equal(
            getattr(model.bits_.trees_, field.name), getattr(other.bits_.trees_, field.name)
        )
    np.testing.assert_array_equal(model.bits_.bins_.edges, other.bits_.bins_.edges)
    assert model.posterior_.sources[0].settings == other.posterior_.sources[0].settings
    assert model.oob_cost_ == other.oob_cost_
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("max_samples", [100, 0.5])
@pytest.mark.parametrize("name", [*NAMES, "memmap"])
def test_the_model_is_the_same(digits, name, max_samples, tmp_path):
    X, Y = digits
    how = {"n_bits": 30, "max_samples": max_samples, "sources": ("code", "labels"), "random_state": 0}
    named = name in ("X.parquet", "folder")
    features = pd.DataFrame(X, columns=[f"f{i}" for i in range(64)]) if named else X
    expected = CSRPEClassifier(**how).fit(features, Y)
    if name == "memmap":
        np.save(tmp_path / "X.npy", X)
        rows = np.load(tmp_path / "X.npy", mmap_mode="r")
    else:
        rows = write(X, tmp_path / name)
    for n_jobs in (1, 2):
        model = CSRPEClassifier(**how, n_jobs=n_jobs).fit(rows, Y)
        assert_same_model(model, expected, features)
        np.testing.assert_array_equal(model.predict(rows), expected.predict(features))
        np.testing.assert_array_equal(model.expected_cost(rows), expected.expected_cost(features))
        assert model.score(rows, Y) == expected.score(features, Y)


def test_few_rows_of_many_are_learnt_from_as_if_all_were_binned(digits, monkeypatch):
    X, Y = digits
    how = {"n_bits": 30, "max_samples": 90, "random_state": 0, "min_samples_leaf": 2}
    for given in (X, sp.csr_array(np.nan_to_num(X) * (np.nan_to_num(X) > 12))):
        few = CSRPEClassifier(**how).fit(given, Y)
        with monkeypatch.context() as patch:
            patch.setattr("refpair.bits.trees._FEW", 10**6)
            assert_same_model(few, CSRPEClassifier(**how).fit(given, Y), given)


@pytest.mark.parametrize("name", ["X.npy", "X.npz"])
def test_bins_of_many_rows_are_the_same(digits, name, tmp_path, monkeypatch):
    monkeypatch.setattr("refpair.bits.binning._MOST_ROWS", 200)
    X, Y = digits
    X = X.copy()
    X[:, 5] = 1.0
    X[799, 5] = np.nan  # a missing value that is not looked at
    how = {"n_bits": 10, "max_samples": 0.9, "sources": ("code", "labels"), "random_state": 0}
    expected = CSRPEClassifier(**how).fit(X, Y)
    assert expected.bits_.bins_.has_missing[5]
    assert_same_model(CSRPEClassifier(**how).fit(write(X, tmp_path / name), Y), expected, X)


def test_nearest_codes_too(digits, tmp_path):
    X, Y = digits
    how = {"n_bits": 30, "max_samples": 200, "random_state": 0, "decoder": "nearest"}
    rows = write(X, tmp_path / "X.npy")
    np.testing.assert_array_equal(
        CSRPEClassifier(**how).fit(rows, Y).predict(rows), CSRPEClassifier(**how).fit(X, Y).predict(X)
    )


def test_names_of_parquet_columns_are_kept_and_asked_for(digits, tmp_path):
    X, Y = digits
    rows = write(X, tmp_path / "X.parquet")
    model = CSRPEClassifier(n_bits=10, max_samples=100, random_state=0).fit(rows, Y)
    assert list(model.feature_names_in_) == rows.feature_names
    pd.DataFrame(X, columns=[f"g{i}" for i in range(64)]).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(open_rows(tmp_path / "other.parquet"))
    with pytest.raises(ValueError, match="features"):
        model.predict(write(X[:, :5], tmp_path / "few.npy"))


def test_what_needs_all_rows_says_so(digits, tmp_path):
    X, Y = digits
    rows = write(X, tmp_path / "X.npy")
    for model in (BinaryRelevance(), CSRPEClassifier(estimator="logistic")):
        with pytest.raises(ValueError, match="needs all rows in memory"):
            model.fit(rows, Y)
    fitted = BinaryRelevance("tree", random_state=0).fit(X, Y)
    np.testing.assert_array_equal(fitted.predict(rows), fitted.predict(X))


IN_LITTLE_MEMORY = """
import resource, sys
import numpy as np
from refpair import CSRPEClassifier
from refpair.on_disk import open_rows

n_rows, path = 400_000, sys.argv[1]
rng = np.random.default_rng(0)
Y = (rng.random((n_rows, 4)) < 0.3).astype(np.uint8)
how = {"n_bits": 6, "max_samples": 4000, "random_state": 0}
CSRPEClassifier(**how).fit(open_rows(path)[:8000], Y[:8000]).predict(np.zeros((1, 500)))  # compiles

with open("/proc/self/statm") as now:
    size = int(now.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 500_000_000,) * 2)
try:
    np.load(path)
except MemoryError:
    print("not in memory")
model = CSRPEClassifier(**how).fit(open_rows(path), Y)
print(len(model.predict(open_rows(path)[:100])))
"""


@pytest.mark.slow
def test_memory_is_bounded_by_what_a_bit_reads(tmp_path):
    """800 MB of rows, and room for 500 MB; of the rows that bins are found in, 200 MB are taken."""
    path = tmp_path / "X.npy"
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (400_000, 500))
    rows[::1000] = np.random.default_rng(0).random((400, 500), np.float32)  # the rest are holes: no disk
    rows.flush()
    del rows
    done = subprocess.run(
        [sys.executable, "-c", IN_LITTLE_MEMORY, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[:2] == ["not in memory", "100"], done.stderr
