"""Two machine instructions that numba does not expose: count trailing zeros, count ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

Instruction: TypeAlias = Callable[[np.uint64], np.uint64]
Generate: TypeAlias = Callable[[Any, Any, Any], Any]  # an LLVM builder, context and value to a value


def instruction(generate: Generate) -> Instruction:
    """Make a function of what writes its code: from a ``uint64`` to a ``uint64``, for kernels only."""

    def of_types(typing_context: Any, word: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return generate(builder, context, arguments[0])

        return types.uint64(types.uint64), write

    return cast(Instruction, intrinsic(of_types))


@instruction
def trailing_zeros(builder: Any, context: Any, word: Any) -> Any:
    """Return the index of the lowest set bit (64 if there is none)."""
    undefined_for_zero = context.get_constant(types.boolean, False)
    return builder.cttz(word, undefined_for_zero)


@instruction
def count_ones(builder: Any, context: Any, word: Any) -> Any:
    """Return the number of set bits."""
    return builder.ctpop(word)
