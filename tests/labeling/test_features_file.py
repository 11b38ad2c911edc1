from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from refpair.labeling.rows import read_features


def save(path, X):
    with path.open("wb") as file:
        np.save(file, X)
    return path


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, ">f8"])
def test_numbers_of_any_type(tmp_path, dtype):
    X = read_features(save(tmp_path / "emb.NPY", np.array([[0, 1], [1, 1], [1, 0]], dtype)), 3)
    np.testing.assert_array_equal(X, [[0, 1], [1, 1], [1, 0]])
    assert X.dtype == np.float64


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_sparse(tmp_path, form):
    X = sp.diags_array([1.0, -4.0, 2.0, 1e308], format=form)
    sp.save_npz(tmp_path / "tf.npz", X)
    found = read_features(tmp_path / "tf.npz", 4)
    assert found.format == "csr"
    np.testing.assert_array_equal(found.toarray(), X.toarray())


def test_arrays_need_no_file():
    np.testing.assert_array_equal(read_features([[1, 2], [3, 4]], 2), [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match="features: has 2 rows, and the table 3; save the features"):
        read_features(np.eye(2), 3)


class Hostile:
    def __reduce__(self):
        return (pytest.fail, ("it was unpickled",))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], "Expected 2D array, got 1D array instead"),
        (np.zeros((2, 2, 2)), "Found array with dim 3"),
        ([[1.0, 2.0]], r"emb.npy: has 1 rows, and the table 2; .*in its order"),
        ([[1.0, 2.0], [3.0, np.nan]], r"emb.npy contains NaN"),
        ([[np.inf, 2.0], [3.0, 4.0]], r"emb.npy contains infinity"),
        ([["a", "b"], ["c", "d"]], r"must hold numbers, not <U1; .*astype\(float\)"),
        ([[1j, 2], [3, 4]], "must hold numbers, not complex128"),
        (np.zeros((2, 0)), r"Found array with 0 feature\(s\)"),
        (
            np.array([[Hostile()], [Hostile()]], dtype=object),
            r"cannot read it as an array of numbers .*np\.save",
        ),
    ],
)
def test_arrays_that_cannot_be(tmp_path, X, message):
    path = save(tmp_path / "emb.npy", X)
    with pytest.raises(ValueError, match=message):
        read_features(path, 2)


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
    with pytest.raises(ValueError, match=r"emb.npz contains NaN"):
        read_features(tmp_path / "emb.npz", 4)


def test_other_files(tmp_path):
    with pytest.raises(ValueError, match=r"emb\.csv: cannot tell the format by the name; .*\.npy or \.npz"):
        read_features(tmp_path / "emb.csv", 2)
    with pytest.raises(FileNotFoundError):
        read_features(tmp_path / "emb.npy", 2)
    with pytest.raises(FileNotFoundError):
        read_features(tmp_path / "emb.npz", 2)
