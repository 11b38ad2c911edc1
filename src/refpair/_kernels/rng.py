"""SplitMix64: a tiny random generator whose whole state is one word, so that each bit owns its stream."""

import numba
import numpy as np


@numba.njit
def next_state(state):
    """Advance the stream."""
    return state + np.uint64(0x9E3779B97F4A7C15)


@numba.njit
def output(state):
    """Return the 64 random bits that belong to a state."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit
def below(state, n):
    """Return a number in 0 … n−1 (n < 2³¹; the bias of the remainder is below n/2³²)."""
    return np.int64(((output(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def shuffle_prefix(items, n_first, state):
    """Move a random sample of `items` to its first `n_first` places (Fisher and Yates); return the new state."""
    n = items.shape[0]
    for i in range(min(n_first, n - 1)):
        state = next_state(state)
        j = i + below(state, n - i)
        items[i], items[j] = items[j], items[i]
    return state


@numba.njit(cache=True, nogil=True)
def draw_rows(n_rows, n_drawn, seed):
    """Draw rows of a bit without replacement; all of them, in order, if `n_drawn` is their number."""
    rows = np.arange(n_rows).astype(np.int32)
    if n_drawn < n_rows:
        # A stream of its own, so that the rows do not depend on anything else the bit draws.
        shuffle_prefix(rows, n_drawn, ~seed)
    return rows[:n_drawn]
