"""SplitMix64: a tiny random generator whose whole state is one word, so that each bit owns its stream."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import Bools, Ints, Words, helper, kernel

_FEW = 16  # if less than one row of so many is drawn, the others are not written down
_EMPTY = -1


@helper
def next_state(state: np.uint64) -> np.uint64:
    """Advance the stream."""
    return state + np.uint64(0x9E3779B97F4A7C15)


@helper
def output(state: np.uint64) -> np.uint64:
    """Return the 64 random bits that belong to a state."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@helper
def below(state: np.uint64, n: int) -> int:
    """Return a number in 0 … n−1 (n < 2³¹; no number is favoured by more than n/2³²)."""
    return int(np.int64(((output(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32)))


@helper
def shuffle_prefix(items: Ints, n_first: int, state: np.uint64) -> np.uint64:
    """Move a random sample of `items` to its first places (Fisher and Yates); return the new state."""
    n = items.shape[0]
    for i in range(min(n_first, n - 1)):
        state = next_state(state)
        j = i + below(state, n - i)
        items[i], items[j] = items[j], items[i]
    return state


def draw_rows(n_rows: int, n_drawn: int, seed: np.uint64) -> Ints:
    """Draw rows of a bit without replacement; all of them, in order, if `n_drawn` is their number."""
    if n_drawn * _FEW < n_rows:
        n_bits = max(2, (2 * n_drawn - 1).bit_length())
        drawn = np.empty(n_drawn, np.int32)
        places, items = np.full(1 << n_bits, _EMPTY, np.int32), np.empty(1 << n_bits, np.int32)
        draw_few(n_rows, ~seed, np.uint64(64 - n_bits), places, items, drawn)
        return drawn
    rows = np.empty(n_rows, np.int32)
    draw_many(rows, n_drawn, seed)
    return rows[:n_drawn]


@kernel
def draw_many(rows: Ints, n_drawn: int, seed: np.uint64) -> None:
    """Do as `draw_to_front`, for Python."""
    draw_to_front(rows, n_drawn, seed)


@helper
def draw_to_front(rows: Ints, n_drawn: int, seed: np.uint64) -> None:
    """Write all rows, those that a bit draws in front."""
    for i in range(rows.shape[0]):
        rows[i] = i
    if n_drawn < rows.shape[0]:
        # A stream of its own, so that the rows do not depend on anything else the bit draws.
        shuffle_prefix(rows, n_drawn, ~seed)


@kernel
def draw_few(n_rows: int, state: np.uint64, shift: np.uint64, places: Ints, items: Ints, drawn: Ints) -> None:
    """Write the first items of 0 … n−1 after `shuffle_prefix`, in memory for those alone.

    What was moved to a place is looked up in a table, of at least twice as many slots as items are drawn: a
    power of two, of which `shift` leaves the bits of 64.
    """
    last_slot = places.shape[0] - 1
    for i in range(drawn.shape[0]):
        state = next_state(state)
        j = i + below(state, n_rows - i)
        own = slot_of(i, places, last_slot, shift)
        item = items[own] if places[own] == i else i
        slot = slot_of(j, places, last_slot, shift)
        drawn[i] = items[slot] if places[slot] == j else j
        places[slot], items[slot] = j, item


@helper
def slot_of(place: int, places: Ints, last_slot: int, shift: np.uint64) -> int:
    """Return the slot of a place, or the free one where it belongs."""
    slot = np.int64((np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
    while places[slot] != _EMPTY and places[slot] != place:
        slot = np.int64((slot + 1) & last_slot)
    return int(slot)


def write_out_of_bag(n_rows: int, n_drawn: int, seeds: Words, place: Ints, out: Bools) -> None:
    """Write to ``out[place[i], b]`` whether bit b does not draw row i; place −1 stands for no matter."""
    out[:] = True
    if n_drawn * _FEW >= n_rows:
        clear_drawn(n_drawn, seeds, place, np.empty(n_rows, np.int32), out)
        return
    for bit, seed in enumerate(seeds):
        drawn = place[draw_rows(n_rows, n_drawn, seed)]
        out[drawn[drawn >= 0], bit] = False


@kernel
def clear_drawn(n_drawn: int, seeds: Words, place: Ints, rows: Ints, out: Bools) -> None:
    """Write False to ``out[place[i], b]`` if bit b draws row i."""
    for bit in range(seeds.shape[0]):
        draw_to_front(rows, n_drawn, seeds[bit])
        for i in range(n_drawn):
            if place[rows[i]] >= 0:
                out[place[rows[i]], bit] = False
