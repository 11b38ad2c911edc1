"""Saving and loading. The file a model is kept in is a zip of plain arrays and a JSON header, no pickle.

``header.json`` says what the file is, ``<name>.npy`` are arrays as :func:`numpy.save` writes them, and
``sha256`` is the checksum of all other entries. Whatever a file claims, reading it runs none of its contents,
writes nothing to disk, and takes no more memory than its size warrants. The limits are below; others, of what
objects may be, are where their classes check them.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from refpair._files import written_whole
from refpair._saved import Room, limited_room, require, work_of
from refpair.costs import get_cost
from refpair.costs._probe import OtherCostError
from refpair.persistence._values import OWN, CostNeededError, ValueReader, ValueWriter, require_few
from refpair.tables.read import is_table_name

_FORMAT = "refpair model"
_VERSION = 1  # goes up when an older refpair could not make sense of the file
_HEADER, _CHECKSUM, _ARRAY = "header.json", "sha256", ".npy"
_NAME = re.compile(r"[A-Za-z0-9_.]{1,500}")

# Level 1 takes a tenth of the time of level 6 for long entries, and makes them but a little longer.
_LEVEL, _LEVEL_OF_LONG, _LONG = 6, 1, 1 << 18
# What a file may grow to when unpacked. Models grow threefold; a zip bomb grows a thousandfold and more.
_MAX_GROWTH, _ALWAYS_ALLOWED = 20, 1 << 22
# What is made of that: bits and small integers become larger ones, names as wide as the longest, and label
# vectors get code words.
_ROOM_GROWTH, _ROOM_ALLOWED = 64, 1 << 27
# The header holds names and settings. Each bracket, comma and colon may cost 100 bytes when it is read.
_MAX_HEADER, _HEADER_GROWTH, _HEADER_ALLOWED = 1 << 25, 8, 1 << 20
_MAX_MARKS, _MARKS = 2_000_000, (b",", b":", b"[", b"{")
# Steps that a prediction may take for a row: up to a second.
_MOST_WORK, _WORK_A_BYTE = 50_000_000, 100

_SAVE_ANEW = "copy the file again, or save the model anew"
_BROKEN = (
    ArithmeticError, EOFError, LookupError, OSError, RuntimeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


class ModelFileError(ValueError):
    """A file is no model, or not one that this version can read, or it is damaged.

    Examples
    --------
    >>> from refpair.persistence import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, completely or not at all.

    Parameters
    ----------
    model : estimator
        Any fitted estimator of the package, or a scikit-learn ``Pipeline`` with such ones in it.
    path : path-like
        The file, which is replaced if it is there.

    Notes
    -----
    The file holds no pickle. Of scikit-learn's estimators, a model may have those whose contents can be
    checked on loading: linear models, naive Bayes, trees, forests, scalers, encoders, and pipelines of
    them. Others raise an error that names them. The ``memory`` of a ``Pipeline`` is not stored.

    A cost that is a Python function cannot be stored: the file then has its name only, and :func:`load` asks
    for it. A ``random_state`` that is not a number is not stored either; the loaded model has None there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import refpair
    >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = refpair.CSRPEClassifier(cost="hamming", n_bits=6, random_state=0).fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     refpair.save(model, Path(folder, "model.refpair"))
    ...     loaded = refpair.load(Path(folder, "model.refpair"))
    >>> loaded.predict(X).tolist() == model.predict(X).tolist()
    True
    """
    if not _is_model(model):
        raise TypeError(
            "save takes an estimator of refpair that can be fitted, or a pipeline, "
            f"not a {type(model).__name__}"
        )
    check_is_fitted(model)
    writer = ValueWriter()
    with limited_room(Room()) as room:
        header = {"refpair": version("refpair"), "model": writer.write(model)}
    write_model_file(Path(path), header, writer.arrays, room.taken, partial(_allow_work, model))


def load(path: str | os.PathLike[str], *, cost: Any = None) -> Any:
    """Read a model that :func:`save` wrote; its predictions are identical.

    Parameters
    ----------
    path : path-like
        The file. It is checked before it is used, and runs no code; predictions of a model from others
        may still be wrong.
    cost : str, Cost or callable, optional
        The cost that the model was fitted with. It is needed only if it is a Python function, which no file
        can hold.

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or is of a newer version. It is a ValueError.
    ValueError
        If a cost is needed, or the one given is not that of the model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import refpair
    >>> def n_wrong(Y, Z):
    ...     return (Y != Z).sum(axis=1)
    >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = refpair.CSRPEClassifier(cost=n_wrong, n_bits=6, random_state=0).fit(X, Y)
    >>> with TemporaryDirectory() as folder:
    ...     refpair.save(model, Path(folder, "model.refpair"))
    ...     refpair.load(Path(folder, "model.refpair"), cost=n_wrong).cost_
    Cost.from_function(n_wrong, name='n_wrong')
    """
    path = Path(path)
    given = None if cost is None else get_cost(cost)
    header, arrays = read_model_file(path)
    size = path.stat().st_size
    try:
        with limited_room(Room(_allowed_room(size))):
            model = ValueReader(arrays, given).read(header["model"])
        require(_is_model(model), "it holds no model")
        check_is_fitted(model)
        require(not arrays, f"{next(iter(arrays), '')!r} does not belong here")
        _allow_work(model, size)
    except CostNeededError as needed:
        raise ValueError(
            f"{path}: the model's cost {needed.args[0]!r} is a Python function, which a file cannot hold; "
            "load the model in Python, by refpair.load(path, cost=...)"
        ) from None
    except OtherCostError as wrong:
        raise _other_cost(path, wrong.args[0]) from wrong
    except Exception as error:  # contents that nothing is known of go wrong in many ways
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if given is not None:
        last = model.steps[-1][1] if isinstance(model, Pipeline) else model
        if not hasattr(last, "cost"):
            raise ValueError(f"{path}: a {type(last).__name__} has no cost; load it without one")
        if last.cost_ != given.for_labels(last._label_format.label_names):
            raise _other_cost(path, given.name)
        last.cost = cost
    return model


def _is_model(model: Any) -> bool:
    known = type(model) is Pipeline or type(model) is OWN.get(type(model).__name__)
    return known and hasattr(model, "fit") and hasattr(model, "get_params")


def _other_cost(path: Path, name: str) -> ValueError:
    return ValueError(f"{path}: the model was not fitted with the cost {name!r} but with another one")


def _allow_work(model: Any, size: int) -> None:
    """Refuse a model that would take minutes to predict a row."""
    most = _MOST_WORK + _WORK_A_BYTE * size
    few = work_of(model) <= most or work_of(model, exact=True) <= most
    require(few, "a prediction would take far too long: the model draws or follows too many label vectors")


def write_model_file(
    path: Path,
    header: dict[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    room: int = 0,
    allow: Callable[[int], None] = lambda size: None,
) -> None:
    """Write a header of JSON types and arrays of numbers, the whole of it or nothing.

    To read it takes some `room`; `allow` is given the size of the file, and may raise an error.
    """
    header = {"format": _FORMAT, "version": _VERSION, **header}
    entries = {_HEADER: json.dumps(header, indent=1, allow_nan=False).encode()}
    entries |= {name + _ARRAY: to_npy(array) for name, array in arrays.items()}
    size_of_header = len(entries[_HEADER])
    if (
        size_of_header > _MAX_HEADER
        or not _has_few_marks(entries[_HEADER])
        or not all(map(_NAME.fullmatch, entries))
    ):
        raise ValueError("the model has too many names, or too many models in models, to be saved")
    entries[_CHECKSUM] = _checksum(entries).encode()
    with written_whole(path) as file:
        _pack(file, entries, zipfile.ZIP_DEFLATED)
        total, size = sum(map(len, entries.values())), file.tell()
        short = size_of_header <= _allowed_header(size)
        if total > _allowed(size) or not short or room > _allowed_room(size):
            file.seek(0)  # a model of hardly anything but zeros would look like a bomb
            file.truncate()
            _pack(file, entries, zipfile.ZIP_STORED)
            size = file.tell()
            require(room <= _allowed_room(size), "the model has more code words than can be saved")
        allow(size)


def _allowed(size: int) -> int:
    """Return how many bytes there may be in a file of a size."""
    return _ALWAYS_ALLOWED + _MAX_GROWTH * size


def _allowed_header(size: int) -> int:
    return min(_MAX_HEADER, _HEADER_ALLOWED + _HEADER_GROWTH * size)


def _allowed_room(size: int) -> int:
    return _ROOM_ALLOWED + _ROOM_GROWTH * size


def _has_few_marks(header: bytes | bytearray) -> bool:
    """Whether what is made of JSON can be held: each of many empty lists is fifty times as large."""
    return sum(map(header.count, _MARKS)) <= _MAX_MARKS


def _pack(file: BinaryIO, entries: Mapping[str, bytes], how: int) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            # A ZipInfo of its own has a fixed date: the same model gives the same file.
            level = _LEVEL if len(content) < _LONG else _LEVEL_OF_LONG
            archive.writestr(zipfile.ZipInfo(name), content, how, level)


def read_model_file(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return the header and the arrays of a file, unless it is no model, too new, damaged or a zip bomb."""
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(path, archive, len(content))
    except ModelFileError:
        raise
    except zipfile.BadZipFile as error:
        if is_table_name(path.name):
            raise ModelFileError(
                f"{path}: this is a table, and a model belongs here; refpair fit makes one of a table with "
                "labels"
            ) from None
        raise ModelFileError(
            f"{path}: this is no refpair model, or only a part of one ({error}); {_SAVE_ANEW}"
        ) from error
    except _BROKEN as error:
        raise _damaged(path, str(error)) from error


def _read(
    path: Path, archive: zipfile.ZipFile, size: int
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    infos = {info.filename: info for info in archive.infolist()}
    if _HEADER not in infos:
        raise ModelFileError(f"{path}: this is a zip file, but not a refpair model; name another file")
    if sum(info.file_size for info in archive.infolist()) > _allowed(size):
        raise ModelFileError(
            f"{path}: it would grow more than {_MAX_GROWTH} times when unpacked, which no model does; do not "
            "use it"
        )
    entries = {_HEADER: _content(archive, infos[_HEADER], _allowed_header(size))}
    header = _header(path, entries[_HEADER])
    if len(infos) != len(archive.infolist()) or _CHECKSUM not in infos:
        raise _damaged(path, "entries are missing or there twice")
    for name, info in infos.items():
        if name != _HEADER:
            if (name != _CHECKSUM and not name.endswith(_ARRAY)) or not _NAME.fullmatch(name):
                raise _damaged(path, f"{name!r} does not belong here")
            entries[name] = _content(archive, info)
    if entries.pop(_CHECKSUM).decode("ascii", "replace") != _checksum(entries):
        raise _damaged(path, "its checksum is wrong")
    del entries[_HEADER]
    return header, {name.removesuffix(_ARRAY): from_npy(content) for name, content in entries.items()}


def _header(path: Path, content: bytes | bytearray) -> dict[str, Any]:
    if not content.isascii() or not _has_few_marks(content):
        raise _damaged(path, "its header is too long, or not as refpair writes it")
    try:
        header = json.loads(content, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "its header is not JSON") from error
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ModelFileError(f"{path}: this is not a refpair model; name another file")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise _damaged(path, "it does not tell the version of its format")
    if version > _VERSION:
        raise ModelFileError(
            f"{path}: refpair {header.get('refpair')!s:.40} wrote it in format {version}, and this version "
            f"knows format {_VERSION}; update it: pip install --upgrade refpair"
        )
    return header


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int | None = None) -> bytearray:
    """Return what an entry holds, as memory that an array may have for its own."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{info.filename} is packed in another way")
    if limit is not None and info.file_size > limit:
        raise zipfile.BadZipFile(f"{info.filename} is too long")
    with archive.open(info) as stream:
        # With a number, no more than that is ever unpacked, even if the entry holds more than it declares.
        content = bytearray(stream.read(info.file_size + 1))
    if len(content) != info.file_size:
        raise zipfile.BadZipFile(f"{info.filename} is cut off")
    return content


def _checksum(entries: Mapping[str, bytes | bytearray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(entries):
        digest.update(f"{name}:{len(entries[name])}\n".encode())
        digest.update(entries[name])
    return digest.hexdigest()


def _damaged(path: Path, what: str) -> ModelFileError:
    """Return the error that says what is wrong with a file and what to do."""
    return ModelFileError(f"{path}: the file is damaged ({what}); {_SAVE_ANEW}")


# numpy's own reader evaluates the header of an array as a Python literal and allocates what it claims. This
# one takes only the header that numpy writes for plain numbers, and only as many of them as there are.
_MAGIC = b"\x93NUMPY\x01\x00"
_ARRAY_HEADER = re.compile(
    rb"\{'descr': '([<|][biuf]\d{1,2})', 'fortran_order': False, 'shape': \(((?:\d{1,18},? ?){0,8})\), \} *\n"
)


def to_npy(array: npt.NDArray[Any]) -> bytes:
    """Return an array of numbers as :func:`numpy.save` writes it, which is the same on all machines."""
    stream = io.BytesIO()
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def from_npy(content: bytes | bytearray) -> npt.NDArray[Any]:
    """Return the array in these bytes; it shares their memory, so that it can be written to if they can."""
    size = int.from_bytes(content[8:10], "little")
    header = _ARRAY_HEADER.fullmatch(bytes(content[10 : 10 + size]))
    if content[:8] != _MAGIC or header is None:
        raise ValueError("an array is not one of plain numbers")
    dtype = np.dtype(header[1].decode())
    shape = tuple(int(number) for number in re.findall(rb"\d+", header[2]))
    require_few(shape)
    if math.prod(shape) * dtype.itemsize != len(content) - 10 - size:
        raise ValueError("the size of an array is not what it says")
    array = np.frombuffer(content, dtype, offset=10 + size).reshape(shape)
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("an array holds more than true and false")
    return array
