"""Binary BCH codes: how to build and how to correct them, many words at a time.

A *word* is a row of n = 2^p − 1 bits; column c is the coefficient of x^(n−1−c), so a message comes first and
its parity bits last. A word is a code word if it has α, α², …, α^(2t) as roots, where α generates GF(2^p).
Numbers of GF(2^p) are integers below 2^p whose bits are the coefficients of powers of α.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

__all__ = [
    "MAX_DEGREE",
    "MIN_DEGREE",
    "Design",
    "Field",
    "correct",
    "design",
    "encode",
    "get_field",
    "parities",
]

# One primitive polynomial for each p; bit i is the coefficient of x^i. MATLAB and galois use the same.
_PRIMITIVE = {
    3: 0b1011,
    4: 0b10011,
    5: 0b100101,
    6: 0b1000011,
    7: 0b10001001,
    8: 0b100011101,
    9: 0b1000010001,
    10: 0b10000001001,
    11: 0b100000000101,
    12: 0b1000001010011,
    13: 0b10000000011011,
    14: 0b100010001000011,
    15: 0b1000000000000011,
    16: 0b10001000000001011,
}
MIN_DEGREE, MAX_DEGREE = min(_PRIMITIVE), max(_PRIMITIVE)
_CELLS = 2**20  # bits of words at a time: 4 MB as float32
_SYNDROMES = 64  # of each word in one matrix product
_COEFFICIENTS = 2**16  # of recurrences at a time: what is made of them stays in the cache

Words = npt.NDArray[np.uint8]
Elements = npt.NDArray[np.uint16]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Field:
    """GF(2^p) by its tables: a · b is ``exp[log[a] + log[b]]``, for zeros too.

    The logarithm of 0 is ``zero`` = 2n: more than any sum of two others, and ``exp`` is 0 from there on.
    """

    degree: int
    exp: Elements
    log: Indices

    @property
    def size(self) -> int:
        """The number n = 2^p − 1 of elements other than 0."""
        return int(2**self.degree - 1)

    @property
    def zero(self) -> int:
        return 2 * self.size


@cache
def get_field(degree: int) -> Field:
    size = 2**degree - 1
    exp, log = np.zeros(4 * size + 1, np.uint16), np.full(size + 1, 2 * size, np.intp)
    element = 1
    for power in range(size):
        exp[power] = exp[power + size] = element
        log[element] = power
        element <<= 1
        if element > size:
            element ^= _PRIMITIVE[degree]
    exp.flags.writeable = log.flags.writeable = False  # shared by all codes of this length
    return Field(degree, exp, log)


@dataclass(frozen=True)
class Design:
    """What a BCH code can do, and its generator polynomial as an integer."""

    n_correctable: int
    n_message: int
    generator: int


@cache
def design(degree: int, n_labels: int) -> Design | None:
    """Return the code of length 2^p − 1 with the largest t whose messages hold n_labels bits, if any does."""
    size = 2**degree - 1
    best, roots, generator = None, set[int](), 1
    for n_correctable in range(1, (size + 1) // 2):
        root = 2 * n_correctable - 1  # the conjugates of odd powers are all the even ones
        if root not in roots:
            conjugates = {root * 2**i % size for i in range(degree)}
            roots |= conjugates
            generator = _times(generator, _minimal_polynomial(get_field(degree), conjugates))
        if size - len(roots) < n_labels:
            break
        best = Design(n_correctable, size - len(roots), generator)
    return best


def _minimal_polynomial(field: Field, conjugates: set[int]) -> int:
    """Return the product of x + α^i over all i of the conjugates: its coefficients are bits."""
    coefficients = np.array([1], np.uint16)  # from the constant on
    for power in sorted(conjugates):
        product = np.zeros(len(coefficients) + 1, np.uint16)
        product[1:] = coefficients
        product[:-1] ^= field.exp[field.log[coefficients] + power]
        coefficients = product
    return sum(int(bit) << i for i, bit in enumerate(coefficients))


def _times(first: int, second: int) -> int:
    """Multiply two polynomials with bits as coefficients."""
    product = 0
    for shift in range(second.bit_length()):
        if second >> shift & 1:
            product ^= first << shift
    return product


def parities(code: Design, size: int) -> npt.NDArray[np.float32]:
    """Return which parity bits each message bit flips, (k, n − k), as factors of :func:`encode`."""
    n_parities = size - code.n_message
    n_bytes = (n_parities + 7) // 8
    out = np.empty((code.n_message, n_parities), np.float32)
    remainder = code.generator ^ 1 << n_parities  # of x^(n−k), the last message bit
    for bit in reversed(range(code.n_message)):
        row = np.frombuffer(remainder.to_bytes(n_bytes, "big"), np.uint8)
        out[bit] = np.unpackbits(row)[8 * n_bytes - n_parities :]
        remainder <<= 1
        if remainder >> n_parities:
            remainder ^= code.generator
    return out


def encode(messages: Words, flips: npt.NDArray[np.float32]) -> Words:
    """Return the code words of messages, of which zeros at the end may be left out."""
    n_message, n_parities = flips.shape
    words = np.zeros((len(messages), n_message + n_parities), np.uint8)
    words[:, : messages.shape[1]] = messages
    # Only the product of floats is fast, and float32 counts exactly up to 2^24.
    flipped = messages.astype(np.float32) @ flips[: messages.shape[1]]
    words[:, n_message:] = flipped.astype(np.uint16) & 1
    return words


def correct(words: Words, field: Field, code: Design, flips: npt.NDArray[np.float32]) -> Words:
    """Return the messages of the code words at most t bits away; where there is none, of the word as it is.

    There is at most one such code word, so whatever message has one is right: the received message, if the
    errors are all elsewhere, or else the one after correction. Only the message bits need correction then.
    """
    messages = words[:, : code.n_message].copy()
    n_rows = max(_CELLS // field.size, 64)
    for start in range(0, len(words), n_rows):
        block = slice(start, start + n_rows)
        far = ~_near(messages[block], words[block], code, flips)
        rows = start + np.flatnonzero(far)
        syndromes = _syndromes(words[rows], field, code.n_correctable)
        corrected = messages[rows] ^ _message_errors(syndromes, code.n_message, field)
        near = _near(corrected, words[rows], code, flips)
        messages[rows[near]] = corrected[near]
    return messages


def _near(
    messages: Words, words: Words, code: Design, flips: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Return whether the code words of the messages are at most t bits away from the words."""
    distances = (encode(messages, flips) != words).sum(axis=1)
    return np.asarray(distances <= code.n_correctable)


def _message_errors(syndromes: Elements, n_message: int, field: Field) -> Words:
    """Return the errors in the message bits, right if there are at most t in the word."""
    out = np.empty((syndromes.shape[1], n_message), np.uint8)
    n_columns = max(_COEFFICIENTS // len(syndromes), 64)
    for start in range(0, len(out), n_columns):
        some = slice(start, start + n_columns)
        out[some] = _roots(_error_locators(syndromes[:, some], field), n_message, field)
    return out


def _syndromes(words: Words, field: Field, n_correctable: int) -> Elements:
    """Return the values of the words (columns) at α, α², …, α^(2t) (rows)."""
    bits = words.T.astype(np.float32)  # sums of up to 65,535 ones are exact, and the product is fast
    powers = np.arange(field.size)[::-1]
    shifts = np.arange(field.degree, dtype=np.uint16)[:, None]
    out = np.empty((2 * n_correctable, len(words)), np.uint16)
    for start in range(0, n_correctable, _SYNDROMES):
        odd = 2 * np.arange(start, min(start + _SYNDROMES, n_correctable)) + 1
        values = field.exp[np.outer(odd, powers) % field.size]
        checks = (values[:, None] >> shifts & 1).reshape(-1, field.size).astype(np.float32)
        sums = (checks @ bits).astype(np.uint16).reshape(len(odd), field.degree, len(words))
        out[odd - 1] = np.bitwise_or.reduce((sums & 1) << shifts, axis=1)
    for power in range(1, n_correctable + 1):  # a polynomial of bits has f(x²) = f(x)²
        out[2 * power - 1] = field.exp[2 * field.log[out[power - 1]]]
    return out


def _error_locators(syndromes: Elements, field: Field) -> Elements:
    """Return the shortest recurrences of the syndromes of each word (Berlekamp–Massey), all in lockstep.

    Of up to t errors at x^i, i in E, the recurrence is the product of 1 + α^i·x over E. Row j of the answer
    holds the coefficients of x^j. Every second discrepancy is zero since the code is binary, so steps go by
    two. Recurrences longer than t are of no use: their coefficients beyond x^t are left out.
    """
    n_correctable = len(syndromes) // 2
    logs = field.log[syndromes]
    locator = np.zeros((n_correctable + 1, syndromes.shape[1]), np.uint16)
    locator[0] = 1
    correction = np.zeros_like(locator)  # the last shorter recurrence, shifted by the steps since then
    correction[1] = 1
    scale = np.zeros(syndromes.shape[1], np.intp)  # the logarithm of the discrepancy that recurrence had
    length = np.zeros(syndromes.shape[1], np.intp)
    for step in range(0, 2 * n_correctable, 2):
        width = min(int(length.max()), n_correctable) + 1
        recent = logs[step + 1 - width : step + 1][::-1]
        terms = field.exp[field.log[locator[:width]] + recent]
        discrepancy = field.log[np.bitwise_xor.reduce(terms, axis=0)]
        wrong = discrepancy != field.zero
        if wrong.any():
            reach = min(step + 1, n_correctable) + 1  # no correction has a higher degree yet
            factor = np.where(wrong, (discrepancy - scale) % field.size, field.zero)
            change = field.exp[field.log[correction[:reach]] + factor]
            longer = wrong & (2 * length <= step)
            np.copyto(correction[:reach], locator[:reach], where=longer)
            locator[:reach] ^= change
            scale = np.where(longer, discrepancy, scale)
            length = np.where(longer, step + 1 - length, length)
        correction[2:] = correction[:-2].copy()
        correction[:2] = 0
    return locator


def _roots(locators: Elements, n_places: int, field: Field) -> Words:
    """Return at which of the first places the locators have their roots (Chien search), a word a row."""
    values = np.zeros((n_places, locators.shape[1]), np.uint16)
    inverses = np.arange(1, n_places + 1)[:, None]  # place c is x^(n−1−c), and its inverse x^(c+1)
    for power, logs in enumerate(field.log[locators]):
        values ^= field.exp[logs + inverses * power % field.size]
    return np.asarray((values == 0).T, np.uint8)
