"""A table of results, how its numbers are shown, and how it is written as CSV, Markdown, HTML and LaTeX."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair._extras import pd
from refpair.experiments.names import greater_is_better
from refpair.experiments.published import PAPER_DATA

_ALGORITHMS = ("BR", "RAkEL", "HAMR", "CC", "PCC", "CFT")
_DECODERS = ("CSRPE-nearest", "CSRPE-ext-nearest", "CSRPE-posterior", "CSRPE-ext-posterior")
_TITLES = {
    "f1": "F1 score",
    "jaccard": "Accuracy (Jaccard)",
    "hamming": "Hamming loss",
    "rank": "Rank loss",
    "zero_one": "Zero-one loss",
}
_KNOWN = (*PAPER_DATA, *_ALGORITHMS, *_DECODERS, *_TITLES)  # the paper's order
_MOST_DECIMALS = 6
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
    """A table of results, with a title above and a note below.

    ``values`` are what the CSV file holds, in full precision; ``shown`` what a reader sees, its index being
    the first column. ``style`` has "bold", "good", "bad", some of them or "" for each cell of ``shown``.
    """

    name: str
    title: str
    note: str
    values: pd.DataFrame
    shown: pd.DataFrame
    style: pd.DataFrame | None = None

    def to_csv(self) -> str:
        """Return all values as CSV."""
        return self.values.to_csv(index=False, lineterminator="\n")

    def to_markdown(self) -> str:
        """Return the table in Markdown, without its title and note."""
        head, *body = self._cells(
            escape_markdown, lambda text, style: f"**{text}**" if "bold" in style and text else text
        )
        lines = [head, [":--"] + ["--:"] * (len(head) - 1), *body]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def to_html(self) -> str:
        """Return the table as an HTML element with title and note."""
        head, *body = self._cells(
            html.escape,
            lambda text, style: f'<td class="{style}">{text}</td>' if style else f"<td>{text}</td>",
        )
        columns = "".join(f'<th scope="col">{name}</th>' for name in head)
        rows = "\n".join(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>' for name, *cells in body)
        return (
            f'<div class="table" id="table-{html.escape(self.name)}">\n<div class="box"><table>\n'
            f"<caption>{html.escape(self.title)}</caption>\n<thead><tr>{columns}</tr></thead>\n"
            f'<tbody>\n{rows}\n</tbody>\n</table></div>\n<p class="note">{html.escape(self.note)}</p>\n</div>'
        )

    def to_latex(self) -> str:
        """Return the table as a LaTeX ``table`` that needs the package booktabs."""
        head, *body = self._cells(
            escape_latex, lambda text, style: rf"\textbf{{{text}}}" if "bold" in style else text
        )
        first, *rows = [rf"{' & '.join(line)} \\" + "\n" for line in (head, *body)]
        caption = escape_latex(f"{self.title}. {self.note}".strip())
        return (
            "\\begin{table}\n\\centering\\footnotesize\n"
            f"\\caption{{{caption}}}\n\\label{{tab:{self.name}}}\n"
            f"\\begin{{tabular}}{{l{'r' * self.shown.shape[1]}}}\n"
            f"\\toprule\n{first}\\midrule\n{''.join(rows)}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def _cells(self, escape: Callable[[str], str], mark: Callable[[str, str], str]) -> list[list[str]]:
        """Return the head and the rows, each cell escaped and marked by its style."""
        style = self.shown.map(lambda _: "") if self.style is None else self.style
        head = [escape(str(name)) for name in (self.shown.index.name or "", *self.shown.columns)]
        rows = zip(self.shown.index, self.shown.to_numpy(), style.to_numpy(), strict=True)
        return [head] + [
            [escape(str(name)), *(mark(escape(str(cell)), how) for cell, how in zip(*parts, strict=True))]
            for name, *parts in rows
        ]


_captions = tomllib.loads(
    files("refpair.experiments.report").joinpath("captions.toml").read_text(encoding="utf-8")
)


def caption(kind: str, part: str, **words: Any) -> str:
    """Return what stands beside a kind of table or figure, in ``captions.toml``, with its words filled in."""
    text: str = _captions[kind][part]
    return text.format(**words)


def make_table(
    kind: str,
    values: pd.DataFrame,
    shown: pd.DataFrame,
    style: pd.DataFrame | None = None,
    *,
    of: str = "",
    **words: Any,
) -> ResultTable:
    """Return a table with its captions; its file is called by its kind and what it is of."""
    title, note = (caption(kind, part, of=of, **words) for part in ("title", "note"))
    return ResultTable(file_name(kind, of), title, note.strip(), values, shown, style)


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|~#])", r"\\\1", " ".join(text.split()))


def escape_latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct names of data sets, algorithms or costs in the paper's order, then all others."""
    given = list(dict.fromkeys(names))
    return [name for name in _KNOWN if name in given] + [name for name in given if name not in _KNOWN]


def spread(cells: pd.Series) -> pd.DataFrame:
    """Return cells with the second level of their index in columns, all in the order of :func:`in_order`."""
    table = cells.unstack()
    order = in_order(table.index), in_order(table.columns)
    return table.reindex(index=order[0], columns=order[1]).rename_axis(columns=None)


def cost_title(cost: str) -> str:
    """Return the name of a cost with an arrow to where it is better."""
    return f"{_TITLES.get(cost, cost)} {'↑' if greater_is_better(cost) else '↓'}"


def file_name(*words: str) -> str:
    """Return the words as a name that any file system takes."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", "-".join(words)).strip("-")


def decimals_for(means: npt.ArrayLike, errors: npt.ArrayLike) -> int:
    """Return how many decimals numbers that stand together are shown with.

    As many as give the largest mean four digits, or fewer if the typical standard error has two digits then;
    no more than six.
    """
    sizes, spreads = _sizes(means), _sizes(errors)
    decimals = _decimals(float(sizes.max()), 4) if len(sizes) else 0
    return min(decimals, _decimals(float(np.median(spreads)), 2)) if len(spreads) else decimals


def show_number(number: float, decimals: int) -> str:
    """Return a number as the paper prints it, without a zero before the point; "–" for NaN."""
    if not np.isfinite(number):
        return "–"
    text = f"{number:.{decimals}f}".replace("-", "−")
    return re.sub(r"^(−?)0\.", r"\1.", text)


def show_mean(mean: float, error: float, decimals: int) -> str:
    """Return a mean with its standard error, if it has one."""
    shown = show_number(mean, decimals)
    return f"{shown} ± {show_number(error, decimals)}" if np.isfinite(error) else shown


def show_percent(share: float) -> str:
    """Return a share as percent with its sign."""
    if not np.isfinite(share):
        return "–"
    tenths = round(1000 * share)
    sign = "+" if tenths > 0 else "−" if tenths < 0 else ""
    return f"{sign}{abs(tenths) / 10:.1f} %"


def show_range(fewest: int, most: int) -> str:
    """Return a number, or the least and the most."""
    return f"{fewest} to {most}" if fewest < most else str(most)


def show_time(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if not np.isfinite(seconds):
        return "–"
    for longest, size, unit, decimals in (
        (0.95, 1, "s", 2),
        (9.95, 1, "s", 1),
        (600, 1, "s", 0),
        (2 * 3600, 60, "min", 0),
    ):
        if seconds < longest:
            return f"{seconds / size:.{decimals}f} {unit}"
    return f"{seconds / 3600:.1f} h"


def _sizes(numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return how large the numbers are that are neither missing nor zero."""
    sizes = np.abs(np.asarray(numbers, dtype=np.float64))
    return sizes[np.isfinite(sizes) & (sizes > 0)]


def _decimals(size: float, digits: int) -> int:
    return int(np.clip(digits - 1 - np.floor(np.log10(size)), 0, _MOST_DECIMALS))
