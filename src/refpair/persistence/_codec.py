"""Objects of known classes as JSON types and arrays, and back.

Plain values and lists are what they are in JSON. All else is a JSON object that says what it is by its first
key: ``{"array": …}``, ``{"class": "TreeBank", …}`` and so on. Each class says itself what is stored of it, by
``_get_saved``, and checks what was read, by ``_from_saved``; see :mod:`refpair._saved`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._saved import require, starts_in_order
from refpair.costs import Cost
from refpair.costs._probe import is_function
from refpair.persistence._classes import ADAPTERS, CLASSES
from refpair.persistence._npy import narrowed

__all__ = ["CostNeededError", "Reader", "Writer"]

_LONGEST_PLACE = 40
_LONGEST_NAME = 4096  # characters: numpy makes all strings of an array as wide as the longest
_MOST_CHARACTERS = 1 << 24
_NUMBERS = {
    np.dtype(name).str: np.dtype(name)
    for name in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class CostNeededError(Exception):
    """A cost is a function, which no file can hold."""


class Writer:
    """Takes objects apart.

    Attributes
    ----------
    arrays : dict
        What is to be written beside the JSON.
    foreign : list
        Estimators of scikit-learn, which skops is to write.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.foreign: list[Any] = []
        self._numbers: dict[int, int] = {}

    def write(self, value: Any, place: str = "") -> Any:
        """Return a value as JSON types, or raise a ValueError that says why it cannot be saved."""
        if isinstance(value, np.generic):
            value = value.item()
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
        if isinstance(value, np.dtype):
            return {"dtype": value.str if value.str in _NUMBERS else value.kind}
        if isinstance(value, Cost):
            return {"function": value.name} if is_function(value) else {"cost": value.to_dict()}
        return self._write_object(value, place)

    def _write_dict(self, values: dict[Any, Any], place: str) -> Any:
        if not all(isinstance(key, str) for key in values):
            raise ValueError(f"{place} is a dict whose keys are not all strings, which cannot be saved")
        parts = {}
        for i, (key, value) in enumerate(values.items()):
            is_name = key.isascii() and key.isidentifier() and len(key) <= _LONGEST_PLACE
            parts[str(key)] = self.write(value, f"{place}.{key if is_name else i}")
        return {"dict": parts}

    def _write_all(self, values: list[Any] | tuple[Any, ...], place: str) -> list[Any]:
        return [self.write(value, f"{place}.{i}") for i, value in enumerate(values)]

    def _write_object(self, value: Any, place: str) -> Any:
        adapter = ADAPTERS.get(type(value))
        if adapter is not None:
            inside = f"{place}." if place else ""
            saved = adapter.get_saved(value)
            return {"class": type(value).__name__} | {
                name: self.write(part, inside + name) for name, part in saved.items()
            }
        if not hasattr(value, "get_params") or isinstance(value, type):
            what = f"{place} is {value!r:.100}" if place else f"a {type(value).__name__} is given"
            raise ValueError(f"{what}, and only plain values, arrays and estimators can be saved")
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.foreign)
            self.foreign.append(value)
        return {"foreign": self._numbers[id(value)]}

    def _write_array(self, array: npt.NDArray[Any], place: str) -> Any:
        if array.dtype.kind in "OU" and array.ndim == 1:
            names = [self.write(name, place) for name in array]
            if not _are_names(names, array.dtype.kind):
                raise ValueError(
                    f"{place} has names that are too long, or neither strings nor finite numbers"
                )
            return {"names": names, "kind": array.dtype.kind}
        if array.dtype.str not in _NUMBERS:
            raise ValueError(f"{place} is an array of {array.dtype}, and only numbers and names can be saved")
        if array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] and array.max(initial=0) <= 1:
            self.arrays[place] = np.packbits(array, axis=1)
            return {"bits": place, "n": int(array.shape[1])}
        self.arrays[place] = narrowed(array)
        return {"array": place, "dtype": array.dtype.str}

    def _write_sparse(self, matrix: sp.csr_array, place: str) -> Any:
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        written = {name: self._write_array(part, f"{place}.{name}") for name, part in parts.items()}
        return {"csr": written, "n_columns": int(matrix.shape[1])}


class Reader:
    """Puts objects together.

    Parameters
    ----------
    arrays : dict
        Each is taken out when it is used.
    find_foreign : callable
        Returns the estimator of scikit-learn that has a number.
    cost : Cost, optional
        What stands in for a cost that is a function.
    """

    def __init__(
        self,
        arrays: dict[str, npt.NDArray[Any]],
        find_foreign: Callable[[Any], Any],
        cost: Cost | None = None,
    ) -> None:
        self.arrays = arrays
        self._find_foreign = find_foreign
        self._cost = cost

    def read(self, stored: Any) -> Any:
        """Return the value that was stored, or raise a ValueError that says what is wrong."""
        if isinstance(stored, list):
            return [self.read(part) for part in stored]
        if not isinstance(stored, dict):
            return stored
        if "class" in stored:
            return self._read_object(dict(stored))
        kind = next(iter(stored), None)
        keys, read = _KINDS.get(str(kind), (set(), None))
        if read is None or stored.keys() != keys:
            raise ValueError(f"{str(stored)[:60]} is no value")
        return read(self, *stored.values())

    def _read_object(self, stored: dict[str, Any]) -> Any:
        name = stored.pop("class")
        known = isinstance(name, str) and name in CLASSES
        require(known, f"the class {name!r:.60} is not one that a file can hold")
        return ADAPTERS[CLASSES[name]].from_saved({key: self.read(part) for key, part in stored.items()})

    def _read_array(self, name: Any, dtype: Any) -> npt.NDArray[Any]:
        array = self._take(name)
        wanted = _NUMBERS.get(str(dtype))
        if wanted is None:
            raise ValueError(f"{name} is of the type {dtype!r:.60}, which is not known")
        smaller = array.dtype.kind in "iu" and wanted.kind in "iu" and np.can_cast(array.dtype, wanted)
        require(smaller or array.dtype == wanted, f"{name} holds {array.dtype} and not {wanted}")
        # In the machine's byte order and to be written to: for others, numba compiles all kernels anew.
        return np.require(array, wanted.newbyteorder("="), ["C", "W"])

    def _read_bits(self, name: Any, n: Any) -> npt.NDArray[np.uint8]:
        packed = self._take(name)
        fits = type(n) is int and packed.ndim == 2 and 0 < n <= 8 * packed.shape[1] < n + 8
        require(fits and packed.dtype == np.uint8, f"{name}: the bits have a wrong shape")
        return np.unpackbits(packed, axis=1, count=n)

    def _take(self, name: Any) -> npt.NDArray[Any]:
        require(isinstance(name, str) and name in self.arrays, f"{name!s:.60} is missing")
        return self.arrays.pop(name)

    def _read_names(self, names: Any, kind: Any) -> npt.NDArray[Any]:
        right = kind in ("O", "U") and isinstance(names, list) and _are_names(names, kind)
        require(right, "names are broken")
        return np.array(names, dtype=kind)

    def _read_sparse(self, parts: Any, n_columns: Any) -> Any:
        is_matrix = isinstance(parts, dict) and parts.keys() == {"data", "indices", "indptr"}
        require(is_matrix and type(n_columns) is int and 0 < n_columns < 2**31, "a sparse matrix is none")
        data, indices, start = (self.read(parts[name]) for name in ("data", "indices", "indptr"))
        arrays = all(isinstance(array, np.ndarray) and array.ndim == 1 for array in (data, indices, start))
        whole = arrays and indices.dtype.kind == "i" and start.dtype.kind == "i" and data.dtype.kind in "biuf"
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

    def _read_tuple(self, parts: Any) -> tuple[Any, ...]:
        require(isinstance(parts, list), "a tuple is none")
        return tuple(self.read(parts))

    def _read_float(self, name: Any) -> float:
        require(name in ("inf", "-inf", "nan"), "a float is none")
        return _INFINITE[name]

    def _read_dtype(self, name: Any) -> np.dtype[Any]:
        require(name in ("U", "O") or name in _NUMBERS, f"the type {name!r:.60} is not known")
        return _NUMBERS.get(name) or np.dtype(name)

    def _read_cost(self, stored: Any) -> Cost:
        return Cost.from_dict(stored)

    def _read_function(self, name: Any) -> Cost:
        if self._cost is None:
            raise CostNeededError(name)
        return self._cost

    def _read_foreign(self, number: Any) -> Any:
        return self._find_foreign(number)


_KINDS: dict[str, tuple[set[str], Any]] = {
    "array": ({"array", "dtype"}, Reader._read_array),
    "bits": ({"bits", "n"}, Reader._read_bits),
    "names": ({"names", "kind"}, Reader._read_names),
    "csr": ({"csr", "n_columns"}, Reader._read_sparse),
    "dict": ({"dict"}, Reader._read_dict),
    "tuple": ({"tuple"}, Reader._read_tuple),
    "float": ({"float"}, Reader._read_float),
    "dtype": ({"dtype"}, Reader._read_dtype),
    "cost": ({"cost"}, Reader._read_cost),
    "function": ({"function"}, Reader._read_function),
    "foreign": ({"foreign"}, Reader._read_foreign),
}


def _are_names(names: list[Any], kind: str) -> bool:
    """Whether all are strings, numbers or None, or strings that make an array that is not too large."""
    if kind == "O":
        return all(name is None or isinstance(name, str | int | float) for name in names)
    width = max((len(name) for name in names if isinstance(name, str)), default=0)
    few = width <= _LONGEST_NAME and width * len(names) <= _MOST_CHARACTERS
    return few and all(isinstance(name, str) for name in names)
