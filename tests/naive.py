"""Slow, obvious twins of the library's fast code: loops over label vectors, exact fractions, no tricks."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

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
