"""How the functions here are compiled, the types of what they take, and instructions that numba lacks.

Numba does not read annotations: it compiles for whatever it is given. They are for the reader and for mypy.
All arrays are contiguous unless a kernel says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit, types
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic, overload

import refpair._kernels.compiling  # noqa: F401  # it hears of all that is compiled
from refpair._kernels._cache import KernelCache
from refpair._kernels.linked import LINKED

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
SignedBytes: TypeAlias = npt.NDArray[np.int8]
Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Floats: TypeAlias = npt.NDArray[np.floating[Any]]
# Where an index has no sign, numba need not ask whether it counts from the end.
Numbers: TypeAlias = npt.NDArray[np.uint32]
IndexArray: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]  # as SciPy's sparse matrices have them

Function = TypeVar("Function", bound=Callable[..., Any])
Instruction: TypeAlias = Callable[[np.uint64], np.uint64]

# Typed integers: given a literal, a helper is compiled for this number alone, and again for others.
ZERO, ONE = cast(int, np.int64(0)), cast(int, np.int64(1))

# ``_nrt`` is missing from numba's own types: without it no references are counted.
PLAIN: Any = LINKED
LEAN: Any = {**LINKED, "error_model": "numpy", "_nrt": False}
INLINE: Any = {**LEAN, "forceinline": True}


def kernel(function: Function) -> Function:
    """Compile a function that Python calls: it is kept on disk and releases the GIL.

    It returns nothing, a number or one array. To make objects of the rest, numba runs Python code: Ctrl-C is
    handled there if it was pressed meanwhile, and numba goes on as if nothing had been raised.
    """
    compiled: Any = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    if isinstance(compiled, CPUDispatcher):  # numba can be told to compile nothing
        compiled._cache = KernelCache(function)
    return cast(Function, compiled)


def helper(function: Function) -> Function:
    """Compile a function that kernels call."""
    return cast(Function, njit(**LINKED, error_model="numpy")(function))


def lean(function: Function) -> Function:
    """Compile a helper that neither allocates nor returns an array, and spare it the counting of references.

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


def by_form(does: str) -> Any:
    """Return a function for kernels that has a body for each form of features, its first argument."""

    def function(*_: object) -> None:
        raise NotImplementedError(does)

    return function


def implements(function: Any, form: type, options: Any = PLAIN) -> Callable[[Function], Function]:
    """Decorate the body that a function by form has for this one: chosen by the types when numba compiles."""

    def decorate(implementation: Function) -> Function:
        @wraps(implementation)  # numba compares the names of the parameters
        def choose(features: Any, *_: Any) -> Function | None:
            return implementation if getattr(features, "instance_class", None) is form else None

        overload(function, jit_options=options)(choose)
        return implementation

    return decorate


def instruction(generate: Callable[[Any, Any, Any], Any]) -> Instruction:
    """Make a function for kernels, from ``uint64`` to ``uint64``, of what writes its code.

    That is given an LLVM builder, context and value.
    """

    def of_types(typing_context: Any, word: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, context, arguments[0])

        return types.uint64(types.uint64), write

    return cast(Instruction, intrinsic(of_types))


@instruction
def trailing_zeros(builder: Any, context: Any, word: Any) -> Any:
    """Return the index of the lowest set bit (64 if there is none)."""
    return builder.cttz(word, context.get_constant(types.boolean, False))


@instruction
def count_ones(builder: Any, context: Any, word: Any) -> Any:
    """Return the number of set bits."""
    return builder.ctpop(word)
