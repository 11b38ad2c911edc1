"""Files of all formats since the first one, made by the code of their time, still give the same answers."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import InconsistentVersionWarning

import refpair
from refpair.persistence import _file as model_file
from tests.persistence.make_files import FOLDER, METHODS

FILES = sorted(FOLDER.glob("*.refpair"))


def load_old(path):
    with warnings.catch_warnings():  # scikit-learn says so if another version of it made an estimator
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return refpair.load(path)


def rows_of(path):
    said = json.loads(path.with_suffix(".json").read_text())
    rows = np.array(said.pop("rows"), float)
    return said, pd.DataFrame(rows, columns=list("abcd")) if path.stem.endswith("named") else rows


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_gives_the_same_answers(path):
    model = load_old(path)
    said, rows = rows_of(path)
    assert said.keys() <= set(METHODS)
    assert "predict" in said
    for method, then in said.items():
        now = np.asarray(getattr(model, method)(rows))
        if now.dtype.kind == "f":  # sums in another order, or on another machine
            np.testing.assert_allclose(now, then, rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_model_of_an_old_file_can_be_saved_in_the_present_format(path, tmp_path):
    model = load_old(path)
    refpair.save(model, tmp_path / "m")
    _, rows = rows_of(path)
    np.testing.assert_array_equal(refpair.load(tmp_path / "m").predict(rows), model.predict(rows))
    np.testing.assert_equal(str(refpair.load(tmp_path / "m").get_params()), str(model.get_params()))


def test_there_is_a_file_of_each_format():
    versions = {model_file.read_model_file(path).version for path in FILES}
    assert versions == set(range(1, model_file._VERSION + 1))
    assert all(f"format-{model_file.read_model_file(path).version}-" in path.name for path in FILES)


def test_there_is_a_file_of_each_estimator():
    classes = {type(load_old(path)).__name__ for path in FILES}
    fitted = {name for name in refpair.__all__ if hasattr(getattr(refpair, name), "predict")}
    assert fitted - classes == set()


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in FILES) < 100_000


def test_rows_that_bits_were_learnt_from_are_no_longer_kept_of_old_files():
    assert refpair.load(FOLDER / "format-3-f1.refpair").bits_.bags_ is None
