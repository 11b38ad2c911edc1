"""Costs, algorithms and strategies by name, also those of the user as ``module:name``."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from refpair.costs import Cost, get_cost
from refpair.tables._names import unknown_name

T = TypeVar("T")


def is_own(name: str) -> bool:
    """Whether a name stands for an object in a module of the user's."""
    return ":" in name


def import_object(name: str) -> Any:
    """Return the object that ``module:name`` stands for; modules in the current folder are found, too."""
    module_name, _, path = name.partition(":")
    if not (module_name and path):
        raise ValueError(f"{name}: write module:name, as in my_module:my_cost")
    if module_name.endswith(".py"):
        raise ValueError(f"{name}: name the module, not its file: {module_name.removesuffix('.py')}:{path}")
    if os.getcwd() not in sys.path:  # a console script does not have it there
        sys.path.insert(0, os.getcwd())
    try:
        found = import_module(module_name)
    except Exception as error:  # a module may do anything
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module_name}.".startswith(f"{missing}."):
            raise ValueError(
                f"{name}: there is no module {module_name}; run the command in the folder of {module_name}.py"
            ) from None
        why = f"{type(error).__name__}: {error}"
        raise ValueError(f"{name}: the module {module_name} cannot be imported ({why})") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{name}: the module {module_name} has no {part}")
        found = getattr(found, part)
    return found


def find_known(kind: str, name: str, known: Mapping[str, T], made: str) -> T | Callable[..., Any]:
    """Return what a name stands for, or the class or function of the user that makes it."""
    if is_own(name):
        make = import_object(name)
        if not callable(make):
            raise ValueError(f"{name} is no class and no function that returns a {made}")
        return make  # type: ignore[no-any-return]
    if name not in known:
        text = unknown_name(kind, name, known)
        raise ValueError(f"{text if text[-1] == '?' else f'{text}.'} For your own, use module:name")
    return known[name]


def call_with(function: Callable[..., Any], **known: Any) -> Any:
    """Call a function with those of the arguments that it has."""
    names = inspect.signature(function).parameters
    return function(**{name: value for name, value in known.items() if name in names})


def find_cost(name: str) -> Cost:
    """Return a cost by its name, or one of the user: a Cost, or a function of two matrices."""
    if not is_own(name):
        return get_cost(name)
    try:
        return get_cost(import_object(name))
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None


def name_cost(name: str) -> str:
    """Return what tables call a cost: built-in ones have one name, whatever they are asked for by."""
    return name if is_own(name) else get_cost(name).name


@cache
def greater_is_better(cost: str) -> bool:
    """Whether a greater score is a better one, for a cost by its name."""
    return find_cost(cost).greater_is_better


def code_digest(name: str) -> str:
    """Return a digest of the files that name and define a user's object, without what they import."""
    if not is_own(name):
        return ""
    found = import_object(name)
    modules = name.partition(":")[0], getattr(found, "__module__", None)
    files = {getattr(sys.modules.get(str(module)), "__file__", None) for module in modules}
    digest = hashlib.sha256()
    for file in sorted(file for file in files if file):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()
