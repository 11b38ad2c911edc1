"""Products of sign vectors, 64 signs a machine word.

A vector of signs s in {−1, +1} is packed as its plus bits, a code word e in {−1, 0, +1} as its plus bits and
a mask of the bits that are not 0. A sign and a code bit differ where the plus bits do and the mask is set, so

    s · e = popcount(mask) − 2 popcount((s XOR plus) AND mask).

In one thread, 3,700 vectors and 1,600 code words of 3,000 bits take 0.12 s, against 0.41 s for the same
search as float32 matrix products (OpenBLAS, AVX2); 1,200 × 150 take 5 ms against 14; one vector and 1,600
code words 0.1 ms against 7. No size was found at which the matrix product won. Blocks of rows and code words
gained nothing: the kernel is bound by its arithmetic.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels.jit import kernel
from refpair._kernels.types import Longs, Words
from refpair._kernels.words import count_ones

__all__ = ["Words", "nearest", "products"]


@kernel
def _product(signs: Words, plus: Words, mask: Words, n_known: np.int64) -> np.int64:
    differ = np.uint64(0)
    for w in range(signs.shape[0]):
        differ += count_ones((signs[w] ^ plus[w]) & mask[w])
    return n_known - 2 * np.int64(differ)


@kernel
def products(signs: Words, plus: Words, mask: Words, n_known: Longs) -> npt.NDArray[np.int32]:
    """Return s · e for each row of signs and each code word; n_known is popcount(mask) by row."""
    out = np.empty((signs.shape[0], plus.shape[0]), np.int32)
    for i in range(signs.shape[0]):
        for u in range(plus.shape[0]):
            out[i, u] = _product(signs[i], plus[u], mask[u], n_known[u])
    return out


@kernel
def nearest(signs: Words, plus: Words, mask: Words, n_known: Longs) -> npt.NDArray[np.int64]:
    """Return the code word of largest s · e for each row of signs, the first one where several tie."""
    out = np.empty(signs.shape[0], np.int64)
    for i in range(signs.shape[0]):
        best = 0
        largest = _product(signs[i], plus[0], mask[0], n_known[0])
        for u in range(1, plus.shape[0]):
            product = _product(signs[i], plus[u], mask[u], n_known[u])
            if product > largest:
                best, largest = u, product
        out[i] = best
    return out
