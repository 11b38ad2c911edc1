import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refpair.on_disk import RowsOnDisk, open_rows


def write(X, path):
    """Write a matrix in the format that the path ends in."""
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".npz":
        sp.save_npz(path, sp.csr_array(X), compressed=False)
    elif path.suffix == ".parquet":
        pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])]).to_parquet(
            path, row_group_size=max(7, len(X) // 3)
        )
    else:  # a folder
        path.mkdir()
        for number, part in enumerate(np.array_split(X, 3)):
            write(part, path / f"part-{number}.parquet")
    return open_rows(path)


def dense(block):
    return block.toarray() if sp.issparse(block) else block


NAMES = ["X.npy", "X.npz", "X.parquet", "folder"]


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(3, 60), n_features=st.integers(1, 9))
def test_rows_are_those_of_the_matrix(name, seed, n_rows, n_features, tmp_path_factory):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n_rows, n_features)) / 2
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = write(X, tmp_path_factory.mktemp("rows") / name)
    assert isinstance(rows, RowsOnDisk)
    assert rows.shape == X.shape
    assert len(rows) == n_rows
    some = rng.integers(0, n_rows, rng.integers(0, 2 * n_rows))  # in any order, and some twice
    np.testing.assert_array_equal(dense(rows[some]), X[some])
    np.testing.assert_array_equal(dense(rows[some.astype(np.int32)]), X[some])
    first, last = np.sort(rng.integers(0, n_rows + 1, 2))
    np.testing.assert_array_equal(dense(rows[first:last]), X[first:last])
    np.testing.assert_array_equal(dense(rows[:]), X)
    np.testing.assert_array_equal(rows.has_missing, np.isnan(X).any(axis=0))
    again = pickle.loads(pickle.dumps(rows))  # as another process is given it
    np.testing.assert_array_equal(dense(again[some]), X[some])


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_saved_as_an_array(name, tmp_path, monkeypatch):
    monkeypatch.setattr("refpair.on_disk._CELLS_A_BLOCK", 20)
    X = np.random.default_rng(0).integers(0, 3, (50, 6)).astype(float)
    rows = write(X, tmp_path / name)
    rows.save(tmp_path / "saved.npy")
    saved = np.load(tmp_path / "saved.npy")
    assert saved.dtype == np.float32
    np.testing.assert_array_equal(saved, X)
    np.testing.assert_array_equal(open_rows(tmp_path / "saved.npy")[:], X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8, np.int64, bool])
def test_rows_are_floats(dtype, tmp_path):
    X = np.eye(5).astype(dtype)
    for name in ("X.npy", "X.npz"):
        block = write(X, tmp_path / name)[1:3]
        assert block.dtype == (dtype if dtype in (np.float32, np.float64) else np.float64)
        np.testing.assert_array_equal(dense(block), X[1:3])


def test_rows_far_apart_and_long_runs_are_read(tmp_path, monkeypatch):
    X = np.arange(4000.0).reshape(1000, 4)
    rows = write(X, tmp_path / "X.npy")
    monkeypatch.setattr("refpair.on_disk._GAP", 100)
    monkeypatch.setattr("refpair.on_disk._MOST", 333)
    some = np.array([0, 1, 2, 5, 6, 100, 101, 500, *range(600, 700), 999])
    np.testing.assert_array_equal(rows[some], X[some])


def test_a_file_larger_than_its_address_space_is_not_mapped(tmp_path):
    rows = write(np.zeros((1000, 4)), tmp_path / "X.npy")
    rows[np.arange(0, 1000, 3)]
    with open("/proc/self/maps") as maps:
        assert "X.npy" not in maps.read()


def test_parquet_columns_have_names_and_can_be_chosen(tmp_path):
    table = pd.DataFrame({"a": [1, 2], "b": [0.5, None], "text": ["x", "y"], "yes": [True, False]})
    path = tmp_path / "X.parquet"
    table.to_parquet(path)
    rows = open_rows(path, columns=["yes", "b"])
    assert rows.feature_names == ["yes", "b"]
    np.testing.assert_array_equal(rows[:], [[1, 0.5], [0, np.nan]])
    with pytest.raises(ValueError, match="a column does not hold numbers"):
        open_rows(path)[:]
    with pytest.raises(ValueError, match="its columns are"):
        open_rows(path, columns=["c"])


def test_files_of_a_folder_have_the_same_columns(tmp_path):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"b": [1.0]}).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2.parquet: its columns are \['b'\]"):
        open_rows(tmp_path)


@pytest.mark.parametrize("name", ["X.npy", "X.npz"])
def test_infinite_values_are_refused(name, tmp_path):
    X = np.zeros((5, 2))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="is infinite"):
        _ = write(X, tmp_path / name).has_missing


def test_what_cannot_be_read_by_rows_is_refused(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "by_column.npy", np.asfortranarray(X))
    np.save(tmp_path / "objects.npy", np.array([["a", 1]], dtype=object), allow_pickle=True)
    np.save(tmp_path / "text.npy", np.array([["a", "b"]]))
    np.save(tmp_path / "vector.npy", np.arange(3))
    sp.save_npz(tmp_path / "small.npz", sp.csr_array(X), compressed=True)
    sp.save_npz(tmp_path / "csc.npz", sp.csc_array(X), compressed=False)
    np.savez(tmp_path / "arrays.npz", X=X)
    (tmp_path / "X.csv").write_text("a,b\n1,2\n")
    (tmp_path / "none.npy").write_bytes(b"nothing")
    (tmp_path / "none.npz").write_bytes(b"nothing")
    (tmp_path / "empty").mkdir()
    for name, message in {
        "by_column.npy": "stored column by column",
        "objects.npy": "Python objects",
        "text.npy": "a matrix of numbers",
        "vector.npy": "a matrix of numbers",
        "small.npz": "compressed=False",
        "csc.npz": r"X.tocsr\(\)",
        "arrays.npz": "no sparse matrix",
        "X.csv": ".npy, .npz or .parquet",
        "none.npy": "numpy.save",
        "none.npz": "no sparse matrix",
        "empty": "no .parquet files",
    }.items():
        with pytest.raises(ValueError, match=message):
            open_rows(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_rows(tmp_path / "missing.npy")
    with pytest.raises(ValueError, match="columns are named in Parquet files only"):
        open_rows(tmp_path / "vector.npy", columns=["a"])


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    rows = write(np.ones((100, 3)), tmp_path / "X.npy")
    with (tmp_path / "X.npy").open("r+b") as file:
        file.truncate(1000)
    rows[:10]
    with pytest.raises(ValueError, match="cut off"):
        rows[:]


@pytest.mark.parametrize("rows", [np.array([-1]), np.array([4])])
def test_rows_that_are_not_there(rows, tmp_path):
    with pytest.raises(IndexError, match="numbered from 0 to 3"):
        write(np.ones((4, 3)), tmp_path / "X.npy")[rows]


@pytest.mark.parametrize("rows", [(slice(None), 0), np.array([True, False]), np.ones((2, 2), int)])
def test_rows_are_asked_for_by_number(rows, tmp_path):
    with pytest.raises(TypeError, match="by a slice or by their numbers"):
        write(np.ones((4, 3)), tmp_path / "X.npy")[rows]


def test_cells_in_columns_that_are_not_there_are_refused(tmp_path):
    matrix = sp.csr_array(np.eye(3))
    matrix.indices = matrix.indices + 2
    sp.save_npz(tmp_path / "X.npz", matrix, compressed=False)
    with pytest.raises(ValueError, match="a cell in column 4, and 3 columns from 0 on"):
        open_rows(tmp_path / "X.npz")[:]
