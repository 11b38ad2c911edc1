"""Error-correcting codes of label vectors: the four of ML-ECC (Ferng & Lin, 2013).

A label vector becomes a longer word of bits, each bit is learned, and the redundancy of the word makes up for
bits that were learned badly. Unlike the reference-pair code these codes know of no cost.

========  ============================  ===================================================================
``rep``   :class:`RepetitionCode`       each label many times
``rrep``  :class:`LabelsetRepetition`   random sets of 3 labels; with a powerset learner a set, it is RAkEL
``hamr``  :class:`HammingRepetition`    each label many times, then three parity bits to every four bits
``bch``   :class:`BCHCode`              the strongest: all but a few bits are parities of many labels
========  ============================  ===================================================================
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from refpair.coding._words import Bits
from refpair.coding.bch import BCHCode
from refpair.coding.repetition import HammingRepetition, LabelsetRepetition, RepetitionCode
from refpair.costs import Labels

__all__ = ["LabelCode", "LabelCodeName", "make_label_code"]

LabelCodeName: TypeAlias = Literal["rep", "rrep", "hamr", "bch"]


@runtime_checkable
class LabelCode(Protocol):
    """A code of label vectors; what :func:`make_label_code` returns."""

    @property
    def n_labels(self) -> int:
        """The length of a label vector."""

    @property
    def n_bits(self) -> int:
        """The length of a word."""

    def encode(self, Y: Labels) -> Bits:
        """Return the words of the rows of Y, (n, n_bits)."""

    def decode(self, bits: npt.ArrayLike) -> Bits:
        """Return the label vectors of words with errors in them, (n, n_labels)."""


def make_label_code(
    name: LabelCodeName, n_labels: int, code_length: int | None = None, *, rng: np.random.Generator
) -> LabelCode:
    """Make a code of label vectors by its name.

    Parameters
    ----------
    name : {"rep", "rrep", "hamr", "bch"}
        Which code; see the module.
    n_labels : int
        The length K of a label vector.
    code_length : int, optional
        The number of bits; "rrep" rounds it down to a multiple of 3 (of K for fewer labels), "hamr" to one
        of 7, and "bch" takes 7, 15, 31, … only. By default the smallest 2^p − 1 ≥ 18 K, but no less than 127
        and no more than 1,023: 127 up to 7 labels, 255 up to 14, 511 up to 28, then 1,023. These are the
        lengths of Ferng & Lin for their 6, 14 and 22 labels. Above 511 labels it is the smallest ≥ 2 K.
    rng : numpy.random.Generator
        Draws the sets of "rrep" and the permutation of "bch".

    Examples
    --------
    >>> make_label_code("bch", 14, rng=np.random.default_rng(0)).n_bits
    255
    >>> make_label_code("hamr", 14, rng=np.random.default_rng(0)).n_bits
    252
    """
    if name not in get_args(LabelCodeName):
        raise ValueError(f"name must be one of {', '.join(map(repr, get_args(LabelCodeName)))}, not {name!r}")
    if n_labels < 1:
        raise ValueError(f"n_labels is {n_labels}: give at least 1")
    length = _default_length(n_labels) if code_length is None else code_length
    if name == "rep":
        return RepetitionCode(n_labels, length)
    if name == "rrep":
        return LabelsetRepetition.draw(n_labels, length, k=min(3, n_labels), rng=rng)
    if name == "hamr":
        return HammingRepetition(n_labels, length)
    return BCHCode.draw(n_labels, length, rng=rng)


def _default_length(n_labels: int) -> int:
    """Return the smallest 2^p − 1 of 18 K bits or more, within limits that suit the number of labels."""
    shortest = max(127, min(18 * n_labels, 1023), 2 * n_labels)
    return int(2 ** shortest.bit_length() - 1)
