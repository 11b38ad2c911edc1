"""What can be saved, what loading asks for, and how files are written."""

from __future__ import annotations

import json
import os
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import refpair
from refpair import BinaryRelevance, Cost, CSRPEClassifier, Forest, ProbabilisticChain
from refpair.persistence import _file as model_file
from refpair.persistence import load, save
from refpair.persistence._file import from_npy, to_npy
from refpair.persistence._values import ValueReader, narrowed


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


class OtherModel(CSRPEClassifier):
    pass


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda X, Y: CSRPEClassifier(), NotFittedError, "not fitted"),
        (lambda X, Y: LogisticRegression().fit(X, Y[:, 0]), TypeError, "not a LogisticRegression"),
        (lambda X, Y: OtherModel(n_bits=4).fit(X, Y), TypeError, "not a OtherModel"),
        (lambda X, Y: Forest(), TypeError, "not a Forest"),
        (
            lambda X, Y: ProbabilisticChain("tree", beam_width=2**30).fit(X, Y),
            ValueError,
            "1073741824 label vectors of 3 labels are too many",
        ),
        (lambda X, Y: CSRPEClassifier(n_bits=4, estimator=SVC()).fit(X, Y), ValueError, r"SVC.*joblib\.dump"),
        (
            lambda X, Y: CSRPEClassifier(n_bits=4).fit(X, pd.DataFrame(Y, columns=[(1, 2), (3, 4), (5, 6)])),
            ValueError,
            "only plain values|neither strings nor",
        ),
    ],
)
def test_what_cannot_be_saved_leaves_no_file(make, error, says, data, tmp_path):
    with pytest.raises(error, match=says):
        save(make(*data), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_many_long_names(data, tmp_path):
    """Columns of words may have any names; numpy makes strings of its own type all as wide as the longest."""
    X = pd.DataFrame(np.tile(data[0], (1, 400)), columns=["x" * 10_000, *map(str, range(1999))])
    model = CSRPEClassifier(n_bits=4, decoder="nearest").fit(X, data[1])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").feature_names_in_.tolist() == X.columns.tolist()
    model = CSRPEClassifier(n_bits=4).fit(data[0], np.array(["no", "x" * 5000])[data[1][:, 0]])
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(data[0]).tolist() == model.predict(data[0]).tolist()
    names = np.array(["x" * 9000, *map(str, range(999))])
    model = BinaryRelevance("logistic").fit(data[0], pd.DataFrame(np.zeros((120, 1000), int), columns=names))
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").classes_.tolist() == names.tolist()


def test_a_failed_write_leaves_the_old_file_alone(path, data, monkeypatch):
    before = path.read_bytes()

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="the disk is full"):
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


def test_a_model_of_nothing_but_zeros_is_not_taken_for_a_bomb(tmp_path):
    model_file.write_model_file(tmp_path / "m", {}, {"zeros": np.zeros(3_000_000)})
    _, arrays = model_file.read_model_file(tmp_path / "m")
    assert not arrays["zeros"].any()
    assert (tmp_path / "m").stat().st_size > 24_000_000


def test_integers_come_back_in_their_own_types(data, tmp_path):
    """In the file they have as few bytes as they need."""
    model = CSRPEClassifier(n_bits=20, random_state=0).fit(*data)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert model_file.read_model_file(tmp_path / "m")[1]["bits_.trees_.feature"].dtype == np.int8
    for name, array in vars(model.bits_.trees_).items():
        assert getattr(loaded.bits_.trees_, name).dtype == array.dtype
        assert getattr(loaded.bits_.trees_, name).flags.writeable


@pytest.mark.parametrize("largest", [1, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1])
@pytest.mark.parametrize("dtype", ["<i4", "<i8", "<u8"])
def test_integers_of_all_sizes(largest, dtype):
    stored = from_npy(bytearray(to_npy(narrowed(np.array([0, largest], dtype)))))
    found = ValueReader({"x": stored}).read({"array": "x", "dtype": dtype})
    assert found.dtype == np.dtype(dtype)
    assert found.tolist() == [0, largest]


def test_the_time_of_saving_does_not_show(path):
    """So that the same model always gives the same file."""
    with zipfile.ZipFile(path) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_header_can_be_read_by_people(path):
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    assert header["refpair"] == refpair.__version__
    assert header["model"]["class"] == "CSRPEClassifier"
    assert header["model"]["cost"] == "f1"
    assert header["model"]["n_bits"] == 40
