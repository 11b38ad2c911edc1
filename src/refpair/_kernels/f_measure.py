"""The label set of largest expected F-beta (the general F-measure maximiser).

F-beta is (1 + β²) tp / (|z| + β²|y|). With P[s, k] = P(y_k = 1, |y| = s), a label k adds to a set of m labels

    score_k(m) = Σ_s (1 + β²) P[s, k] / (m + β² s)

whatever the others are, so the best set of m labels is that of the m largest scores. Not every m has to be
tried: a score at m bounds it at any other m', since (m + β² s) / (m' + β² s) is monotone in s, and the sums
of the largest scores at m then bound the value of every m'. The m of largest bound is tried next until no
bound is above the best value.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from refpair._kernels.jit import Bytes, Floats, Ints, Longs, helper, kernel

# start, index, weight, label_start, label_index: row i puts ``weight[j]`` on the vector ``index[j]``, j from
# ``start[i]`` to ``start[i + 1]``, and vector v has the labels ``label_index[label_start[v]]`` and so on.
Entries: TypeAlias = tuple[Longs, Ints, Floats, Longs, Ints]

SLACK = 1e-12  # values that differ by less are the same but for rounding; the smaller set is taken
TAIL = 1e-17  # sizes with a smaller probability are left out


@helper
def insert_slots(order: Longs, scores: Floats, gap: int) -> None:
    """Sort slots that are a gap apart by falling score, ties by slot: quick on what is nearly in order."""
    for i in range(gap, order.shape[0]):
        slot = order[i]
        score = scores[slot]
        j = i
        while j >= gap:
            other = order[j - gap]
            if scores[other] > score or (scores[other] == score and other < slot):
                break
            order[j] = other
            j -= gap
        order[j] = slot


@helper
def sort_slots(order: Longs, scores: Floats) -> None:
    """Sort slots by falling score, ties by slot (Shell's way)."""
    gap = 1
    while gap < order.shape[0] // 3:
        gap = 3 * gap + 1
    while gap > 0:
        insert_slots(order, scores, gap)
        gap //= 3


@helper
def score_slots(joint: Floats, sizes: Longs, square: float, m: int, scores: Floats) -> None:
    """Find the scores of the labels in a set of m."""
    scores[:] = 0.0
    for s in range(sizes.shape[0]):
        share = (1.0 + square) / (m + square * sizes[s])
        row = joint[s]
        for slot in range(scores.shape[0]):
            scores[slot] += share * row[slot]


@helper
def best_size(joint: Floats, sizes: Longs, of_size: Floats, empty: float, square: float, order: Longs) -> int:
    """Return the size of the best set, whose labels then are the first in the order.

    joint is P[s, k] for the sizes > 0, which rise, and the labels that occur; of_size is P(|y| = s) for the
    same sizes, empty is P(|y| = 0).
    """
    n_slots = order.shape[0]
    scores = np.empty(n_slots)
    bound = np.zeros(n_slots + 1)
    for m in range(1, n_slots + 1):
        for s in range(sizes.shape[0]):
            bound[m] += of_size[s] * (1.0 + square) * min(m, sizes[s]) / (m + square * sizes[s])
    best, value, last = 0, empty, 0
    least, most = square * sizes[0], square * sizes[sizes.shape[0] - 1]  # sizes rise
    while True:
        m = 1
        for other in range(2, n_slots + 1):
            if bound[other] > bound[m]:
                m = other
        # Past the slack only a smaller set is of interest, and bounds of larger sets are out of the way.
        if bound[m] <= value - SLACK:
            break
        if m > best and bound[m] <= value + SLACK:
            bound[m] = -1.0
            continue
        score_slots(joint, sizes, square, m, scores)
        if last == 0:
            sort_slots(order, scores)
        else:  # by the scores at another m, which have nearly the same order
            insert_slots(order, scores, 1)
        last = m
        total = 0.0
        for other in range(1, n_slots + 1):
            total += scores[order[other - 1]]
            if other == m:
                if total > value + SLACK or (total > value - SLACK and m < best):
                    best, value = m, total
                bound[m] = -1.0
            else:
                at = most if other > m else least
                bound[other] = min(bound[other], total * (at + m) / (at + other))
    if best != last and best > 0:
        score_slots(joint, sizes, square, best, scores)
        insert_slots(order, scores, 1)
    return best


@kernel
def best_sets(entries: Entries, n_labels: int, square: float) -> Bytes:
    """Return the labels (n, n_labels) of largest expected F-beta; square is β²."""
    start, index, weight, label_start, label_index = entries
    n = start.shape[0] - 1
    out = np.zeros((n, n_labels), np.uint8)
    largest = 0
    for v in range(label_start.shape[0] - 1):
        largest = max(largest, label_start[v + 1] - label_start[v])
    # Loops instead of numpy's functions on arrays, which take ten seconds to compile.
    of_size, chances = np.zeros(largest + 1), np.zeros(largest + 1)
    row_of_size, sizes = np.zeros(largest + 1, np.int64), np.zeros(largest + 1, np.int64)
    slot_of, active, order = np.zeros((3, n_labels), np.int64)
    for i in range(n):
        of_size[:] = 0.0
        slot_of[:] = 0
        for j in range(start[i], start[i + 1]):
            if weight[j] == 0.0:
                continue  # its size may be that of no other vector, and then has no row in the matrix below
            first, end = label_start[index[j]], label_start[index[j] + 1]
            of_size[end - first] += weight[j]
            for a in range(first, end):
                slot_of[label_index[a]] = 1
        n_sizes, n_active = 0, 0
        for s in range(1, largest + 1):
            if of_size[s] != 0.0:
                sizes[n_sizes], chances[n_sizes] = s, of_size[s]
                row_of_size[s] = n_sizes
                n_sizes += 1
        for k in range(n_labels):
            if slot_of[k]:
                active[n_active], order[n_active] = k, n_active
                slot_of[k] = n_active
                n_active += 1
        if n_active == 0 or n_sizes == 0:
            continue
        joint = np.zeros((n_sizes, n_active))
        for j in range(start[i], start[i + 1]):
            if weight[j] == 0.0:
                continue
            first, end = label_start[index[j]], label_start[index[j] + 1]
            row = joint[row_of_size[end - first]]
            for a in range(first, end):
                row[slot_of[label_index[a]]] += weight[j]
        size = best_size(joint, sizes[:n_sizes], chances[:n_sizes], of_size[0], square, order[:n_active])
        for place in range(size):
            out[i, active[order[place]]] = 1
    return out


@helper
def count_labels(chances: Floats) -> Floats:
    """Return the probabilities of 0, 1, … of the independent events to happen."""
    counts = np.zeros(chances.shape[0] + 1)
    counts[0] = 1.0
    for k in range(chances.shape[0]):
        for s in range(k + 1, 0, -1):
            counts[s] = counts[s] * (1.0 - chances[k]) + counts[s - 1] * chances[k]
        counts[0] *= 1.0 - chances[k]
    return counts


@helper
def leave_out(counts: Floats, low: int, chance: float, column: Floats) -> None:
    """Fill in P(label k, |y| = s) for the sizes s from low on, given P(|y| = s) and the chance of the label.

    The label is divided out of the counts, from below if it is rather absent and from above if it is rather
    present: so no error grows from one size to the next.
    """
    others = 0.0  # the probability that the other labels number one less than the size at hand
    if chance <= 0.5:
        if low == 1:
            others = counts[0] / (1.0 - chance)
        for s in range(column.shape[0]):
            column[s] = chance * others
            others = max(0.0, (counts[low + s] - chance * others) / (1.0 - chance))
    else:
        for s in range(column.shape[0] - 1, -1, -1):
            others = max(0.0, (counts[low + s] - (1.0 - chance) * others) / chance)
            column[s] = chance * others


@kernel
def best_sets_of_independent(marginals: Floats, square: float) -> Bytes:
    """Return the labels (n, n_labels) of largest expected F-beta if labels are independent; square is β²."""
    n_labels = marginals.shape[1]
    out = np.zeros((marginals.shape[0], n_labels), np.uint8)
    active, order, sizes = np.zeros((3, n_labels), np.int64)
    chance_of = np.zeros(n_labels)
    for i in range(marginals.shape[0]):
        n_active = 0
        for k in range(n_labels):
            if marginals[i, k] != 0.0:
                active[n_active], chance_of[n_active], order[n_active] = k, marginals[i, k], n_active
                n_active += 1
        if n_active == 0:
            continue
        chances = chance_of[:n_active]
        counts = count_labels(chances)
        low, high = 1, counts.shape[0] - 1
        while low < high and counts[low] + counts[low - 1] < TAIL:
            low += 1
        while high > low and counts[high] < TAIL:
            high -= 1
        n_sizes = high - low + 1
        column, joint = np.empty(n_sizes), np.empty((n_sizes, n_active))
        for slot in range(n_active):
            leave_out(counts, low, chances[slot], column)
            for s in range(n_sizes):
                joint[s, slot] = column[s]
        for s in range(n_sizes):
            sizes[s] = low + s
        size = best_size(joint, sizes[:n_sizes], counts[low : high + 1], counts[0], square, order[:n_active])
        for place in range(size):
            out[i, active[order[place]]] = 1
    return out
