"""Spread samples over folds so that labels and pairs of labels are as frequent in each fold as in all.

Labels and pairs of labels are *items*; a label vector v is the list of its items, from ``items[starts[v]]``
to where the next one starts. What is made small is the sum, over items and folds, of the weight of the item
times the square of how many more samples with the item the fold has than its share. ``excess[i, f]`` is twice
the weight times that number times n: whole numbers, so that ties are ties on every machine.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from refpair._kernels.jit import Bytes, IndexArray, Ints, Longs, Numbers, Words, helper, inline, kernel

# Starts and items of label vectors, and the weights of items.
Lists: TypeAlias = tuple[Longs, Numbers, Longs]

LABEL_WEIGHT = 3  # of a label, where a pair weighs 1
ANY = 2**61


@kernel
def rank_labels(labels: Bytes, order: Longs, words: Words, starts: Longs, ranks: Ints, sums: Words) -> None:
    """Write each row's labels, numbered by their place in an order, and the sum of their words.

    There is room for one label more than there are.
    """
    end = 0
    for row in range(labels.shape[0]):
        total = np.uint64(0)
        for rank in range(order.shape[0]):
            present = labels[row, order[rank]]
            ranks[end] = rank  # the next one is written over it if it is absent: a branch would be slower
            total += present * words[rank]
            end += present
        starts[row + 1], sums[row] = end, total


def list_items(indptr: IndexArray, indices: IndexArray, counts: Longs, n_labels: int, most: int) -> Lists:
    """Return the items of label vectors, labels first, then pairs; labels are numbered by how rare they are.

    Of pairs there are `most` entries at most, those of rare labels. Pairs that one sample has alone are left
    out: wherever it is, folds are as even.
    """
    starts, items = np.zeros(len(indptr), np.int64), np.empty(len(indices) + most, np.uint32)
    n_items = _write_items(
        indptr.astype(np.int64), indices.astype(np.int64), counts, n_labels, most, starts, items
    )
    weights = np.ones(n_items, np.int64)
    weights[:n_labels] = LABEL_WEIGHT
    return starts, items[: starts[-1]].copy(), weights


@kernel
def _write_items(
    indptr: Longs, indices: Longs, counts: Longs, n_labels: int, most: int, starts: Longs, items: Numbers
) -> int:
    """Write where the items of each vector start, and the items; return how many there are."""
    n_vectors = len(indptr) - 1
    label_starts, vectors = _vectors_of_labels(indptr, indices, n_labels)
    in_pairs = np.zeros(n_vectors, np.int64)  # how many labels of a vector are in pairs: its rarest ones
    n_entries, n_paired = 0, 0
    for label in range(n_labels):
        for at in range(label_starts[label], label_starts[label + 1]):
            n_entries += in_pairs[vectors[at]]
        if n_entries > most:
            break
        n_paired += 1
        for at in range(label_starts[label], label_starts[label + 1]):
            in_pairs[vectors[at]] += 1
    for v in range(n_vectors):
        n_own = indptr[v + 1] - indptr[v]
        starts[v + 1] = starts[v] + n_own + in_pairs[v] * (in_pairs[v] - 1) // 2
    ends = starts[:-1].copy()
    for v in range(n_vectors):
        for at in range(indptr[v], indptr[v + 1]):
            items[ends[v]] = indices[at]
            ends[v] += 1
    n_samples = np.zeros(n_labels + starts[-1], np.int64)  # of each pair
    item_with, seen_with = np.empty(n_labels, np.uint32), np.full(n_labels, -1, np.int64)
    n_items = n_labels
    for label in range(n_paired):
        for entry in range(label_starts[label], label_starts[label + 1]):
            v = vectors[entry]
            for at in range(indptr[v], indptr[v + 1]):
                rarer = indices[at]
                if rarer >= label:
                    break
                if seen_with[rarer] != label:
                    seen_with[rarer], item_with[rarer] = label, n_items
                    n_items += 1
                items[ends[v]] = item_with[rarer]
                n_samples[item_with[rarer]] += counts[v]
                ends[v] += 1
    return drop_lone_pairs(starts, items, n_samples[:n_items], n_labels)


@helper
def drop_lone_pairs(starts: Longs, items: Numbers, n_samples: Longs, n_labels: int) -> int:
    """Take the pairs of one sample out of the lists, and return how many items are left."""
    number, n_items = np.full(len(n_samples), -1, np.int32), 0
    for i in range(len(n_samples)):
        if i < n_labels or n_samples[i] > 1:
            number[i] = n_items
            n_items += 1
    end, at = 0, 0
    for v in range(len(starts) - 1):
        while at < starts[v + 1]:
            new = number[items[at]]
            if new >= 0:
                items[end] = new
                end += 1
            at += 1
        starts[v + 1] = end
    return n_items


@helper
def _vectors_of_labels(indptr: Longs, indices: Longs, n_labels: int) -> tuple[Longs, Ints]:
    """Return where the vectors of each label start, and the vectors."""
    starts = np.zeros(n_labels + 2, np.int64)
    for at in range(len(indices)):
        starts[indices[at] + 2] += 1
    for label in range(2, n_labels + 2):
        starts[label] += starts[label - 1]
    vectors = np.empty(len(indices), np.int32)
    for v in range(len(indptr) - 1):
        for at in range(indptr[v], indptr[v + 1]):
            vectors[starts[indices[at] + 1]] = v
            starts[indices[at] + 1] += 1
    return starts[:-1], vectors


@kernel
def count_excess(lists: Lists, vectors: Longs, in_folds: Longs, sizes: Longs) -> Longs:
    """Return the excess of folds that have ``in_folds[j]`` samples of the j-th vector, and no others."""
    (starts, items, weights), n_folds, n = lists, len(sizes), sizes.sum()
    excess = np.zeros((len(weights), n_folds), np.int64)
    for j, v in enumerate(vectors):
        in_all = in_folds[j].sum()
        for at in range(starts[v], starts[v + 1]):
            i = items[at]
            for f in range(n_folds):
                excess[i, f] += 2 * weights[i] * (n * in_folds[j, f] - in_all * sizes[f])
    return excess


@kernel
def place(lists: Lists, vectors: Longs, sizes: Longs, n_in: Longs, excess: Longs) -> Longs:
    """Place samples of some vectors one by one in the fold that lacks their items most; return the folds.

    ``n_in`` is how many samples each fold has so far; that and the excess, both of what is placed, go on.
    """
    starts, items, weights = lists
    n_folds, n = len(sizes), sizes.sum()
    folds, wanted = np.empty(len(vectors), np.int64), np.empty(n_folds, np.int64)
    n_placed = n_in.sum()
    for s, v in enumerate(vectors):
        n_placed += 1
        for f in range(n_folds):
            wanted[f] = 2 * (n * n_in[f] - n_placed * sizes[f])  # the size is one more item
        for at in range(starts[v], starts[v + 1]):
            i = items[at]
            share = 2 * weights[i]
            for f in range(n_folds):
                excess[i, f] -= share * sizes[f]
                wanted[f] += excess[i, f]
        best = -1
        for f in range(n_folds):
            if n_in[f] < sizes[f] and (best < 0 or wanted[f] < wanted[best]):
                best = f
        folds[s] = best
        n_in[best] += 1
        for at in range(starts[v], starts[v + 1]):
            excess[items[at], best] += 2 * weights[items[at]] * n
    return folds


@kernel
def exchange(
    lists: Lists, samples: Longs, vectors: Longs, bounds: Longs, excess: Longs, n_tried: int, budget: int
) -> int:
    """Swap samples of two folds while that makes the folds more even; return how many swaps there were.

    ``samples[bounds[f]:bounds[f + 1]]`` are those of fold f, and `vectors` their label vectors. In the place
    of weights are steps: what one sample more adds to the excess. Only samples that might gain are tried,
    each with `n_tried` others at most, then all, until about `budget` items have been looked at or nothing
    is found.
    """
    starts, _, steps = lists
    n_folds = len(bounds) - 1
    gains = np.empty((len(samples), n_folds), np.int64)  # of a sample that goes to a fold alone
    able = np.empty(len(samples), np.int64)
    slack = 2 * steps[0]  # two samples that have a label in common gain so much more than each alone
    n_swaps = 0
    while budget > 0:
        old = n_swaps
        for a in range(n_folds):
            for p in range(bounds[a], bounds[a + 1]):
                budget -= n_folds + _write_gains(vectors[p], a, lists, excess, gains[p])
        for a in range(n_folds):
            for b in range(a + 1, n_folds):
                if bounds[a] == bounds[a + 1] or bounds[b] == bounds[b + 1]:
                    continue
                most_a = gains[bounds[a] : bounds[a + 1], b].max()
                most_b = gains[bounds[b] : bounds[b + 1], a].max()
                n_able, next_able = 0, 0
                for q in range(bounds[b], bounds[b + 1]):
                    if gains[q, a] + most_a + slack > 0:
                        able[n_able] = q
                        n_able += 1
                for p in range(bounds[a], bounds[a + 1]):
                    if n_able == 0 or gains[p, b] + most_b + slack <= 0 or budget <= 0:
                        continue
                    v = vectors[p]
                    gain = _move(v, a, b, lists, excess)
                    best, best_back = -1, -gain
                    for _ in range(min(n_tried, n_able)):
                        q = able[next_able]
                        next_able = next_able + 1 if next_able + 1 < n_able else 0
                        back = _gain(vectors[q], b, a, lists, excess)
                        budget -= 2 + starts[vectors[q] + 1] - starts[vectors[q]]
                        if back > best_back:
                            best, best_back = q, back
                    if best < 0:
                        _move(v, b, a, lists, excess)
                        continue
                    _move(vectors[best], b, a, lists, excess)
                    vectors[p], vectors[best] = vectors[best], v
                    samples[p], samples[best] = samples[best], samples[p]
                    n_swaps += 1
        if n_swaps == old:
            if slack == ANY:
                break
            slack, n_tried = ANY, len(samples)  # at last, each sample with each other
    return n_swaps


@inline
def _write_gains(v: int, fold: int, lists: Lists, excess: Longs, gains: Longs) -> int:
    """Write how much is gained if a sample of a vector leaves its fold; return how many items it has."""
    (starts, items, steps), n_folds, left = lists, len(gains), 0
    for f in range(n_folds):
        gains[f] = 0
    for at in range(starts[v], starts[v + 1]):
        i = items[at]
        left += excess[i, fold] - steps[i]
        for f in range(n_folds):
            gains[f] -= excess[i, f]
    for f in range(n_folds):
        gains[f] += left
    return int(starts[v + 1] - starts[v])


@inline
def _gain(v: int, old: int, new: int, lists: Lists, excess: Longs) -> int:
    """Return how much is gained if a sample of a vector goes from the old fold to the new one."""
    (starts, items, steps), gain = lists, 0
    for at in range(starts[v], starts[v + 1]):
        i = items[at]
        gain += excess[i, old] - excess[i, new] - steps[i]
    return gain


@inline
def _move(v: int, old: int, new: int, lists: Lists, excess: Longs) -> int:
    """Move a sample of a vector, and return what is gained."""
    (starts, items, steps), gain = lists, 0
    for at in range(starts[v], starts[v + 1]):
        i = items[at]
        gain += excess[i, old] - excess[i, new] - steps[i]
        excess[i, old] -= steps[i]
        excess[i, new] += steps[i]
    return gain
