"""SplitMix64: a tiny random generator whose whole state is one word, so that each bit owns its stream."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Ints


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


@kernel
def shuffle_prefix(items: Ints, n_first: int, state: np.uint64) -> np.uint64:
    """Move a random sample of `items` to its first `n_first` places (Fisher and Yates).

    Returns the new state.
    """
    n = items.shape[0]
    for i in range(min(n_first, n - 1)):
        state = next_state(state)
        j = i + below(state, n - i)
        items[i], items[j] = items[j], items[i]
    return state


@kernel
def draw_rows(n_rows: int, n_drawn: int, seed: np.uint64) -> Ints:
    """Draw rows of a bit without replacement; all of them, in order, if `n_drawn` is their number."""
    rows = np.empty(n_rows, np.int32)
    for i in range(n_rows):
        rows[i] = i
    if n_drawn < n_rows:
        # A stream of its own, so that the rows do not depend on anything else the bit draws.
        shuffle_prefix(rows, n_drawn, ~seed)
    return rows[:n_drawn]
