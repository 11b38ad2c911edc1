"""How a table is to be read: one set of options for every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .columns import Kind

__all__ = ["TableOptions"]


@dataclass(frozen=True)
class TableOptions:
    """How a table is to be read.

    Attributes
    ----------
    labels : tuple of str or None
        The label columns, or the one column of joined names; None if the file tells them itself.
    label_sep : str, optional
        What stands between joined names; found out by default.
    drop : tuple of str
        Columns that are no features.
    kinds : tuple of (str, kind)
        What columns are, see :class:`refpair.TableVectorizer`.
    sep, encoding : str, optional
        How a file of text is written, see :func:`refpair.tables.read_table`.

    Examples
    --------
    >>> TableOptions(labels=("joy", "anger")).reading
    {'drop': (), 'sep': None, 'encoding': None}
    """

    labels: tuple[str, ...] | None = None
    label_sep: str | None = None
    drop: tuple[str, ...] = ()
    kinds: tuple[tuple[str, Kind], ...] = ()
    sep: str | None = None
    encoding: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """The options that reading needs, labels apart."""
        return {"drop": self.drop, "sep": self.sep, "encoding": self.encoding}
