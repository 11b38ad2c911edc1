"""The posterior in a file: files of the version before it, and forged ones."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from refpair import Cost, CSRPEClassifier
from refpair.classifiers import _posterior_fit
from refpair.persistence import ModelFileError, load, save
from refpair.persistence import _file as model_file

# ---- files of version 1, which knew no decoder but the nearest code word, and 2, no independent labels ----


def as_version(version, path):
    """Make a file what an earlier version of the format wrote."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if name != "sha256"}
    header = json.loads(entries["header.json"])
    assert header["version"] == 3
    if version == 1:
        assert header.pop("posterior") is None
    else:
        assert header["posterior"].pop("independent") is False
        del entries["search_independent.npy"]
    entries["header.json"] = json.dumps({**header, "version": version}, indent=1).encode()
    entries["sha256"] = model_file._checksum(entries).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"cost": Cost.per_label(false_negative=[1, 5, 0.1]), "pairs": "observed"},
        {"max_depth": 3, "max_features": 0.5, "max_samples": 0.6},
        {"relevant_set": [[1, 0, 0], [1, 1, 1], [0, 0, 0]]},
    ],
    ids=str,
)
def test_a_file_of_version_1_still_predicts_the_same(how, data, tmp_path):
    X, Y = data
    defaults_then = {"pairs": "uniform", "max_depth": None, "max_features": None, "max_samples": None}
    parameters = {"n_bits": 40, "decoder": "nearest", "random_state": 0, **defaults_then, **how}
    model = CSRPEClassifier(**parameters).fit(X, Y)
    save(model, tmp_path / "m")
    as_version(1, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_equal(loaded.get_params(), model.get_params())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_code(X), model.predict_code(X))
    assert not hasattr(loaded, "predict_proba")
    save(loaded, tmp_path / "again")
    np.testing.assert_array_equal(load(tmp_path / "again").predict(X), model.predict(X))


def test_a_file_of_version_2_still_predicts_the_same(data, tmp_path):
    X, Y = data
    model = CSRPEClassifier(n_bits=40, random_state=0).fit(X, Y)
    save(model, tmp_path / "m")
    as_version(2, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    tried = model.oob_search_.assign(independent=False)
    pd.testing.assert_frame_equal(loaded.oob_search_, tried)


def test_labels_that_are_independent_stay_so(data, tmp_path, monkeypatch):
    X, Y = data
    choose = _posterior_fit.choose_reading

    def choose_independent(*args, **how):
        return sorted(choose(*args, **how), key=lambda found: not found.reading.independent)

    monkeypatch.setattr(_posterior_fit, "choose_reading", choose_independent)
    model = CSRPEClassifier(n_bits=40, random_state=0).fit(X, Y)
    assert model.reading_.independent
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert loaded.reading_ == model.reading_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.expected_cost(X), model.expected_cost(X))


# ---- forged files ----


def posterior(**forged):
    return lambda header, arrays: header["posterior"].update(forged)


def array(name, value):
    def forge(header, arrays):
        arrays[name] = value(arrays[name].copy())

    return forge


def put(where, value):
    def change(array):
        array[where] = value
        return array

    return change


FORGED = {
    **{f"label_share of {value}": posterior(label_share=value) for value in (2, -0.1, None, "1", np.nan)},
    **{f"temperature of {value}": posterior(temperature=value) for value in (-1, 0, "hot", np.nan)},
    **{f"n_votes of {value}": posterior(n_votes=value) for value in (-1, 0, 4, 2**70, 2.0, None, "5")},
    **{f"{name} of {value}": posterior(**{name: value})
       for name in ("slope", "shift", "oob_cost", "cost_scale") for value in (np.inf, np.nan, None, "1")},
    **{f"anchors of {value}": posterior(anchors=value) for value in ("tables", None, ["rows"])},
    **{f"independent of {value}": posterior(independent=value) for value in (1, None, "yes")},
    "no posterior": lambda header, arrays: header.update(posterior=None),
    "number for a posterior": lambda header, arrays: header.update(posterior=3),
    "empty posterior": lambda header, arrays: header.update(posterior={}),
    "other decoder": lambda header, arrays: header["parameters"].update(decoder="nearest"),
    "vector outside": array("anchor_vector", put(3, 8)),
    "negative vector": array("anchor_vector", put(3, -1)),
    "fewer vectors": array("anchor_vector", lambda a: a[1:]),
    "no anchors at all": lambda header, arrays: arrays.update(
        anchor_vector=arrays["anchor_vector"][:0], anchor_plus=arrays["anchor_plus"][:0]
    ),
    "flat anchors": array("anchor_plus", lambda a: a.ravel()),
    "wide anchors": array("anchor_plus", lambda a: np.hstack([a, a])),
    "no words": array("anchor_plus", lambda a: a[:, :0]),
    "anchors of another type": array("anchor_plus", lambda a: a.view(np.int64)),
    "vectors of another type": array("anchor_vector", lambda a: a.astype(np.int64)),
    "vectors in a column": array("anchor_vector", lambda a: a[:, None]),
    "missing anchors": lambda header, arrays: arrays.pop("anchor_plus"),
    "missing vectors": lambda header, arrays: arrays.pop("anchor_vector"),
    "shorter search": array("search_cost", lambda a: a[1:]),
    "search in a column": array("search_cost", lambda a: a[:, None]),
    **{f"missing search_{name}": lambda header, arrays, name=name: arrays.pop(f"search_{name}")
       for name in ("rows", "depth", "label_share", "temperature", "cost", "n_rows")},
}  # fmt: skip


@pytest.fixture(scope="module")
def content(data, tmp_path_factory):
    """A file whose anchors are rows and whose single labels have bits that count."""
    path = tmp_path_factory.mktemp("model") / "m"
    choose = _posterior_fit.choose_reading

    def wanted(candidate):
        return candidate.reading.anchors == "rows" and candidate.reading.label_share > 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _posterior_fit,
            "choose_reading",
            lambda *args, **how: sorted(choose(*args, **how), key=lambda found: not wanted(found)),
        )
        model = CSRPEClassifier(n_bits=40, random_state=0).fit(*data)
    assert model.reading_.anchors == "rows"
    assert model.reading_.label_share > 0
    assert len(model.relevant_set_) == 8
    save(model, path)
    return path.read_bytes()


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_posterior_is_refused(what, content, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    header, arrays = model_file.read_model_file(path)
    FORGED[what](header, arrays)
    model_file.write_model_file(path, header, arrays)
    with pytest.raises(ModelFileError, match=r"m: the file is damaged \(.*save the model anew"):
        load(path)


def test_bits_of_an_anchor_beyond_the_code_change_nothing(content, data, tmp_path):
    path = tmp_path / "m"
    path.write_bytes(content)
    before = load(path).predict_proba(data[0])
    header, arrays = model_file.read_model_file(path)
    n_bits = len(arrays["alpha"])
    assert n_bits < 64
    arrays["anchor_plus"] = arrays["anchor_plus"] | np.uint64(((1 << 64) - 1) ^ ((1 << n_bits) - 1))
    model_file.write_model_file(path, header, arrays)
    np.testing.assert_array_equal(load(path).predict_proba(data[0]), before)
