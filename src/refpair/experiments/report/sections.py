"""What a report is made of: sections of text, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from refpair.experiments.report.tables import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Section", "SectionFigure"]


@dataclass(frozen=True)
class SectionFigure:
    """A figure that is drawn when the report is written.

    Parameters
    ----------
    name : str
        What its file is called.
    caption : str
        What stands below it.
    draw : callable
        Returns a matplotlib figure.
    """

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs of plain text, tables, figures, and smaller sections after them.

    Examples
    --------
    >>> Section("Scores", ["All is well."], parts=[Section("Times")]).parts[0].heading
    'Times'
    """

    heading: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[ResultTable] = ()
    figures: Sequence[SectionFigure] = ()
    parts: Sequence[Section] = ()
