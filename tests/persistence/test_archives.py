"""Archives made to fill the memory, to take for ever, or to write elsewhere."""

from __future__ import annotations

import os
import stat
import struct
import time
import tracemalloc
import zipfile
import zlib
from contextlib import contextmanager

import numpy as np
import pytest

from refpair.persistence import ModelFileError, load
from tests.persistence.forging import entries_of, forge, write_entries


@contextmanager
def refused_by_few_means(match="."):
    """A file is refused, in little memory and little time."""
    tracemalloc.start()
    began = time.process_time()
    with pytest.raises(ModelFileError, match=match):
        yield
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1 << 25
    assert time.process_time() - began < 5


def test_a_zip_bomb_is_refused_before_it_is_unpacked(path):
    bomb = deflated(bytes(1 << 20), times=200)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        add_raw(archive, "alpha2.npy", bomb, 200 << 20)
    with refused_by_few_means("grow more than 20 times"):
        load(path)


def deflated(part, times):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join([packer.compress(part) for _ in range(times)] + [packer.flush()])


def add_raw(archive, name, packed, size):
    """Write an entry that is packed already: the whole of it never is in memory."""
    info = zipfile.ZipInfo(name)
    info.compress_type, info.compress_size, info.file_size = zipfile.ZIP_DEFLATED, len(packed), size
    info.CRC = 0
    info.header_offset = archive.fp.seek(archive.start_dir)
    archive.fp.write(info.FileHeader(False))
    archive.fp.write(packed)
    archive.filelist.append(info)
    archive.NameToInfo[name] = info
    archive.start_dir = archive.fp.tell()
    archive._didModify = True


def test_an_entry_larger_than_it_says_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        add_raw(archive, "header.json", deflated(bytes(1 << 20), times=200), 10)
    with refused_by_few_means():
        load(tmp_path / "m")


def test_a_header_that_is_far_too_long_is_not_read(tmp_path):
    packed = deflated(b"[]," * (1 << 18), times=100)
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        add_raw(archive, "header.json", packed, 300 << 18)
        archive.writestr("filler", os.urandom(4 << 20))
    with refused_by_few_means("too long"):
        load(tmp_path / "m")


def test_entries_that_overlap_are_refused(path):
    """Many names of the same bytes: each of them within limits, all of them a bomb."""
    packed = deflated(bytes(1 << 20), times=4)
    with zipfile.ZipFile(path, "a") as archive:
        add_raw(archive, "first.npy", packed, 4 << 20)
        first = archive.NameToInfo["first.npy"]
        for i in range(200):
            twin = zipfile.ZipInfo(f"twin{i}.npy")
            for name in ("compress_type", "compress_size", "file_size", "header_offset", "CRC"):
                setattr(twin, name, getattr(first, name))
            archive.filelist.append(twin)
    with refused_by_few_means():
        load(path)


NAMES = [
    "../x.npy", "../../x/x.npy", "/x.npy", "a/b.npy", "C:\\x.npy", "..\\x.npy", "x\x00.npy", "é.npy",
    "x.exe", "x" * 300 + ".npy", ".npy/", "alpha.npy/../beta.npy", "estimators.skops",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_of_other_places_are_refused(name, path, tmp_path):
    before = sorted(tmp_path.parent.rglob("*"))
    entries = entries_of(path)
    write_entries(path, {**entries, name: entries["relevant_set_.npy"]})
    with refused_by_few_means():
        load(path)
    assert sorted(tmp_path.parent.rglob("*")) == before


def test_a_symbolic_link_is_just_bytes(path, tmp_path):
    entries = entries_of(path)
    write_entries(path, entries)
    link = zipfile.ZipInfo("link.npy")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    with refused_by_few_means():
        load(path)
    assert list(tmp_path.iterdir()) == [path]


def test_loading_writes_nothing(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load(path)
    assert list(tmp_path.iterdir()) == [path]


def test_an_entry_that_is_there_twice_is_refused(path):
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("relevant_set_.npy", b"")
    with refused_by_few_means("there twice"):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(method, path):
    entries = entries_of(path)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with refused_by_few_means("packed in another way"):
        load(path)


@pytest.mark.parametrize("flag", [0x1, 0x20, 0x40])
def test_encrypted_and_patched_entries_are_refused(flag, path):
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + place : at + place + 2] = struct.pack("<H", flag)
            at = content.find(mark, at + 1)
    path.write_bytes(content)
    with refused_by_few_means():
        load(path)


def test_shapes_that_are_all_claims(path):
    """Products of claimed lengths that wrap around in 64 bits."""
    entries = entries_of(path)
    for shape in ("(4294967296, 4294967296)", "(9223372036854775807, 2)", "(0, 99999999999999999)"):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        write_entries(path, {**entries, "bits_.bins_.edges.npy": content})
        with pytest.raises(ModelFileError):
            load(path)


def test_many_code_words_of_little_are_not_made(path):
    """A relevant set and a code that pack well, but whose product does not fit into the memory."""

    def many(header, arrays):
        n = (1 << 20) + 1
        arrays["relevant_set_"] = np.zeros((n, 1), np.uint8)
        arrays["relevant_counts_"] = np.ones(n, np.int64)

    forge(path, many)
    with pytest.raises(ModelFileError, match="more code words than there is room for"):
        load(path)
