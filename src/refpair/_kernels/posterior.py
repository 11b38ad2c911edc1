"""From agreements with code words to weights of label vectors, and from weights and votes to labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refpair._kernels.jit import Bytes, Floats, Ints, Longs, Words, count_ones, inline, kernel

_SLOT_BITS = 14
_SLOTS = 1 << _SLOT_BITS  # for exponentials that are kept
_SHIFT = np.uint32(32 - _SLOT_BITS)
_ROUNDING = 1e-9  # of a sum of weights
_SPREAD = np.uint32(2654435769)  # 2^32 divided by the golden ratio: products with it differ in the high bits


@kernel
def partial_agreements(signs: Words, known: Words, plus: Words, mask: Words, out: Floats) -> None:
    """Write s · e / |known| of each row and code word, by the row's known bits alone; 0 if it has none."""
    for i in range(signs.shape[0]):
        n_known = np.int64(0)
        for w in range(known.shape[1]):
            n_known += np.int64(count_ones(known[i, w]))
        for u in range(plus.shape[0]):
            both, differ = np.int64(0), np.int64(0)
            for w in range(signs.shape[1]):
                bits = known[i, w] & mask[u, w]
                both += np.int64(count_ones(bits))
                differ += np.int64(count_ones((signs[i, w] ^ plus[u, w]) & bits))
            out[i, u] = (both - 2 * differ) / n_known if n_known else 0.0


@inline
def slot_of(number: np.float32) -> np.uint64:
    """Return where a number is kept: by all its bits, for many differ in the last ones alone."""
    bits = np.uint32(np.float32(number).view(np.uint32))
    return np.uint64(np.uint32(bits * _SPREAD) >> _SHIFT)


def weigh(
    agreement: Floats, temperature: float, count: Floats, vector: Ints, own: Longs, out: Floats
) -> None:
    """Add to ``out[i, y]`` the posterior weight of label vector y for row i: the weights of a row sum to 1.

    Anchor u stands for ``count[u]`` training rows of the label vector ``vector[u]`` and weighs
    ``count[u] · exp(temperature · agreement[i, u])``; at an infinite temperature only the anchors that agree
    most count. ``own[i]`` is the anchor that row i itself is one of, and is counted once less, or −1.

    Few different agreements occur: their exponentials are kept, which halves the time.
    """
    add_weights(
        agreement, temperature, count, vector, own, np.empty(agreement.shape[1]),
        np.full(_SLOTS, -1.0, np.float32), np.empty(_SLOTS), out,
    )  # fmt: skip


@kernel
def add_weights(
    agreement: Floats,
    temperature: float,
    count: Floats,
    vector: Ints,
    own: Longs,
    weight: Floats,
    kept: Floats,
    exponential: Floats,
    out: Floats,
) -> None:
    """Do what `weigh` says, in memory for a row's weights, and for some numbers and their exponentials."""
    n_rows, n_anchors = agreement.shape
    for i in range(n_rows):
        largest = np.float32(-np.inf)
        for u in range(n_anchors):
            if agreement[i, u] > largest and (u != own[i] or count[u] > 1):
                largest = agreement[i, u]
        total = 0.0
        for u in range(n_anchors):
            behind = largest - agreement[i, u]
            n = count[u] - 1.0 if u == own[i] else count[u]
            if n <= 0.0 or behind < 0.0:  # no anchor but its own
                weight[u] = 0.0
            elif behind == 0.0:
                weight[u] = n
            else:
                slot = slot_of(behind)
                if kept[slot] != behind:
                    kept[slot] = behind
                    exponential[slot] = np.exp(-temperature * behind)
                weight[u] = n * exponential[slot]
            total += weight[u]
        if total == 0.0:  # the only training row: nothing else is known
            for u in range(n_anchors):
                weight[u] = count[u]
                total += count[u]
        for u in range(n_anchors):  # apart from the sums: several at once
            weight[u] /= total
        for u in range(n_anchors):
            out[i, vector[u]] += weight[u]


@kernel
def sum_votes(values: npt.NDArray[np.float32], out: npt.NDArray[np.float64]) -> None:
    """Write the sums over the votes of each row and label: three times as fast as NumPy's over an axis."""
    for i in range(values.shape[0]):
        for k in range(values.shape[2]):
            out[i, k] = 0.0
        for vote in range(values.shape[1]):
            for k in range(values.shape[2]):
                out[i, k] += values[i, vote, k]


def sum_labels(weights: Floats, label_start: Longs, label_index: Ints, out: Floats) -> None:
    """Write the probability of each label, in one loop over the labels of all vectors: many have few."""
    out[:] = 0.0
    owner = np.repeat(np.arange(weights.shape[1]), np.diff(label_start))
    add_to_labels(weights, owner, label_index, out)


@kernel
def add_to_labels(weights: Floats, owner: Longs, label_index: Ints, out: Floats) -> None:
    """Add the weight of each vector to its labels, given the vector that each label belongs to."""
    for i in range(weights.shape[0]):
        for at in range(label_index.shape[0]):
            out[i, label_index[at]] += weights[i, owner[at]]


@kernel
def tilt_to_marginals(
    start: Longs, index: Ints, weight: Floats, label_start: Longs, label_index: Ints, targets: Floats,
    n_sweeps: int, near: float,
) -> None:  # fmt: skip
    """Multiply weights by factors of the labels of their vectors, until labels have their target probability.

    Row i has ``weight[start[i] : start[i + 1]]`` on these vectors of `index`, whose labels are told as
    :func:`label_lists` does. This is iterative proportional fitting, one label after the other, which comes
    as near to the targets as the vectors allow; at most `n_sweeps` times, or until no label is off by `near`.
    A label that all vectors of a row have, or none, stays as it is.
    """
    n_labels = targets.shape[1]
    n_most = np.int64(0)
    for i in range(targets.shape[0]):
        n_entries = np.int64(0)
        for j in range(start[i], start[i + 1]):
            n_entries += label_start[index[j] + 1] - label_start[index[j]]
        n_most = max(n_most, n_entries)
    entry, head = np.empty(n_most, np.int64), np.empty(n_labels + 2, np.int64)
    for i in range(targets.shape[0]):
        # The entries of each label: label k has entry[head[k] : head[k + 1]].
        head[:] = 0
        for j in range(start[i], start[i + 1]):
            for at in range(label_start[index[j]], label_start[index[j] + 1]):
                head[label_index[at] + 2] += 1
        for k in range(n_labels):
            head[k + 2] += head[k + 1]
        for j in range(start[i], start[i + 1]):
            for at in range(label_start[index[j]], label_start[index[j] + 1]):
                k = label_index[at] + 1
                entry[head[k]] = j
                head[k] += 1
        total = 0.0
        for j in range(start[i], start[i + 1]):
            total += weight[j]
        for _ in range(n_sweeps):
            farthest = 0.0
            for k in range(n_labels):
                have = 0.0
                for e in range(head[k], head[k + 1]):
                    have += weight[entry[e]]
                have_not = total - have
                if have <= _ROUNDING * total or have_not <= _ROUNDING * total:
                    continue
                target = targets[i, k]
                farthest = max(farthest, abs(have / total - target))
                factor = target * have_not / ((1.0 - target) * have)
                for e in range(head[k], head[k + 1]):
                    weight[entry[e]] *= factor
                total += have * (factor - 1.0)
            total = 0.0  # anew: rounding adds up, and weights that sum to 1 do not grow out of all bounds
            for j in range(start[i], start[i + 1]):
                total += weight[j]
            for j in range(start[i], start[i + 1]):
                weight[j] /= total
            total = 1.0
            if farthest < near:
                break


@kernel
def add_entries(
    start: Longs, index: Ints, weight: Floats, label_start: Longs, label_index: Ints, out: Floats
) -> None:
    """Add the weight of each vector of a row to its labels."""
    for i in range(out.shape[0]):
        for j in range(start[i], start[i + 1]):
            for at in range(label_start[index[j]], label_start[index[j] + 1]):
                out[i, label_index[at]] += weight[j]


@kernel
def add_entries_given(
    rows: Longs, observed: Bytes, start: Longs, index: Ints, weight: Floats, label_start: Longs,
    label_index: Ints, mass: Floats, out: Floats,
) -> None:  # fmt: skip
    """Add the weight of each vector of a row to its labels and to the mass, if it agrees with what is known.

    Of ``rows[i]``, labels of ``observed[i]`` are known to be 0 or 1; 2 is unknown.
    """
    for i in range(rows.shape[0]):
        n_there = 0
        for k in range(observed.shape[1]):
            n_there += observed[i, k] == 1
        for j in range(start[rows[i]], start[rows[i] + 1]):
            first, end = label_start[index[j]], label_start[index[j] + 1]
            n_found = 0
            for at in range(first, end):
                value = observed[i, label_index[at]]
                if value == 0:
                    n_found = -1
                    break
                n_found += value == 1
            if n_found == n_there:
                mass[i] += weight[j]
                for at in range(first, end):
                    out[i, label_index[at]] += weight[j]


@kernel
def merge_weights(
    start: Longs, index: Ints, weight: Floats, which: Longs, allowed: npt.NDArray[np.bool_],
    label_start: Longs, label_index: Ints, share: float, targets: Floats, place: Longs, new_start: Longs,
    new_index: Ints, new_weight: Floats,
) -> None:  # fmt: skip
    """Write the weights of rows on other vectors: those of all v of the same ``which[v]`` are added up.

    Vectors that are not allowed are left out, unless a row has nothing else, and so are the small weights: of
    less than half the mean, a quarter, or whatever makes them no more than this share of the sum. A label
    that is to have more than this share, or to lack it, is not left to no vector, or to all. The rest sums
    to 1 again.

    ``place`` is -1 for each new vector, and ``new_start[0]`` is 0; new vectors have the labels told.
    """
    n_labels = targets.shape[1]
    n_with = np.empty(n_labels, np.int64)
    for i in range(start.shape[0] - 1):
        mass, n_left = 0.0, 0
        for j in range(start[i], start[i + 1]):
            if allowed[index[j]]:
                mass += weight[j]
                n_left += 1
        is_lost = mass <= 0.0
        if is_lost:
            mass, n_left = 1.0, start[i + 1] - start[i]
        smallest = mass / n_left
        while share > 0.0:
            smallest, small = 0.5 * smallest, 0.0
            for j in range(start[i], start[i + 1]):
                if weight[j] < smallest and (is_lost or allowed[index[j]]):
                    small += weight[j]
            if small > share * mass:
                continue
            if small <= 0.0:
                break
            n_with[:] = 0
            n_large = 0
            for j in range(start[i], start[i + 1]):
                if weight[j] >= smallest and (is_lost or allowed[index[j]]):
                    n_large += 1
                    v = which[index[j]]
                    for at in range(label_start[v], label_start[v + 1]):
                        n_with[label_index[at]] += 1
            is_even = True
            for k in range(n_labels):
                if n_with[k] == 0 and targets[i, k] > share:
                    is_even = False
                if n_with[k] == n_large and targets[i, k] < 1.0 - share:
                    is_even = False
            if is_even:
                break
        least = smallest if share > 0.0 else 0.0
        first = end = new_start[i]
        total = 0.0
        for j in range(start[i], start[i + 1]):
            if weight[j] < least or not (is_lost or allowed[index[j]]):
                continue
            v = which[index[j]]
            if place[v] < first:
                place[v], new_index[end], new_weight[end] = end, v, 0.0
                end += 1
            new_weight[place[v]] += weight[j]
            total += weight[j]
        for at in range(first, end):
            new_weight[at] /= total
        new_start[i + 1] = end


def keep_large(
    weights: Floats, part: float, vectors: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return in CSR form the weights of at least this part of their row's largest, which sum to 1 again.

    For each label that none of their vectors has, the heaviest one with it is kept, too, and for each that
    all of them have, the heaviest one without it: else the label would be certain. These weights are raised
    to the square of the part, so that they can be tilted.
    """
    start = np.zeros(len(weights) + 1, np.int64)
    index, weight = np.empty(weights.size, np.int32), np.empty(weights.size)
    label, owner = np.nonzero(vectors.T)
    first = np.searchsorted(label, np.arange(vectors.shape[1] + 1))
    list_large(weights, part, vectors, first, owner, start, index, weight)
    return start, index[: start[-1]].copy(), weight[: start[-1]].copy()


@kernel
def list_large(
    weights: Floats, part: float, vectors: npt.NDArray[np.uint8], first: Longs, owner: Longs, start: Longs,
    index: Ints, weight: Floats,
) -> None:  # fmt: skip
    """Write what `keep_large` returns, to memory for all weights; ``start[0]`` is 0.

    ``owner[first[k] : first[k + 1]]`` are the vectors that have label k.
    """
    n_rows, n_vectors = weights.shape
    n_labels = vectors.shape[1]
    keep = np.empty(n_vectors, np.bool_)
    n_with = np.empty(n_labels, np.int64)
    for i in range(n_rows):
        largest = 0.0
        for y in range(n_vectors):
            if weights[i, y] > largest:
                largest = weights[i, y]
        least, n_kept = part * largest, 0
        n_with[:] = 0
        for y in range(n_vectors):
            keep[y] = weights[i, y] >= least and weights[i, y] > 0.0
            if keep[y]:
                n_kept += 1
                for k in range(n_labels):
                    n_with[k] += vectors[y, k]
        for k in range(n_labels):
            if 0 < n_with[k] < n_kept:
                continue
            best = -1
            if n_with[k] == 0:
                for at in range(first[k], first[k + 1]):
                    if best < 0 or weights[i, owner[at]] > weights[i, best]:
                        best = int(owner[at])
            else:
                for y in range(n_vectors):
                    if vectors[y, k] == 0 and (best < 0 or weights[i, y] > weights[i, best]):
                        best = y
            if best >= 0:
                keep[best] = True
                n_kept += 1
                for j in range(n_labels):
                    n_with[j] += vectors[best, j]
        end, total, floor = start[i], 0.0, part * least
        for y in range(n_vectors):
            if keep[y]:
                index[end], weight[end] = y, max(weights[i, y], floor)
                total += weight[end]
                end += 1
        for at in range(start[i], end):
            weight[at] /= total
        start[i + 1] = end
