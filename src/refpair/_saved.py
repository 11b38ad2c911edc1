"""What a model file has of an object: its class decides, and checks what comes out of a file.

By default that is what the class is made with and the attributes that it annotates, and the annotations say
what these may be. What must hold besides, so that kernels may follow indices without looking, is checked by
``_check_saved``. :mod:`refpair.persistence` does the rest.

A small file must not take much memory or time. What is larger in memory than in the file is claimed from a
:class:`Room` before it is made, and :func:`work_of` tells what a prediction takes.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, Union

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.metadata_routing import MetadataRequest

T = TypeVar("T")
IfThere: TypeAlias = Annotated[T, "if there"]  # an attribute that not all fitted objects have

_LARGEST_WEIGHT = 1e100
_PACKAGES = ("refpair.", "sklearn.")


def require(condition: object, what: str) -> None:
    """Raise a ValueError that says what is wrong unless the condition holds."""
    if not condition:
        raise ValueError(what)


def starts_in_order(start: npt.NDArray[np.integer], end: int, *, may_be_empty: bool = False) -> bool:
    """Whether parts of an array begin at its first cell, follow one another and end at its last."""
    if start.ndim != 1 or len(start) == 0 or start[0] != 0 or start[-1] != end:
        return False
    # By comparing neighbors: differences of broken numbers could wrap around and look fine.
    return bool(((start[1:] >= start[:-1]) if may_be_empty else (start[1:] > start[:-1])).all())


def check_weights(weights: npt.NDArray[Any]) -> None:
    """Check that weights are numbers, and not so large that their sums are none."""
    fine = weights.dtype.kind == "f" and (np.abs(weights) <= _LARGEST_WEIGHT).all()
    require(fine, "a weight is not a number, or too large")


@dataclass
class Room:
    """How much memory may be taken for what a file holds, and how much of it is."""

    limit: float = math.inf
    taken: int = 0


_room: ContextVar[Room | None] = ContextVar("room", default=None)


@contextmanager
def limited_room(room: Room) -> Iterator[Room]:
    """Count, and limit, what is claimed."""
    token = _room.set(room)
    try:
        yield room
    finally:
        _room.reset(token)


def claim_room(n_bytes: int) -> None:
    """Ask for memory before it is taken for what a file says; raise a ValueError if that is too much."""
    room = _room.get()
    if room is not None:
        room.taken += n_bytes
        require(room.taken <= room.limit, "it would take far more memory than its size tells")


def require_one_parent(left: npt.NDArray[np.intp], right: npt.NDArray[np.intp]) -> None:
    """Refuse trees in which a node has two parents: there would be more ways down than nodes."""
    times = np.bincount(np.concatenate([left, right]), minlength=1)
    require(times.max() <= 1, "a node has two parents")


def depths_of(
    inner: npt.NDArray[np.intp], left: npt.NDArray[np.intp], right: npt.NDArray[np.intp], n_nodes: int
) -> npt.NDArray[np.int64]:
    """Return how deep each node of trees lies, given the children of inner nodes, which come after these."""
    children = np.concatenate([left, right])
    above = np.full(n_nodes, -1)
    above[children] = np.concatenate([inner, inner])
    depth = (above >= 0).astype(np.int64)
    while (below := np.flatnonzero(above >= 0)).size:  # each pass looks twice as far up as the one before
        depth[below], above[below] = depth[below] + depth[above[below]], above[above[below]]
    return depth


def work_of(value: Any, *, exact: bool = False) -> int:
    """Return about how many steps a prediction takes for a row, at most: one for each number that is kept.

    A class that looks at its parts again and again says so in ``_work``. Ways down trees are as long as they
    have nodes, unless they are to be `exact`.
    """
    if isinstance(value, np.ndarray):
        return value.size if value.dtype != object else work_of(value.ravel().tolist(), exact=exact)
    if sp.issparse(value):
        return int(value.nnz)
    if isinstance(value, Savable):
        return value._work(exact=exact)
    if isinstance(value, MetadataRequest):
        return 1  # what is to be passed to the estimator, to which it leads back
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | set):
        return 1 + sum(work_of(part, exact=exact) for part in value)
    if hasattr(value, "node_count"):  # a tree of scikit-learn
        return int(value.max_depth) + 1 if exact else int(value.node_count)
    if type(value).__module__.startswith(_PACKAGES) and hasattr(value, "__dict__"):
        return 1 + work_of(list(vars(value).values()), exact=exact)
    return 1


def own_n_jobs(n_jobs: Any) -> int | None:
    """Return the `n_jobs` of a file: no more than this machine has processors."""
    right = n_jobs is None or (isinstance(n_jobs, int) and n_jobs != 0)
    require(right, f"n_jobs cannot be {n_jobs!r:.60}")
    return n_jobs if n_jobs is None else min(n_jobs, os.cpu_count() or 1)


class Savable:
    """A class whose objects can be in a model file; an estimator need not be fitted."""

    def _get_saved(self) -> dict[str, Any]:
        """Return what a file is to hold: plain values, lists, dicts, arrays and other objects."""
        cls: Any = type(self)
        parameters, learnt = _fields(cls)
        saved = {name: _plain(getattr(self, name)) for name in parameters}
        if not isinstance(saved.get("random_state"), int | None):
            saved["random_state"] = None
        saved |= {name: _plain(vars(self)[name]) for name in learnt if name in vars(self)}
        _check_values(cls, saved)
        self._check_saved()
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        """Return the object that a file holds, or raise a ValueError that says what is wrong."""
        described: Any = cls
        parameters, learnt = _fields(described)
        needed = {name for name, hint in learnt.items() if typing.get_origin(hint) is not Annotated}
        if hasattr(cls, "get_params") and saved.keys() == parameters.keys():
            needed = set()  # an estimator that is not fitted
        right = {*parameters, *needed} <= saved.keys() <= {*parameters, *learnt}
        require(right, f"a {cls.__name__} has other fields than it should")
        _check_values(cls, saved)
        if "n_jobs" in saved:
            saved["n_jobs"] = own_n_jobs(saved["n_jobs"])
        made = cls(**{name: saved[name] for name in parameters})
        for name in saved.keys() - parameters.keys():
            setattr(made, name, saved[name])
        made._check_saved()
        return made

    def _check_saved(self) -> None:
        """Raise a ValueError unless the object may be used, whoever made it."""

    def _work(self, *, exact: bool) -> int:
        """Return how many steps it takes for a row; see :func:`work_of`."""
        return 1 + work_of(list(vars(self).values()), exact=exact)


@cache
def _fields(cls: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a class is made with and which attributes it annotates besides, with what they may be."""
    annotated = typing.get_type_hints(cls, include_extras=True)
    if dataclasses.is_dataclass(cls):
        return {field.name: annotated[field.name] for field in dataclasses.fields(cls)}, {}
    hints = typing.get_type_hints(cls.__init__)
    parameters = {name: hints.get(name, Any) for name in inspect.signature(cls).parameters}
    own = {
        name for base in cls.__mro__ if issubclass(base, Savable) for name in inspect.get_annotations(base)
    }
    learnt = {
        name: hint
        for name, hint in annotated.items()
        if name in own - parameters.keys() and typing.get_origin(hint) is not ClassVar
    }
    return parameters, learnt


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _check_values(cls: Any, values: Mapping[str, Any]) -> None:
    parameters, learnt = _fields(cls)
    hints = parameters | learnt
    for name, value in values.items():
        if not _fits(value, hints[name]):
            raise ValueError(f"the {name} of a {cls.__name__} cannot be {_shown(value)}")


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return f"{value!r:.60}" if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if hint is float and type(value) is not int:
        return isinstance(value, float) and not math.isnan(value)
    if hint in (int, float):
        return isinstance(value, int) and abs(value) < 2**63
    if origin is Annotated:
        return _fits(value, arguments[0])
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in arguments)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in arguments)
    if hasattr(origin, "__value__"):  # an alias, as NDArray is of NumPy 2.5 on
        return _fits(value, origin.__value__[arguments])
    if origin is np.ndarray:
        (scalar,) = typing.get_args(arguments[1])
        kind = np.generic if scalar is Any else typing.get_origin(scalar) or scalar
        return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, kind)
    if origin in (list, Sequence):
        return isinstance(value, list) and all(_fits(part, arguments[0]) for part in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(
            _fits(key, arguments[0]) and _fits(part, arguments[1]) for key, part in value.items()
        )
    return isinstance(value, origin or hint or type(None))
