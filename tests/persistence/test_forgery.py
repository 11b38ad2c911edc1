"""Files made to do harm, with a right checksum."""

from __future__ import annotations

import io
import os
import zipfile

import numpy as np
import pytest

from refpair.persistence import ModelFileError, load
from refpair.persistence import _file as model_file


def changed(name, change):
    """Return a forger of one array."""

    def forge(header, arrays):
        array = arrays[name].copy()
        changed = change(array)
        arrays[name] = array if changed is None else changed

    return forge


def at(where, value):
    def change(array):
        array[where] = value

    return change


def in_header(*keys, value):
    def forge(header, arrays):
        *outer, last = keys
        for key in outer:
            header = header[key]
        header[last] = value

    return forge


def first_inner(arrays):
    return int(np.flatnonzero(arrays["trees_feature"] >= 0)[0])


def loop(header, arrays):
    left = arrays["trees_left_child"].copy()
    left[first_inner(arrays)] = 0
    arrays["trees_left_child"] = left


def child_outside(header, arrays):
    left = arrays["trees_left_child"].copy()
    start = arrays["trees_start"]
    left[first_inner(arrays)] = start[1] - start[0] - 1  # then the right child is outside
    arrays["trees_left_child"] = left


def starts_that_wrap_around(header, arrays):
    start = arrays["trees_start"].copy()
    start[1:4] = 2**62, -(2**63), -(2**62)
    arrays["trees_start"] = start


FORGED = {
    "loop": loop,
    "child outside": child_outside,
    "negative child": changed("trees_left_child", lambda left: np.full_like(left, -5)),
    "huge child": changed("trees_left_child", lambda left: np.full_like(left, 2**31 - 1)),
    "feature outside": changed("trees_feature", at(0, 5)),
    "negative feature": changed("trees_feature", at(0, -2)),
    "NaN value": changed("trees_value", at(0, np.nan)),
    "bool of 2": changed("trees_missing_left", lambda a: (np.ones(a.size, np.uint8) * 2).view(bool)),
    "fewer nodes": changed("trees_threshold", lambda a: a[:-1]),
    "trees start late": changed("trees_start", at(0, 1)),
    "trees end early": changed("trees_start", at(-1, 3)),
    "trees go back": changed("trees_start", at(2, 0)),
    "trees wrap around": starts_that_wrap_around,
    "fewer trees": changed("trees_start", lambda a: np.delete(a, 1)),
    "edges outside": changed("bins_edge_start", at(-1, 10**6)),
    "edges go back": changed("bins_edge_start", at(1, -1)),
    "NaN edge": changed("bins_edges", at(0, np.nan)),
    "more features in bins": changed("bins_has_missing", lambda a: np.append(a, True)),
    "too many edges": lambda header, arrays: arrays.update(
        bins_edges=np.arange(1275.0), bins_edge_start=np.arange(6) * 255
    ),
    "wrong dtype": changed("trees_feature", lambda a: a.astype(np.int64)),
    "missing array": lambda header, arrays: arrays.pop("beta"),
    "unknown array": lambda header, arrays: arrays.update(gamma=np.zeros(3)),
    "same pair": lambda header, arrays: arrays.update(beta=arrays["alpha"]),
    "wide labels": changed("alpha", lambda a: np.hstack([a, a])),
    "flat labels": changed("relevant_set", lambda a: a.ravel()),
    "no vectors": changed("relevant_set", lambda a: a[:0]),
    "fewer counts": changed("relevant_counts", lambda a: a[1:]),
    "fewer in bag": changed("in_bag", lambda a: a[1:]),
    "other number of labels": in_header("labels", "n", value=2),
    "text for a number": in_header("labels", "n", value="3"),
    "fraction of features": in_header("features", "n", value=5.0),
    "unknown kind": in_header("labels", "kind", value="tensor"),
    "unknown dtype": in_header("labels", "dtype", value="O"),
    "huge strings": in_header("labels", "names", value={"dtype": "U1000000000", "values": ["a", "b", "c"]}),
    "too few names": in_header("labels", "names", "values", value=[1, 2]),
    "names in names": in_header("labels", "names", "values", value=[[1], [2], [3]]),
    "too few features": in_header("features", "names", value=["a"]),
    "unknown cost": in_header("cost", value={"name": "free"}),
    "prices of other labels": in_header(
        "cost", value={"name": "x", "false_positive": [1, 2], "false_negative": 1}
    ),
    "no cost": in_header("cost", value=None),
    "no parameters": in_header("parameters", value=None),
    "unknown parameter": in_header("parameters", "colour", value="red"),
    "bad parameter": in_header("parameters", "n_bits", value=-1),
    "bad learner": in_header("parameters", "learner", value="svm"),
    "text for threads": in_header("parameters", "n_jobs", value="all"),
    "a million threads": in_header("parameters", "n_jobs", value=10**6),
}


def write_unchecked(path, header, arrays, monkeypatch):
    """Write whatever it is, objects by pickle too."""
    write = np.lib.format.write_array
    monkeypatch.setattr(
        np.lib.format, "write_array", lambda stream, array, **how: write(stream, array, version=(1, 0))
    )
    model_file.write_model_file(path, header, arrays)
    monkeypatch.undo()


def test_a_file_written_by_the_forger_without_changes_is_accepted(path, model, data, monkeypatch):
    write_unchecked(path, *model_file.read_model_file(path), monkeypatch)
    np.testing.assert_array_equal(load(path).predict(data[0]), model.predict(data[0]))


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_file_is_refused(what, path, monkeypatch):
    header, arrays = model_file.read_model_file(path)
    FORGED[what](header, arrays)
    write_unchecked(path, header, arrays, monkeypatch)
    with pytest.raises(ModelFileError, match=r"model\.refpair: the file is damaged \(.*save the model anew"):
        load(path)


def test_an_array_that_claims_to_be_larger_than_it_is_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if name != "sha256"}
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<i8", "fortran_order": False, "shape": (10**13,)})
    entries["trees_start.npy"] = claim.getvalue() + bytes(80)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "sha256": model_file._checksum(entries).encode()}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="the size of an array is not what it says"):
        load(path)


def test_a_pickle_in_the_file_is_not_run(path, tmp_path, monkeypatch):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    header, arrays = model_file.read_model_file(path)
    arrays["relevant_counts"] = np.array([Evil()], dtype=object)
    write_unchecked(path, header, arrays, monkeypatch)
    with pytest.raises(ModelFileError, match="plain numbers"):
        load(path)
    assert not (tmp_path / "evil").exists()


def test_the_code_of_a_forged_tree_is_the_one_it_says(path, data):
    """The checks refuse no tree that is in order: here all trees become single leaves."""
    header, arrays = model_file.read_model_file(path)
    n = len(arrays["trees_start"]) - 1
    arrays |= {
        "trees_start": np.arange(n + 1),
        "trees_feature": np.full(n, -1, np.int32),
        "trees_threshold": np.zeros(n, np.uint8),
        "trees_missing_left": np.zeros(n, bool),
        "trees_left_child": np.zeros(n, np.int32),
        "trees_value": np.linspace(-1, 1, n, dtype=np.float32),
    }
    model_file.write_model_file(path, header, arrays)
    expected = np.where(np.linspace(-1, 1, n) > 0, 1, -1)[: len(arrays["alpha"])]
    np.testing.assert_array_equal(load(path).predict_code(data[0][:2]), [expected, expected])
