"""Changes to what a model file holds, aimed at what the reader must check."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzz.choices import Choices
from fuzz.models import Entries, saved

Array = npt.NDArray[Any]
Header = dict[str, Any]

_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 255, 2**31, 2**63, -(2**63), 10**30, 0.5, 1e308, "", "a", "f1", "O",
    "U", "<f8", "tree", "posterior", [], {}, [[]], [1, 2], ["a", "a"], {"a": 1}, "x" * 1000, {"float": "inf"},
    {"float": "nan"}, {"names": ["a", 1, None], "kind": "O"}, {"names": ["a", "b"], "kind": "U"},
    {"function": "f"}, {"cost": {"name": "f1"}}, {"dtype": "O"}, {"tuple": [1]}, {"dict": {"a": 1}},
    {"class": "Logistic", "C": 1.0, "tol": None}, {"class": "Forest"},
    {"class": "PCA"}, {"set": [1]}, {"items": [[1, 2]]}, {"slice": [0, 1, None]}, {"type": "int"},
    {"ufunc": "exp"}, {"number": 1, "dtype": "<f4"}, {"cells": [1], "shape": [1], "dtype": "|O"},
    {"cells": [2, 1], "shape": [2], "dtype": "|O"}, {"cells": [2.0, 1.0, 0.0], "shape": [3], "dtype": "<f8"},
    {"names": ["x" * 5000, *"abc" * 300], "kind": "U"}, {"cells": [], "shape": [0, 2**20], "dtype": "<f8"},
    {"names": ["c", "b", "a", "a"], "kind": "O"}, {"masked": {"cells": [1], "shape": [1], "dtype": "<i8"},
    "mask": {"cells": [True], "shape": [1], "dtype": "|b1"}}, "(a+)+$", {"tuple": [1, 500]}, "filename",
    "beam", "exact", "nearest", "jaccard", "zero_one", "uniform", "stratified", "ignore",
    "infrequent_if_exist",
)  # fmt: skip
_DTYPES = ("|u1", "|b1", "<i4", "<i8", "<f4", "<f8", ">f8", "<u8", "<c8", "<M8[s]", "<U4", "|V8")
_ODD_NUMBERS = (0, 1, -1, 2, 127, 255, 2**31 - 1, -(2**31), 2**62, float("nan"), float("inf"))
_MOST_CELLS = 2_000_000  # of an array that is made larger


def zipped(entries: Entries) -> bytes:
    """Return a file of these entries, which packs well what is repeated."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
    return stream.getvalue()


def signed(entries: Entries) -> Entries:
    """Give entries the checksum that the format asks for."""
    digest = hashlib.sha256()
    for name in sorted(entries.keys() - {"sha256"}):
        digest.update(f"{name}:{len(entries[name])}\n".encode() + entries[name])
    return {**entries, "sha256": digest.hexdigest().encode()}


def forge(entries: Entries, choices: Choices) -> None:
    """Change something in the header, in arrays, in both, or in the list of entries; 255 changes nothing."""
    what = choices.below(256)
    if what == 255:
        return
    if what % 16 == 15:
        _forge_entries(entries, choices)
        return
    try:
        header = json.loads(entries.get("header.json", b""))
        places = list(_places(header))
    except (ValueError, RecursionError):
        places = []
    if not places:
        _forge_entries(entries, choices)
        return
    change: Callable[..., None] = (
        _forge_value, _forge_value, _forge_value, _forge_number, _forge_number, _forge_names, _swap_objects,
        _swap_objects, _forge_size, _forge_size, _forge_array, _forge_array, _forge_array, _forge_array,
        _forge_raw,
    )[what % 16]  # fmt: skip
    change(entries, header, places, choices)
    entries["header.json"] = json.dumps(header).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """List all that a header holds, as containers and keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


def _forge_entries(entries: Entries, choices: Choices) -> None:
    if not entries:
        return
    first, second = choices.one_of(list(entries)), choices.one_of(list(entries))
    how = choices.below(4)
    if how == 0:
        del entries[first]
    elif how == 1:
        entries[first] = entries[second]
    elif how == 2:
        entries[choices.text()] = entries[second]
    else:
        entries[first] = choices.damage(entries[first])


def _forge_value(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Leave a value out, put another one or an odd one in its place, or have it twice."""
    owner, key = choices.one_of(places)
    how = choices.below(4)
    if how == 0:
        del owner[key]
    elif how == 1:
        other, place = choices.one_of(places)
        owner[key] = _transplant(other[place], entries, entries)
    elif how == 2 and isinstance(owner, list):
        owner.append(_transplant(owner[key], entries, entries))
    else:
        owner[key] = choices.one_of(_ODD_VALUES)


def _forge_number(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Change a whole number a little, or a lot."""
    numbers = [(owner, key) for owner, key in places if type(owner[key]) is int]
    if numbers:
        owner, key = choices.one_of(numbers)
        n = owner[key]
        owner[key] = choices.one_of(
            (n + 1, n - 1, n * 2, n * 1000, 2**31, 2**31 - 1, -n, 0, 10**6, 10**9, 1 << 16)
        )


def _forge_names(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Change a list: its order, twins in it, one long name."""
    lists = [owner[key] for owner, key in places if isinstance(owner[key], list) and len(owner[key]) > 1]
    if lists:
        names, how = choices.one_of(lists), choices.below(5)
        i, j = choices.below(len(names)), choices.below(len(names))
        if how == 0:
            names[i], names[j] = names[j], names[i]
        elif how == 1:
            names[i] = copy.deepcopy(names[j])
        elif how == 2:
            names.reverse()
        elif how == 3 and isinstance(names[i], str):
            names[i] = "x" * 10 ** choices.below(6)
        else:
            names.extend(_transplant(names, entries, entries))


def _swap_objects(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Put an object of another model where one of the same class is, or of any class."""
    others, _ = choices.one_of(saved())
    found = [(owner, key) for owner, key in places if isinstance(owner[key], dict) and "class" in owner[key]]
    strange = json.loads(others["header.json"])
    known = [o[k] for o, k in _places(strange) if isinstance(o[k], dict) and "class" in o[k]]
    if found:
        owner, key = choices.one_of(found)
        same = [one for one in known if one["class"] == owner[key]["class"]]
        owner[key] = _transplant(choices.one_of(same or known), others, entries)


def _transplant(value: Any, source: Entries, target: Entries) -> Any:
    """Return a copy of a part of a header; the arrays in it go with it, by names of their own."""
    value = copy.deepcopy(value)
    for owner, key in [({"": value}, ""), *_places(value)]:
        part = owner[key]
        for kind in ("array", "bits"):
            if isinstance(part, dict) and isinstance(name := part.get(kind), str) and f"{name}.npy" in source:
                part[kind] = f"{name[:40]}.x{len(target)}"
                target[f"{part[kind]}.npy"] = source[f"{name}.npy"]
    return value


def _forge_size(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Make all arrays of one length longer, or shorter, and count that in the header."""
    arrays = _arrays(entries)
    if not arrays:
        return
    n = choices.one_of([size for array in arrays.values() for size in array.shape] or [1])
    more = choices.one_of((1, -1, 2, n, 1000 * n, 64))
    where = choices.one_of(list(arrays)).split(".")[0] if choices.flag() else ""
    for name, array in arrays.items():
        for axis, size in enumerate(array.shape):
            # An array of starts is longer by one than what it counts.
            if size in (n, n + 1) and name.startswith(where) and size:
                wanted = max(0, size + more)
                if array.size // size * wanted <= _MOST_CELLS:
                    array = np.take(array, np.minimum(np.arange(wanted), size - 1), axis=axis)
        entries[name] = _npy(array)
    for owner, key in places:
        if type(owner[key]) is int and owner[key] == n and key != "version":
            owner[key] = n + more


def _arrays(entries: Entries) -> dict[str, Array]:
    found = {}
    for name, content in entries.items():
        try:
            if name.endswith(".npy"):
                found[name] = np.load(io.BytesIO(content), allow_pickle=False)
        except (ValueError, EOFError, TokenError, OverflowError, SyntaxError):
            continue
    return found


def _forge_array(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Change cells: what is an index, a start or a child must not be believed."""
    arrays = _arrays(entries)
    if not arrays:
        return
    name = choices.one_of(list(arrays))
    array = np.ascontiguousarray(arrays[name])
    cells = array.reshape(-1)
    if not array.size or array.dtype.kind not in "biuf":
        return
    if array.dtype.kind in "iu" and choices.flag():
        array = array.astype(np.int64)  # so that any number has room; the reader allows only smaller types
        cells = array.reshape(-1)
    i, j, how = choices.below(array.size), choices.below(array.size), choices.below(12)
    sizes = [size for one in arrays.values() for size in one.shape] or [1]
    with np.errstate(all="ignore"):
        if how == 0:
            cells[i], cells[j] = cells[j], cells[i]
        elif how == 1:
            cells[choices.one_of((0, -1))] += np.array(choices.one_of((1, -1))).astype(array.dtype)
        elif how == 2:
            array[...] = array[::-1].copy()
        elif how == 3:
            array[...] = np.roll(array, 1 + j)
        elif how == 4:
            cells[i] = np.array(choices.one_of(sizes) + choices.below(3) - 1).astype(array.dtype)
        elif how == 5:
            cells[i] = np.array(-1 - choices.below(3)).astype(array.dtype)
        elif how == 6:
            cells.sort()
        elif how == 7:
            array[...] = cells[i]
        elif how == 8:
            cells[i:] = np.array(choices.one_of(_ODD_NUMBERS)).astype(array.dtype)
        elif how == 9:
            cells[i] = np.array(choices.one_of(_ODD_NUMBERS)).astype(array.dtype)
        else:
            cells[i] += np.array(choices.one_of((1, -1, 2, 8, 255))).astype(array.dtype)
    entries[name] = _npy(np.asarray(array, _narrow(array)))


def _narrow(array: Array) -> Any:
    """Return the type that the reader expects of whole numbers: the smallest that holds them."""
    if array.dtype.kind not in "iu":
        return array.dtype
    low, high = int(array.min()), int(array.max())
    return np.min_scalar_type(high if low >= 0 else min(low, -1 - high))


def _forge_raw(entries: Entries, header: Header, places: list[tuple[Any, Any]], choices: Choices) -> None:
    """Change the shape or the type of an array, or its bytes."""
    arrays = _arrays(entries)
    if not arrays:
        return
    name, how = choices.one_of(list(arrays)), choices.below(5)
    array = arrays[name]
    if how == 0:
        entries[name] = _npy(array[1:] if array.ndim else array.reshape(1))
    elif how == 1 and array.ndim:
        entries[name] = _npy(np.concatenate([array, array[:1]]))
    elif how == 2:
        entries[name] = _npy(np.resize(array, [choices.below(5) for _ in range(choices.below(4))]))
    elif how == 3:
        raw, size = array.tobytes(), np.dtype(dtype := choices.one_of(_DTYPES)).itemsize
        entries[name] = _npy(np.frombuffer(raw[: len(raw) // size * size], dtype))
    else:
        entries[name] = choices.damage(entries[name])


def _npy(array: Array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()
