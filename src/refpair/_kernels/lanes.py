"""Logistic regressions of many bits at once on sparse rows.

Bits lie side by side, one a lane: each cell of the matrix is read once for all of them. A lane searches for
its bit's next direction, then waits until there are some to go ahead together; a bit that is done leaves its
lane to the next one. So the lanes are seldom idle, however long each bit takes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from refpair._kernels.jit import Bools, Floats, Ints, Longs, helper, inline_sums, kernel
from refpair._kernels.newton import STEPS, add_penalty, begin, damp, go_ahead, when_to_end

_LANES = 32
_GROUP = 8  # lanes that go ahead together
_LINE = 64  # bytes of the cache

_FREE, _BEGINS, _SEARCHES, _WAITS = range(4)  # what a lane does

# Where the lanes of each vector begin. They are parts of one array: of several, the compiler would have to
# ask each time whether what it writes is what it reads next.
_SEARCH, _RESIDUAL, _SOLUTION, _INVERSE, _CURVED = range(0, 5 * _LANES, _LANES)
_AHEAD, _CURVATURE = range(0, 2 * _LANES, _LANES)
_SHIFT, _RATIO, _SIZE, _POWER, _LEFT, _DAMPING = range(0, 6 * _LANES, _LANES)


class Csr(NamedTuple):
    """A sparse matrix, row by row."""

    data: Floats
    indices: Ints
    indptr: Longs


class SparseRows(NamedTuple):
    """Rows that end with a 1 for the intercept, by rows and by columns, to be seen from their `middle`."""

    by_row: Csr
    by_column: Csr
    middle: Floats  # one for each column; 0 for the intercept


class Lanes(NamedTuple):
    """What there is in each lane, for conjugate gradients in half as long numbers."""

    vectors: Floats  # (width, 5 vectors of lanes)
    rows: Floats  # (n_rows, 2 vectors of lanes)
    numbers: Floats  # (1, 6 numbers of lanes)
    end: Floats  # (n_lanes,): the squared length of a residual that is short enough
    does: Longs
    steps: Longs  # of conjugate gradients, for this direction


def _sum_of_rows(n_lanes: int) -> Any:
    """Return a function for kernels that adds up rows of lanes: numba would keep the sums in memory.

    It writes Σ data[k] · values[indices[k]], k from `first` to `last`, into a row of `out`, in its first
    lanes.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def array(at: int) -> Any:
            return context.make_array(signature.args[at])(context, builder, arguments[at])

        first, last, row = arguments[2], arguments[3], arguments[6]
        data, indices, values, out = array(0), array(1), array(4), array(5)
        number = signature.args[4].dtype
        several = ir.VectorType(context.get_value_type(number), n_lanes)
        align, nothing = number.bitwidth // 8, ir.Constant(several, ir.Undefined)
        fast = ("contract",)

        def lanes_of(array: Any, row: Any) -> Any:
            to_row = builder.mul(row, builder.extract_value(array.strides, 0))
            return cgutils.pointer_add(builder, array.data, to_row, several.as_pointer())

        # Several sums by turns: the next term is begun with before the last one is done.
        n_sums = 4 if n_lanes * align <= _LINE else 2
        sums = [cgutils.alloca_once_value(builder, ir.Constant(several, None)) for _ in range(n_sums)]
        with cgutils.for_range_slice(builder, first, last, ir.Constant(first.type, 1)) as (k, _):
            cell = builder.load(builder.gep(data.data, [k]))
            factor = builder.insert_element(nothing, cell, ir.Constant(ir.IntType(32), 0))
            to_all = ir.Constant(ir.VectorType(ir.IntType(32), n_lanes), None)
            factor = builder.shuffle_vector(factor, nothing, to_all)
            place = builder.zext(builder.load(builder.gep(indices.data, [k])), first.type)
            there = builder.load(lanes_of(values, place), align=align)
            more = builder.fadd(builder.load(sums[0]), builder.fmul(factor, there, flags=fast), flags=fast)
            for one, following in pairwise(sums):
                builder.store(builder.load(following), one)
            builder.store(more, sums[-1])
        total = builder.load(sums[0])
        for one in sums[1:]:
            total = builder.fadd(total, builder.load(one))
        builder.store(total, lanes_of(out, row), align=align)
        return context.get_dummy_value()

    def of_types(
        _: Any, data: Any, indices: Any, first: Any, last: Any, values: Any, out: Any, row: Any
    ) -> tuple[Any, Callable[..., Any]]:
        long = types.int64
        return types.void(data, indices, long, long, values, out, long), write

    return intrinsic(of_types)


_sum_in_lanes, _sum_in_group = _sum_of_rows(_LANES), _sum_of_rows(_GROUP)


@kernel
def minimise_sparse_losses(
    Z: SparseRows, targets: Floats, weights: Floats, tol: float, max_iter: int, done: Bools
) -> None:
    """Minimise as `minimise_logistic_losses` does, of rows Z that are seen from their middle."""
    n_bits, width = weights.shape
    n_rows, n_lanes = targets.shape[1], min(n_bits, _LANES)
    by_row, by_column, middle = Z
    single = SparseRows(shorter(by_row), shorter(by_column), middle.astype(np.float32))
    squares = Csr(squared(by_column, middle), by_column.indices, by_column.indptr)
    like, numbers = np.empty(0, np.float32), np.empty(0)
    lanes = Lanes(
        make_lanes(width, 5 * _LANES, like),
        make_lanes(n_rows, 2 * _LANES, like),
        make_lanes(1, 6 * _LANES, like),
        np.zeros(n_lanes, np.float32),
        np.full(n_lanes, _FREE),
        np.zeros(n_lanes, np.int64),
    )
    does, bit_in, iteration = lanes.does, np.zeros(n_lanes, np.int64), np.zeros(n_lanes, np.int64)
    objective, limit = np.empty(n_lanes), np.empty(n_lanes)
    decisions, gradient = np.empty((n_lanes, n_rows)), np.empty((n_lanes, width))
    wide, tall = make_lanes(width, _GROUP, numbers), make_lanes(n_rows, _GROUP, numbers)
    sums, ahead = np.empty((_GROUP, width)), np.empty((_GROUP, n_rows))
    slope, curvature = np.empty((_GROUP, n_rows)), np.empty((_GROUP, n_rows))
    loss, kept = np.empty(n_rows), np.empty(width)
    n_begun = 0
    while True:
        for lane in range(n_lanes):
            if does[lane] == _FREE and n_begun < n_bits:
                does[lane], bit_in[lane], iteration[lane] = _BEGINS, n_begun, 0
                n_begun += 1
        group = np.flatnonzero((does == _BEGINS) | (does == _WAITS))[:_GROUP]
        if len(group) < _GROUP and (does == _SEARCHES).any():
            search_on(single, lanes)
            continue
        if len(group) == 0:
            return
        take_solutions(lanes, group, wide)
        for k, lane in enumerate(group):
            if does[lane] == _BEGINS:
                wide[:, k] = weights[bit_in[lane]]
        to_bits(wide, sums)
        onto_rows(Z, wide, tall)
        to_bits(tall, ahead)
        for k, lane in enumerate(group):
            bit = bit_in[lane]
            if does[lane] == _BEGINS:
                objective[lane], total = begin_at(
                    weights[bit], decisions[lane], ahead[k], targets[bit], loss, slope[k], curvature[k]
                )
                limit[lane] = tol * min(1.0, total)
                continue
            objective[lane], has_moved = move(
                weights[bit], decisions[lane], sums[k], ahead[k], gradient[lane], targets[bit],
                objective[lane], loss, slope[k], curvature[k], kept,
            )  # fmt: skip
            if not has_moved:  # nor would it the next time
                done[bit], does[lane] = False, _FREE
        to_lanes(slope, tall)
        multiply(Z.by_column, tall, _GROUP, wide)
        to_bits(wide, sums)
        for k, lane in enumerate(group):
            if does[lane] == _FREE:
                continue
            bit = bit_in[lane]
            from_middle(sums[k], middle, gradient[lane])
            done[bit] = add_penalty(gradient[lane], weights[bit]) <= limit[lane]
            does[lane] = _FREE if done[bit] or iteration[lane] == max_iter else _SEARCHES
            iteration[lane] += 1
        to_lanes(curvature, tall)
        multiply(squares, tall, _GROUP, wide)
        to_bits(wide, sums)
        begin_to_search(lanes, group, tall, sums, middle, gradient, limit)


# Within the kernel, the losses would be added up one by one; within these two, several are at once.


@helper
def begin_at(
    at: Floats,
    decisions: Floats,
    there: Floats,
    targets: Floats,
    loss: Floats,
    slope: Floats,
    curvature: Floats,
) -> tuple[float, float]:
    """Let a bit begin where it decides what is `there`."""
    decisions[:] = there
    return begin(at, decisions, targets, loss, slope, curvature)


@helper
def move(
    at: Floats,
    decisions: Floats,
    direction: Floats,
    ahead: Floats,
    gradient: Floats,
    targets: Floats,
    objective: float,
    loss: Floats,
    slope: Floats,
    curvature: Floats,
    kept: Floats,
) -> tuple[float, bool]:
    """Go along a bit's direction; where nothing is gained, its weights stay."""
    kept[:] = at
    objective, has_moved = go_ahead(
        at, decisions, direction, ahead, gradient, targets, objective, loss, slope, curvature
    )
    if not has_moved:
        at[:] = kept
    return objective, has_moved


@inline_sums
def from_middle(sums: Floats, middle: Floats, out: Floats) -> None:
    """Write sums of rows as if these were seen from their middle; the last is that of their weights."""
    total = sums[len(sums) - 1]
    for i in range(len(sums)):
        out[i] = sums[i] - total * middle[i]


@helper
def to_bits(lanes: Floats, out: Floats) -> None:
    """Write what is in lanes of a group bit by bit."""
    for i in range(len(lanes)):
        for k in range(_GROUP):
            out[k, i] = lanes[i, k]


@helper
def to_lanes(bits: Floats, out: Floats) -> None:
    """Write what there is of bits into lanes of a group."""
    for i in range(len(out)):
        for k in range(_GROUP):
            out[i, k] = bits[k, i]


@helper
def take_solutions(lanes: Lanes, group: Longs, out: Floats) -> None:
    """Write the directions that were found in some lanes."""
    for i in range(len(out)):
        for k in range(len(group)):
            out[i, k] = lanes.vectors[i, _SOLUTION + group[k]]


@helper
def shorter(matrix: Csr) -> Csr:
    """Return a matrix of half as long numbers."""
    return Csr(matrix.data.astype(np.float32), matrix.indices, matrix.indptr)


@helper
def squared(columns: Csr, middle: Floats) -> Floats:
    """Return (z − m)² − m² of each cell z and its column's middle m."""
    squares = np.empty_like(columns.data)
    for column in range(len(middle)):
        for k in range(columns.indptr[column], columns.indptr[column + 1]):
            squares[k] = columns.data[k] * (columns.data[k] - 2.0 * middle[column])
    return squares


@helper
def make_lanes(n: int, width: int, like: Floats) -> Floats:
    """Return zeros whose rows begin where lines of the cache do: reading across their ends takes longer."""
    size = like.itemsize
    flat = np.zeros(n * width + _LINE // size, like.dtype)
    first = -flat.ctypes.data % _LINE // size
    return flat[first : first + n * width].reshape(n, width)


@helper
def multiply(matrix: Csr, lanes: Floats, n_lanes: int, out: Floats) -> None:
    """Write matrix @ lanes, of some of the first lanes, no fewer than are asked for."""
    data, indices, indptr = matrix
    for row in range(len(indptr) - 1):
        if n_lanes <= _GROUP:
            _sum_in_group(data, indices, indptr[row], indptr[row + 1], lanes, out, row)
        else:
            _sum_in_lanes(data, indices, indptr[row], indptr[row + 1], lanes, out, row)


@helper
def onto_rows(Z: SparseRows, weights: Floats, out: Floats) -> None:
    """Write what weights decide on rows; that of the intercept is changed."""
    last = len(weights) - 1
    for i in range(last):
        for k in range(_GROUP):
            weights[last, k] -= Z.middle[i] * weights[i, k]
    multiply(Z.by_row, weights, _GROUP, out)


@helper
def begin_to_search(
    lanes: Lanes,
    group: Longs,
    curvature: Floats,
    squares: Floats,
    middle: Floats,
    gradient: Floats,
    limit: Floats,
) -> None:
    """Let lanes search for a direction; `squares` are sums of curvature · ((z − m)² − m²) of each column."""
    vectors, rows, numbers, end, _, steps = lanes
    width = len(vectors)
    for k, lane in enumerate(group):
        damping = float(damp(gradient[lane, -1], squares[k, -1]))
        length, power, shift = invert(squares[k], middle, gradient[lane], damping)
        end[lane], steps[lane] = when_to_end(length, limit[lane]), 0
        numbers[0, _DAMPING + lane] = damping
        numbers[0, _POWER + lane], numbers[0, _SHIFT + lane] = power, shift
    for i in range(width):
        for k in range(len(group)):
            lane = group[k]
            residual, inverse = -gradient[lane, i], squares[k, i]
            vectors[i, _SOLUTION + lane] = 0.0
            vectors[i, _INVERSE + lane] = inverse
            vectors[i, _RESIDUAL + lane] = residual
            vectors[i, _SEARCH + lane] = residual * inverse
    for row in range(len(rows)):
        for k in range(len(group)):
            rows[row, _CURVATURE + group[k]] = curvature[row, k]


@inline_sums
def invert(squares: Floats, middle: Floats, gradient: Floats, damping: float) -> tuple[float, float, float]:
    """Write the inverse of the diagonal over the squares.

    Returns the products of the gradient g with itself and with d, and of −d with the middle: d is the inverse
    times g.
    """
    last = len(squares) - 1
    total = squares[last]
    for i in range(last):
        squares[i] = 1.0 / (1.0 + max(squares[i] + middle[i] * middle[i] * total, 0.0))
    squares[last] = 1.0 / (total + damping)
    length, power, shift = 0.0, 0.0, 0.0
    for i in range(last + 1):
        square = gradient[i] * gradient[i]
        length += square
        power += square * squares[i]
        shift -= gradient[i] * squares[i] * middle[i]
    return length, power, shift


@helper
def search_on(Z: SparseRows, lanes: Lanes) -> None:
    """Take a step of conjugate gradients in all lanes; those that come to their end wait."""
    vectors, rows, numbers, end, does, steps = lanes
    is_going = does == _SEARCHES
    multiply(Z.by_row, vectors, len(does), rows)
    add_curvature(rows, numbers, len(does))
    multiply(Z.by_column, rows, len(does), vectors[:, _CURVED:])
    step(vectors, numbers, Z.middle, is_going)
    for lane in np.flatnonzero(is_going):
        steps[lane] += 1
        if numbers[0, _LEFT + lane] <= end[lane] or steps[lane] == STEPS:
            does[lane] = _WAITS


@inline_sums
def add_curvature(rows: Floats, numbers: Floats, n_lanes: int) -> None:
    """Multiply what the directions decide on rows by the curvature there."""
    for row in range(len(rows)):
        for lane in range(n_lanes):
            ahead = rows[row, _AHEAD + lane] - numbers[0, _SHIFT + lane]
            rows[row, _AHEAD + lane] = ahead * rows[row, _CURVATURE + lane]


@inline_sums
def step(vectors: Floats, numbers: Floats, middle: Floats, is_going: Bools) -> None:
    """Take a step by the curved directions; where nothing goes on, the solution stays."""
    last, n_lanes, zero = len(vectors) - 1, len(is_going), np.float32(0.0)
    for lane in range(n_lanes):
        search, curved = vectors[last, _SEARCH + lane], vectors[last, _CURVED + lane]
        numbers[0, _SHIFT + lane] = curved
        curved += (numbers[0, _DAMPING + lane] - 1) * search  # the 1 is added below
        vectors[last, _CURVED + lane], numbers[0, _SIZE + lane] = curved, 0.0
    for i in range(last + 1):
        for lane in range(n_lanes):
            search = vectors[i, _SEARCH + lane]
            curved = vectors[i, _CURVED + lane] + search - middle[i] * numbers[0, _SHIFT + lane]
            vectors[i, _CURVED + lane] = curved
            numbers[0, _SIZE + lane] += curved * search
    for lane in range(n_lanes):
        size = numbers[0, _POWER + lane] / numbers[0, _SIZE + lane]
        numbers[0, _SIZE + lane] = size if is_going[lane] else zero
        numbers[0, _LEFT + lane], numbers[0, _RATIO + lane] = 0.0, 0.0
    for i in range(last + 1):
        for lane in range(n_lanes):
            left = vectors[i, _RESIDUAL + lane] - numbers[0, _SIZE + lane] * vectors[i, _CURVED + lane]
            vectors[i, _RESIDUAL + lane] = left
            numbers[0, _LEFT + lane] += left * left
            numbers[0, _RATIO + lane] += left * left * vectors[i, _INVERSE + lane]
    for lane in range(n_lanes):
        power = numbers[0, _RATIO + lane]
        numbers[0, _RATIO + lane] = power / numbers[0, _POWER + lane] if is_going[lane] else zero
        numbers[0, _POWER + lane], numbers[0, _SHIFT + lane] = power, 0.0
    for i in range(last + 1):
        for lane in range(n_lanes):
            search = vectors[i, _SEARCH + lane]
            vectors[i, _SOLUTION + lane] += numbers[0, _SIZE + lane] * search
            again = vectors[i, _RESIDUAL + lane] * vectors[i, _INVERSE + lane]
            search = again + numbers[0, _RATIO + lane] * search
            vectors[i, _SEARCH + lane] = search
            numbers[0, _SHIFT + lane] += middle[i] * search
