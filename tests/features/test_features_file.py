from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from refpair.features import read_features


def save(path, X):
    with path.open("wb") as file:
        np.save(file, X)
    return path


def test_dense(tmp_path):
    X = np.array([[1, 10, 7], [2, 30, 7], [6, 20, 7]], np.float32)
    features = read_features(save(tmp_path / "emb.npy", X), 3)
    expected = (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0) / np.sqrt(2)
    np.testing.assert_allclose(features.X, expected, rtol=1e-6)
    assert features.X.dtype == np.float64
    assert features.names == ["emb 0", "emb 1"]
    assert features.used == ["emb.npy: 2 features, standardised; 1 more is the same in all rows"]
    assert features.kinds == {}


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, ">f8"])
def test_numbers_of_any_type(tmp_path, dtype):
    features = read_features(save(tmp_path / "emb.NPY", np.array([[0], [1]], dtype)), 2)
    np.testing.assert_allclose(features.X, [[-1], [1]])


def test_huge_values(tmp_path):
    X = read_features(save(tmp_path / "emb.npy", [[1e308, 1], [-1e308, 2]]), 2).X
    np.testing.assert_allclose(np.abs(X), np.sqrt(0.5))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_sparse(tmp_path, form):
    X = sp.diags_array([1.0, -4.0, 2.0, 1e308, 5.0, 3.0, 1.0, 1.0], format=form)
    sp.save_npz(tmp_path / "tf.npz", X)
    features = read_features(tmp_path / "tf.npz", 8)
    assert isinstance(features.X, sp.csr_array)
    np.testing.assert_allclose(features.X.toarray(), np.diag(np.sign(X.toarray().diagonal())))
    assert features.names[0] == "tf 0"


def test_sparse_drops_constants_and_becomes_dense_if_full(tmp_path):
    X = np.zeros((20, 30))
    X[:, 0] = 5
    X[3, 1] = 2
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(X))
    features = read_features(tmp_path / "a.npz", 20)
    assert features.names == ["a 1"]
    assert features.used == ["a.npz: 1 feature, scaled; 29 more are the same in all rows"]
    sp.save_npz(tmp_path / "b.npz", sp.csr_array([[1.0, 2.0], [3.0, 5.0]]))
    np.testing.assert_allclose(
        read_features(tmp_path / "b.npz", 2).X, np.array([[-1, -1], [1, 1]]) / np.sqrt(2)
    )


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("it was unpickled",))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"must have shape \(rows, features\), not \(2,\); .*reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), r"not \(2, 2, 2\)"),
        ([[1.0, 2.0]], "has 1 rows, and the table 2; .*in its order"),
        ([[1.0, 2.0], [3.0, np.nan]], r"row 2 has nan as feature 1; .*nan_to_num"),
        ([[np.inf, 2.0], [3.0, 4.0]], r"row 1 has inf as feature 0"),
        ([["a", "b"], ["c", "d"]], r"must hold numbers, not <U1; .*astype\(float\)"),
        ([[1j, 2], [3, 4]], "must hold numbers, not complex128"),
        ([[1.0, 2.0], [1.0, 2.0]], "each feature is the same in all rows"),
        (np.zeros((2, 0)), "emb.npy"),
        (
            np.array([[Hostile()], [Hostile()]], dtype=object),
            r"cannot read it as an array of numbers .*np\.save",
        ),
    ],
)
def test_arrays_that_cannot_be(tmp_path, X, message):
    path = save(tmp_path / "emb.npy", X)
    with pytest.raises(ValueError, match=message) as caught:
        read_features(path, 2)
    assert str(path) in str(caught.value)


def header_that_lies() -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (2, 2**50)})
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"plain text", pickle.dumps(Hostile()), header_that_lies(), header_that_lies()[:20]],
    ids=["empty", "text", "pickle", "lies", "cut"],
)
@pytest.mark.parametrize("name", ["emb.npy", "emb.npz"])
def test_files_that_are_something_else(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name}: cannot read it as .*save it with"):
        read_features(tmp_path / name, 2)


def test_an_array_named_npz(tmp_path):
    with pytest.raises(ValueError, match=r"emb\.npz: cannot read it as a sparse matrix .*np\.save as \.npy"):
        read_features(save(tmp_path / "emb.npz", np.eye(2)), 2)


def test_an_archive_named_npy(tmp_path):
    with (tmp_path / "emb.npy").open("wb") as file:
        np.savez(file, X=np.eye(2))
    with pytest.raises(ValueError, match=r"it is an \.npz file; .*np\.save\(path, X\)"):
        read_features(tmp_path / "emb.npy", 2)


@pytest.mark.parametrize(
    "arrays",
    [
        {"X": np.eye(2)},
        {"format": np.array(b"csr"), "shape": [2, 2], "data": [1.0], "indices": [9**9], "indptr": [0, 1, 1]},
        {"format": np.array(b"csc"), "shape": [2, 2], "data": [1.0], "indices": [-5], "indptr": [0, 1, 1]},
        {"format": np.array(b"csr"), "shape": [2, 2], "data": [1.0], "indices": [0], "indptr": [0, 7, 1]},
        {"format": np.array(b"coo"), "shape": [2, 2], "data": [1.0], "row": [7], "col": [0]},
        {"format": np.array(b"what"), "shape": [2, 2], "data": [1.0]},
        {"format": np.array([Hostile()], dtype=object)},
    ],
)
def test_archives_that_are_no_sparse_matrix(tmp_path, arrays):
    np.savez(tmp_path / "emb.npz", **arrays)
    with pytest.raises(ValueError, match=r"emb\.npz: cannot read it as a sparse matrix .*save_npz"):
        read_features(tmp_path / "emb.npz", 2)


def test_sparse_matrix_with_nan(tmp_path):
    X = np.zeros((4, 20))
    X[1, 3], X[2, 7] = 1, np.nan
    sp.save_npz(tmp_path / "emb.npz", sp.csr_array(X))
    with pytest.raises(ValueError, match="row 3 has nan as feature 7"):
        read_features(tmp_path / "emb.npz", 4)


def test_other_files(tmp_path):
    with pytest.raises(ValueError, match=r"emb\.csv: cannot tell the format by the name; .*\.npy or \.npz"):
        read_features(tmp_path / "emb.csv", 2)
    with pytest.raises(FileNotFoundError):
        read_features(tmp_path / "emb.npy", 2)
    with pytest.raises(FileNotFoundError):
        read_features(tmp_path / "emb.npz", 2)
