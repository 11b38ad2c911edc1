"""Where a table comes from, a file, packed or not, or standard input; and limits on what it may claim."""

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

from ._names import TableError

_MAGIC = b"\x1f\x8b"

# A few bytes must not ask for gigabytes.
# Half a million rows with as many labels are 250 GB, and come in files of hundreds of MB: less than this.
_MAX_CELLS_PER_BYTE, _ALWAYS_ALLOWED = 1000, 1 << 24
# Where each cell takes a byte, if only a comma; but rows may leave out their last cells, and JSON any.
_MAX_WRITTEN_CELLS_PER_BYTE = 20
# Tables of zeros with a few ones are packed to a hundredth of their size.
_MAX_GROWTH = 200


@dataclass(frozen=True)
class Source:
    """Bytes that can be read more than once: a file, or what standard input held; messages call it `name`."""

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
                raise TableError(f"it is not a whole .gz file ({error}); pack it again") from error

    def check_text(self, encoding: str | None) -> tuple[int, int]:
        """Return the bytes, unpacked, and lines at most; refuse what is no text, or grows too much."""
        try:
            decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
            b"".decode(encoding or "utf-8")  # refuses codecs that make no text
        except LookupError as error:
            raise TableError(
                f"the encoding {encoding!r} is unknown; latin-1, cp1252 and utf-16 are some"
            ) from error
        n_bytes = n_lines = 0
        with self.open() as file:
            is_whole = False
            while not is_whole:
                chunk = file.read(1 << 20)
                is_whole = not chunk
                n_bytes += len(chunk)
                check_growth(self.n_bytes, n_bytes)
                try:
                    decoder.decode(chunk, final=is_whole)
                    if encoding is None and b"\0" in chunk:
                        raise UnicodeDecodeError("utf-8", chunk, chunk.index(b"\0"), len(chunk), "")
                except UnicodeDecodeError as error:
                    line = n_lines + error.object.count(b"\n", 0, error.start) + 1
                    raise TableError(self._not_text(encoding, error.object[error.start], line)) from error
                n_lines += chunk.count(b"\n")
        return n_bytes, n_lines + 1

    def _not_text(self, encoding: str | None, byte: int, line: int) -> str:
        with self.open() as file:
            start = file.read(2)
        wide = start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        remedy = "give --encoding utf-16" if wide else "give --encoding latin-1, say"
        if byte == 0 and not wide:
            remedy = "is it a table?"
        return f"it is not {encoding or 'UTF-8'} (byte 0x{byte:02x} in line {line}); {remedy}"

    @contextmanager
    def open_text(self, encoding: str | None) -> Iterator[TextIO]:
        """Open it as text, without a byte order mark, with line ends as they are."""
        with self.open() as file, io.TextIOWrapper(file, encoding or "utf-8-sig", newline="") as text:
            yield text


def open_source(source: str | os.PathLike[str]) -> Source:
    """Return the source of a name: ``-`` is standard input, which is read at once."""
    if source == "-":
        return Source("standard input", None, sys.stdin.buffer.read())
    path = Path(source)
    if not path.is_file():
        path.open("rb").close()  # an error that says why
    return Source(str(path), path)


def check_cells(n_bytes: int, n_rows: int, n_columns: int, what: str = "") -> None:
    """Refuse a matrix of `what` that is out of all proportion to the size of a file.

    By default it is a table of text of this size, unpacked, most of whose cells are not written in it.
    """
    per_byte = _MAX_CELLS_PER_BYTE if what else _MAX_WRITTEN_CELLS_PER_BYTE
    if n_rows * n_columns > _ALWAYS_ALLOWED + per_byte * n_bytes:
        raise TableError(
            f"{n_rows:,} rows times {n_columns:,} {what or 'columns'} are too many for a file of "
            f"{n_bytes:,} bytes; is it broken? Otherwise split it into files of fewer rows"
        )


def check_growth(n_bytes: int, n_unpacked: int) -> None:
    """Refuse a packed file that holds far more than tables of its size do."""
    if n_unpacked > _ALWAYS_ALLOWED + _MAX_GROWTH * n_bytes:
        raise TableError(
            f"it would grow more than {_MAX_GROWTH} times when unpacked, which tables hardly do; "
            "if you trust it, unpack it first"
        )
