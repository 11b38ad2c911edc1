"""Files that are no model, or a broken one, or a bomb."""

from __future__ import annotations

import io
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from refpair.persistence import ModelFileError, load
from refpair.persistence import _file as model_file


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
