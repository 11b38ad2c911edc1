"""How the functions here are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function that Python calls: it is kept on disk and releases the GIL."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def helper(function: Function) -> Function:
    """Compile a function that kernels call."""
    return cast(Function, njit(error_model="numpy")(function))


# ``_nrt`` is missing from numba's own types: without it no references are counted.
LEAN: Any = {"error_model": "numpy", "_nrt": False}
INLINE: Any = {**LEAN, "forceinline": True}


def lean(function: Function) -> Function:
    """Compile a helper that allocates no array, and spare it the counting of references.

    Each time a helper is given the features and the scratch memory, two dozen arrays, numba would count them
    all up and down again, which took longer than the work.
    """
    return cast(Function, njit(**LEAN)(function))


def inline(function: Function) -> Function:
    """Compile as by `lean` a helper that is so short that even its call counts: it is written out in line."""
    return cast(Function, njit(**INLINE)(function))


def inline_sums(function: Function) -> Function:
    """Compile as by `inline` a helper whose sums may be added up in any order: several terms at once."""
    return cast(Function, njit(**INLINE, fastmath={"reassoc", "contract", "nsz"})(function))
