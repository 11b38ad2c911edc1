"""Model files that are changed and yet have a right checksum."""

from __future__ import annotations

import zipfile

import numpy as np

from refpair.persistence import _file as model_file
from refpair.persistence._values import narrowed


def entries_of(path):
    """What is in a file, but for the checksum."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != "sha256"}


def write_entries(path, entries):
    """Write entries and their checksum."""
    checked = {**entries, "sha256": model_file._checksum(entries).encode()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in checked.items():
            archive.writestr(name, content)


def forge(path, change):
    """Change the header and the arrays of a file, in place; integers have room for any number meanwhile."""
    header, stored = model_file.read_model_file(path)
    arrays = {name: wide(array) for name, array in stored.items()}
    for name in arrays.keys() & {"posterior_.code.rows.plus", "bits_.bags_.seeds"}:
        arrays[name] = arrays[name].astype(np.uint64)
    change(header, arrays)
    model_file.write_model_file(path, header, {name: narrowed(array) for name, array in arrays.items()})


def wide(array):
    return array.astype(np.int64) if array.dtype.kind in "iu" and array.itemsize < 8 else array.copy()


def changed(name, change):
    """Return a forger of one array: in place, or into what `change` returns."""

    def forger(header, arrays):
        array = arrays[name]
        new = change(array)
        arrays[name] = array if new is None else new

    return forger


def at(where, value):
    def change(array):
        array[where] = value

    return change


def in_header(*keys, value):
    """Return a forger of one value of the header."""

    def forger(header, arrays):
        *outer, last = keys
        for key in outer:
            header = header[key]
        header[last] = value

    return forger
