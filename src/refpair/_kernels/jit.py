"""How the functions here are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function that Python calls: it is kept on disk and releases the GIL."""
    compiled: Any = njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled  # type: ignore[no-any-return]


def helper(function: Function) -> Function:
    """Compile a function that kernels call."""
    compiled: Any = njit(error_model="numpy")(function)
    return compiled  # type: ignore[no-any-return]
