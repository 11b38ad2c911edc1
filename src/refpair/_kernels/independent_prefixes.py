"""Independent labels: the likeliest ones, as many as cost least.

If labels are independent, tp and fn are too, each a count of independent labels, for which a recursion over
the labels gives the probabilities. If moreover a cost never rises with tp for given |y| and |z|, then the
best set of m labels is that of the m likeliest: to exchange a label for a likelier one changes tp only where
exactly one of the two is there, and this is more often the likelier one.
"""

from __future__ import annotations

import numpy as np

from refpair._kernels.f_measure import sort_slots
from refpair._kernels.jit import helper, kernel
from refpair._kernels.types import Bytes, Floats, Longs

__all__ = ["best_prefixes_of_independent"]

TAIL = 1e-17  # counts with a smaller probability are left out


@helper
def add_label(before: Floats, chance: float, after: Floats) -> None:
    """Find the probabilities of the counts with one more label; counts past the end of the array are lost."""
    for s in range(before.shape[0] - 1, 0, -1):
        after[s] = before[s] * (1.0 - chance) + before[s - 1] * chance
    after[0] = before[0] * (1.0 - chance)


@kernel
def best_prefixes_of_independent(marginals: Floats, first_cell: Longs, table: Floats, slack: float) -> Bytes:
    """Return, of the sets of a row's 0, 1, 2, … likeliest labels, the smallest of least expected cost.

    The table is that of ``expected.py``, with ``first_cell[s]`` for the truths of size s; sizes that it
    leaves out must be as good as impossible. Expected costs that differ by no more than the slack are the
    same.
    """
    n, n_labels = marginals.shape
    out = np.zeros((n, n_labels), np.uint8)
    n_counts = first_cell.shape[0]
    hits = np.empty(n_counts)
    misses = np.empty((n_labels + 1, n_counts))
    for i in range(n):
        order = np.arange(n_labels)
        sort_slots(order, marginals[i])
        misses[n_labels] = 0.0
        misses[n_labels, 0] = 1.0
        for m in range(n_labels - 1, -1, -1):
            add_label(misses[m + 1], marginals[i, order[m]], misses[m])
        hits[:] = 0.0
        hits[0] = 1.0
        best, least = 0, np.inf
        for m in range(min(n_labels + 1, table.shape[0])):
            if m > 0:
                add_label(hits, marginals[i, order[m - 1]], hits)
            low, high = 0, n_counts - 1
            while low < high and misses[m, low] < TAIL:
                low += 1
            while high > low and misses[m, high] < TAIL:
                high -= 1
            cost = 0.0
            for tp in range(min(m + 1, n_counts)):
                if hits[tp] < TAIL:
                    continue
                part = 0.0
                for fn in range(low, min(high + 1, n_counts - tp)):
                    part += misses[m, fn] * table[m, first_cell[tp + fn] + tp]
                cost += hits[tp] * part
            if cost < least - slack:
                best, least = m, cost
        out[i, order[:best]] = 1
    return out
