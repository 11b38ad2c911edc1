"""Write a report: a page of HTML, the same in Markdown, a file for each table and each figure."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path, PurePosixPath
from string import Template

from refpair._files import written_whole
from refpair.experiments.report.figures import figure_svg
from refpair.experiments.report.sections import About, Section
from refpair.experiments.report.table import escape_markdown, file_name

_ABOUT = "About these results"
_LIST = ".report-files"
_FOLDERS = (PurePosixPath(), PurePosixPath("figures"))


def write_report(folder: Path, title: str, sections: Sequence[Section], about: About) -> None:
    """Write ``report.html``, ``report.md``, a ``.csv`` and a ``.tex`` file for each table, and the figures.

    Without matplotlib there are no figures, and the report says how to get them. A file that is there already
    is replaced at once, so that a reader never sees half of one. ``.report-files`` lists what was written:
    the next report removes what it does not write again.
    """
    used: set[str] = set()
    sections = [_name_apart(section, used) for section in sections]
    svg: dict[str, str] = {}
    try:
        for section in _all_sections(sections):
            for figure in section.figures:
                svg[figure.name] = figure_svg(figure.draw, f"figure-{figure.name}")
    except ImportError as error:
        svg, about = {}, replace(about, warnings=[*about.warnings, f"There are no figures: {error}"])
    written = {"report.md": _markdown_page(title, sections, about, svg)}
    written["report.html"] = _html_page(title, sections, about, svg)
    for section in _all_sections(sections):
        for table in section.tables:
            written |= {f"{table.name}.csv": table.to_csv(), f"{table.name}.tex": table.to_latex()}
    for name, picture in svg.items():
        written[f"figures/{name}.svg"] = f'<?xml version="1.0" encoding="utf-8"?>\n{picture}'
    for name, text in written.items():
        _write(folder / name, text)
    _remove_former(folder, keep=written)
    _write(folder / _LIST, "".join(f"{name}\n" for name in sorted(written)))


# ---- pages ----


def _html_page(title: str, sections: Sequence[Section], about: About, svg: Mapping[str, str]) -> str:
    """Return a report as one page of HTML with its style and figures inside."""
    page = files("refpair.experiments.report").joinpath("page.html").read_text(encoding="utf-8")
    rows = (f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in about.rows)
    warnings = "\n".join(f"<p>{html.escape(text)}</p>" for text in about.warnings)
    return Template(page).substitute(
        title=html.escape(title),
        warnings=f'<div class="warnings" role="note">\n{warnings}\n</div>\n' if warnings else "",
        contents=_contents([*sections, Section(_ABOUT)], ()),
        sections="\n".join(part for section in sections for part in _html_section(section, (), svg)),
        about_id=file_name("section", _ABOUT),
        about_heading=_ABOUT,
        about="\n".join(rows),
    )


def _contents(sections: Sequence[Section], path: tuple[str, ...]) -> str:
    items = []
    for section in sections:
        here = (*path, section.heading)
        inner = f"\n{_contents(section.parts, here)}" if section.parts else ""
        items.append(
            f'<li><a href="#{file_name("section", *here)}">{html.escape(section.heading)}</a>{inner}</li>'
        )
    return "\n".join(["<ul>", *items, "</ul>"])


def _html_section(section: Section, path: tuple[str, ...], svg: Mapping[str, str]) -> Iterator[str]:
    here = (*path, section.heading)
    level = f"h{len(here) + 1}"
    yield f'<{level} id="{file_name("section", *here)}">{html.escape(section.heading)}</{level}>'
    if section.text:
        yield f"<p>{html.escape(section.text)}</p>"
    for figure in section.figures:
        if figure.name in svg:
            caption = html.escape(figure.caption)
            picture = svg[figure.name].replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
            yield f"<figure>\n{picture}\n<figcaption>{caption}</figcaption>\n</figure>"
    yield from (table.to_html() for table in section.tables)
    for part in section.parts:
        yield from _html_section(part, here, svg)


def _markdown_page(title: str, sections: Sequence[Section], about: About, svg: Mapping[str, str]) -> str:
    """Return a report in Markdown, with links to the figures."""
    blocks = [f"# {escape_markdown(title)}", *(f"> {escape_markdown(text)}" for text in about.warnings)]
    blocks += [block for section in sections for block in markdown_section(section, 2, "svg" if svg else "")]
    rows = [f"- {name}: {escape_markdown(text)}" for name, text in about.rows]
    return "\n\n".join([*blocks, f"## {_ABOUT}", "\n".join(rows)]) + "\n"


def markdown_section(section: Section, level: int, pictures: str) -> Iterator[str]:
    """Yield a section in Markdown, block by block; figures are files that end so, or left out without one."""
    yield f"{'#' * level} {escape_markdown(section.heading)}"
    if section.text:
        yield escape_markdown(section.text)
    for figure in section.figures if pictures else ():
        yield f"![{escape_markdown(figure.caption)}](figures/{figure.name}.{pictures})"
    for table in section.tables:
        yield f"**{escape_markdown(table.title)}**"
        yield table.to_markdown()
        yield from [escape_markdown(table.note)] * bool(table.note)
    for part in section.parts:
        yield from markdown_section(part, level + 1, pictures)


# ---- files ----


def _remove_former(folder: Path, keep: Collection[str]) -> None:
    """Remove the files of the report before that are not of this one: a reader would take them for new."""
    former = folder / _LIST
    names = former.read_text(encoding="utf-8").splitlines() if former.exists() else []
    kept = {name.casefold() for name in keep}  # not all file systems tell capitals
    for name in names:
        # Whatever the list says, nothing elsewhere.
        if name.casefold() not in kept and PurePosixPath(name).parent in _FOLDERS:
            (folder / name).unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as stream:
        stream.write(text.encode())


def _all_sections(sections: Sequence[Section]) -> Iterator[Section]:
    for section in sections:
        yield section
        yield from _all_sections(section.parts)


def _name_apart(section: Section, used: set[str]) -> Section:
    """Give tables and figures names of their own: those of two costs may differ only in signs."""
    return replace(
        section,
        tables=[replace(table, name=_new_name(table.name, "table", used)) for table in section.tables],
        figures=[replace(figure, name=_new_name(figure.name, "figure", used)) for figure in section.figures],
        parts=[_name_apart(part, used) for part in section.parts],
    )


def _new_name(name: str, kind: str, used: set[str]) -> str:
    found, number = name, 1
    while f"{kind} {found.casefold()}" in used:  # as in _remove_former
        number += 1
        found = f"{name}-{number}"
    used.add(f"{kind} {found.casefold()}")
    return found
