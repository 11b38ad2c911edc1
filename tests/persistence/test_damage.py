"""Files that are no model, or only a part of one, or have a byte that is wrong."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refpair.persistence import ModelFileError, load
from tests.persistence.forging import entries_of, forge, write_entries
from tests.persistence.models import MODELS, rows_for


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
    "not even text": zipped(header_json=b"\xff\xfe\x00"),
    "deep JSON": zipped(header_json=b"[" * 200_000),
    "deep objects": zipped(header_json=b'{"a":' * 200_000),
    "endless number": zipped(header_json=b'{"format": "refpair model", "version": ' + b"1" * 100_000 + b"}"),
    "no version": zipped(header_json=b'{"format": "refpair model"}'),
    "true for a version": zipped(header_json=b'{"format": "refpair model", "version": true}'),
    "version 0": zipped(header_json=b'{"format": "refpair model", "version": 0}'),
    "header only": zipped(header_json=b'{"format": "refpair model", "version": 1}'),
    "wrong checksum": zipped(header_json=b'{"format": "refpair model", "version": 1}', sha256=b"\xff"),
    "NaN": zipped(header_json=b'{"format": "refpair model", "version": NaN}'),
}


@pytest.mark.parametrize("name", NO_MODELS)
def test_files_that_are_no_models_are_refused_by_name(name, tmp_path):
    (tmp_path / "some.file").write_bytes(NO_MODELS[name])
    with pytest.raises(ModelFileError, match=r"some\.file: .*; (copy|name another)"):
        load(tmp_path / "some.file")


def test_a_header_alone_is_refused(tmp_path):
    header = b'{"format": "refpair model", "version": 1}'
    write_entries(tmp_path / "m", {"header.json": header})
    with pytest.raises(ModelFileError, match="damaged"):
        load(tmp_path / "m")


def test_a_newer_format_asks_for_an_update(path):
    forge(path, lambda header, arrays: header.update(version=99, refpair="7.0"))
    with pytest.raises(ModelFileError, match=r"refpair 7\.0 wrote it in format 99.*pip install --upgrade"):
        load(path)


def test_every_part_of_a_small_file_is_refused(files, tmp_path):
    whole, path = files["logistic"].read_bytes(), tmp_path / "m"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            load(path)


@pytest.mark.parametrize("name", MODELS)
def test_a_part_of_a_file_is_refused(name, files, tmp_path):
    whole, path = files[name].read_bytes(), tmp_path / "m"
    for size in range(0, len(whole), 211):
        path.write_bytes(whole[:size])
        with pytest.raises(ModelFileError):
            load(path)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 7)), min_size=1, max_size=3))
def test_a_changed_bit_is_noticed_or_changes_nothing(name, flips, files, tmp_path):
    whole, path = files[name].read_bytes(), tmp_path / "m"
    broken = bytearray(whole)
    for place, bit in flips:
        broken[place % len(whole)] ^= 1 << bit
    path.write_bytes(broken)
    try:
        loaded = load(path)
    except ModelFileError:
        return
    rows = rows_for(loaded)  # zip files hold dates and other things that do not matter
    np.testing.assert_array_equal(loaded.predict(rows), load(files[name]).predict(rows))


def test_most_changed_bytes_are_noticed(path):
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    refused = 0
    for place in rng.integers(len(whole), size=300):
        broken = bytearray(whole)
        broken[place] ^= 1 << rng.integers(8)
        path.write_bytes(broken)
        try:
            load(path)
        except ModelFileError:
            refused += 1
    assert refused > 200


def test_a_changed_array_with_the_old_checksum_is_refused(path):
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    value = bytearray(entries["bits_.trees_.value.npy"])
    value[-2] ^= 1
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "bits_.trees_.value.npy": bytes(value)}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_the_checksum_is_of_names_too(path):
    entries = entries_of(path)
    first, second = "code_.alpha.npy", "code_.beta.npy"
    entries[first], entries[second] = entries[second], entries[first]
    with zipfile.ZipFile(path) as archive:
        checksum = archive.read("sha256")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, "sha256": checksum}.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)
