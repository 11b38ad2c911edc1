"""Label codes that repeat labels and vote: alone, in random label sets, or with Hamming parities.

A vote over the copies of a label says 1 if more than half of them do. A tie says 0, as in RAkEL, where the
mean vote must exceed ½: most labels are absent from most rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable
from refpair.coding._words import Bits, Indices, check_length, checked_bits, dense_labels, vote
from refpair.costs import Labels

__all__ = ["HammingRepetition", "LabelsetRepetition", "RepetitionCode", "draw_labelsets"]

# Hamming(7,4): a block is its four message bits, then the parities of bits 0 1 3, 0 2 3 and 1 2 3.
_PARITIES = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], np.uint8)
# The place of the error by the parities that fail, read as a number; 7 is none.
_ERROR_PLACES = np.array([7, 6, 5, 2, 4, 1, 0, 3])


class _Copies(Savable):
    """A code whose every bit is a copy of a label: of ``_labels[i]`` at bit i."""

    n_labels: int
    _labels: Indices

    @property
    def n_bits(self) -> int:
        """The length of a word."""
        return len(self._labels)

    def encode(self, Y: Labels) -> Bits:
        """Return the words of the rows of Y.

        Examples
        --------
        >>> RepetitionCode(2, 3).encode([[1, 0]])
        array([[1, 0, 1]], dtype=uint8)
        """
        return dense_labels(Y, self.n_labels)[:, self._labels]

    def decode(self, bits: npt.ArrayLike) -> Bits:
        """Return the label vectors that most copies vote for.

        Examples
        --------
        >>> RepetitionCode(1, 3).decode([[1, 0, 1], [1, 0, 0]])
        array([[1],
               [0]], dtype=uint8)
        """
        return vote(checked_bits(bits, self.n_bits), self._labels, self.n_labels)


@dataclass(frozen=True)
class RepetitionCode(_Copies):
    """REP: the labels again and again in turn, decoded by a vote over the copies of each.

    Parameters
    ----------
    n_labels : int
        The length K of a label vector.
    code_length : int
        The number of bits. Each label has ⌊M/K⌋ or ⌈M/K⌉ of them.

    Examples
    --------
    >>> code = RepetitionCode(2, 6)
    >>> code.encode([[1, 0]])
    array([[1, 0, 1, 0, 1, 0]], dtype=uint8)
    >>> code.decode([[1, 1, 1, 0, 0, 0]])
    array([[1, 0]], dtype=uint8)
    """

    n_labels: int
    code_length: int

    def __post_init__(self) -> None:
        check_length(self.n_labels, self.code_length, self.code_length, shortest=self.n_labels)
        object.__setattr__(self, "_labels", np.arange(self.code_length) % self.n_labels)


@dataclass(frozen=True, eq=False)
class LabelsetRepetition(_Copies):
    """RREP: the labels of small sets, one set after the other, decoded by a vote over the copies of each.

    Parameters
    ----------
    n_labels : int
        The length of a label vector.
    labelsets : array-like of shape (n_sets, k)
        The labels of each set, none twice in a set. A label in no set is decoded as 0.

    Examples
    --------
    >>> code = LabelsetRepetition(3, [[0, 1], [1, 2]])
    >>> code.encode([[1, 0, 0]])
    array([[1, 0, 0, 0]], dtype=uint8)
    >>> code.decode([[1, 1, 0, 0]])
    array([[1, 0, 0]], dtype=uint8)
    """

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

    @classmethod
    def draw(
        cls, n_labels: int, code_length: int, *, k: int = 3, rng: np.random.Generator
    ) -> LabelsetRepetition:
        """Draw ⌊code_length / k⌋ sets of k labels; see :func:`draw_labelsets`.

        Examples
        --------
        >>> code = LabelsetRepetition.draw(6, 127, rng=np.random.default_rng(0))
        >>> code.labelsets.shape, code.n_bits
        ((42, 3), 126)
        """
        _check_set_size(k, n_labels)
        n_sets = code_length // k
        check_length(n_labels, code_length, n_sets * k, shortest=-(-n_labels // k) * k)
        return cls(n_labels, draw_labelsets(n_labels, n_sets, k=k, rng=rng))


@dataclass(frozen=True)
class HammingRepetition(Savable):
    """HAMR: the labels again and again in turn, with three parity bits after every four.

    Each block of seven bits corrects one error of its own; then the copies of each label vote.

    Parameters
    ----------
    n_labels : int
        The length of a label vector.
    code_length : int
        The number of bits, rounded down to a multiple of 7.

    Examples
    --------
    >>> code = HammingRepetition(4, 15)
    >>> code.n_bits
    14
    >>> word = code.encode([[1, 0, 1, 1]])
    >>> word
    array([[1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0]], dtype=uint8)
    >>> word[0, [0, 7]] = 0
    >>> code.decode(word)
    array([[1, 0, 1, 1]], dtype=uint8)
    """

    n_labels: int
    code_length: int

    def __post_init__(self) -> None:
        n_message = 4 * (self.code_length // 7)
        check_length(self.n_labels, self.code_length, n_message, shortest=7 * (-(-self.n_labels // 4)))

    @property
    def n_bits(self) -> int:
        """The length of a word."""
        return self.code_length // 7 * 7

    def encode(self, Y: Labels) -> Bits:
        """Return the words of the rows of Y.

        Examples
        --------
        >>> HammingRepetition(2, 7).encode([[1, 0]])
        array([[1, 0, 1, 0, 1, 0, 1]], dtype=uint8)
        """
        labels = dense_labels(Y, self.n_labels)
        message = labels[:, self._labels].reshape(len(labels), self.n_bits // 7, 4)
        return np.concatenate([message, message @ _PARITIES & 1], axis=2).reshape(len(labels), self.n_bits)

    def decode(self, bits: npt.ArrayLike) -> Bits:
        """Return the label vectors that most copies vote for, after the correction of each block.

        Examples
        --------
        >>> HammingRepetition(4, 7).decode([[1, 0, 1, 1, 0, 1, 0], [1, 1, 1, 1, 0, 1, 0]])
        array([[1, 0, 1, 1],
               [1, 0, 1, 1]], dtype=uint8)
        """
        words = checked_bits(bits, self.n_bits)
        blocks = words.reshape(len(words), self.n_bits // 7, 7)
        message = blocks[:, :, :4]
        failed = (message @ _PARITIES & 1) ^ blocks[:, :, 4:]
        place = _ERROR_PLACES[failed @ np.array([4, 2, 1], np.uint8)]
        message = message ^ (place[:, :, None] == np.arange(4))
        return vote(message.reshape(len(words), len(self._labels)), self._labels, self.n_labels)

    @cached_property
    def _labels(self) -> Indices:
        return np.arange(4 * (self.n_bits // 7)) % self.n_labels


def draw_labelsets(n_labels: int, n_sets: int, *, k: int = 3, rng: np.random.Generator) -> Indices:
    """Draw sets of k labels as RAkEL does: distinct ones, and every label in one of them, as far as possible.

    Sets are drawn uniformly without replacement. When all have been drawn they are drawn anew. Where the sets
    leave a label out, the labels in random order, cut into sets, come in place of the first ones.

    Parameters
    ----------
    n_labels : int
        How many labels there are.
    n_sets : int
        How many sets to draw.
    k : int, default=3
        How many labels a set has.
    rng : numpy.random.Generator
        The source of randomness.

    Returns
    -------
    ndarray of shape (n_sets, k)
        The labels of each set, in order.

    Examples
    --------
    Three labels have three pairs, so a fourth set is one of them again.

    >>> sets = draw_labelsets(3, 4, k=2, rng=np.random.default_rng(0))
    >>> sets.shape, len(np.unique(sets[:3], axis=0))
    ((4, 2), 3)
    """
    _check_set_size(k, n_labels)
    if n_sets < 1:
        raise ValueError(f"n_sets is {n_sets}: give at least 1")
    total = math.comb(n_labels, k)
    if total <= 4 * n_sets:
        every = np.array(list(combinations(range(n_labels), k)), dtype=np.intp)
        rounds = [rng.permutation(total) for _ in range(-(-n_sets // total))]
        sets = every[np.concatenate(rounds)[:n_sets]]
    else:
        sets = _draw_distinct(n_labels, n_sets, k, [], rng)
    if len(np.unique(sets)) == n_labels:
        return sets
    cover = _draw_cover(n_labels, k, rng)[:n_sets]
    return np.array(_draw_distinct(n_labels, n_sets, k, cover.tolist(), rng))


def _check_set_size(k: int, n_labels: int) -> None:
    if not 1 <= k <= n_labels:
        raise ValueError(f"k is {k}: give the size of a labelset from 1 to n_labels, here {n_labels}")


def _draw_cover(n_labels: int, k: int, rng: np.random.Generator) -> Indices:
    """Cut the labels in random order into sets of k; others fill up the last one."""
    order = rng.permutation(n_labels)
    n_missing = -n_labels % k
    return np.sort(np.concatenate([order, order[:n_missing]]).reshape(-1, k), axis=1)


def _draw_distinct(
    n_labels: int, n_sets: int, k: int, first: list[list[int]], rng: np.random.Generator
) -> Indices:
    """Add random sets to the first ones until there are enough, none twice."""
    sets = dict.fromkeys(map(tuple, first))
    while len(sets) < n_sets:
        sets[tuple(sorted(rng.choice(n_labels, size=k, replace=False).tolist()))] = None
    return np.array(list(sets), dtype=np.intp)
