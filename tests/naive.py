"""Slow, obvious twins of the library's fast code: loops over label vectors, exact fractions, no tricks."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import exp, log2

Vector = Sequence[int]
HALF = Fraction(1, 2)


def all_vectors(n_labels: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=n_labels))


def all_pairs(vectors: Sequence[Vector]) -> list[tuple[Vector, Vector]]:
    return list(combinations(vectors, 2))


def label_set(y: Vector) -> set[int]:
    return {k for k, label in enumerate(y) if label}


def hamming(y: Vector, z: Vector) -> Fraction:
    return Fraction(sum(a != b for a, b in zip(y, z, strict=True)), len(y))


def zero_one(y: Vector, z: Vector) -> Fraction:
    return Fraction(int(tuple(y) != tuple(z)))


def rank(y: Vector, z: Vector) -> Fraction:
    """Pairs of a relevant and an irrelevant label that z puts in the wrong order; ties count half."""
    cost = Fraction(0)
    for k in range(len(y)):
        for j in range(len(y)):
            if y[k] == 1 and y[j] == 0:
                cost += 1 if z[k] < z[j] else HALF if z[k] == z[j] else 0
    return cost


def f_beta(y: Vector, z: Vector, square: Fraction) -> Fraction:
    """One minus the weighted harmonic mean of precision and recall; square is beta²."""
    truth, prediction = label_set(y), label_set(z)
    if not truth and not prediction:
        return Fraction(0)
    if not truth & prediction:
        return Fraction(1)
    precision = Fraction(len(truth & prediction), len(prediction))
    recall = Fraction(len(truth & prediction), len(truth))
    return 1 - (1 + square) * precision * recall / (square * precision + recall)


def f1(y: Vector, z: Vector) -> Fraction:
    return f_beta(y, z, Fraction(1))


def accuracy(y: Vector, z: Vector) -> Fraction:
    truth, prediction = label_set(y), label_set(z)
    if truth == prediction:
        return Fraction(0)
    return 1 - Fraction(len(truth & prediction), len(truth | prediction))


def per_label(
    y: Vector, z: Vector, false_positive: Sequence[Fraction], false_negative: Sequence[Fraction]
) -> Fraction:
    cost = Fraction(0)
    for k in range(len(y)):
        if y[k] and not z[k]:
            cost += false_negative[k]
        if z[k] and not y[k]:
            cost += false_positive[k]
    return cost


def all_lists(n_labels: int, k: int) -> list[tuple[int, ...]]:
    return list(permutations(range(n_labels), min(k, n_labels)))


def gain_of_list(y: Vector, z: Sequence[int], gain: str) -> Fraction | float:
    """Precision, recall or nDCG of a list of labels, of which none is as good as any other for no label."""
    right = [y[label] for label in z]
    if gain == "precision":
        return Fraction(sum(right), len(z))
    if not any(y):
        return Fraction(1)
    if gain == "recall":
        return Fraction(sum(right), sum(y))
    best = sorted(y, reverse=True)[: len(z)]
    return _discounted(right) / _discounted(best)


def _discounted(right: Sequence[int]) -> float:
    return sum(there / log2(place + 1) for place, there in enumerate(right, 1))


COSTS = {"hamming": hamming, "zero_one": zero_one, "rank": rank, "f1": f1, "accuracy": accuracy}


def code_word(y, pairs, cost) -> list[int]:
    """+1 where alpha is the cheaper prediction for y, −1 where beta is, 0 where neither."""
    word = []
    for alpha, beta in pairs:
        difference = cost(y, beta) - cost(y, alpha)
        word.append((difference > 0) - (difference < 0))
    return word


def code_distance(signs: Vector, word: Vector) -> float:
    """Hamming distance in bits; a 0 of the code word, the paper's bit ½, is half a bit away."""
    return sum(0.5 if e == 0 else float(s != e) for s, e in zip(signs, word, strict=True))


def nearest(signs: Vector, words: Sequence[Vector]) -> int:
    distances = [code_distance(signs, word) for word in words]
    return distances.index(min(distances))


def one_versus_one(signs: Vector, pairs, vectors: Sequence[Vector]) -> int:
    """Every pair is a duel, its bit says who wins; return the vector with the most wins."""
    wins = {tuple(vector): 0 for vector in vectors}
    for sign, (alpha, beta) in zip(signs, pairs, strict=True):
        wins[tuple(alpha if sign > 0 else beta)] += 1
    votes = [wins[tuple(vector)] for vector in vectors]
    return votes.index(max(votes))


# ---- bins ----


def bin_edges(values: Sequence[float], max_bins: int, copies: Sequence[int] | None = None) -> list[float]:
    """Edges between the distinct values, or, if too many, where another share of the rows is full."""
    times = [1] * len(values) if copies is None else copies
    finite = [value for value, n in zip(values, times, strict=True) for _ in range(n) if value == value]
    distinct = sorted(set(finite))
    edges, shares = [], 0
    for low, high in pairwise(distinct):
        full = sum(value <= low for value in finite) * max_bins // len(finite)
        if len(distinct) <= max_bins or full > shares:
            middle = low + (high - low) / 2
            edges.append(middle if middle < high else low)
            shares = full
    return edges


def bin_of(value: float, edges: Sequence[float]) -> int | None:
    """The number of edges below a value; None if it is missing."""
    return None if value != value else sum(edge < value for edge in edges)


# ---- trees ----

WORD = 2**64


class SplitMix:
    """The random numbers of one tree: one word of state, advanced by a constant and then scrambled."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
        z ^= z >> 31
        return (z >> 32) * n >> 32

    def shuffle(self, items: list[int], n_first: int) -> None:
        for i in range(min(n_first, len(items) - 1)):
            j = i + self.below(len(items) - i)
            items[i], items[j] = items[j], items[i]


@dataclass
class Node:
    value: Fraction
    feature: int = -1
    threshold: int = 0
    missing_left: bool = False
    children: tuple["Node", "Node"] | None = None


@dataclass
class Split:
    """Rows of a node parted by a feature. The gain is what the weighted Gini impurity falls by, times W²."""

    feature: int
    threshold: int
    missing_left: bool | None
    left: list[int]
    right: list[int]

    def worth(self, signed: Sequence[int]) -> tuple[bool, Fraction]:
        (s, w), (t, v) = sums(self.left, signed), sums(self.right, signed)
        pure = abs(s) == w and abs(t) == v
        return pure, Fraction((s * v - t * w) ** 2, w * v)


def size(rows: Sequence[int], copies: Sequence[int] | None) -> int:
    return len(rows) if copies is None else sum(copies[i] for i in rows)


def sums(rows: Sequence[int], signed: Sequence[int]) -> tuple[int, int]:
    return sum(signed[i] for i in rows), sum(abs(signed[i]) for i in rows)


def splits(codes, rows: Sequence[int], feature: int) -> list[Split]:
    """All splits of a feature: missing values right, then alone, then left; each by rising threshold."""
    bins = {i: codes[i][feature] for i in rows}
    occupied = sorted({b for b in bins.values() if b is not None})
    last = max((row[feature] for row in codes if row[feature] is not None), default=0)
    missing = [i for i in rows if bins[i] is None]
    thresholds = [(a + b) // 2 for a, b in pairwise(occupied)]
    sides = [(t, False if missing else None) for t in thresholds]
    if missing and occupied:
        sides += [(last, False), *((t, True) for t in thresholds)]
    found = []
    for threshold, missing_left in sides:
        left = [i for i in rows if (missing_left if bins[i] is None else bins[i] <= threshold)]
        found.append(Split(feature, threshold, missing_left, left, [i for i in rows if i not in left]))
    return found


def grow_tree(
    codes,
    signed: Sequence[int],
    seed: int,
    *,
    max_depth=10**9,
    min_samples_leaf=1,
    max_features=None,
    copies: Sequence[int] | None = None,
) -> Node:
    """A tree on bins codes[row][feature] (None: missing) for the weights and bits ±signed[row] (0: left out).

    Of each row there may be several `copies`, whose weight is in ±signed[row].

    A split into two pure sides beats all others, else the larger gain does; among equals the one that comes
    first in a random order of the features, and then by rising threshold.
    """
    n_features = len(codes[0])
    max_features = max_features or n_features
    stream, order = SplitMix(seed), list(range(n_features))
    stream.shuffle(order, n_features)

    def grow(rows: list[int], depth: int) -> Node:
        s, w = sums(rows, signed)
        node = Node(Fraction(s, w) if w else Fraction(0))
        if abs(s) == w or depth >= max_depth or size(rows, copies) < 2 * min_samples_leaf:
            return node
        if max_features >= n_features:
            turn = stream.below(n_features)
            features = order[turn:] + order[:turn]
        else:
            stream.shuffle(order, max_features)
            features = order
        best = None
        for visited, feature in enumerate(features):
            if visited >= max_features and best is not None:
                break
            for split in splits(codes, rows, feature):
                if min(size(split.left, copies), size(split.right, copies)) < min_samples_leaf:
                    continue
                if best is None or split.worth(signed) > best.worth(signed):
                    best = split
        if best is None:
            return node
        node.feature, node.threshold = best.feature, best.threshold
        n_left, n_right = size(best.left, copies), size(best.right, copies)
        node.missing_left = n_left >= n_right if best.missing_left is None else best.missing_left
        # The smaller side is grown first, which matters for the random numbers.
        if n_left <= n_right:
            left = grow(best.left, depth + 1)
            node.children = left, grow(best.right, depth + 1)
        else:
            right = grow(best.right, depth + 1)
            node.children = grow(best.left, depth + 1), right
        return node

    return grow([i for i in range(len(codes)) if signed[i] != 0], 0)


def leaf(node: Node, codes) -> Node:
    """The leaf that a row of bins reaches."""
    while node.children is not None:
        code = codes[node.feature]
        goes_left = node.missing_left if code is None else code <= node.threshold
        node = node.children[0] if goes_left else node.children[1]
    return node


# ---- trees of classes ----


@dataclass
class ClassNode:
    counts: dict[int, int]
    feature: int = -1
    threshold: int = 0
    missing_left: bool = False
    children: tuple["ClassNode", "ClassNode"] | None = None


def class_counts(
    rows: Sequence[int], classes: Sequence[int], copies: Sequence[int] | None = None
) -> dict[int, int]:
    found = sorted({classes[i] for i in rows})
    return {c: size([i for i in rows if classes[i] == c], copies) for c in found}


def class_worth(split: Split, classes: Sequence[int], copies: Sequence[int] | None = None) -> Fraction:
    """The sum over both sides of the squared class counts by the size of the side."""
    return sum(
        Fraction(sum(n * n for n in class_counts(side, classes, copies).values()), size(side, copies))
        for side in (split.left, split.right)
    )


def grow_class_tree(
    codes,
    classes: Sequence[int],
    rows: Sequence[int],
    seed: int,
    *,
    max_depth=10**9,
    min_samples_leaf=1,
    max_features=None,
    copies: Sequence[int] | None = None,
) -> ClassNode:
    """A tree of classes on bins codes[row][feature] (None: missing), from some of the rows.

    The split of the larger worth wins; among equals the one that comes first in a random order of the
    features, and then by rising threshold.
    """
    n_features = len(codes[0])
    max_features = max_features or n_features
    stream, order = SplitMix(seed), list(range(n_features))
    stream.shuffle(order, n_features)

    def grow(rows: list[int], depth: int) -> ClassNode:
        node = ClassNode(class_counts(rows, classes, copies))
        if len(node.counts) == 1 or depth >= max_depth or size(rows, copies) < 2 * min_samples_leaf:
            return node
        if max_features >= n_features:
            turn = stream.below(n_features)
            features = order[turn:] + order[:turn]
        else:
            stream.shuffle(order, max_features)
            features = order
        best = None
        for visited, feature in enumerate(features):
            if visited >= max_features and best is not None:
                break
            for split in splits(codes, rows, feature):
                if min(size(split.left, copies), size(split.right, copies)) < min_samples_leaf:
                    continue
                worth = class_worth(split, classes, copies)
                if best is None or worth > class_worth(best, classes, copies):
                    best = split
        if best is None:
            return node
        node.feature, node.threshold = best.feature, best.threshold
        n_left, n_right = size(best.left, copies), size(best.right, copies)
        node.missing_left = n_left >= n_right if best.missing_left is None else best.missing_left
        # The smaller side is grown first, which matters for the random numbers.
        if n_left <= n_right:
            left = grow(best.left, depth + 1)
            node.children = left, grow(best.right, depth + 1)
        else:
            right = grow(best.right, depth + 1)
            node.children = grow(best.left, depth + 1), right
        return node

    return grow(list(rows), 0)


# ---- decisions ----


def expected_cost(vectors: Sequence[Vector], weights: Sequence[int], z: Vector, cost) -> Fraction:
    """What z costs on average if each vector is the truth as often as its whole weight says."""
    total = sum(weight * cost(y, z) for y, weight in zip(vectors, weights, strict=True) if weight)
    return Fraction(total) / sum(weights)


def least_expected_cost(vectors: Sequence[Vector], weights: Sequence[int], cost) -> Fraction:
    return min(expected_cost(vectors, weights, z, cost) for z in all_vectors(len(vectors[0])))


def independent_weights(marginals: Sequence[Fraction]) -> list[Fraction]:
    """The probabilities of all label vectors if labels are independent."""
    weights = []
    for y in all_vectors(len(marginals)):
        weight = Fraction(1)
        for label, p in zip(y, marginals, strict=True):
            weight *= p if label else 1 - p
        weights.append(weight)
    return weights


def mean_values(marginals: Sequence[Fraction], value_of_size: Sequence[float]) -> list[float]:
    """The mean of y_j · v(|y|) for each of some independent labels."""
    vectors, weights = all_vectors(len(marginals)), independent_weights(marginals)
    worth = [float(weight) * value_of_size[sum(y)] for y, weight in zip(vectors, weights, strict=True)]
    return [sum(w for y, w in zip(vectors, worth, strict=True) if y[j]) for j in range(len(marginals))]


def neighbours(z: Vector) -> list[tuple[int, ...]]:
    """The vectors that a flip of one label or a swap of two unlike ones makes of z."""
    flips = [(k,) for k in range(len(z))]
    swaps = [pair for pair in combinations(range(len(z)), 2) if z[pair[0]] != z[pair[1]]]
    return [tuple(1 - v if k in change else v for k, v in enumerate(z)) for change in [*flips, *swaps]]


# ---- posteriors ----


def code_agreement(signs: Vector, word: Vector, known: Sequence[bool] | None = None) -> Fraction:
    """The mean of s · e over the known bits, 0 if there are none."""
    products = [
        s * e for k, (s, e) in enumerate(zip(signs, word, strict=True)) if known is None or bool(known[k])
    ]
    return Fraction(int(sum(products)), len(products)) if products else Fraction(0)


def vector_weights(
    agreement: Sequence[float],
    temperature: float,
    counts: Sequence[float],
    vector_of: Vector,
    n_vectors: int,
    own: int = -1,
) -> list[float]:
    """The weights of the label vectors for one row, given how it agrees with the anchors."""
    left = [max(count - (u == own), 0) for u, count in enumerate(counts)]
    weights = [0.0] * n_vectors
    if not any(left):  # nobody but the row itself: every anchor counts, however it agrees
        for count, vector in zip(counts, vector_of, strict=True):
            weights[vector] += count / sum(counts)
        return weights
    best = max(a for a, count in zip(agreement, left, strict=True) if count)
    for a, count, vector in zip(agreement, left, vector_of, strict=True):
        if count:
            weights[vector] += count * (1.0 if a == best else exp(-temperature * (best - a)))
    return [weight / sum(weights) for weight in weights]


def label_sums(weights: Sequence[float], vectors: Sequence[Vector]) -> list[float]:
    """The probability of each label."""
    return [
        sum(weight for weight, y in zip(weights, vectors, strict=True) if y[k])
        for k in range(len(vectors[0]))
    ]


def without_small(weights: Sequence[float], part: float, vectors: Sequence[Sequence[int]]) -> list[float]:
    """Weights of which those below a part of the largest are 0, normed; no label becomes certain by it."""
    least, everything = part * max(weights), range(len(weights))
    kept = {i for i in everything if weights[i] >= least and weights[i] > 0}
    for k in range(len(vectors[0])):
        for value in (1, 0):
            others = [i for i in everything if vectors[i][k] == value]
            if others and not kept & {*others}:
                kept.add(max(others, key=lambda i: weights[i]))
    raised = [max(weights[i], part * least) if i in kept else 0.0 for i in everything]
    return [weight / sum(raised) for weight in raised]


def complete(observed, marginals, drawn, weights, n_rounds=4, least=0.01, kept=0.02):
    """Return label vectors and, for each row, their probabilities given what is known; 2 is unknown."""
    rows = [tuple(row) for row in observed.tolist()]
    filled = [
        tuple(int(p > threshold) if y == 2 else y for y, p, threshold in zip(row, ps, above, strict=True))
        for row, ps, above in zip(
            rows * 2, marginals.tolist() * 2, [[0.5] * len(rows[0])] * len(rows) + drawn.tolist(), strict=True
        )
    ]

    def clip(p):
        return min(max(p, least), 1 - least)

    vectors = sorted(set(filled))
    counts = {v: sum(w for u, w in zip(filled, [*weights] * 2, strict=True) if u == v) / 2 for v in vectors}
    for _ in range(n_rounds):
        total = sum(counts.values())
        f = [clip(sum(n * v[k] for v, n in counts.items()) / total) for k in range(len(rows[0]))]
        shares = []
        for row, ps in zip(rows, marginals.tolist(), strict=True):
            q = {}
            for v in vectors:
                if all(y in (2, z) for y, z in zip(row, v, strict=True)):
                    q[v] = max(counts[v], least)
                    for k, y in enumerate(row):
                        if y == 2:
                            p = clip(ps[k])
                            q[v] *= p / f[k] if v[k] else (1 - p) / (1 - f[k])
            q = {v: part for v, part in q.items() if part >= kept * max(q.values())}
            shares.append({v: part / sum(q.values()) for v, part in q.items()})
        counts = {v: sum(w * q.get(v, 0.0) for w, q in zip(weights, shares, strict=True)) for v in vectors}
    return counts, shares


def best_sum(gains: Sequence[int], allowed: Sequence[Vector], size: int | None = None) -> int | None:
    """Return the largest sum of gains of an allowed label vector, perhaps of a size, or None."""
    sums = [
        sum(gain for gain, there in zip(gains, z, strict=True) if there)
        for z in allowed
        if size is None or sum(z) == size
    ]
    return max(sums, default=None)


def draw_forest(chances, parent, uniform):
    """Return a label vector in which a label is there if its parent is and its number is below its chance."""

    def is_there(label):
        return uniform[label] < chances[label] and (parent[label] < 0 or is_there(parent[label]))

    return [int(is_there(label)) for label in range(len(chances))]


def sum_costs(cells, rows, weight, costs):
    """Return the expected cost of each label set, given its row of the table and a cell for each vector."""
    return [
        sum(w * costs[row][cell] for w, cell in zip(weight, own, strict=True))
        for own, row in zip(cells, rows, strict=True)
    ]
