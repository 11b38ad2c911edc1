"""Label a table, the rows that teach the most first: sessions, and a page in the browser."""

from refpair.labeling.session import Session, Undone

__all__ = ["Session", "Undone"]
