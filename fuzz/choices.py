"""Choices made by bytes: how a string of bytes becomes a nearly valid file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_ODD_NUMBERS = (
    "0",
    "1",
    "-1",
    "?",
    "nan",
    "inf",
    "1e999",
    "-0",
    "0x1f",
    "1_0",
    "",
    "9" * 25,
    "9" * 5000,
    "٣",
    "1e-320",
)
_ODD_TEXTS = (
    "",
    "a",
    "it's",
    '"',
    "a b",
    "a,b",
    "%",
    "\\",
    "{",
    "\t",
    "\u2028",
    "é",
    "\x00",
    "x" * 300,
    "joy",
    "0",
    "?",
)


class Choices:
    """A stream of choices; when the bytes are used up, all choices are the first.

    Examples
    --------
    >>> choices = Choices(bytes([7, 1]))
    >>> choices.below(5), choices.flag(), choices.flag(), choices.is_empty()
    (2, True, False, True)
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def is_empty(self) -> bool:
        """Whether all bytes are used up."""
        return self._position >= len(self._data)

    def rest(self) -> bytes:
        """Take all that is left."""
        return self.take(len(self._data))

    def take(self, n_bytes: int) -> bytes:
        """Take up to so many bytes."""
        taken = self._data[self._position : self._position + n_bytes]
        self._position += len(taken)
        return taken

    def below(self, n: int) -> int:
        """Choose a whole number from 0 to n - 1, n at most 256 ** 4."""
        size = 1 if n <= 1 << 8 else 4
        return int.from_bytes(self.take(size), "little") % n

    def flag(self) -> bool:
        """Choose yes or no."""
        return bool(self.below(2))

    def rarely(self) -> bool:
        """Choose yes once in sixteen times."""
        return self.below(16) == 15

    def one_of(self, options: Sequence[T]) -> T:
        """Choose one of several."""
        return options[self.below(len(options))]

    def number(self) -> float:
        """Choose a finite number: a small one, or any float64."""
        if self.flag():
            return float(self.below(256) - 128) / 4
        (number,) = struct.unpack("<d", self.take(8).ljust(8, b"\0"))
        return float(number) if abs(number) < float("inf") else 0.0

    def odd_number(self) -> str:
        """Choose a text that is, or nearly is, a number."""
        return self.one_of(_ODD_NUMBERS)

    def text(self) -> str:
        """Choose a text that formats have trouble with, or a few letters."""
        if self.flag():
            return self.one_of(_ODD_TEXTS)
        return self.take(1 + self.below(8)).decode("utf-8", "replace")

    def damage(self, content: bytes) -> bytes:
        """Cut, repeat or overwrite a part of a file a few times."""
        for _ in range(self.below(4)):
            start = self.below(len(content) + 1)
            end = min(len(content), start + self.below(16))
            middle = self.one_of((b"", content[start:end] * 3, self.take(4)))
            content = content[:start] + middle + content[end:]
        return content
