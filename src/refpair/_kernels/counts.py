"""How many of independent events happen: of those before a place in a list, at each of several places."""

from __future__ import annotations

import numpy as np

from refpair._kernels.jit import Floats, Longs, kernel


@kernel
def count_chances(p: Floats, copies: Floats, places: Longs, out: Floats) -> None:
    """Write to ``out[i, a]`` the probability that a of the events before ``places[i]`` happen.

    Event j, of probability ``p[j]``, is there ``copies[j]`` times: a part of a copy is a copy of so much less
    probability. Places ascend. The last column is for as many and more.
    """
    largest = out.shape[1] - 1
    chances = np.zeros(largest + 1)
    chances[0] = 1.0
    place = 0
    for j in range(p.shape[0] + 1):
        while place < places.shape[0] and places[place] == j:
            out[place] = chances
            place += 1
        if j == p.shape[0] or place == places.shape[0]:
            break
        left = copies[j]
        while left > 0.0:
            chance = p[j] * min(left, 1.0)
            left -= 1.0
            chances[largest] += chances[largest - 1] * chance
            for a in range(largest - 1, 0, -1):
                chances[a] = chances[a] * (1.0 - chance) + chances[a - 1] * chance
            chances[0] *= 1.0 - chance
