"""A report as a page of HTML that needs no other file, and as Markdown."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from string import Template

from refpair.experiments.report.about import About
from refpair.experiments.report.sections import Section
from refpair.experiments.report.showing import file_name
from refpair.experiments.report.tables import ResultTable, escape_markdown

__all__ = ["html_page", "markdown_page"]

_ABOUT = "About these results"
_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<h1>$title</h1>
$warnings<nav aria-label="Contents">
$contents
</nav>
<main>
$sections
<h2 id="$about_id">$about_heading</h2>
<dl>
$about
</dl>
</main>
</body>
</html>
""")


def html_page(
    title: str, sections: Sequence[Section], about: About, warnings: Sequence[str], svg: Mapping[str, str]
) -> str:
    """Return a report as one page of HTML with its style and figures inside.

    Parameters
    ----------
    title : str
        Of the page.
    sections : sequence of Section
        What it is made of.
    about : About
        Where the results come from.
    warnings : sequence of str
        What stands at the top.
    svg : mapping of str to str
        The figures by name; those that are not there are left out.

    Examples
    --------
    >>> about = About("refpair", ["a laptop"], "3000 bits", [0], {}, n_results=0)
    >>> page = html_page("A & B", [Section("Scores", ["3 < 4"])], about, [], {})
    >>> "<title>A &amp; B</title>" in page, "<p>3 &lt; 4</p>" in page
    (True, True)
    """
    rows = (f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in about.rows())
    return _PAGE.substitute(
        title=html.escape(title),
        style=files("refpair.experiments.report").joinpath("page.css").read_text(encoding="utf-8"),
        warnings=_warnings(warnings),
        contents=_contents([*sections, Section(_ABOUT)], ()),
        sections="\n".join(part for section in sections for part in _section(section, (), svg)),
        about_id=_anchor((_ABOUT,)),
        about_heading=_ABOUT,
        about="\n".join(rows),
    )


def markdown_page(
    title: str, sections: Sequence[Section], about: About, warnings: Sequence[str], svg: Mapping[str, str]
) -> str:
    r"""Return a report in Markdown, with links to the figures; the parameters are those of :func:`html_page`.

    Examples
    --------
    >>> about = About("refpair", ["a laptop"], "3000 bits", [0], {}, n_results=0)
    >>> print(markdown_page("Results", [Section("Scores", ["3 < 4"])], about, [], {})[:29])
    # Results
    <BLANKLINE>
    ## Scores
    <BLANKLINE>
    3 \< 4
    """
    blocks = [f"# {escape_markdown(title)}", *(f"> {escape_markdown(text)}" for text in warnings)]
    blocks += [block for section in sections for block in _markdown(section, 2, svg)]
    rows = [f"- {name}: {escape_markdown(text)}" for name, text in about.rows()]
    return "\n\n".join([*blocks, f"## {_ABOUT}", "\n".join(rows)]) + "\n"


def _anchor(path: Sequence[str]) -> str:
    return file_name("section", *path)


def _contents(sections: Sequence[Section], path: tuple[str, ...]) -> str:
    items = []
    for section in sections:
        here = (*path, section.heading)
        inner = f"\n{_contents(section.parts, here)}" if section.parts else ""
        items.append(f'<li><a href="#{_anchor(here)}">{html.escape(section.heading)}</a>{inner}</li>')
    return "\n".join(["<ul>", *items, "</ul>"])


def _warnings(texts: Sequence[str]) -> str:
    inner = "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)
    return f'<div class="warnings" role="note">\n{inner}\n</div>\n' if texts else ""


def _section(section: Section, path: tuple[str, ...], svg: Mapping[str, str]) -> Iterator[str]:
    here = (*path, section.heading)
    level = f"h{len(here) + 1}"
    yield f'<{level} id="{_anchor(here)}">{html.escape(section.heading)}</{level}>'
    yield from (f"<p>{html.escape(text)}</p>" for text in section.paragraphs)
    for figure in section.figures:
        if figure.name in svg:
            caption = html.escape(figure.caption)
            picture = svg[figure.name].replace("<svg", f'<svg role="img" aria-label="{caption}"', 1)
            yield f"<figure>\n{picture}\n<figcaption>{caption}</figcaption>\n</figure>"
    yield from (table.to_html() for table in section.tables)
    for part in section.parts:
        yield from _section(part, here, svg)


def _markdown(section: Section, level: int, svg: Mapping[str, str]) -> Iterator[str]:
    yield f"{'#' * level} {escape_markdown(section.heading)}"
    yield from map(escape_markdown, section.paragraphs)
    for figure in section.figures:
        if figure.name in svg:
            yield f"![{escape_markdown(figure.caption)}](figures/{figure.name}.svg)"
    for table in section.tables:
        yield from _markdown_table(table)
    for part in section.parts:
        yield from _markdown(part, level + 1, svg)


def _markdown_table(table: ResultTable) -> Iterator[str]:
    yield f"**{escape_markdown(table.title)}**"
    yield table.to_markdown()
    if table.note:
        yield escape_markdown(table.note)
