"""The codes of ML-ECC (Ferng & Lin, 2013): label vectors as longer words, whose redundancy corrects errors.

Unlike the reference-pair code these codes know of no cost. The copies of a label vote: 1 if more than half of
them say so. A tie says 0, as in RAkEL, where the mean vote must exceed ½: most labels are absent from most
samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from refpair._saved import Savable
from refpair.costs import Labels, check_labels

LabelCodeName: TypeAlias = Literal["rep", "rrep", "hamr"]
Bits: TypeAlias = npt.NDArray[np.uint8]
Indices: TypeAlias = npt.NDArray[np.intp]

_MOST_BITS = 1 << 22
# Hamming(7,4): a block is its four message bits, then the parities of bits 0 1 3, 0 2 3 and 1 2 3.
_PARITIES = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], np.uint8)
# The place of the error by the parities that fail, read as a number; 7 is none.
_ERROR_PLACES = np.array([7, 6, 5, 2, 4, 1, 0, 3])


class LabelCode(Savable):
    """A code whose message bits are copies of labels: of ``_labels[i]`` at bit i."""

    n_labels: int
    _labels: Indices

    @property
    def n_bits(self) -> int:
        """The length of a word."""
        return len(self._labels)

    def encode(self, Y: Labels) -> Bits:
        """Return the words of the rows of Y, of shape (n, n_bits)."""
        matrix = check_labels(Y, "Y")
        if matrix.shape[1] != self.n_labels:
            raise ValueError(f"Y has {matrix.shape[1]} labels (columns), but the code has {self.n_labels}")
        labels = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.uint8)
        return self._add_parities(labels[:, self._labels])

    def decode(self, bits: npt.ArrayLike) -> Bits:
        """Return the label vectors that most copies vote for, of shape (n, n_labels)."""
        words: npt.NDArray[Any] = np.asarray(bits)
        if words.ndim != 2 or words.shape[1] != self.n_bits:
            raise ValueError(f"bits must be words of shape (n, {self.n_bits}), got shape {words.shape}")
        if not ((words == 0) | (words == 1)).all():
            raise ValueError("bits must be 0 and 1 only: round probabilities first")
        copies = self._corrected(words.astype(np.uint8, copy=False))
        n_copies = len(self._labels)
        ones = (np.ones(n_copies, np.int32), (self._labels, np.arange(n_copies)))
        votes = (sp.csr_array(ones, shape=(self.n_labels, n_copies)) @ copies.T.astype(np.int32)).T
        return np.ascontiguousarray(2 * votes > np.bincount(self._labels, minlength=self.n_labels), np.uint8)

    def _add_parities(self, message: Bits) -> Bits:
        return message

    def _corrected(self, words: Bits) -> Bits:
        """Return the message bits of words, corrected by their parities."""
        return words

    def _keep(self, labels: npt.NDArray[Any], code_length: int, shortest: int) -> None:
        """Keep the label of each message bit, if there are bits for every label."""
        if self.n_labels < 1:
            raise ValueError(f"n_labels is {self.n_labels}: give at least 1")
        if len(labels) < self.n_labels:
            short = f"code_length is {code_length}, too short for {self.n_labels} labels"
            raise ValueError(f"{short}: give at least {shortest}")
        object.__setattr__(self, "_labels", labels % self.n_labels)


@dataclass(frozen=True)
class RepetitionCode(LabelCode):
    """REP: the labels again and again in turn."""

    n_labels: int
    code_length: int

    def __post_init__(self) -> None:
        self._keep(np.arange(_checked(self.code_length)), self.code_length, shortest=self.n_labels)


@dataclass(frozen=True, eq=False)
class LabelsetRepetition(LabelCode):
    """RREP: the labels of small sets, one set after the other; a label in no set is decoded as 0."""

    n_labels: int
    labelsets: Indices

    def __post_init__(self) -> None:
        try:
            given = np.array(self.labelsets)
        except ValueError as error:
            raise ValueError("labelsets must all have the same number of labels") from error
        if given.ndim != 2 or given.size == 0 or given.dtype.kind not in "iu":
            raise ValueError(
                "labelsets must be label numbers of shape (n_sets, k), "
                f"got shape {given.shape} and dtype {given.dtype}"
            )
        sets = given.astype(np.intp)
        if sets.min() < 0 or sets.max() >= self.n_labels:
            wrong = sets.min() if sets.min() < 0 else sets.max()
            raise ValueError(f"labelsets must hold labels from 0 to {self.n_labels - 1}, not {wrong}")
        if (np.diff(np.sort(sets, axis=1), axis=1) == 0).any():
            raise ValueError("labelsets has a label twice in a set: give each set distinct labels")
        sets.flags.writeable = False
        object.__setattr__(self, "labelsets", sets)
        object.__setattr__(self, "_labels", sets.ravel())


@dataclass(frozen=True)
class HammingRepetition(LabelCode):
    """HAMR: the labels again and again in turn, with three parity bits after every four.

    Each block of seven bits corrects one error of its own; then the copies of each label vote.
    """

    n_labels: int
    code_length: int

    def __post_init__(self) -> None:
        message = np.arange(4 * (_checked(self.code_length) // 7))
        self._keep(message, self.code_length, shortest=7 * (-(-self.n_labels // 4)))

    @property
    def n_bits(self) -> int:
        """The length of a word."""
        return self.code_length // 7 * 7

    def _add_parities(self, message: Bits) -> Bits:
        blocks = message.reshape(len(message), self.n_bits // 7, 4)
        return np.concatenate([blocks, blocks @ _PARITIES & 1], axis=2).reshape(len(message), self.n_bits)

    def _corrected(self, words: Bits) -> Bits:
        blocks = words.reshape(len(words), self.n_bits // 7, 7)
        message = blocks[:, :, :4]
        failed = (message @ _PARITIES & 1) ^ blocks[:, :, 4:]
        place = _ERROR_PLACES[failed @ np.array([4, 2, 1], np.uint8)]
        corrected: Bits = message ^ (place[:, :, None] == np.arange(4))
        return corrected.reshape(len(words), len(self._labels))


def make_label_code(
    name: LabelCodeName, n_labels: int, code_length: int | None = None, *, rng: np.random.Generator
) -> LabelCode:
    """Make a code of label vectors by its name.

    By default it has the smallest 2^p − 1 ≥ 18 K bits, but no less than 127 and no more than 1,023: the
    lengths of Ferng & Lin for their 6, 14 and 22 labels. Above 511 labels it is the smallest ≥ 2 K.
    """
    shortest = max(127, min(18 * n_labels, 1023), 2 * n_labels)
    length = int(2 ** shortest.bit_length() - 1) if code_length is None else code_length
    if name != "rrep":
        return RepetitionCode(n_labels, length) if name == "rep" else HammingRepetition(n_labels, length)
    k = min(3, n_labels)
    n_sets = _checked(length) // k
    if n_sets * k < n_labels:
        short = f"code_length is {length}, too short for {n_labels} labels"
        raise ValueError(f"{short}: give at least {-(-n_labels // k) * k}")
    return LabelsetRepetition(n_labels, draw_labelsets(n_labels, n_sets, k=k, rng=rng))


def draw_labelsets(n_labels: int, n_sets: int, *, k: int = 3, rng: np.random.Generator) -> Indices:
    """Draw sets of k labels as RAkEL does: distinct ones, and every label in one of them, as far as possible.

    Sets are drawn uniformly without replacement. When all have been drawn they are drawn anew. Where the sets
    leave a label out, the labels in random order, cut into sets, come in place of the first ones.
    """
    total = math.comb(n_labels, k)
    if total <= 4 * n_sets:
        every = np.array(list(combinations(range(n_labels), k)), dtype=np.intp)
        rounds = [rng.permutation(total) for _ in range(-(-n_sets // total))]
        sets = every[np.concatenate(rounds)[:n_sets]]
    else:
        sets = _draw_distinct(n_labels, n_sets, k, [], rng)
    if len(np.unique(sets)) == n_labels:
        return sets
    order = rng.permutation(n_labels)  # cut into sets of k; others fill up the last one
    cover = np.sort(np.concatenate([order, order[: -n_labels % k]]).reshape(-1, k), axis=1)[:n_sets]
    return np.array(_draw_distinct(n_labels, n_sets, k, cover.tolist(), rng))


def _checked(code_length: int) -> int:
    if code_length > _MOST_BITS:
        raise ValueError(f"code_length is {code_length}, too long: give at most {_MOST_BITS}")
    return code_length


def _draw_distinct(
    n_labels: int, n_sets: int, k: int, first: list[list[int]], rng: np.random.Generator
) -> Indices:
    """Add random sets to the first ones until there are enough, none twice."""
    sets = dict.fromkeys(map(tuple, first))
    while len(sets) < n_sets:
        sets[tuple(sorted(rng.choice(n_labels, size=k, replace=False).tolist()))] = None
    return np.array(list(sets), dtype=np.intp)
