"""The kinds of values that a file can hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from refpair.persistence._codec import Field, Reader, Writer, require

__all__ = [
    "Flag", "IfThere", "Known", "Learner", "ListOf", "Maybe", "Parameter", "Real", "Seed", "Text", "Threads",
    "Verbosity", "Whole", "plain",
]  # fmt: skip

_MAX_THREADS = 1024
_FOREIGN = "foreign"


def plain(value: Any, what: str) -> str | int | float | None:
    """Return a value as JSON has it, numpy's scalars as Python's."""
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, int | float) and math.isfinite(value)
    if value is None or is_number or isinstance(value, str):
        return value  # type: ignore[no-any-return]
    raise ValueError(f"{what} is {value!r}, and only strings and finite numbers can be saved")


class Parameter:
    """A parameter of an estimator: a string, a number, a bool or None; the estimator itself checks it."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return plain(value, f"the parameter {place}")

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(stored is None or isinstance(stored, str | int | float), f"{place} is not a plain value")
        return stored


class Seed(Parameter):
    """A random state, of which only a number can be stored."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return int(value) if isinstance(value, int | np.integer) else None


class Verbosity(Parameter):
    """How much is told while something runs."""

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, int) and stored >= 0, f"{place} is not a number")
        return stored


class Threads(Parameter):
    """A number of threads: none that is out of all proportion."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if abs(value or 1) > _MAX_THREADS:
            raise ValueError(f"{place} is {value}, and no more than {_MAX_THREADS} can be saved; set fewer")
        return super().write(value, writer, place)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(
            stored is None or (type(stored) is int and stored != 0), f"{place} is not a number of threads"
        )
        require(abs(stored or 1) <= _MAX_THREADS, f"{place} is too large")
        return stored


@dataclass(frozen=True)
class Text:
    """A string, one of several if these are given."""

    choices: tuple[str, ...] = ()

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return str(value)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        is_known = isinstance(stored, str) and (not self.choices or stored in self.choices)
        require(is_known, f"{place} is {stored!r}")
        return stored


class Flag:
    """True or false."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return bool(value)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, bool), f"{place} is neither true nor false")
        return stored


@dataclass(frozen=True)
class Whole:
    """A whole number within limits."""

    low: int = 0
    high: int = 2**31 - 1

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if not self.low <= value <= self.high:
            raise ValueError(f"{place} is {value}, and only {self.low} to {self.high} can be saved")
        return int(value)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        is_number = type(stored) is int and self.low <= stored <= self.high
        require(is_number, f"{place} is not a number from {self.low} to {self.high}")
        return stored


@dataclass(frozen=True)
class Real:
    """A number within limits, which may be infinite, but always is a number."""

    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return float(value) if math.isfinite(value) else str(float(value))

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        if self.infinite and stored in ("inf", "-inf"):
            stored = float(stored)
        else:
            is_number = isinstance(stored, int | float) and not isinstance(stored, bool)
            require(is_number and math.isfinite(stored), f"{place} is not a finite number")
        require(self.low <= stored <= self.high, f"{place} is not from {self.low} to {self.high}")
        return float(stored)


@dataclass(frozen=True)
class Maybe:
    """A value, or None."""

    kind: Field

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return None if value is None else self.kind.write(value, writer, place)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        return None if stored is None else self.kind.read(stored, reader, place)


class IfThere(Maybe):
    """An attribute that only some objects have."""


@dataclass(frozen=True)
class ListOf:
    """A list of values of one kind."""

    kind: Field

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        return [self.kind.write(item, writer, f"{place}.{i}") for i, item in enumerate(value)]

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        require(isinstance(stored, list), f"{place} is not a list")
        return [self.kind.read(item, reader, f"{place}.{i}") for i, item in enumerate(stored)]


class Known:
    """An object of one of some known classes."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if not writer.knows(value) or type(value).__name__ not in self.names:
            raise TypeError(f"{place} is a {type(value).__name__}, which cannot be saved here")
        return writer.write(value, place)

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        return reader.read(stored, self.names, place)


@dataclass(frozen=True)
class Learner:
    """A learner: a name, a number that it always says, one of the package's own classes, or a foreign one."""

    says: bool = False

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        if isinstance(value, str) or (self.says and isinstance(value, int)):
            return value
        if writer.knows(value):
            return writer.write(value, place)
        return {_FOREIGN: writer.add_foreign(value)}

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        if self.says and type(stored) is int:
            return stored
        if not self.says and isinstance(stored, str):
            return stored
        require(isinstance(stored, dict), f"{place} is no learner")
        if stored.keys() == {_FOREIGN}:
            number = stored[_FOREIGN]
            require(type(number) is int and number >= 0, f"{place} is no learner")
            found = reader.find_foreign(number)
        else:
            found = reader.read(stored, tuple(reader.schemas), place)
        is_learner = hasattr(found, "get_params") and (hasattr(found, "predict") or not self.says)
        require(is_learner, f"{place} is no learner")
        return found
