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
