"""The file a model is kept in: a zip of plain arrays and a JSON header, no pickle.

``header.json`` says what the file is, ``<name>.npy`` are arrays as :func:`numpy.save` writes them, and
``sha256`` is the checksum of all other entries. Whatever a file claims, reading it runs none of its contents
and takes no more memory than its size warrants.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._files import written_whole

__all__ = ["ModelFileError", "damaged", "read_model_file", "write_model_file"]

_FORMAT = "refpair model"
_VERSION = 3  # goes up when an older refpair could not make sense of the file
_HEADER, _CHECKSUM, _ARRAY = "header.json", "sha256", ".npy"

# A third of the size for a tenth of the time of level 6: 80 MB a second on a model for bibtex.
_LEVEL = 1
# What a file may grow to in memory. Models grow threefold; a zip bomb grows a thousandfold and more.
_MAX_GROWTH, _ALWAYS_ALLOWED = 100, 1 << 24

_SAVE_ANEW = "copy the file again, or save the model anew"


class ModelFileError(ValueError):
    """A file is no model, or not one that this version can read, or it is damaged.

    Examples
    --------
    >>> from refpair.persistence import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


def write_model_file(path: Path, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write a header of JSON types and arrays of numbers, the whole of it or nothing."""
    entries = {_HEADER: json.dumps({"format": _FORMAT, "version": _VERSION, **header}, indent=1).encode()}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
        entries[name + _ARRAY] = stream.getvalue()
    entries[_CHECKSUM] = _checksum(entries).encode()
    with written_whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            # A ZipInfo of its own has a fixed date: the same model gives the same file.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, _LEVEL)


def read_model_file(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read the header and the arrays.

    Raises
    ------
    ModelFileError
        If the file is not a model, is too new, is damaged or is a zip bomb.
    OSError
        If it cannot be read at all.
    """
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read(path, archive, os.fstat(file.fileno()).st_size)
        except zipfile.BadZipFile as error:
            raise ModelFileError(
                f"{path}: this is no refpair model, or only a part of one ({error}); {_SAVE_ANEW}"
            ) from error
        except (zlib.error, EOFError, RuntimeError, OverflowError) as error:
            raise damaged(path, str(error)) from error


def _read(
    path: Path, archive: zipfile.ZipFile, size: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    infos = {info.filename: info for info in archive.infolist()}
    if _HEADER not in infos:
        raise ModelFileError(f"{path}: this is a zip file, but not a refpair model; name another file")
    if sum(info.file_size for info in archive.infolist()) > _ALWAYS_ALLOWED + _MAX_GROWTH * size:
        raise ModelFileError(
            f"{path}: it would grow more than {_MAX_GROWTH} times when unpacked, which no model does; do not "
            "use it"
        )
    entries = {_HEADER: _content(archive, infos[_HEADER])}
    header = _header(path, entries[_HEADER])
    if len(infos) != len(archive.infolist()) or _CHECKSUM not in infos:
        raise damaged(path, "entries are missing or there twice")
    entries |= {name: _content(archive, info) for name, info in infos.items() if name != _HEADER}
    if entries.pop(_CHECKSUM).decode("ascii", "replace") != _checksum(entries):
        raise damaged(path, "its checksum is wrong")
    del entries[_HEADER]
    try:
        return header, {name.removesuffix(_ARRAY): _array(content) for name, content in entries.items()}
    except ValueError as error:
        raise damaged(path, str(error)) from error


def _header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        header = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(path, "its header is not JSON") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ModelFileError(f"{path}: this is not a refpair model; name another file")
    version = header.get("version")
    if not isinstance(version, int) or version < 1:
        raise damaged(path, "it does not tell the version of its format")
    if version > _VERSION:
        raise ModelFileError(
            f"{path}: refpair {header.get('refpair')} wrote it in format {version}, and this version knows "
            f"formats up to {_VERSION}; update it: pip install --upgrade refpair"
        )
    return header


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        # With a number, no more than that is ever unpacked, even if the entry holds more than it declares.
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise zipfile.BadZipFile(f"{info.filename} is cut off")
    return content


def _array(content: bytes) -> npt.NDArray[Any]:
    """Read what numpy.save wrote; unlike numpy.load, allocate no more than there is."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array is in another version of numpy's format")
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(stream)
    data = content[stream.tell() :]
    if dtype.kind not in "biuf" or by_column or min(shape, default=0) < 0:
        raise ValueError("an array is not one of plain numbers")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError("the size of an array is not what it says")
    return np.frombuffer(data, dtype).reshape(shape)


def _checksum(entries: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(entries):
        digest.update(f"{name}:{len(entries[name])}\n".encode())
        digest.update(entries[name])
    return digest.hexdigest()


def damaged(path: Path, what: str) -> ModelFileError:
    """Return the error that says what is wrong with a file and what to do."""
    return ModelFileError(f"{path}: the file is damaged ({what}); {_SAVE_ANEW}")
