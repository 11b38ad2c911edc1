"""Write every published table, sentence and figure anew from the stored results: ``make bench-report``.

Pages have pairs of comments, ``<!-- results:NAME -->`` and ``<!-- /results:NAME -->``; what stands between
them is made here. Nothing is fitted.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from benchmarks import (
    active,
    active_learning,
    annotators,
    asking,
    bits,
    cells,
    cluster,
    common,
    competitor_speed,
    forest,
    million,
    new_data,
    paper,
    paper_sets,
    promise,
    promise_recall,
    ranked,
    row_prices,
    rules,
    scaling,
    session,
    splits,
    startup,
    table_measures,
    unknown_labels,
    wrong_labels,
)
from refpair._files import written_whole
from refpair.experiments.report.sections import Section, SectionFigure
from refpair.experiments.simulation import STRATEGIES

PICTURES = "webp"


BLOCKS: dict[str, Callable[[], str]] = {
    "new-data": new_data.show,
    "new-data-summary": new_data.show_summary,
    "paper-sets": paper_sets.show,
    "paper-sets-summary": paper_sets.show_summary,
    "paper": partial(paper.show, PICTURES),
    "paper-flat": paper.show_flat,
    "paper-unseen": paper.show_unseen,
    "paper-origin": paper.show_origin,
    "active-learning": partial(active_learning.show, PICTURES),
    "active-learning-summary": active_learning.show_summary,
    "panels-best": active_learning.show_best,
    "panels-lost": active_learning.show_lost,
    "active-learning-losses": active_learning.show_losses,
    "active-learning-origin": active_learning.show_origin,
    "active": active.show,
    "annotators": annotators.show,
    "annotators-errors": annotators.show_errors,
    "asking": asking.show,
    "asking-summary": asking.show_summary,
    "asking-speed": asking.show_speed,
    "bits": bits.show,
    "bits-range": bits.show_range,
    "cells": cells.show,
    "cells-summary": cells.show_summary,
    "cells-calibration": cells.show_calibration,
    "cluster": cluster.show,
    "cluster-ratio": cluster.show_ratio,
    "competitor-speed": competitor_speed.show,
    "forest": forest.show,
    "forest-latency": forest.show_latency,
    "forest-losses": forest.show_losses,
    "forest-summary": forest.show_summary,
    "million": million.show,
    "promise": promise.show,
    "promise-summary": promise.show_summary,
    "promise-recall": promise_recall.show,
    "promise-recall-summary": promise_recall.show_summary,
    "ranked": ranked.show,
    "row-prices": row_prices.show,
    "rules": rules.show,
    "rules-summary": rules.show_summary,
    "scaling": scaling.show,
    "scaling-exponents": scaling.show_exponents,
    "predict-300": partial(scaling.show_predict, 300),
    "predict-3000": partial(scaling.show_predict, 3000),
    "session": session.show,
    "session-asked": partial(session.show_mean, "session"),
    "session-random": partial(session.show_mean, "random"),
    "splits": splits.show_evenness,
    "splits-speed": splits.show_speed,
    "startup": startup.show,
    "startup-fit": partial(startup.show_compiling, "first fit"),
    "startup-predict": partial(startup.show_compiling, "load, first predict"),
    "table-measures": table_measures.show,
    "table-measures-frequency": table_measures.show_frequency,
    "table-measures-summary": table_measures.show_summary,
    "unknown-labels": unknown_labels.show,
    "unknown-labels-summary": unknown_labels.show_summary,
    "unknown-labels-whole-rows": unknown_labels.show_whole_rows,
    "unknown-labels-times": unknown_labels.show_times,
    "wrong-labels": wrong_labels.show,
    "wrong-labels-gain": wrong_labels.show_gain,
}
BLOCKS |= {
    f"origin-{path.name.partition('.')[0]}": partial(common.tell_origin, path) for path in common.stored()
}
BLOCKS |= {f"panels-{name}": partial(active_learning.show_panels, name) for name in STRATEGIES}
_BLOCK = re.compile(r"(^[ -]*)?(<!-- results:(\S+) -->)(.*?)(<!-- /results:\3 -->)", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[Path]:
    """Yield the pages that have blocks of results."""
    yield from [common.ROOT / "README.md", common.ROOT / "benchmarks" / "README.md"]
    yield from sorted((common.ROOT / "docs").rglob("*.md"))


def fill(text: str) -> str:
    """Return a page with its blocks made anew; a block that begins a line stands on lines of its own."""

    def make(found: re.Match[str]) -> str:
        before, head, name, _, end = found.groups()
        if name not in BLOCKS:
            raise ValueError(f"there are no results {name!r}; there are {', '.join(BLOCKS)}")
        if before:  # a comment that begins a line ends a paragraph
            raise ValueError(f"the block {name!r} must be inside a line, or begin one that is not indented")
        made = _made(name)
        return f"{head}{made}{end}" if before is None else f"{head}\n\n{made}\n\n{end}"

    return _BLOCK.sub(make, text)


@cache
def _made(name: str) -> str:
    return BLOCKS[name]()


def figures() -> Iterator[tuple[Path, SectionFigure]]:
    """Yield the file and the drawing of each figure of the pages."""
    for folder, sections in (
        (paper.TABLE.parent, paper.sections()),
        (active_learning.TABLE.parent, [active_learning.section()]),
    ):
        for section in sections:
            for figure in _all_figures(section):
                yield folder / "figures" / f"{figure.name}.{PICTURES}", figure


def _all_figures(section: Section) -> Iterator[SectionFigure]:
    yield from section.figures
    for part in section.parts:
        yield from _all_figures(part)


def main() -> None:
    """Write what has changed."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        made = fill(text)
        if made != text:
            _write(page, made.encode())
    for path, figure in figures():
        picture = io.BytesIO()
        figure.draw().savefig(picture, format=PICTURES, dpi=90, pil_kwargs={"quality": 60, "method": 6})
        _write(path, picture.getvalue())


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        with written_whole(path) as file:
            file.write(content)
        print(path.relative_to(common.ROOT))


if __name__ == "__main__":
    main()
