"""Objects of known classes as a tree of JSON types and arrays, and back.

Each class has a schema: its name, and for each of its fields the kind of values that it may have. What is
read from a file is made of these classes alone, by these fields alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refpair.costs import Cost
from refpair.persistence._npy import narrowed

__all__ = ["Field", "Reader", "Schema", "Writer", "require"]

_CLASS = "class"


def require(condition: object, what: str) -> None:
    """Raise a ValueError that says what is wrong unless the condition holds."""
    if not condition:
        raise ValueError(what)


class Field(Protocol):
    """A kind of values."""

    def write(self, value: Any, writer: Writer, place: str) -> Any:
        """Return a value as JSON types, or raise an error that tells why it cannot be stored."""

    def read(self, stored: Any, reader: Reader, place: str) -> Any:
        """Return the value, if it is one of this kind, else raise a ValueError."""


def _take_attributes(value: Any, names: list[str]) -> dict[str, Any]:
    return {name: getattr(value, name, None) for name in names}


def _make_by_name(cls: type, values: dict[str, Any]) -> Any:
    """Give a class the parameters it takes, then set what else there is."""
    parameters = inspect.signature(cls).parameters
    made = cls(**{name: value for name, value in values.items() if name in parameters})
    for name, value in values.items():
        if name not in parameters:
            setattr(made, name, value)
    return made


@dataclass(frozen=True)
class Schema:
    """What a file holds of a class.

    Attributes
    ----------
    cls : type
    fields : mapping
        The kind of each field.
    check : callable, optional
        Raises a ValueError unless an object that was read is in order, by itself.
    take : callable
        Returns the values of some fields of an object; by default they are its attributes.
    make : callable
        Makes an object of a class of the values of its fields; by default they are parameters or attributes.
    parameters : tuple of str
        The fields that are all there is of an estimator before it is fitted.
    applies : callable, optional
        Tells if an object of the class is one that the schema is for; by default all are.
    """

    cls: type
    fields: Mapping[str, Field]
    check: Callable[[Any], None] | None = None
    take: Callable[[Any, list[str]], dict[str, Any]] = _take_attributes
    make: Callable[[type, dict[str, Any]], Any] = _make_by_name
    parameters: tuple[str, ...] = ()
    applies: Callable[[Any], bool] | None = None

    def fields_of(self, value: Any) -> dict[str, Field]:
        """Return the fields that an object has: an estimator that is not fitted has its parameters alone."""
        if not self.parameters or hasattr(value, "classes_"):
            return dict(self.fields)
        return {name: self.fields[name] for name in self.parameters}


@dataclass
class Writer:
    """Takes objects apart.

    Attributes
    ----------
    schemas : mapping
        By the names of classes.
    arrays : dict
        What is to be written beside the JSON.
    foreign : list
        Estimators of other libraries.
    """

    schemas: Mapping[str, Schema]
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    foreign: list[Any] = field(default_factory=list)
    _numbers: dict[int, int] = field(default_factory=dict)

    def knows(self, value: Any) -> bool:
        """Whether a value is of a known class."""
        schema = self.schemas.get(type(value).__name__)
        if schema is None or type(value) is not schema.cls:
            return False
        return schema.applies is None or schema.applies(value)

    def write(self, value: Any, place: str = "") -> dict[str, Any]:
        """Return an object of a known class as JSON types."""
        name = type(value).__name__
        schema = self.schemas[name]
        fields = schema.fields_of(value)
        values = schema.take(value, list(fields))
        inside = f"{place}." if place else ""
        return {_CLASS: name} | {
            key: kind.write(values[key], self, inside + key) for key, kind in fields.items()
        }

    def add_array(self, array: npt.NDArray[Any], place: str) -> str:
        """Keep an array; return its name."""
        self.arrays[place] = narrowed(np.asarray(array))
        return place

    def add_foreign(self, estimator: Any) -> int:
        """Keep an estimator of another library; return its number."""
        if id(estimator) not in self._numbers:
            self._numbers[id(estimator)] = len(self.foreign)
            self.foreign.append(estimator)
        return self._numbers[id(estimator)]


@dataclass
class Reader:
    """Puts objects together.

    Attributes
    ----------
    schemas : mapping
        By the names of classes.
    arrays : dict
        Each is taken out when it is used.
    find_foreign : callable
        Returns the estimator of another library that has a number.
    cost : Cost, optional
        What stands in for a cost that is a function.
    """

    schemas: Mapping[str, Schema]
    arrays: dict[str, npt.NDArray[Any]]
    find_foreign: Callable[[int], Any]
    cost: Cost | None = None

    def read(self, stored: Any, allowed: tuple[str, ...], place: str = "") -> Any:
        """Return the object that was stored, if its class is one of those allowed."""
        require(isinstance(stored, dict), f"{place or 'the model'} is not an object")
        name = stored.get(_CLASS)
        require(isinstance(name, str) and name in allowed, f"{place or 'the model'} is of the class {name!r}")
        schema = self.schemas[name]
        inside = f"{place}." if place else ""
        is_parameter = bool(schema.parameters) and stored.keys() == {_CLASS, *schema.parameters}
        fine = is_parameter or stored.keys() == {_CLASS, *schema.fields}
        require(fine, f"{place or name} has other fields than it should")
        values = {
            key: kind.read(stored[key], self, inside + key)
            for key, kind in schema.fields.items()
            if key in stored
        }
        made = schema.make(schema.cls, values)
        if schema.check is not None and not is_parameter:
            schema.check(made)
        return made

    def take_array(self, name: Any, place: str) -> npt.NDArray[Any]:
        """Return an array, once."""
        require(isinstance(name, str) and name in self.arrays, f"{place} is missing")
        return self.arrays.pop(name)
