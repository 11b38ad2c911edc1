"""Exact weighted sums, two or three to a machine word.

A row of a bit carries the signed weight ``±w``: plus if the first reference vector is cheaper. Trees need, of
any set of rows, ``S = Σ ±w``, ``W = Σ w`` and sometimes the number of rows. Weights are quantised to integers
and the three sums share one ``int64``::

    packed = S << (weight_bits + count_bits)  |  W << count_bits  |  count

One addition then updates all of them, and because integer sums are exact, a histogram is the same whatever
the order of its rows, and *parent minus child* has no rounding error: dense and sparse input, any number of
threads and any chunking give the same tree, bit for bit.

``count_bits`` is 0 unless ``min_samples_leaf > 1``, which leaves 31 bits for W: a total weight of two
thousand million, that is about 2³¹/n steps for the mean weight of n rows.
"""

from __future__ import annotations

import math

import numpy as np

from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Floats, Ints, Longs


def field_widths(n_rows: int, min_samples_leaf: int) -> tuple[int, int]:
    """Return ``(weight_bits, count_bits)`` for sums over at most `n_rows` rows."""
    count_bits = 0 if min_samples_leaf <= 1 else math.ceil(math.log2(n_rows + 1))
    weight_bits = (63 - count_bits) // 2
    if 1 << weight_bits < 4 * n_rows:
        raise ValueError(
            f"{n_rows} training rows are too many for min_samples_leaf={min_samples_leaf}: "
            "use min_samples_leaf=1 (limit depth with max_depth) or fit on a sample of the rows"
        )
    return weight_bits, count_bits


@helper
def signed_sum(packed: int, weight_bits: int, count_bits: int) -> int:
    """Return S: the weight for the first reference vector minus that for the second."""
    return packed >> (weight_bits + count_bits)


@helper
def weight_sum(packed: int, weight_bits: int, count_bits: int) -> int:
    """Return W: the total weight."""
    return (packed >> count_bits) & ((1 << weight_bits) - 1)


@helper
def row_count(packed: int, count_bits: int) -> int:
    """Return the number of rows (meaningless when ``count_bits`` is 0)."""
    return packed & ((1 << count_bits) - 1)


@kernel
def pack_row_weights(
    differences: Floats,
    vector_of_row: Ints,
    rows: Ints,
    weight_bits: int,
    count_bits: int,
    values: Longs,
    kept: Ints,
) -> int:
    """Quantise one bit's weights and pack them by row; leave out the rows that tie.

    Parameters
    ----------
    differences : (n_vectors,) float array
        C(y, β) − C(y, α) of each distinct label vector.
    vector_of_row : (n,) int array
        Which distinct label vector each row carries.
    rows : (r,) int array
        The rows that take part.
    weight_bits, count_bits : int
        See :func:`field_widths`.
    values : (n,) int64 array, written
        The packed weight of each kept row.
    kept : (n,) int32 array, written
        The rows with a weight.

    Returns
    -------
    n_kept : int
    """
    # In parts of the largest weight, so that neither a huge nor a tiny cost leaves the range of the floats.
    largest, total = 0.0, 0.0
    for i in range(rows.shape[0]):
        largest = max(largest, abs(differences[vector_of_row[rows[i]]]))
    if largest == 0.0:
        return 0
    for i in range(rows.shape[0]):
        total += abs(differences[vector_of_row[rows[i]]]) / largest
    # Each weight is rounded up to at least 1, hence the room left for one unit a row.
    scale = (float((1 << weight_bits) - 1) - 2.0 * rows.shape[0]) / total
    one_row = 1 if count_bits > 0 else 0
    n_kept = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        difference = differences[vector_of_row[row]]
        if difference != 0.0:
            weight = max(np.int64(1), np.int64(abs(difference) / largest * scale + 0.5))
            signed = weight if difference > 0.0 else -weight
            values[row] = (signed << (weight_bits + count_bits)) + (weight << count_bits) + one_row
            kept[n_kept] = row
            n_kept += 1
    return n_kept
