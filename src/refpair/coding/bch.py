"""The BCH code of label vectors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refpair._saved import Savable, require
from refpair.coding import _bch
from refpair.coding._words import Bits, Indices, check_length, checked_bits, dense_labels
from refpair.costs import Labels

__all__ = ["BCHCode"]

_LONG = 8191  # bits, whatever the number of labels


@dataclass(frozen=True, eq=False)
class BCHCode(Savable):
    """BCH: the labels and zeros make a message, parities of it the rest of a word of 2^p − 1 bits.

    Of the binary narrow-sense codes of this length it is the one that corrects the most errors, t, among
    those with messages of K bits or more. A word with more errors may be decoded wrongly; where no code word
    is within t bits, the message bits are taken as they are.

    Parameters
    ----------
    n_labels : int
        The length K of a label vector.
    code_length : int
        The number of bits: 7, 15, 31, …, 65,535.
    permutation : array-like of shape (code_length,)
        Bit i of a word is bit ``permutation[i]`` of the BCH code word (labels, zeros, parities). Without a
        shuffle, a learner of three neighbouring bits would get three labels or three parities. See
        :meth:`draw`.

    Attributes
    ----------
    n_correctable : int
        The number t of errors that are corrected wherever they are.
    n_message : int
        The length k ≥ K of a message.

    Examples
    --------
    >>> code = BCHCode.draw(6, 31, rng=np.random.default_rng(0))
    >>> code.n_correctable, code.n_message
    (7, 6)
    >>> word = code.encode([[1, 0, 0, 1, 1, 0]])
    >>> word[0, 10:17] ^= 1
    >>> code.decode(word)
    array([[1, 0, 0, 1, 1, 0]], dtype=uint8)
    """

    n_labels: int
    code_length: int
    permutation: Indices

    def __post_init__(self) -> None:
        _check_bch_length(self.n_labels, self.code_length)
        order = np.array(self.permutation)
        if order.shape != (self.code_length,) or (np.sort(order) != np.arange(self.code_length)).any():
            raise ValueError(f"permutation must hold each number from 0 to {self.code_length - 1} once")
        order = order.astype(np.intp)
        order.flags.writeable = False
        object.__setattr__(self, "permutation", order)

    def _check_saved(self) -> None:
        """Refuse codes that take minutes to decode: a file would be all it takes to ask for one."""
        few = self.code_length <= max(_LONG, 4 * self.n_labels)
        require(few, f"code_length is {self.code_length}, too long for {self.n_labels} labels in a file")

    @classmethod
    def draw(cls, n_labels: int, code_length: int, *, rng: np.random.Generator) -> BCHCode:
        """Make the code with a random permutation.

        Examples
        --------
        >>> BCHCode.draw(4, 7, rng=np.random.default_rng(0)).permutation
        array([2, 4, 3, 6, 5, 0, 1])
        """
        _check_bch_length(n_labels, code_length)
        return cls(n_labels, code_length, rng.permutation(code_length))

    @property
    def n_bits(self) -> int:
        """The length of a word."""
        return self.code_length

    @property
    def n_correctable(self) -> int:
        """The number t of errors that are corrected wherever they are."""
        return self._design.n_correctable

    @property
    def n_message(self) -> int:
        """The length of a message: the labels and zeros."""
        return self._design.n_message

    def encode(self, Y: Labels) -> Bits:
        """Return the words of the rows of Y.

        Examples
        --------
        >>> BCHCode(4, 7, range(7)).encode([[1, 0, 1, 0]])
        array([[1, 0, 1, 0, 0, 1, 1]], dtype=uint8)
        """
        return _bch.encode(dense_labels(Y, self.n_labels), self._parities)[:, self.permutation]

    def decode(self, bits: npt.ArrayLike) -> Bits:
        """Return the label vectors of the code words within t errors, or else the bits as they are.

        Examples
        --------
        >>> BCHCode(4, 7, range(7)).decode([[1, 1, 1, 0, 0, 1, 1]])
        array([[1, 0, 1, 0]], dtype=uint8)
        """
        received = checked_bits(bits, self.n_bits)
        words = np.empty(received.shape, np.uint8)
        words[:, self.permutation] = received
        field = _bch.get_field(self._degree)
        messages = _bch.correct(words, field, self._design, self._parities)
        return np.ascontiguousarray(messages[:, : self.n_labels])

    @property
    def _degree(self) -> int:
        return self.code_length.bit_length()

    @property
    def _design(self) -> _bch.Design:
        found = _bch.design(self._degree, self.n_labels)
        assert found is not None  # or the lengths had been refused
        return found

    @cached_property
    def _parities(self) -> npt.NDArray[np.float32]:
        return _bch.parities(self._design, self.code_length)


def _check_bch_length(n_labels: int, code_length: int) -> None:
    lengths = [2**degree - 1 for degree in range(_bch.MIN_DEGREE, _bch.MAX_DEGREE + 1)]
    if code_length not in lengths:
        near = next((length for length in lengths if length > code_length), lengths[-1])
        raise ValueError(f"code_length is {code_length}, but a BCH code has 2^p − 1 bits: give {near}, say")
    # The weakest code, t = 1, has p parity bits.
    shortest = next((length for length in lengths if length - length.bit_length() >= n_labels), 0)
    if not shortest:
        raise ValueError(f"n_labels is {n_labels}, too many for a BCH code: split the labels or use 'rep'")
    check_length(n_labels, code_length, code_length - code_length.bit_length(), shortest)
