"""Rows that stay on the disk: more than fit into memory."""

from refpair.on_disk.files import open_rows
from refpair.on_disk.rows import RowsOnDisk

__all__ = ["RowsOnDisk", "open_rows"]
