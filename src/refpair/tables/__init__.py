"""Tables: read from every format, and written."""

from refpair.tables.read import Table, read_table
from refpair.tables.write import write_table

__all__ = ["Table", "read_table", "write_table"]
