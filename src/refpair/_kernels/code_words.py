"""Code words: differences of costs, of which those that are due to rounding are ties, and products of signs.

A vector of signs s in {−1, +1} is packed as its plus bits, a code word e in {−1, 0, +1} as its plus bits and
a mask of the bits that are not 0. A sign and a code bit differ where the plus bits do and the mask is set, so

    s · e = popcount(mask) − 2 popcount((s XOR plus) AND mask).

That takes a third of the time of float32 matrix products, and blocks of rows and code words gain nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels.jit import Floats, Ints, Longs, SignedBytes, Words, count_ones, inline, kernel

# Costs that differ by less than this part of themselves are equal but for rounding. The named costs round
# equal fractions to equal floats and need no tolerance; sums of prices such as 0.1 + 0.2 and 0.3 do. Costs
# that truly differ are far apart: two F1 values of K labels by 1/(2K)² or more, 1e-8 at K = 5,000.
_TIE = 1e-12


@kernel
def write_differences(costs: Floats, first_row: int, first_pair: int, differences: Floats) -> None:
    """Write C(y, β) − C(y, α) of each row y and pair, 0 for a tie, from a first row and a first pair on.

    `costs` of shape (n, 2 m) are those of m first vectors α, then those of m second ones β.
    """
    n_pairs = costs.shape[1] // 2
    for row in range(costs.shape[0]):
        for pair in range(n_pairs):
            difference = _difference(costs[row, pair], costs[row, n_pairs + pair])
            differences[first_row + row, first_pair + pair] = difference


@kernel
def write_signs(costs: Floats, first_row: int, first_pair: int, signs: SignedBytes) -> None:
    """Write only the signs of the differences; see `write_differences`."""
    n_pairs = costs.shape[1] // 2
    for row in range(costs.shape[0]):
        for pair in range(n_pairs):
            difference = _difference(costs[row, pair], costs[row, n_pairs + pair])
            signs[first_row + row, first_pair + pair] = (difference > 0.0) - (difference < 0.0)


@inline
def _difference(of_alpha: float, of_beta: float) -> float:
    difference, larger = of_beta - of_alpha, abs(of_beta)
    if abs(of_alpha) > larger:
        larger = abs(of_alpha)
    return 0.0 if abs(difference) <= _TIE * larger else difference


@inline
def _product(signs: Words, plus: Words, mask: Words, n_known: np.int64) -> np.int64:
    differ = np.uint64(0)
    for w in range(signs.shape[0]):
        differ += count_ones((signs[w] ^ plus[w]) & mask[w])
    return n_known - 2 * np.int64(differ)


def products(signs: Words, plus: Words, mask: Words, n_known: Longs) -> npt.NDArray[np.int32]:
    """Return s · e for each row of signs and each code word; n_known is popcount(mask) by row."""
    out = np.empty((len(signs), len(plus)), np.int32)
    write_products(signs, plus, mask, n_known, out)
    return out


@kernel
def write_products(signs: Words, plus: Words, mask: Words, n_known: Longs, out: Ints) -> None:
    """Write what `products` returns."""
    for i in range(signs.shape[0]):
        for u in range(plus.shape[0]):
            out[i, u] = _product(signs[i], plus[u], mask[u], n_known[u])


def nearest(signs: Words, plus: Words, mask: Words, n_known: Longs) -> npt.NDArray[np.int64]:
    """Return the code word of largest s · e for each row of signs, the first one where several tie."""
    out = np.empty(len(signs), np.int64)
    write_nearest(signs, plus, mask, n_known, out)
    return out


@kernel
def write_nearest(signs: Words, plus: Words, mask: Words, n_known: Longs, out: Longs) -> None:
    """Write what `nearest` returns."""
    for i in range(signs.shape[0]):
        best = 0
        largest = _product(signs[i], plus[0], mask[0], n_known[0])
        for u in range(1, plus.shape[0]):
            product = _product(signs[i], plus[u], mask[u], n_known[u])
            if product > largest:
                best, largest = u, product
        out[i] = best


def pack_signs(signs: npt.ArrayLike) -> Words:
    """Pack rows of −1 and +1 into words of 64 bits, set where the sign is +1; see `pack_bits`."""
    array = np.asarray(signs)
    if array.ndim != 2 or not ((array == 1) | (array == -1)).all():
        raise ValueError("signs must be a matrix of -1 and +1 only")
    return pack_bits(array > 0)


def pack_bits(bits: npt.NDArray[np.bool_]) -> Words:
    """Pack rows of bits into words of 64, the first bit lowest, filled up with zeros."""
    n_words = -(-bits.shape[1] // 64)
    packed = np.zeros((bits.shape[0], 8 * n_words), np.uint8)
    packed[:, : -(-bits.shape[1] // 8)] = np.packbits(bits, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def unpack_bits(words: Words) -> npt.NDArray[np.bool_]:
    """Return the bits that `pack_bits` packed, and the zeros that it filled up with."""
    packed = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(packed, axis=1, bitorder="little").astype(np.bool_)
