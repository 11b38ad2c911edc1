"""Models in files: the same after a round trip, and no file can do harm."""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import refpair
from refpair import Cost, CSRPEClassifier
from refpair.persistence import ModelFileError, load, save
from refpair.persistence import _file as model_file

LABELS = ["joy", "anger", "calm"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5)).round(1)
    Y = (X[:, :3] + rng.normal(size=(120, 3)) / 2 > 0).astype(np.int64)
    return X, Y


@pytest.fixture(scope="module")
def model(data):
    return CSRPEClassifier(n_bits=40, random_state=0, max_samples=0.6).fit(*data)


@pytest.fixture
def path(tmp_path, model):
    save(model, tmp_path / "model.refpair")
    return tmp_path / "model.refpair"


def round_trip(model, folder, **how):
    save(model, folder / "m")
    return load(folder / "m", **how)


def to_numpy(Y):
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


# ---- the same model ----

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
    if model.bits_.in_bag_ is None:
        assert loaded.bits_.in_bag_ is None
    else:
        np.testing.assert_array_equal(loaded.bits_.in_bag_, model.bits_.in_bag_)


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


# ---- costs that no file can hold ----


def n_wrong(Y, Z):
    return (Y != Z).sum(axis=1)


def first_wrong(Y, Z):
    return Y[:, 0] != Z[:, 0]


@pytest.mark.parametrize("cost", [n_wrong, Cost.from_counts(lambda tp, fp, fn, tn: fp + fn, name="mine")])
def test_a_function_is_asked_for_when_loading(cost, data, tmp_path):
    X, Y = data
    model = CSRPEClassifier(cost=cost, n_bits=20, random_state=0).fit(X, Y)
    save(model, tmp_path / "m")
    with pytest.raises(ValueError, match=rf"{model.cost_.name}.* is a Python function.*load\(path, cost="):
        load(tmp_path / "m")
    loaded = load(tmp_path / "m", cost=cost)
    assert loaded.cost is cost
    assert loaded.score(X, Y) == model.score(X, Y)
    with pytest.raises(ValueError, match="not fitted with the cost 'first_wrong'"):
        load(tmp_path / "m", cost=first_wrong)


def test_a_known_cost_may_be_given_but_no_other(path, model):
    assert load(path, cost="f1").cost == "f1"
    with pytest.raises(ValueError, match="not fitted with the cost 'hamming'"):
        load(path, cost="hamming")
    with pytest.raises(ValueError, match="did you mean 'hamming'"):
        load(path, cost="haming")


# ---- what cannot be saved ----


class OtherModel(CSRPEClassifier):
    pass


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda X, Y: CSRPEClassifier(), NotFittedError, "not fitted"),
        (lambda X, Y: LogisticRegression().fit(X, Y[:, 0]), TypeError, "not a LogisticRegression"),
        (lambda X, Y: OtherModel(n_bits=4).fit(X, Y), TypeError, "not a OtherModel"),
        (
            lambda X, Y: CSRPEClassifier(n_bits=4, learner=LogisticRegression()).fit(X, Y),
            ValueError,
            "joblib.dump",
        ),
        (
            lambda X, Y: CSRPEClassifier(n_bits=4).fit(X, pd.DataFrame(Y, columns=[(1, 2), (3, 4), (5, 6)])),
            ValueError,
            "the name of a label",
        ),
    ],
)
def test_what_cannot_be_saved_leaves_no_file(make, error, says, data, tmp_path):
    with pytest.raises(error, match=says):
        save(make(*data), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


# ---- writing ----


def test_a_failed_write_leaves_the_old_file_alone(path, data, monkeypatch):
    before = path.read_bytes()

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        save(CSRPEClassifier(n_bits=5, random_state=1).fit(*data), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_saving_replaces_the_file(path, data):
    save(CSRPEClassifier(n_bits=5, random_state=1).fit(*data), path)
    assert load(path).n_bits == 5


def test_others_may_read_the_file_as_far_as_the_umask_lets_them(model, tmp_path):
    before = os.umask(0o027)
    try:
        save(model, tmp_path / "m")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640


def test_a_wrong_place_is_named(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no such folder: .*nowhere'"):
        save(model, tmp_path / "nowhere" / "m")
    with pytest.raises(IsADirectoryError, match="add the name of a file"):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "m")


# ---- files that are no model, or a broken one ----


def zipped(**entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("_", "."), content)
    return stream.getvalue()


NO_MODELS = {
    "empty": b"",
    "text": b"tempo,joy\n120,1\n",
    "pickle": pickle.dumps({"a": 1}),
    "other zip": zipped(readme_txt=b"hello"),
    "other header": zipped(header_json=b'{"format": "something else"}'),
    "list for header": zipped(header_json=b"[]"),
    "no JSON": zipped(header_json=b"{"),
    "deep JSON": zipped(header_json=b"[" * 200_000),
    "no version": zipped(header_json=b'{"format": "refpair model"}'),
    "header only": zipped(header_json=b'{"format": "refpair model", "version": 1}'),
    "wrong checksum": zipped(header_json=b'{"format": "refpair model", "version": 1}', sha256=b"\xff"),
}


@pytest.mark.parametrize("name", NO_MODELS)
def test_files_that_are_no_models_are_refused_by_name(name, tmp_path):
    (tmp_path / "some.file").write_bytes(NO_MODELS[name])
    with pytest.raises(ModelFileError, match=r"some\.file: .*; (copy|name another)"):
        load(tmp_path / "some.file")


def test_a_newer_format_asks_for_an_update(path):
    header, arrays = model_file.read_model_file(path)
    model_file.write_model_file(path, {**header, "version": 99, "refpair": "7.0"}, arrays)
    with pytest.raises(ModelFileError, match=r"refpair 7\.0 wrote it in format 99.*pip install --upgrade"):
        load(path)


def test_a_part_of_a_file_is_refused(path):
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            load(path)


def test_a_changed_byte_is_noticed_or_changes_nothing(path, model, data):
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for place in rng.integers(len(whole), size=300):
        broken = bytearray(whole)
        broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        try:
            loaded = load(path)
        except ModelFileError:
            refused += 1
        else:  # zip files hold dates and other things that do not matter
            np.testing.assert_array_equal(loaded.predict(data[0]), model.predict(data[0]))
    assert refused > 200


def test_a_changed_array_with_the_old_checksum_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    value = bytearray(entries["trees_value.npy"])
    value[-2] ^= 1
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "trees_value.npy": bytes(value)}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_an_entry_that_is_there_twice_is_refused(path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("alpha.npy", b"")
    with pytest.raises(ModelFileError, match="there twice"):
        load(path)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(path):
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("alpha2.npy", bytes(200 << 20))
    with pytest.raises(ModelFileError, match="grow more than 100 times"):
        load(path)


def test_an_entry_larger_than_it_says_is_not_unpacked(path):
    content = zipped(header_json=b" " * (50 << 20))
    size = (50 << 20).to_bytes(4, "little")
    assert content.count(size) == 2  # where the entry is, and in the list of entries at the end
    path.write_bytes(content.replace(size, (10).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 20


# ---- forged files, with a right checksum ----


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


def test_the_header_can_be_read_by_people(path):
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    assert header["refpair"] == refpair.__version__
    assert header["cost"] == {"name": "f1"}
    assert header["parameters"]["n_bits"] == 40


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
    expected = np.where(np.linspace(-1, 1, n) > 0, 1, -1)
    np.testing.assert_array_equal(load(path).predict_code(data[0][:2]), [expected, expected])
