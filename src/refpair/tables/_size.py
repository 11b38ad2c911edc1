"""Limits on what small files may claim: a few bytes must not ask for gigabytes."""

from __future__ import annotations

__all__ = ["check_cells", "check_columns", "check_growth", "check_written_cells"]

# Half a million rows with as many labels are 250 GB, and come in files of hundreds of MB: less than this.
_MAX_CELLS_PER_BYTE, _ALWAYS_ALLOWED = 1000, 1 << 24
# Where each cell takes a byte, if only a comma; but rows may leave out their last cells, and JSON any.
_MAX_WRITTEN_CELLS_PER_BYTE = 20
# A name and a comma take a byte or more, even when packed; nobody can wait for those who have none.
_ALWAYS_ALLOWED_COLUMNS = 10_000
# Tables of zeros with a few ones are packed to a hundredth of their size.
_MAX_GROWTH = 200


def check_cells(source: str, n_bytes: int, n_rows: int, n_columns: int, what: str) -> None:
    """Refuse a dense matrix that is out of all proportion to the size of the file.

    Parameters
    ----------
    source : str
        The file, for the message.
    n_bytes : int
        Its size.
    n_rows, n_columns : int
        The shape of the matrix.
    what : str
        What the columns are, for the message.
    """
    _check(source, n_bytes, n_rows, n_columns, what, _MAX_CELLS_PER_BYTE)


def check_written_cells(source: str, n_bytes: int, n_rows: int, n_columns: int) -> None:
    """Refuse a table of text most of whose cells are not written in it; ``n_bytes`` is the unpacked size."""
    _check(source, n_bytes, n_rows, n_columns, "columns", _MAX_WRITTEN_CELLS_PER_BYTE)


def check_columns(source: str, n_bytes: int, n_columns: int) -> None:
    """Refuse a header of more columns than a file of its size can tell apart."""
    if n_columns > _ALWAYS_ALLOWED_COLUMNS + n_bytes:
        raise ValueError(
            f"{source}: {n_columns:,} columns are too many for a file of {n_bytes:,} bytes; is it broken?"
        )


def check_growth(source: str, n_bytes: int, n_unpacked: int) -> None:
    """Refuse a packed file that holds far more than tables of its size do."""
    if n_unpacked > _ALWAYS_ALLOWED + _MAX_GROWTH * n_bytes:
        raise ValueError(
            f"{source}: it would grow more than {_MAX_GROWTH} times when unpacked, which tables hardly do; "
            "if you trust it, unpack it first"
        )


def _check(source: str, n_bytes: int, n_rows: int, n_columns: int, what: str, per_byte: int) -> None:
    if n_rows * n_columns > _ALWAYS_ALLOWED + per_byte * n_bytes:
        raise ValueError(
            f"{source}: {n_rows:,} rows times {n_columns:,} {what} are too many for a file of {n_bytes:,} "
            "bytes; is it broken? Otherwise split it into files of fewer rows"
        )
