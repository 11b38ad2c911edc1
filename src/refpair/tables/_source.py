"""Where a table comes from: a file, packed or not, or standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from refpair.tables._size import check_growth

__all__ = ["Source", "TextSize", "open_source"]

_MAGIC = b"\x1f\x8b"
_HEAD = 1 << 18  # characters that are looked at to find the separator


@dataclass(frozen=True)
class TextSize:
    """How large a text is, unpacked: bytes, and lines at most."""

    n_bytes: int
    n_lines: int


@dataclass(frozen=True)
class Source:
    """Bytes that can be read more than once.

    Attributes
    ----------
    name : str
        What messages call it: the path as it was given.
    path : Path or None
        The file; None for standard input.
    content : bytes
        What standard input held.
    """

    name: str
    path: Path | None
    content: bytes = b""

    @property
    def n_bytes(self) -> int:
        """The size as it is, packed or not."""
        return len(self.content) if self.path is None else self.path.stat().st_size

    @property
    def is_packed(self) -> bool:
        """Whether it is gzipped."""
        return self.content[:2] == _MAGIC if self.path is None else self.path.suffix.lower() == ".gz"

    def has_ending(self, *endings: str) -> bool:
        """Whether the file's name ends so, with or without .gz."""
        name = "" if self.path is None else self.path.name.lower()
        return name.removesuffix(".gz").endswith(endings)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading, unpacked."""
        with io.BytesIO(self.content) if self.path is None else self.path.open("rb") as raw:
            if not self.is_packed:
                yield raw
                return
            try:
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield unpacked  # type: ignore[misc]  # it reads as any binary file does
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                raise ValueError(
                    f"{self.name}: it is not a whole .gz file ({error}); pack it again"
                ) from error

    def check_text(self, encoding: str | None) -> TextSize:
        """Refuse what is no text in this encoding, or grows too much; the default is UTF-8."""
        try:
            decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
            b"".decode(encoding or "utf-8")  # refuses codecs that make no text
        except LookupError as error:
            raise ValueError(
                f"{self.name}: the encoding {encoding!r} is unknown; latin-1, cp1252 and utf-16 are some"
            ) from error
        n_bytes = n_lines = 0
        with self.open() as file:
            while chunk := file.read(1 << 20):
                n_bytes += len(chunk)
                check_growth(self.name, self.n_bytes, n_bytes)
                try:
                    decoder.decode(chunk)
                    if encoding is None and b"\0" in chunk:
                        raise UnicodeDecodeError("utf-8", chunk, chunk.index(b"\0"), len(chunk), "")
                except UnicodeDecodeError as error:
                    line = n_lines + error.object.count(b"\n", 0, error.start) + 1
                    raise ValueError(self._not_text(encoding, error.object[error.start], line)) from error
                n_lines += chunk.count(b"\n")
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise ValueError(self._not_text(encoding, error.object[error.start], n_lines + 1)) from error
        return TextSize(n_bytes, n_lines + 1)

    def _not_text(self, encoding: str | None, byte: int, line: int) -> str:
        with self.open() as file:
            start = file.read(2)
        wide = start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        remedy = "give --encoding utf-16" if wide else "give --encoding latin-1, say"
        if byte == 0 and not wide:
            remedy = "is it a table?"
        return f"{self.name} is not {encoding or 'UTF-8'} (byte 0x{byte:02x} in line {line}); {remedy}"

    @contextmanager
    def open_text(self, encoding: str | None) -> Iterator[TextIO]:
        """Open it as text, without a byte order mark, with line ends as they are."""
        with (
            self.open() as file,
            io.TextIOWrapper(file, encoding=encoding or "utf-8-sig", newline="") as text,
        ):
            yield text

    def read_text(self, encoding: str | None) -> str:
        """Return all of the text, once it is checked."""
        self.check_text(encoding)
        with self.open_text(encoding) as text:
            return text.read()

    def head(self, encoding: str | None) -> tuple[str, bool]:
        """Return the first lines of a text that is checked, and whether that is all."""
        with self.open_text(encoding) as text:
            head = text.read(_HEAD)
            head += text.readline()
            return head, not text.read(1)


def open_source(source: str | os.PathLike[str]) -> Source:
    """Return the source of a name: ``-`` is standard input, which is read at once."""
    if source == "-":
        return Source("standard input", None, sys.stdin.buffer.read())
    path = Path(source)
    if not path.is_file():
        path.open("rb").close()  # an error that says why
    return Source(str(path), path)
