"""Objects of known classes as JSON types and arrays, and back.

Plain values and lists are what they are in JSON. All else is a JSON object that says what it is by its first
key: ``{"array": …}``, ``{"class": "TreeBank", …}`` and so on. Each class of the package says itself what is
stored of it and checks what was read, see :mod:`refpair._saved`; for scikit-learn's classes,
:mod:`refpair.persistence._sklearn` does. What a file names is looked up in lists, and never imported.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import scipy.special

import refpair.active
import refpair.classifiers
import refpair.tables  # noqa: F401  # all three, so that their classes are known
from refpair._saved import Savable, claim_room, require, starts_in_order
from refpair.costs import Cost
from refpair.costs._probe import is_function
from refpair.persistence._sklearn import HOW_ELSE, find_class, from_attributes, get_attributes

_LONGEST_PLACE = 40
_MOST_DIMENSIONS, _LONGEST_EMPTY = 8, 1 << 22  # an array without cells may yet have millions of columns
_DEEPEST, _MOST_PIPELINES = 16, 6  # objects in objects; a pipeline asks its steps thrice each, these theirs
_FEW_CELLS = 16
_LONGEST_NAME, _WIDE = 4096, 1 << 24  # characters and bytes: NumPy makes all strings as wide as the longest
_NUMBERS = {
    np.dtype(name).str: np.dtype(name)
    for name in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_TYPES: dict[str, type] = {cls.__name__: cls for cls in (bool, int, float, str)}
_TYPES |= {dtype.type.__name__: dtype.type for dtype in _NUMBERS.values()}


def _last_of(cls: Any) -> Iterator[Any]:
    """Yield the classes of the package that derive from a class and that no other one derives from."""
    below = [own for own in cls.__subclasses__() if own.__module__.startswith("refpair.")]
    for own in below:
        yield from _last_of(own)
    if not below:
        yield cls


OWN: dict[str, Any] = {cls.__name__: cls for cls in _last_of(Savable)}


class CostNeededError(Exception):
    """A cost is a function, which no file can hold."""


@contextmanager
def _inside(classes: list[str], name: str) -> Iterator[None]:
    """Keep the classes of the objects that a value is in, which must not be too many."""
    classes.append(name)
    few = len(classes) <= _DEEPEST and classes.count("Pipeline") <= _MOST_PIPELINES
    require(few, "there are too many models in models in models")
    yield
    classes.pop()


class ValueWriter:
    """Takes objects apart into JSON, and into arrays that are to be written beside it."""

    def __init__(self) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self._classes: list[str] = []
        self._in_sklearn = False  # whether the value is in an object of scikit-learn, which takes about any

    def write(self, value: Any, place: str = "") -> Any:
        """Return a value as JSON types, or raise a ValueError that says why it cannot be saved."""
        if isinstance(value, np.generic):
            dtype, value = value.dtype.str, value.item()
            if self._in_sklearn and dtype in _NUMBERS:
                return {"number": self.write(value), "dtype": dtype}
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, list):
            return self._write_all(value, place)
        if isinstance(value, tuple):
            return {"tuple": self._write_all(value, place)}
        if isinstance(value, dict):
            return self._write_dict(value, place)
        if isinstance(value, np.ndarray):
            return self._write_array(value, place)
        if sp.issparse(value):
            return self._write_sparse(sp.csr_array(value), place)
        if isinstance(value, np.dtype) and (value.str in _NUMBERS or value.kind in "UO"):
            return {"dtype": value.str if value.str in _NUMBERS else value.kind}
        if isinstance(value, Cost):
            return {"function": value.name} if is_function(value) else {"cost": value.to_dict()}
        if type(value) is OWN.get(type(value).__name__):
            return self._write_object(value, value._get_saved(), place, in_sklearn=False)
        if type(value) is find_class(type(value).__name__):
            return self._write_object(value, get_attributes(value), place, in_sklearn=True)
        return self._write_rare(value, place)

    def _write_all(self, values: Any, place: str) -> list[Any]:
        return [self.write(value, f"{place}.{i}") for i, value in enumerate(values)]

    def _write_dict(self, values: dict[Any, Any], place: str) -> Any:
        if not all(isinstance(key, str) for key in values):
            if not self._in_sklearn:
                raise ValueError(f"{place} is a dict whose keys are not all strings, which cannot be saved")
            return {"items": self._write_all([[key, value] for key, value in values.items()], place)}
        parts = {}
        for i, (key, value) in enumerate(values.items()):
            is_name = key.isascii() and key.isidentifier() and len(key) <= _LONGEST_PLACE
            parts[str(key)] = self.write(value, f"{place}.{key if is_name else i}")
        return {"dict": parts}

    def _write_object(self, value: Any, fields: dict[str, Any], place: str, *, in_sklearn: bool) -> Any:
        inside = f"{place}." if place else ""
        before, self._in_sklearn = self._in_sklearn, in_sklearn
        with _inside(self._classes, type(value).__name__):
            written = {name: self.write(part, inside + name) for name, part in fields.items()}
        self._in_sklearn = before
        return {"class": type(value).__name__} | written

    def _write_rare(self, value: Any, place: str) -> Any:
        if not self._in_sklearn and not hasattr(value, "get_params"):
            raise ValueError(
                f"{place} is {value!r:.100}, and only plain values, arrays and estimators can be saved"
            )
        if isinstance(value, set | frozenset):
            return {"set": self._write_all(sorted(value, key=repr), place)}
        if isinstance(value, slice):
            return {"slice": self._write_all((value.start, value.stop, value.step), place)}
        if isinstance(value, np.ufunc) and _find_ufunc(value.__name__) is value:
            return {"ufunc": value.__name__}
        if isinstance(value, type) and _TYPES.get(value.__name__) is value:
            return {"type": value.__name__}
        if isinstance(value, np.random.RandomState):
            return None  # which is for fitting
        cls = value if hasattr(value, "__qualname__") else type(value)
        name = f"{cls.__module__}.{cls.__qualname__}"
        raise ValueError(f"the model holds a {name}, which cannot be checked on loading; {HOW_ELSE}")

    def _write_array(self, array: npt.NDArray[Any], place: str) -> Any:
        if isinstance(array, np.ma.MaskedArray):
            mask = self._write_array(np.ma.getmaskarray(array), f"{place}.mask")
            return {"masked": self._write_array(array.data, place), "mask": mask}
        if array.dtype.kind in "OU" and array.ndim == 1:
            names, kind = self._write_all(array, place), array.dtype.kind
            if _are_names(names, kind):
                # As objects, each is as long as it is.
                narrow = _width(names, kind) <= _LONGEST_NAME and _n_bytes(names, kind) <= _WIDE
                kind = kind if narrow else "O"
                claim_room(_n_bytes(names, kind))
                return {"names": names, "kind": kind}
            if array.dtype.kind == "U" or not self._in_sklearn:
                raise ValueError(f"{place} has names that are neither strings nor finite numbers")
        if array.dtype != object and array.dtype.str not in _NUMBERS:
            raise ValueError(f"{place} is an array of {array.dtype}, and only numbers and names can be saved")
        if self._in_sklearn:
            if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous:
                return {"transposed": self._write_array(array.T, place)}  # in another order, sums are others
            if array.dtype == object or array.size <= _FEW_CELLS:  # an entry of its own takes more bytes
                cells = self._write_all(array.ravel().tolist(), place)
                return {"cells": cells, "shape": list(array.shape), "dtype": array.dtype.str}
        elif array.dtype == object:
            raise ValueError(f"{place} is an array of objects, and only numbers and names can be saved")
        if array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] and array.max(initial=0) <= 1:
            claim_room(array.size)
            self.arrays[place] = np.packbits(array, axis=1)
            return {"bits": place, "n": int(array.shape[1])}
        self.arrays[place] = narrowed(array)
        if self.arrays[place].itemsize < array.itemsize:
            claim_room(array.nbytes)
        return {"array": place, "dtype": array.dtype.str}

    def _write_sparse(self, matrix: sp.csr_array, place: str) -> Any:
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        written = {name: self._write_array(part, f"{place}.{name}") for name, part in parts.items()}
        return {"csr": written, "n_columns": int(matrix.shape[1])}


class ValueReader:
    """Puts objects together from JSON and arrays, each of which is taken out when it is used.

    ``{"bits": "code_.alpha", "n": 3}`` is what ``_read_bits("code_.alpha", n=3)`` returns, and so on. The
    cost stands in for one that is a function.
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]], cost: Cost | None = None) -> None:
        self.arrays = arrays
        self._cost = cost
        self._classes: list[str] = []

    def read(self, stored: Any) -> Any:
        """Return the value that was stored, or raise a ValueError that says what is wrong."""
        if isinstance(stored, list):
            return [self.read(part) for part in stored]
        if not isinstance(stored, dict):
            return stored
        if "class" in stored:
            return self._make_object(stored)
        kind = next(iter(stored), None)
        keys, read = _KINDS.get(str(kind), (set(), None))
        if read is None or stored.keys() != keys:
            raise ValueError(f"{str(stored)[:60]} is no value")
        return read(self, *stored.values())

    def _make_object(self, stored: dict[str, Any]) -> Any:
        name = stored["class"]
        require(isinstance(name, str), "the name of a class is none")
        with _inside(self._classes, name):
            fields = {key: self.read(part) for key, part in stored.items() if key != "class"}
        if name in OWN:
            return OWN[name]._from_saved(fields)
        cls = find_class(name)
        require(cls, f"the class {name!r:.60} is not one that a file can hold")
        return from_attributes(cls, fields)

    def _take(self, name: Any) -> npt.NDArray[Any]:
        require(isinstance(name, str) and name in self.arrays, f"{name!s:.60} is missing")
        return self.arrays.pop(name)

    def _all(self, parts: Any) -> list[Any]:
        require(isinstance(parts, list), f"{parts!s:.60} is no list")
        return [self.read(part) for part in parts]

    def _array(self, stored: Any) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = self.read(stored)
        require(isinstance(array, np.ndarray), "an array is none")
        return array

    def _read_array(self, name: Any, dtype: Any) -> npt.NDArray[Any]:
        array, wanted = self._take(name), _NUMBERS.get(str(dtype))
        if wanted is None:
            raise ValueError(f"{name} is of the type {dtype!r:.60}, which is not known")
        smaller = array.dtype.kind in "iu" and wanted.kind in "iu" and np.can_cast(array.dtype, wanted)
        require(smaller or array.dtype == wanted, f"{name} holds {array.dtype} and not {wanted}")
        if wanted.itemsize > array.itemsize:
            claim_room(array.size * wanted.itemsize)
        # In the machine's byte order and to be written to: for others, numba compiles all kernels anew.
        return np.require(array, wanted.newbyteorder("="), ["C", "W"])

    def _read_bits(self, name: Any, n: Any) -> npt.NDArray[np.uint8]:
        packed = self._take(name)
        fits = type(n) is int and packed.ndim == 2 and 0 < n <= 8 * packed.shape[1] < n + 8
        require(fits and packed.dtype == np.uint8, f"{name}: the bits have a wrong shape")
        claim_room(len(packed) * n)
        return np.unpackbits(packed, axis=1, count=n)

    def _read_names(self, names: Any, kind: Any) -> npt.NDArray[Any]:
        right = kind in ("O", "U") and isinstance(names, list) and _are_names(names, kind)
        require(right and _width(names, kind) <= _LONGEST_NAME, "names are broken")
        claim_room(_n_bytes(names, kind))
        return np.array(names, dtype=kind)

    def _read_cells(self, parts: Any, shape: Any, dtype: Any) -> npt.NDArray[Any]:
        cells, sizes = self._all(parts), self._all(shape)
        fits = all(type(size) is int and size >= 0 for size in sizes) and math.prod(sizes) == len(cells)
        known = len(sizes) <= _MOST_DIMENSIONS and (dtype == "|O" or dtype in _NUMBERS)
        require(fits and known, "an array has a wrong shape or type")
        require_few(sizes)
        made = np.empty(len(cells), dtype)
        for i, cell in enumerate(cells):  # one by one: an object may be a list
            made[i] = cell
        return made.reshape(sizes)

    def _read_transposed(self, stored: Any) -> npt.NDArray[Any]:
        return self._array(stored).T

    def _read_masked(self, stored: Any, mask: Any) -> Any:
        array, hidden = self._array(stored), self._array(mask)
        require(array.shape == hidden.shape and hidden.dtype == np.bool_, "a mask has a wrong shape")
        return np.ma.MaskedArray(array, hidden)

    def _read_csr(self, parts: Any, n_columns: Any) -> Any:
        is_matrix = isinstance(parts, dict) and parts.keys() == {"data", "indices", "indptr"}
        require(is_matrix and type(n_columns) is int and 0 < n_columns < 2**31, "a sparse matrix is none")
        data, indices, start = (self._array(parts[name]) for name in ("data", "indices", "indptr"))
        flat = data.ndim == indices.ndim == start.ndim == 1
        whole = flat and indices.dtype.kind == "i" and start.dtype.kind == "i" and data.dtype.kind in "biuf"
        require(whole and len(data) == len(indices), "a sparse matrix has a wrong shape")
        ascends = starts_in_order(start, len(indices), may_be_empty=True)
        require(ascends, "a sparse matrix has rows that do not follow one another")
        inside = indices.min(initial=0) >= 0 and indices.max(initial=0) < n_columns
        require(inside, "a sparse matrix has a cell outside")
        matrix = sp.csr_array((data, indices, start), shape=(len(start) - 1, n_columns))
        matrix.sum_duplicates()
        return matrix

    def _read_dict(self, parts: Any) -> dict[str, Any]:
        require(isinstance(parts, dict), "a dict is none")
        return {key: self.read(value) for key, value in parts.items()}

    def _read_items(self, parts: Any) -> dict[Any, Any]:
        pairs = self._all(parts)
        require(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), "a dict is none")
        return dict(pairs)

    def _read_tuple(self, parts: Any) -> tuple[Any, ...]:
        return tuple(self._all(parts))

    def _read_set(self, parts: Any) -> set[Any]:
        return set(self._all(parts))

    def _read_slice(self, parts: Any) -> Any:
        ends = self._all(parts)
        require(len(ends) == 3 and all(type(end) in (int, str, type(None)) for end in ends), "no slice")
        return slice(*ends)

    def _read_float(self, name: Any) -> float:
        require(name in ("inf", "-inf", "nan"), "a float is none")
        return _INFINITE[name]

    def _read_number(self, stored: Any, dtype: Any) -> Any:
        value = self.read(stored)
        require(type(value) in (bool, int, float) and dtype in _NUMBERS, "a number is none")
        return _NUMBERS[dtype].type(value)

    def _read_dtype(self, name: Any) -> np.dtype[Any]:
        require(name in ("U", "O") or name in _NUMBERS, f"the type {name!r:.60} is not known")
        return _NUMBERS.get(name) or np.dtype(name)

    def _read_type(self, name: Any) -> type:
        require(name in _TYPES, f"the type {name!r:.60} is not known")
        return _TYPES[name]

    def _read_ufunc(self, name: Any) -> Any:
        found = _find_ufunc(str(name))
        require(found, f"the function {name!r:.60} is not known")
        return found

    def _read_cost(self, stored: Any) -> Cost:
        return Cost.from_dict(stored)

    def _read_function(self, name: Any) -> Cost:
        if self._cost is None:
            raise CostNeededError(name)
        return self._cost


_KINDS: dict[str, tuple[set[str], Any]] = {
    (kind := name.removeprefix("_read_")): ({kind, *list(inspect.signature(read).parameters)[2:]}, read)
    for name, read in vars(ValueReader).items()
    if name.startswith("_read_")
}


def require_few(shape: Sequence[int]) -> None:
    """Refuse an array of nothing that any sum over its rows would make a large one."""
    few = all(shape) or max(shape, default=0) <= _LONGEST_EMPTY
    require(few, "an array of no cells has too many columns")


def _are_names(names: list[Any], kind: str) -> bool:
    """Whether all are strings or, as objects, also numbers or None."""
    kinds: Any = str if kind == "U" else str | int | float | None
    return all(isinstance(name, kinds) for name in names)


def _width(names: list[Any], kind: str) -> int:
    """Return how many characters each place of an array of names has room for: of objects, as a pointer."""
    return max(map(len, names), default=0) if kind == "U" else 2


def _n_bytes(names: list[Any], kind: str) -> int:
    return 4 * _width(names, kind) * len(names)


def _find_ufunc(name: str) -> Any:
    found = (getattr(module, name, None) for module in (np, scipy.special))
    return next((one for one in found if isinstance(one, np.ufunc)), None)


def narrowed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers in the smallest type that holds them all and is a part of their own."""
    if array.dtype.kind not in "iu" or array.size == 0:
        return array
    low, high = int(array.min()), int(array.max())
    enough = np.min_scalar_type(high if low >= 0 else min(low, -1 - high))
    return array.astype(enough) if np.can_cast(enough, array.dtype) else array
