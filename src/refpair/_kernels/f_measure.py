"""The label set of largest expected F-beta (the general F-measure maximiser).

F-beta is (1 + β²) tp / (|z| + β²|y|). With P[s, k] = P(y_k = 1, |y| = s), a label k adds to a set of m labels

    score_k(m) = Σ_s (1 + β²) P[s, k] / (m + β² s)

whatever the others are, so the best set of m labels is that of the m largest scores. Not every m has to be
tried: a score at m bounds it at any other m', since (m + β² s) / (m' + β² s) is monotone in s, and the sums
of the largest scores at m then bound the value of every m'. The m of largest bound is tried next until no
bound is above the best value.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from refpair._kernels.jit import ONE, ZERO, Bytes, Floats, Ints, Longs, helper, kernel

# start, index, weight, label_start, label_index: row i puts ``weight[j]`` on the vector ``index[j]``, j from
# ``start[i]`` to ``start[i + 1]``, and vector v has the labels ``label_index[label_start[v]]`` and so on.
Entries: TypeAlias = tuple[Longs, Ints, Floats, Longs, Ints]

SLACK = 1e-12  # values that differ by less are the same but for rounding; the smaller set is taken
TAIL = 1e-17  # sizes with a smaller probability are left out


class SetWork(NamedTuple):
    """Scratch memory of one call, so that a kernel need not allocate it: that takes long to compile."""

    sizes: Longs  # (n_labels + 1,): those of the labels that can be, rising
    of_size: Floats  # (n_labels + 1,): P(|y| = s) of these sizes
    active: Longs  # (n_labels,): the labels that occur, which are the slots
    order: Longs  # (n_labels,): of the slots by their scores
    scores: Floats  # (n_labels,)
    bound: Floats  # (n_labels + 1,)
    counts: Floats  # (n_labels + 1,)
    places: Longs  # (n_labels + 1,)
    slot_of: Longs  # (n_labels,)


def make_work(n_labels: int) -> SetWork:
    """Allocate what one call needs."""
    longs = [np.empty(n_labels + 1, np.int64) for _ in range(5)]
    floats = [np.empty(n_labels + 1) for _ in range(4)]
    return SetWork(
        longs[0], floats[0], longs[1], longs[2], floats[1], floats[2], floats[3], longs[3], longs[4]
    )


@helper
def insert_slots(order: Longs, n: int, scores: Floats, gap: int) -> None:
    """Sort n slots that are a gap apart by falling score, ties by slot: quick on what is nearly in order."""
    for i in range(gap, n):
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
def sort_slots(order: Longs, n: int, scores: Floats) -> None:
    """Sort n slots by falling score, ties by slot (Shell's way)."""
    gap = ONE
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        insert_slots(order, n, scores, gap)
        gap //= 3


@helper
def score_slots(joint: Floats, sizes: Longs, square: float, m: int, scores: Floats) -> None:
    """Find the scores of the labels in a set of m."""
    n_sizes, n_slots = joint.shape
    for slot in range(n_slots):
        scores[slot] = 0.0
    for s in range(n_sizes):
        share = (1.0 + square) / (m + square * sizes[s])
        row = joint[s]
        for slot in range(n_slots):
            scores[slot] += share * row[slot]


@helper
def best_size(joint: Floats, empty: float, square: float, work: SetWork) -> int:
    """Return the size of the best set, whose labels then are the first in the order.

    joint is P[s, k] for the sizes > 0, which rise, and the labels that occur; empty is P(|y| = 0).
    """
    sizes, of_size, order, scores, bound = work.sizes, work.of_size, work.order, work.scores, work.bound
    n_sizes, n_slots = joint.shape
    for m in range(1, n_slots + 1):
        bound[m] = 0.0
        for s in range(n_sizes):
            at_most = m if m < sizes[s] else sizes[s]
            bound[m] += of_size[s] * (1.0 + square) * at_most / (m + square * sizes[s])
    best, value, last = ZERO, empty, ZERO
    least, most = square * sizes[0], square * sizes[n_sizes - 1]  # sizes rise
    while True:
        m = ONE
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
            sort_slots(order, n_slots, scores)
        else:  # by the scores at another m, which have nearly the same order
            insert_slots(order, n_slots, scores, ONE)
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
                reached = total * (at + m) / (at + other)
                if reached < bound[other]:
                    bound[other] = reached
    if best != last and best > 0:
        score_slots(joint, sizes, square, best, scores)
        insert_slots(order, n_slots, scores, ONE)
    return best


def best_sets(entries: Entries, n_labels: int, square: float) -> Bytes:
    """Return the labels (n, n_labels) of largest expected F-beta; square is β²."""
    out = np.zeros((len(entries[0]) - 1, n_labels), np.uint8)
    write_best_sets(entries, square, make_work(n_labels), out)
    return out


@kernel
def write_best_sets(entries: Entries, square: float, work: SetWork, out: Bytes) -> None:
    """Write the labels of `best_sets`, where `out` is 0."""
    start, index, weight, label_start, label_index = entries
    sizes, chances, active, order, of_size = work.sizes, work.of_size, work.active, work.order, work.counts
    row_of_size, slot_of = work.places, work.slot_of
    n, n_labels = out.shape
    for i in range(n):
        for s in range(n_labels + 1):
            of_size[s] = 0.0
        for k in range(n_labels):
            slot_of[k] = 0
        for j in range(start[i], start[i + 1]):
            if weight[j] == 0.0:
                continue  # its size may be that of no other vector, and then has no row in the matrix below
            first, end = label_start[index[j]], label_start[index[j] + 1]
            of_size[end - first] += weight[j]
            for a in range(first, end):
                slot_of[label_index[a]] = 1
        n_sizes, n_active = ZERO, ZERO
        for s in range(1, n_labels + 1):
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
        joint = np.empty((n_sizes, n_active), np.float64)
        for s in range(n_sizes):
            for slot in range(n_active):
                joint[s, slot] = 0.0
        for j in range(start[i], start[i + 1]):
            if weight[j] == 0.0:
                continue
            first, end = label_start[index[j]], label_start[index[j] + 1]
            s = row_of_size[end - first]
            for a in range(first, end):
                joint[s, slot_of[label_index[a]]] += weight[j]
        for place in range(best_size(joint, of_size[0], square, work)):
            out[i, active[order[place]]] = 1


@helper
def count_labels(chances: Floats, n: int, counts: Floats) -> None:
    """Write the probabilities of 0, 1, …, n of the independent events to happen."""
    for s in range(1, n + 1):
        counts[s] = 0.0
    counts[0] = 1.0
    for k in range(n):
        for s in range(k + 1, 0, -1):
            counts[s] = counts[s] * (1.0 - chances[k]) + counts[s - 1] * chances[k]
        counts[0] *= 1.0 - chances[k]


@helper
def leave_out(counts: Floats, low: int, chance: float, joint: Floats, slot: int) -> None:
    """Fill in P(label k, |y| = s) for the sizes s from low on, given P(|y| = s) and the chance of the label.

    The label is divided out of the counts, from below if it is rather absent and from above if it is rather
    present: so no error grows from one size to the next.
    """
    n_sizes = joint.shape[0]
    others = 0.0  # the probability that the other labels number one less than the size at hand
    if chance <= 0.5:
        if low == 1:
            others = counts[0] / (1.0 - chance)
        for s in range(n_sizes):
            joint[s, slot] = chance * others
            others = (counts[low + s] - chance * others) / (1.0 - chance)
            others = others if others > 0.0 else 0.0
    else:
        for s in range(n_sizes - 1, -1, -1):
            others = (counts[low + s] - (1.0 - chance) * others) / chance
            others = others if others > 0.0 else 0.0
            joint[s, slot] = chance * others


def best_sets_of_independent(marginals: Floats, square: float) -> Bytes:
    """Return the labels (n, n_labels) of largest expected F-beta if labels are independent; square is β²."""
    out = np.zeros(marginals.shape, np.uint8)
    write_best_sets_of_independent(marginals, square, make_work(marginals.shape[1]), out)
    return out


@kernel
def write_best_sets_of_independent(marginals: Floats, square: float, work: SetWork, out: Bytes) -> None:
    """Write the labels of `best_sets_of_independent`, where `out` is 0."""
    active, order, counts, of_size, chances = work.active, work.order, work.counts, work.of_size, work.scores
    for i in range(marginals.shape[0]):
        n_active = ZERO
        for k in range(marginals.shape[1]):
            if marginals[i, k] != 0.0:
                active[n_active], chances[n_active], order[n_active] = k, marginals[i, k], n_active
                n_active += 1
        if n_active == 0:
            continue
        count_labels(chances, n_active, counts)
        low, high = ONE, n_active
        while low < high and counts[low] + counts[low - 1] < TAIL:
            low += 1
        while high > low and counts[high] < TAIL:
            high -= 1
        n_sizes = high - low + 1
        joint = np.empty((n_sizes, n_active), np.float64)
        for slot in range(n_active):
            leave_out(counts, low, chances[slot], joint, slot)
        for s in range(n_sizes):
            work.sizes[s], of_size[s] = low + s, counts[low + s]
        for place in range(best_size(joint, counts[0], square, work)):
            out[i, active[order[place]]] = 1
