"""A table of results, and how it is written as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

__all__ = ["ResultTable", "escape_latex", "escape_markdown"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
} | {sign: "\\" + sign for sign in "&%$#_{}"}


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table of results.

    Parameters
    ----------
    name : str
        What its files are called.
    title : str
        What stands above it.
    note : str
        What stands below it: how to read it.
    values : DataFrame
        What the CSV file holds, in full precision; its shape need not be that of ``shown``.
    shown : DataFrame of str
        What a reader sees. The name of the index is the heading of the first column.
    bold : DataFrame of bool
        Which of its cells stand out; of the shape of ``shown``.
    tone : DataFrame of str, optional
        "good", "bad" or "" for each cell: a colour, where there are colours.

    Examples
    --------
    >>> shown = pd.DataFrame({"BR": [".24"], "CC": [".31"]}, index=pd.Index(["flags"], name="data"))
    >>> table = ResultTable("scores", "F1 score ↑", "Best in bold.", shown, shown, shown == ".31")
    >>> print(table.to_markdown())
    | data | BR | CC |
    | :-- | --: | --: |
    | flags | .24 | **.31** |
    """

    name: str
    title: str
    note: str
    values: pd.DataFrame
    shown: pd.DataFrame
    bold: pd.DataFrame
    tone: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        if self.bold.shape != self.shown.shape:
            raise ValueError(f"bold must have the shape of shown, {self.shown.shape}, not {self.bold.shape}")

    def to_csv(self) -> str:
        """Return all values as CSV."""
        return self.values.to_csv(index=False, lineterminator="\n")

    def to_markdown(self) -> str:
        """Return the table in Markdown, without its title and note."""
        head = [escape_markdown(name) for name in self._head()]
        lines = [head, [":--"] + ["--:"] * (len(head) - 1)]
        for name, cells in self._rows():
            lines.append([escape_markdown(name), *(_star(text, bold) for text, bold, _ in cells)])
        return "\n".join(_join_markdown(line) for line in lines)

    def to_html(self) -> str:
        """Return the table as an HTML element with title and note."""
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self._head())
        body = "\n".join(
            f'<tr><th scope="row">{html.escape(name)}</th>{"".join(_cell(*cell) for cell in cells)}</tr>'
            for name, cells in self._rows()
        )
        return (
            f'<div class="table" id="table-{html.escape(self.name)}">\n<div class="box"><table>\n'
            f"<caption>{html.escape(self.title)}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f'<tbody>\n{body}\n</tbody>\n</table></div>\n<p class="note">{html.escape(self.note)}</p>\n</div>'
        )

    def to_latex(self) -> str:
        """Return the table as a LaTeX ``table`` that needs the package booktabs."""
        lines = [_join_latex([escape_latex(name) for name in self._head()]), r"\midrule"]
        for name, cells in self._rows():
            shown = [
                rf"\textbf{{{escape_latex(text)}}}" if bold else escape_latex(text) for text, bold, _ in cells
            ]
            lines.append(_join_latex([escape_latex(name), *shown]))
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering\footnotesize",
                rf"\caption{{{escape_latex(f'{self.title}. {self.note}'.strip())}}}",
                rf"\label{{tab:{self.name}}}",
                rf"\begin{{tabular}}{{l{'r' * self.shown.shape[1]}}}",
                r"\toprule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def _head(self) -> list[str]:
        return [str(self.shown.index.name or ""), *map(str, self.shown.columns)]

    def _rows(self) -> Iterator[tuple[str, list[tuple[str, bool, str]]]]:
        tone = self.tone if self.tone is not None else self.shown.map(lambda _: "")
        parts = (part.to_numpy() for part in (self.shown, self.bold, tone))
        for name, *cells in zip(self.shown.index, *parts, strict=True):
            yield str(name), [(str(text), bool(bold), str(t)) for text, bold, t in zip(*cells, strict=True)]


def escape_markdown(text: str) -> str:
    r"""Return text that Markdown shows as it is, on one line.

    Examples
    --------
    >>> print(escape_markdown("a|b_c"))
    a\|b\_c
    """
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", " ".join(text.split()))


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX shows as it is.

    Examples
    --------
    >>> print(escape_latex("my_cost ↑: 5 % ± 1 %"))
    my\_cost $\uparrow$: 5 \% $\pm$ 1 \%
    """
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def _star(text: str, bold: bool) -> str:
    return f"**{escape_markdown(text)}**" if bold and text else escape_markdown(text)


def _cell(text: str, bold: bool, tone: str) -> str:
    shown = html.escape(text).replace("\n", "<br>")
    inner = f"<strong>{shown}</strong>" if bold else shown
    return f'<td class="{tone}">{inner}</td>' if tone else f"<td>{inner}</td>"


def _join_markdown(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _join_latex(cells: list[str]) -> str:
    return rf"{' & '.join(cells)} \\"
