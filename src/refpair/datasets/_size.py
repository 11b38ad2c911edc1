"""Limits on what small files may claim: a few bytes must not ask for gigabytes."""

from __future__ import annotations

from pathlib import Path

__all__ = ["MAX_COLUMNS", "TableSizeError", "check_cells", "check_columns", "check_growth"]

MAX_COLUMNS = 1_000_000
"""So many columns any file may have; a larger number must be warranted by what the file holds."""

# Half a million rows with as many labels are 250 GB, and come in files of hundreds of MB: less than this.
_MAX_CELLS_PER_BYTE, _ALWAYS_ALLOWED = 1000, 1 << 24
# A name and a comma take a byte or more, even when packed; nobody can wait for those who have none.
_ALWAYS_ALLOWED_COLUMNS = 10_000
# Tables of zeros with a few ones are packed to a hundredth of their size.
_MAX_GROWTH = 200


class TableSizeError(ValueError):
    """A file claims a table that is out of all proportion to its size."""


def check_cells(path: Path, n_rows: int, n_columns: int, what: str) -> None:
    """Refuse a dense matrix that is out of all proportion to the size of the file.

    Parameters
    ----------
    path : Path
        The file.
    n_rows, n_columns : int
        The shape of the matrix.
    what : str
        What the columns are, for the message.
    """
    n_bytes = path.stat().st_size
    if n_rows * n_columns > _ALWAYS_ALLOWED + _MAX_CELLS_PER_BYTE * n_bytes:
        raise TableSizeError(
            f"{path}: {n_rows:,} rows times {n_columns:,} {what} are too many for a file of {n_bytes:,} "
            "bytes; is it broken? Otherwise split it into files of fewer rows"
        )


def check_columns(path: Path, n_columns: int) -> None:
    """Refuse a header of more columns than a file of its size can tell apart."""
    n_bytes = path.stat().st_size
    if n_columns > _ALWAYS_ALLOWED_COLUMNS + n_bytes:
        raise TableSizeError(
            f"{path}: {n_columns:,} columns are too many for a file of {n_bytes:,} bytes; is it broken?"
        )


def check_growth(path: Path, n_unpacked: int) -> None:
    """Refuse a packed file that holds far more than tables of its size do."""
    n_bytes = path.stat().st_size
    if n_unpacked > _ALWAYS_ALLOWED + _MAX_GROWTH * n_bytes:
        raise TableSizeError(
            f"{path}: it would grow more than {_MAX_GROWTH} times when unpacked, which tables hardly do; if "
            "you trust it, unpack it first"
        )
