"""Two machine instructions that numba does not expose: count trailing zeros, count ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Instruction: TypeAlias = Callable[[np.uint64], np.uint64]


def instruction(generate: Callable[[ir.IRBuilder, ir.Value], ir.Value]) -> Instruction:
    """Make a function of what writes its code: from a ``uint64`` to a ``uint64``, for kernels only."""

    def of_types(typing_context: Any, word: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, arguments[0])

        return types.uint64(types.uint64), write

    made: Any = intrinsic(of_types)
    return made  # type: ignore[no-any-return]


@instruction
def trailing_zeros(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """Return the index of the lowest set bit (64 if there is none)."""
    return builder.cttz(word, ir.Constant(ir.IntType(1), 0))


@instruction
def count_ones(builder: ir.IRBuilder, word: ir.Value) -> ir.Value:
    """Return the number of set bits."""
    return builder.ctpop(word)
